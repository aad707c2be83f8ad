"""Figures of the report: counted by hand on two small ASes, and against brute force on any."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.model.graphs import NO_ID
from pipeline.report.tables.node_names import addr_texts, node_texts
from pipeline.report.tables.nodes import reach
from pipeline.report.tables.summarise import summarise
from pipeline.store import NodeTable
from tests.addresses import format_addrs, parse_addrs
from tests.soak import examples
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

# AS 10: a path 0-1-2-3 with a branch 1-4, entered at 0 and 3; 2 is only a candidate.
# AS 20: 0-1 and 2-3-4 apart, entered at 1 only. AS 30: two routers, never entered.
PATH, SPLIT, CLOSED = 10, 20, 30


@pytest.fixture
def snapshot():
    return MemorySnapshot(
        {PATH: [(0, 1), (1, 2), (2, 3), (1, 4)], SPLIT: [(0, 1), (2, 3), (3, 4)], CLOSED: [(0, 1)]},
        {PATH: 5, SPLIT: 5, CLOSED: 2},
        [
            (PATH, 0, [20], 5, 1, False),
            (PATH, 2, [20, 30], 0, 4, True),
            (PATH, 3, [30], 2, 0, False),
            (SPLIT, 1, [10], 7, 0, False),
        ],
        names={PATH: "Path", CLOSED: "Closed"},
        addrs={
            PATH: ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"],
            SPLIT: ["198.51.100.0", "198.51.100.9", "2001:db8::", "2001:db8::a", "fe80::1:0:0:2"],
            CLOSED: ["203.0.113.1", "203.0.113.255"],
        },
    )


def test_figures_of_ases_are_those_counted_by_hand(snapshot):
    rows = summarise(snapshot, measured(snapshot)).ases.to_pylist()
    path, split, closed = rows
    # From 0: 1, 2, 2, 3 hops; from 3: 1, 2, 3, 3. Sorted: 1 1 2 2 2 3 3 3.
    assert path["mean_hops"] == 17 / 8
    assert path["median_hops"] == 2.0
    assert path["p90_hops"] == 3.0  # rank 6.3 of 0..7
    assert path["max_hops"] == 3
    assert (path["n_nodes"], path["n_edges"], path["n_components"]) == (5, 4, 1)
    assert [row["mean_degree"] for row in rows] == [8 / 5, 6 / 5, 1.0]
    assert (path["n_ingresses"], path["n_candidates"], path["n_unreached"]) == (2, 1, 0)
    assert (split["n_ingresses"], split["n_unreached"], split["largest_component"]) == (1, 3, 3)
    assert (split["mean_hops"], split["median_hops"], split["p90_hops"]) == (1.0, 1.0, 1.0)
    assert closed["n_unreached"] == closed["n_nodes"] == 2  # no ingress: none is reached
    for column in ("mean_hops", "median_hops", "p90_hops", "max_hops"):
        assert closed[column] is None
    assert [row["name"] for row in rows] == ["Path", None, "Closed"]
    assert [row["asn"] for row in rows] == [PATH, SPLIT, CLOSED]
    assert {row["status"] for row in rows} == {"ok"}


def test_rows_of_ingresses_are_those_counted_by_hand(snapshot):
    rows = summarise(snapshot, measured(snapshot)).ingresses.to_pylist()
    assert [(row["asn"], row["ingress"]) for row in rows] == [(10, 0), (10, 2), (10, 3), (20, 1)]
    first, candidate, last, split = rows
    assert first == {
        "asn": 10,
        "ingress": 0,
        "addr": "10.0.0.1",
        "neighbor_asns": [20],
        "n_direct": 5,
        "neighbor_n_direct": [5],
        "n_after_gap": 1,
        "candidate": False,
        "confidence": None,
        "via_ixp": None,
        "neighbor_ixps": [None],
        "n_reached": 5,
        "eccentricity": 3,
        "mean_hops": 2.0,
        "hop_counts": [1, 1, 2, 1],
        "farthest": [3],
        "farthest_addrs": ["10.0.0.4"],
        "closeness": 0.5,
        "harmonic": (1 + 2 / 2 + 1 / 3) / 4,
        "host_name": None,
        **dict.fromkeys((DELAYS + PLACES).split()),
    }
    assert last["farthest_addrs"] == ["10.0.0.1", "10.0.0.5"]
    assert candidate["candidate"] is True
    assert candidate["neighbor_asns"] == [20, 30]
    for column in ("n_reached", "mean_hops", "hop_counts", "farthest_addrs", "closeness"):
        assert candidate[column] is None  # written, no source
    assert split["farthest_addrs"] == ["198.51.100.0"]


def test_exchange_points_by_which_an_ingress_is_entered_are_named():
    ingresses = [
        (PATH, 0, [20, 30], 5, 1, False, ["FIX", ""]),
        (PATH, 1, [20], 5, 1, False, [""]),
        (PATH, 2, [20], 5, 1, False),
    ]
    snapshot = MemorySnapshot({PATH: [(0, 1), (1, 2)]}, {PATH: 3}, ingresses)
    rows = summarise(snapshot, measured(snapshot)).ingresses.to_pylist()
    assert [row["via_ixp"] for row in rows] == [True, False, None]
    assert [row["neighbor_ixps"] for row in rows] == [["FIX", None], [None], [None]]


def test_named_unreached_routers_are_those_of_parts_without_ingress(snapshot):
    summary = summarise(snapshot, measured(snapshot))
    assert summary.unreached_texts.to_pylist() == [
        "2001:db8::",
        "2001:db8::a",
        "fe80::1:0:0:2",
        "203.0.113.1",
        "203.0.113.255",
    ]


def test_totals_are_over_all_ases(snapshot):
    totals = summarise(snapshot, measured(snapshot)).totals
    assert (totals["n_ases"], totals["n_nodes"], totals["n_edges"]) == (3, 12, 8)
    assert (totals["n_ingresses"], totals["n_candidates"], totals["n_searches"]) == (3, 1, 3)
    assert (totals["n_unreached"], totals["n_without_ingress"]) == (5, 1)
    assert (totals["n_pairs"], totals["mean_hops"], totals["max_hops"]) == (9, 18 / 9, 3)
    assert totals["hop_counts"] == [0, 3, 3, 3]


def test_the_confidence_of_ingresses_is_told_without_candidates(snapshot, monkeypatch):
    assert summarise(snapshot, measured(snapshot)).totals["mean_confidence"] is None
    table = snapshot.ingresses()
    assert table.candidate.tolist() == [False, True, False, False]
    rated = replace(table, confidence=np.array([0.25, 0.125, 0.75, np.nan], np.float32))
    monkeypatch.setattr(snapshot, "ingresses", lambda rows=None: rated)
    totals = summarise(snapshot, measured(snapshot)).totals
    assert (totals["mean_confidence"], totals["n_low_confidence"]) == (0.5, 1)


def test_an_as_with_an_unfinished_search_is_partial_and_one_without_any_failed(snapshot):
    why = "worker died twice"
    measurement = measured(snapshot, without={(0, 3), (1, 1)}, failed={0: why, 1: why})
    summary = summarise(snapshot, measurement)
    assert summary.ases["status"].to_pylist() == ["partial", "failed", "ok"]
    assert summary.ases["reason"].to_pylist() == [why, why, None]
    assert summary.ases["mean_hops"].to_pylist() == [2.0, None, None]
    assert summary.ases["n_unreached"].to_pylist() == [0, 3, 2]  # from the graph, not the searches
    assert summary.ingresses["n_reached"].to_pylist() == [5, None, None, None]


def test_routers_of_inputs_without_addresses_have_their_ids():
    snapshot = MemorySnapshot({7: [(0, 1)]}, {7: 2}, [(7, 1, [], 0, 0, False)])
    row = summarise(snapshot, measured(snapshot)).ingresses.to_pylist()[0]
    assert (row["addr"], row["farthest_addrs"], row["neighbor_asns"]) == ("1001", ["1000"], [])


def test_nodes_of_a_mixed_snapshot_have_an_address_or_an_id_or_neither():
    addr = parse_addrs(["192.0.2.7", "::", "2001:db8::1", "::"])
    table = NodeTable(addr, np.array([1, 22, 3, NO_ID]))
    snapshot = SimpleNamespace(
        lookup=lambda rows, nodes: NodeTable(table.addr[nodes], table.id[nodes])
    )
    texts = node_texts(snapshot, np.zeros(5, np.int64), np.array([3, 2, 1, 0, 1]))
    assert texts.to_pylist() == [None, "2001:db8::1", "22", "192.0.2.7", "22"]


def test_a_lone_ingress_reaches_itself_and_has_no_mean():
    snapshot = MemorySnapshot({7: []}, {7: 1}, [(7, 0, [8], 1, 0, False)])
    summary = summarise(snapshot, measured(snapshot))
    assert summary.ases["max_hops"].to_pylist() == [0]
    assert summary.ases["mean_hops"].to_pylist() == [None]
    assert summary.ingresses["mean_hops"].to_pylist() == [None]
    assert summary.ingresses["n_reached"].to_pylist() == [1]
    assert summary.ases["n_unreached"].to_pylist() == [0]


def test_only_the_requested_ases_are_in_the_tables(snapshot):
    measurement = measured(snapshot, without={(0, 0), (0, 3)}, rows=np.array([1, 2]))
    for name in ("n_tasks", "n_retries", "wall_s"):
        object.__setattr__(measurement, name, getattr(measurement, name)[1:])
    object.__setattr__(measurement, "device", ["cpu", ""])
    summary = summarise(snapshot, measurement)
    assert summary.ases["asn"].to_pylist() == [SPLIT, CLOSED]
    assert summary.ases["device"].to_pylist() == ["cpu", None]
    assert summary.ingresses["asn"].to_pylist() == [SPLIT]


@st.composite
def snapshots(draw):
    """A few ASes of a few routers, links, ingresses and candidates anywhere."""
    links, n_nodes, ingresses = {}, {}, []
    for asn in range(1, draw(st.integers(1, 4)) + 1):
        n = draw(st.integers(1, 9))
        node = st.integers(0, n - 1)
        pairs = draw(st.lists(st.tuples(node, node), max_size=12))
        links[asn], n_nodes[asn] = [(a, b) for a, b in pairs if a != b], n
        sources = sorted(draw(st.sets(node, max_size=4)))
        ingresses += [(asn, source, [], 1, 0, draw(st.booleans())) for source in sources]
    return links, n_nodes, ingresses


@settings(max_examples=examples(150), deadline=None)
@given(drawn=snapshots(), at_once=st.sampled_from([1, 20, 1000]))
def test_figures_equal_brute_force(drawn, at_once):
    links, n_nodes, ingresses = drawn
    snapshot = MemorySnapshot(links, n_nodes, ingresses)
    before = reach.MAX_AT_ONCE
    reach.MAX_AT_ONCE = at_once  # shards of one AS, of some, of all
    try:
        summary = summarise(snapshot, measured(snapshot))
    finally:
        reach.MAX_AT_ONCE = before
    for i, row in enumerate(summary.ases.to_pylist()):
        asn = row["asn"]
        graph = nx.Graph(links[asn])
        graph.add_nodes_from(range(n_nodes[asn]))
        sources = [entry[1] for entry in ingresses if entry[0] == asn and not entry[5]]
        paths = [nx.single_source_shortest_path_length(graph, source) for source in sources]
        hops = [h for path in paths for h in path.values() if h > 0]
        reached = set().union(*paths)
        left = sorted(set(graph) - reached)
        assert row["n_unreached"] == len(left)
        ptr = summary.unreached.first_ptr
        assert summary.unreached.first[ptr[i] : ptr[i + 1]].tolist() == left[: reach.N_NAMED]
        assert row["max_hops"] == (max(hops, default=0) if sources else None)
        if hops:
            assert row["mean_hops"] == pytest.approx(np.mean(hops))
            assert row["median_hops"] == np.median(hops)
            assert row["p90_hops"] == pytest.approx(np.percentile(hops, 90))
        else:
            assert row["mean_hops"] is row["median_hops"] is row["p90_hops"] is None


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just(0), st.integers(0xFFFF_0000_0000, 0xFFFF_FFFF_FFFF)),
            st.tuples(st.sampled_from([0, 1, 2**63, 0x20010DB8 << 32]), st.integers(0, 2**64 - 1)),
            st.tuples(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**48, 2**64 - 1])),
        ),
        max_size=12,
    )
)
def test_texts_of_addresses_made_in_bulk_are_those_made_one_by_one(words):
    addrs = np.array(words, np.uint64).reshape(len(words), 2)
    assert addr_texts(addrs).to_pylist() == format_addrs(addrs)


AS_COLUMNS = """
asn name n_nodes n_edges mean_degree n_components largest_component n_ingresses n_candidates
n_unreached n_unmapped n_entered_unseen n_mpls_links n_may_hide_links n_silent mean_hops
median_hops p90_hops max_hops graph_hash device n_tasks n_retries wall_s n_reused reused_from
status reason organisation
"""

INGRESS_COLUMNS = """
asn ingress addr neighbor_asns n_direct n_after_gap neighbor_n_direct candidate confidence
via_ixp neighbor_ixps
n_reached eccentricity mean_hops hop_counts farthest farthest_addrs host_name
"""
DELAYS = """
delay_ms delay_p25_ms delay_p75_ms delay_n_traces delay_n_vantages delay_n_negative
delay_by_ttl_ms delay_by_ttl_n_traces
"""
PLACES = " city country latitude longitude place_impossible place_rtt_ms place_far_km"


def test_columns_are_those_of_the_contract(snapshot):
    summary = summarise(snapshot, measured(snapshot))
    assert summary.ases.column_names == AS_COLUMNS.split()
    assert summary.ingresses.column_names == [
        *(INGRESS_COLUMNS + DELAYS + PLACES).split(),
        "closeness",
        "harmonic",
    ]
    assert summary.ingresses.schema.field("hop_counts").type == pa.list_(pa.int64())
