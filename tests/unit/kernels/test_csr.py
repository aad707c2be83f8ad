from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, DeviceError, GraphError, Shard
from kernels.types import NODE, OFFSET
from tests.shapes import csr_arrays, graph_of, host, path, star
from tests.soak import examples
from tests.strategies import graphs


def arrays(indptr, indices):
    return np.array(indptr, OFFSET), np.array(indices, NODE)


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([], [], r"indptr is empty"),
        ([1, 2], [0], r"indptr starts with 1"),
        ([0, 2, 1, 2], [1, 0], r"indptr decreases at node 1: indptr\[1\] = 2, indptr\[2\] = 1"),
        ([0, 1, 3], [1, 0], r"indptr ends with 3; there are 2 arcs"),
        ([0, 1, 2], [1, 2], r"indices\[1\] = 2 \(an arc of node 1\) is not a node; there are 2"),
        ([0, 1, 2], [1, -3], r"indices\[1\] = -3 .* is not a node"),
        ([0, 1], [0], r"indices\[0\]: node 0 has an arc to itself"),
        ([0, 2, 3, 4], [2, 1, 0, 0], r"indices\[1\] = 1: the arcs of node 0 are not in ascend"),
        ([0, 2, 4], [1, 1, 0, 0], r"indices\[1\]: the arc 0 -> 1 occurs twice"),
        ([0, 1, 1], [1], r"the arc 0 -> 1 has no arc back"),
        ([0, 0, 1], [0], r"the arc 1 -> 0 has no arc back"),
        ([0, 1, 3, 4, 5], [1, 0, 3, 1, 1], r"the arc 2 -> 1 has no arc back 1 -> 2"),
        # Two faults: the first one is named.
        ([0, 1, 2, 3], [0, 9, 1], r"indices\[0\]: node 0 has an arc to itself"),
    ],
)
def test_broken_arrays_are_refused_by_their_first_fault(indptr, indices, message):
    with pytest.raises(GraphError, match=message):
        CSRGraph(*arrays(indptr, indices))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"2 weights for 4 arcs"),
        ([1, 1, 2, np.nan], r"weights\[3\] of the arc 2 -> 1 is not finite: nan"),
        ([1, 1, -2, -2], r"weights\[2\] of the arc 1 -> 2 is negative: -2"),
        ([1, 3, 2, 2], r"weights\[0\] of the arc 0 -> 1 is not the weight of 1 -> 0"),
    ],
)
def test_broken_weights_are_refused(weights, message):
    graph = path(3)
    with pytest.raises(GraphError, match=message):
        CSRGraph(graph.indptr, graph.indices, np.array(weights, np.float32))


def test_wrong_dtypes_shapes_and_types_are_named():
    indptr, indices = csr_arrays(2, [(0, 1)])
    with pytest.raises(GraphError, match="indptr has dtype int32; it must be int64"):
        CSRGraph(indptr.astype(np.int32), indices)
    with pytest.raises(GraphError, match="indices has dtype int64; it must be int32"):
        CSRGraph(indptr, indices.astype(np.int64))
    with pytest.raises(GraphError, match="weights has dtype float64"):
        CSRGraph(indptr, indices, np.ones(2))
    with pytest.raises(GraphError, match=r"indices has shape \(1, 2\)"):
        CSRGraph(indptr, indices[None, :])
    with pytest.raises(GraphError, match="indptr is a list"):
        CSRGraph([0, 0], indices)


def test_trusted_arrays_are_not_looked_at():
    assert CSRGraph(*arrays([0, 1, 1], [1]), trusted=True).n_arcs == 1


@settings(max_examples=examples(150), deadline=None)
@given(graph=graphs(min_nodes=0), data=st.data())
def test_any_one_removed_arc_is_refused(graph, data):
    graph.validate()
    if graph.n_arcs == 0:
        return
    arc = data.draw(st.integers(0, graph.n_arcs - 1))
    tail = np.searchsorted(graph.indptr, arc, side="right") - 1
    indptr = graph.indptr.copy()
    indptr[tail + 1 :] -= 1
    head = graph.indices[arc]
    with pytest.raises(GraphError, match=rf"the arc {head} -> {tail} has no arc back"):
        CSRGraph(indptr, np.delete(graph.indices, arc))


@settings(max_examples=examples(150), deadline=None)
@given(graph=graphs(min_nodes=2), data=st.data())
def test_any_one_changed_index_is_refused(graph, data):
    if graph.n_arcs == 0:
        return
    indices = graph.indices.copy()
    arc = data.draw(st.integers(0, graph.n_arcs - 1))
    indices[arc] += data.draw(st.sampled_from([-50, -1, 1, 50]))
    with pytest.raises(GraphError):
        CSRGraph(graph.indptr, indices)


def test_read_only_and_strided_arrays_are_taken():
    indptr, indices = csr_arrays(4, [(0, 1), (1, 2), (2, 3)])
    indptr.flags.writeable = False
    indices.flags.writeable = False
    assert CSRGraph(indptr, indices).n_edges == 3
    doubled = np.repeat(indices, 2)
    assert CSRGraph(indptr, doubled[::2]).indices.flags.c_contiguous


def test_graphs_without_nodes_or_arcs_are_valid():
    assert CSRGraph(*arrays([0], [])).n_nodes == 0
    lonely = CSRGraph(*arrays([0, 0, 0], []))
    assert (lonely.n_nodes, lonely.n_arcs, lonely.n_edges) == (2, 0, 0)


def test_the_hash_distinguishes_structure_and_leaves_weights_out():
    indptr, indices = csr_arrays(3, [(0, 1), (1, 2)])
    plain = CSRGraph(indptr, indices)
    weighted = CSRGraph(indptr, indices, np.ones(4, np.float32))
    assert plain.graph_hash() == weighted.graph_hash() == path(3).graph_hash()
    assert len(plain.graph_hash()) == 64
    assert plain.weights_hash() == ""
    assert (
        weighted.weights_hash() != CSRGraph(indptr, indices, np.zeros(4, np.float32)).weights_hash()
    )
    others = [graph_of(3, [(0, 1)]), graph_of(4, [(0, 1), (1, 2)]), graph_of(0, []), star(2)]
    assert len({graph.graph_hash() for graph in [plain, *others]}) == 5


def test_hash_does_not_change_between_versions():
    """Stored results are found by it."""
    expected = "1b6942324f1cc4ca067f804f61ff8a900e5b0920f22126cc0063f77ddb8b3108"
    assert path(3).graph_hash() == expected


def test_graphs_and_shards_survive_pickling():
    graph = CSRGraph(*csr_arrays(3, [(0, 1), (1, 2)]), np.ones(4, np.float32))
    again = pickle.loads(pickle.dumps(graph))
    assert again.graph_hash() == graph.graph_hash()
    assert again.weights_hash() == graph.weights_hash()
    shard = pickle.loads(pickle.dumps(Shard.from_graphs([graph, star(4)])))
    assert shard.graph(1).graph_hash() == star(4).graph_hash()


def test_same_arrays_as_networkx():
    known = nx.karate_club_graph()
    graph = graph_of(known.number_of_nodes(), known.edges())
    for node in known:
        own = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        assert own.tolist() == sorted(known[node])


def test_device_is_moved_to_and_back(device):
    graph = CSRGraph(*csr_arrays(3, [(0, 1), (1, 2)]), np.ones(4, np.float32)).to(device)
    assert graph.device == device
    assert graph.to(device) is graph
    graph.validate()
    assert CSRGraph(graph.indptr, graph.indices, graph.weights).n_edges == 2
    assert graph.to("cpu").graph_hash() == graph.graph_hash() == path(3).graph_hash()
    assert host(graph.weights).tolist() == [1, 1, 1, 1]
    assert pickle.loads(pickle.dumps(graph)).device == "cpu"


def test_broken_arrays_are_refused_on_every_device(device):
    broken = CSRGraph(*arrays([0, 1, 1], [1]), trusted=True).to(device)
    with pytest.raises(GraphError, match="the arc 0 -> 1 has no arc back"):
        CSRGraph(broken.indptr, broken.indices)


@pytest.mark.gpu
def test_arrays_on_two_devices_are_refused():
    graph = path(3)
    with pytest.raises(GraphError, match="the arrays are on cpu and gpu 0"):
        CSRGraph(graph.indptr, graph.to("gpu").indices)


def test_unknown_device_is_named():
    with pytest.raises(DeviceError, match="'tpu' is unknown"):
        path(2).to("tpu")


def test_shard_gives_back_its_graphs():
    parts = [path(3), graph_of(0, []), star(4), graph_of(1, [])]
    shard = Shard.from_graphs(parts)
    shard.validate()
    assert shard.n_graphs == 4
    for i, part in enumerate(parts):
        assert shard.graph(i).graph_hash() == part.graph_hash()
    assert Shard.from_graphs([]).n_nodes == 0


@pytest.mark.parametrize(
    ("node_ptr", "message"),
    [
        ([], "node_ptr is empty"),
        ([0, 3], "node_ptr runs from 0 to 3; it must run from 0 to the number of nodes, 4"),
        ([0, 3, 2, 4], r"node_ptr decreases at graph 1: node_ptr\[1\] = 3, node_ptr\[2\] = 2"),
        ([0, 1, 4], "the arc 0 -> 1 leaves graph 0, whose nodes are 0 to 0"),
    ],
)
def test_broken_shards_are_refused(node_ptr, message):
    graph = path(4)
    with pytest.raises(GraphError, match=message):
        Shard(graph.indptr, graph.indices, np.array(node_ptr, OFFSET))
