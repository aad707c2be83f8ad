"""Searches of a graph in parts on GPUs, one rank each, agree with the search on one."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

from kernels.partition import join_levels, part_of, rows_of, search, split
from tests.oracles.paths import bfs_levels
from tests.shapes import grid, star, tree_with_hubs

SHAPES = {
    "grid": lambda: grid(40, 300),
    "star": lambda: star(30_000),
    "hubs": lambda: tree_with_hubs(50_000, seed=3),
}


def run_rank(rank, n_ranks, name, shape, pipe):
    import cupy

    from kernels.partition.check import check_part
    from kernels.partition.gpu import GpuSteps
    from kernels.partition.nccl import NcclCollective

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


def search_in_processes(shape, n_ranks):
    from kernels.partition.nccl import unique_name

    context = multiprocessing.get_context("spawn")
    name, pipes, ranks = unique_name(), [], []
    for rank in range(n_ranks):
        ours, theirs = context.Pipe(duplex=False)
        ranks.append(context.Process(target=run_rank, args=(rank, n_ranks, name, shape, theirs)))
        ranks[-1].start()
        theirs.close()
        pipes.append(ours)
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
