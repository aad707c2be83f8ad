"""Warnings on ASes: one line per reason, however many ASes have it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.stages.ingest import ingest
from pipeline.stages.warnings import (
    failure_warnings,
    input_warnings,
    left_out_warnings,
    loss_warnings,
    metric_warnings,
)

NO_WEIGHTS = "weighted metrics need a weight of each link"


def test_a_reason_that_all_ases_have_is_one_line_that_counts_them():
    failed = dict.fromkeys(range(64500, 64500 + 47_000), NO_WEIGHTS)
    assert failure_warnings(failed) == [f"47,000 ASes (AS64500 and others): {NO_WEIGHTS}"]


def test_an_as_alone_with_its_reason_is_named():
    failed = {30: NO_WEIGHTS, 20: "killed: out of memory", 10: NO_WEIGHTS}
    assert failure_warnings(failed) == [
        f"2 ASes (AS10 and others): {NO_WEIGHTS}",
        "AS20: killed: out of memory",
    ]
    assert failure_warnings({}) == []


def test_reasons_that_differ_in_numbers_alone_are_one_and_say_whose_numbers():
    failed = {10: "links without one: 3 of 12", 20: "links without one: 1 of 7"}
    assert failure_warnings(failed) == [
        "2 ASes (numbers shown are for AS10): links without one: 3 of 12"
    ]


def test_reasons_that_differ_in_the_task_alone_are_one():
    failed = {
        10: "bfs_AS10: the scheduler is gone",
        20: "bfs_AS20: the scheduler is gone",
        30: "shard_AS30_AS40: the scheduler is gone",
    }
    assert failure_warnings(failed) == ["3 ASes (AS10 and others): the scheduler is gone"]
    assert failure_warnings({10: failed[10]}) == [f"AS10: {failed[10]}"]


def analyze_config(*metrics: str, **given) -> AnalyzeConfig:
    return AnalyzeConfig(store=Path("s"), out=Path("o"), metrics=metrics, **given)


def test_options_of_metrics_that_were_not_requested_are_named():
    given = {"max_searches": 0, "distances": True}
    assert metric_warnings(analyze_config("effective_diameter", **given)) == [
        "options without effect: --distances (only for hops, and --metrics does not name them); "
        "--max-searches (only for widths, and --metrics names none)"
    ]
    (line,) = metric_warnings(analyze_config("hops", **given))
    assert line == (
        "options without effect: --max-searches (only for widths, and --metrics names none)"
    )
    for metric in ("center", "weighted_diameter"):
        assert metric_warnings(analyze_config("hops", metric, **given)) == []
    assert metric_warnings(analyze_config("effective_diameter")) == []


def test_lost_workers_are_named_with_time_and_tasks():
    lost = [{"worker": f"tls://127.0.0.1:{i}", "at": 1e9 + i, "n_tasks": i} for i in range(1, 8)]
    assert loss_warnings([]) == []
    assert loss_warnings(lost[:1]) == [
        "1 worker lost, its tasks were retried: "
        "tls://127.0.0.1:1 at 2001-09-09 01:46:41 UTC with 1 task"
    ]
    (line,) = loss_warnings(lost)
    assert line.startswith("7 workers lost, their tasks were retried: tls://127.0.0.1:1 at")
    assert line.endswith("127.0.0.1:5 at 2001-09-09 01:46:45 UTC with 5 tasks; 2 more")


def test_traces_of_one_name_in_several_formats_are_warned_of():
    traces, topology = {"holds": "traces", "n_records": 1}, {"holds": "topology", "n_records": 1}
    rows = [traces | {"path": f"in/{name}"} for name in ("T.warts.gz", "t.json", "a/t.json", "u")]
    rows += [topology | {"path": f"in/{name}"} for name in ("t.brite", "x.json", "x.adj")]
    rows += [traces | {"path": "in/t.jsonl", "n_records": 0}]
    assert input_warnings(rows) == [
        "in/T.warts.gz and in/t.json have one name, in several formats: if they hold the same, it "
        "counts 2 times; leave all but one out"
    ]


def test_traces_of_a_classic_method_are_counted_together():
    def row(path, n, *classic):
        notes = dict.fromkeys(["traces by a classic method"], *classic) if classic else {}
        return {"holds": "traces", "path": path, "n_records": n, "notes": notes}

    (line,) = input_warnings([row("a", 1000, 900), row("b", 700), row("c", 800, 300)])
    assert line.startswith("1,200 of 2,500 traces by a classic method, or the text of traceroute, ")
    assert input_warnings([row("a", 1000), row("b", 700)]) == []
    damaged = [row("a", None, 3), row("b", 2, "many"), {"holds": "traces", "notes": 3}]
    assert input_warnings(damaged) == []


def test_traces_without_a_source_are_counted_with_the_option_that_gives_one():
    row = {"holds": "traces", "path": "a", "n_records": 5}
    found = input_warnings([row | {"notes": {"traces without a source": 3}}])
    assert [line.partition(": ")[2] for line in found] == [
        "give --vantage ADDRESS, or --vantage PATTERN=ADDRESS by file name"
    ]
    (line,) = input_warnings([row | {"notes": {"traces without a destination": 1}}])
    assert line.startswith("1 of 5 traces do not say the address of their destination")


def test_many_pairs_of_one_name_are_one_line():
    def paths(*endings: str) -> list[dict]:
        row = {"holds": "traces", "n_records": 1}
        return [row | {"path": f"in/{k}{ending}"} for k in range(12) for ending in endings]

    assert input_warnings(paths(".json", ".warts") + paths("p.json", "p.json.gz")) == [
        "in/0.json and in/0.warts, and 11 more pairs, each have one name, in several formats: "
        "if they hold the same, it counts 2 times; leave all but one of each out",
        "in/0p.json and in/0p.json.gz, and 11 more pairs, each have one name, plain or compressed: "
        "if they hold the same, it counts 2 times; leave all but one of each out",
    ]
    (line,) = input_warnings(paths(".json", ".warts", ".jsonl.gz"))
    assert line.startswith(
        "in/0.json and in/0.warts and in/0.jsonl.gz, and 11 more groups, each have one name, in "
        "several formats: if they hold the same, it counts 3 times; "
    )


@pytest.mark.parametrize(
    ("chosen", "line"),
    [
        ("warts", "no warts files, left out: a.json"),
        ("topology", "no topology files, left out: a.json"),
        (None, "no measurement files, left out: a.json"),
    ],
)
def test_a_file_of_another_format_is_not_called_no_measurement(chosen, line):
    assert left_out_warnings([Path("in") / "a.json"], chosen) == [line]


@pytest.mark.parametrize(("method", "is_said"), [("udp", True), ("udp-paris", False)])
def test_pairs_that_only_classic_traces_show_are_counted(tmp_path, method, is_said):
    """A goes to X three times and once to Y, which comes after B three times."""
    a, b, x, y = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
    lines = [
        {
            "type": "trace",
            "method": method,
            "dst": "20.1.9.9",
            "hops": [
                {"addr": addr, "probe_ttl": ttl, "rtt": ttl, "icmp_type": 11, "icmp_code": 0}
                for ttl, addr in enumerate(pair, 1)
            ],
        }
        for pair in [(a, x)] * 3 + [(b, y)] * 3 + [(a, y)]
    ]
    path = tmp_path / "traces.json"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    config = IngestConfig(inputs=(path,), store=tmp_path / "store", asn=64500, routers="interfaces")
    summary = ingest(config)
    said = [line for line in summary.warnings if "not linked" in line]
    assert said == (
        [
            "1 pair of successive answers that only traces by a classic method show, and rarely, "
            "is not linked: they may be of two paths"
        ]
        if is_said
        else []
    )
    assert summary.n_edges == (2 if is_said else 3)
