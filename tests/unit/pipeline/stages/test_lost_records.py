"""Files that lost most of their records, or all of a kind, never pass for whole ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.errors import UsageError
from pipeline.stages.analyze import analyze
from pipeline.stages.ingest import ingest
from pipeline.stages.warnings import snapshot_warnings
from pipeline.store import open_snapshot
from tests.real_data import REPOSITORY, real_data

BROKEN = "0 0 1"  # too few columns


def brite(n_edges: int, n_broken: int = 0, n_nodes: int = 30, extra: str = "") -> str:
    """A path of routers in AS 7 as a BRITE file; the first rows of its edges are broken."""
    nodes = "".join(f"{i} 1 1 2 2 7 RT_NODE\n" for i in range(n_nodes))
    rows = [f"{i} {i} {i + 1} 1 1 10 7 7 E_RT U" for i in range(n_edges)]
    rows[:n_broken] = [BROKEN] * n_broken
    edges = "".join(row + "\n" for row in rows)
    title = f"Topology: ( {n_nodes} Nodes, {n_edges} Edges )\nModel (1 - RTWaxman): 1\n"
    return f"{title}\nNodes: ( {n_nodes} )\n{nodes}{extra}\n\nEdges: ( {n_edges} )\n{edges}"


def trace(is_broken: bool = False) -> str:
    ttl = 0 if is_broken else 1
    hops = [{"addr": "198.51.100.1", "probe_ttl": ttl}, {"addr": "198.51.100.2", "probe_ttl": 2}]
    return json.dumps({"type": "trace", "dst": "198.51.100.9", "hops": hops}) + "\n"


SPECIAL = ("198.51.100.0/24",)


@pytest.mark.parametrize(
    ("name", "whole", "lossy", "lost"),
    [
        ("t.brite", brite(20), brite(20, 11), "11 of 20 edges rejected (55 %)"),
        ("t.json", trace() * 3, trace() + trace(True) * 2, "2 of 3 records rejected (66 %)"),
        ("t.txt", "1 2\n2 3\n3 4\n", "# x\n1 2\n2 -\n3 -\n", "2 of 3 records rejected (66 %)"),
        ("t.adj", "1\n0,2\n1\n", "1\n0,x\n?\n", "2 of 3 lines rejected (66 %)"),
    ],
)
def test_a_file_that_lost_more_than_half_is_named_first_and_not_complete(
    tmp_path, name, whole, lossy, lost
):
    path = tmp_path / name
    format = {"txt": "snap", "adj": "adjacency"}.get(name[2:])
    given = {"inputs": (path,), "store": tmp_path / "store", "asn": 7, "format": format}
    path.write_text(whole)
    summary = ingest(IngestConfig(**given, allow_special=SPECIAL))
    assert summary.complete
    assert not any("rejected" in line for line in summary.warnings)
    path.write_text(lossy)
    summary = ingest(IngestConfig(**given, allow_special=SPECIAL))
    assert not summary.complete
    assert [report.status for report in summary.reports] == ["ok"]
    assert summary.warnings[0].startswith(f"{path}: {lost}: ")
    assert sum("rejected" in line for line in summary.warnings) == 1
    # What reports and ``show`` say of the snapshot.
    manifest = open_snapshot(tmp_path / "store", summary.snapshot).manifest
    assert snapshot_warnings(manifest)[0] == summary.warnings[0]
    out = tmp_path / "out"
    analyzed = analyze(AnalyzeConfig(store=tmp_path / "store", out=out))
    assert analyzed.warnings[0] == summary.warnings[0]
    report = json.loads((out / summary.snapshot / "report.json").read_text())
    assert report["warnings"][0] == summary.warnings[0]
    assert lost in (out / summary.snapshot / "index.html").read_text()


@pytest.mark.parametrize(
    ("name", "text"), [("t.brite", brite(20, 10)), ("t.json", trace() + trace(True))]
)
def test_half_of_the_records_are_counted_and_no_more(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    given = {"inputs": (path,), "store": tmp_path / "store", "asn": 7, "allow_special": SPECIAL}
    summary = ingest(IngestConfig(**given))
    assert summary.complete
    assert any("broken record" in line for line in summary.warnings)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("t.brite", brite(3, 3), "line 38: too few columns (3 of 6)"),
        ("t.brite", brite(3).replace("7 7 E_RT U", "7 7"), ""),  # a form that is read
        ("t.brite", brite(3).replace("\n0 0 1", "\n0 90 91"), ""),  # one of three
        ("t.brite", brite(0, extra="", n_nodes=3), ""),  # claims no edge
        ("t.json", trace(True) * 2, "line 1: TTL is not a number from 1 to 255 (0)"),
        ("t.json", '{"UUID":"x"}\n' + trace(True), "line 2: TTL is not a number"),
        ("t.txt", "# x\n1 a\n2 b\n", "line 2: not a number (a)"),
        ("t.adj", "# Neighbours of node 0, 1, 2, ...\n1;\n0;\n", "line 2: not a list of numbers"),
    ],
)
def test_of_a_file_that_lost_all_of_a_kind_the_first_reason_is_told(tmp_path, name, text, reason):
    path, good = tmp_path / name, tmp_path / "good.brite"
    path.write_text(text)
    format = {"txt": "snap"}.get(name[2:])
    given = {"store": tmp_path / "store", "format": format, "asn": 7}
    if not reason:
        assert ingest(IngestConfig(inputs=(path,), **given)).complete
        return
    with pytest.raises(UsageError) as alone:
        ingest(IngestConfig(inputs=(path,), **given))
    assert f"first fault: {reason}" in str(alone.value)
    assert not (tmp_path / "store" / "snapshots").exists()
    if name != "t.brite":
        return
    good.write_text(brite(4).replace(" 7 ", " 8 ").replace(" 7 E", " 8 E"))
    beside = ingest(IngestConfig(inputs=(path, good), **given))
    assert [report.status for report in beside.reports] == ["rejected", "ok"]
    assert not beside.complete
    assert any(f"first fault: {reason}" in line for line in beside.warnings)


def test_the_exit_status_tells_what_was_lost(tmp_path, capsys):
    path = tmp_path / "t.brite"
    for n_broken, status in ((0, 0), (10, 0), (11, 1), (20, 2)):
        path.write_text(brite(20, n_broken))
        with pytest.raises(SystemExit) as ended:
            main(["ingest", str(path), "--store", str(tmp_path / "store"), "--snapshot", "night"])
        assert ended.value.code == status
        said = capsys.readouterr().err
        assert ("11 of 20 edges rejected (55 %)" in said) == (n_broken == 11)
        assert ("Edges: no usable edge; first fault: line 38" in said) == (n_broken == 20)


def test_an_ingest_that_fails_names_first_what_it_could_not_read(tmp_path, capsys):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "night.warts").write_text("no warts\n")
    (folder / "traceroute.txt").write_text("traceroute to 192.0.2.1\n 1 a (192.0.2.2) 1 ms\n")
    (folder / "good.json").write_text(trace())
    main_arguments = ["ingest", str(folder), "--store", str(tmp_path / "store")]
    for more, fault in (
        ([], "traces name no AS"),
        (["--asn", "7"], "no address answered"),
    ):
        if "answered" in fault:
            (folder / "good.json").write_text('{"type":"trace","dst":"192.0.2.1","hops":[]}\n')
        with pytest.raises(SystemExit) as ended:
            main([*main_arguments, *more])
        assert ended.value.code == 2
        last = capsys.readouterr().err.splitlines()[-1]
        at = [last.find(text) for text in ("night.warts: unknown", "traceroute.txt", fault)]
        assert at[0] > 0
        assert at == sorted(at)


@pytest.mark.parametrize(
    ("folder", "n_traces", "not_whole"),
    [
        ("05-unknown-formats", 23, set()),
        ("06-mlab", 6, set()),
        ("08-atlas-wrappers", 34, set()),
        ("09-scamper-pretty", 7, set()),
        ("23-compressed", 9, {"trailing-garbage.jsonl.gz", "truncated.jsonl.gz"}),
    ],
)
def test_files_of_other_programs_are_read(tmp_path, folder, n_traces, not_whole):
    cases = REPOSITORY.parent / "shared" / "cases" / folder
    if not cases.is_dir():
        real_data("cases")  # skips, and says why
    special = ("192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24")
    given = IngestConfig(inputs=(cases,), store=tmp_path / "store", asn=7, allow_special=special)
    summary = ingest(given)
    assert sum(report.n_records for report in summary.reports) == n_traces
    assert {Path(each.path).name for each in summary.reports if each.status != "ok"} == not_whole
    (left_out,) = (line for line in summary.warnings if "left out" in line)
    assert left_out.endswith("left out: README")


def test_the_result_of_another_program_is_no_atlas_result(tmp_path):
    """The type alone does not make one: it would be read as a trace without hops."""
    path: Path = tmp_path / "other.json"
    path.write_text('{"id":"q","type":"traceroute","results":[{"result":{"hops":[]}}]}')
    with pytest.raises(UsageError, match="unknown format"):
        ingest(IngestConfig(inputs=(path,), store=tmp_path / "store", asn=7))
