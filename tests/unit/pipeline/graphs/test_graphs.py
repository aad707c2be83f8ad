from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from kernels import CSRGraph
from pipeline.errors import UsageError
from pipeline.graphs import asns_of, build_graphs
from pipeline.graphs.combine import refuse_shared
from pipeline.model.graphs import NO_ID
from pipeline.model.topology import NO_ASN, IngressTable, Topology
from tests.soak import examples
from tests.unit.pipeline.graphs.multi_as import topologies

EXAMPLES = settings(max_examples=examples(150), deadline=None)


def topology(asn, links, **more):
    near, far = (np.array([link[i] for link in links], np.int64) for i in (0, 1))
    return Topology(np.array(asn, np.int64), near, far, **more)


def csr(graphs, i):
    """Graph i, fully validated: symmetric, sorted, no loops, no duplicates."""
    degree = graphs.degree[graphs.node_ptr[i] : graphs.node_ptr[i + 1]]
    indptr = np.append(0, np.cumsum(degree)).astype(np.int64)
    return CSRGraph(indptr, graphs.indices[graphs.arc_ptr[i] : graphs.arc_ptr[i + 1]])


def members(given, asn):
    return np.flatnonzero(given.node_asn == asn)


def lightest(given, a, b):
    """Number of the link that must stand for all between a and b: least weight, then first."""
    numbers = [
        i
        for i, link in enumerate(zip(given.near.tolist(), given.far.tolist(), strict=True))
        if set(link) == {a, b}
    ]
    if given.weight is None:
        return numbers[0]
    return min(numbers, key=lambda i: (np.nan_to_num(given.weight[i], nan=np.inf), i))


@EXAMPLES
@given(given_topology=topologies())
def test_each_as_is_the_graph_that_networkx_builds_from_the_same_links(given_topology):
    t = given_topology
    graphs = build_graphs([t])
    whole = nx.MultiGraph()
    whole.add_nodes_from(range(t.n_nodes))
    whole.add_edges_from(zip(t.near.tolist(), t.far.tolist(), strict=True))
    assert graphs.asn.tolist() == sorted(set(t.node_asn.tolist()) - {NO_ASN})
    for i, asn in enumerate(graphs.asn.tolist()):
        graph, nodes = csr(graphs, i), members(t, asn)
        expected = nx.Graph(whole.subgraph(nodes.tolist()))
        expected.remove_edges_from(list(nx.selfloop_edges(expected)))
        assert graph.n_nodes == len(nodes)
        for v, name in enumerate(nodes.tolist()):
            heads = graph.indices[graph.indptr[v] : graph.indptr[v + 1]]
            assert nodes[heads].tolist() == sorted(expected[name])
        sizes = [len(c) for c in nx.connected_components(expected)]
        assert graphs.component_count[i] == len(sizes)
        assert graphs.largest_component[i] == max(sizes)
        assert graphs.graph_hash[i] == graph.graph_hash()


@EXAMPLES
@given(t=topologies())
def test_every_column_stays_with_its_node_and_its_link(t):
    graphs = build_graphs([t])
    for i, asn in enumerate(graphs.asn.tolist()):
        graph, nodes = csr(graphs, i), members(t, asn)
        own = slice(graphs.node_ptr[i], graphs.node_ptr[i + 1])
        assert graphs.node_columns["x"][own].tolist() == (nodes * 0.5).tolist()
        if t.node_id is not None:
            assert graphs.node_id[own].tolist() == (nodes * 10).tolist()
        else:
            assert (graphs.node_addr[own] == t.node_addr[nodes]).all()
        for v in range(graph.n_nodes):
            for k in range(graph.indptr[v], graph.indptr[v + 1]):
                number = lightest(t, nodes[v], nodes[graph.indices[k]])
                arc = graphs.arc_ptr[i] + k
                assert graphs.arc_columns["number"][arc] == number
                if t.weight is not None:
                    np.testing.assert_equal(graphs.weights[arc], t.weight[number])


@EXAMPLES
@given(t=topologies())
def test_every_link_is_in_a_graph_between_two_or_counted(t):
    graphs = build_graphs([t])
    counts = graphs.counts
    asn = t.node_asn.tolist()
    pairs = list(zip(t.near.tolist(), t.far.tolist(), strict=True))
    unmapped = [p for p in pairs if p[0] != p[1] and NO_ASN in (asn[p[0]], asn[p[1]])]
    border = {
        tuple(sorted(p, key=lambda v: (asn[v], v)))
        for p in pairs
        if asn[p[0]] != asn[p[1]] and p not in unmapped
    }
    assert counts["n_links_given"] == t.n_links == len(pairs)
    assert counts["n_loops_dropped"] == sum(a == b for a, b in pairs)
    assert counts["n_unmapped_links"] == len(unmapped)
    assert graphs.n_unmapped == asn.count(NO_ASN)
    kept = len(graphs.indices) // 2 + len(graphs.border_near)
    dropped = counts["n_loops_dropped"] + counts["n_parallel_dropped"] + counts["n_unmapped_links"]
    assert kept + dropped == t.n_links
    found = {
        (members(t, na)[n], members(t, fa)[f])
        for na, n, fa, f in zip(
            graphs.border_near_asn,
            graphs.border_near,
            graphs.border_far_asn,
            graphs.border_far,
            strict=True,
        )
    }
    assert found == border
    assert len(graphs.border_near) == len(border) == counts["n_border_links"]
    assert (graphs.border_near_asn < graphs.border_far_asn).all()
    for (a, b), number in zip(
        [
            (members(t, na)[n], members(t, fa)[f])
            for na, n, fa, f in zip(
                graphs.border_near_asn,
                graphs.border_near,
                graphs.border_far_asn,
                graphs.border_far,
                strict=True,
            )
        ],
        graphs.border_columns["number"].tolist(),
        strict=True,
    ):
        assert number == lightest(t, a, b)
    for i, number in enumerate(graphs.asn.tolist()):
        near_unmapped = {
            v
            for a, b in unmapped
            for u, v in ((a, b), (b, a))
            if asn[u] == number and asn[v] == NO_ASN
        }
        assert graphs.adjacent_unmapped[i] == len(near_unmapped)


@EXAMPLES
@given(t=topologies())
def test_ingresses_follow_their_router_into_its_as(t):
    graphs = build_graphs([t])
    table, rows = t.ingresses, []
    for i, asn in enumerate(graphs.asn.tolist()):
        nodes = members(t, asn)
        for k in range(graphs.ingress_ptr[i], graphs.ingress_ptr[i + 1]):
            of = slice(graphs.neighbor_ptr[k], graphs.neighbor_ptr[k + 1])
            rows.append(
                (
                    int(nodes[graphs.ingress_node[k]]),
                    graphs.neighbor_asn[of].tolist(),
                    int(graphs.n_direct[k]),
                    int(graphs.n_after_gap[k]),
                    bool(graphs.candidate[k]),
                )
            )
        local = graphs.ingress_node[graphs.ingress_ptr[i] : graphs.ingress_ptr[i + 1]]
        assert (np.diff(local) > 0).all()
    expected = [
        (
            int(table.node[k]),
            table.neighbor_asn[table.neighbor_ptr[k] : table.neighbor_ptr[k + 1]].tolist(),
            int(table.n_direct[k]),
            int(table.n_after_gap[k]),
            bool(table.candidate[k]),
        )
        for k in range(len(table))
        if t.node_asn[table.node[k]] != NO_ASN
    ]
    assert sorted(rows) == expected


@EXAMPLES
@given(t=topologies())
def test_order_and_direction_of_links_change_no_graph(t):
    order = np.random.default_rng(5).permutation(t.n_links)
    turned = dataclasses.replace(
        t,
        near=t.far[order],
        far=t.near[order],
        weight=None if t.weight is None else t.weight[order],
        link_columns={},
    )
    one, other = build_graphs([t]), build_graphs([turned])
    assert one.graph_hash == other.graph_hash
    assert (one.indices == other.indices).all()
    if t.weight is not None:
        np.testing.assert_array_equal(one.weights, other.weights)


@EXAMPLES
@given(a=topologies(asns=(7, 11)), b=topologies(asns=(9, 300)))
def test_topologies_put_together_are_the_same_graphs_as_alone(a, b):
    both, alone = build_graphs([a, b]), [build_graphs([a]), build_graphs([b])]
    hashes = {asn: h for g in alone for asn, h in zip(g.asn.tolist(), g.graph_hash, strict=True)}
    assert dict(zip(both.asn.tolist(), both.graph_hash, strict=True)) == hashes
    assert both.counts["n_loops_seen"] == 4
    assert both.n_unmapped == sum(g.n_unmapped for g in alone)
    assert len(both.ingress_node) == sum(len(g.ingress_node) for g in alone)
    assert len(both.border_near) == sum(len(g.border_near) for g in alone)


def test_of_parallel_links_the_lightest_is_kept_and_one_without_weight_loses():
    weight = np.array([np.nan, 3, 1, 1], np.float32)
    graphs = build_graphs(
        [
            topology(
                [5, 5],
                [(0, 1), (1, 0), (0, 1), (1, 0)],
                weight=weight,
                link_columns={"number": np.arange(4)},
            )
        ]
    )
    assert graphs.indices.tolist() == [1, 0]
    assert graphs.weights.tolist() == [1, 1]
    assert graphs.arc_columns["number"].tolist() == [2, 2]
    assert graphs.counts["n_parallel_dropped"] == 3


def test_weights_do_not_enter_the_graph_hash():
    one = build_graphs([topology([5, 5], [(0, 1)], weight=np.array([1], np.float32))])
    other = build_graphs([topology([5, 5], [(0, 1)], weight=np.array([2], np.float32))])
    assert (
        one.graph_hash == other.graph_hash == build_graphs([topology([9, 9], [(1, 0)])]).graph_hash
    )


def test_the_same_as_in_two_topologies_is_refused_by_its_number():
    a, b = topology([5, 7, 9], []), topology([9, NO_ASN, 5], [])
    with pytest.raises(UsageError, match="AS5, AS9: in two of the inputs"):
        build_graphs([a, topology([NO_ASN], []), b])
    asns = [asns_of(each.node_asn) for each in (a, topology([NO_ASN], []), b)]
    with pytest.raises(UsageError, match="AS5, AS9: in both one and three; ingest these"):
        refuse_shared(asns, ["one", "two", "three"])
    refuse_shared(asns[:2], ["one", "two"])


@pytest.mark.parametrize("asn", [-2, 2**32, 10**15])
def test_a_number_that_is_no_asn_is_refused(asn):
    with pytest.raises(UsageError, match=f"{asn} is not an AS number"):
        build_graphs([topology([5, asn], [])])


def test_columns_that_one_topology_lacks_are_filled():
    a = topology(
        [1, 1],
        [(0, 1)],
        node_id=np.array([4, 6]),
        weight=np.array([2.5], np.float32),
        weight_unit="length",
        node_columns={"x": np.array([8, 9]), "type": np.array(["RT", "RT"])},
        kind="router",
    )
    b = topology([3, 2], [], node_addr=np.array([[0, 1], [0, 2]], np.uint64), kind="interface")
    graphs = build_graphs([b, a])
    assert graphs.asn.tolist() == [1, 2, 3]
    assert graphs.node_id.tolist() == [4, 6, NO_ID, NO_ID]
    assert graphs.node_addr.tolist() == [[0, 0], [0, 0], [0, 2], [0, 1]]
    np.testing.assert_array_equal(graphs.node_columns["x"][:], [8, 9, np.nan, np.nan])
    assert graphs.node_columns["type"].tolist() == ["RT", "RT", "", ""]
    assert graphs.weights.tolist() == [2.5, 2.5]
    assert graphs.weight_unit == "length"
    assert graphs.kind == "mixed"


@pytest.mark.parametrize("given_topologies", [[], [topology([], [])], [topology([NO_ASN], [])]])
def test_nothing_mapped_is_an_empty_set_of_graphs(given_topologies):
    graphs = build_graphs(given_topologies)
    assert graphs.n_ases == len(graphs.indices) == len(graphs.graph_hash) == 0
    assert graphs.node_ptr.tolist() == graphs.arc_ptr.tolist() == graphs.ingress_ptr.tolist() == [0]


def test_a_link_to_no_node_is_named():
    with pytest.raises(ValueError, match="link 1 names node 2; the topology has 2 nodes"):
        build_graphs([topology([5, 5], [(0, 1), (1, 2)])])
    ingresses = IngressTable(
        np.array([-1]), np.zeros(2, np.int64), *[np.zeros(0, np.int64)] * 3, np.zeros(0, bool)
    )
    with pytest.raises(ValueError, match="ingress 0 names node -1"):
        build_graphs([topology([5, 5], [], ingresses=ingresses)])


def test_many_chunks_of_components_agree_with_one(monkeypatch):
    rng = np.random.default_rng(3)
    asn = rng.integers(1, 40, 600)
    near, far = rng.integers(0, 600, (2, 4000))
    t = Topology(asn, near, far)
    one = build_graphs([t])
    monkeypatch.setattr("pipeline.graphs.connectivity.CHUNK_NODES", 50)
    monkeypatch.setattr("pipeline.graphs.connectivity.CHUNK_ARCS", 30)
    many = build_graphs([t])
    assert one.component_count.tolist() == many.component_count.tolist()
    assert one.largest_component.tolist() == many.largest_component.tolist()
