"""Graphs of other libraries: there and back is the same graph, and theirs says what ours does."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import hopscope
from hopscope import conversions
from kernels import CSRGraph, GraphError, bfs
from tests.soak import examples

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30)


def graph_of(pairs, weighted: bool) -> CSRGraph:
    """Nine nodes; the weight of an edge is the sum of its ends."""
    ends = np.array(pairs, np.int64).reshape(-1, 2).T
    weights = ends.sum(axis=0) if weighted else None
    return CSRGraph.from_edges(*ends, weights, n_nodes=9, symmetrise=True)


def assert_same(found: CSRGraph, graph: CSRGraph) -> None:
    assert found.indptr.tolist() == graph.indptr.tolist()
    assert found.indices.tolist() == graph.indices.tolist()
    assert (found.weights is None) == (graph.weights is None)
    if graph.weights is not None:
        assert found.weights.tolist() == graph.weights.tolist()


@settings(max_examples=examples(40), deadline=None)
@given(pairs=PAIRS, weighted=st.booleans())
def test_there_and_back_is_the_same_graph(pairs, weighted):
    graph = graph_of(pairs, weighted)
    weight = "weight" if weighted else None
    networkx = hopscope.to_networkx(graph)
    assert_same(hopscope.from_networkx(networkx, weight=weight), graph)
    assert_same(hopscope.from_scipy(hopscope.to_scipy(graph), weighted=weighted), graph)
    table = hopscope.to_arrow(graph)
    assert_same(hopscope.from_pandas(table, weight=weight, n_nodes=9), graph)
    columns = (table[name].to_pylist() for name in ("source", "target"))
    assert sorted(networkx.edges) == list(zip(*columns, strict=True))


def test_distances_of_other_libraries_are_ours():
    graph = graph_of([(0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (5, 6)], weighted=True)
    level = bfs(graph, 0).level
    theirs = nx.single_source_shortest_path_length(hopscope.to_networkx(graph), 0)
    assert {node: int(hops) for node, hops in enumerate(level) if hops >= 0} == theirs
    hops = shortest_path(hopscope.to_scipy(graph), unweighted=True, indices=0)
    assert np.where(np.isinf(hops), -1, hops).tolist() == level.tolist()


def test_a_matrix_may_be_changed_and_the_graph_stays():
    graph = graph_of([(0, 1)], weighted=True)
    matrix = hopscope.to_scipy(graph)
    matrix.data[:] = 99
    assert graph.weights.tolist() == [1, 1]


@settings(max_examples=examples(20), deadline=None)
@given(pairs=PAIRS, weighted=st.booleans())
def test_igraph_there_and_back(pairs, weighted):
    igraph = pytest.importorskip("igraph")
    graph = graph_of(pairs, weighted)
    made = hopscope.to_igraph(graph)
    assert isinstance(made, igraph.Graph)
    assert (made.vcount(), made.ecount()) == (9, graph.n_edges)
    assert_same(hopscope.from_igraph(made, weight="weight" if weighted else None), graph)
    back = made.distances(source=0)[0]
    assert [-1 if np.isinf(hops) else hops for hops in back] == bfs(graph, 0).level.tolist()


def test_loops_and_directions_of_igraph_need_to_be_symmetrised():
    igraph = pytest.importorskip("igraph")
    for made in (igraph.Graph([(0, 0)]), igraph.Graph([(0, 1)], directed=True)):
        with pytest.raises(GraphError):
            hopscope.from_igraph(made)
    assert hopscope.from_igraph(igraph.Graph([(0, 0), (0, 1)]), symmetrise=True).n_edges == 1


def test_an_edge_list_of_pandas_there_and_back():
    pandas = pytest.importorskip("pandas")
    graph = graph_of([(0, 1), (1, 2), (7, 3)], weighted=True)
    frame = hopscope.to_pandas(graph)
    assert isinstance(frame, pandas.DataFrame)
    assert_same(hopscope.from_pandas(frame, weight="weight", n_nodes=9), graph)
    assert nx.from_pandas_edgelist(frame, edge_attr="weight").number_of_edges() == 3


def test_cugraph_gets_the_arrays_and_gives_edges_back(monkeypatch):
    """With substitutes for its documented calls: no GPU here."""

    class Graph:
        def __init__(self, directed):
            assert directed is False

        def from_cudf_adjlist(self, offset_col, index_col, value_col=None, renumber=True):
            assert renumber is False
            assert offset_col.dtype == index_col.dtype == np.int32
            self.arrays = offset_col, index_col, value_col

        def is_weighted(self):
            return self.arrays[2] is not None

        def number_of_vertices(self):
            return len(self.arrays[0]) - 1

        def view_edge_list(self):
            tail = np.repeat(np.arange(9), np.diff(self.arrays[0]))
            once = tail < self.arrays[1]
            columns = {"src": tail[once], "dst": self.arrays[1][once]}
            if self.is_weighted():
                columns["weight"] = self.arrays[2][once]
            frame = SimpleNamespace(columns=list(columns), __getitem__=columns.__getitem__)
            return type("Frame", (), vars(frame) | {"__getitem__": lambda _, name: columns[name]})()

    monkeypatch.setitem(sys.modules, "cudf", SimpleNamespace(Series=np.asarray))
    monkeypatch.setitem(sys.modules, "cugraph", SimpleNamespace(Graph=Graph))
    for weighted in (False, True):
        graph = graph_of([(0, 1), (1, 2), (7, 3)], weighted)
        assert_same(conversions.from_cugraph(conversions.to_cugraph(graph)), graph)


def test_of_each_library_that_is_absent_it_is_said_how_to_get_it():
    said = without("pandas", "cudf", "scipy", "networkx", "igraph")
    assert said == [
        "pandas is not installed: pip install pandas",
        "cuGraph is not installed: see https://docs.rapids.ai/install",
        "SciPy is not installed: pip install scipy",
        "NetworkX is not installed: pip install networkx",
        "igraph is not installed: pip install igraph",
    ]


@pytest.mark.parametrize("given", [5, "AS64496", None, [(0, 1)], nx.path_graph(3)])
def test_what_has_no_graph_is_refused_with_what_to_give(given):
    for convert in (hopscope.to_networkx, hopscope.to_scipy, hopscope.to_arrow):
        with pytest.raises(TypeError, match=r"give a CSRGraph, an AS of .* not (an? \w|None)"):
            convert(given)
    with pytest.raises(TypeError, match=r"^give a graph of igraph, not .+$"):
        hopscope.from_igraph(given)


def without(*modules: str) -> list[str]:
    """What each conversion to the library of a module says where no such module is found."""
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {modules!r}:\n"
        "            raise ModuleNotFoundError('No module named ' + name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import hopscope\n"
        "graph = hopscope.CSRGraph.from_edges([0], [1], symmetrise=True)\n"
        f"for module in {modules!r}:\n"
        "    try:\n"
        "        getattr(hopscope, 'to_' + {'cudf': 'cugraph'}.get(module, module))(graph)\n"
        "    except ModuleNotFoundError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


MISSING = "{} of 3 {}s without 'rtt': give every {} one, name another with weight=, or leave"


@pytest.mark.parametrize("n_set", [0, 1])
def test_edges_without_the_named_weight_are_counted(n_set):
    made = nx.path_graph(4)
    for edge in list(made.edges)[:n_set]:
        made.edges[edge]["rtt"] = 1.5
    with pytest.raises(GraphError, match=MISSING.format(3 - n_set, "edge", "edge")):
        hopscope.from_networkx(made, weight="rtt")
    rtts = [edge[2] for edge in made.edges(data="rtt")]
    table = pa.table({"source": [0, 1, 2], "target": [1, 2, 3], "rtt": rtts})
    with pytest.raises(GraphError, match=MISSING.format(3 - n_set, "row", "row")):
        hopscope.from_pandas(table, weight="rtt")


@pytest.mark.parametrize("n_set", [0, 1])
def test_edges_of_igraph_without_the_named_weight_are_counted(n_set):
    igraph = pytest.importorskip("igraph")
    made = igraph.Graph([(0, 1), (1, 2), (2, 3)])
    for edge in list(made.es)[:n_set]:
        edge["rtt"] = 1.5
    with pytest.raises(GraphError, match=MISSING.format(3 - n_set, "edge", "edge")):
        hopscope.from_igraph(made, weight="rtt")


@pytest.mark.parametrize("value", ["fast", [1, 2], 1j, pytest.param(10**400, id="huge")])
def test_weights_of_other_libraries_are_numbers(value):
    made = nx.path_graph(2)
    made.edges[0, 1]["rtt"] = value
    with pytest.raises(GraphError, match="weights 'rtt' are not all numbers: give every edge one"):
        hopscope.from_networkx(made, weight="rtt")


@pytest.mark.parametrize(
    "value", [np.datetime64("2026-01-01", "ns"), np.timedelta64(5, "ns"), np.complex128(1j)]
)
def test_weights_among_objects_are_numbers(value):
    rtts = np.array([1.5, value, None], object)
    frame = {"source": np.arange(3), "target": np.arange(1, 4), "rtt": rtts}
    with pytest.raises(GraphError, match="weights 'rtt' are not all numbers: give every row one"):
        hopscope.from_pandas(frame, weight="rtt")


@pytest.mark.parametrize("named", [{"source": "x"}, {"target": "x"}, {"weight": "x"}])
def test_a_column_that_is_not_there_is_answered_with_those_that_are(named):
    table = pa.table({"source": [0], "target": [1]})
    with pytest.raises(GraphError, match=r"^no column 'x'; available columns: source, target$"):
        hopscope.from_pandas(table, **named)
