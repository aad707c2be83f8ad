"""The backend answers as NetworkX does, on any graph, and to NetworkX's own tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopscope import networkx_backend as backend
from tests.real_data import REPOSITORY
from tests.soak import examples

NAMES = st.sampled_from(["a", "b", "c", "d", 0, 1, 2, (3, 4), frozenset({5})])
EDGES = st.lists(st.tuples(NAMES, NAMES, st.integers(0, 4)), min_size=1, max_size=24)
SPLIT = [(0, 1, 1), (1, 2, 1), ("a", "b", 1)]

# NetworkX's tests of the functions here; others of these folders call them inside.
THEIR_TESTS = (
    "algorithms/tests/test_distance_measures.py",
    "algorithms/shortest_paths/tests/test_unweighted.py",
    "algorithms/shortest_paths/tests/test_generic.py",
    "algorithms/components/tests/test_connected.py",
    "algorithms/centrality/tests/test_closeness_centrality.py",
    "algorithms/centrality/tests/test_harmonic_centrality.py",
    "algorithms/tree/tests/test_mst.py",
    "algorithms/traversal/tests/test_bfs.py",
)
# Each call that reaches us is counted, so that "passed" does not mean "was never asked".
SUITE = """
import collections, json, os, sys
import hopscope.networkx_backend as ours
import networkx, pytest
calls = collections.Counter()
def counted(name, function):
    def call(*args, **kwargs):
        calls[name] += 1
        return function(*args, **kwargs)
    return call
for name, function in ours.FUNCTIONS.items():
    setattr(ours, name, counted(name, function))
root = os.path.dirname(networkx.__file__)
words = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", root]
words += ["--backend", "hopscope", "--fallback-to-nx"]
status = pytest.main(words + [os.path.join(root, name) for name in sys.argv[1:]])
print("\\n" + json.dumps(calls))
sys.exit(status)
"""


def graph_of(edges) -> nx.Graph:
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    return graph


def outcome(call, *args, **kwargs):
    """What a call gives, or the type and text of its error."""
    try:
        found = call(*args, **kwargs)
        return list(found) if isinstance(found, Iterator) else found
    except nx.NetworkXException as error:
        return type(error), str(error)


def ours(name: str, graph: nx.Graph, *args, **kwargs):
    assert backend.can_run(name, (graph, *args), kwargs) is True
    return outcome(backend.FUNCTIONS[name], backend.convert_from_nx(graph), *args, **kwargs)


def theirs(name: str, graph: nx.Graph, *args, **kwargs):
    return outcome(getattr(nx, name).orig_func, graph, *args, **kwargs)


@settings(max_examples=examples(60), deadline=None)
@given(EDGES, st.data())
def test_answers_are_those_of_networkx(edges, data):
    graph = graph_of(edges)
    node, other = (data.draw(st.sampled_from(list(graph))) for _ in range(2))
    for name in ("eccentricity", "diameter", "radius", "center", "periphery", "is_connected"):
        assert ours(name, graph) == theirs(name, graph), name
    for name in ("number_connected_components", "closeness_centrality"):
        assert ours(name, graph) == theirs(name, graph), name
    assert ours("harmonic_centrality", graph) == pytest.approx(theirs("harmonic_centrality", graph))
    assert ours("closeness_centrality", graph, node, wf_improved=False) == theirs(
        "closeness_centrality", graph, node, wf_improved=False
    )
    assert ours("eccentricity", graph, node) == theirs("eccentricity", graph, node)
    assert ours("connected_components", graph) == theirs("connected_components", graph)
    assert ours("node_connected_component", graph, node) == theirs(
        "node_connected_component", graph, node
    )
    for name in ("single_source_shortest_path_length", "single_target_shortest_path_length"):
        for cutoff in (None, 1):
            found = ours(name, graph, node, cutoff)
            assert found == theirs(name, graph, node, cutoff)
            assert list(found.values()) == sorted(found.values())
    assert ours("all_pairs_shortest_path_length", graph) == theirs(
        "all_pairs_shortest_path_length", graph
    )
    assert ours("shortest_path_length", graph, node, other) == theirs(
        "shortest_path_length", graph, node, other
    )
    for sources in (node, [node, other]):
        layers = ours("bfs_layers", graph, sources)
        assert [set(layer) for layer in layers] == [
            set(layer) for layer in theirs("bfs_layers", graph, sources)
        ]


@settings(max_examples=examples(60), deadline=None)
@given(EDGES)
def test_spanning_trees_weigh_what_those_of_networkx_weigh(edges):
    graph = graph_of(edges)
    graph.graph["name"], graph.nodes[next(iter(graph))]["kept"] = "g", True
    tree, known = (find("minimum_spanning_tree", graph) for find in (ours, theirs))
    assert tree.size("weight") == known.size("weight")
    assert tree.number_of_edges() == known.number_of_edges()
    assert (tree.graph, dict(tree.nodes)) == (known.graph, dict(known.nodes))
    assert all(graph.edges[tail, head] == data for tail, head, data in tree.edges(data=True))
    listed = ours("minimum_spanning_edges", graph, data=False)
    assert nx.Graph(listed).edges == tree.edges


def test_errors_are_those_of_networkx():
    split = graph_of(SPLIT)
    for name, *args in (
        ("diameter",),
        ("single_source_shortest_path_length", "none"),
        ("shortest_path_length", 0, "a"),
        ("shortest_path_length", 0, "none"),
        ("bfs_layers", ["none"]),
    ):
        found = ours(name, split, *args)
        assert found == theirs(name, split, *args), name
        assert issubclass(found[0], nx.NetworkXException)


def test_what_cannot_be_run_says_why():
    plain, several = nx.path_graph(3), nx.MultiGraph([(0, 1), (0, 1)])
    heavy = nx.Graph()
    heavy.add_edge(0, 1, weight=0.1)
    for name, args, kwargs, why in (
        ("diameter", (several,), {}, "parallel"),
        ("diameter", (nx.DiGraph([(0, 1)]),), {}, "directed"),
        ("diameter", (nx.Graph(),), {}, "no nodes"),
        ("diameter", (plain,), {"weight": "weight"}, "weight is given"),
        ("eccentricity", (plain,), {"sp": {}}, "sp is given"),
        ("harmonic_centrality", (plain,), {"sources": [0]}, "sources is given"),
        ("minimum_spanning_tree", (heavy,), {}, "32 bits"),
        ("minimum_spanning_tree", (plain,), {"algorithm": "guess"}, "guess"),
        ("radius", (plain,), {"unknown": 1}, "unknown"),
    ):
        assert why in backend.can_run(name, args, kwargs)


def test_one_search_is_left_to_networkx_unless_the_graph_is_converted():
    graph = nx.path_graph(3)
    assert backend.should_run("diameter", (graph,), {}) is True
    assert "converting" in backend.should_run("is_connected", (), {"G": graph})
    graph.__networkx_cache__["backends"] = {"hopscope": {"key": backend.convert_from_nx(graph)}}
    assert backend.should_run("is_connected", (graph,), {}) is True


def test_networkx_finds_it_by_the_entry_points_of_the_package():
    points = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points["networkx.backends"] == {"hopscope": backend.__name__}
    assert points["networkx.backend_info"] == {"hopscope": f"{backend.__name__}:get_info"}
    assert set(backend.get_info()["functions"]) == set(backend.FUNCTIONS)
    assert all(getattr(backend, name) is found for name, found in backend.FUNCTIONS.items())


@pytest.fixture
def found_by_networkx(tmp_path):
    """Environment of a program in which NetworkX finds the backend of these sources."""
    about = tmp_path / "found" / "hopscope_of_tests-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hopscope-of-tests\nVersion: 0\n")
    (about / "entry_points.txt").write_text(
        f"[networkx.backends]\nhopscope = {backend.__name__}\n"
        f"[networkx.backend_info]\nhopscope = {backend.__name__}:get_info\n"
    )
    paths = os.pathsep.join([str(REPOSITORY), str(about.parent)])
    return os.environ | {"PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}


def test_networkx_asks_it(found_by_networkx, tmp_path):
    lines = (
        "import networkx as nx, sys",
        "assert 'numba' not in sys.modules",
        "graph = nx.path_graph(600)",
        "print(nx.diameter(graph, backend='hopscope'), 'numba' in sys.modules)",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=found_by_networkx,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["599", "True"], done.stderr


def test_networkx_own_tests_pass(found_by_networkx, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SUITE, *THEIR_TESTS],
        env=found_by_networkx,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    calls = json.loads(done.stdout.splitlines()[-1])
    assert set(calls) >= set(backend.FUNCTIONS) - {"node_connected_component"}, calls
