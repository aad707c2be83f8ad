from __future__ import annotations

import io
import json
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import FormatError
from pipeline.ingest import open_reader, warts
from pipeline.ingest.column_reader import ColumnReader
from pipeline.model.addresses import unique_addrs
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    KIND_ECHO_REPLY,
    KIND_OTHER,
    KIND_TIME_EXCEEDED,
    KIND_UNKNOWN,
    KIND_UNREACHABLE,
    LABELLED,
)
from tests.contracts.trace_reader import Trace, TraceReaderContract, unpack
from tests.real_data import real_data
from tests.unit.pipeline.ingest.warts import warts_bytes as wb

SAMPLE_TRACES = [
    Trace(
        "192.0.2.1",
        "198.51.100.9",
        1_700_000_001.25,
        [
            (1, "203.0.113.1", 0.512, KIND_TIME_EXCEEDED),
            (3, "203.0.113.5", 1.25, KIND_TIME_EXCEEDED),
            (3, "203.0.113.6", 1.375, KIND_TIME_EXCEEDED),
            (4, "198.51.100.9", 2.001, KIND_ECHO_REPLY),
        ],
    ),
    Trace(
        "2001:db8::1",
        "2001:db8:1::2",
        1_700_000_002.0,
        [
            (1, "2001:db8:0:1::1", 0.7, KIND_TIME_EXCEEDED),
            (2, "2001:db8:1::2", 0.9, KIND_UNREACHABLE),
        ],
    ),
    Trace(
        "192.0.2.1",
        "198.51.100.10",
        1_700_000_003.999999,
        [
            (1, "203.0.113.1", 0.6, KIND_TIME_EXCEEDED | LABELLED),
            (2, "198.51.100.10", 3.0, KIND_OTHER),
            (3, "203.0.113.9", 4.0, KIND_UNREACHABLE),
        ],
    ),
    Trace("192.0.2.1", "198.51.100.11", 1_700_000_004.000005, []),
]


def read_bytes(data: bytes) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("bytes")
    return [t for batch in warts.read(io.BytesIO(data), report) for t in unpack(batch)], report


A, B = "203.0.113.1", "203.0.113.5"


def label_files() -> list[tuple[bytes, set[str]]]:
    """A trace whose first reply has extensions, as a trace record and as a tracelb record."""
    label, interface = b"\x00\x04\x01\x01\x00\x01\x41\x01", b"\x00\x02\x02\x01ab"
    files: list[tuple[bytes, set[str]]] = []
    for objects, found in (
        (label, {A}),
        (label + label, {A}),
        (interface + label, {A}),
        (interface, set()),
        (b"\x00\x04\x01\x02\x00\x01\x41\x01", set()),  # of the same class, another type
        (b"\xff\xff\x02\x01" + label, set()),  # a length that leads out
        (b"\x00\x04\x01", set()),
        (b"", set()),
    ):
        extensions = struct.pack(">H", len(objects)) + objects
        hops = [
            {"ttl": 2, "addr": A, "rtt_us": 1, "icmp": (11, 0), "more": {17: extensions}},
            {"ttl": 3, "addr": B, "rtt_us": 1, "icmp": (11, 0)},
        ]
        files.append((wb.trace("192.0.2.1", "198.51.100.1", (1, 0), 4, hops), found))
        full = {5: b"\x0b\0", 7: extensions, 11: wb.address(A)}
        links = [(0, None, [[(1, 2, full), (2, 2, A)], [(1, 3, B), (2, 3, B)]])]
        files.append((wb.tracelb("192.0.2.1", "198.51.100.1", ["203.0.113.9"], links), found))
    return files


class TestWarts(TraceReaderContract):
    format = "warts"
    sample = "warts/sample.warts"
    traces = SAMPLE_TRACES
    broken_record = wb.record(6, b"\x10\x00\x30" + b"\0" * 20)
    broken_reason = "parameters do not fit the record"
    labels = label_files()


def test_other_records_are_counted_by_type_and_silent_hops_noted():
    _, report = read_bytes(wb.SAMPLE)
    assert dict(report.skipped) == {"list": 1, "cycle start": 1, "cycle stop": 1, "ping": 1}
    assert dict(report.notes) == {"unanswered hops": 1, "replies with MPLS labels": 1}


def test_the_committed_samples_are_what_their_script_writes():
    assert (wb.SAMPLES / "sample.warts").read_bytes() == wb.SAMPLE
    for name, (content, *_) in wb._bad().items():
        assert (wb.SAMPLES / "bad" / name).read_bytes() == content, name


def test_a_file_without_traces_is_no_error():
    traces, report = read_bytes(wb.LIST + wb.PING)
    assert traces == []
    assert report.skipped["ping"] == 1


def test_addresses_by_number_of_older_files_are_followed_across_records():
    def numbered(n: int, text: str) -> bytes:
        packed = wb.address(text)
        return wb.record(5, bytes([n % 255, packed[1]]) + packed[2:])

    names = [f"203.0.113.{i % 250}" if i < 250 else f"203.0.112.{i - 250}" for i in range(300)]
    for base in (0, 1):
        table = b"".join(numbered(i + base, name) for i, name in enumerate(names))
        head = wb.params({3: struct.pack(">I", base), 4: struct.pack(">I", base + 299)})
        hop = wb.params({1: struct.pack(">I", base + 256), 2: b"\x05", 7: b"\x0b\x00"})
        old = wb.record(6, head + b"\0\1" + hop + b"\0\0")
        traces, report = read_bytes((table + old) * 2)
        want = Trace(names[0], names[299], 0.0, [(5, names[256], None, KIND_TIME_EXCEEDED)])
        assert traces == [want, want]
        assert dict(report.skipped) == {"address": 600}


def test_an_address_number_that_no_record_gave_is_rejected():
    head = wb.params({4: struct.pack(">I", 3)})
    traces, report = read_bytes(wb.record(6, head + b"\0\0\0\0") + wb.FOURTH)
    assert len(traces) == 1
    assert dict(report.rejected) == {"reference to an undefined address": 1}


def test_mapped_ipv4_addresses_of_16_bytes_are_ipv4():
    replies = [{"ttl": 7, "addr": "::ffff:203.0.113.7", "rtt_us": 1, "icmp": (11, 0)}]
    data = wb.trace("::ffff:192.0.2.1", "::ffff:198.51.100.1", (0, 0), 4, replies)
    traces, report = read_bytes(data)
    assert traces == [
        Trace("192.0.2.1", "198.51.100.1", 0.0, [(7, "203.0.113.7", 0.001, KIND_TIME_EXCEEDED)])
    ]
    assert report.newest_s == 0
    assert "unusable start time" not in report.notes


@pytest.mark.parametrize("start", [(4_102_444_800, 0), (0xFFFF_FFFF, 0xFFFF_FFFF)])
def test_an_unusable_start_time_costs_no_trace_and_names_no_snapshot(start):
    data = wb.trace("192.0.2.1", "198.51.100.1", start, 4, [])
    traces, report = read_bytes(wb.FOURTH + data)
    assert [each.start_s for each in traces] == [1_700_000_004.000005, 0.0]
    assert report.newest_s == 1_700_000_004.000005
    assert report.notes["unusable start time"] == 1
    assert not report.rejected


@pytest.mark.parametrize(
    ("addr", "icmp", "flags", "kind"),
    [
        ("192.0.2.9", (11, 0), 0, KIND_TIME_EXCEEDED),
        ("192.0.2.9", (11, 1), 0, KIND_OTHER),
        ("192.0.2.9", (3, 3), 0, KIND_UNREACHABLE),
        ("192.0.2.9", (0, 0), 0, KIND_ECHO_REPLY),
        ("192.0.2.9", (5, 0), 0, KIND_OTHER),
        ("192.0.2.9", None, 0x20, KIND_OTHER),
        ("192.0.2.9", None, 0x40, KIND_OTHER),
        ("192.0.2.9", None, 0, KIND_UNKNOWN),
        ("2001:db8::9", (3, 0), 0, KIND_TIME_EXCEEDED),
        ("2001:db8::9", (3, 1), 0, KIND_OTHER),
        ("2001:db8::9", (1, 4), 0, KIND_UNREACHABLE),
        ("2001:db8::9", (129, 0), 0, KIND_ECHO_REPLY),
        ("2001:db8::9", (11, 0), 0, KIND_OTHER),
    ],
)
def test_kinds_follow_the_family_of_who_answered(addr, icmp, flags, kind):
    replies = [{"ttl": 1, "addr": addr, "rtt_us": None, "icmp": icmp, "flags": flags}]
    traces, _ = read_bytes(wb.trace("192.0.2.1", "192.0.2.2", (1, 0), 4, replies))
    assert traces[0].replies == [(1, addr, None, kind)]


def test_attachments_and_flags_of_later_versions_are_stepped_over():
    attachments = struct.pack(">H", 1 << 12 | 5) + b"pmtud" + struct.pack(">H", 3 << 12 | 2) + b"dt"
    replies = [
        {"ttl": 1, "addr": "203.0.113.1", "rtt_us": 5, "icmp": (11, 0)}
        | {"more": {19: b"\0" * 8, 20: b"name\0", 33: b"??"}}
    ]
    traces, report = read_bytes(
        wb.trace("192.0.2.1", "192.0.2.2", (1, 0), 4, replies, attachments) + wb.FOURTH
    )
    assert len(traces) == 2
    assert traces[0].replies == [(1, "203.0.113.1", 0.005, KIND_TIME_EXCEEDED)]
    assert not report.rejected


def test_a_reply_without_an_address_is_noted_and_left_out():
    head = wb.params({27: wb.address("192.0.2.2")})
    traces, report = read_bytes(wb.record(6, head + b"\0\1" + wb.params({2: b"\1"}) + b"\0\0"))
    assert traces[0].replies == []
    assert dict(report.notes) == {"replies without an address": 1}


def test_records_across_window_borders_are_read(monkeypatch):
    monkeypatch.setattr(warts, "WINDOW_BYTES", 64)
    traces, report = read_bytes(wb.SAMPLE * 20)
    assert traces == SAMPLE_TRACES * 20
    assert not report.rejected


def test_garbage_of_any_length_does_not_pile_up_in_memory(monkeypatch):
    monkeypatch.setattr(warts, "WINDOW_BYTES", 1 << 10)
    report = ReadReport("bytes")
    data = wb.SAMPLE + b"\x12\x05\x00" * 100_000 + wb.SAMPLE
    reader = ColumnReader(io.BytesIO(data), report, warts.WartsDecoder(report))
    traces = [trace for batch in reader.batches() for trace in unpack(batch)]
    assert traces == SAMPLE_TRACES * 2
    assert dict(report.rejected) == {"bytes that are not a record": 1}
    assert len(reader.window.data) < 1 << 14


def test_a_record_that_claims_gigabytes_is_a_damaged_header():
    claims = struct.pack(">HHI", 0x1205, 6, 0xFFFF_FFF0)
    traces, report = read_bytes(wb.FIRST + claims + wb.SECOND)
    assert traces == SAMPLE_TRACES[:2]
    assert dict(report.rejected) == {"bytes that are not a record": 1}


def test_a_fault_of_the_stream_comes_after_everything_readable():
    class Faulty(io.BytesIO):
        def readinto(self, buffer):
            n_read = super().readinto(buffer)
            if not n_read:
                raise FormatError("x", "", "cut short: no more")
            return n_read

    report = ReadReport("x")
    reader = warts.read(Faulty(wb.SAMPLE + wb.FIRST[:30]), report)
    assert unpack(next(reader)) == SAMPLE_TRACES
    with pytest.raises(FormatError, match="no more"):
        next(reader)


LAB_FILES = ["h0.icmp-paris", "h0.udp-paris", "h1.icmp-paris", "h1.udp-paris", "h2.icmp-paris"]
LAB_FILES += ["h2.udp-paris", "h3.icmp-paris", "h3.udp-paris"]
LAB_FILES += [f"h{i}.icmp-paris" for i in range(4, 12)]


def test_the_large_lab_has_the_traces_and_hops_of_its_index():
    n_traces = n_replies = n_unanswered = 0
    for name in LAB_FILES:
        report = ReadReport(name)
        path = real_data(f"labs/brite168/{name}.warts.gz")
        for _ in open_reader(path, report)[1]:
            pass
        assert not report.rejected
        n_traces += report.n_records
        n_replies += report.n_hops
        n_unanswered += report.notes["unanswered hops"]
    assert n_traces == 14_496
    assert n_unanswered == 14_588
    assert n_replies + n_unanswered == 118_338


def test_the_small_lab_reads():
    n_traces = 0
    for path in sorted(real_data("labs/small").glob("*.warts")):
        report = ReadReport(str(path))
        for _ in open_reader(path, report)[1]:
            pass
        assert not report.rejected
        if "tracelb" in path.name:
            assert report.n_records == 53
        elif "trace6" not in path.name:
            n_traces += report.n_records
    assert n_traces == 424


def test_traces_of_an_outside_writer_read():
    report = ReadReport("pantrace")
    batches = list(open_reader(real_data("traceroute/pantrace/trace.warts"), report)[1])
    assert report.n_records == 1000
    assert len(unique_addrs([batch.addr for batch in batches])) == 949
    gaps = 0
    for trace in [t for batch in batches for t in unpack(batch)]:
        ttls = [reply[0] for reply in trace.replies]
        gaps += any(b - a > 1 for a, b in pairwise(ttls))
    assert gaps == 205


def test_files_with_a_text_rendering_give_the_addresses_that_it_shows():
    folder = real_data("traceroute/warts_dioptra")
    for path in sorted(folder.glob("trace_*.warts")):
        report = ReadReport(str(path))
        (trace,) = [t for batch in open_reader(path, report)[1] for t in unpack(batch)]
        text = path.with_suffix(".txt").read_text()
        assert trace.replies
        assert all(reply[1] in text for reply in trace.replies)
    for path in sorted(folder.glob("ping_*.warts")):
        report = ReadReport(str(path))
        assert list(open_reader(path, report)[1]) == []
        assert report.skipped["ping"] == 1


def test_expected_messages_are_valid_json_with_reasons_the_reader_knows():
    expected = json.loads((Path(wb.SAMPLES) / "bad" / "expected.json").read_text())
    assert len(expected) >= 10
    assert np.all([set(each) == {"error", "n_traces", "rejected"} for each in expected.values()])
