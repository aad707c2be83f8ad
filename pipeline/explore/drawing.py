"""What is drawn of a graph: small graphs whole, of large ones what is near a path and its ends.

At most ``MAX_NODES`` nodes are drawn, so the page draws them itself, as SVG; a library for graphs
of any size would weigh more than the rest of the page.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from typing import Any

import numpy as np

from kernels import CSRGraph
from pipeline.model.named_graph import NamedGraph
from pipeline.model.words import number
from pipeline.pages.layout import place_by_forces

MAX_NODES, MAX_LINKS = 220, 1200  # that a picture shows and a person can still read
MAX_PATH = 60  # nodes of a path that are drawn: those near its ends
_NEIGHBOURS = 40  # of one node, taken at a time


def draw(
    graph: NamedGraph,
    path: Sequence[int],
    focus: Sequence[int],
    marked: tuple[np.ndarray, np.ndarray] | None = None,
) -> dict[str, Any]:
    """A picture as JSON values: nodes with places in [0, 1], links between them, and a note.

    Parameters
    ----------
    graph : NamedGraph
    path : sequence of int
        Nodes of a path, drawn in a row; empty: none.
    focus : sequence of int
        Further nodes to show, the first ones marked as ends.
    marked : two (n_marked,) int32 or None
        Ends of further links to mark, such as those of a forest.
    """
    shown_path = _shortened(path)
    nodes = _nodes(graph.graph, [*shown_path, *focus], set(path) - set(shown_path))
    place = {node: i for i, node in enumerate(nodes)}
    links = _links(graph.graph, nodes)
    steps = {frozenset(step) for step in pairwise(path)}
    steps |= _links_between(nodes, graph.graph.n_nodes, marked)
    x, y = place_by_forces(links, len(nodes), row=[place[node] for node in shown_path])
    on_path, ends = set(path), set(focus[:2]) | set(path[:1]) | set(path[-1:])
    return {
        "nodes": [
            {
                "name": graph.name_of(node),
                "x": round(float(x[i]), 4),
                "y": round(float(y[i]), 4),
                "role": "end" if node in ends else "path" if node in on_path else "",
            }
            for i, node in enumerate(nodes)
        ],
        "links": [
            [int(i), int(j), int(frozenset((nodes[i], nodes[j])) in steps)] for i, j in links
        ],
        "note": _note(graph, len(nodes), len(path) - len(shown_path)),
    }


def _note(graph: NamedGraph, n_shown: int, n_left_out: int) -> str:
    n_nodes = graph.graph.n_nodes
    if n_shown == n_nodes:
        return f"The whole graph: {number(n_nodes, graph.noun)}."
    note = f"{n_shown:,} of {number(n_nodes, graph.noun)}: those nearest to what was found."
    return note + (f" {n_left_out:,} in the middle of the path are left out." if n_left_out else "")


def _shortened(path: Sequence[int]) -> list[int]:
    if len(path) <= MAX_PATH:
        return list(path)
    return [*path[: MAX_PATH // 2], *path[-MAX_PATH // 2 :]]


def _nodes(graph: CSRGraph, focus: Sequence[int], left_out: Set[int]) -> list[int]:
    """The nodes to draw: all of a small graph, else those fewest hops from ``focus``.

    Those ``left_out``, of the middle of a path, would be drawn beside the row of the others.
    """
    if graph.n_nodes <= MAX_NODES and graph.n_edges <= MAX_LINKS:
        return list(range(graph.n_nodes))
    if not focus and graph.n_nodes:
        focus = [int(np.argmax(np.diff(graph.indptr)))]
    chosen = dict.fromkeys(focus)
    front = list(chosen)
    while front and len(chosen) < MAX_NODES:
        rows = [_row(graph, node)[:_NEIGHBOURS].tolist() for node in front]
        found: list[int] = []
        for i in range(max(map(len, rows))):  # a neighbour of each in turn
            found += [row[i] for row in rows if i < len(row) and row[i] not in chosen]
        found = [node for node in found if node not in left_out]
        front = list(dict.fromkeys(found))[: MAX_NODES - len(chosen)]
        chosen |= dict.fromkeys(front)
    return list(chosen)


def _links_between(
    nodes: Sequence[int], n_nodes: int, marked: tuple[np.ndarray, np.ndarray] | None
) -> set[frozenset[int]]:
    """Of the marked links, those with both ends among ``nodes``."""
    if marked is None:
        return set()
    is_shown = np.zeros(n_nodes, np.bool_)
    is_shown[list(nodes)] = True
    tails, heads = marked
    among = is_shown[tails] & is_shown[heads]
    return {
        frozenset(link) for link in zip(tails[among].tolist(), heads[among].tolist(), strict=True)
    }


def _row(graph: CSRGraph, node: int) -> np.ndarray:
    return graph.indices[graph.indptr[node] : graph.indptr[node + 1]]


def _links(graph: CSRGraph, nodes: Sequence[int]) -> np.ndarray:
    """Places in ``nodes`` of both ends of each link between them, (n_links, 2)."""
    order = np.argsort(nodes)
    ascending = np.array(nodes, np.int64)[order]
    found = []
    for i, node in enumerate(nodes):
        row = _row(graph, node)
        at = np.searchsorted(row, ascending)
        there = (at < len(row)) & (ascending > node)
        there[there] = row[at[there]] == ascending[there]
        found += [(i, j) for j in order[there].tolist()]
    return np.array(found[: 3 * MAX_LINKS], np.int64).reshape(-1, 2)
