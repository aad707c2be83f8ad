"""Certificates of widths: plain searches prove them, or they are refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.plain import PlainBounds
from kernels.eccentricity.proof import check_diameter, check_path
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.eccentricity.results import (
    CenterResult,
    Diameter,
    DiameterResult,
    PeripheryResult,
    RadiusResult,
    ShardWidths,
    WidthResult,
)
from kernels.errors import CheckError
from kernels.shortest_paths import weighted_arrays
from kernels.stated import stated_array, stated_node, stated_nodes, stated_rows
from kernels.types import NODE, OFFSET
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
    if not isinstance(found.exact, bool):
        raise CheckError(f"exact is {found.exact!r}, neither True nor False")
    _check_limit(np.array([found.exact]), np.array([found.n_searches]), found.max_searches)
    if graph.n_nodes == 0:
        _check_nothing(found)
        return
    weighted = not isinstance(found.lower, int)
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
    if lowers.shape != values.shape or uppers.shape != values.shape:
        raise CheckError(f"{len(lowers)} and {len(uppers)} bounds of {len(values)} components")
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


def _check_limit(exact: np.ndarray, n_searches: np.ndarray, limit: int | None) -> None:
    """Answers are left open only where all searches that were allowed are used up."""
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
    if marks.shape != is_one.shape or marks.dtype != np.bool_:
        raise CheckError(f"{len(marks)} marks, {marks.dtype}, of {len(is_one)} nodes")
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
    paths = _stated_paths(found, len(node_ptr) - 1, graph.n_nodes)
    _check_arrays(found, len(found.names), graph.n_nodes)
    n_searches = stated_array("n_searches", found.n_searches, OFFSET, (len(found.names),))
    _check_limit(found.exact, n_searches, found.max_searches)
    if graph.n_nodes == 0:
        if len(found.names) or len(found.component):
            raise CheckError("a shard without nodes has no components")
        return
    weighted = found.diameter_lower.dtype.kind == "f"
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


def _check_arrays(found: ShardWidths, n_components: int, n_nodes: int) -> None:
    asked = found.questions
    if not asked or asked != tuple(each for each in QUESTIONS if each in asked):
        raise CheckError(f"questions {asked!r} are not some of {', '.join(QUESTIONS)}, in order")
    of_component = ("diameter_lower", "diameter_upper", "radius_lower", "radius_upper", "exact")
    answers: dict[str, Question] = {
        "eccentricity": "eccentricities",
        "is_center": "center",
        "is_periphery": "periphery",
    }
    for name, question in answers.items():
        if (getattr(found, name) is None) == (question in asked):
            raise CheckError(f"{name} is there if {question} was asked, or neither")
    of_node = tuple(answers)
    for names, length in ((of_component, n_components), (of_node, n_nodes)):
        for name in names:
            array = getattr(found, name)
            shape = getattr(array, "shape", None)
            if shape != (length,) and not (array is None and name in answers):
                raise CheckError(f"{name} has shape {shape}, not ({length},)")
    for name in ("exact", "is_center", "is_periphery"):
        array = getattr(found, name)
        if array is not None and array.dtype != np.bool_:  # numbers would choose entries
            raise CheckError(f"{name} has dtype {array.dtype}, not bool")


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
    weighted = found.diameter_lower.dtype.kind == "f"
    if _length_of(graph, path, truth, weighted) != found.diameter_lower[largest]:
        raise CheckError(f"the path of graph {i} is not as long as its diameter")
