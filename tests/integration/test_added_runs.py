"""Runs that add to a report: fewer ASes, other metrics, on the same version or another one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.graphs import build_graphs
from pipeline.metrics import METRICS
from pipeline.model.columns import take
from pipeline.report import write_reports
from pipeline.report.earlier import restore
from pipeline.report.folder import earlier_report
from pipeline.stages.analyze import analyze, report_stage
from pipeline.store import open_snapshot, write_snapshot
from tests.integration.measured import path_links, random_links, same, topology

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

# A path, a random graph, two that share a graph, and one of equally large components.
LINKS = {
    10: (6, path_links(6), [0, 2]),
    20: (300, random_links(300, 1), range(0, 90, 10)),
    30: (40, random_links(40, 2), [0, 5]),
    40: (40, random_links(40, 2), [7]),
    50: (12, [(0, 1), (1, 2), (4, 5), (5, 6), (8, 9)], [1, 9]),
    60: (9, [(i, (i + 1) % 9) for i in range(9)], []),
}
OF_RUNS = ["device", "n_tasks", "n_retries", "wall_s"]  # describe runs, not ASes
OF_SEARCHES = [f"{prefix}n_width_searches" for prefix in ("", "weighted_")]
EVERY = tuple(METRICS)


def ingest(store, name="night"):
    ases = []
    for asn, (n, links, ingresses) in LINKS.items():
        made = topology(asn, n, links, ingresses)
        weight = [1.5 + (i * 7 + asn) % 5 for i in range(len(made.near))]
        ases.append(replace(made, weight=np.array(weight, np.float32), weight_unit="ms"))
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    return write_snapshot(store, name, build_graphs(ases), **given)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("store")
    ingest(store)
    return store


@pytest.fixture(scope="module")
def full(scheduler_address, store, tmp_path_factory):
    """A report of all ASes with all that can be measured."""
    out = tmp_path_factory.mktemp("full")
    given = {"metrics": EVERY, "scheduler": scheduler_address, "distances": True}
    config = AnalyzeConfig(store=store, out=out, full=True, **given)
    return config, analyze(config).out


def figures(report, without=()):
    """Every table of a report without the columns about runs; pages without their time.

    Without the numbers of searches pages are compared without them, and no digests of pages.
    """
    found = {}
    left_out = ("UTC", ">searches<") if without else ("UTC",)
    without = (*without, "digest") if without else without
    for path in sorted(report.rglob("*.parquet")):
        if path.name != "tasks.parquet":
            table = pq.read_table(path)
            reported = [name for name in (*OF_RUNS, *without) if name in table.column_names]
            found[str(path.relative_to(report))] = table.drop_columns(reported).to_pydict()
    for path in sorted(report.rglob("as/*.html")):
        lines = path.read_text().splitlines()
        found[str(path.relative_to(report))] = [
            line for line in lines if not any(text in line for text in left_out)
        ]
    found["ases.js"] = (report / "ases.js").read_text()
    totals = json.loads((report / "report.json").read_text())["totals"]
    for name in ("widths", "weighted_widths"):
        totals[name].pop("n_searches")
    totals.pop("n_width_searches")
    found["totals"] = totals
    return found


def copy_of(full, tmp_path):
    config, report = full
    shutil.copytree(report, tmp_path / "out" / "night")
    return replace(config, out=tmp_path / "out", metrics=("hops",), distances=False)


ADDED = {
    "one AS": {"asns": (20,)},
    "one of two that share a graph": {"asns": (30,)},
    "fewer metrics": {},
    "other metrics of one AS": {"asns": (50, 10), "metrics": ("diameter", "weighted_center")},
    "bounds instead of values": {"metrics": ("eccentricities",), "max_searches": 1},
    "nothing but tables": {"asns": (10,), "pages": False},
}


@pytest.mark.parametrize("given", ADDED.values(), ids=ADDED)
def test_run_of_less_takes_nothing_from_the_report(full, tmp_path, given):
    config = copy_of(full, tmp_path)
    before = figures(full[1], OF_SEARCHES)
    summary = analyze(replace(config, **given))
    same(figures(summary.out, OF_SEARCHES), before)
    assert (summary.out / "index.html").exists()
    report = json.loads((summary.out / "report.json").read_text())
    assert report["metrics"] == list(EVERY)
    assert [(run["metrics"], run["asns"]) for run in report["runs"]] == [
        (list(EVERY), []),
        (list(given.get("metrics", ("hops",))), sorted(given.get("asns", ()))),
    ]


def test_report_that_grows_run_by_run_is_that_of_one_run(full, tmp_path):
    config = replace(full[0], out=tmp_path)
    parts = [
        {"asns": (50,), "metrics": ("hops", "weighted_eccentricities"), "distances": True},
        {"asns": (10, 20), "metrics": ("eccentricities", "center", "hops"), "distances": True},
        {"metrics": ("diameter", "radius", "hops"), "distances": True},
        {"asns": (20, 30, 40, 50, 60), "metrics": EVERY, "distances": False},
        {"metrics": (*EVERY[7:], "effective_diameter")},
    ]
    for part in parts:
        analyze(replace(config, **part))
    assert (
        len(json.loads((tmp_path / "night" / "report.json").read_text())["runs"]) == 4
    )  # the first is done again by the fourth
    rest = replace(config, asns=(10,), metrics=EVERY, distances=False)
    found = analyze(rest)
    same(figures(found.out, OF_SEARCHES), figures(full[1], OF_SEARCHES))
    tasks = pq.read_table(found.out / "tasks.parquet").to_pydict()
    assert {asn for asns in tasks["asns"] for asn in asns} >= {10, 20, 30, 50, 60}
    analyze(replace(rest, asns=(), distances=True))  # all of it again: nothing to keep
    report = json.loads((found.out / "report.json").read_text())
    assert [run["metrics"] for run in report["runs"]] == [list(EVERY)]


def test_exact_widths_stay_exact_wherever_a_run_with_a_limit_says_it(store, tmp_path, capsys):
    given = AnalyzeConfig(store=store, out=tmp_path, metrics=("diameter",), full=True)
    analyze(given)
    words = ["analyze", "--store", store, "--out", tmp_path, "--metrics", "diameter", "--full"]
    words += ["--max-searches", 0]
    for more in ([], ["--asn", "20"]):
        printed = []
        for form in ([], ["--json"]):
            with pytest.raises(SystemExit, match=r"^0$"):
                main([*map(str, words), *more, *form])
            printed.append(capsys.readouterr())
        assert "not exact" not in printed[0].out + printed[0].err
        found = json.loads(printed[1].out)["widths"]
        assert (found["n_exact"], found["n_not_exact"]) == (len(LINKS), 0)
    report = tmp_path / "night"
    ases = pq.read_table(report / "ases.parquet").to_pydict()
    assert ases["exact"] == [True] * len(LINKS)
    assert ases["diameter"] == ases["diameter_lower"] == ases["diameter_upper"]
    assert f"exact in {len(LINKS)} ASes" in (report / "index.html").read_text()
    assert "--max-searches" not in (report / "as" / "20.html").read_text()
    runs = json.loads((report / "report.json").read_text())["runs"]
    assert [run["max_searches"] for run in runs][:2] == [None, 0]
    analyze(given)
    runs = json.loads((report / "report.json").read_text())["runs"]
    assert [run["max_searches"] for run in runs] == [None]


def test_an_as_that_failed_is_completed_by_a_run_of_it_alone(full, tmp_path):
    config = copy_of(full, tmp_path)
    snapshot = open_snapshot(config.store)
    final = config.out / "night"
    known = restore(snapshot, earlier_report(final), final)
    failed = {snapshot.row_of(20): "worker died", snapshot.row_of(50): "worker died"}
    keep = [i for i, row in enumerate(known.results.row) if row not in failed]
    less = replace(known, failed=failed, results=take(known.results, keep))
    written = {"options": {}, "warnings": [], "started": 0.0}
    write_reports(snapshot, less, config.out, **written)
    before = pq.read_table(final / "ases.parquet").to_pydict()
    assert before["status"] == ["ok", "partial", "ok", "ok", "partial", "ok"]
    summary = analyze(replace(config, asns=(20,)))
    assert summary.complete
    after = pq.read_table(summary.out / "ases.parquet").to_pydict()
    assert after["status"] == ["ok", "ok", "ok", "ok", "partial", "ok"]
    assert after["reason"][4] == "worker died"
    warnings = json.loads((summary.out / "report.json").read_text())["warnings"]
    assert [line for line in warnings if "worker died" in line] == ["AS50: worker died"]


def test_what_only_the_last_run_lost_is_reported_though_earlier_figures_remain(full, tmp_path):
    config = copy_of(full, tmp_path)
    snapshot = open_snapshot(config.store)
    final = config.out / "night"
    known = restore(snapshot, earlier_report(final), final)
    row = snapshot.row_of(20)
    kept = np.flatnonzero(known.results.row != row)
    lost = replace(known, failed={row: "cluster lost"}, results=take(known.results, kept))
    summary = report_stage(replace(config, metrics=EVERY), lost, 0.0)
    assert set(pq.read_table(final / "ases.parquet")["status"].to_pylist()) == {"ok"}
    line = "AS20: cluster lost; the figures are from an earlier run"
    assert line in json.loads((final / "report.json").read_text())["warnings"]
    assert summary.warnings[0] == "AS20: cluster lost"


def test_what_a_full_run_of_another_version_lost_is_what_the_store_knows_of_its_graphs(
    full, tmp_path
):
    config = copy_of(full, tmp_path)
    config = replace(config, store=tmp_path / "store", metrics=EVERY)
    shutil.copytree(full[0].store, config.store)
    final = config.out / "night"
    with open_snapshot(config.store) as snapshot:
        known = restore(snapshot, earlier_report(final), final)
        row = snapshot.row_of(20)
    before = pq.read_table(final / "ases.parquet")
    ingest(config.store)
    kept = np.flatnonzero(known.results.row != row)
    with open_snapshot(config.store) as snapshot:
        assert snapshot.version != known.version
        lost = replace(
            known,
            version=snapshot.version,
            failed={row: "cluster lost"},
            results=take(known.results, kept),
        )
    summary = report_stage(config, lost, 0.0)
    assert summary.failed == {20: "cluster lost"}
    after = pq.read_table(final / "ases.parquet")
    assert set(after["status"].to_pylist()) == {"ok"}
    assert after["mean_hops"].equals(before["mean_hops"])
    line = "AS20: cluster lost; the figures are from an earlier run"
    assert line in json.loads((final / "report.json").read_text())["warnings"]

    summary = report_stage(replace(config, full=False, out=tmp_path / "other"), lost, 0.0)
    assert pq.read_table(summary.out / "ases.parquet")["status"].to_pylist()[1] == "partial"

    shutil.rmtree(config.store / "results")
    summary = report_stage(replace(config, out=tmp_path / "third"), lost, 0.0)
    assert pq.read_table(summary.out / "ases.parquet")["status"].to_pylist()[1] == "partial"


def test_figures_of_before_are_named_where_the_last_run_found_none(full, tmp_path):
    config = copy_of(full, tmp_path)
    snapshot = open_snapshot(config.store)
    final = config.out / "night"
    known = restore(snapshot, earlier_report(final), final)
    row = snapshot.row_of(20)
    some = np.delete(np.arange(len(known.results.row)), np.flatnonzero(known.results.row == row)[0])
    less = replace(known, failed={row: "worker died"}, results=take(known.results, some))
    write_reports(snapshot, less, config.out, options={}, warnings=[], started=0.0)
    none = np.flatnonzero(known.results.row != row)
    lost = replace(
        known,
        failed={row: "cluster lost"},
        results=take(known.results, none),
        metrics=("hops",),
        widths=None,
        weighted_widths=None,
        figures={},
    )
    report_stage(replace(config, metrics=("hops",)), lost, 0.0)
    assert pq.read_table(final / "ases.parquet")["status"].to_pylist()[1] == "partial"
    warnings = json.loads((final / "report.json").read_text())["warnings"]
    assert (
        "the last run made no new measurements of AS20: figures are from earlier runs" in warnings
    )


def test_run_of_less_on_another_version_is_refused_before_any_work(full, tmp_path, capsys):
    store = tmp_path / "store"
    ingest(store)
    config = replace(copy_of(full, tmp_path), store=store)
    before = {path: path.read_bytes() for path in config.out.rglob("*") if path.is_file()}
    words = ["--store", str(store), "--out", str(config.out), "--snapshot", "night"]
    nowhere = ["--scheduler", "tcp://127.0.0.1:1"]  # work would end there, with another message
    some = ["--metrics", ",".join(EVERY), "--asn", "10,20,30,40,50"]
    for command, says in (
        (["analyze", *words, *nowhere], "without diameter, radius"),
        (["analyze", *words, *nowhere, *some], "without 1 of its ASes (AS60)"),
        (
            ["analyze", *words, *nowhere, *some[:2], "--asn", "10,20,30"],
            "without 3 of its ASes (AS40 and others)",
        ),
        (
            ["analyze", *words, *nowhere, "--metrics", "hops", "--asn", "10"],
            "and without 5 of its ASes (AS20 and others); give --metrics ",
        ),
        (["run", "topology.brite", *words, *nowhere, "--metrics", "diameter"], "without hops"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert says in line
        assert str(config.out / "night") in line
    assert {path: path.read_bytes() for path in before} == before
    found = analyze(replace(config, metrics=EVERY))  # all of it: replaced whole
    same(
        {k: v for k, v in figures(found.out).items() if k.startswith("ingresses")},
        {k: v for k, v in figures(full[1]).items() if k.startswith("ingresses")},
    )
    assert not (found.out / "distances").exists()  # those were of the other version
