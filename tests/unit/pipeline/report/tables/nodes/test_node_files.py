"""nodes/<asn>.parquet: every router's eccentricity, and whether it is in center or periphery."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.model.graphs import NO_ID
from pipeline.report import write_reports
from pipeline.report.tables.node_names import node_texts, rows_texts
from pipeline.report.tables.nodes import node_files
from pipeline.store import NodeTable
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import cut_short, widths_of

# AS 10: a path 0-1-2-3 with a branch 1-4. AS 20: 0-1 and 2-3-4 apart, 5 alone. AS 30: none.
TREE, SPLIT, NONE = 10, 20, 30


@pytest.fixture
def snapshot():
    return MemorySnapshot(
        {TREE: [(0, 1), (1, 2), (2, 3), (1, 4)], SPLIT: [(0, 1), (2, 3), (3, 4)], NONE: []},
        {TREE: 5, SPLIT: 6, NONE: 0},
        [],
        addrs={
            TREE: [f"10.0.0.{i}" for i in range(1, 6)],
            SPLIT: [f"2001:db8::{i}" for i in range(1, 7)],
            NONE: [],
        },
    )


def nodes_of(snapshot, out, **given):
    """Rows of each file of a report, by asn."""
    measurement = replace(measured(snapshot), **given)
    folder = write_reports(
        snapshot, measurement, out, options={}, warnings=[], started=time.time(), pages=False
    ).path
    files = sorted((folder / "nodes").glob("*.parquet"), key=lambda path: int(path.stem))
    return {int(path.stem): pq.read_table(path) for path in files}


def test_every_router_has_a_row_with_its_address(snapshot, tmp_path):
    files = nodes_of(snapshot, tmp_path, widths=widths_of(snapshot))
    assert list(files) == [TREE, SPLIT]
    assert files[TREE].to_pydict() == {
        "node": [0, 1, 2, 3, 4],
        "addr": [f"10.0.0.{i}" for i in range(1, 6)],
        "eccentricity": [3, 2, 2, 3, 3],
        "in_center": [False, True, True, False, False],
        "in_periphery": [True, False, False, True, True],
    }
    split = files[SPLIT].to_pydict()
    assert split["addr"] == [f"2001:db8::{i}" for i in range(1, 7)]
    assert split["eccentricity"] == [1, 1, 2, 1, 2, 0]  # each within its own component
    assert split["in_center"] == [False, False, False, True, False, False]  # of the largest
    assert split["in_periphery"] == [False, False, True, False, True, False]


def test_types_are_those_of_the_docs(snapshot, tmp_path):
    weighted = widths_of(snapshot, weight=lambda a, b: 0.5)
    files = nodes_of(snapshot, tmp_path, widths=widths_of(snapshot), weighted_widths=weighted)
    assert files[SPLIT].schema.equals(
        pa.schema(
            {
                "node": pa.int32(),
                "addr": pa.string(),
                "eccentricity": pa.int32(),
                "in_center": pa.bool_(),
                "in_periphery": pa.bool_(),
                "weighted_eccentricity": pa.float64(),
                "weighted_in_center": pa.bool_(),
                "weighted_in_periphery": pa.bool_(),
            }
        )
    )
    assert files[SPLIT]["weighted_eccentricity"].to_pylist() == [0.5, 0.5, 1.0, 0.5, 1.0, 0.0]


def test_what_is_not_known_is_null_and_an_as_of_which_nothing_is_known_has_no_file(
    snapshot, tmp_path
):
    cut = cut_short(widths_of(snapshot), 0, (2, 4), (1, 2), 3)
    assert list(nodes_of(snapshot, tmp_path / "cut", widths=cut)) == [SPLIT]
    both = {"widths": cut, "weighted_widths": widths_of(snapshot, weight=lambda a, b: 2.0)}
    files = nodes_of(snapshot, tmp_path / "both", **both)
    assert list(files) == [TREE, SPLIT]
    assert files[TREE]["eccentricity"].null_count == files[TREE]["in_center"].null_count == 5
    assert files[TREE]["weighted_eccentricity"].to_pylist() == [6.0, 4.0, 4.0, 6.0, 6.0]
    assert files[SPLIT]["eccentricity"].null_count == 0


def test_a_center_alone_has_files_too(snapshot, tmp_path):
    widths = widths_of(snapshot, metrics=("radius", "center"))
    tree = nodes_of(snapshot, tmp_path, widths=widths)[TREE]
    assert tree["in_center"].to_pylist() == [False, True, True, False, False]
    assert tree["eccentricity"].null_count == tree["in_periphery"].null_count == 5


@pytest.mark.parametrize("metrics", [("diameter",), ("diameter", "radius")])
def test_a_diameter_alone_has_no_files(snapshot, tmp_path, metrics):
    report = write_reports(
        snapshot,
        replace(measured(snapshot), widths=widths_of(snapshot, metrics=metrics)),
        tmp_path,
        options={},
        warnings=[],
        started=time.time(),
    )
    assert not (report.path / "nodes").exists()


@pytest.mark.parametrize("at_once", [1, 2, 5, 7, 100])
def test_files_are_the_same_however_many_routers_are_made_at_once(tmp_path, monkeypatch, at_once):
    """Batches of several ASes, ASes on their own, and ASes in pieces."""
    sizes = {asn: 1 + asn * 7 % 11 for asn in range(1, 20)}
    links = {asn: [(v, v + 1) for v in range(n - 1)] for asn, n in sizes.items()}
    snapshot = MemorySnapshot(links, sizes, [])
    monkeypatch.setattr(node_files, "MAX_AT_ONCE", at_once)
    files = nodes_of(snapshot, tmp_path, widths=widths_of(snapshot))
    assert list(files) == list(sizes)
    for asn, n in sizes.items():
        found = files[asn].to_pydict()
        assert found["node"] == list(range(n))
        assert found["addr"] == [str(1000 * asn + v) for v in range(n)]
        assert found["eccentricity"] == [max(v, n - 1 - v) for v in range(n)]
        assert found["in_center"] == [e == n // 2 for e in found["eccentricity"]]
        assert found["in_periphery"] == [e == n - 1 for e in found["eccentricity"]]


class Mixed:
    """A snapshot of which some nodes have addresses, some ids, some both and some neither."""

    def __init__(self):
        addr = np.zeros((2, 2), np.uint64)
        addr[1] = (0x20010DB8 << 32, 9)
        self.tables = [
            NodeTable(addr, np.array([5, 6])),
            NodeTable(None, np.array([7, NO_ID])),
            NodeTable(None, None),
        ]
        self.n_nodes = np.array([2, 2, 1])

    def nodes(self, row):
        return self.tables[row]

    def lookup(self, rows, nodes, columns=False):
        addr = np.concatenate([np.zeros((n, 2), np.uint64) for n in self.n_nodes])
        addr[:2] = self.tables[0].addr
        return NodeTable(addr, np.array([5, 6, 7, NO_ID, NO_ID]))


@pytest.mark.parametrize("at_once", [1, 2, 3, 9])
def test_texts_of_whole_ases_are_those_of_single_nodes(at_once):
    mixed = Mixed()
    rows = np.arange(3)
    whole = [text for part in rows_texts(mixed, rows, at_once) for text in part.to_pylist()]
    single = node_texts(mixed, np.repeat(rows, mixed.n_nodes), np.array([0, 1, 0, 1, 0]))
    assert whole == single.to_pylist() == ["5", "2001:db8::9", "7", None, None]
