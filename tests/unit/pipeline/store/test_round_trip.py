from __future__ import annotations

import dataclasses
import json
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, Shard
from pipeline.graphs import build_graphs
from pipeline.model.columns import take
from pipeline.model.graphs import NO_ID
from pipeline.model.measured.delays import Delays
from pipeline.model.topology import Topology
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.columns import read_table, row_group_ends
from pipeline.store.tables import Ingresses
from tests.soak import examples
from tests.unit.pipeline.graphs.multi_as import topologies
from tests.unit.pipeline.store.snapshots import some_delays, some_graphs, write


def of(graphs, i):
    """Graph i of a GraphSet."""
    nodes = slice(graphs.node_ptr[i], graphs.node_ptr[i + 1])
    arcs = slice(graphs.arc_ptr[i], graphs.arc_ptr[i + 1])
    indptr = np.append(0, np.cumsum(graphs.degree[nodes])).astype(np.int64)
    return nodes, arcs, CSRGraph(indptr, graphs.indices[arcs])


def same_graph(a, b):
    return a.indptr.tolist() == b.indptr.tolist() and a.indices.tolist() == b.indices.tolist()


def assert_holds(snapshot: Snapshot, graphs) -> None:
    """Everything that was written comes back."""
    snapshot.verify()
    assert snapshot.asn.tolist() == graphs.asn.tolist()
    assert snapshot.graph_hash == graphs.graph_hash
    assert snapshot.n_nodes.tolist() == np.diff(graphs.node_ptr).tolist()
    assert snapshot.n_arcs.tolist() == np.diff(graphs.arc_ptr).tolist()
    assert snapshot.n_edges.tolist() == (np.diff(graphs.arc_ptr) // 2).tolist()
    assert snapshot.n_components.tolist() == graphs.component_count.tolist()
    assert snapshot.largest_component.tolist() == graphs.largest_component.tolist()
    assert snapshot.n_unmapped.tolist() == graphs.adjacent_unmapped.tolist()
    assert snapshot.kind == graphs.kind
    assert snapshot.weight_unit == graphs.weight_unit
    n_rows = snapshot.n_ingresses + snapshot.n_candidates
    assert n_rows.tolist() == np.diff(graphs.ingress_ptr).tolist()
    assert snapshot.n_candidates.sum() == graphs.candidate.sum()
    for row in range(snapshot.n_ases):
        nodes, arcs, graph = of(graphs, row)
        found = snapshot.graph(row, weights=True, check=True)
        assert same_graph(found, graph)
        assert snapshot.graph(row).weights is None
        if graphs.weights is None:
            assert found.weights is None
        else:
            np.testing.assert_array_equal(found.weights, graphs.weights[arcs])
        table = snapshot.nodes(row)
        if graphs.node_addr is not None:
            assert (table.addr == graphs.node_addr[nodes]).all()
        if graphs.node_id is not None:
            assert (table.id == graphs.node_id[nodes]).all()
        for name, column in graphs.node_columns.items():
            assert table.columns[name].tolist() == column[nodes].tolist()
        for name, column in snapshot.arc_columns(row).items():
            assert column.tolist() == graphs.arc_columns[name][arcs].tolist()
        assert snapshot.row_of(int(snapshot.asn[row])) == row
    found = snapshot.ingresses()
    rows = np.repeat(np.arange(graphs.n_ases), np.diff(graphs.ingress_ptr))
    assert found.row.tolist() == rows.tolist()
    assert found.node.tolist() == graphs.ingress_node.tolist()
    for name in ("neighbor_ptr", "neighbor_asn", "n_direct", "n_after_gap", "candidate"):
        assert getattr(found, name).tolist() == getattr(graphs, name).tolist()
    known = np.full(len(found), np.nan) if graphs.confidence is None else graphs.confidence
    np.testing.assert_array_equal(found.confidence, known)
    ixps = [None] * len(found.neighbor_asn)
    assert found.neighbor_ixp.tolist() == (
        ixps if graphs.neighbor_ixp is None else graphs.neighbor_ixp.tolist()
    )
    alone = graphs.neighbor_n_direct
    assert found.neighbor_n_direct.tolist() == (
        [-1] * len(found.neighbor_asn) if alone is None else alone.tolist()
    )
    same_delays(found.delays, graphs.delays)
    exits = snapshot.exits()
    for name in ("row", "node", "neighbor_asn", "n_traces"):
        assert getattr(exits, name).tolist() == getattr(graphs.exits, name).tolist()
    borders = snapshot.borders()
    for name in ("near_asn", "near", "far_asn", "far"):
        assert borders.column(name).to_pylist() == getattr(graphs, f"border_{name}").tolist()
    for name, column in graphs.border_columns.items():
        np.testing.assert_array_equal(borders.column(name).to_numpy(), column)


def same_delays(found: Delays | None, given: Delays | None) -> None:
    assert (found is None) == (given is None or not len(given))
    if found is not None:
        for field in dataclasses.fields(Delays):
            np.testing.assert_array_equal(getattr(found, field.name), getattr(given, field.name))


def test_delays_are_read_back_and_older_snapshots_have_none(tmp_path):
    graphs = some_graphs()
    delays = some_delays(len(graphs.candidate))
    path = write(tmp_path, graphs=replace(graphs, delays=delays))
    snapshot = open_snapshot(tmp_path)
    same_delays(snapshot.ingresses().delays, delays)
    some = np.flatnonzero(np.isin(snapshot.ingresses().row, [1, 3]))
    same_delays(snapshot.ingresses(np.array([1, 3])).delays, take(delays, some))
    table = read_table(path / "ingresses.parquet")
    older = table.drop_columns([name for name in table.column_names if name.startswith("delay")])
    assert Ingresses.from_table(older, snapshot.asn).delays is None
    table = table.set_column(
        table.column_names.index("delay_by_ttl_ms"),
        "delay_by_ttl_ms",
        pa.chunked_array([pa.array([[1.0] * 9] * len(delays), pa.large_list(pa.float32()))]),
    )
    with pytest.raises(ValueError, match="differ in length"):
        Ingresses.from_table(table, snapshot.asn)


@settings(max_examples=examples(40), deadline=None)
@given(t=topologies(), data=st.data())
def test_what_is_built_and_written_is_read_back(t, data):
    graphs = build_graphs([t])
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), "a", graphs)
        snapshot = open_snapshot(Path(folder))
        assert_holds(snapshot, graphs)
        rows = data.draw(
            st.sets(st.integers(0, graphs.n_ases - 1)) if graphs.n_ases else st.just([])
        )
        rows = sorted(rows)
        expected = Shard.from_graphs([of(graphs, row)[2] for row in rows])
        shard = snapshot.shard(np.array(rows, np.int64))
        shard.validate()
        assert same_graph(shard, expected)
        assert shard.node_ptr.tolist() == expected.node_ptr.tolist()
        some = snapshot.ingresses(np.array(rows, np.int64))
        everything = snapshot.ingresses()
        assert some.row.tolist() == [r for r in everything.row.tolist() if r in rows]
        assert len(some.neighbor_asn) == some.neighbor_ptr[-1]


@pytest.mark.parametrize("file_bytes", [1, 3000, 1 << 30])
@pytest.mark.parametrize("row_group", [1, 50, 250_000])
def test_cuts_into_files_and_row_groups_change_nothing(
    tmp_path, monkeypatch, file_bytes, row_group
):
    monkeypatch.setattr("pipeline.store.writer.FILE_BYTES", file_bytes)
    monkeypatch.setattr("pipeline.store.columns.ROW_GROUP", row_group)
    monkeypatch.setattr("pipeline.store.columns.HUGE_ROW_GROUP", 2 * row_group)
    monkeypatch.setattr("pipeline.store.columns.CACHE_BYTES", 1000)
    graphs = some_graphs()
    path = write(tmp_path, "a", graphs)
    n_files = len(list(path.glob("arcs-*")))
    assert {1: n_files == 6, 3000: 1 < n_files <= 6, 1 << 30: n_files == 1}[file_bytes]
    snapshot = open_snapshot(tmp_path)
    assert_holds(snapshot, graphs)
    for rows in ([0, 1, 2, 3, 4, 5], [0, 2, 5], [4], []):
        expected = Shard.from_graphs([of(graphs, row)[2] for row in rows])
        for n_threads in (1, 3):
            shard = snapshot.shard(np.array(rows), n_threads)
            assert same_graph(shard, expected)
            assert shard.node_ptr.tolist() == expected.node_ptr.tolist()
    assert same_graph(snapshot.graph(5, n_threads=3), of(graphs, 5)[2])


@settings(max_examples=examples(200), deadline=None)
@given(sizes=st.lists(st.integers(0, 700_000) | st.integers(0, 30_000_000), max_size=30))
def test_row_groups_end_at_as_borders_unless_one_as_is_huge(sizes):
    ptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
    ends = row_group_ends(ptr)
    starts = np.append(0, ends)[: len(ends)]
    assert (ends > starts).all()
    assert (ends[-1] if len(ends) else 0) == ptr[-1]
    borders = set(ptr.tolist())
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if end not in borders:
            assert end - start == 4_000_000  # inside one AS that is larger than that
            assert not any(start < b <= end for b in borders)
        elif end - start > 250_000:
            assert not any(start < b < end for b in borders)


def test_nodes_of_many_ases_are_looked_up_in_any_order(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.store.writer.FILE_BYTES", 3000)
    monkeypatch.setattr("pipeline.store.columns.ROW_GROUP", 50)
    graphs = some_graphs()
    write(tmp_path, "a", graphs)
    snapshot = open_snapshot(tmp_path)
    rng = np.random.default_rng(2)
    rows, nodes = rng.integers(0, 6, 500), rng.integers(0, 40, 500)
    found = snapshot.lookup(rows, nodes, columns=True)
    at = graphs.node_ptr[rows] + nodes
    assert (found.addr == graphs.node_addr[at]).all()
    assert (found.id == graphs.node_id[at]).all()
    assert found.columns["type"].tolist() == graphs.node_columns["type"][at].tolist()
    assert snapshot.lookup(rows, nodes).columns == {}
    assert len(snapshot.lookup(rows[:0], nodes[:0]).id) == 0
    with pytest.raises(ValueError, match="node 40 is not a node of AS20, which has 40 nodes"):
        snapshot.lookup(np.array([0, 1]), np.array([3, 40]))


def test_an_as_whose_input_gives_no_address_or_id_has_none(tmp_path):
    by_id = Topology(np.array([1, 1]), np.array([0]), np.array([1]), node_id=np.array([4, 5]))
    by_addr = Topology(
        np.array([2]), np.array([], int), np.array([], int), np.array([[0, 9]], np.uint64)
    )
    write(tmp_path, "a", build_graphs([by_id, by_addr]))
    snapshot = open_snapshot(tmp_path)
    assert snapshot.nodes(0).addr is None
    assert snapshot.nodes(0).id.tolist() == [4, 5]
    assert snapshot.nodes(1).addr.tolist() == [[0, 9]]
    assert snapshot.nodes(1).id is None
    assert snapshot.lookup(np.array([0, 1]), np.array([1, 0])).id.tolist() == [5, NO_ID]


def test_rows_and_ases_that_are_not_there_are_named(tmp_path):
    write(tmp_path)
    snapshot = open_snapshot(tmp_path)
    with pytest.raises(KeyError, match="AS15 is not in snapshot a"):
        snapshot.row_of(15)
    with pytest.raises(ValueError, match="AS row 6; the snapshot has rows 0 to 5"):
        snapshot.graph(6)
    for rows in ([1, 0], [1, 1], [-1], [6]):
        with pytest.raises(ValueError, match="must ascend within 0 to 5"):
            snapshot.shard(np.array(rows))


def test_names_inputs_options_and_rejects_are_kept(tmp_path):
    path = write(
        tmp_path,
        "a",
        as_names={10: "TEN", 99: "NOBODY", 20: "Zwölf"},
        inputs=[{"path": Path("x.warts"), "sha256": "ab", "n_records": np.int64(3)}],
        options={"borders": "elected", "asn": None},
        counts={"n_traces": 3},
        rejects=[{"file": "x", "detail": "a\udcffb"}, {"file": "y", "detail": "\x00\n"}],
    )
    snapshot = open_snapshot(tmp_path)
    assert snapshot.as_name == ["TEN", "Zwölf", "", "", "", ""]
    assert snapshot.manifest["inputs"] == [{"path": "x.warts", "sha256": "ab", "n_records": 3}]
    assert snapshot.manifest["options"] == {"borders": "elected", "asn": None}
    assert snapshot.manifest["counts"] == {"n_traces": 3}
    lines = snapshot.rejects_path.read_text().splitlines()
    assert [json.loads(line)["detail"] for line in lines] == ["a\udcffb", "\x00\n"]
    assert snapshot.path == path


def test_a_snapshot_can_be_pickled_and_read_by_many_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.store.columns.ROW_GROUP", 100)
    graphs = some_graphs(n_ases=40)
    write(tmp_path, "a", graphs)
    snapshot = pickle.loads(pickle.dumps(open_snapshot(tmp_path)))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: snapshot.graph(i % 40).graph_hash(), range(400)))
    assert found == [graphs.graph_hash[i % 40] for i in range(400)]


def test_a_hundred_thousand_ases_make_a_handful_of_files(tmp_path):
    n = 100_000
    near = np.repeat(np.arange(n) * 3, 2)
    far = near + np.tile([1, 2], n)
    graphs = build_graphs([Topology(np.repeat(np.arange(n), 3), near, far)])
    path = write(tmp_path, "a", graphs)
    assert len(list(path.iterdir())) < 10
    snapshot = open_snapshot(tmp_path)
    assert snapshot.n_ases == n
    assert snapshot.graph(77_777).indices.tolist() == [1, 2, 0, 0]
    assert snapshot.shard(np.arange(n)).n_arcs == 4 * n


def test_optional_columns_cannot_hide_our_own(tmp_path):
    graphs = build_graphs(
        [Topology(np.array([1]), *[np.array([], int)] * 2, node_columns={"degree": np.array([1])})]
    )
    with pytest.raises(ValueError, match="cannot be called degree"):
        write(tmp_path, "a", graphs)


def test_confidence_is_null_where_unknown_and_missing_in_old_snapshots(tmp_path):
    graphs = some_graphs()
    rated = np.linspace(0, 1, len(graphs.candidate)).astype(np.float32)
    rated[1] = np.nan
    n = len(graphs.node_addr)
    of_addrs = np.full(n, 0.25, np.float32)
    of_addrs[0] = np.nan
    of_node = np.arange(n) - np.repeat(graphs.node_ptr[:-1], np.diff(graphs.node_ptr))
    graphs = replace(
        graphs,
        confidence=rated,
        addrs=graphs.node_addr,
        addr_asn=np.repeat(graphs.asn, np.diff(graphs.node_ptr)),
        addr_node=of_node.astype(np.int32),
        addr_confidence=of_addrs,
    )
    path = write(tmp_path, graphs=graphs)
    snapshot = open_snapshot(tmp_path)
    np.testing.assert_array_equal(snapshot.ingresses().confidence, rated)
    some = snapshot.ingresses(np.array([1, 3]))
    np.testing.assert_array_equal(some.confidence, rated[np.isin(snapshot.ingresses().row, [1, 3])])
    found = snapshot.addresses().column("confidence")
    assert found.null_count == 1
    assert set(found.to_pylist()) == {None, 0.25}
    table = read_table(path / "ingresses.parquet")
    assert table.column("confidence").null_count == 1
    old = Ingresses.from_table(table.drop_columns(["confidence"]), snapshot.asn)
    assert np.isnan(old.confidence).all()
    assert old.n_direct.tolist() == snapshot.ingresses().n_direct.tolist()


def test_snapshots_from_before_exits_have_none_and_no_counts_of_neighbours(tmp_path):
    path = write(tmp_path)
    snapshot = open_snapshot(tmp_path)
    assert len(snapshot.exits(np.array([1, 2]))) == np.isin(snapshot.exits().row, [1, 2]).sum() > 0
    table = read_table(path / "ingresses.parquet")
    old = Ingresses.from_table(table.drop_columns(["neighbor_n_direct"]), snapshot.asn)
    assert set(old.neighbor_n_direct.tolist()) == {-1}
    del snapshot.manifest["files"]["exits.parquet"]
    assert len(snapshot.exits()) == 0


def test_traces_that_begin_inside_and_links_under_labels_are_kept_for_each_as(tmp_path):
    topology = Topology(
        node_asn=np.array([10, 10, 10, 20, 20]),
        near=np.array([0, 1, 3, 2]),
        far=np.array([1, 2, 4, 3]),
        node_id=np.arange(5),
        link_columns={"mpls": np.array([True, False, True, True])},  # the last joins two ASes
        entered_unseen={20: 7},
    )
    write(tmp_path, graphs=build_graphs([topology]))
    snapshot = open_snapshot(tmp_path)
    assert snapshot.n_entered_unseen.tolist() == [0, 7]
    assert snapshot.n_mpls_links.tolist() == [1, 1]
    assert snapshot.borders()["mpls"].to_pylist() == [True]


def test_a_column_of_later_versions_is_read_where_a_file_has_it(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"asn": [10], "name": ["a"]}), path)
    assert read_table(path, ["asn"], ["later"]).column_names == ["asn"]
    assert read_table(path, ["asn"], ["name", "later"]).column_names == ["asn", "name"]


def test_a_snapshot_of_an_earlier_version_has_none_of_what_it_did_not_count(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.setattr(
        "pipeline.store.snapshot.LATER_AS_NUMBERS", ("not_there", "nor_this", "nor_that", "nor_one")
    )
    snapshot = open_snapshot(tmp_path)
    assert snapshot.n_entered_unseen.tolist() == snapshot.n_mpls_links.tolist() == [0] * 6
    assert snapshot.n_silent.tolist() == [0] * 6
