"""Output of traceroute: programs, marks, several addresses at a hop, broken and cut traces."""

from __future__ import annotations

import io
import itertools
import time

import pytest

from pipeline.ingest import detect_format, open_reader
from pipeline.ingest.traceroute_text import MAX_RECORD_BYTES, read
from pipeline.model.measured.reading import CLASSIC, ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN, KIND_UNREACHABLE, LABELLED
from tests.contracts.trace_reader import Trace, TraceReaderContract, unpack
from tests.real_data import real_data

HEAD = "traceroute to a.example (192.0.2.9), 30 hops max, 60 byte packets\n"
NO_RESULT = "neither an address nor a probe's result"


def fault(error: str = "", n_traces: int = 0, **rejected: int) -> dict:
    named = {name.replace("_", " "): n for name, n in rejected.items()}
    return {"error": error, "n_traces": n_traces, "rejected": named}


class TestTracerouteText(TraceReaderContract):
    format = "traceroute_text"
    sample = "traceroute_text/sample.txt"
    traces = [
        Trace(
            "::",
            "198.51.100.9",
            0.0,
            [
                *((1, "192.0.2.1", rtt, KIND_UNKNOWN) for rtt in (0.341, 0.322, 0.31)),
                *((2, "192.0.2.6", rtt, KIND_UNKNOWN) for rtt in (1.25, 1.5)),
                (4, "203.0.113.5", 2.125, KIND_UNKNOWN | LABELLED),
                (4, "203.0.113.9", 2.25, KIND_UNKNOWN),
                (4, "203.0.113.13", 2.375, KIND_UNKNOWN),
                *((5, "198.51.100.9", rtt, KIND_UNREACHABLE) for rtt in (3.5, 3.625)),
            ],
        ),
        Trace(
            "2001:db8:1::1",
            "2001:db8::9",
            0.0,
            [
                *((1, "2001:db8:1::2", rtt, KIND_UNKNOWN) for rtt in (0.5, 0.625, 0.75)),
                (2, "fe80::1", 1.0, KIND_UNKNOWN),
                *((2, "2001:db8:2::1", rtt, KIND_UNKNOWN) for rtt in (1.125, 1.25)),
            ],
        ),
        Trace("::", "198.51.100.77", 0.0, []),
    ]
    broken_record = f"{HEAD} 1  192.0.2.1  0.5 ms  0.6 parsecs\n".encode()
    broken_reason = NO_RESULT
    labels = [
        (f"{HEAD}1 192.0.2.1 1 ms 2 ms\n".encode(), set()),
        (
            f"{HEAD}1 192.0.2.1 1 ms\n2 192.0.2.2 [MPLS: Label 5 Exp 0] 2 ms\n".encode(),
            {"192.0.2.2"},
        ),
        (
            f"{HEAD}1 192.0.2.1 1 ms\n     MPLS Label=5 CoS=0 TTL=1 S=1\n2 :: 2 ms".encode(),
            {"192.0.2.1"},
        ),
        (f"{HEAD}1 192.0.2.1 <MPLS:L=1,E=0,S=1,T=1> 1 ms 192.0.2.2 2 ms".encode(), {"192.0.2.1"}),
    ]
    bad = {
        "no_address.txt": (
            b"traceroute to a.example (a.example), 30 hops max\n 1  192.0.2.1  1 ms\n",
            fault("no record of it can be used", not_an_address=1),
        ),
        "falling.txt": (
            f"{HEAD} 2  192.0.2.1  1 ms\n 1  192.0.2.2  1 ms\n{HEAD}".encode(),
            fault(n_traces=1, hop_numbers_fall=1),
        ),
        "cut.txt": (
            f"{HEAD}{HEAD} 1  192.0.2.1  1 ms\n 2  198.51.10".encode(),
            fault("cut short: the last line does not end", 1),
        ),
        "hop_256.txt": (
            f"{HEAD} 256  192.0.2.1  1 ms\n{HEAD}".encode(),
            fault(n_traces=1, hop_number_outside_1_to_255=1),
        ),
    }


def replies(*lines: str) -> list[tuple]:
    report = ReadReport("text")
    text = HEAD + "".join(f"{line}\n" for line in lines)
    (batch,) = read(io.BytesIO(text.encode()), report)  # type: ignore[arg-type]
    assert not report.rejected, report.samples
    ((_, _, _, found),) = unpack(batch)
    return found


@pytest.mark.parametrize(
    ("line", "addrs", "rtts"),
    [
        (" 1  192.0.2.1  0.4 ms  0.3 ms  0.2 ms", ["192.0.2.1"] * 3, [0.4, 0.3, 0.2]),
        ("  1   192.0.2.1  0.418ms  0,317ms  *", ["192.0.2.1"] * 2, [0.418, 0.317]),
        (
            " 1  [AS0] gw (192.0.2.1)  1 ms [AS5] b (192.0.2.2)  2 ms",
            ["192.0.2.1", "192.0.2.2"],
            [1, 2],
        ),
        (" 1  192.0.2.1 36 bytes to 192.0.2.9  1 ms", ["192.0.2.1"], [1]),
        (" 1  192.0.2.1  1 ms (61) 2 ms (ttl=60!)", ["192.0.2.1"] * 2, [1, 2]),
        (" 1  gw (192.0.2.1)  F=1500 1 ms '-3'  2 ms", ["192.0.2.1"] * 2, [1, 2]),
        (" 1  192.0.2.1", ["192.0.2.1"], [None]),
        (" 1  192.0.2.1 192.0.2.2  5 ms *", ["192.0.2.1", "192.0.2.2"], [None, 5]),
        (" 1  gw.example (2001:db8::1%eth0)  2000000000 ms\r", ["2001:db8::1"], [None]),
        (" 1  <1>.example (192.0.2.1)  1 ms", ["192.0.2.1"], [1]),
    ],
)
def test_programs_and_their_options(line, addrs, rtts):
    found = replies(line)
    assert [(addr, rtt) for _, addr, rtt, _ in found] == list(zip(addrs, rtts, strict=True))


@pytest.mark.parametrize(
    "mark", ["!H", "!N", "!P", "!S", "!F-1400", "!X", "!V", "!C", "!A", "!13", "!<10>"]
)
def test_a_mark_is_of_the_reply_before_it(mark):
    found = replies(f" 1  192.0.2.1  1 ms {mark}  2 ms 192.0.2.2  3 ms !")
    assert [kind for *_, kind in found] == [KIND_UNREACHABLE, KIND_UNKNOWN, KIND_UNKNOWN]


def test_other_lines_are_skipped_and_counted(tmp_path):
    path = tmp_path / "log"
    path.write_text(
        f"$ traceroute a\n\n{HEAD} 1  192.0.2.1  1 ms\ntraceroute: sendto\n 2  192.0.2.2  1 ms\n$\n"
    )
    assert detect_format(path) == "traceroute_text"
    report = ReadReport(str(path))
    (batch,) = open_reader(path, report)[1]
    assert (batch.n_traces, batch.n_replies) == (1, 2)
    assert report.skipped == {"other line": 3}
    assert report.notes == {"traces without a source": 1, CLASSIC: 1}


def test_a_source_that_is_a_name_is_no_source():
    text = b"traceroute to a (192.0.2.9) from me, 30 hops max\n"
    report = ReadReport("text")
    (batch,) = read(io.BytesIO(text), report)  # type: ignore[arg-type]
    assert not batch.src_addr.any()
    assert report.notes == {"traces without a source": 1, CLASSIC: 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (" 1  0.5 ms", "a time before any address"),
        (" 1  !H", "a mark before any address"),
        ("    192.0.2.1  1 ms", "before the first hop"),
        (" 1  gw  1 ms", NO_RESULT),
        (" 1  192.0.2.1  1", NO_RESULT),
        (" 0  192.0.2.1  1 ms", "hop number outside 1 to 255"),
    ],
)
def test_a_broken_line_costs_its_trace_and_is_named(line, reason):
    report = ReadReport("text")
    text = f"\n{HEAD} 1  192.0.2.7  1 ms\n{HEAD}{line}\n{HEAD}"
    found = [each for batch in read(io.BytesIO(text.encode()), report) for each in unpack(batch)]  # type: ignore[arg-type]
    assert len(found) == report.n_records == 2
    assert report.rejected == {reason: 1}
    assert report.samples[0].place == "line 5"


@pytest.mark.parametrize("fill", ["x", "[ ", "1", "1 ::  ", "< ", ", ", "traceroute to "])
def test_endless_lines_are_left_out_in_little_time(fill):
    n = 3 * MAX_RECORD_BYTES
    text = HEAD + " 1  " + fill * (n // len(fill)) + "\n" + HEAD
    report = ReadReport("text")
    started = time.process_time()
    found = [each for batch in read(io.BytesIO(text.encode()), report) for each in unpack(batch)]  # type: ignore[arg-type]
    assert time.process_time() - started < 5
    assert [trace.dst for trace in found] == ["192.0.2.9"]
    assert report.rejected == {"trace too long": 1}


def test_a_long_line_that_is_no_trace_is_one_other_line():
    text = "x" * (3 * MAX_RECORD_BYTES + 5) + "\n" + HEAD + " 1  192.0.2.1  1 ms\n"
    report = ReadReport("text")
    (batch,) = read(io.BytesIO(text.encode()), report)  # type: ignore[arg-type]
    assert (batch.n_traces, batch.n_replies) == (1, 1)
    assert report.skipped == {"other line": 1}


def test_many_traces_come_in_several_batches():
    one = HEAD + " 1  192.0.2.1  1 ms\n 2  192.0.2.2  1 ms\n"
    n = 3 * MAX_RECORD_BYTES // len(one)
    report = ReadReport("text")
    batches = list(read(io.BytesIO((one * n).encode()), report))  # type: ignore[arg-type]
    assert len(batches) > 1
    assert report.n_records == n
    assert report.n_hops == 2 * n


def test_traces_of_a_laboratory():
    path = real_data("../cases/05-unknown-formats/traceroute.txt")
    report = ReadReport(str(path))
    assert detect_format(path) == "traceroute_text"
    found = [each for batch in open_reader(path, report)[1] for each in unpack(batch)]
    assert (report.n_records, report.n_hops, dict(report.rejected)) == (7, 150, {})
    assert found[-1].replies[-1] == (4, "198.18.128.5", 0.009, KIND_UNREACHABLE)


class TestTracert(TraceReaderContract):
    format = "traceroute_text"
    sample = "traceroute_text/tracert.txt"
    traces = [
        Trace(
            "::",
            "203.0.113.9",
            0.0,
            [
                (1, "192.0.2.1", None, KIND_UNKNOWN),
                (1, "192.0.2.1", 1.0, KIND_UNKNOWN),
                (3, "198.51.100.1", 9.0, KIND_UNKNOWN),
                (3, "198.51.100.1", 8.0, KIND_UNKNOWN),
                (4, "198.51.100.1", None, KIND_UNREACHABLE),
            ],
        ),
        Trace(
            "::",
            "2001:db8::9",
            0.0,
            [(1, "2001:db8::1", rtt, KIND_UNKNOWN) for rtt in (2.0, 2.0, 3.0)],
        ),
    ]
    broken_record = b"Tracing route to 192.0.2.9 over a maximum of 30 hops\n 1  2 ms  gw.example\n"
    broken_reason = "no address that answered"
    bad = {
        "cut.txt": (
            b"Tracing route to 192.0.2.9 over\n\n  1     2 ms  2 ms  2 ms  192.",
            fault("cut short: the last line does not end"),
        ),
        "no_address.txt": (
            b"Tracing route to [::1]\nTracing route to a.example over a maximum of 30 hops\n",
            fault(n_traces=1, no_address_of_the_destination=1),
        ),
        "falling.txt": (
            b"Tracing route to ::1 over 30\n 1 2 ms ::2\n 1 2 ms ::2\nTracing route to ::1 over\n",
            fault(n_traces=1, hop_numbers_fall=1),
        ),
    }


class TestParisTraceroute(TraceReaderContract):
    format = "traceroute_text"
    sample = "traceroute_text/paris.txt"
    traces = [
        Trace(
            "192.0.2.9",
            "203.0.113.9",
            0.0,
            [
                (1, "192.0.2.1", 0.34, KIND_UNKNOWN),
                (2, "198.51.100.1", 0.815, KIND_UNKNOWN | LABELLED),
                (4, "203.0.113.1", 5.125, KIND_UNREACHABLE),
            ],
        ),
        Trace(
            "2001:db8:1::9",
            "2001:db8::9",
            0.0,
            [(1, "2001:db8::1", rtt, KIND_UNKNOWN) for rtt in (2.5, 0.5, 0.75)],
        ),
    ]
    broken_record = b"traceroute [(192.0.2.9:1) -> (192.0.2.1:2)], protocol\n 1  P(6, 6) gw  1 ms\n"
    broken_reason = NO_RESULT
    bad = {
        "no_address.txt": (
            b"traceroute [(a:1) -> (192.0.2.1:2)], x\ntraceroute [(::1:1) -> (::2:2)], x\n",
            fault(n_traces=1, not_an_address=1),
        ),
        "cut.txt": (
            b"traceroute [(192.0.2.9:1) -> (192.0.2.1:2)], protocol udp\n 1  P(6, 6) gw (192.0.",
            fault("cut short: the last line does not end"),
        ),
        "flows.txt": (
            b"traceroute [(::1:1) -> (::2:2)], x\n"
            + b" 1 P(9, 9) a (::3):65000 1 ms b (::4):1 1 ms\n"
            + b"".join(b" %d P(99999, 99999) a (::5) 1 ms\n" % ttl for ttl in range(2, 9))
            + b"traceroute [(::1:1) -> (::2:2)], x\n",
            fault(n_traces=1, more_flows_than_a_trace_has=1),
        ),
    }

    def test_its_traces_are_of_one_flow_each(self, path):
        _, report, _ = self.read_file(path)
        assert not report.notes[CLASSIC]


def test_addresses_of_one_flow_alone_are_joined():
    text = (
        "traceroute [(192.0.2.9:33456) -> (203.0.113.10:33457)], protocol tcp, algo exhaustive\n"
        " 1  P(6, 6) 192.0.2.1 (192.0.2.1)  0.375 ms\n"
        " 2  P(11, 11) a (198.51.100.1):0,2,4 0.5/1/1/1 ms  b (198.51.100.2):1,3,5,7 0.625 ms\n"
        " 3  P(11, 11) c (198.51.100.3):0,2,4,7 0.5 ms  d (198.51.100.4):1,3,5 0.625 ms\n"
    )
    report = ReadReport("text")
    (batch,) = read(io.BytesIO(text.encode()), report)  # type: ignore[arg-type]
    links = set()
    for trace in unpack(batch):
        hops = [(ttl, addr[-1]) for ttl, addr, *_ in trace.replies]
        links |= {(a, b) for (t, a), (u, b) in itertools.pairwise(hops) if t + 1 == u}
    assert links == {("1", "1"), ("1", "2"), ("1", "3"), ("2", "4"), ("2", "3")}
    assert report.n_records == 1
    assert not report.notes[CLASSIC]
