"""Searches that give every node a place in a tree or a part: bfs, sssp, dfs, mst, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels import (
    BFSResult,
    ComponentsResult,
    CSRGraph,
    DFSResult,
    SpanningForest,
    SSSPResult,
    bfs,
    components,
    dfs,
    mst,
    sssp,
)
from kernels.breadth_first import bfs_queue
from kernels.shortest_paths import dijkstra
from kernels.types import NODE
from pipeline.algorithms.procedure import Procedure, checked, counts_of
from pipeline.model.words import amount, number

N_LARGEST = 10  # components whose sizes are named


def _dijkstra(graph: CSRGraph, source: int, _: int) -> SSSPResult:
    distance = np.empty(graph.n_nodes, np.float64)
    arrays = (graph.indptr, graph.indices, graph.weights)
    dijkstra(arrays, np.array([source], NODE), distance)
    reached = distance[np.isfinite(distance)]
    return SSSPResult(source, distance, float(reached.max(initial=0)), len(reached), graph=graph)


NameOf = Callable[[int], str]


def _bfs_facts(graph: CSRGraph, found: BFSResult) -> dict[str, Any]:
    return {
        "n_reached": found.n_reached,
        "eccentricity": found.eccentricity,
        "farthest": int(np.argmax(found.level)),
        "hop_counts": counts_of(found.level),
    }


def _bfs_text(facts: dict[str, Any], name_of: NameOf, noun: str) -> str:
    hops = number(facts["eccentricity"], "hop")
    return (
        f"{number(facts['n_reached'], noun)} reached; "
        f"the farthest, {name_of(facts['farthest'])}, is {hops} away"
    )


def _sssp_facts(graph: CSRGraph, found: SSSPResult) -> dict[str, Any]:
    reached = np.where(np.isfinite(found.distance), found.distance, -1.0)
    return {
        "n_reached": found.n_reached,
        "eccentricity": found.eccentricity,
        "farthest": int(np.argmax(reached)),
    }


def _sssp_text(facts: dict[str, Any], name_of: NameOf, noun: str) -> str:
    return (
        f"{number(facts['n_reached'], noun)} reached; "
        f"the farthest, {name_of(facts['farthest'])}, is {amount(facts['eccentricity'])} away"
    )


def _dfs_facts(graph: CSRGraph, found: DFSResult) -> dict[str, Any]:
    return {
        "n_reached": found.n_reached,
        "n_trees": int(np.count_nonzero(found.parent == np.arange(graph.n_nodes))),
    }


def _dfs_text(facts: dict[str, Any], _: Any, noun: str) -> str:
    trees = number(facts["n_trees"], "tree")
    return f"{number(facts['n_reached'], noun)} found in order, in {trees}"


def _mst_facts(graph: CSRGraph, found: SpanningForest) -> dict[str, Any]:
    return {
        "n_forest_edges": found.n_edges,
        "n_components": found.n_components,
        "total": found.total,
    }


def _mst_text(facts: dict[str, Any], _: Any, noun: str) -> str:
    return (
        f"{number(facts['n_forest_edges'], 'edge')} of total weight {amount(facts['total'])}, "
        f"in {number(facts['n_components'], 'tree')}"
    )


def _components_facts(graph: CSRGraph, found: ComponentsResult) -> dict[str, Any]:
    return {
        "n_components": found.n_components,
        "largest": np.sort(found.sizes)[::-1][:N_LARGEST].tolist(),
    }


def _components_text(facts: dict[str, Any], _: Any, noun: str) -> str:
    largest = facts["largest"][0] if facts["largest"] else 0
    return f"{number(facts['n_components'], 'component')}; the largest has {number(largest, noun)}"


def _numbered(name: str, column: np.ndarray) -> dict[str, np.ndarray]:
    return {"node": np.arange(len(column), dtype=NODE), name: column}


PROCEDURES = {
    "bfs": Procedure(
        cores=lambda graph, source, _: bfs(graph, source),
        sequential=lambda graph, source, _: bfs_queue(graph, source),
        facts=_bfs_facts,
        text=_bfs_text,
        columns=lambda found: _numbered("level", found.level),
        certify=checked("every level is the distance in hops"),
    ),
    "sssp": Procedure(
        cores=lambda graph, source, _: sssp(graph, source),
        sequential=_dijkstra,
        facts=_sssp_facts,
        text=_sssp_text,
        columns=lambda found: _numbered("distance", found.distance),
        certify=checked("every distance is the least, to the bit"),
    ),
    "dfs": Procedure(
        cores=lambda graph, source, _: dfs(graph, source if source >= 0 else None),
        facts=_dfs_facts,
        text=_dfs_text,
        columns=lambda found: {
            "node": np.arange(len(found.parent), dtype=NODE),
            "discovery": found.discovery,
            "finish": found.finish,
            "parent": found.parent,
        },
        certify=checked("each node is found from the last one that had a neighbour left"),
    ),
    "mst": Procedure(
        cores=lambda graph, *_: mst(graph),
        sequential=lambda graph, *_: mst(graph, "prim"),
        facts=_mst_facts,
        text=_mst_text,
        columns=lambda found: {"tail": found.tails, "head": found.heads, "weight": found.weights},
        certify=checked("no edge left out is lighter than a path of the forest between its ends"),
    ),
    "components": Procedure(
        cores=lambda graph, *_: components(graph),
        facts=_components_facts,
        text=_components_text,
        columns=lambda found: _numbered("component", found.component),
        certify=checked("nodes have the same component exactly if a path joins them"),
    ),
}
