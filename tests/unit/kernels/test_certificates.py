"""Results that check themselves, and are refused once anything in them is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kernels
import kernels.breadth_first.check as breadth_first_check
import kernels.shortest_paths.check as shortest_paths_check
from kernels import (
    CheckError,
    CSRGraph,
    Shard,
    bfs,
    certificates,
    components,
    dfs,
    msbfs,
    msbfs_shard,
    mst,
    shortest_path,
    sssp,
    weighted_widths,
)
from kernels.exact_search import widths
from tests.shapes import graph_of, host, weighted
from tests.soak import examples
from tests.strategies import weighted_graphs

PROPERTY = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# Two triangles that share node 2, an edge, an isolated node.
LINKS = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4), (5, 6)]


def small(device: str = "cpu") -> CSRGraph:
    return weighted(graph_of(8, LINKS), [1, 3, 1, 2, 5, 2, 4]).to(device)


RESULTS: dict[str, Callable[[CSRGraph], Any]] = {
    "bfs": lambda graph: bfs(graph, 0, parents=True),
    "bfs to a target": lambda graph: bfs(graph, 0, 2, parents=True),
    "components": components,
    "dfs": dfs,
    "dfs from a source": lambda graph: dfs(graph, 2),
    "msbfs": lambda graph: msbfs(graph, [0, 4]),
    "msbfs levels": lambda graph: msbfs(graph, [0, 4], levels=True),
    "msbfs_shard": lambda graph: msbfs_shard(shard_of(graph), [0, 1], [0, 1, 2]),
    "mst": mst,
    "path": lambda graph: shortest_path(graph, 0, 4),
    "path by weight": lambda graph: shortest_path(graph, 0, 4, weighted=True),
    "sssp": lambda graph: sssp(graph, 0, parents=True),
    "sssp to a target": lambda graph: sssp(graph, 0, 2, parents=True),
}
# What a result was asked, and what follows from all else.
GIVEN = {
    *("graph", "shard", "source", "sources", "source_ptr", "target", "weighted", "method"),
    "max_searches",
}


def shard_of(graph: CSRGraph) -> Shard:
    return Shard.from_graphs([graph.to("cpu"), graph_of(2, [(0, 1)])]).to(graph.device)


def wrong_values(value: Any) -> list[Any]:
    """The value with one number changed, or one left out, in every place."""
    if value is None:
        return []
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1]
    array = host(value)
    changed = []
    for place in np.ndindex(array.shape):
        other = array.copy()
        other[place] = array[place] ^ 1 if array.dtype.kind in "biu" else array[place] + 1
        if other[place] != array[place]:  # inf is inf
            changed.append(other)
    return changed + ([array[:-1]] if array.ndim == 1 and len(array) else [])


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_certified_and_any_change_is_refused(device, name):
    found = RESULTS[name](small(device))
    found.check()
    n_refused = 0
    for field in sorted(set(vars(found)) - GIVEN):
        for value in wrong_values(getattr(found, field)):
            with pytest.raises(CheckError):
                replace(found, **{field: value}).check()
            n_refused += 1
    assert n_refused > 2


@PROPERTY
@given(graph=weighted_graphs(), data=st.data())
def test_searches_to_a_target_are_those_of_all_as_far_as_it(device, graph, data):
    node = st.integers(0, graph.n_nodes - 1)
    source, target = data.draw(node), data.draw(node)
    there = graph.to(device)
    for search, name, none in ((bfs, "level", -1), (sssp, "distance", np.inf)):
        whole = search(graph, source, parents=True)
        far = getattr(whole, name)
        is_in = far <= far[target] if far[target] != none else far == far
        found = search(there, source, target, parents=True)
        np.testing.assert_array_equal(host(getattr(found, name)), np.where(is_in, far, none))
        expected = np.where(is_in, whole.parent, -1)
        np.testing.assert_array_equal(host(found.parent), expected)
        found.check()
        with pytest.raises(CheckError):
            replace(found, n_reached=found.n_reached + 1).check()


def test_a_search_may_not_end_before_its_target_nor_go_beyond():
    graph = weighted(graph_of(4, [(0, 1), (1, 2), (2, 3)]), [1, 1, 1])
    for search, name in ((bfs, "level"), (sssp, "distance")):
        whole, found = search(graph, 0), search(graph, 0, 1)
        assert (found.n_reached, found.eccentricity) == (2, 1)
        with pytest.raises(CheckError, match="the target"):
            replace(whole, target=1).check()
        with pytest.raises(CheckError, match="leaves the reached nodes"):
            replace(found, target=None).check()
        array = getattr(found, name).copy()
        array[1] = array[2]
        with pytest.raises(CheckError):
            replace(found, **{name: array}).check()


# Compiled certificates index by nodes that results name: these were read outside of the arrays.
OUTSIDE = [
    (name, role, place)
    for name in RESULTS
    if name not in ("components", "dfs", "dfs from a source", "mst")
    for role in ("source", "target")
    if role == "source" or "path" in name or "target" in name
    for place in (-1, 8, 10**9, 1.5)
    if place != 1.5 or not name.startswith("msbfs")
]


@pytest.mark.parametrize(("name", "role", "place"), OUTSIDE)
def test_a_source_or_target_that_is_not_a_node_is_refused(name, role, place):
    found = RESULTS[name](small())
    if name.startswith("msbfs"):
        wrong = {"sources": np.array([place, *found.sources[1:]])}
    else:
        wrong = {role: place}
    with pytest.raises(CheckError, match=r"not a node|not all nodes"):
        replace(found, **wrong).check()


@pytest.mark.parametrize("place", [-1, 8, 10**9])
def test_certificates_of_arrays_refuse_a_source_or_target_that_is_not_a_node(place):
    graph = small()
    arrays = graph.indptr, graph.indices
    by_hops, by_weight = bfs(graph, 0, parents=True), sssp(graph, 0, parents=True)
    hops, weights = (*arrays, 0, by_hops.level), (*arrays, graph.weights, 0, by_weight.distance)
    with pytest.raises(CheckError, match=f"source {place} is not a node"):
        certificates.check_levels(*arrays, place, by_hops.level)
    with pytest.raises(CheckError, match=f"target {place} is not a node"):
        certificates.check_levels(*hops, place)
    with pytest.raises(CheckError, match=f"source {place} is not a node"):
        certificates.check_distances(*arrays, graph.weights, place, by_weight.distance)
    with pytest.raises(CheckError, match=f"target {place} is not a node"):
        certificates.check_distances(*weights, place)
    with pytest.raises(CheckError, match=f"source {place} is not a node"):
        breadth_first_check.check_parents(*arrays, place, by_hops.level, by_hops.parent)
    with pytest.raises(CheckError, match=f"source {place} is not a node"):
        shortest_paths_check.check_parents(
            *arrays, graph.weights, place, by_weight.distance, by_weight.parent
        )


def unlike(array: np.ndarray) -> list[Any]:
    """Values that become those of the array when they are cast, and arrays of another shape."""
    some = array < np.inf if array.dtype.kind == "f" else array >= 0
    near = np.where(some, array.astype(np.float64) + 1e-9, array)
    others = [near, array.astype(str), array.astype(object), np.array([array, array])]
    if array.dtype.kind == "f":
        return others
    return [*others, np.where(some, array.astype(np.float64) + 0.5, array), array + 2**32]


@pytest.mark.parametrize("name", sorted(set(RESULTS) - {"msbfs", "msbfs levels", "msbfs_shard"}))
def test_arrays_are_not_cast_before_they_are_certified(name):
    found = RESULTS[name](small())
    arrays = {key: each for key, each in vars(found).items() if isinstance(each, np.ndarray)}
    n_refused = 0
    for key in sorted(set(arrays) - {"ids", "sizes"}):
        array = arrays[key].astype(np.int64) if arrays[key].dtype.kind == "i" else arrays[key]
        for other in unlike(array):
            with pytest.raises(CheckError):
                replace(found, **{key: other}).check()
            n_refused += 1
    assert n_refused > 3


def test_rows_of_many_searches_are_not_cast_before_they_are_certified():
    graph = small()
    for found in (msbfs(graph, [0, 4], levels=True), RESULTS["msbfs_shard"](graph)):
        for name in ("eccentricity", "n_reached"):
            with pytest.raises(CheckError, match=r"eccentricity|reached"):
                replace(found, **{name: getattr(found, name) + 0.5}).check()
        with pytest.raises(CheckError, match="sources has dtype float64"):
            replace(found, sources=found.sources + 0.5).check()
    level = msbfs(graph, [0], levels=True)
    for dtype in (np.float64, np.int64, np.uint64):
        with pytest.raises(CheckError, match="level has dtype"):
            replace(level, level=level.level.astype(dtype)).check()


def test_arrays_with_the_same_values_are_certified_whatever_their_dtype_and_order():
    graph = small()
    arrays = graph.indptr, graph.indices
    level = bfs(graph, 0).level
    for same in (level.astype(np.int64), level.tolist(), level.astype(">i4"), read_only(level)):
        certificates.check_levels(*arrays, 0, same)
    certificates.check_levels(*arrays, 0, np.repeat(level, 2)[::2])
    forest = mst(graph)
    ends = forest.tails.astype(np.uint64), forest.heads.tolist()
    certificates.check_forest(*arrays, graph.weights, *ends, forest.weights.astype(np.float64))
    certificates.check_forest(*arrays, graph.weights, *ends, forest.weights.astype(np.int64))
    with pytest.raises(CheckError, match="level cannot be read"):
        certificates.check_levels(*arrays, 0, [[0], [1, 2]])
    with pytest.raises(CheckError, match="level holds 4294967296, which int32 cannot hold"):
        certificates.check_levels(*arrays, 0, level.astype(np.uint64) + np.uint64(2**32))
    near = forest.weights + np.float64(1e-9)
    with pytest.raises(CheckError, match=r"weights holds 1\.000000001, which float32 cannot hold"):
        certificates.check_forest(*arrays, graph.weights, *ends, near)
    for array in (forest.tails, forest.heads, forest.weights):  # in two dimensions
        edges = [
            np.stack([each, each]) if each is array else each
            for each in (forest.tails, forest.heads, forest.weights)
        ]
        with pytest.raises(CheckError, match="has shape"):
            certificates.check_forest(*arrays, graph.weights, *edges)


def read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def test_a_path_that_is_not_shortest_or_not_there_is_refused():
    graph = weighted(graph_of(5, [(0, 1), (1, 2), (0, 2), (2, 3)]), [1, 5, 1, 1])
    found = shortest_path(graph, 0, 3)
    assert found.nodes.tolist() == [0, 2, 3]
    longer = np.array([0, 1, 2, 3], np.int32)
    with pytest.raises(CheckError, match="the shortest has 2"):
        replace(found, nodes=longer, length=3).check()
    with pytest.raises(CheckError, match="not linked"):
        replace(found, nodes=np.array([0, 1, 3], np.int32)).check()
    by_weight = shortest_path(graph, 0, 3, weighted=True)
    assert by_weight.nodes.tolist() == longer.tolist()
    with pytest.raises(CheckError, match="the shortest has 3"):
        replace(by_weight, nodes=found.nodes, length=6.0).check()
    nowhere = shortest_path(graph, 0, 4)
    nowhere.check()
    for length in (np.nan, -np.inf, 7.0):
        with pytest.raises(CheckError, match="of length"):
            replace(nowhere, length=length).check()
    with pytest.raises(CheckError, match="the shortest has 2"):
        replace(nowhere, target=3).check()


WIDTHS = {
    name: getattr(kernels, name)
    for one in ("diameter", "radius", "center", "periphery")
    for name in (one, f"weighted_{one}")
}


@pytest.mark.parametrize("name", WIDTHS)
def test_widths_are_certified_and_any_change_is_refused(device, name):
    found = WIDTHS[name](small(device))
    found.check()
    n_refused = 0
    for field in sorted(set(vars(found)) - GIVEN - {"n_searches", "proof"}):
        for value in wrong_values(getattr(found, field)):
            if field == "path" and len(value) == len(found.path):  # may be another longest one
                continue
            if field == "center":
                value = 7  # not 1 more, which may be as good
            with pytest.raises(CheckError):
                replace(found, **{field: value}).check()
            n_refused += 1
    assert n_refused > 10


@pytest.mark.parametrize("place", [-2, 8, 10**9, 0.5])
def test_a_path_or_a_proof_by_nodes_that_are_not_there_is_refused(place):
    graph = small()
    for search in (kernels.diameter, kernels.weighted_diameter):
        found = search(graph)
        for at in range(len(found.path)):
            path = found.path.astype(type(place))
            path[at] = place
            with pytest.raises(CheckError, match=r"path (from|has)"):
                replace(found, path=path).check()
    found = kernels.diameter(graph)
    for name in ("sources", "centres", "landmarks"):
        proof = replace(found.proof, **{name: np.array([place])})
        with pytest.raises(CheckError, match=f"{name} of the proof"):
            replace(found, proof=proof).check()
    with pytest.raises(CheckError, match="path from"):
        certificates.check_path(graph, np.array([int(place) or 9]))


@PROPERTY
@given(graph=weighted_graphs(min_nodes=0), data=st.data())
def test_widths_of_any_graph_are_certified(device, graph, data):
    search = WIDTHS[data.draw(st.sampled_from(sorted(WIDTHS)))]
    search(graph.to(device)).check()
    search(graph.to(device), max_searches=data.draw(st.integers(0, 4))).check()


@pytest.mark.parametrize("name", ["radius", "weighted_radius"])
def test_a_center_cut_short_is_no_farther_from_any_node_than_its_radius(name):
    path = weighted(graph_of(9, [(i, i + 1) for i in range(8)]), [1] * 8)
    found = WIDTHS[name](path, max_searches=2)
    assert not found.exact
    found.check()
    assert found.radius < 8
    with pytest.raises(CheckError, match="node 0 has eccentricity 8"):
        replace(found, center=0).check()
    for place in (-1, 9, 1.5):
        with pytest.raises(CheckError, match=f"center {place} is not a node"):
            replace(found, center=place).check()


def test_bounds_that_are_not_numbers_are_refused():
    path = weighted(graph_of(9, [(i, i + 1) for i in range(8)]), [1] * 8)
    found = kernels.weighted_radius(path, max_searches=1)
    with pytest.raises(CheckError, match="the radius of component 0"):
        replace(found, lower=np.nan, lowers=np.array([np.nan])).check()
    several = weighted_widths(path, ["radius"], 1)
    with pytest.raises(CheckError, match="the radius of component 0"):
        replace(several, radius_lower=np.array([np.nan])).check()


QUESTIONS = ["diameter", "radius", "center", "periphery", "eccentricities"]


@pytest.mark.parametrize("by_weight", [False, True], ids=["hops", "weights"])
def test_widths_of_a_shard_are_certified_and_any_change_is_refused(device, by_weight):
    graph = small(device)
    shard = shard_of(graph)
    found = weighted_widths(graph, QUESTIONS) if by_weight else widths(shard, QUESTIONS)
    found.check()
    n_refused = 0
    for field in sorted(set(vars(found)) - GIVEN - {"n_searches", "path", "questions"}):
        for value in wrong_values(getattr(found, field)):
            with pytest.raises(CheckError):
                replace(found, **{field: value}).check()
            n_refused += 1
    assert n_refused > 20


@PROPERTY
@given(graph=weighted_graphs(min_nodes=0), data=st.data())
def test_widths_of_any_shard_are_certified(device, graph, data):
    asked = data.draw(st.lists(st.sampled_from(QUESTIONS), min_size=1))
    most = data.draw(st.none() | st.integers(0, 4))
    widths(shard_of(graph).to(device), asked, most).check()
    weighted_widths(graph.to(device), asked, most).check()


EVERY: dict[str, Callable[[CSRGraph], Any]] = {
    **RESULTS,
    **WIDTHS,
    **{f"{name} cut short": lambda graph, f=one: f(graph, 1) for name, one in WIDTHS.items()},
    "widths": lambda graph: widths(shard_of(graph), QUESTIONS),
    "weighted_widths": lambda graph: weighted_widths(graph, QUESTIONS, 3),
}
NO_VALUES = ("x", iter([0]), object(), {0}, 1j, np.zeros((2, 2, 2)), [[0], [1, 2]])
# What a result may leave out, or a caller.
LEFT_OUT = {"target", "parent", "level", "max_searches"}


def refused(found: Any, field: str, value: Any) -> bool:
    """Whether the result is refused in words with this value; no other error is let through."""
    try:
        replace(found, **{field: value}).check()
    except CheckError as error:
        return str(error) != ""
    return False


@pytest.mark.parametrize("name", EVERY)
def test_what_is_no_number_or_no_array_is_refused_in_words(name):
    found = EVERY[name](small())
    fields = set(vars(found)) - {"graph", "shard", "method"}
    for field in sorted(fields):
        for value in NO_VALUES:
            assert refused(found, field, value), (field, value)
        if isinstance(getattr(found, field), np.ndarray):
            assert refused(found, field, np.ma.array(getattr(found, field))), field
        if getattr(found, field) is not None and field not in LEFT_OUT:
            is_any = name.startswith("dfs") and field == "source"
            assert is_any or refused(found, field, None), field


def test_lists_are_read_as_arrays_are():
    for name in ("center", "weighted_periphery", "diameter", "msbfs", "widths"):
        found = EVERY[name](small())
        for field, value in vars(found).items():
            if isinstance(value, np.ndarray):
                replace(found, **{field: value.tolist()}).check()
    found = kernels.diameter(small())
    for wrong in (None, "x", 0, replace(found.proof, by_trees="x")):
        assert refused(found, "proof", wrong)


@pytest.mark.parametrize("name", [*WIDTHS, "widths", "weighted_widths"])
def test_searches_are_counted_from_0_to_as_many_as_were_allowed(name):
    some = None if name in WIDTHS else QUESTIONS

    def ask(most: int | None) -> Any:
        graph = small()
        if some is None:
            return WIDTHS[name](graph, most)
        asked = (graph, some, most) if "weighted" in name else (shard_of(graph), some, most)
        return (weighted_widths if "weighted" in name else widths)(*asked)

    for most in (None, 1, 99):
        found = ask(most)
        found.check()
        n_components = np.size(found.n_searches)
        for wrong in (-5, None, 1.5, True, "1", 2**70, 100, np.nan):
            if (wrong, most) == (100, None):
                continue
            given = wrong if some is None else np.array([wrong] * n_components)
            assert refused(found, "n_searches", given), (most, wrong)
        for limit in (-1, 1.5, "1", True, np.zeros(3)):
            assert refused(found, "max_searches", limit), (most, limit)
    assert refused(ask(1), "n_searches", 2 if some is None else ask(1).n_searches + 1)


@pytest.mark.parametrize("by_weight", [None, "x", 1, 0, iter([0]), np.array([True])])
def test_a_path_says_by_true_or_false_whether_it_is_by_weight(by_weight):
    for weighted_ in (False, True):
        assert refused(shortest_path(small(), 0, 4, weighted_), "weighted", by_weight)


def test_every_part_of_the_widths_of_a_shard_is_read_or_refused():
    empty = graph_of(0, [])
    shard = Shard.from_graphs([graph_of(3, [(0, 1), (1, 2)]), empty, graph_of(2, [(0, 1)])])
    found = widths(shard, QUESTIONS)
    found.check()
    assert found.path_ptr.tolist() == [0, 3, 3, 5]
    longer = np.append(found.path, 0).astype(np.int32)
    wrong: list[dict[str, Any]] = [
        {"path": longer},
        {"path": longer, "path_ptr": np.array([0, 3, 3, 5, 6])},
        {"path": np.insert(found.path, 3, 0), "path_ptr": np.array([0, 3, 4, 6])},
        {"path": found.path + 0.5},
        {"path": np.where(found.path == 4, 5, found.path)},
        {"path": None},
        {"path": None, "path_ptr": None},
        {"exact": found.exact.astype(int)},
        {"is_center": found.is_center.astype(int)},
    ]
    ptrs = ([0, 3], [0, 3, 3], [1, 3, 3, 5], [0, 3, 3, 4], [0, 5, 3, 5], [0, 3, 3, 5, 5], [])
    wrong += [{"path_ptr": np.array(ptr)} for ptr in ptrs]
    for each in wrong:
        with pytest.raises(CheckError):
            replace(found, **each).check()
    none = widths(Shard.from_graphs([empty]), QUESTIONS)
    none.check()
    with pytest.raises(CheckError, match="path from 0 to 0"):
        replace(none, path=np.zeros(1, np.int32), path_ptr=np.array([0, 1])).check()
    widths(Shard.from_graphs([]), QUESTIONS).check()


@pytest.mark.parametrize("name", WIDTHS)
def test_an_answer_is_left_open_only_where_its_searches_were_used_up(device, name):
    graph = small(device)
    for found in (WIDTHS[name](graph), WIDTHS[name](graph, 99)):
        with pytest.raises(CheckError, match=r"not exact after \d+ search.* (no limit|allowed)"):
            replace(found, exact=False).check()
    cycle = weighted(graph_of(9, [(i, (i + 1) % 9) for i in range(9)]), [1] * 9).to(device)
    cut = WIDTHS[name](cycle, 0)
    assert not cut.exact
    cut.check()
    for wrong in ({"exact": True}, {"exact": 0}, {"max_searches": 1}, {"max_searches": None}):
        with pytest.raises(CheckError):
            replace(cut, **wrong).check()
    for none in (WIDTHS[name](weighted(graph_of(0, []), []), most) for most in (None, 0)):
        none.check()
        for field in sorted(set(vars(none)) - GIVEN - {"proof"}):
            value = getattr(none, field)
            longer = np.zeros(1, value.dtype) if isinstance(value, np.ndarray) else None
            for wrong in [longer] if longer is not None else wrong_values(value):
                with pytest.raises(CheckError):
                    replace(none, **{field: wrong}).check()


def test_a_diameter_or_radius_with_equal_bounds_is_exact():
    graph = small()
    for name in ("diameter", "radius", "weighted_diameter", "weighted_radius"):
        found = WIDTHS[name](graph)
        used_up = replace(found, exact=False, max_searches=found.n_searches)
        with pytest.raises(CheckError, match="and the result is not exact"):
            used_up.check()


@pytest.mark.parametrize("by_weight", [False, True], ids=["hops", "weights"])
def test_widths_say_what_was_asked_and_which_components_are_left_open(by_weight):
    graph = small()

    def ask(questions: Any, most: int | None = None) -> Any:
        if by_weight:
            return weighted_widths(graph, questions, most)
        return widths(shard_of(graph), questions, most)

    for found in (ask(["radius", "center"]), ask(["radius", "center"], 99)):
        flipped = found.exact.copy()
        flipped[0] = False
        wrong: list[dict[str, Any]] = [
            {"exact": flipped},
            {"exact": ~found.exact},
            {"exact": None},
            {"questions": ()},
            {"questions": ("radius",)},
            {"questions": ("center", "radius")},
            {"questions": ("radius", "width")},
            {"questions": ("radius", "center", "periphery")},
            {"questions": ("radius", "center", "eccentricities")},
            {"is_center": None},
            {"n_searches": found.n_searches[:-1]},
        ]
        for each in wrong:
            with pytest.raises(CheckError):
                replace(found, **each).check()
    cut = ask(QUESTIONS, 1)
    assert not cut.exact.all()
    cut.check()
    with pytest.raises(CheckError, match="there was no limit"):
        replace(cut, max_searches=None).check()


def test_certificates_are_found_by_name():
    public: dict[str, Any] = {}
    exec("from kernels.certificates import *", public)
    assert set(certificates.__all__) == set(dir(certificates)) == set(public) - {"__builtins__"}
    assert {"check_diameter", "check_levels", "check_path", "check_widths"} < set(public)
    assert all(callable(public[name]) and public[name].__doc__ for name in certificates.__all__)
    with pytest.raises(AttributeError):
        certificates.check_nothing  # noqa: B018


def test_every_public_result_of_a_search_checks_itself():
    results = [
        one
        for name in kernels.__all__
        if name.endswith(("Result", "Path", "Forest"))
        for one in [getattr(kernels, name)]
    ]
    assert len(results) >= 8
    assert [one.__name__ for one in results if not callable(getattr(one, "check", None))] == []
