"""Searches of a graph in parts on GPUs, one rank each, agree with the search on one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

from kernels import Shard, diameter, eccentricities, radius
from kernels.certificates import check_path
from kernels.multi_source import msbfs_shard
from kernels.partition import part_of, rows_of, search, split
from kernels.partition.exchange import DEADLINE_S
from kernels.partition.exchange.message import SMALL
from tests.oracles.paths import bfs_levels
from tests.ranks import join_levels, on_ranks, parts_of
from tests.shapes import graph_of, grid, star, tree_with_hubs

SHAPES = {
    "grid": lambda: grid(40, 300),
    "star": lambda: star(30_000),
    "hubs": lambda: tree_with_hubs(50_000, seed=3),
}


def apart():
    """Three components, and nodes alone."""
    edges = [(i, i + 1) for i in range(300)] + [(1_000, 1_001)]
    edges += [(400 + i, 400 + (i + 1) % 200) for i in range(200)]
    return graph_of(1_100, edges)


SMALLER = {
    "grid": lambda: grid(20, 100),
    "hubs": lambda: tree_with_hubs(3_000, seed=3),
    "apart": apart,
}
SOURCES = np.arange(0, 1_000, 10)


def run_rank(rank, n_ranks, name, shape, pipe):
    import cupy

    from kernels.partition.check import check_part
    from kernels.partition.exchange.nccl import NcclCollective
    from kernels.partition.gpu import GpuSteps

    cupy.cuda.Device(rank).use()
    graph = SHAPES[shape]()
    collective = NcclCollective(n_ranks, name, rank, deadline_s=60)
    whole = split(graph.indptr, n_ranks)
    part = part_of(whole, rank, rows_of(graph.indptr, graph.indices))
    steps = GpuSteps(part)
    for source in (0, 7):
        result = search(steps, part, source, collective)
        check_part(steps.part, source, result, collective)
        pipe.send((result.level.get(), result.n_reached, result.eccentricity))


def sweep_and_bound(rank, n_ranks, name, shape, pipe):
    """Sweeps from 100 nodes, and all widths."""
    import cupy

    from kernels.eccentricity.questions import QUESTIONS
    from kernels.partition.exchange.nccl import NcclCollective
    from kernels.partition.gpu import GpuSteps
    from kernels.partition.sweep import sweep
    from kernels.partition.sweep.gpu import GpuSweepSteps
    from kernels.partition.widths import Searches, part_widths

    cupy.cuda.Device(rank).use()
    graph = SMALLER[shape]()
    collective = NcclCollective(n_ranks, name, rank, deadline_s=60)
    part = part_of(split(graph.indptr, n_ranks), rank, rows_of(graph.indptr, graph.indices))
    steps = GpuSteps(part)
    sweep_steps = GpuSweepSteps(steps.part)
    found = sweep(sweep_steps, steps.part, SOURCES, collective)
    searches = Searches(steps.part, steps, sweep_steps, collective)
    pipe.send((found, part_widths(searches, QUESTIONS)))


@pytest.mark.gpu
@pytest.mark.parametrize("small", [0, 50, SMALL])
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_several_ranks_on_one_gpu(shape, n_ranks, small):
    """All forms of exchange, though not NCCL, which needs a GPU for each rank."""
    from kernels.partition.check import check_part
    from kernels.partition.gpu import GpuSteps

    graph = SHAPES[shape]()
    parts = parts_of(graph, n_ranks)

    def one(part, collective):
        steps = GpuSteps(part, small)
        found = []
        for early_bytes in (0, 1 << 40):
            result = search(steps, steps.part, 7, collective, early_bytes=early_bytes)
            check_part(steps.part, 7, result, collective)
            found.append((result.level.get(), result.n_early, result.n_bottom_up, result.n_small))
        return found

    expected = bfs_levels(graph, [7])[0]
    for ends in zip(*on_ranks(parts, one), strict=True):
        level = join_levels(parts[0].split, [end[0] for end in ends])
        np.testing.assert_array_equal(level, expected)
        assert len({end[1:] for end in ends}) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("small", [0, 50, None])
@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("shape", ["grid", "hubs", "apart", "star"])
def test_sweeps_of_several_ranks_on_one_gpu(shape, n_ranks, small):
    from kernels.partition.gpu import GpuSteps
    from kernels.partition.sweep import sweep
    from kernels.partition.sweep.gpu import GpuSweepSteps

    graph = SMALLER[shape]() if shape in SMALLER else star(3_000)

    def one(part, collective):
        steps = GpuSteps(part)
        given = () if small is None else (small,)
        return sweep(GpuSweepSteps(steps.part, *given), steps.part, SOURCES, collective)

    expected = msbfs_shard(Shard.from_graphs([graph]), SOURCES, np.array([0, len(SOURCES)]))
    for found in on_ranks(parts_of(graph, n_ranks), one):
        for field in ("hop_ptr", "hop_counts", "eccentricity", "n_reached", "farthest"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


def start_ranks(target, n_ranks, *arguments):
    """Processes, one per GPU, and a pipe from each, which ends with its process."""
    from kernels.partition.exchange.nccl import unique_name

    context = multiprocessing.get_context("spawn")
    name, pipes, ranks = unique_name(), [], []
    for rank in range(n_ranks):
        ours, theirs = context.Pipe(duplex=False)
        ranks.append(context.Process(target=target, args=(rank, n_ranks, name, *arguments, theirs)))
        ranks[-1].start()
        theirs.close()
        pipes.append(ours)
    return ranks, pipes


def search_in_processes(shape, n_ranks):
    ranks, pipes = start_ranks(run_rank, n_ranks, shape)
    found = [[pipe.recv() for pipe in pipes] for _ in range(2)]
    for each in ranks:
        each.join(60)
    return found


@pytest.mark.parametrize(
    "n_ranks", [pytest.param(n, marks=pytest.mark.gpu(count=n)) for n in (1, 2)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_levels_are_those_of_scipy(shape, n_ranks):
    graph = SHAPES[shape]()
    whole = split(graph.indptr, n_ranks)
    for source, ends in zip((0, 7), search_in_processes(shape, n_ranks), strict=True):
        level = join_levels(whole, [end[0] for end in ends])
        np.testing.assert_array_equal(level, bfs_levels(graph, [source])[0])
        assert {end[1:] for end in ends} == {(int((level >= 0).sum()), int(level.max()))}


@pytest.mark.parametrize(
    "n_ranks", [pytest.param(n, marks=pytest.mark.gpu(count=n)) for n in (1, 2)]
)
@pytest.mark.parametrize("shape", ["grid", "hubs", "apart"])
def test_sweeps_and_widths_are_those_on_cores(shape, n_ranks):
    graph = SMALLER[shape]()
    ranks, pipes = start_ranks(sweep_and_bound, n_ranks, shape)
    ends = [pipe.recv() for pipe in pipes]
    for each in ranks:
        each.join(60)
    shard = Shard.from_graphs([graph])
    expected = msbfs_shard(shard, SOURCES, np.array([0, len(SOURCES)]))
    eccentricity = eccentricities(graph)
    for found, answers in ends:
        for field in ("hop_ptr", "hop_counts", "eccentricity", "n_reached", "farthest"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
        np.testing.assert_array_equal(answers.eccentricity, eccentricity[answers.nodes])
        assert answers.exact.all()
        check_path(graph, answers.path)
        assert len(answers.path) == answers.diameter_lower[answers.largest] + 1
        assert answers.diameter_lower[answers.largest] == diameter(graph).diameter
        assert answers.radius_upper[answers.largest] == radius(graph).radius


LIMIT_S = 5  # for an exchange with a rank that is gone


def die_or_wait(rank, n_ranks, name, pipe):
    """Rank 1 is killed between two searches; the others say how the second one ended."""
    import cupy

    from kernels.partition import ExchangeError
    from kernels.partition.exchange.nccl import NcclCollective
    from kernels.partition.gpu import GpuSteps

    cupy.cuda.Device(rank).use()
    graph = SHAPES["grid"]()
    collective = NcclCollective(n_ranks, name, rank, deadline_s=LIMIT_S)
    part = part_of(split(graph.indptr, n_ranks), rank, rows_of(graph.indptr, graph.indices))
    steps = GpuSteps(part)
    search(steps, part, 0, collective)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    begin = time.monotonic()
    try:
        search(steps, part, 7, collective)
    except ExchangeError as error:
        pipe.send((str(error), time.monotonic() - begin))
    os._exit(0)  # CUDA may wait for what was aborted


@pytest.mark.gpu(count=2)
def test_a_killed_rank_ends_the_search_of_the_other_in_time():
    ranks, pipes = start_ranks(die_or_wait, 2)
    assert pipes[0].poll(2 * DEADLINE_S)
    message, waited_s = pipes[0].recv()
    assert message.startswith("rank 0 of 2")
    assert waited_s < DEADLINE_S  # which it would wait if no other limit were given
    for each in ranks:
        each.join(20)
        assert not each.is_alive()


def send_beside_work(rank, n_ranks, name, pipe):
    import cupy

    from kernels.partition.exchange.nccl import NcclCollective

    collective = NcclCollective(n_ranks, name, rank)
    collective.begin([None], [None])
    busy = cupy.arange(1 << 20).sum()
    collective.end()
    total = int(busy)
    pipe.send((total, collective.span_s(), collective.gather(np.arange(3)).tolist()))
    collective.leave()


@pytest.mark.gpu
def test_nccl_sends_on_a_stream_of_its_own():
    """One rank has nobody to send to; streams, events and the group are those of more."""
    ranks, pipes = start_ranks(send_beside_work, 1)
    total, span_s, gathered = pipes[0].recv()
    ranks[0].join(60)
    assert total == (1 << 20) * ((1 << 20) - 1) // 2
    assert span_s >= 0
    assert gathered == [[0, 1, 2]]


def connect_often(rank, n_ranks, name, others, leaves, pipe):
    import cupy

    from kernels.partition.exchange.nccl import NcclCollective

    cupy.cuda.Device(rank).use()
    held = []
    for each in (name, *others):
        collective = NcclCollective(n_ranks, each, rank)
        collective.gather(np.array([rank], np.int64))
        collective.leave() if leaves else collective.close()
        held.append([len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")])
    pipe.send(held)


N_CONNECTED = 30  # up to a second each; one thread kept by each is more than is allowed below


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize(
    "n_ranks", [pytest.param(n, marks=pytest.mark.gpu(count=n)) for n in (1, 2)]
)
def test_communicators_are_released(n_ranks, leaves):
    """Threads and open files show it: the GPU's free memory also depends on other programs."""
    from kernels.partition.exchange.nccl import unique_name

    others = [unique_name() for _ in range(N_CONNECTED - 1)]
    ranks, pipes = start_ranks(connect_often, n_ranks, others, leaves)
    held = [pipe.recv() for pipe in pipes]
    for each in ranks:
        each.join(60)
    for threads, files in (np.array(each).T for each in held):
        # A communicator has several of each; one that is being released may still be counted.
        assert threads[-5:].max() <= threads[:5].max() + 8
        assert files[-5:].max() <= files[:5].max() + 8
