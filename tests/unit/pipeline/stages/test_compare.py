"""Two snapshots of a store to files beside the report of the newer one."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from pipeline.config import CompareConfig
from pipeline.errors import StoreError, UsageError
from pipeline.report.folder import earlier_report
from pipeline.stages.compare import compare
from tests.unit.pipeline.compare.by_hand import ONE, write_night


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("nights") / "store"
    for name, router in (("old", 3), ("new", 5)):
        hops = " ".join(f"20.1.0.{i}" for i in (1, 2, router, 4))
        write_night(store, name, {ONE: [f"{hops} > 20.3.0.9"]})
    return store


def test_changes_are_written_beside_the_report_of_the_newer_night(store, tmp_path):
    summary = compare(CompareConfig("old", "new", store, tmp_path))
    assert {name: n for name, n in summary.counts.items() if name.startswith("link")} == {
        "link not observable": 1,
        "link not observable before": 1,
        "link removed": 1,
        "link added": 1,
    }
    rows = pq.read_table(summary.folder / "changes.parquet").to_pylist()
    assert summary.folder == tmp_path / "new"
    removed = next(row for row in rows if row["kind"] == "removed")
    assert {name: value for name, value in removed.items() if value not in (None, 0)} == {
        "what": "link",
        "kind": "removed",
        "asn": 1,
        "addr": "20.1.0.2",
        "other_asn": 1,
        "other_addr": "20.1.0.3",
        "n_traces": 1,
        "n_pairs": 1,
        "n_vantages": 1,
        "n_turned": 1,
        "reason": "a pair that crossed it crosses its near router, and goes elsewhere",
    }
    assert earlier_report(summary.folder) is None  # a report may be written there later


def test_what_is_no_report_stays(store, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").touch()
    with pytest.raises(UsageError, match=r"holds mine\.txt"):
        compare(CompareConfig("old", "new", store, tmp_path))
    with pytest.raises(UsageError, match="lies in the store"):
        compare(CompareConfig("old", "new", store, store / "out"))


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("old", "old", UsageError, "both are old; give two snapshots"),
        ("older", "new", StoreError, "no snapshot 'older'"),
    ],
)
def test_what_cannot_be_compared_is_refused(store, tmp_path, old, new, error, said):
    with pytest.raises(error, match=said):
        compare(CompareConfig(old, new, store, tmp_path))
