"""Every algorithm: each implementation is right and certified; wrong results are refused."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from kernels import CheckError, CSRGraph
from pipeline.algorithms import ALGORITHMS, Algorithm, algorithm
from pipeline.errors import UsageError
from tests.real_data import REPOSITORY

# Two triangles joined by a bridge of two links, and a node apart; weights by end nodes.
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)]
SOURCE, TARGET = 0, 6


def graph_of(edges: list[tuple[int, int]], n_nodes: int) -> CSRGraph:
    arcs = sorted([*edges, *((v, u) for u, v in edges)])
    tails, heads = np.array(arcs, np.int32).reshape(-1, 2).T
    indptr = np.searchsorted(tails, np.arange(n_nodes + 1)).astype(np.int64)
    weights = (1 + (tails * heads) % 5).astype(np.float32)
    return CSRGraph(indptr, heads.copy(), weights)


GRAPH = graph_of(EDGES, 8)
PEER = nx.Graph()
PEER.add_nodes_from(range(8))
PEER.add_weighted_edges_from([(u, v, 1 + (u * v) % 5) for u, v in EDGES])
PATHS = (nx.shortest_path_length(PEER, 0, 6), nx.dijkstra_path_length(PEER, 0, 6))
FACTS = {
    "bfs": {"n_reached": 7, "eccentricity": 4, "hop_counts": [1, 2, 1, 1, 2]},
    "sssp": {
        "n_reached": 7,
        "eccentricity": max(nx.single_source_dijkstra_path_length(PEER, 0).values()),
    },
    "shortest_path": {"length": PATHS[0], "n_hops": PATHS[0], "path": [0, 2, 3, 4, 6]},
    "weighted_shortest_path": {"length": PATHS[1]},
    "dfs": {"n_reached": 7, "n_trees": 1},
    "mst": {
        "n_forest_edges": 6,
        "n_components": 2,
        "total": nx.minimum_spanning_tree(PEER).size("weight"),
    },
    "components": {"n_components": 2, "largest": [7, 1]},
    "diameter": {"diameter": 4, "n_components": 2},
    "radius": {"radius": 2, "node": 3},
    "center": {"radius": 2, "n_found": 1},
    "periphery": {"diameter": 4, "n_found": 4},
    "eccentricities": {"largest": 4, "smallest": 0, "hop_counts": [1, 0, 1, 2, 4]},
}
# What is made wrong in a result, and what its certificate then says.
WRONG = {
    "bfs": (lambda found: replace(found, level=found.level + 1), "level"),
    "sssp": (lambda found: replace(found, distance=found.distance * 2), "the arc"),
    "shortest_path": (
        lambda found: replace(found, nodes=np.array([0, 1, 2, 3, 4, 6], np.int32)),
        "the length is 4; the path has 5",
    ),
    "weighted_shortest_path": (
        lambda found: replace(found, nodes=found.nodes[[0, -1]].copy()),
        "from 0 to 6, which are not linked",
    ),
    "dfs": (lambda found: replace(found, parent=found.parent[::-1].copy()), "parent"),
    "mst": (
        lambda found: replace(found, tails=found.tails[:5], heads=found.heads[:5]),
        "weights",
    ),
    "components": (lambda found: replace(found, component=found.component * 0), "component"),
    "diameter": (lambda found: replace(found, path=found.path[:-1]), "4 nodes for a diameter"),
    "radius": (lambda found: replace(found, radius=1), "has eccentricity 2, not 1"),
    "center": (lambda found: replace(found, nodes=np.array([0])), "has eccentricity 4, not 2"),
    "periphery": (lambda found: replace(found, diameter=5), "has eccentricity 4, not 5"),
    "eccentricities": (lambda found: found + 1, "node 0 has eccentricity 4, not 5"),
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_twin_finds_what_is_known_and_the_certificate_accepts_it(name):
    procedure = ALGORITHMS[name].load(name)
    for implementation, run in procedure.implementations.items():
        if implementation == "gpu":
            continue  # the same function, on the graph's device: tests of kernels run it there
        found = run(GRAPH, SOURCE, TARGET)
        facts = procedure.facts(GRAPH, found)
        assert {key: facts[key] for key in FACTS[name]} == FACTS[name], implementation
        assert procedure.certify(GRAPH, found)
        assert procedure.text(facts, str, "node")
        lengths = {len(column) for column in procedure.columns(found).values()}
        assert len(lengths) == 1


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_wrong_result_is_refused(name):
    procedure = ALGORITHMS[name].load(name)
    spoil, message = WRONG[name]
    with pytest.raises(CheckError, match=message):
        procedure.certify(GRAPH, spoil(procedure.cores(GRAPH, SOURCE, TARGET)))


@pytest.mark.parametrize("name", ["shortest_path", "weighted_shortest_path"])
def test_no_path_is_an_answer_of_its_own(name):
    procedure = ALGORITHMS[name].load(name)
    for run in (procedure.cores, procedure.sequential):
        found = run(GRAPH, 0, 7)
        facts = procedure.facts(GRAPH, found)
        assert (facts["length"], facts["path"]) == (None, [])
        assert procedure.text(facts, str, "node") == "no path joins them"
        assert procedure.certify(GRAPH, found) == "no path, by a full search"


def test_a_long_path_is_named_by_its_beginning_and_its_end():
    line = graph_of([(i, i + 1) for i in range(30)], 31)
    procedure = ALGORITHMS["shortest_path"].load("shortest_path")
    text = procedure.text(procedure.facts(line, procedure.cores(line, 0, 30)), str, "node")
    start = " - ".join(map(str, range(10)))
    assert text == f"30 hops: {start} - ... (20 more) - 30"


@pytest.mark.parametrize("name", [n for n, row in ALGORITHMS.items() if not row.needs])
def test_a_graph_without_nodes_has_answers(name):
    procedure = ALGORITHMS[name].load(name)
    nothing = graph_of([], 0)
    found = procedure.cores(nothing, -1, -1)
    assert procedure.text(procedure.facts(nothing, found), str, "node")
    assert procedure.certify(nothing, found)


def test_an_unknown_name_is_refused_with_all_of_them():
    with pytest.raises(UsageError, match="unknown algorithm 'dijkstra'; give one of: bfs, sssp"):
        algorithm("dijkstra")


def needs(row: Algorithm) -> str:
    return ", ".join([*row.needs, *(f"{word} (optional)" for word in row.takes)]) or "-"


def test_the_table_of_the_docs_is_that_of_the_algorithms():
    text = (REPOSITORY / "docs" / "search.md").read_text()
    for name, row in ALGORITHMS.items():
        assert f"| `{name}` | {row.description} | {needs(row)} |" in text
