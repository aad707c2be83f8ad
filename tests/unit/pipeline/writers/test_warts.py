"""Warts that we write: our reader gives back what went in, and scamper's tools print it."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import UsageError
from pipeline.ingest import open_reader
from pipeline.model.addresses import format_addr, parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    CLASSIC_TRACE,
    KIND_ECHO_REPLY,
    KIND_OTHER,
    KIND_TIME_EXCEEDED,
    KIND_UNKNOWN,
    KIND_UNREACHABLE,
    LABELLED,
    METHODS,
    PART_CUT,
    PART_FURTHER,
    STOPS,
    Probing,
    TraceBatch,
)
from pipeline.writers import is_warts, warts
from tests.contracts.trace_reader import SAMPLES
from tests.soak import examples

LAB = sorted((SAMPLES / "lab").glob("*.warts.gz"))
COLUMNS = ("src_addr", "dst_addr", "start_s", "reply_ptr", "ttl", "addr", "rtt_ms", "kind")
ADDRS = ["192.0.2.1", "192.0.2.2", "198.51.100.9", "2001:db8::1", "2001:db8::2", "::", "0.0.0.0"]
scamper = pytest.mark.skipif(
    shutil.which("sc_warts2json") is None, reason="sc_warts2json of scamper is not installed"
)


def batch_of(traces, probing=None):
    """A batch of (source, destination, start, part, replies), replies as in ``REPLIES``."""
    replies = [reply for *_, of in traces for reply in of]
    ttl, addr, us, kind, reply_ttl = zip(*replies, strict=True) if replies else ((),) * 5
    rtt_ms = np.array([np.nan if each is None else each / 1000 for each in us], np.float32)
    return TraceBatch(
        src_addr=words([trace[0] for trace in traces]),
        dst_addr=words([trace[1] for trace in traces]),
        start_s=np.array([trace[2] for trace in traces], np.float64),
        reply_ptr=np.cumsum([0, *(len(trace[4]) for trace in traces)]),
        ttl=np.array(ttl, np.uint8),
        addr=words(addr),
        rtt_ms=rtt_ms,
        kind=np.array(kind, np.uint8),
        part=np.array([trace[3] for trace in traces], np.uint8),
        reply_ttl=np.array(reply_ttl, np.uint8),
        probing=probing,
    )


def words(texts):
    pairs = [(0, 0) if text is None else parse_addr(text) for text in texts]
    return np.array(pairs, np.uint64).reshape(-1, 2)


def written(*batches, **names):
    file = io.BytesIO()
    lost = warts.write(batches, file, **names)
    return file.getvalue(), dict(lost)


def read(data, tmp_path):
    """All traces of a file as one batch, and the report."""
    path = tmp_path / "x.warts"
    path.write_bytes(data)
    report = ReadReport(str(path))
    (batch,) = open_reader(path, report)[1]
    assert isinstance(batch, TraceBatch)
    return batch, report


def printed(data, tmp_path):
    """The trace records as scamper prints them."""
    path = tmp_path / "printed.warts"
    path.write_bytes(data)
    said = subprocess.run(["sc_warts2json", path], capture_output=True, check=True, timeout=60)
    assert said.stderr == b""
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    assert rows[0]["type"] == "cycle-start"
    assert rows[-1]["type"] == "cycle-stop"
    return [row for row in rows if row["type"] == "trace"]


addrs = st.one_of(
    st.sampled_from(ADDRS),
    st.integers(0, 2**32 - 1).map(lambda n: format_addr(0, 0xFFFF << 32 | n)),
    st.integers(0, 2**128 - 1).map(lambda n: format_addr(n >> 64, n & 2**64 - 1)),
)
replies = st.tuples(
    st.integers(1, 255),
    addrs,
    st.one_of(st.none(), st.integers(0, 2**24), st.just(4_000_000_000)),
    st.tuples(st.integers(KIND_UNKNOWN, KIND_OTHER), st.sampled_from([0, LABELLED])).map(sum),
    st.integers(0, 255),
)
starts = st.one_of(
    st.just(0.0),
    st.tuples(st.integers(1, 4_102_444_799), st.integers(0, 999_999)).map(
        lambda pair: pair[0] + pair[1] / 1e6
    ),
)
traces = st.tuples(
    st.one_of(st.none(), addrs),
    addrs.filter(lambda text: text != "::"),  # zeros: no destination
    starts,
    st.sampled_from([0, CLASSIC_TRACE]),
    st.lists(replies, max_size=12).map(lambda rows: sorted(rows, key=lambda row: row[0])),
)


@settings(max_examples=examples(300))
@given(given=st.lists(st.lists(traces, min_size=1, max_size=4), min_size=1, max_size=3))
def test_our_reader_gives_back_what_went_in(given, tmp_path_factory):
    data, lost = written(*map(batch_of, given))
    assert lost == {}
    found, report = read(data, tmp_path_factory.mktemp("x"))
    assert (report.status, dict(report.rejected)) == ("ok", {})
    whole = batch_of([trace for some in given for trace in some])
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), name)
    for name in ("part", "reply_ttl"):
        value = getattr(found, name)
        expected = getattr(whole, name)
        np.testing.assert_array_equal(np.zeros_like(expected) if value is None else value, expected)


HOPS = [
    (1, "203.0.113.1", 512, KIND_TIME_EXCEEDED, 64),
    (3, "203.0.113.5", 1_250, KIND_TIME_EXCEEDED | LABELLED, 0),
    (3, "203.0.113.6", None, KIND_UNKNOWN, 0),
    (4, "198.51.100.9", 2_001, KIND_ECHO_REPLY, 61),
]
TRACES = [
    ("192.0.2.1", "198.51.100.9", 1_700_000_001.25, 0, HOPS),
    (None, "198.51.100.10", 0.0, 0, HOPS[:1]),
    ("192.0.2.1", "198.51.100.11", 1_700_000_002.0, CLASSIC_TRACE, []),
    (
        *("2001:db8::1", "2001:db8:1::2", 1_700_000_003.999999, CLASSIC_TRACE),
        [
            (1, "2001:db8::5", 700, KIND_TIME_EXCEEDED, 64),
            (2, "2001:db8:1::3", 900, KIND_UNREACHABLE, 60),
        ],
    ),
]


@scamper
def test_scamper_prints_what_went_in(tmp_path):
    first, second, third, fourth = printed(written(batch_of(TRACES))[0], tmp_path)
    assert (first["src"], first["dst"]) == ("192.0.2.1", "198.51.100.9")
    assert (first["start"]["sec"], first["start"]["usec"]) == (1_700_000_001, 250_000)
    assert (first["stop_reason"], first["hop_count"]) == ("COMPLETED", 4)
    shown = ("addr", "probe_ttl", "probe_id", "rtt", "reply_ttl", "icmp_type", "icmp_code")
    assert [tuple(hop[name] for name in shown) for hop in first["hops"]] == [
        ("203.0.113.1", 1, 1, 0.512, 64, 11, 0),
        ("203.0.113.5", 3, 1, 1.25, 0, 11, 0),
        ("203.0.113.6", 3, 2, 0.0, 0, 0, 0),  # scamper shows what is not there as 0
        ("198.51.100.9", 4, 1, 2.001, 61, 0, 0),
    ]
    (extension,) = first["hops"][1]["icmpext"]
    assert (extension["ie_cn"], extension["ie_ct"]) == (1, 1)
    assert len(extension["mpls_labels"]) == 1
    assert ("src" in second, second["start"]["sec"], second["stop_reason"]) == (
        False,
        0,
        "GAPLIMIT",
    )
    assert (third["method"], third["hop_count"], "hops" in third) == ("udp", 0, False)
    assert (fourth["src"], fourth["dst"]) == ("2001:db8::1", "2001:db8:1::2")
    assert (fourth["stop_reason"], fourth["start"]["usec"]) == ("UNREACH", 999_999)
    shown = ("addr", "icmp_type", "icmp_code")
    assert [tuple(hop[name] for name in shown) for hop in fourth["hops"]] == [
        ("2001:db8::5", 3, 0),
        ("2001:db8:1::3", 1, 4),
    ]


@scamper
def test_what_is_known_of_the_probing_is_in_the_records(tmp_path):
    probing = Probing(
        method=np.array([METHODS.index(name) for name in ("icmp-echo-paris", "tcp")], np.uint8),
        stop=np.array([STOPS.index(name) for name in ("HOPLIMIT", "LOOP")], np.uint8),
        last_ttl=np.array([30, 0], np.uint8),
        attempt=np.array([1, 0, 2, 0, 0], np.uint8),
        icmp=np.array([11 << 8, 11 << 8 | 1, 3 << 8 | 13, -1, 11 << 8], np.int32),
        label=np.array([7, 0x1F4013F2, 0, 0, 0], np.uint32),
        attempts=2,
        gap_limit=5,
        wait_s=3,
    )
    replies = [(*row[:3], KIND_OTHER | row[3] & LABELLED, row[4]) for row in HOPS]
    given = [(*TRACES[0][:4], replies), TRACES[1]]
    data, _ = written(batch_of(given, probing), name='a list"', monitor="ams-nl")
    first, second = printed(data, tmp_path)
    shown = ("method", "stop_reason", "hop_count", "attempts", "wait")
    assert [first[name] for name in shown] == ["icmp-echo-paris", "HOPLIMIT", 30, 2, 3]
    assert [second[name] for name in shown[:3]] == ["tcp", "LOOP", 1]
    assert [hop["probe_id"] for hop in first["hops"]] == [2, 1, 3, 1]
    codes = [(hop.get("icmp_type"), hop.get("icmp_code")) for hop in first["hops"]]
    assert codes == [(11, 0), (11, 1), (3, 13), (None, None)]
    assert "tcp_flags" in first["hops"][3]
    assert "icmpext" not in first["hops"][0]  # its reply had no labels, whatever was given
    (entry,) = first["hops"][1]["icmpext"][0]["mpls_labels"]
    fields = {"mpls_label": 128_001, "mpls_exp": 1, "mpls_s": 1, "mpls_ttl": 242}
    assert entry == fields
    assert b"a_list_\0" in data
    assert b"ams-nl\0" in data
    dumped = subprocess.run(
        ["sc_wartsdump", tmp_path / "printed.warts"], capture_output=True, text=True, check=True
    )
    assert "gaplimit: 5" in dumped.stdout


@scamper
@pytest.mark.parametrize("path", LAB, ids=lambda path: path.name)
def test_of_scampers_own_files_what_we_keep_is_printed_the_same(path, tmp_path):
    original = gzip.decompress(path.read_bytes())
    batches = list(open_reader(path, ReadReport(str(path)))[1])
    (tmp_path / "original").mkdir()
    before = [kept(row) for row in printed(original, tmp_path / "original")]
    after = [kept(row) for row in printed(written(*batches)[0], tmp_path)]
    # Paths of a tracelb record are further traces.
    assert [row for row in after if row in before] == before
    assert len(before) > 5


def kept(row):
    hops = row.get("hops", [])
    replies = [
        (
            *(hop["addr"], hop["probe_ttl"], hop["rtt"], hop["reply_ttl"], hop.get("icmp_type")),
            "mpls_labels" in str(hop.get("icmpext")),
        )
        for hop in sorted(hops, key=lambda hop: hop["probe_ttl"])
    ]
    return row["src"], row["dst"], row["start"]["sec"], row["start"]["usec"], replies


def test_what_warts_cannot_hold_is_counted(tmp_path):
    many = [(1, "203.0.113.1", 1, KIND_TIME_EXCEEDED, 0)] * 70_000
    long = [(1, "203.0.113.1", 5_000_000_000, KIND_TIME_EXCEEDED, 0)]
    given = [
        (None, None, 0.0, 0, HOPS),
        ("192.0.2.1", "198.51.100.9", 0.0, 0, many),
        ("192.0.2.1", "198.51.100.9", 0.0, PART_CUT, long),
        ("192.0.2.1", "198.51.100.9", 0.0, PART_FURTHER, HOPS[1:]),
    ]
    data, lost = written(batch_of(given))
    assert lost == {
        warts.NO_DESTINATION: 1,
        warts.LONG_RTT: 1,
        warts.LONG_TRACE: 70_000 - 65_535,
        warts.FURTHER: 1,
    }
    found, report = read(data, tmp_path)
    assert report.status == "ok"
    assert np.diff(found.reply_ptr).tolist() == [65_535, 1, 3]
    assert np.isnan(found.rtt_ms[65_535])


def test_a_trace_of_more_addresses_than_are_looked_for_is_read_back(tmp_path):
    many = [f"10.{n >> 8}.{n & 255}.1" for n in range(300)]
    hops = [(1 + n // 9, addr, n, KIND_UNKNOWN, 0) for n, addr in enumerate([*many, *many])]
    batch = batch_of([("192.0.2.1", "198.51.100.9", 0.0, 0, hops)])
    found, _ = read(written(batch)[0], tmp_path)
    assert found.addr.tolist() == batch.addr.tolist()


def test_a_file_without_traces_has_a_list_and_a_cycle():
    data, _ = written(name="none")
    assert data == (
        bytes.fromhex("12050001 0000000e 00000001 00000000") + b"none\0\0"
        + bytes.fromhex("12050002 00000011 00000001 00000001 00000000 00000000 00")
        + bytes.fromhex("12050004 00000009 00000001 00000000 00")
    )  # fmt: skip


def test_the_bytes_of_a_record_are_those_of_the_manual_page():
    batch = batch_of([("192.0.2.1", "198.51.100.9", 2.5, 0, HOPS[:1])])
    data, _ = warts.records(replace(batch, probing=Probing(method=np.array([4], np.uint8))))
    assert bytes(data) == bytes.fromhex(
        "1205 0006 0000003f"
        "b3 88 90 30 0020"  # flags 1, 2, 5, 6; 11; 19; 26, 27; bytes of their values
        "00000001 00000001 00000002 0007a120 05 04 0001"  # gap limit, icmp-echo-paris, one hop
        "04 01 c0000201 04 01 c6336409"
        "0001"  # replies
        "fe 80 08 0010"  # flags 2 to 7; none; 18
        "01 40 10 00 00000200 0b00 04 01 cb007101"
        "0000"  # no attachment
    )


def test_a_name_that_ends_with_gz_makes_gzip_and_the_same_bytes_again(tmp_path):
    batch = batch_of(TRACES)
    for name in ("a.warts.gz", "b.warts.gz", "c.warts"):
        assert is_warts(tmp_path / name)
        warts.write_file([batch], tmp_path / name)
    packed = (tmp_path / "a.warts.gz").read_bytes()
    assert packed == (tmp_path / "b.warts.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "c.warts").read_bytes() == written(batch)[0]
    assert not is_warts(tmp_path / "c.warts.csv")


def test_a_file_that_fails_leaves_what_was_there(tmp_path):
    (tmp_path / "x.warts").write_bytes(b"before")

    def batches():
        yield batch_of(TRACES)
        raise UsageError("no more")

    with pytest.raises(UsageError):
        warts.write_file(batches(), tmp_path / "x.warts")
    assert (tmp_path / "x.warts").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["x.warts"]
