"""Kept traces, through the commands and in Python, on traces written by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import orjson
import pyarrow.compute as pc
import pytest

import hopscope
from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.graphs import build_graphs
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.stages.ingest import ingest
from pipeline.stages.input_files import replies_of
from pipeline.store.versions.names import INTERFACES, TRACES
from tests.commands import hopscope as run
from tests.unit.pipeline.infer.handmade import infer
from tests.unit.pipeline.stages.small_store import LINES, A, B, P, Q, X, Y
from tests.unit.pipeline.store.snapshots import write

FAR, BEYOND = "20.1.0.30", "20.3.0.30"


@pytest.fixture
def store(tmp_path):
    graphs = build_graphs([infer(tmp_path, *LINES, f"{FAR} * {BEYOND}")])
    write(tmp_path / "store", "night", graphs, counts={"n_traces": len(LINES) + 1})
    return tmp_path / "store"


@pytest.fixture
def night(store):
    return hopscope.open(store)["night"]


def hops(found):
    return sorted(map(tuple, found["addr"].to_pylist()))


def test_traces_are_found_by_address_link_ingress_target_vantage_point_and_as(night):
    assert hops(night.traces(B)) == [(B, X)]
    assert hops(night.traces(link=(X, Y))) == [(A, X, Y, P)]
    assert hops(night.traces(link=(Y, X))) == []
    assert hops(night.traces(ingress=Q)) == [(A, X, Q)]  # (P, Q) is inside AS 3
    assert hops(night.traces(ingress=BEYOND)) == [(FAR, BEYOND)]  # after a gap: a candidate
    assert len(night.traces(target="20.0.8.8")) == len(night.traces())
    assert len(night.traces(vantage_point="20.9.9.9")) == len(night.traces())
    assert len(night.traces(vantage_point="20.9.9.8")) == 0
    assert hops(night.traces(asn=3, address=A)) == sorted([(A, X, Y, P), (A, X, Q), (P, Y, A)])
    assert night.traces(asn="AS3") == night.traces(asn="3") == night.traces(asn=3)


def test_what_is_no_as_number_and_no_link_is_refused(night):
    with pytest.raises(ValueError, match="'ASX' is not an AS number"):
        night.traces(asn="ASX")
    with pytest.raises(ValueError, match="give the two addresses"):
        night.traces(link=f"{X},{Y}")


def test_a_trace_has_its_hops_with_ttl_as_rtt_and_reply(night):
    (row,) = night.traces(link=(X, Y)).to_pylist()
    assert row["vantage"] == "20.9.9.9"
    assert row["target"] == "20.0.8.8"
    assert row["ttl"] == [1, 2, 3, 4]
    assert row["asn"] == [1, 2, 2, 3]
    assert row["rtt_ms"] == [10.0, 20.0, 30.0, 40.0]
    assert row["reply"] == ["time exceeded"] * 4
    assert not row["reached"]
    assert night.traces(address=FAR)["ttl"].to_pylist() == [[1, 3]]


def test_the_command_prints_hops_and_how_many_traces_are_kept(store, tmp_path):
    done = run(["traces", "night", "--link", f"{X},{Y}", "--store", str(store)], tmp_path, {})
    assert done.status == 0
    assert f"1 kept trace of snapshot night: link {X} {Y} (" in done.said
    assert "of 7 traces kept whole)" in done.said
    assert f"   3  {Y}  AS2               30.00 ms" in done.said
    done = run(["traces", "night", "--address", FAR, "--store", str(store)], tmp_path, {})
    assert "   2  *\n" in done.said


def test_json_is_one_object_with_records_as_of_scamper(store, tmp_path):
    words = ["traces", "night", "--address", B, "--store", str(store), "--json"]
    facts = orjson.loads(run(words, tmp_path, {}).said)
    assert facts["n_found"] == 1
    assert facts["n_traces"] == 7
    assert 0 < facts["n_traces_kept"] <= 7
    (record,) = facts["traces"]
    assert record["type"] == "trace"
    assert [hop["addr"] for hop in record["hops"]] == [B, X]


def test_what_is_exported_is_read_back_as_the_same_traces(store, night, tmp_path):
    out = tmp_path / "traces.jsonl"
    words = ["traces", "night", "--asn", "2", "--store", str(store), "--out", str(out)]
    done = run(words, tmp_path, {})
    assert done.status == 0, done.said
    found = night.traces(asn=2)
    report = ReadReport(str(out))
    batches = list(open_reader(out, report)[1])
    assert report.format == "scamper_json" or not report.rejected
    assert sum(batch.n_traces for batch in batches) == found.num_rows
    (batch,) = batches
    assert batch.ttl.tolist() == [ttl for row in found["ttl"].to_pylist() for ttl in row]
    assert batch.rtt_ms.tolist() == [ms for row in found["rtt_ms"].to_pylist() for ms in row]
    assert set(batch.kind.tolist()) == {1}  # time exceeded


@pytest.mark.parametrize("name", ["traces.warts", "traces.warts.gz"])
def test_warts_are_read_back_as_the_same_traces(store, night, tmp_path, name):
    words = ["traces", "night", "--store", str(store), "--out", str(tmp_path / name)]
    done = run(words, tmp_path, {})
    assert done.status == 0, done.said
    assert "(warts)" in done.said
    found = night.traces()
    report = ReadReport(name)
    (batch,) = open_reader(tmp_path / name, report)[1]
    assert (report.format, batch.n_traces) == ("warts", found.num_rows)
    replies = replies_of(batch, 0)
    for mine, theirs in (("ttl", "ttl"), ("addr", "addr"), ("rtt_ms", "rtt_ms"), ("kind", "reply")):
        there = [value for row in found[theirs].to_pylist() for value in row]
        assert replies[mine].to_pylist() == there
    rows = found.filter(pc.greater(pc.list_value_length(found["ttl"]), 0))
    firsts = replies.group_by("trace", use_threads=False).aggregate(
        [("src", "first"), ("dst", "first")]
    )
    assert firsts["dst_first"].to_pylist() == rows["target"].to_pylist()
    assert firsts["src_first"].to_pylist() == rows["vantage"].to_pylist()


def test_warts_go_to_no_terminal(store, tmp_path):
    done = run(["traces", "night", "--store", str(store), "--format", "warts"], tmp_path, {})
    assert (done.status, "give --out FILE" in done.said) == (2, True)


def test_csv_has_a_row_for_each_hop(store, night, tmp_path):
    words = ["traces", "night", "--address", B, "--format", "csv", "--store", str(store)]
    rows = list(csv.DictReader(io.StringIO(run(words, tmp_path, {}).said)))
    assert [(row["trace"], row["ttl"], row["addr"], row["asn"]) for row in rows] == [
        ("0", "1", B, "1"),
        ("0", "2", X, "2"),
    ]


def test_a_store_of_before_kept_no_traces_and_says_so(tmp_path):
    store = tmp_path / "store"
    graphs = replace(build_graphs([infer(tmp_path, *LINES)]), traces=None)
    folder = write(store, "night", graphs)
    assert not {TRACES, INTERFACES} & {path.name for path in folder.iterdir()}
    with pytest.raises(UsageError, match="snapshot night kept no traces"):
        hopscope.open(store)["night"].traces(A)
    done = run(["traces", "night", "--address", A, "--store", str(store)], tmp_path, {})
    assert done.status == 2
    assert "kept no traces" in done.said


def test_a_topology_kept_no_traces(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("1 2\n2 3\n")
    ingest(IngestConfig(inputs=(file,), store=tmp_path / "store", snapshot="plain", asn=1))
    with pytest.raises(UsageError, match="snapshot plain kept no traces"):
        hopscope.open(tmp_path / "store")["plain"].traces(A)


def test_nothing_found_says_what_was_asked_and_how_many_are_kept(store, tmp_path):
    done = run(["traces", "night", "--target", "20.0.1.1", "--store", str(store)], tmp_path, {})
    assert done.status == 2
    assert "no kept trace of snapshot night shows target 20.0.1.1 (" in done.said
