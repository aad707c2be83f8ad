"""Figures that drift over the nights of a series are an event of the night on which it shows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.compare.drift import DRIFTED
from pipeline.compare.events import DRIFTS
from pipeline.stages.compare import compare_with_night_before
from pipeline.store import open_snapshot
from tests.unit.pipeline.stages.nights.test_references import measure

NAMES = [f"2026-11-{10 + i}" for i in range(11)]


def figures(store, out, name, hops):
    with open_snapshot(store, name) as snapshot:
        asn = snapshot.asn.tolist()
    values = [hops if each == 1 else 2.0 for each in asn]
    pq.write_table(pa.table({"asn": asn, "mean_hops": values}), out / name / "ases.parquet")


def test_a_slow_drift_of_a_figure_is_one_event_of_one_night(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    told = {}
    for i, name in enumerate(NAMES):
        measure(store, out, name, 0.0, 1000.0 * i)
        figures(store, out, name, 3.0 + 0.1 * i)
        summary = compare_with_night_before(store, out, name).summary
        found = [event for event in (summary.events if summary else ()) if event["kind"] == DRIFTS]
        if found:
            told[name] = found
    ((night, (event,)),) = told.items()
    assert night == NAMES[7]
    assert (event["asn"], event["n_changes"], event["n_traces"]) == (1, 1, 0)
    assert event["text"] == (
        "Mean hops of AS1 went from 3.3, the median of the last seven nights, to 3.7, a little "
        "each night"
    )
    rows = pq.read_table(out / night / "changes.parquet").to_pylist()
    (row,) = [each for each in rows if each["kind"] == DRIFTED]
    assert (row["what"], row["event"]) == ("mean_hops", event["event"])
    assert "a little each night" in (out / night / "changes.html").read_text()
