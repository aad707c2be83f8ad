"""Shortest paths between two nodes, by hops and by weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels import BFSResult, CSRGraph, ShortestPath, SSSPResult, bfs, shortest_path, sssp
from kernels.types import NODE
from pipeline.algorithms.procedure import Procedure
from pipeline.model.words import amount, number

MAX_NAMED = 12  # nodes of a path that one line names


def _whole_search(graph: CSRGraph, source: int, target: int) -> ShortestPath:
    """Search from the source alone, and go back from the target by parents."""
    found = bfs(graph, source, target=target, parents=True)
    hops = int(found.level[target])
    length = float(hops) if hops >= 0 else np.inf
    return ShortestPath(source, target, _back(found, target, length), length, False, graph)


def _whole_search_by_weight(graph: CSRGraph, source: int, target: int) -> ShortestPath:
    found = sssp(graph, source, parents=True)
    length = float(found.distance[target])
    return ShortestPath(source, target, _back(found, target, length), length, True, graph)


def _back(found: BFSResult | SSSPResult, target: int, length: float) -> np.ndarray:
    nodes = [target] if np.isfinite(length) else []
    while nodes and nodes[-1] != found.source:
        nodes.append(int(found.parent[nodes[-1]]))
    return np.array(nodes[::-1], NODE)


def _facts(graph: CSRGraph, found: ShortestPath) -> dict[str, Any]:
    is_path = len(found.nodes) > 0
    return {
        "length": found.length if is_path else None,
        "n_hops": len(found.nodes) - 1 if is_path else None,
        "path": found.nodes.tolist(),
    }


def _text(facts: dict[str, Any], name_of: Any, noun: str) -> str:
    if facts["n_hops"] is None:
        return "no path joins them"
    nodes = facts["path"]
    shown = [name_of(node) for node in nodes[:MAX_NAMED]]
    if len(nodes) > MAX_NAMED:
        shown[-2:] = [f"... ({len(nodes) - MAX_NAMED + 1:,} more)", name_of(nodes[-1])]
    length = "" if facts["length"] == facts["n_hops"] else f" of length {amount(facts['length'])}"
    return f"{number(facts['n_hops'], 'hop')}{length}: {' - '.join(shown)}"


def _certify(_: CSRGraph, found: ShortestPath) -> str:
    found.check()
    there = len(found.nodes) > 0
    return "no path is shorter, by a full search" if there else "no path, by a full search"


def _columns(found: ShortestPath) -> dict[str, np.ndarray]:
    return {"step": np.arange(len(found.nodes), dtype=NODE), "node": found.nodes}


PROCEDURES = {
    "shortest_path": Procedure(
        cores=shortest_path,
        sequential=_whole_search,
        facts=_facts,
        text=_text,
        columns=_columns,
        certify=_certify,
    ),
    "weighted_shortest_path": Procedure(
        cores=lambda graph, source, target: shortest_path(graph, source, target, weighted=True),
        sequential=_whole_search_by_weight,
        facts=_facts,
        text=_text,
        columns=_columns,
        certify=_certify,
    ),
}
