"""Nights in a row on one store: what is known is not measured again, and no file shows it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.config import AnalyzeConfig
from pipeline.graphs import build_graphs
from pipeline.metrics import METRICS
from pipeline.stages.analyze import analyze
from pipeline.store import snapshot_names, write_snapshot
from tests.integration.measured import path_links, random_links, same, topology

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

MONDAY = {
    10: (6, path_links(6), [0, 2]),
    20: (300, random_links(300, 1), range(0, 90, 10)),
    30: (40, random_links(40, 2), [0, 5]),
    40: (40, random_links(40, 2), [7]),  # the graph of AS30
    50: (12, [(0, 1), (1, 2), (4, 5), (5, 6), (8, 9)], [1, 9]),
    60: (9, [(i, (i + 1) % 9) for i in range(9)], []),
}
# AS10 loses a link, AS40 an ingress and gains another, AS71 is new with the graph of AS20.
TUESDAY = MONDAY | {
    10: (6, path_links(5), [0, 2]),
    40: (40, random_links(40, 2), [5, 9]),
    71: (300, random_links(300, 1), [0, 1]),
}
OF_RUNS = ["device", "n_tasks", "n_retries", "wall_s", "n_reused", "reused_from"]
EVERY = tuple(METRICS)


def ingest(store, name, nights, seed=0):
    ases = []
    for asn, (n, links, ingresses) in nights.items():
        made = topology(asn, n, links, ingresses)
        weight = [1.5 + (i * 7 + asn + seed) % 5 for i in range(len(made.near))]
        ases.append(replace(made, weight=np.array(weight, np.float32), weight_unit="ms"))
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, name, build_graphs(ases), **given)


def files(report, without=()):
    """All that a report measured: tables, pages, totals."""
    found = {}
    for path in sorted(report.rglob("*.parquet")):
        if path.name != "tasks.parquet":
            table = pq.read_table(path)
            drop = [name for name in (*OF_RUNS, *without) if name in table.column_names]
            found[str(path.relative_to(report))] = table.drop_columns(drop).to_pydict()
    for path in sorted(report.rglob("as/*.html")):
        lines = path.read_text().splitlines()
        found[path.name] = [line for line in lines if "UTC" not in line]
    found["totals"] = json.loads((report / "report.json").read_text())["totals"]
    return found


def ases(report, *names):
    table = pq.read_table(report / "ases.parquet").select(names)
    return list(zip(*table.to_pydict().values(), strict=True))


@pytest.fixture
def config(scheduler_address, tmp_path):
    given = {"scheduler": scheduler_address, "metrics": EVERY, "snapshot": "monday"}
    return AnalyzeConfig(store=tmp_path / "store", out=tmp_path / "out", **given)


def test_a_night_measures_what_changed_and_agrees_with_a_full_one(config, tmp_path):
    ingest(config.store, "monday", MONDAY)
    analyze(config)
    ingest(config.store, "tuesday", TUESDAY)
    tuesday = replace(config, snapshot="tuesday")
    summary = analyze(tuesday)
    marks = ases(summary.out, "asn", "n_ingresses", "n_reused", "reused_from")
    assert marks == [
        (10, 2, 0, None),
        (20, 9, 9, "monday"),
        (30, 2, 2, "monday"),
        (40, 2, 1, "monday"),  # from node 5 of AS30
        (50, 2, 2, "monday"),
        (60, 0, 0, "monday"),  # its widths
        (71, 2, 1, "monday"),  # from node 0 of AS20
    ]
    assert summary.reused == {"n_searches": 15, "n_ases": 6, "n_ases_from": {"monday": 6}}
    tasks = pq.read_table(summary.out / "tasks.parquet").to_pydict()
    searched = {}
    for kind, asns in zip(tasks["kind"], tasks["asns"], strict=True):
        searched.setdefault(kind, set()).update(asns)
    assert searched["widths"] == searched["effective"] == {10}
    assert searched["weighted"] == {10, 71}  # its graph has other weights
    full = analyze(replace(tuesday, full=True, out=tmp_path / "full"))
    assert {mark[2:] for mark in ases(full.out, "asn", "n_ingresses", *OF_RUNS[-2:])} == {(0, None)}
    same(files(summary.out), files(full.out))
    # Again: nothing is left to measure, and no cluster to start.
    again = analyze(replace(tuesday, scheduler="tcp://127.0.0.1:1", out=tmp_path / "again"))
    same(files(again.out), files(full.out))
    assert pq.read_table(again.out / "tasks.parquet").num_rows == 0


def test_a_later_run_with_more_metrics_computes_only_those(config, tmp_path):
    ingest(config.store, "monday", MONDAY)
    analyze(replace(config, metrics=("hops",)))
    summary = analyze(replace(config, metrics=("hops", "effective_diameter"), out=tmp_path / "b"))
    assert set(pq.read_table(summary.out / "tasks.parquet")["kind"].to_pylist()) == {"effective"}
    assert set(ases(summary.out, "n_tasks")) == {(1,)}


def test_only_the_last_nights_are_kept(config):
    days = [f"2026-11-{day}" for day in (19, 20, 21)]
    for day in days:
        ingest(config.store, day, {10: MONDAY[10]})
        last = replace(config, snapshot=day, metrics=("hops",), keep_nights=2)
        summary = analyze(last)
    assert summary.removed.snapshots == summary.removed.reports == (days[0],)
    assert snapshot_names(config.store) == days[1:]
    assert sorted(path.name for path in config.out.glob("2*")) == days[1:]
    page = (config.out / "index.html").read_text()
    assert [f'href="{day}/index.html"' in page for day in days] == [False, True, True]
    assert summary.reused["n_ases_from"] == {days[0]: 1}  # its results stay as long as its graphs
    assert summary.gone == (days[0],)


@pytest.mark.parametrize("option", ["verify", "distances"])
def test_what_needs_every_level_searches_again(config, tmp_path, option):
    ingest(config.store, "monday", MONDAY)
    hops = replace(config, metrics=("hops",), pages=False)
    before = analyze(hops)
    summary = analyze(replace(hops, out=tmp_path / "b", **{option: True}))
    assert summary.reused["n_searches"] == 0
    ingresses = "ingresses.parquet"
    assert pq.read_table(summary.out / ingresses).equals(pq.read_table(before.out / ingresses))


def test_a_changed_kernel_makes_what_is_known_unknown(config, tmp_path, monkeypatch):
    ingest(config.store, "monday", MONDAY)
    hops = replace(config, metrics=("hops",), pages=False)
    analyze(hops)
    monkeypatch.setattr("pipeline.collect.known._sources", lambda: "another state")
    summary = analyze(replace(hops, out=tmp_path / "b"))
    assert summary.reused["n_ases"] == 0
    monkeypatch.undo()
    assert analyze(replace(hops, out=tmp_path / "c")).reused["n_searches"] == 16


def test_a_store_that_cannot_be_written_costs_a_warning(config, monkeypatch):
    ingest(config.store, "monday", MONDAY)
    (config.store / "results").write_text("in the way")
    summary = analyze(replace(config, metrics=("hops",), pages=False))
    assert summary.complete
    (line,) = summary.warnings[-1:]
    assert line.startswith("results are not kept for later runs: ")
