"""What public functions make of wrong numbers, of lists that are none, and of the caller's arrays.

Every parameter of every public function of ``kernels`` is in the table below, or the first test
fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import kernels
from kernels import CSRGraph, GraphError, Shard, certificates, exact_search, partition
from kernels.bidirectional import shortest_path
from kernels.distance_distribution import effective_diameters
from kernels.distance_distribution.counts import count_pairs
from kernels.eccentricity import Strategy
from kernels.eccentricity.questions import QUESTIONS
from kernels.exact_search import plan_questions, widths
from kernels.partition.widths import Searches, part_widths
from tests.ranks import parts_of
from tests.shapes import graph_of, host, weighted

# Nodes 0 to 6: a path of five, an edge.
LINKS = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6)]
GRAPH = weighted(graph_of(7, LINKS), [1, 2, 3, 4, 5])
SHARD = Shard.from_graphs([GRAPH, graph_of(3, [(0, 1), (1, 2)])])
PATH = np.arange(3, dtype=np.int32)


def rank() -> partition.Rank:
    """The one rank of the graph."""
    return partition.Rank(parts_of(GRAPH, 1)[0], partition.thread_collectives(1)[0], "cpu")


def search(source: Any) -> Any:
    from kernels.partition.cpu import CpuSteps

    part = parts_of(GRAPH, 1)[0]
    return partition.search(CpuSteps(part), part, source, partition.thread_collectives(1)[0])


def answer_parts(questions: Any, max_searches: Any = None) -> Any:
    from kernels.partition.cpu import CpuSteps
    from kernels.partition.sweep.cpu import CpuSweepSteps

    part, link = parts_of(GRAPH, 1)[0], partition.thread_collectives(1)[0]
    return part_widths(
        Searches(part, CpuSteps(part), CpuSweepSteps(part), link), questions, max_searches
    )


# What no public function takes for: a number, a row of numbers, a list of questions or of graphs.
NUMBERS = ("ab", 1.0, True, np.True_, [1], [[0], [1, 2]], iter([1]), {1}, GRAPH)
NODES = (None, *NUMBERS, -1, 7, np.int64(-1), 2**70)
OPTIONAL = NODES[1:]
LIMITS = (*NUMBERS, -1)
SIZES = (*NUMBERS, -1)
ROWS = (
    *(None, "ab", 1.0, iter([0]), (i for i in [0]), {0}, {0: 1}.keys(), map(int, "0"), GRAPH),
    *(np.ma.array([0, 1], mask=[False, True]), np.ma.array([0, 1])),
    *([True], np.ones(7, bool), [0.5], [None], ["a"], [[0], [1, 2]], [[0]], [2**70]),
)
SOURCES = (*ROWS, [-1], [7], [0, -8], np.array([2**40]))
POINTERS = (*ROWS, 0, [], [0], [0, 1], [0, 2, 1], [1, 1, 1], [0, 0, 2], [-1, 0, 1])
ASKED = (
    np.array(1),
    None,
    "diameter",
    b"diameter",
    3,
    [],
    iter([]),
    ["x"],
    [1],
    [["radius"]],
    [None],
    GRAPH,
)
GRAPHS = (np.array(1), None, GRAPH, SHARD, 3, "ab", [None], [[GRAPH]], [SHARD], iter([GRAPH, 3]))

FLAGS = (None, "x", 1, 0, 1.0, [True], (i for i in [1]), iter([]), np.array([True, False]), GRAPH)
WORDS = (None, "x", b"core", 1, ["core"], np.array(["core", "auto"]), np.zeros(3), GRAPH)
STRATEGIES = ("x", 0, True, [], {}, np.zeros(3), Strategy, GRAPH)
CHOSEN = (None, -1, -2, 1, True, [True], [True] * 3, [1, 0], ["a", "b"], [[True, False]], iter([]))

TABLE: dict[str, tuple[Callable[[Any], Any], tuple[Any, ...]]] = {
    "bfs source": (lambda given: kernels.bfs(GRAPH, given), NODES),
    "bfs target": (lambda given: kernels.bfs(GRAPH, 0, given), OPTIONAL),
    "bfs_queue source": (lambda given: kernels.breadth_first.bfs_queue(GRAPH, given), NODES),
    "sssp source": (lambda given: kernels.sssp(GRAPH, given), NODES),
    "sssp target": (lambda given: kernels.sssp(GRAPH, 0, given), OPTIONAL),
    "dfs source": (lambda given: kernels.dfs(GRAPH, given), OPTIONAL),
    "shortest_path source": (lambda given: shortest_path(GRAPH, given, 1), NODES),
    "shortest_path target": (lambda given: shortest_path(GRAPH, 1, given, weighted=True), NODES),
    "msbfs sources": (lambda given: kernels.msbfs(GRAPH, given), (*SOURCES, 0)),
    "msbfs_shard sources": (
        lambda given: kernels.msbfs_shard(SHARD, given, [0, 1, 1]),
        (*SOURCES, 0),
    ),
    "msbfs_shard source_ptr": (lambda given: kernels.msbfs_shard(SHARD, [0], given), POINTERS),
    "effective_diameters percentile": (
        lambda given: effective_diameters(SHARD, given),
        (None, "ab", True, [1], 0, -1, 2, np.nan),
    ),
    "effective_diameters seed": (lambda given: effective_diameters(SHARD, seed=given), SIZES),
    "effective_diameters max_exact": (
        lambda given: effective_diameters(SHARD, max_exact=given),
        NUMBERS,
    ),
    "effective_diameters n_sources": (
        lambda given: effective_diameters(SHARD, n_sources=given),
        SIZES,
    ),
    "widths questions": (lambda given: widths(SHARD, given), ASKED),
    "widths max_searches": (lambda given: widths(SHARD, ["radius"], given), LIMITS),
    "weighted_widths questions": (lambda given: kernels.weighted_widths(GRAPH, given), ASKED),
    "weighted_widths max_searches": (
        lambda given: kernels.weighted_widths(GRAPH, ["radius"], given),
        LIMITS,
    ),
    **{
        f"{name} max_searches": (
            lambda given, name=name: getattr(kernels, name)(GRAPH, given),
            LIMITS,
        )
        for width in ("diameter", "radius", "center", "periphery")
        for name in (width, f"weighted_{width}")
    },
    **{
        f"{name} strategy": (
            lambda given, name=name: getattr(kernels, name)(GRAPH, strategy=given),
            STRATEGIES,
        )
        for name in ("diameter", "radius", "center", "periphery", "eccentricities")
    },
    "widths strategy": (lambda given: widths(SHARD, ["radius"], None, given), STRATEGIES),
    "bfs parents": (lambda given: kernels.bfs(GRAPH, 0, parents=given), FLAGS),
    "sssp parents": (lambda given: kernels.sssp(GRAPH, 0, parents=given), FLAGS),
    "msbfs levels": (lambda given: kernels.msbfs(GRAPH, [0], given), FLAGS),
    "shortest_path weighted": (lambda given: shortest_path(GRAPH, 0, 1, given), FLAGS),
    "CSRGraph.from_edges symmetrise": (
        lambda given: CSRGraph.from_edges([1], [0], symmetrise=given),
        FLAGS,
    ),
    "dfs method": (lambda given: kernels.dfs(GRAPH, method=given), WORDS),
    "mst method": (lambda given: kernels.mst(GRAPH, given), WORDS),
    "count_pairs chosen": (
        lambda given: count_pairs(SHARD, given),
        (*CHOSEN, np.ma.array([True, False], mask=[False, True])),
    ),
    "CSRGraph indices": (
        lambda given: CSRGraph(np.array([0, 1, 2]), given),
        (None, [1, 0], np.array([1, 0]), np.ma.array(np.array([1, 0], np.int32))),
    ),
    "implied_on_gpu sources": (
        lambda given: exact_search.implied_on_gpu(GRAPH, given),
        (*SOURCES, [0] * 257),
    ),
    "plan_questions": (plan_questions, ASKED),
    "Shard.graph i": (SHARD.graph, (None, *NUMBERS, -1, -2, -3, 2, 99)),
    "Shard.from_graphs graphs": (Shard.from_graphs, GRAPHS),
    "CSRGraph.from_edges tails": (
        lambda given: CSRGraph.from_edges(given, [1], symmetrise=True),
        (*ROWS, 0, [-1], [2**31]),
    ),
    "CSRGraph.from_edges heads": (
        lambda given: CSRGraph.from_edges([1], given, symmetrise=True),
        (*ROWS, 0, [-1], [2**31]),
    ),
    "CSRGraph.from_edges weights": (
        lambda given: CSRGraph.from_edges([1], [0], given, symmetrise=True),
        (
            *(each for each in ROWS[1:] if not np.array_equal(each, [0.5])),
            0,
            [-1],
            [np.nan],
            [np.inf],
            [1, 2],
        ),
    ),
    "CSRGraph.from_edges n_nodes": (
        lambda given: CSRGraph.from_edges([1], [0], n_nodes=given, symmetrise=True),
        (*SIZES, 1, 2**70),
    ),
    "split indptr": (lambda given: partition.split(given, 1), (*ROWS, 0, [], [0])),
    "split n_ranks": (lambda given: partition.split(GRAPH.indptr, given), (None, *SIZES, 0)),
    "split block": (lambda given: partition.split(GRAPH.indptr, 1, given), (*SIZES, 0, 31, 33)),
    "part_of rank": (
        lambda given: partition.part_of(
            partition.split(GRAPH.indptr, 2), given, partition.rows_of(GRAPH.indptr, GRAPH.indices)
        ),
        (None, *NUMBERS, -1, -2, 2),
    ),
    "thread_collectives n_ranks": (partition.thread_collectives, (None, *SIZES, 0)),
    "partition.search source": (search, SOURCES),
    "Rank.sweep sources": (lambda given: rank().sweep(given), SOURCES),
    "Rank.widths questions": (lambda given: rank().widths(given), ASKED),
    "Rank.widths max_searches": (lambda given: rank().widths(["radius"], given), LIMITS),
    "part_widths questions": (answer_parts, ASKED),
    "part_widths max_searches": (lambda given: answer_parts(["radius"], given), LIMITS),
}
ELSEWHERE = {"graph", "shard"}  # whose wrong values other tests give


@pytest.mark.parametrize("name", TABLE)
def test_what_is_wrong_is_refused_in_words(name):
    call, wrong = TABLE[name]
    for given in wrong:
        with pytest.raises(GraphError) as caught:
            call(given)
        assert str(caught.value), given
        assert "\n" not in str(caught.value)


def test_every_parameter_of_a_search_is_in_the_table():
    for module in (kernels, exact_search):
        for name in module.__all__:
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            named = set(inspect.signature(function).parameters)
            if not named & {"graph", "shard"}:
                continue
            assert {f"{name} {each}" for each in named - ELSEWHERE} <= set(TABLE)


@pytest.mark.parametrize("device", [None, 1, "tpu", ["cpu"], np.array(["cpu", "gpu"]), GRAPH])
def test_a_device_is_named_by_a_word(device):
    for one in (GRAPH, SHARD):
        with pytest.raises(kernels.DeviceError, match="is unknown; it is 'cpu' or 'gpu'"):
            one.to(device)


def test_flags_of_numpy_are_flags():
    for yes in (True, np.True_):
        assert kernels.bfs(GRAPH, 0, parents=yes).parent is not None
        assert kernels.msbfs(GRAPH, [0], yes).level is not None
    for no in (False, np.False_):
        assert kernels.sssp(GRAPH, 0, parents=no).parent is None
        assert not shortest_path(GRAPH, 0, 1, no).weighted


def test_pairs_are_counted_of_the_graphs_that_are_marked():
    for chosen in ([True, False], np.array([True, False]), (np.True_, np.False_)):
        assert np.diff(count_pairs(SHARD, chosen).level_ptr).tolist() == [5, 0]
    assert count_pairs(Shard.from_graphs([]), []).counts.tolist() == []


@pytest.mark.parametrize("one", [np.int64(1), np.uint8(1), np.array(1), np.int32(1)])
def test_any_integer_is_a_number(one):
    for name, (call, wrong) in TABLE.items():
        if any(wrong is kind for kind in (NODES, OPTIONAL, LIMITS)) or name == "Shard.graph i":
            assert plain(call(one)) == plain(call(1)), name


@pytest.mark.parametrize(
    "name",
    ["msbfs sources", "msbfs_shard sources", "Rank.sweep sources", "partition.search source"],
)
def test_any_row_of_integers_will_do_and_repeated_or_no_sources_are_fine(name):
    call = TABLE[name][0]
    if name == "msbfs_shard sources":  # of one graph after the other, as many as there are

        def call(given: Any) -> Any:
            n = len(given)
            return kernels.msbfs_shard(SHARD, given, [0, n, n])

    expected = plain(call([2, 0, 1]))
    for same in ((2, 0, 1), np.array([2, 0, 1], np.uint64), np.array([2, 9, 0, 9, 1])[::2]):
        assert plain(call(same)) == expected
    assert plain(call(range(2))) == plain(call([0, 1]))
    assert plain(call([])) == plain(call(())) == plain(call(np.empty(0)))
    once, twice = call([1]), call([1, 1])
    assert plain(twice.eccentricity) in (plain(once.eccentricity), plain(once.eccentricity) * 2)


@pytest.mark.parametrize("name", [name for name, (_, wrong) in TABLE.items() if wrong is ASKED])
def test_questions_may_come_from_anything_that_lists_them(name):
    call = TABLE[name][0]
    for asked in (["radius"], ["radius", "diameter"], list(QUESTIONS)):
        expected = plain(call(asked))
        given = (iter(asked), (each for each in asked), set(asked), tuple(asked * 2))
        for same in (*given, np.array(asked), dict.fromkeys(asked), reversed(asked)):
            assert plain(call(same)) == expected


def test_graphs_may_come_from_anything_that_lists_them():
    graphs = [GRAPH, graph_of(2, [(0, 1)])]
    expected = plain(Shard.from_graphs(graphs))
    for same in (iter(graphs), (each for each in graphs), tuple(graphs), dict.fromkeys(graphs)):
        assert plain(Shard.from_graphs(same)) == expected
    assert Shard.from_graphs([]).n_graphs == Shard.from_graphs(iter([])).n_graphs == 0
    assert plain(Shard.from_graphs(graphs).graph(np.uint8(1))) == plain(graphs[1])


def plain(value: Any) -> Any:
    """What a result holds, without NumPy; not how it was found."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: plain(each) for name, each in shown.items() if name not in ("graph", "shard")}
    if isinstance(value, CSRGraph | Shard):
        return [plain(getattr(value, name)) for name in type(value).__slots__]
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


# Searches by what they are asked: two questions each, of which the second must leave the first
# one's result as it was.
SEARCHES: dict[str, Callable[[CSRGraph, int], Any]] = {
    "bfs": lambda graph, node: kernels.bfs(graph, node, parents=True),
    "sssp": lambda graph, node: kernels.sssp(graph, node, parents=True),
    "dfs": kernels.dfs,
    "dfs of all": lambda graph, _: kernels.dfs(graph),
    "components": lambda graph, _: kernels.components(graph),
    "mst": lambda graph, _: kernels.mst(graph),
    "path": lambda graph, node: shortest_path(graph, node, 4),
    "path by weight": lambda graph, node: shortest_path(graph, node, 4, weighted=True),
    "msbfs": lambda graph, node: kernels.msbfs(graph, [node, 3, node], levels=True),
    "msbfs_shard": lambda graph, node: kernels.msbfs_shard(shard_of(graph), [node, 1], [0, 1, 2]),
    "widths": lambda graph, node: widths(shard_of(graph), QUESTIONS, node or None),
    "weighted_widths": lambda graph, node: kernels.weighted_widths(graph, QUESTIONS, node or None),
    "effective_diameters": lambda graph, _: effective_diameters(shard_of(graph)),
    **{
        name: lambda graph, node, name=name: getattr(kernels, name)(graph, node or None)
        for width in ("diameter", "radius", "center", "periphery")
        for name in (width, f"weighted_{width}")
    },
    "eccentricities": lambda graph, _: (kernels.eccentricities(graph),),
    "weighted_eccentricities": lambda graph, _: (kernels.weighted_eccentricities(graph),),
}


def shard_of(graph: CSRGraph) -> Shard:
    return Shard.from_graphs([graph.to("cpu"), graph_of(2, [(0, 1)])]).to(graph.device)


def arrays_of(found: Any) -> Iterator[tuple[str, Any]]:
    """Names and arrays of a result, those of its proof too."""
    named = vars(found).items() if not isinstance(found, tuple) else enumerate(found)
    for name, value in named:
        if is_dataclass(value):
            yield from arrays_of(value)
        elif hasattr(value, "dtype") and getattr(value, "shape", ()) != ():
            yield str(name), value


@pytest.mark.parametrize("name", SEARCHES)
def test_a_result_is_not_changed_by_the_next_search_and_shares_no_memory(device, name):
    graph = GRAPH.to(device)
    first = SEARCHES[name](graph, 0)
    before = {key: host(array).copy() for key, array in arrays_of(first)}
    assert before
    for node in (5, 2):
        SEARCHES[name](graph, node)
    for key, array in arrays_of(first):
        np.testing.assert_array_equal(host(array), before[key])
    of_graph = [("the graph", each) for each in (graph.indptr, graph.indices, graph.weights)]
    known = list(of_graph)
    for key, array in arrays_of(first):
        if device == "cpu" and array.size:
            assert [other for other, each in known if np.shares_memory(array, each)] == []
        known.append((key, array))


def test_results_of_a_rank_are_not_changed_by_its_next_searches(device):
    if device == "gpu":
        import cupy  # noqa: F401
    part, link = parts_of(GRAPH, 1)[0], partition.thread_collectives(1)[0]
    own = partition.Rank(part, link, device)
    every = ([0], [5], [4, 6])
    calls: list[Callable[[], Any]] = [
        *(lambda node=node: own.certified(node) for node in (0, 5, 4)),
        *(lambda some=some: own.sweep(some) for some in every),
        lambda: own.widths(QUESTIONS),
        lambda: own.widths(["radius"], 1),
        lambda: own.certified(2),
    ]
    kept: list[tuple[Any, Any]] = []
    for call in calls:
        found = call()
        kept.append((found, {key: host(array).copy() for key, array in arrays_of(found)}))
        for earlier, before in kept:
            for key, array in arrays_of(earlier):
                np.testing.assert_array_equal(host(array), before[key], err_msg=key)
    assert host(kept[0][0].level)[:5].tolist() == [0, 1, 2, 3, 4]
    assert host(kept[2][0].level)[:5].tolist() == [4, 3, 2, 1, 0]


def test_a_result_keeps_its_sources_when_the_caller_changes_the_array():
    sources, ptr = np.array([0, 1], np.int32), np.array([0, 1, 2], np.int64)
    of_graph, of_shard = kernels.msbfs(GRAPH, sources), kernels.msbfs_shard(SHARD, sources, ptr)
    sources[:], ptr[1] = 2, 2
    for found in (of_graph, of_shard):
        found.check()
        assert found.sources.tolist() == [0, 1]


def test_certificates_refuse_what_is_no_row():
    arrays = GRAPH.indptr, GRAPH.indices
    for given in (None, 3, iter([0]), {0}, "ab"):
        with pytest.raises(kernels.CheckError):
            certificates.check_path(GRAPH, given)
        with pytest.raises(kernels.CheckError):
            certificates.check_levels(*arrays, 0, given)
        with pytest.raises(kernels.CheckError):
            certificates.check_components(*arrays, given)
