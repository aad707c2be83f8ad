"""RIPE Atlas: what a reply means, any shape of file; the two parsers: test_atlas_parsers.py."""

from __future__ import annotations

import gzip
import io
import json
import math
from pathlib import Path

import numpy as np
import orjson
import pytest

from pipeline.ingest import FORMATS, atlas
from pipeline.ingest.atlas.record import parse_result
from pipeline.ingest.atlas.scan import is_private
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import CLASSIC, MAX_SKIPPED_TYPES, OTHER_TYPE, ReadReport
from pipeline.model.measured.traces import KIND_OTHER, KIND_UNKNOWN, KIND_UNREACHABLE, LABELLED
from tests.contracts.trace_reader import Trace, TraceReaderContract, unpack
from tests.real_data import real_data

SAMPLES = Path(__file__).parents[5] / "data" / "samples" / "atlas"
LINES = (SAMPLES / "results.jsonl").read_bytes().splitlines()

FIRST = Trace(
    "203.0.113.4",
    "192.0.2.9",
    1619118621.0,
    [
        (1, "10.0.0.1", 1.01, KIND_UNKNOWN),
        (1, "10.0.0.1", 0.831, KIND_UNKNOWN),
        (3, "198.51.100.7", 4.7, KIND_UNKNOWN | LABELLED),
        (3, "198.51.100.8", 4.9, KIND_UNKNOWN),
        (3, "198.51.100.7", 5.0, KIND_UNKNOWN),
        (4, "192.0.2.9", 9.5, KIND_UNKNOWN),
    ],
)
TRACES = [
    FIRST,
    Trace(
        "2001:db8::2",
        "2001:db8:ffff::1",
        1446563590.0,
        [(1, "2001:db8::1", 0.5, KIND_UNKNOWN), (1, "2001:db8::1", 0.25, KIND_UNREACHABLE)],
    ),
    Trace(
        "203.0.113.4",
        "192.0.2.9",
        1619118700.0,
        [
            (2, "192.0.2.9", 7.25, KIND_OTHER),
            (2, "198.51.100.7", None, KIND_UNKNOWN),
        ],
    ),
    Trace("203.0.113.4", "::", 1446563591.0, []),
    Trace("203.0.113.4", "192.0.2.9", 1619118701.0, []),
]


HOME, ULA, PUBLIC = "192.168.1.10", "fd00::10", "20.7.0.5"


def label_files() -> list[tuple[bytes, set[str]]]:
    """A result whose first reply has extensions, for the scanner and (by an escape) the parser."""
    label = {"class": 1, "type": 1, "mpls": [{"exp": 0, "label": 7, "s": 1, "ttl": 1}]}
    other = {"class": 2, "type": 1, "more": {"mpls": 1}}
    files: list[tuple[bytes, set[str]]] = []
    for icmpext, is_found in (
        ({"version": 2, "obj": [label]}, True),
        ({"obj": [other, 7, {}, label], "version": 2}, True),
        ({"obj": [other]}, False),
        ({"obj": []}, False),
        ({"obj": label}, False),
        ({"version": 2}, False),
        ({}, False),
        ([label], False),
        (None, False),
    ):
        for name in ("x", "\n"):
            first = {"from": "198.51.100.7", "rtt": 1.5, "icmpext": icmpext}
            second = {"from": "198.51.100.8", "rtt": 1.5}
            record = {"type": "traceroute", "dst_addr": "192.0.2.9", "prb_id": 1, "name": name}
            record["src_addr"] = PUBLIC
            record["result"] = [{"hop": 1, "result": [first, second]}]
            found = {"198.51.100.7"} if is_found else set()
            files.append((json.dumps(record).encode() + b"\n", found))
    return files


class TestAtlas(TraceReaderContract):
    format = "atlas"
    sample = "atlas/results.jsonl"
    traces = TRACES
    broken_record = LINES[0][:-40] + b"\n"
    broken_reason = "not valid JSON"
    labels = label_files()


def read(data: bytes) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("x.json", "atlas")
    batches = list(atlas.read(io.BytesIO(data), report))
    return [trace for batch in batches for trace in unpack(batch)], report


def one(**fields) -> tuple[Trace, ReadReport]:
    record = {"type": "traceroute", "dst_addr": "192.0.2.9", "timestamp": 5, "prb_id": 1}
    record |= {"from": PUBLIC} | fields
    traces, report = read(json.dumps(record).encode())
    (trace,) = traces
    return trace, report


def hop(*replies: dict, hop: int = 1) -> dict:
    return {"hop": hop, "result": list(replies)}


@pytest.mark.parametrize("escaped", [False, True])  # one for the scanner, one for the parser
@pytest.mark.parametrize(
    ("src_addr", "public", "source", "n_none"),
    [
        (HOME, PUBLIC, PUBLIC, 0),  # behind a NAT, as many others
        (ULA, "2001:db8::5", "2001:db8::5", 0),
        (HOME, "10.0.0.9", "10.0.0.9", 0),
        (HOME, None, HOME, 0),
        ("20.8.0.1", PUBLIC, "20.8.0.1", 0),
        ("198.18.15.2", PUBLIC, "198.18.15.2", 0),  # of a laboratory
        (None, PUBLIC, PUBLIC, 0),
        ("", PUBLIC, PUBLIC, 0),
        ("::", PUBLIC, PUBLIC, 0),
        (None, None, "::", 1),
        ("", "", "::", 1),
    ],
)
def test_a_probe_with_a_private_address_goes_by_its_public_one(
    src_addr, public, source, n_none, escaped
):
    fields = {"src_addr": src_addr, "from": public} | ({"name": "\n"} if escaped else {})
    trace, report = one(**fields)
    assert trace.src == source
    assert report.notes.get("results without src_addr and from", 0) == n_none


@pytest.mark.parametrize(
    ("addr", "inside"),
    [
        ("9.255.255.255", False),
        ("10.0.0.0", True),
        ("10.255.255.255", True),
        ("11.0.0.0", False),
        ("100.63.255.255", False),
        ("100.64.0.0", True),
        ("100.127.255.255", True),
        ("100.128.0.0", False),
        ("127.0.0.1", True),
        ("169.254.0.1", True),
        ("172.15.255.255", False),
        ("172.16.0.0", True),
        ("172.31.255.255", True),
        ("172.32.0.0", False),
        ("192.0.0.2", True),
        ("192.0.1.1", False),
        ("192.168.0.1", True),
        ("192.169.0.1", False),
        ("fbff::1", False),
        ("fc00::", True),
        ("fdff::1", True),
        ("fe7f::1", False),
        ("fe80::1", True),
        ("febf::1", True),
        ("fec0::1", False),
        ("2001:db8::1", False),
    ],
)
def test_private_ranges_are_those_of_their_rfcs(addr, inside):
    assert is_private(*np.array(parse_addr(addr), np.uint64)) == inside


def test_every_oddity_of_the_sample_is_counted():
    _, report = read((SAMPLES / "results.jsonl").read_bytes())
    assert report.notes == {
        "unanswered probes": 6,
        "probes that were not sent (error)": 1,
        "late replies, left out": 1,
        "duplicate replies, left out": 1,
        "replies of kind unreachable (err)": 1,
        "replies to packets for another destination (edst), left out": 1,
        "replies with ICMP extensions": 1,
        "replies with MPLS labels": 1,
        "replies without a usable rtt": 1,
        "hops with an error": 2,
        "results without dst_addr": 1,
        "results without hops": 1,
        "traces by a classic method": 1,
        "unanswered hops": 2,
    }


SHAPES = {
    "array": lambda lines: b"[" + b",".join(lines) + b"]",
    "array, one per line": lambda lines: b"[" + b",\n".join(lines) + b"\n]\n",
    "array, commas first": lambda lines: b"[\n" + b"\n,".join(lines) + b"\n]\n",
    "pretty-printed array": lambda lines: json.dumps(
        [json.loads(line) for line in lines], indent=2
    ).encode(),
    "pretty-printed, no array": lambda lines: b"\n".join(
        orjson.dumps(orjson.loads(line), option=orjson.OPT_INDENT_2) for line in lines
    ),
    "arrays one after another": lambda lines: b"".join(b"[" + line + b"]" for line in lines),
    "CRLF": lambda lines: b"\r\n".join(lines) + b"\r\n",
    "no last newline": lambda lines: b"\n".join(lines),
    "with a BOM": lambda lines: b"\xef\xbb\xbf" + b"\n".join(lines) + b"\n",
    "keys sorted": lambda lines: b"\n".join(
        json.dumps(json.loads(line), sort_keys=True).encode() for line in lines
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_file_gives_the_same_traces(shape):
    data = SHAPES[shape](LINES)
    assert atlas.sniff(data[:65536])
    traces, report = read(data)
    assert traces == TRACES
    assert not report.rejected


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", [1 << 10, 1 << 11])
def test_records_may_end_anywhere_in_the_window_and_be_larger_than_it(shape, window, monkeypatch):
    monkeypatch.setattr(atlas, "WINDOW_BYTES", window)
    traces, report = read(SHAPES[shape](LINES * 3))
    assert traces == TRACES * 3
    assert not report.rejected


FAULTS = {
    "end lost": lambda line: line[:-30],
    "start lost": lambda line: line[30:],
    "brace lost": lambda line: line.replace(b'{"hop":3', b'"hop":3', 1),
    "quote lost": lambda line: line.replace(b'"from"', b'"from', 1),
    "no UTF-8": lambda line: line.replace(b"192.0.2.9", b"192.0.\xff.9", 1),
    "garbage": lambda line: b"%$#\x00",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("window", [1 << 10, 1 << 24])
def test_a_broken_record_loses_only_itself_in_any_shape(shape, fault, window, monkeypatch):
    monkeypatch.setattr(atlas, "WINDOW_BYTES", window)
    if "pretty" in shape or shape == "keys sorted":
        data = SHAPES[shape]([LINES[0], LINES[1], LINES[2]])
        begin = data.index(b'"2001:db8:ffff::1"')
        data = data[:begin] + b"2001" + data[begin + 5 :]  # its opening quote is lost
    else:
        data = SHAPES[shape]([LINES[0], FAULTS[fault](LINES[0]), LINES[2]])
    traces, report = read(data)
    assert traces == [TRACES[0], TRACES[2]]
    assert sum(report.rejected.values()) in (1, 2)  # "start lost" has inner objects


def test_a_broken_last_record_of_an_array_leaves_the_array_closed():
    traces, report = read(b"[\n" + LINES[0] + b",\n" + LINES[1][:-9] + b"\n]\n")
    assert traces == TRACES[:1]
    assert report.rejected == {"not valid JSON": 1}


def test_a_record_that_swallows_the_rest_of_the_file_is_the_only_one_lost():
    # Its list is not closed, so that all records after it could belong to it.
    swallower = b'{"fw":1,"result":[{"hop":1}'
    data = b"[" + b",\n".join([LINES[0], swallower, LINES[2], LINES[3]]) + b"]"
    traces, report = read(data)
    assert traces == [TRACES[0], TRACES[2], TRACES[3]]
    assert report.rejected == {"not valid JSON": 1}


def test_a_record_longer_than_the_limit_is_rejected_and_not_kept(monkeypatch):
    monkeypatch.setattr(atlas, "WINDOW_BYTES", 1 << 10)
    monkeypatch.setattr(atlas, "MAX_RECORD_BYTES", 1 << 12)
    long = LINES[0][:-1] + b',"note":"' + b"a" * 50_000 + b'"}'
    traces, report = read(b"\n".join([LINES[0], long, LINES[2]]))
    assert traces == [TRACES[0], TRACES[2]]
    assert report.rejected == {"record too long": 1}


def test_rejects_name_line_and_byte():
    data = LINES[0] + b"\n" + LINES[1].replace(b"2001:db8::1", b"2001:db8::g") + b"\n"
    _, report = read(data)
    (reject,) = report.samples
    assert reject.place == f"line 2, byte {len(LINES[0]) + 1}"
    assert reject.reason == "not an address"
    assert "2001:db8::g" in reject.detail


def test_hops_out_of_order_are_sorted():
    trace, report = one(result=[hop({"from": "10.0.0.2"}, hop=7), hop({"from": "10.0.0.1"}, hop=2)])
    assert [reply[:2] for reply in trace.replies] == [(2, "10.0.0.1"), (7, "10.0.0.2")]
    assert not report.rejected


@pytest.mark.parametrize(
    "text", ["::ffff:1.2.3.4", "1::", "::1", "::", "1:2:3:4:5:6:7::", "fe80::1%eth0", "1.2.3.4"]
)
def test_unusual_addresses_are_read(text):
    trace, _ = one(result=[hop({"from": text, "rtt": 1})])
    assert trace.replies[0][1] == {
        "::ffff:1.2.3.4": "1.2.3.4",
        "fe80::1%eth0": "fe80::1",
        "1:2:3:4:5:6:7::": "1:2:3:4:5:6:7:0",
    }.get(text, text)


@pytest.mark.parametrize("rtt", [-1, 1e300, "5", None, True])
def test_an_unusable_rtt_is_no_reason_to_lose_the_reply(rtt):
    trace, report = one(result=[hop({"from": "10.0.0.1", "rtt": rtt})])
    assert trace.replies == [(1, "10.0.0.1", None, KIND_UNKNOWN)]
    assert report.notes["replies without a usable rtt"] == 1


@pytest.mark.parametrize("timestamp", [-5, 1e300, 10**30, 4_102_444_800, "now", [5], True])
def test_an_unusable_timestamp_costs_no_result(timestamp):
    trace, report = one(timestamp=timestamp, result=[])
    assert trace.start_s == 0
    assert report.newest_s == 0
    assert report.notes == {"results without hops": 1, "unusable start time": 1}


@pytest.mark.parametrize("timestamp", [0, 0.0, None])
def test_a_result_without_timestamp_is_noted(timestamp):
    trace, report = one(timestamp=timestamp, result=[])
    assert trace.start_s == 0
    assert report.newest_s == 0
    assert report.notes == {"results without hops": 1, "results without a timestamp": 1}


@pytest.mark.parametrize("kind", [b"", b'"type":null,', b'"type":7,'])
def test_a_result_without_a_type_is_no_traceroute_whatever_it_holds(kind):
    hops = b'"dst_addr":"192.0.2.9","result":[{"hop":1,"result":[{"from":"::1"}]}]}'
    traces, report = read(LINES[0] + b"\n{" + kind + hops)
    assert len(traces) == 1
    assert report.rejected == {"no type": 1}


@pytest.mark.parametrize("name", ["ping", "http", "sniff", "Traceroute"])
def test_files_with_other_results_among_traceroutes_are_detected_as_atlas(name):
    other = b'{"fw":5080,"msm_id":1,"prb_id":2,"type":"%s","result":[]}' % name.encode()
    for head in ([other, LINES[0]], [LINES[0], other], [other]):
        text = b"\n".join(head)
        assert [f for f, format in FORMATS.items() if format.load().sniff(text)] == ["atlas"]
        _, report = read(text)
        assert report.skipped == {name: 1}
        assert report.n_records == len(head) - 1


@pytest.mark.parametrize("depth", [300, 5000])
def test_a_value_that_is_nested_too_deep_is_reported_as_such(depth):
    deep = b'{"type":"traceroute","a":' + b"[" * depth + b"]" * depth + b"}"
    for text in (b"[%s,%s]", b"[%s,\n%s\n]\n", b"%s\n%s\n"):
        traces, report = read(text % (LINES[0], deep))
        assert len(traces) == 1
        assert report.rejected == {"nested too deep": 1}


def test_other_measurements_are_skipped_by_type():
    _, report = read(
        b"\n".join([LINES[0], b'{"type":"ping","result":[]}', b'{"type":"dns"}', b'{"type":"dns"}'])
    )
    assert report.skipped == {"ping": 1, "dns": 2}
    assert report.n_records == 1


def test_however_many_types_a_file_names_few_are_distinguished():
    types = [f"type {i % 200}" for i in range(1000)]
    lines = [b'{"type":"%s"}' % kind.encode() for kind in types]
    _, report = read(LINES[0] + b"\n" + b"\n".join(lines))
    assert len(report.skipped) == MAX_SKIPPED_TYPES + 1
    assert report.skipped["type 49"] == 5
    assert report.skipped[OTHER_TYPE] == 150 * 5
    assert report.skipped.total() == 1000


def test_similar_keys_are_not_accepted():
    trace, _ = one(Timestamp=9, atimestamp=9, timestamq=9, dst_addd="10.0.0.1", result=[])
    assert trace.start_s == 5
    assert trace.dst == "192.0.2.9"


@pytest.mark.parametrize(
    ("name", "n_traces", "n_replies", "notes"),
    [
        ("traceroute/pantrace/atlas.jsonl", 14, 287, {"unanswered probes": 193, CLASSIC: 14}),
        (
            "traceroute/sagan/atlas_traceroute.jsonl",
            21,
            533,
            {
                "unanswered probes": 289,
                "late replies, left out": 15,
                "replies of kind unreachable (err)": 14,
                "replies with ICMP extensions": 45,
                "replies with MPLS labels": 45,
                "hops with an error": 2,
                "results without dst_addr": 1,
                "results without hops": 1,
                CLASSIC: 1,
            },
        ),
        (
            "labs/atlas/atlas_results.jsonl.gz",
            1560,
            35_954,
            {"unanswered probes": 3247, "replies of kind unreachable (err)": 66, CLASSIC: 108},
        ),
    ],
)
def test_real_files_are_read_whole(name, n_traces, n_replies, notes):
    path = real_data(name)
    data = path.read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    traces, report = read(data)
    assert len(traces) == report.n_records == n_traces
    assert report.n_hops == n_replies
    assert not report.rejected
    assert not report.skipped
    assert {k: n for k, n in report.notes.items() if k != "unanswered hops"} == notes
    # The other parser, on every record.
    for line, trace in zip(data.splitlines(), traces, strict=True):
        result = parse_result(orjson.loads(line))
        assert len(result.replies) == len(trace.replies)
        for ours, (ttl, addr, rtt, kind) in zip(result.replies, trace.replies, strict=True):
            assert (ours.ttl, ours.addr, ours.kind) == (ttl, parse_addr(addr), kind)
            assert rtt == (None if math.isnan(ours.rtt_ms) else pytest.approx(ours.rtt_ms, 1e-5))
        assert result.start_s == trace.start_s
        assert result.dst == parse_addr(trace.dst)
