"""Certificates of widths: plain searches prove them, or they are refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.plain import PlainBounds
from kernels.eccentricity.proof import check_diameter, check_path, stated_proof
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.eccentricity.results import (
    Center,
    CenterResult,
    Diameter,
    DiameterResult,
    Periphery,
    PeripheryResult,
    Radius,
    RadiusResult,
    ShardWidths,
    WidthResult,
)
from kernels.errors import CheckError
from kernels.shortest_paths import weighted_arrays
from kernels.stated import stated_array, stated_node, stated_nodes, stated_one, stated_rows
from kernels.types import DISTANCE, LEVEL, MARK, NODE, OFFSET
from kernels.words import number

__all__ = ["check_diameter", "check_path", "check_shard_widths", "check_widths"]


def check_widths(found: WidthResult) -> None:
    """Raise CheckError unless a width and its bounds, in every component, are right.

    Parameters
    ----------
    found : Diameter, Radius, Center or Periphery
        Or one of them by weight. An interval, where searches were limited, must hold the value.

    Notes
    -----
    A diameter in hops is proven by ``check_diameter``. All else is found again by ``PlainBounds``:
    at worst a search from each node.
    """
    graph = found.graph.to("cpu")
    weighted = not isinstance(found, Diameter | Radius | Center | Periphery)
    found = _stated(found, graph.n_nodes, weighted)
    _check_limit(np.array([found.exact]), np.array([found.n_searches]), found.max_searches)
    if graph.n_nodes == 0:
        _check_nothing(found)
        return
    truth = PlainBounds(graph, weighted)
    if not np.array_equal(found.components, truth.names):
        raise CheckError("components are not named by their smallest nodes")
    largest = int(np.argmax(truth.size))
    if found.component != truth.names[largest]:
        raise CheckError(f"the largest component is {truth.names[largest]}, not {found.component}")
    question = _question_of(found)
    wanted = np.ones(len(truth.names), bool)
    proven = found if isinstance(found, Diameter) and found.exact else None
    if proven:
        check_diameter(graph, proven)
        wanted[largest] = False
    truth.answer(question, wanted)
    values = truth.most if question in ("diameter", "periphery") else truth.least
    if proven:
        values[largest] = proven.diameter
    lowers, uppers = found.lowers, found.uppers
    holds = (lowers <= values) & (values <= uppers)  # not of NaN
    wrong = ~holds | (found.exact & (lowers != uppers))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise CheckError(
            f"the {question} of component {truth.names[i]} is {values[i]}, and not in "
            f"[{lowers[i]}, {uppers[i]}]"
        )
    is_all = (lowers == uppers).all() and isinstance(found, DiameterResult | RadiusResult)
    if is_all and not found.exact:
        raise CheckError(f"each component has its {question}, and the result is not exact")
    if (found.lower, found.upper) != (lowers[largest], uppers[largest]):
        raise CheckError(f"[{found.lower}, {found.upper}] are not the bounds of the component")
    _check_nodes(graph, found, truth, largest)


def _stated(found: WidthResult, n_nodes: int, weighted: bool) -> WidthResult:
    """The result with all that it states as certificates take it, on the host."""
    value = DISTANCE if weighted else LEVEL
    n_components = len(stated_array("components", found.components, NODE, (None,)))
    kinds: dict[str, tuple[np.dtype, tuple[int | None, ...]]] = {
        **dict.fromkeys(("lower", "upper", "diameter", "radius"), (value, ())),
        **dict.fromkeys(("lowers", "uppers"), (value, (n_components,))),
        **dict.fromkeys(("components", "nodes", "path"), (NODE, (None,))),
        **dict.fromkeys(("is_center", "is_periphery"), (MARK, (n_nodes,))),
        "component": (NODE, ()),
        "n_searches": (OFFSET, ()),
        "exact": (MARK, ()),
    }
    held: dict[str, Any] = {}
    for name, (dtype, shape) in kinds.items():
        if hasattr(found, name):
            array = stated_array(name, getattr(found, name), dtype, shape)
            held[name] = array if shape else array.item()
    if isinstance(found, Diameter):
        held["proof"] = stated_proof(found.proof, n_nodes)
    return replace(found, **held)


def _check_limit(exact: np.ndarray, n_searches: np.ndarray, limit: Any) -> None:
    """No more searches than were allowed; answers are left open only where all are used up."""
    limit = None if limit is None else stated_one("max_searches", limit, OFFSET)
    least, most = n_searches.min(initial=0), n_searches.max(initial=0)
    if least < 0:
        raise CheckError(f"n_searches is {least}; it must be 0 or more")
    if limit is not None and not most <= limit:
        raise CheckError(f"{number(int(most), 'search', 'es')}; {limit} were allowed")
    left = n_searches[~exact]
    if len(left) and (limit is None or left.min() < limit):
        allowed = "there was no limit" if limit is None else f"{limit} were allowed"
        raise CheckError(f"not exact after {number(int(left.min()), 'search', 'es')}; {allowed}")


def _check_nothing(found: WidthResult) -> None:
    """What is said of a graph without nodes."""
    names = ("diameter", "radius", "lower", "upper", "n_searches")
    values = [getattr(found, name, 0) for name in names]
    arrays = ("components", "lowers", "uppers", "path", "nodes", "is_center", "is_periphery")
    held = sum(np.size(getattr(found, name, ())) for name in arrays)
    nodes = (found.component, getattr(found, "center", -1))
    if any(values) or held or nodes != (-1, -1) or not found.exact:
        raise CheckError("a graph without nodes has no components, and no width but 0")


def _question_of(found: WidthResult) -> Question:
    kinds: dict[type, Question] = {
        DiameterResult: "diameter",
        RadiusResult: "radius",
        CenterResult: "center",
        PeripheryResult: "periphery",
    }
    return next(question for kind, question in kinds.items() if isinstance(found, kind))


def _check_nodes(graph: CSRGraph, found: WidthResult, truth: PlainBounds, largest: int) -> None:
    """What a result says besides bounds: its value, a path, a node, or sets of nodes."""
    own = truth.component == largest
    if isinstance(found, DiameterResult):
        if found.diameter != found.lower:
            raise CheckError(f"a diameter of {found.diameter} is not its bound, {found.lower}")
        if len(found.path) or found.exact:
            _check_longest(graph, found, truth)
    elif isinstance(found, RadiusResult):
        value = found.upper
        if found.radius != value:
            raise CheckError(f"a radius of {found.radius} is not its bound, {value}")
        center = stated_node("center", found.center, graph.n_nodes)
        if not own[center]:
            raise CheckError(f"node {center} is not in the component")
        distance = truth.distances(np.array([center]))[own]
        # Cut short, the radius is what is proven of this node: at least its eccentricity.
        if distance.max() > value or (found.exact and distance.max() != value):
            raise CheckError(f"node {center} has eccentricity {distance.max()}, not {value}")
    elif isinstance(found, CenterResult):
        if found.radius != found.upper:
            raise CheckError(f"a radius of {found.radius} is not its bound, {found.upper}")
        is_one = truth.lower <= truth.least[truth.component]
        _check_sets(found.nodes, found.is_center, is_one, own, found.exact)
    elif isinstance(found, PeripheryResult):
        if found.diameter != found.lower:
            raise CheckError(f"a diameter of {found.diameter} is not its bound, {found.lower}")
        is_one = truth.upper >= truth.most[truth.component]
        _check_sets(found.nodes, found.is_periphery, is_one, own, found.exact)


def _check_longest(graph: CSRGraph, found: DiameterResult, truth: PlainBounds) -> None:
    """The path of a diameter is a shortest one, and that long."""
    path = stated_array("path", found.path, NODE, (None,))
    if not len(path):
        raise CheckError("the path is empty")
    stated_nodes("path", path, graph.n_nodes)
    length = _length_of(graph, path, truth, not isinstance(found, Diameter))
    if length != found.lower:
        raise CheckError(f"a path of length {length} for a diameter of {found.lower}")


def _length_of(graph: CSRGraph, path: np.ndarray, truth: PlainBounds, weighted: bool) -> float:
    """The length of a path, which must be a shortest one; its weights added from its first node."""
    length = 0.0
    for u, v in pairwise(path.tolist()):
        arcs = slice(int(graph.indptr[u]), int(graph.indptr[u + 1]))
        at = np.flatnonzero(graph.indices[arcs] == v)
        if not len(at):
            raise CheckError(f"the path goes from {u} to {v}, which are not linked")
        length += float(weighted_arrays(graph)[2][arcs][at[0]]) if weighted else 1
    if truth.distances(path[:1])[path[-1]] != length:
        raise CheckError(f"the path from {path[0]} to {path[-1]} is not a shortest one")
    return length


def _check_sets(
    nodes: np.ndarray, marks: np.ndarray, is_one: np.ndarray, own: np.ndarray, exact: bool
) -> None:
    """Marks of all nodes, and the nodes of the component; those not excluded where not exact."""
    wrong = np.flatnonzero((marks != is_one) if exact else (is_one & ~marks))
    if len(wrong):
        raise CheckError(f"node {wrong[0]} is {'not ' * int(is_one[wrong[0]])}marked")
    if not np.array_equal(nodes, np.flatnonzero(marks & own)):
        raise CheckError("the nodes are not those marked in the component")


def check_shard_widths(found: ShardWidths) -> None:
    """Raise CheckError unless all answers about a shard are right; as ``check_widths``."""
    shard = found.shard.to("cpu")
    weights = shard.weights if isinstance(shard, CSRGraph) else None
    graph = CSRGraph(shard.indptr, shard.indices, weights, trusted=True)
    node_ptr = shard.node_ptr if isinstance(shard, Shard) else np.array([0, graph.n_nodes])
    weighted = isinstance(shard, CSRGraph)
    found = _stated_answers(found, graph.n_nodes, weighted)
    paths = _stated_paths(found, len(node_ptr) - 1, graph.n_nodes)
    _check_limit(found.exact, found.n_searches, found.max_searches)
    if graph.n_nodes == 0:
        if len(found.names) or len(found.component):
            raise CheckError("a shard without nodes has no components")
        return
    truth = PlainBounds(graph, weighted)
    for name, ours, theirs in (
        ("names", found.names, truth.names),
        ("sizes", found.size, truth.size),
        ("components of nodes", found.component, truth.component),
    ):
        if not np.array_equal(ours, theirs):
            raise CheckError(f"{name} are not those of the components")
    for question in QUESTIONS:
        if question in ("diameter", "radius", *found.questions):
            truth.answer(question, np.ones(len(truth.names), bool))
    most, least = truth.most, truth.least
    for name, value, lower, upper, questions in (
        ("diameter", most, found.diameter_lower, found.diameter_upper, {"diameter", "periphery"}),
        ("radius", least, found.radius_lower, found.radius_upper, {"radius", "center"}),
    ):
        known = found.exact & bool((questions | {"eccentricities"}) & set(found.questions))
        wrong = ~((lower <= value) & (value <= upper)) | (known & (lower != upper))
        if wrong.any():
            i = int(np.argmax(wrong))
            raise CheckError(f"the {name} of component {truth.names[i]} is {value[i]}")
    known = found.exact[truth.component]
    for name, marks, expected in (
        ("eccentricity", found.eccentricity, truth.lower),
        ("mark of the center", found.is_center, truth.lower <= least[truth.component]),
        ("mark of the periphery", found.is_periphery, truth.upper >= most[truth.component]),
    ):
        if marks is not None and (marks[known] != expected[known]).any():
            node = np.flatnonzero(known & (marks != expected))[0]
            raise CheckError(f"the {name} of node {node} is wrong")
    for i, path in enumerate(paths):
        own = (truth.names >= node_ptr[i]) & (truth.names < node_ptr[i + 1])
        _check_longest_of(i, graph, path, np.flatnonzero(own), found, truth)


def _stated_answers(found: ShardWidths, n_nodes: int, weighted: bool) -> ShardWidths:
    """The answers, but paths, as certificates take them, on the host."""
    asked = found.questions
    ordered = [each for each in QUESTIONS if isinstance(asked, tuple) and each in asked]
    if not ordered or asked != tuple(ordered):
        raise CheckError(f"questions {asked!r} are not some of {', '.join(QUESTIONS)}, in order")
    value = DISTANCE if weighted else LEVEL
    names = stated_array("names", found.names, NODE, (None,))
    kinds: dict[str, tuple[np.dtype, int]] = {
        "component": (NODE, n_nodes),
        "size": (NODE, len(names)),
        "n_searches": (OFFSET, len(names)),
        "exact": (MARK, len(names)),
        **dict.fromkeys(("diameter_lower", "diameter_upper"), (value, len(names))),
        **dict.fromkeys(("radius_lower", "radius_upper"), (value, len(names))),
    }
    answers: dict[str, tuple[Question, np.dtype]] = {
        "eccentricity": ("eccentricities", value),
        "is_center": ("center", MARK),
        "is_periphery": ("periphery", MARK),
    }
    for name, (question, dtype) in answers.items():
        if (getattr(found, name) is None) == (question in asked):
            raise CheckError(f"{name} is there if {question} was asked, or neither")
        if question in asked:
            kinds[name] = (dtype, n_nodes)
    held = {
        name: stated_array(name, getattr(found, name), dtype, (length,))
        for name, (dtype, length) in kinds.items()
    }
    return replace(found, names=names, **held)


def _stated_paths(found: ShardWidths, n_graphs: int, n_nodes: int) -> list[np.ndarray]:
    """The path of each graph; none if the diameter was not requested."""
    if found.path is None or found.path_ptr is None:
        if "diameter" in found.questions or found.path is not found.path_ptr:
            raise CheckError(
                "path and path_ptr are there if the diameter was requested, or neither"
            )
        return []
    path = stated_array("path", found.path, NODE, (None,))
    stated_nodes("path", path, n_nodes)
    ptr = stated_rows("path_ptr", found.path_ptr, n_graphs, len(path))
    return [path[first:end] for first, end in pairwise(ptr.tolist())]


def _check_longest_of(
    i: int,
    graph: CSRGraph,
    path: np.ndarray,
    own: np.ndarray,
    found: ShardWidths,
    truth: PlainBounds,
) -> None:
    """The path of a graph is as long as the diameter of the largest of its ``own`` components."""
    if not len(own):
        if len(path):
            raise CheckError(f"graph {i} has no nodes, and a path")
        return
    largest = own[np.argmax(truth.size[own])]
    if not len(path) and not found.exact[largest]:
        return
    if not len(path) or (truth.component[path] != largest).any():
        raise CheckError(f"the path of graph {i} is not in its largest component")
    weighted = found.diameter_lower.dtype == DISTANCE
    if _length_of(graph, path, truth, weighted) != found.diameter_lower[largest]:
        raise CheckError(f"the path of graph {i} is not as long as its diameter")
