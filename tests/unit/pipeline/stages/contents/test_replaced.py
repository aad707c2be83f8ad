"""What an ingest replaces is said, kept, shown and brought back."""

from __future__ import annotations

import gzip
import json
import logging
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import hopscope
from pipeline.config import ListConfig, ShowConfig
from pipeline.report import write_reports
from pipeline.stages.contents.snapshots import list_snapshots, show
from pipeline.stages.ingest import IngestSummary, ingest
from pipeline.store import check_store, open_snapshot, snapshot_names
from pipeline.terminal.summaries import ingest_facts, print_ingest
from tests.unit.pipeline.report.test_from_store import search
from tests.unit.pipeline.stages.contents.test_snapshots import said
from tests.unit.pipeline.stages.small_store import make_store
from tests.unit.pipeline.stages.test_mapped_share import MAPPED, config

# 01:30 in Berlin on three nights, the second one at the change to summer time.
NIGHTS_S = [1774657800.0, 1774744200.0, 1774827000.0]


def night(folder: Path, time_s: float, n_traces: int = 2, **more) -> IngestSummary:
    """Ingest traces that end at a time."""
    given = replace(config(folder, *[MAPPED] * n_traces), **{"snapshot": None} | more)
    (path,) = given.inputs
    lines = [
        orjson.dumps(orjson.loads(line) | {"timestamp": time_s - 60 * i})
        for i, line in enumerate(path.read_bytes().splitlines())
    ]
    path.write_bytes(b"\n".join(lines))
    return ingest(given)


def test_two_nights_that_end_on_one_utc_date_are_two_snapshots(tmp_path):
    named = [night(tmp_path, time_s).snapshot for time_s in NIGHTS_S]
    assert named == ["2026-03-28", "2026-03-29", "2026-03-29T233000Z"]
    again = [night(tmp_path, time_s) for time_s in NIGHTS_S]
    assert [summary.snapshot for summary in again] == named == snapshot_names(tmp_path / "store")
    assert [summary.warnings for summary in again] == [[], [], []]
    assert all(summary.replaced["is_same"] for summary in again)


def test_the_same_traces_in_another_file_are_said_to_be_like_their_night(tmp_path):
    def packed(time_s: float, n_traces: int, **more) -> IngestSummary:
        copy = tmp_path / "traces.jsonl.gz"
        copy.write_bytes(gzip.compress((tmp_path / "traces.jsonl").read_bytes(), mtime=0))
        given = replace(config(tmp_path, *[MAPPED] * n_traces), inputs=(copy,), snapshot=None)
        return ingest(replace(given, **more))

    assert night(tmp_path, NIGHTS_S[0], 2).warnings == []
    summary = packed(NIGHTS_S[0], 2)
    (line,) = summary.warnings
    new = "2026-03-28T003000Z"
    assert line.startswith(
        f"snapshot {new} may be of the same measurements in other files as 2026-03-28: "
    )
    assert line.endswith(f"`hopscope remove {new} --store {tmp_path / 'store'}` removes it")
    assert summary.snapshot == new
    assert packed(NIGHTS_S[0], 2, snapshot="lab").warnings == []  # it was meant to be another one
    assert not any("may be" in each for each in packed(NIGHTS_S[0], 2, asn=7).warnings)


@pytest.mark.parametrize(("time_s", "n_traces"), [(NIGHTS_S[0] + 1, 2), (NIGHTS_S[0], 3)])
def test_other_traces_of_the_same_date_are_not_said_to_be_alike(tmp_path, time_s, n_traces):
    night(tmp_path, NIGHTS_S[0], 2)
    summary = night(tmp_path, time_s, n_traces)
    assert summary.warnings == []
    assert len(snapshot_names(tmp_path / "store")) == 2


def test_an_ingest_into_a_name_that_holds_other_data_says_so_first(tmp_path, caplog, capsys):
    night(tmp_path, NIGHTS_S[0], 9, snapshot="lab")
    with caplog.at_level(logging.WARNING):
        summary = night(tmp_path, NIGHTS_S[1], 2, snapshot="lab", asn=7, delegated=())
    (before,) = [line for line in caplog.messages if "will replace" in line]
    assert before.startswith("snapshot lab holds 9 traces, 2 ASes, 18 interfaces, 16 links, ")
    first, *_ = summary.warnings
    assert first.startswith("snapshot lab held other data, which is replaced: 9 traces, ")
    assert " by 2 traces, " in first
    assert f"`hopscope restore lab --store {tmp_path / 'store'}`" in first
    facts = ingest_facts(summary)["replaced"]
    assert (facts["before"]["n_traces"], facts["now"]["n_traces"]) == (9, 2)
    assert said(capsys, "restore", "lab", "--store", tmp_path / "store")[0] == 0
    assert open_snapshot(tmp_path / "store").manifest["counts"]["n_traces"] == 9


def test_other_files_of_equal_size_are_said_to_replace_what_a_name_holds(tmp_path, caplog):
    """A night later by the same prober: as many bytes, other times."""
    night(tmp_path, NIGHTS_S[0], snapshot="lab")
    with caplog.at_level(logging.WARNING):
        summary = night(tmp_path, NIGHTS_S[1], snapshot="lab")
    (before,) = [line for line in caplog.messages if "will replace" in line]
    assert ", newest record 2026-03-28 00:30:00 UTC, from traces.jsonl; 1 file of other" in before
    assert "2026-03-28 00:30:00" in summary.warnings[0].partition(" by ")[0]
    assert "2026-03-29 00:30:00" in summary.warnings[0].partition(" by ")[2]


def test_the_same_data_by_the_same_name_is_replaced_without_a_warning(tmp_path, caplog, capsys):
    night(tmp_path, NIGHTS_S[0], snapshot="lab")
    with caplog.at_level(logging.WARNING):
        summary = night(tmp_path, NIGHTS_S[0], snapshot="lab")
    assert (caplog.messages, summary.warnings) == ([], [])
    print_ingest(summary)
    assert "It replaces what was made of the same files: 2 traces, " in capsys.readouterr().out


def test_a_first_ingest_replaces_nothing(tmp_path):
    assert night(tmp_path, NIGHTS_S[0], snapshot="lab").replaced is None


@pytest.fixture
def store(tmp_path) -> Path:
    """A snapshot that has replaced another version, which has a report."""
    store = make_store(tmp_path / "store")
    with open_snapshot(store) as snapshot:
        options = {"options": {}, "warnings": [], "started": 0.0, "pages": False}
        write_reports(snapshot, search(snapshot), tmp_path / "out", **options)
    return make_store(store)


def test_a_report_of_a_replaced_version_is_named_instead_of_its_figures(store, capsys):
    out = store.parent / "out"
    facts = show(ShowConfig("night", store, 2, out))
    assert facts["as"]["measured"] is None
    assert "is of another version of night" in facts["report_fault"]
    assert list_snapshots(ListConfig(store, out))[0]["report_fault"] == facts["report_fault"]
    for words in (("show", "night"), ("show", "night", "2"), ("list",)):
        status, _, err = said(capsys, *words, "--store", store, "--out", out)
        assert status == 0
        assert "the report there is of another version of night" in err
    snapshot = hopscope.open(store, reports=out)["night"]
    with pytest.warns(UserWarning, match="another version of night"):
        assert "mean_hops" not in snapshot.measures.column_names
    assert said(capsys, "restore", "night", "--store", store)[0] == 0
    assert show(ShowConfig("night", store, 2, out))["as"]["measured"]["mean_hops"] == 1.0
    assert said(capsys, "show", "night", "2", "--store", store, "--out", out)[2] == ""


def test_what_is_kept_is_listed_and_restored(store, capsys):
    for words in (("list",), ("show", "night")):
        line = said(capsys, *words, "--store", store)[1].replace("\n", " ")
        assert f"`hopscope restore night --store {store}` brings it back" in line
        assert f"`hopscope doctor --clean --store {store}` frees its space" in line
    status, out, _ = said(capsys, "restore", "night", "--store", store, "--json")
    facts = json.loads(out)
    assert (status, facts["snapshot"]) == (0, "night")
    assert facts["now"]["version"] != facts["before"]["version"]
    with open_snapshot(store) as snapshot:
        assert snapshot.version == facts["now"]["version"]


def test_snapshots_are_removed_together_or_not_at_all(store, capsys):
    make_store(store, "other")
    status, _, err = said(capsys, "remove", "night", "nigth", "--store", store)
    assert (status, snapshot_names(store)) == (2, ["night", "other"])
    assert err.strip().endswith(
        "no snapshot 'nigth'; available snapshots: night, other; did you mean 'night'?"
    )
    status, out, _ = said(capsys, "remove", "night", "night", "--store", store)
    assert (status, snapshot_names(store)) == (0, ["other"])
    assert out.startswith("Snapshot night is removed (")
    assert len(out.splitlines()) == len(list((store / "versions").iterdir())) == 1


def test_a_broken_snapshot_can_be_removed(store, capsys):
    (store / "snapshots" / "torn.json").write_bytes(b"")
    assert said(capsys, "remove", "torn", "--store", store)[0] == 0
    assert check_store(store) == {"night": ""}


def test_a_snapshot_is_renamed_with_its_data(store, capsys):
    before = show(ShowConfig("night", store, 2))["as"]
    status, out, _ = said(capsys, "rename", "night", "before", "--store", store)
    assert (status, snapshot_names(store)) == (0, ["before"])
    assert "now before" in out
    assert show(ShowConfig("before", store, 2))["as"] == before
    status, _, err = said(capsys, "rename", "night", "x", "--store", store)
    assert (status, len(err.splitlines())) == (2, 1)


def test_commands_on_a_store_that_is_not_there_say_so(tmp_path, capsys):
    for words in (("remove", "a"), ("rename", "a", "b"), ("restore", "a")):
        status, _, err = said(capsys, *words, "--store", tmp_path / "none")
        assert (status, len(err.splitlines())) == (2, 1)
        assert "no snapshot" in err
    assert not (tmp_path / "none").exists()
