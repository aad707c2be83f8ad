"""Tables of replies: rows in any order as traces, dialects, broken rows, Parquet."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import detect_format, open_reader
from pipeline.ingest.reply_rows import read, sniff
from pipeline.ingest.reply_rows.addresses import NONE, PARSED, UNSURE, addresses_of
from pipeline.ingest.reply_rows.grouping import ROW, ReplyRows
from pipeline.model.addresses import format_addr
from pipeline.model.measured.reading import NO_SOURCE, ReadReport
from pipeline.model.measured.traces import (
    KIND_ECHO_REPLY,
    KIND_TIME_EXCEEDED,
    KIND_UNKNOWN,
    KIND_UNREACHABLE,
    LABELLED,
)
from tests.contracts.trace_reader import SAMPLES, Trace, TraceReaderContract, unpack
from tests.soak import examples

HEAD = "vantage,destination,ttl,address,rtt\n"
TTL = "TTL is not a number from 1 to 255"


def fault(error: str = "", n_traces: int = 0, rejected: dict | None = None) -> dict:
    return {"error": error, "n_traces": n_traces, "rejected": rejected or {}}


class TestReplyRows(TraceReaderContract):
    format = "reply_rows"
    sample = "reply_rows/sample.csv"
    traces = [
        Trace(
            "192.0.2.9",
            "203.0.113.9",
            1790000000.25,
            [(1, "192.0.2.1", 0.5, KIND_UNKNOWN), (3, "203.0.113.9", 2.75, KIND_UNKNOWN)],
        ),
        Trace(
            "::",
            "2001:db8::9",
            1790000001.0,
            [(1, "2001:db8::1", None, KIND_UNKNOWN), (1, "2001:db8::2", 1.25, KIND_UNKNOWN)],
        ),
        Trace("192.0.2.9", "203.0.113.10", 1790000002.0, [(1, "192.0.2.1", 0.625, KIND_UNKNOWN)]),
    ]
    broken_record = b"192.0.2.9,203.0.113.9,0,192.0.2.1,0.5,0\n"
    broken_reason = TTL
    bad = {
        "address.csv": (
            f"{HEAD}::1,::2,1,gateway,1\n::1,::2,2,::3,1\n::1,target,3,::3,1\n".encode(),
            fault(n_traces=1, rejected={"not an address": 2}),
        ),
        "columns.csv": (
            f"{HEAD}::1,::2,1,::3\n::1,::2,2,::3,1\n::1,::2,3,::3,1,2,3\n".encode(),
            fault(n_traces=1, rejected={"wrong number of columns": 2}),
        ),
        "ttl.csv": (
            f"{HEAD}::1,::2,256,::3,1\n::1,::2,1.5,::3,1\n::1,::2,,::3,1\n".encode(),
            fault("no record of it can be used", rejected={TTL: 3}),
        ),
        "damaged.parquet": (
            b"PAR1" + bytes(50),
            fault(
                "damaged Parquet: Parquet magic bytes not "
                "found in footer. Either the file is corrupted or this is not a parquet file."
            ),
        ),
    }

    def test_a_file_of_broken_records_alone_is_rejected_with_the_first_reason(self, tmp_path):
        path = tmp_path / "broken"
        head = b"vantage,destination,ttl,address,rtt,time\n"
        path.write_bytes(head + self.broken_record * 3)
        traces, report, error = self.read_file(path)
        assert traces == []
        assert (report.status, report.n_records) == ("rejected", 0)
        assert error is not None
        assert TTL in error.reason.partition("; first fault: ")[2]


def read_bytes(data: bytes) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("bytes")
    batches = read(io.BytesIO(data), report)  # type: ignore[arg-type]
    return [trace for batch in batches for trace in unpack(batch)], report


CARACAL = [
    Trace(
        "192.0.2.9",
        "203.0.113.9",
        1790000000.0,
        [
            (1, "192.0.2.1", 0.5, KIND_TIME_EXCEEDED),
            (2, "198.51.100.1", 2.5, KIND_TIME_EXCEEDED | LABELLED),
        ],
    ),
    Trace("192.0.2.9", "203.0.113.9", 1790000002.0, [(1, "192.0.2.1", 0.5, KIND_TIME_EXCEEDED)]),
    Trace("192.0.2.9", "8.8.8.8", 1790000003.0, [(64, "8.8.8.8", 56.4, KIND_ECHO_REPLY)]),
]


def test_caracal_has_a_trace_for_each_flow():
    traces, report = read_bytes((SAMPLES / "reply_rows" / "caracal.csv").read_bytes())
    assert traces == CARACAL
    assert not report.rejected
    assert not report.notes[NO_SOURCE]


def test_yarrp_has_a_trace_for_each_target():
    traces, report = read_bytes((SAMPLES / "reply_rows" / "scan.yrp").read_bytes())
    assert traces == [
        Trace(
            "2001:db8:1::9",
            "2001:db8::9",
            1790000000.25,
            [
                (1, "2001:db8::1", 0.75, KIND_TIME_EXCEEDED),
                (2, "2001:db8::2", 1.25, KIND_TIME_EXCEEDED | LABELLED),
            ],
        ),
        Trace(
            "2001:db8:1::9",
            "2001:db8::8",
            1790000001.5,
            [(1, "2001:db8::1", 0.5, KIND_UNREACHABLE)],
        ),
    ]
    assert not report.rejected


def test_yarrp_of_older_versions_has_fewer_fields_and_milliseconds():
    row = b"203.0.113.9 1790000000 0 11 0 %d 192.0.2.%d 12 51 0 40 56 250 %d\n"
    text = b"# yarrp v0.4\n" + b"".join(row % (ttl, ttl, ttl) for ttl in (1, 2))
    ((_, dst, _, replies),), _ = read_bytes(text)
    assert dst == "203.0.113.9"
    assert [(ttl, rtt) for ttl, _, rtt, _ in replies] == [(1, 12.0), (2, 12.0)]


@pytest.mark.parametrize("as_bytes", [False, True])
def test_parquet_gives_what_csv_gives(tmp_path, as_bytes):
    """Text or 16 bytes for an address, a list of labels, dictionaries, nulls."""
    addrs = ["::ffff:198.51.100.1", "::ffff:192.0.2.1", "::ffff:192.0.2.1", "::ffff:8.8.8.8"]
    dsts = ["::ffff:203.0.113.9"] * 3 + ["::"]

    def column(texts: list[str]) -> pa.Array:
        if not as_bytes:
            return pa.array(texts).dictionary_encode()
        import ipaddress

        return pa.array([ipaddress.ip_address(t).packed for t in texts], pa.binary(16))

    table = pa.table(
        {
            "probe_src_addr": column(["::ffff:192.0.2.9"] * 4),
            "probe_dst_addr": column(dsts),
            "probe_src_port": pa.array([24000, 24001, 24000, 24000], pa.uint16()),
            "probe_protocol": pa.array([17, 17, 17, 1], pa.uint8()),
            "probe_ttl": pa.array([2, 1, 1, 64], pa.uint8()),
            "reply_src_addr": column(addrs),
            "reply_icmp_type": pa.array([11, 11, 11, 0], pa.uint8()),
            "reply_icmp_code": pa.array([0, 0, 0, None], pa.uint8()),
            "reply_mpls_labels": pa.array([[24015], [], None, []], pa.list_(pa.uint32())),
            "rtt": pa.array([25, 5, 5, 564], pa.uint16()),
            "capture_timestamp": pa.array(
                [1790000001, 1790000002, 1790000000, 1790000003], pa.timestamp("s")
            ),
        }
    )
    path = tmp_path / "iris.parquet"
    pq.write_table(table, path)
    assert detect_format(path) == "reply_rows"
    report = ReadReport(str(path))
    assert [t for batch in open_reader(path, report)[1] for t in unpack(batch)] == CARACAL


def test_floating_times_of_iris_are_milliseconds(tmp_path):
    table = pa.table(
        {
            "probe_dst_addr": ["::ffff:203.0.113.9"],
            "probe_ttl": [1],
            "reply_src_addr": ["::ffff:192.0.2.1"],
            "rtt": [2.5],
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    ((_, _, _, replies),), report = read_bytes(sink.getvalue())
    assert replies == [(1, "192.0.2.1", 2.5, KIND_UNKNOWN)]
    assert report.notes[NO_SOURCE] == 1


def test_parquet_of_something_else_is_told_which_columns_it_needs():
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), sink)
    with pytest.raises(FormatError, match=r"its columns are a, b; needed are .*probe_ttl"):
        read_bytes(sink.getvalue())


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_and_names_in_quotes(separator):
    text = f'{HEAD}::1,::2,1,::3,1.5\n"::1","::2",2,"::4",\n'.replace(",", separator)
    ((_, _, _, replies),), _ = read_bytes(text.encode())
    assert replies == [(1, "::3", 1.5, KIND_UNKNOWN), (2, "::4", None, KIND_UNKNOWN)]


def test_rows_that_name_their_trace_may_be_in_any_order():
    text = "source,dst,hop,ip,trace\n::1,::2,2,::4,b\n::1,::2,1,::5,a\n::1,::2,1,::3,b\n"
    traces, _ = read_bytes(text.encode())
    assert [[addr for _, addr, *_ in trace.replies] for trace in traces] == [
        ["::3", "::4"],
        ["::5"],
    ]


def test_where_files_were_joined_a_header_is_no_row():
    traces, report = read_bytes(f"{HEAD}::1,::2,1,::3,1\n{HEAD}::1,::2,1,::3,1\n".encode())
    assert len(traces) == 1  # TTLs do not fall: one trace with two replies
    assert not report.rejected


def test_other_tables_are_not_taken():
    for text in (
        b"source,target,weight\n1,2,3\n",
        b"start,end,asn\n192.0.2.0,192.0.2.255,64500\n",
        b"1 2\n2 3\n",
        b"id,name,hop\n1,a,2\n",
    ):
        assert not sniff(text)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(1, 4)),
    min_size=1,
    max_size=40,
)


@settings(max_examples=examples(60), deadline=None)
@given(ROWS, st.integers(1, 10))
def test_few_rows_in_memory_give_the_same_traces(found, size):
    """Against a dict of lists, in memory and on disk."""
    rows = np.zeros(len(found), ROW)
    expected: dict[tuple, list[tuple]] = {}
    for i, (src, dst, flow, ttl) in enumerate(found):
        rows[i] = ((0, src), (1, dst), flow, (2, i), i + 1, i, ttl, 0, 0)
        expected.setdefault((src, dst, flow), []).append((ttl, i))
    for most in (1 << 20, size):
        held = ReplyRows(most)
        for first in range(0, len(rows), 7):
            held.add(rows[first : first + 7])
        got = []
        for batch in held.traces():
            for i, (a, b) in enumerate(itertools.pairwise(batch.reply_ptr.tolist())):
                who = batch.addr[a:b, 1].tolist()
                key = (int(batch.src_addr[i, 1]), int(batch.dst_addr[i, 1]))
                got.append((*key, [*zip(batch.ttl[a:b].tolist(), who, strict=True)]))
                assert batch.start_s[i] == min(who) + 1
        wanted = [(key[0], key[1], sorted(rows_of)) for key, rows_of in expected.items()]
        assert (got if most > 100 else sorted(got)) == (wanted if most > 100 else sorted(wanted))


@pytest.mark.parametrize("type", [pa.binary(), pa.string(), pa.large_string()])
def test_columns_of_addresses(type):
    texts = [
        "192.0.2.1",
        "::ffff:192.0.2.1",
        "::FFFF:192.0.2.1",
        "2001:db8::1",
        "fe80::1%eth0",
        "",
        "*",
        None,
        "gw",
        "192.0.2",
        "::ffff:1.2.3",
    ]
    words, state = addresses_of(pa.array(texts).cast(type)[1:])
    found = [
        format_addr(*row) if ok == PARSED else None
        for row, ok in zip(words.tolist(), state.tolist(), strict=True)
    ]
    assert found[:4] == ["192.0.2.1", "192.0.2.1", "2001:db8::1", "fe80::1"]
    assert state[4:].tolist() == [NONE, NONE, NONE, UNSURE, UNSURE, UNSURE]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=6))
def test_damaged_parquet_gives_traces_or_a_fault(edits):
    sink = io.BytesIO()
    columns = {
        "probe_dst_addr": ["::ffff:203.0.113.9"] * 9,
        "probe_ttl": [*range(9)],
        "reply_src_addr": ["::ffff:192.0.2.1"] * 9,
    }
    pq.write_table(pa.table(columns), sink)
    data = bytearray(sink.getvalue())
    for at, byte in edits:
        data[4 + at % (len(data) - 4)] = byte
    try:
        traces, report = read_bytes(bytes(data))
    except FormatError:
        return
    assert report.n_records == len(traces)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("sample", ["scamper_json/sample.json", "reply_rows/scan.yrp"])
def test_what_convert_writes_is_read_back(tmp_path, sample, ending):
    from pipeline.config import ConvertConfig
    from pipeline.stages.convert import convert

    path = tmp_path / f"traces.{ending}"
    convert(ConvertConfig(source=SAMPLES / sample, out=path))
    report = ReadReport(sample)
    before = [t for batch in open_reader(SAMPLES / sample, report)[1] for t in unpack(batch)]
    again = ReadReport(str(path))
    after = [t for batch in open_reader(path, again)[1] for t in unpack(batch)]
    assert after == [trace for trace in before if trace.replies]
    assert not again.rejected
