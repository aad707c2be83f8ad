"""Searches of a graph in parts give the levels of the whole, whatever the number of ranks."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CheckError, CSRGraph, GraphError
from kernels.breadth_first.check import check_levels
from kernels.partition import (
    ExchangeError,
    Profile,
    block_of,
    deal,
    part_of,
    rows_of,
    search,
    split,
    thread_collectives,
)
from kernels.partition.check import check_part
from kernels.partition.cpu import CpuSteps
from kernels.partition.exchange.message import LINE, SMALL, items, length, listed
from kernels.partition.split import WORD
from tests.oracles.paths import bfs_levels
from tests.ranks import join_levels, on_ranks, parts_of
from tests.shapes import graph_of, grid, star
from tests.soak import examples
from tests.strategies import graphs


def search_parts(parts, source, small=SMALL, **options):
    """Each rank in a thread of its own."""

    def one(part, collective):
        return search(CpuSteps(part, small), part, source, collective, **options)

    return on_ranks(parts, one)


@settings(max_examples=examples(100), deadline=None)
@given(
    graph=graphs(),
    n_ranks=st.sampled_from([1, 2, 3, 4]),
    small=st.sampled_from([0, 1, 3, 10, SMALL]),
    data=st.data(),
)
def test_levels_are_those_of_scipy(graph, n_ranks, small, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    parts = parts_of(graph, n_ranks)
    results = search_parts(parts, source, small)
    level = join_levels(parts[0].split, [result.level for result in results])
    np.testing.assert_array_equal(level, bfs_levels(graph, [source])[0])
    assert {result.n_reached for result in results} == {int((level >= 0).sum())}
    assert {result.eccentricity for result in results} == {int(level.max())}


def attachment(n_nodes, seed=1):
    """Each node linked to three earlier ones, low numbers preferred: hubs lie together."""
    rng = np.random.default_rng(seed)
    tails = np.repeat(np.arange(1, n_nodes), 3)
    heads = (tails * rng.random(len(tails)) ** 3).astype(int)
    return graph_of(n_nodes, set(zip(tails.tolist(), heads.tolist(), strict=True)))


def grid_of(n_nodes):
    return grid(60, n_nodes // 60)


SHAPES = {"attachment": attachment, "grid": grid_of, "star": star}


@pytest.mark.parametrize("small", [0, 100, SMALL])
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_both_directions_and_all_forms_are_certified(shape, n_ranks, small):
    graph = SHAPES[shape](5_400)
    parts = parts_of(graph, n_ranks)
    results = search_parts(parts, 7, small)
    level = join_levels(parts[0].split, [result.level for result in results])
    check_levels(graph.indptr, graph.indices, 7, level)
    if small == 0:
        assert (results[0].n_bottom_up > 0) == (shape != "grid")
        assert results[0].n_small == 0
    elif shape == "grid":
        assert results[0].n_small > 0


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
def test_a_level_of_a_long_graph_is_one_exchange(n_ranks):
    parts = parts_of(grid_of(5_400), n_ranks)
    for result in search_parts(parts, 7):
        assert result.n_small == result.eccentricity + 1  # the last level finds nothing
        assert result.n_exchanges == result.eccentricity + 2
    for result in search_parts(parts, 7, small=0):
        assert result.n_exchanges == 2 * (result.eccentricity + 1) + 1


@pytest.mark.parametrize("n_ranks", [2, 3, 4])
@pytest.mark.parametrize("small", [0, SMALL])
def test_halves_that_are_sent_early_change_no_level(n_ranks, small):
    graph = attachment(30_000)
    parts = parts_of(graph, n_ranks)
    expected = bfs_levels(graph, [7])[0]
    for early_bytes in (0, 1 << 40):
        profiles = [Profile() for _ in parts]

        def one(part, c, profiles=profiles, early_bytes=early_bytes):
            return search(CpuSteps(part, small), part, 7, c, profiles[part.rank], early_bytes)

        results = on_ranks(parts, one)
        level = join_levels(parts[0].split, [result.level for result in results])
        np.testing.assert_array_equal(level, expected)
        assert {result.n_early > 0 for result in results} == {early_bytes == 0}
        for profile, result in zip(profiles, results, strict=True):
            assert profile.n_exchanges == result.n_exchanges
            assert (profile.overlapped_s > 0) <= (early_bytes == 0)
            assert min(profile.computed_s, profile.sent_s, profile.waited_s) > 0


@pytest.mark.parametrize("small", [1, 100, SMALL])
def test_messages_are_whole_lines(small):
    assert 8 * length(small) % LINE == 0
    message = np.zeros(length(small), np.int64)
    assert small <= listed(message).size
    assert listed(message).ctypes.data - message.ctypes.data == LINE
    assert 4 * items(small) % LINE == 0
    assert items(small) >= small


@pytest.mark.parametrize("n_ranks", [2, 3, 4, 8])
def test_bitmaps_of_ranks_begin_at_whole_lines(n_ranks):
    n_nodes = 1_000_000
    indptr = np.arange(n_nodes + 1, dtype=np.int64)
    for block in (None, block_of(n_nodes, n_ranks)):
        first = split(indptr, n_ranks, block).first // WORD * 4
        np.testing.assert_array_equal(first % LINE, 0)


def test_work_is_dealt_evenly_and_hubs_are_spread():
    graph = attachment(30_000)
    parts = parts_of(graph, 4)
    n_arcs = [part.indices.size for part in parts]
    assert sum(n_arcs) == graph.n_arcs
    assert max(n_arcs) < 1.1 * min(n_arcs)
    hubs = np.argsort(-np.diff(graph.indptr))[:200]
    whole = parts[0].split
    owners = [whole.owner(number) for number in whole.renumber(hubs).tolist()]
    assert min(np.bincount(owners, minlength=4)) > 0


def test_parts_hold_each_row_once_under_new_numbers():
    graph = grid(30, 50)
    parts = parts_of(graph, 3, block=64)
    whole = parts[0].split
    numbers = whole.renumber(np.arange(graph.n_nodes))
    assert len(set(numbers.tolist())) == graph.n_nodes
    for node in range(graph.n_nodes):
        part = parts[whole.owner(int(numbers[node]))]
        row = int(numbers[node] - whole.first[part.rank])
        heads = part.indices[part.indptr[row] : part.indptr[row + 1]]
        expected = numbers[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]]
        np.testing.assert_array_equal(heads, expected)


def test_a_part_reads_only_its_own_rows():
    graph = grid(40, 40)
    whole = split(graph.indptr, 4, block=32)
    read = rows_of(graph.indptr, graph.indices)
    seen = np.zeros(graph.n_nodes, int)

    def note(first, last):
        seen[first:last] += 1
        return read(first, last)

    part_of(whole, 2, note)
    nodes = np.concatenate([np.arange(b * 32, (b + 1) * 32) for b in whole.own_blocks(2)])
    expected = np.zeros_like(seen)
    expected[nodes[nodes < graph.n_nodes]] = 1
    np.testing.assert_array_equal(seen, expected)


def test_more_ranks_than_blocks_leave_some_without_nodes():
    graph = grid(5, 8)
    parts = parts_of(graph, 4)
    assert 0 in [part.indptr.size - 1 for part in parts]
    results = search_parts(parts, 0)
    level = join_levels(parts[0].split, [result.level for result in results])
    np.testing.assert_array_equal(level, bfs_levels(graph, [0])[0])


@pytest.mark.parametrize(("n_nodes", "n_ranks"), [(0, 2), (3, 0)])
def test_nothing_to_split_is_an_error(n_nodes, n_ranks):
    with pytest.raises(GraphError, match=f"{n_nodes} nodes cannot be split over {n_ranks} ranks"):
        split(np.zeros(n_nodes + 1, np.int64), n_ranks)


@pytest.mark.parametrize("block", [33, 48, -32, 0, 2.5, "a", 1])
def test_blocks_that_are_not_whole_words_are_an_error(block):
    indptr = np.zeros(301, np.int64)
    with pytest.raises(GraphError, match=f"block is {block!r}; it must be"):
        split(indptr, 3, block)
    with pytest.raises(GraphError, match=f"block is {block!r}; it must be"):
        deal(300, block, np.zeros(10, np.int64), 3)
    assert split(indptr, 3, np.int32(64)).block == 64


@pytest.mark.parametrize("n_ranks", [2.5, "a", None])
def test_a_number_of_ranks_that_is_not_whole_is_an_error(n_ranks):
    with pytest.raises(GraphError, match=r"n_ranks is .*; it must be a whole number"):
        split(np.zeros(301, np.int64), n_ranks)


def test_a_source_outside_is_an_error():
    graph = grid(5, 8)
    (part,) = parts_of(graph, 1)
    with pytest.raises(GraphError, match="source 40 is not a node; the graph has 40 nodes"):
        search(CpuSteps(part), part, 40, thread_collectives(1)[0])


@pytest.mark.parametrize("source", [-1, 40, 10**9])
def test_levels_from_a_source_outside_are_refused(source):
    graph = grid(5, 8)
    (part,) = parts_of(graph, 1)
    (found,) = search_parts([part], 0)
    with pytest.raises(CheckError, match=f"source {source} is not a node"):
        check_part(part, source, found, thread_collectives(1)[0])


class Dying(CpuSteps):
    """Steps that end before the third level is done."""

    def settle(self, depth):
        if depth == 3:
            raise RuntimeError("lost")
        return super().settle(depth)


@pytest.mark.parametrize("leaves", [True, False])
def test_a_rank_that_dies_ends_the_search_of_all(leaves):
    parts = parts_of(grid(20, 40), 3)
    collectives = thread_collectives(3, deadline_s=0.5)
    ends = []

    def one(part, collective, kind):
        try:
            search(kind(part), part, 0, collective)
        except RuntimeError as error:
            ends.append(error)
            if leaves or isinstance(error, ExchangeError):
                collective.close()

    kinds = [CpuSteps, Dying, CpuSteps]
    threads = [
        threading.Thread(target=one, args=each)
        for each in zip(parts, collectives, kinds, strict=True)
    ]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in threads)
    assert time.monotonic() - begin < 10
    assert sorted(type(error).__name__ for error in ends) == [
        "ExchangeError",
        "ExchangeError",
        "RuntimeError",
    ]


def test_a_graph_is_searched_again_by_the_same_steps():
    graph = attachment(3_000)
    parts = parts_of(graph, 2)
    steps = [CpuSteps(part) for part in parts]
    for source in (5, 2_999):
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(search, steps, parts, [source] * 2, thread_collectives(2)))
        level = join_levels(parts[0].split, [result.level for result in results])
        np.testing.assert_array_equal(level, bfs_levels(graph, [source])[0])


def test_an_isolated_source_reaches_itself():
    graph = CSRGraph(np.zeros(101, np.int64), np.empty(0, np.int32))
    results = search_parts(parts_of(graph, 2), 99)
    assert [(result.n_reached, result.eccentricity) for result in results] == [(1, 0), (1, 0)]


@pytest.mark.parametrize("wrong", [("level", 1), ("source", 1), ("open", -1), ("far", 7)])
def test_the_certificate_rejects_wrong_levels_on_every_rank(wrong):
    what, value = wrong
    graph = grid(30, 30)
    parts = parts_of(graph, 3)
    results = search_parts(parts, 5)
    whole = parts[0].split
    node = {"level": 899, "source": 5, "open": 450, "far": 899}[what]
    number = int(whole.renumber(np.array([node]))[0])
    rank = whole.owner(number)
    level = results[rank].level

    def check_all():
        collectives = thread_collectives(3, deadline_s=20)
        with ThreadPoolExecutor(3) as pool:
            tasks = [
                pool.submit(check_part, *each)
                for each in zip(parts, [5] * 3, results, collectives, strict=True)
            ]
            return [task.exception() for task in tasks]

    assert check_all() == [None] * 3
    level[number - whole.first[rank]] = value
    errors = check_all()
    assert [type(error) for error in errors] == [CheckError] * 3
    assert "source 5: the levels of" in str(errors[0])
