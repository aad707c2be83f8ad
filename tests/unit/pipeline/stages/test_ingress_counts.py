"""Ingresses, and candidates apart: every command counts those of one input alike."""

from __future__ import annotations

import json
import re

import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.report.folder import earlier_report
from pipeline.stages.analyze import analyze
from pipeline.store import open_snapshot
from tests.unit.pipeline.stages.test_mapped_share import atlas

X, Y, Z = "20.2.0.10", "20.2.0.20", "20.2.0.30"
PATHS = [
    ["20.1.0.10", X, Y, "20.3.0.10"],
    ["20.1.0.10", X, Z],
    ["20.1.0.20", "*", Y, X],  # AS 2 is entered at Y only after a gap
    ["20.1.0.20", "*", Z],
    ["20.3.0.10", "*", "20.1.0.20"],
]
COUNTS = {1: (0, 1), 2: (1, 2), 3: (1, 0)}  # ingresses and candidates of each AS


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    table = folder / "prefixes"
    table.write_text("".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in (1, 2, 3)))
    return folder, [atlas(folder / "traces.jsonl", *PATHS), "--ip2as", table]


@pytest.fixture
def printed(given, capsys, monkeypatch):
    """What a command prints on stdout."""
    monkeypatch.setenv("COLUMNS", "120")
    where = ["--store", given[0] / "store"]

    def run(*words: object) -> str:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in (*words, *where)])
        shown = capsys.readouterr()
        assert ended.value.code == 0, shown.err
        return shown.out

    return run


def test_all_commands_count_the_same_ingresses_and_candidates(given, printed, tmp_path):
    folder, words = given
    words = ["ingest", *words, "--borders", "prefix", "--snapshot", "night"]
    n, n_candidates = map(sum, zip(*COUNTS.values(), strict=True))
    both = {"n_ingresses": n, "n_candidates": n_candidates}
    said = f"{n} ingresses and {n_candidates} candidates"
    assert said in printed(*words)
    facts = json.loads(printed(*words, "--json"))
    assert both.items() <= facts.items()
    assert both.items() <= open_snapshot(folder / "store").manifest.items()
    assert re.search(rf"│ +{n}│ +{n_candidates}│", printed("list"))
    (facts,) = json.loads(printed("list", "--json"))["snapshots"]
    assert both.items() <= facts.items()
    assert said in printed("show", "night")
    facts = json.loads(printed("show", "night", "--json"))
    assert both.items() <= facts.items()
    found = {row["asn"]: (row["n_ingresses"], row["n_candidates"]) for row in facts["ases"]}
    assert found == COUNTS
    said = {1: "0 ingresses and 1 candidate", 2: "1 ingress and 2 candidates", 3: "1 ingress"}
    for asn, text in said.items():
        assert re.search(rf", {text}$", printed("show", "night", asn), re.MULTILINE)
        one = json.loads(printed("show", "night", asn, "--json"))["as"]
        assert (one["n_ingresses"], one["n_candidates"]) == COUNTS[asn]
    analyzed = analyze(AnalyzeConfig(store=folder / "store", out=tmp_path, pages=False))
    assert both.items() <= earlier_report(analyzed.out)["totals"].items()
