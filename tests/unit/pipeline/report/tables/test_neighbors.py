"""Links between ASes, exits and entries of each neighbour, from traces counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.graphs import build_graphs
from pipeline.model.relations import CUSTOMER, PEER, PROVIDER, UNRELATED
from pipeline.model.tables.organisations import Organisations
from pipeline.model.tables.registries import Registries
from pipeline.model.tables.relationships import Relationships
from pipeline.report import write_reports
from pipeline.report.tables.neighbors import as_link_table, exit_table
from pipeline.report.tables.places import PLACE_COLUMNS
from pipeline.report.tables.summarise import summarise
from pipeline.store import Snapshot, open_snapshot
from tests.unit.pipeline.infer.handmade import infer
from tests.unit.pipeline.report.test_from_store import search
from tests.unit.pipeline.store.snapshots import write

A, B = "20.1.0.10", "20.1.0.20"
X, Y = "20.2.0.10", "20.2.0.20"
P, Q = "20.3.0.10", "20.3.0.20"
LINES = [f"{A} {X} {Y} {P}", f"{A} {X} {Q}", f"{B} {X}", f"{P} {Y} {A}", f"{P} {Q}"]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory) -> Snapshot:
    folder = tmp_path_factory.mktemp("counted")
    write(folder, "night", build_graphs([infer(folder, *LINES)]))
    return open_snapshot(folder)


def rows_of(table: pa.Table) -> list[tuple]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_links_between_two_ases_are_one_row_and_their_traces_add_up(snapshot):
    table = as_link_table(snapshot, np.arange(3))
    columns = ["near_asn", "far_asn", "n_traces", "n_links", "via_ixp", "siblings"]
    assert table.column_names == [*columns, "relation", "ixps"]
    # A-X twice, B-X, A-Y; Y-P twice, X-Q. LANs are not looked for by prefix alone.
    assert rows_of(table) == [
        (1, 2, 4, 3, None, None, None, None),
        (2, 3, 3, 2, None, None, None, None),
    ]


def test_links_say_whether_the_two_ases_are_of_one_organisation(tmp_path):
    organisations = Organisations(np.array([1, 2, 3]), np.array([0, 1, 1]))
    topology = infer(tmp_path, *LINES, registries=Registries(organisations=organisations))
    write(tmp_path, "night", build_graphs([topology]))
    snapshot = open_snapshot(tmp_path)
    assert as_link_table(snapshot, np.arange(3))["siblings"].to_pylist() == [False, True]
    assert "siblings" not in snapshot.arc_columns(0)  # both ends are in one AS


def test_links_say_what_the_smaller_number_is_to_the_larger(tmp_path):
    pair = np.array([(1 << 32) | 3, (2 << 32) | 3, (3 << 32) | 1, (3 << 32) | 2], np.uint64)
    stated = Relationships(pair, np.array([PEER, CUSTOMER, PEER, PROVIDER], np.int8))
    topology = infer(tmp_path, *LINES, registries=Registries(relationships=stated))
    write(tmp_path, "night", build_graphs([topology]))
    snapshot = open_snapshot(tmp_path)
    assert as_link_table(snapshot, np.arange(3))["relation"].to_pylist() == [None, "customer"]
    assert "as_relation" not in snapshot.arc_columns(0)
    found = summarise(snapshot, search(snapshot)).adjacent
    assert found.is_related
    assert found.asn.tolist() == [2, 1, 3, 2]
    assert found.relation.tolist() == [UNRELATED, UNRELATED, PROVIDER, CUSTOMER]
    assert found.part(2, 3).relation.tolist() == [CUSTOMER]


def test_links_name_the_exchange_points_by_which_traces_crossed_them(snapshot, monkeypatch):
    borders, entered = snapshot.borders(), snapshot.ingresses()
    by = np.full(len(entered.neighbor_asn), "", object)
    by[0], by[1], by[2] = "LINX", "DE-CIX", "LINX"  # into AS 1, AS 2 from AS 1, AS 2 from AS 3
    monkeypatch.setattr(snapshot, "ingresses", lambda rows=None: replace(entered, neighbor_ixp=by))
    flags = pa.array(np.ones(borders.num_rows, bool))
    monkeypatch.setattr(snapshot, "borders", lambda: borders.append_column("via_ixp", flags))
    links = as_link_table(snapshot, np.arange(3))
    assert links["ixps"].to_pylist() == [["DE-CIX", "LINX"], ["LINX"]]
    found = summarise(snapshot, search(snapshot)).adjacent
    assert found.ixps.tolist() == [["DE-CIX", "LINX"], ["DE-CIX", "LINX"], ["LINX"], ["LINX"]]
    assert not found.is_related


def test_links_of_ases_that_were_not_measured_are_left_out(snapshot):
    assert rows_of(as_link_table(snapshot, np.array([0])))[0][:2] == (1, 2)
    assert as_link_table(snapshot, np.array([0])).num_rows == 1
    assert as_link_table(snapshot, np.arange(0)).num_rows == 0


def test_exits_are_one_row_with_the_counts_of_each_next_as(snapshot):
    table = exit_table(snapshot, np.arange(3))
    assert table.column_names[-len(PLACE_COLUMNS) :] == [*PLACE_COLUMNS]
    assert rows_of(table.drop_columns([*PLACE_COLUMNS])) == [
        (1, 0, A, [2], 2, [2], None),
        (1, 1, B, [2], 1, [1], None),
        (2, 0, X, [3], 1, [1], None),
        (2, 1, Y, [1, 3], 2, [1, 1], None),
        (3, 0, P, [2], 1, [1], None),
    ]
    assert [row[0] for row in rows_of(exit_table(snapshot, np.array([0, 2])))] == [1, 1, 3]
    assert exit_table(snapshot, np.arange(0)).num_rows == 0


def test_ingresses_have_the_counts_of_each_neighbour_and_the_files_hold_all(snapshot, tmp_path):
    said = {"options": {}, "warnings": [], "started": 0.0, "pages": False}
    files = write_reports(snapshot, search(snapshot), tmp_path, **said).files
    found = pq.read_table(files["ingresses"]).select(
        ["addr", "neighbor_asns", "n_direct", "neighbor_n_direct"]
    )
    assert rows_of(found) == [
        (A, [2], 1, [1]),
        (X, [1], 3, [3]),
        (Y, [3], 1, [1]),
        (P, [2], 1, [1]),
        (Q, [2], 1, [1]),
    ]
    assert pq.read_table(files["exits"]).num_rows == 5
    assert pq.read_table(files["as_links"]).num_rows == 2


def test_counts_that_older_snapshots_lack_are_null(snapshot, monkeypatch):
    table = snapshot.ingresses()
    older = replace(table, neighbor_n_direct=np.full(len(table.neighbor_asn), -1))
    monkeypatch.setattr(snapshot, "ingresses", lambda rows=None: older)
    found = summarise(snapshot, search(snapshot)).ingresses["neighbor_n_direct"]
    assert found.to_pylist() == [None] * 5
