"""Which files of which inputs are read, and what becomes of those that cannot be."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.config import IngestConfig, ShowConfig
from pipeline.errors import UsageError
from pipeline.files import BOM
from pipeline.ingest import MAX_JSON_BYTES
from pipeline.stages.contents.snapshots import show
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs.files import find_inputs
from pipeline.stages.warnings import snapshot_warnings
from pipeline.store import open_snapshot, snapshot_names
from tests.real_data import REPOSITORY

SAMPLES = REPOSITORY / "data" / "samples"
SPECIAL = ("198.51.100.0/24", "203.0.113.0/24")  # where the sample's addresses lie
ATLAS = SAMPLES / "atlas" / "results.jsonl"
SCAMPER = (SAMPLES / "scamper_json" / "sample.json").read_bytes()
BRITE_WITHOUT_AS = b"""Topology: ( 2 Nodes, 1 Edges )
Model (1 - RTWaxman):  2 100 100 1  2  0.15 0.2 1 1 10.0 1024.0

Nodes: ( 2 )
0\t1\t1\t1\t1\t-1\tRT_NODE
1\t2\t2\t1\t1\t-1\tRT_NODE

Edges: ( 1 )
0\t0\t1\t1.4\t0.1\t10\t-1\t-1\tE_RT\tU
"""


def config(tmp_path: Path, *inputs: Path, **more) -> IngestConfig:
    return IngestConfig(inputs=inputs, store=tmp_path / "store", allow_special=SPECIAL, **more)


def statuses(summary) -> dict[str, str]:
    return {Path(report.path).name: report.status for report in summary.reports}


def test_a_store_and_a_report_inside_the_inputs_are_no_inputs(tmp_path, prefixes):
    folder = tmp_path / "in"
    (folder / "reports" / "today").mkdir(parents=True)
    shutil.copy(ATLAS, folder / "a.jsonl")
    (folder / "reports" / "today" / "report.json").write_text("{}")
    (folder / "reports" / "today" / "rejects.jsonl").write_text("")
    inside = replace(config(tmp_path, folder, ip2as=(prefixes,)), store=folder / "store")
    ingest(inside)
    again = ingest(inside)
    assert again.complete
    assert statuses(again) == {"a.jsonl": "ok", "prefixes": "ok"}


def test_inputs_that_are_in_the_store_are_named_as_such(tmp_path):
    folder = tmp_path / "night"
    folder.mkdir()
    shutil.copy(ATLAS, folder / "a.jsonl")
    said = f"nothing is read from {folder}, which is in the store"
    for store in (folder, tmp_path):
        with pytest.raises(UsageError, match=said):
            find_inputs([folder], None, store)
    assert len(find_inputs([folder, folder / "a.jsonl"], None, tmp_path).files) == 1


def test_a_forced_format_leaves_what_is_no_measurement_in_a_folder_alone(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(ATLAS, folder / "a.jsonl")
    (folder / "README").write_text("about these files\n")
    (folder / "cut.warts").write_text("not warts\n")
    found = find_inputs([folder], "atlas", tmp_path / "store")
    assert [(file.path.name, file.format) for file in found.files] == [
        ("a.jsonl", "atlas"),
        ("cut.warts", "atlas"),  # it claims to be a measurement, so it is tried
    ]
    assert [path.name for path in found.left_alone] == ["README"]


def test_an_unknown_format_is_reported_at_once(tmp_path):
    with pytest.raises(UsageError, match=r"unknown format 'wart'; --format accepts: warts"):
        find_inputs([ATLAS], "wart", tmp_path)


def test_a_link_to_a_file_is_read_and_the_same_file_only_once(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "b.jsonl").symlink_to(ATLAS)
    (folder / "a.jsonl").symlink_to(ATLAS)
    found = find_inputs([folder, ATLAS], None, tmp_path / "store")
    assert [file.path.name for file in found.files] == ["a.jsonl"]


def test_a_name_that_is_no_utf8_is_read_and_written_with_its_bytes_escaped(tmp_path, prefixes):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.jsonl")
    shutil.copy(ATLAS, name)
    summary = ingest(config(tmp_path, Path(name), ip2as=(prefixes,)))
    assert summary.complete
    assert summary.reports[0].path.endswith("bad\\xff.jsonl")
    manifest = open_snapshot(tmp_path / "store").manifest
    assert manifest["inputs"][0]["path"].endswith("bad\\xff.jsonl")


def test_a_pipe_is_refused_by_name_and_the_rest_is_done(tmp_path, prefixes):
    os.mkfifo(tmp_path / "pipe")
    summary = ingest(config(tmp_path, tmp_path / "pipe", ATLAS, ip2as=(prefixes,)))
    assert not summary.complete
    assert statuses(summary)["pipe"] == "rejected"
    assert "pipe or device" in summary.reports[0].error
    assert summary.n_traces > 0


def test_a_refused_file_has_its_digest_too(tmp_path, prefixes):
    (tmp_path / "junk.jsonl").write_bytes(b"hello\n")
    summary = ingest(config(tmp_path, tmp_path / "junk.jsonl", ATLAS, ip2as=(prefixes,)))
    junk = open_snapshot(tmp_path / "store").manifest["inputs"][0]
    assert junk["status"] == "rejected"
    assert junk["size_bytes"] == 6
    assert junk["sha256"] == "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    assert not summary.complete


def test_a_topology_without_an_as_is_named_and_the_rest_is_done(tmp_path):
    (tmp_path / "no_as.brite").write_bytes(BRITE_WITHOUT_AS)
    (tmp_path / "with_as.brite").write_bytes(BRITE_WITHOUT_AS.replace(b"-1\tRT", b"7\tRT"))
    summary = ingest(config(tmp_path, tmp_path / "no_as.brite", tmp_path / "with_as.brite"))
    assert statuses(summary) == {"no_as.brite": "rejected", "with_as.brite": "ok"}
    assert "--asn" in summary.reports[0].error
    assert (summary.n_ases, summary.n_nodes) == (1, 2)
    with pytest.raises(UsageError, match="--asn"):
        ingest(config(tmp_path, tmp_path / "no_as.brite"))


def test_an_edge_list_is_one_graph_under_the_as_that_is_given(tmp_path):
    given = config(tmp_path, SAMPLES / "snap" / "directed.txt", asn=64512)
    summary = ingest(given)
    assert summary.complete
    assert statuses(summary) == {"directed.txt": "ok"}
    snapshot = open_snapshot(given.store)
    graph = snapshot.graph(snapshot.row_of(64512))
    assert (graph.n_nodes, graph.n_edges) == (6, 6)  # without the loop, one link of two directions


def test_an_alias_file_with_nothing_valid_is_refused(tmp_path, prefixes):
    (tmp_path / "nodes").write_text("rubbish\n")
    given = config(tmp_path, ATLAS, ip2as=(prefixes,), aliases=tmp_path / "nodes")
    with pytest.raises(UsageError, match="nodes: no aliases; give ITDK nodes"):
        ingest(given)
    assert not list((tmp_path / "store").rglob("*.parquet"))


def test_two_topologies_with_one_as_are_refused(tmp_path):
    for name, length in (("a.brite", b"1.4"), ("b.brite", b"1.5")):
        (tmp_path / name).write_bytes(BRITE_WITHOUT_AS.replace(b"1.4", length))
    with pytest.raises(UsageError, match="64500"):
        ingest(config(tmp_path, tmp_path / "a.brite", tmp_path / "b.brite", asn=64500))


def test_the_name_of_a_snapshot_is_the_day_of_its_newest_record(tmp_path, prefixes):
    summary = ingest(config(tmp_path, ATLAS, ip2as=(prefixes,)))
    newest = max(report.newest_s for report in summary.reports)
    assert newest > 0
    assert summary.snapshot == "2021-04-22"
    table = pq.read_table(summary.path / "ases.parquet")
    assert table.num_rows == summary.n_ases


def test_a_missing_input_is_named_and_the_rest_is_done(tmp_path, prefixes):
    summary = ingest(config(tmp_path, tmp_path / "gone", ATLAS, ip2as=(prefixes,)))
    assert statuses(summary)["gone"] == "rejected"
    assert "no such file" in summary.reports[0].error
    assert summary.n_traces > 0
    with pytest.raises(UsageError, match="gone: no such file or folder"):
        ingest(config(tmp_path, tmp_path / "gone", ip2as=(prefixes,)))


def test_traces_and_a_topology_are_not_mixed_and_a_format_selects_one(tmp_path, prefixes):
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(ATLAS, folder / "a.jsonl")
    text = BRITE_WITHOUT_AS.replace(b"-1\tRT", b"7\tRT")
    (folder / "b.brite").write_bytes(text)
    given = config(tmp_path, folder, ip2as=(prefixes,))
    for mixed in (given, replace(given, inputs=(folder / "b.brite", folder / "a.jsonl"))):
        with pytest.raises(
            UsageError, match=r"a\.jsonl holds traces, .*b\.brite a topology of AS7:"
        ):
            ingest(mixed)
    assert snapshot_names(tmp_path / "store") == []
    for format in ("brite", "topology"):
        assert ingest(replace(given, format=format, snapshot="b")).n_traces == 0
        assert open_snapshot(tmp_path / "store").asn.tolist() == [7]
    assert ingest(replace(given, format="atlas")).n_traces > 0


def test_a_kind_takes_all_its_formats_and_names_what_is_of_another(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(ATLAS, folder / "a.jsonl")
    sample = REPOSITORY / "data" / "samples" / "lab"
    warts = next(path for path in sorted(sample.iterdir()) if ".warts" in path.name)
    shutil.copy(warts, folder / warts.name)
    (folder / "b.brite").write_bytes(BRITE_WITHOUT_AS)
    found = find_inputs([folder, folder / "b.brite"], "traces", tmp_path / "store")
    assert sorted(file.format for file in found.files) == ["", "atlas", "warts"]
    (refused,) = (file for file in found.files if file.error is not None)
    assert "b.brite: holds a topology (brite), and --format traces was given" in str(refused.error)


def test_if_nothing_is_a_trace_the_file_and_its_content_are_named(tmp_path, prefixes):
    (tmp_path / "pings.jsonl").write_bytes(b'{"type":"ping","msm_id":1,"prb_id":2}\n' * 3)
    with pytest.raises(UsageError, match=r"pings\.jsonl: contains no traces .*skipped: ping \(3\)"):
        ingest(config(tmp_path, tmp_path / "pings.jsonl", ip2as=(prefixes,)))


def test_if_all_records_are_broken_the_reasons_are_named(tmp_path, prefixes):
    hops = ('{"hop":300,"result":[]}', '{"hop":"x","result":[]}', "[]")
    lines = [
        f'{{"type":"traceroute","dst_addr":"192.0.2.{i}","result":[{hop}]}}\n'
        for i, hop in enumerate(hops)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(lines))
    with pytest.raises(UsageError) as nothing:
        ingest(config(tmp_path, path, ip2as=(prefixes,)))
    reasons = "3 broken records rejected: hop number out of range (2), hop is not an object (1)"
    first = "line 1, byte 0: hop number out of range (300)"
    none = f"{path}: no usable traceroute result in it; first fault: {first}"
    assert str(nothing.value) == f"nothing to ingest: {none}; {reasons}"
    path.write_text("".join(lines) + '{"type":"ping","msm_id":1,"prb_id":2}\n')
    with pytest.raises(UsageError) as nothing:
        ingest(config(tmp_path, path, ip2as=(prefixes,)))
    none = f"{path}: no record of it can be used; first fault: {first}"
    assert str(nothing.value) == f"nothing to ingest: {none}; {reasons}"


def test_files_of_other_formats_than_the_given_one_are_named_by_theirs():
    with pytest.raises(UsageError) as refused:
        find_inputs((SAMPLES / "lab",), "brite", Path("store"))
    assert str(refused.value) == (
        f"no file in {SAMPLES / 'lab'} is brite (--format), but there is scamper_json (2 files), "
        "warts (12 files): leave out --format, or give other files or folders"
    )
    with pytest.raises(UsageError, match=r"no file in .* is topology \(--format\), but there is s"):
        find_inputs((SAMPLES / "lab",), "topology", Path("store"))


def test_a_folder_that_is_given_twice_leaves_its_files_out_once():
    once = find_inputs((SAMPLES / "lab",), None, Path("store"))
    twice = find_inputs((SAMPLES / "lab", SAMPLES / "lab" / ".." / "lab"), None, Path("store"))
    assert twice == once
    names = ["as_names.json", "lab.pfx2as"]
    assert [path.name for path in twice.left_alone] == names


def test_a_file_that_cannot_be_read_is_named_once_in_its_reject(tmp_path, prefixes):
    (tmp_path / "broken.warts").write_bytes(b"")
    summary = ingest(config(tmp_path, ATLAS, tmp_path / "broken.warts", ip2as=(prefixes,)))
    lines = (summary.path / "rejects.jsonl").read_text().splitlines()
    (reject,) = (row for row in map(json.loads, lines) if row["place"] == "file")
    assert reject["file"] == str(tmp_path / "broken.warts")
    assert reject["reason"]
    assert "broken.warts" not in reject["reason"]


def test_copies_are_left_out_and_named(tmp_path, prefixes):
    again, third, other = (tmp_path / f"{name}.jsonl" for name in ("again", "third", "other"))
    for copy in (again, third):
        shutil.copy(ATLAS, copy)
    text = ATLAS.read_bytes()
    other.write_bytes(text.replace(b"10", b"11", 1))  # as long
    tables = {"ip2as": (prefixes, prefixes)}
    alone = ingest(config(tmp_path, ATLAS, **tables))
    two = ingest(config(tmp_path, ATLAS, again, **tables))
    line = f"{again} left out: identical to {ATLAS}"
    assert [each for each in two.warnings if "identical" in each] == [line]
    assert (two.n_traces, two.complete) == (alone.n_traces, True)
    rows = open_snapshot(two.store, two.snapshot).manifest["inputs"]
    assert [(row["path"], row.get("copy_of")) for row in rows][:2] == [
        (str(ATLAS), None),
        (str(again), str(ATLAS)),
    ]
    found = find_inputs([ATLAS, again, third, other], None, tmp_path / "store")
    assert [file.path for file in found.files] == [ATLAS, other]
    assert found.copies == {again: ATLAS, third: ATLAS}


def test_the_same_file_plain_and_compressed_is_warned_of(tmp_path, prefixes):
    folder = tmp_path / "in"
    (folder / "b").mkdir(parents=True)
    text = ATLAS.read_bytes()
    (folder / "T.jsonl").write_bytes(text)
    (folder / "T.jsonl.gz").write_bytes(gzip.compress(text))
    (folder / "b" / "T.jsonl.gz").write_bytes(gzip.compress(text, 1))
    (folder / "other.jsonl.xz").write_bytes(lzma.compress(text))
    (folder / "other.jsonl.gz").touch()  # rejected: it adds nothing
    summary = ingest(config(tmp_path, folder, ip2as=(prefixes,)))
    kept = snapshot_warnings(open_snapshot(tmp_path / "store").manifest)
    expected = (
        f"{folder / 'T.jsonl'} and {folder / 'T.jsonl.gz'} have one name, plain or compressed: "
        "if they hold the same, it counts 2 times; leave all but one out"
    )
    for lines in (summary.warnings, kept):
        assert [line for line in lines if "have one name" in line] == [expected]


def test_a_file_that_lost_its_content_is_an_error_in_a_folder_too(tmp_path):
    for name in ("x.json.gz", "y.json", "z.warts", "README"):
        (tmp_path / name).touch()
    found = find_inputs([tmp_path], None, tmp_path / "store")
    assert [str(file.error) for file in found.files] == [
        f"{tmp_path / name}: empty" for name in ("x.json.gz", "y.json", "z.warts")
    ]
    assert [path.name for path in found.left_alone] == ["README"]


BROKEN = {
    "r.json.gz": bytes(range(200, 256)) * 4,
    "cut.json.gz": gzip.compress(SCAMPER * 3, mtime=0)[:60],
    "damaged.json.gz": gzip.compress(SCAMPER, mtime=0)[:30] + b"\xff" * 40,
    "text.json": b"hello\n",
    "cut.json": b'{"a": 1,\n "b": ',
    "x.warts.zst": b"\x28\xb5\x2f\xfd\x04\x00",
    "t.jsonl.lz4": b"\x04\x22\x4d\x18" + SCAMPER,
    "r.json.zip": b"PK\x03\x04",
    "a.brite.tar.gz": gzip.compress(b"a.brite" + bytes(300)),
}
OTHERS = {
    "settings.json": b'{\n  "a": [1, 2]\n}\n',
    "marked.json": BOM + b'{"a": 1}',
    "lines.json.gz": gzip.compress(b'{"a": 1}\n\n{"b": 2}\n'),
    "long.json": b"[" + b"1," * (MAX_JSON_BYTES // 2) + b"1]",
    "notes.zst": b"\x28\xb5\x2f\xfd\x04\x00",
    "README": b"about these files\n",
}


def test_a_file_that_claims_a_format_but_cannot_be_read_is_rejected_by_name(tmp_path, prefixes):
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(ATLAS, folder / "a.jsonl")
    for name, data in {**BROKEN, **OTHERS}.items():
        (folder / name).write_bytes(data)
    summary = ingest(config(tmp_path, folder, ip2as=(prefixes,)))
    assert not summary.complete
    rejected = {name for name, status in statuses(summary).items() if status == "rejected"}
    assert rejected == set(BROKEN)
    kept = show(ShowConfig(store=tmp_path / "store", snapshot=summary.snapshot))["warnings"]
    assert kept == summary.warnings
    (left,) = (line for line in kept if "left out" in line)
    assert left == (
        "no measurement files, left out: README, lines.json.gz, long.json, marked.json, notes.zst "
        "and 1 more"
    )
    why = {Path(row.path).name: row.error for row in summary.reports}
    assert all(f"rejected file: {why[name]}" in kept for name in BROKEN)
    assert "cut short: the zstd data stop" in why["x.warts.zst"]
    assert why["t.jsonl.lz4"].endswith(
        "compressed by lz4, which is not read: decompress it: `lz4 -d FILE`"
    )


def test_every_input_that_is_missing_is_named_up_to_a_few(tmp_path):
    missing = [tmp_path / f"missing-{i}" for i in range(7)]
    with pytest.raises(UsageError) as two:
        ingest(config(tmp_path, *missing[:2], asn=5))
    gone = "no such file or folder; give one that exists"
    assert str(two.value) == f"nothing to ingest: {missing[0]}: {gone}; {missing[1]}: {gone}"
    with pytest.raises(UsageError) as seven:
        ingest(config(tmp_path, *missing, asn=5))
    assert str(missing[4]) in str(seven.value)
    assert str(missing[5]) not in str(seven.value)
    assert str(seven.value).endswith("; and 2 more")


def test_tables_and_the_truth_beside_traces_are_not_called_left_out(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(ATLAS, folder / "a.jsonl")
    for name in ("lab.pfx2as", "other.pfx2as", "ground_truth.json"):
        (folder / name).write_text("{}")
    (tmp_path / "link").symlink_to(folder)
    found = find_inputs([folder], None, tmp_path / "store", [tmp_path / "link" / "lab.pfx2as"])
    assert found.left_alone == [folder / "other.pfx2as"]
