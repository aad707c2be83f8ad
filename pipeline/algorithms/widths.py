"""Diameter, radius, center, periphery and eccentricities, in hops."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels import (
    CheckError,
    CSRGraph,
    Diameter,
    bfs,
    center,
    diameter,
    eccentricities,
    periphery,
    radius,
)
from kernels.certificates import check_diameter, check_levels, check_path
from kernels.types import NODE
from pipeline.algorithms.procedure import Procedure, counts_of
from pipeline.model.words import number

# Work of a whole certificate, one search per node of the proof: nodes times searches.
MAX_PROOF_WORK = 20_000_000
N_CHECKED = 3  # nodes whose eccentricity is checked by a certified search


def _diameter_facts(graph: CSRGraph, found: Diameter) -> dict[str, Any]:
    return {
        "diameter": found.diameter,
        "n_searches": found.n_searches,
        "n_components": len(found.components),
        "path": found.path.tolist(),
    }


def _diameter_text(facts: dict[str, Any], name_of: Any, noun: str) -> str:
    ends = [name_of(node) for node in facts["path"][:: max(1, len(facts["path"]) - 1)]]
    between = f", from {ends[0]} to {ends[-1]}" if len(ends) > 1 else ""
    return f"diameter {number(facts['diameter'], 'hop')}{between}{_of_largest(facts)}"


def _diameter_check(graph: CSRGraph, found: Diameter) -> str:
    if graph.n_nodes == 0:
        return "no nodes"
    n_searches = len(found.proof.sources) + len(found.proof.landmarks)
    if graph.n_nodes * n_searches <= MAX_PROOF_WORK:
        check_diameter(graph, found)
        return "a path is as long, and no two nodes are farther apart"
    check_path(graph, found.path)
    if len(found.path) != found.diameter + 1:
        raise CheckError(f"a path of {len(found.path)} nodes for diameter {found.diameter}")
    return "a shortest path is as long; that none is longer was not checked at this size"


def _of_largest(facts: dict[str, Any]) -> str:
    several = facts["n_components"] > 1
    return f"; of the largest of {facts['n_components']:,} components" if several else ""


def _radius_facts(graph: CSRGraph, found: Any) -> dict[str, Any]:
    return {
        "radius": found.radius,
        "node": found.center,
        "n_searches": found.n_searches,
        "n_components": len(found.components),
    }


def _radius_text(facts: dict[str, Any], name_of: Any, noun: str) -> str:
    at = f", at {name_of(facts['node'])}" if facts["node"] >= 0 else ""
    return f"radius {number(facts['radius'], 'hop')}{at}{_of_largest(facts)}"


def _set_facts(value: str) -> Any:
    def facts(graph: CSRGraph, found: Any) -> dict[str, Any]:
        return {
            value: getattr(found, value),
            "n_found": len(found.nodes),
            "n_searches": found.n_searches,
            "n_components": len(found.components),
        }

    return facts


def _set_text(value: str) -> Any:
    def text(facts: dict[str, Any], _: Any, noun: str) -> str:
        nodes = number(facts["n_found"], noun)
        return f"{nodes} of eccentricity {facts[value]:,} ({value}){_of_largest(facts)}"

    return text


def _check_eccentricities(graph: CSRGraph, nodes: np.ndarray, expected: np.ndarray) -> str:
    """Search again from some of the nodes, and certify these searches."""
    chosen = np.unique(np.linspace(0, max(0, len(nodes) - 1), N_CHECKED).astype(np.int64))
    for node, hops in zip(nodes[chosen].tolist(), expected[chosen].tolist(), strict=True):
        search = bfs(graph, node)
        check_levels(graph.indptr, graph.indices, node, search.level)
        if search.eccentricity != hops:
            raise CheckError(f"node {node} has eccentricity {search.eccentricity}, not {hops}")
    some = number(len(chosen), "node")
    others = len(chosen) < graph.n_nodes
    return f"the eccentricity of {some}" + ("; that of others was not checked" if others else "")


def _check_set(value: str) -> Any:
    def certify(graph: CSRGraph, found: Any) -> str:
        if graph.n_nodes == 0:
            return "no nodes"
        expected = np.full(len(found.nodes), getattr(found, value))
        return _check_eccentricities(graph, found.nodes, expected)

    return certify


def _check_radius(graph: CSRGraph, found: Any) -> str:
    if graph.n_nodes == 0:
        return "no nodes"
    return _check_eccentricities(graph, np.array([found.center]), np.array([found.radius]))


def _check_every(graph: CSRGraph, found: np.ndarray) -> str:
    if graph.n_nodes == 0:
        return "no nodes"
    return _check_eccentricities(graph, np.arange(graph.n_nodes), found)


def _every_facts(graph: CSRGraph, found: np.ndarray) -> dict[str, Any]:
    return {
        "largest": int(found.max(initial=0)),
        "smallest": int(found.min()) if len(found) else 0,
        "hop_counts": counts_of(found),
    }


def _every_text(facts: dict[str, Any], _: Any, noun: str) -> str:
    return f"eccentricities from {facts['smallest']:,} to {number(facts['largest'], 'hop')}"


def _nodes(found: Any) -> dict[str, np.ndarray]:
    return {"node": found.nodes}


PROCEDURES = {
    "diameter": Procedure(
        cores=lambda graph, *_: diameter(graph),
        facts=_diameter_facts,
        text=_diameter_text,
        columns=lambda found: {"step": np.arange(len(found.path)), "node": found.path},
        certify=_diameter_check,
    ),
    "radius": Procedure(
        cores=lambda graph, *_: radius(graph),
        facts=_radius_facts,
        text=_radius_text,
        columns=lambda found: {"node": np.array([found.center], NODE)},
        certify=_check_radius,
    ),
    "center": Procedure(
        cores=lambda graph, *_: center(graph),
        facts=_set_facts("radius"),
        text=_set_text("radius"),
        columns=_nodes,
        certify=_check_set("radius"),
    ),
    "periphery": Procedure(
        cores=lambda graph, *_: periphery(graph),
        facts=_set_facts("diameter"),
        text=_set_text("diameter"),
        columns=_nodes,
        certify=_check_set("diameter"),
    ),
    "eccentricities": Procedure(
        cores=lambda graph, *_: eccentricities(graph),
        facts=_every_facts,
        text=_every_text,
        columns=lambda found: {"node": np.arange(len(found), dtype=NODE), "eccentricity": found},
        certify=_check_every,
    ),
}
