from __future__ import annotations

import io
import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import FormatError
from pipeline.ingest import open_reader, warts
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    KIND_OTHER,
    KIND_TIME_EXCEEDED,
    KIND_UNKNOWN,
    KIND_UNREACHABLE,
)
from tests.addresses import format_addrs
from tests.contracts.trace_reader import Trace, unpack
from tests.real_data import real_data
from tests.unit.pipeline.ingest.warts import warts_bytes as wb

SRC, DST = "192.0.2.1", "198.51.100.9"
A, B, C, D = "203.0.113.1", "203.0.113.5", "203.0.113.9", "203.0.113.13"
# A sends flow 1 by B and flow 2 by C; both lead to D, and D to the destination.
DIAMOND = wb.tracelb(
    SRC,
    DST,
    [A, B, C, D, DST],
    [
        (0, 1, [[(1, 2, B)]]),
        (0, 2, [[(2, 2, C)]]),
        (1, 3, [[(1, 3, D)]]),
        (2, 3, [[(2, 3, D)]]),
        (3, 4, [[(1, 4, {1: struct.pack(">II", 1, 9000), 5: b"\x03\x03", 11: wb.address(DST)})]]),
    ],
)


def read_bytes(data: bytes) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("bytes")
    return [t for batch in warts.read(io.BytesIO(data), report) for t in unpack(batch)], report


def test_a_diamond_is_one_measurement_of_two_paths():
    found, report = read_bytes(wb.FIRST + DIAMOND + wb.FOURTH)
    exceeded = KIND_TIME_EXCEEDED
    a = (1, A, None, KIND_UNKNOWN)
    whole = [a, (2, B, 2.0, exceeded), (3, D, 2.0, exceeded), (4, DST, 9.0, KIND_UNREACHABLE)]
    other = [a, (2, C, 2.0, exceeded), (3, D, 2.0, exceeded)]
    assert found[1:3] == [
        Trace(SRC, DST, 1_700_000_009.5, whole),
        Trace(SRC, DST, 1_700_000_009.5, other),
    ]
    assert found[3].replies == []
    assert (report.n_records, report.n_hops) == (3, 4 + 7)
    assert dict(report.notes) == {"unanswered hops": 1}  # of the first trace
    assert not report.skipped


def test_a_link_of_several_hops_joins_only_what_answered_one_flow():
    # scamper found B and C behind A and then, by flow 1 alone, D: it calls that one link, A to D.
    data = wb.tracelb(SRC, DST, [A, D], [(0, 1, [[(1, 2, B), (2, 2, C)], [(1, 3, D)]])])
    found, _ = read_bytes(data)
    assert [[reply[1] for reply in t.replies] for t in found] == [[A, B, D], [A, C]]
    silent = wb.tracelb(SRC, DST, [A, D], [(0, 1, [[(1, 2), (2, 2)], [(1, 3, D), (2, 3, D)]])])
    found, _ = read_bytes(silent)
    assert [[reply[:2] for reply in t.replies] for t in found] == [[(1, A)], [(3, D)]]


def test_a_probe_with_answers_of_two_addresses_is_noted():
    data = wb.tracelb(SRC, DST, [A, B, D], [(0, 1, [[(1, 2, B, C)]]), (1, 2, [[(1, 3, D)]])])
    found, report = read_bytes(data)
    assert [[reply[1] for reply in t.replies] for t in found] == [[A, B], [D]]
    assert list(report.notes) == [
        "multipath traces with a flow answered by two addresses at one TTL"
    ]


def test_odd_answers_are_kept_or_noted():
    early = {1: struct.pack(">II", 0, 0), 5: b"\x0b\0", 11: wb.address(B)}
    tcp = {1: struct.pack(">II", 1, 0), 4: b"\x03", 6: b"\x12", 11: wb.address(DST)}
    nobody = {1: struct.pack(">II", 1, 5)}
    more = [(0, None, [[(1, 2, early), (2, 2, nobody)], [(1, 3, tcp)]])]
    found, report = read_bytes(wb.tracelb(SRC, DST, [A], more))
    assert found[0].replies == [
        (1, A, None, KIND_UNKNOWN),
        (2, B, None, KIND_TIME_EXCEEDED),
        (3, DST, 0.0, KIND_OTHER),
    ]
    assert report.notes["round-trip times out of range"] == 1
    assert report.notes["replies without an address"] == 1


def test_broken_records_are_rejected_alone():
    flags = {22: wb.address(DST), 16: b"\0\1", 17: b"\0\1"}
    node = wb.params({5: wb.address(A)})
    for reason, body in {
        "trace without a destination": wb.params({21: wb.address(SRC)}),
        "parameters do not fit the record": wb.params({**flags, 16: b"\xff\xff"}) + node,
        "link of a node that is not there": wb.params(flags) + node + wb.params({1: b"\0\1"}),
        "probe without a flow or a TTL": (
            wb.params(flags)
            + node
            + wb.params({1: b"\0\0", 3: b"\1"})
            + wb.params({1: b"\0\1"})
            + wb.params({2: b"\0\1", 3: b"\0"})
        ),
        "reference to an undefined address": wb.params({**flags, 21: b"\0\0\0\0\x09"}),
    }.items():
        found, report = read_bytes(DIAMOND + wb.record(8, body) + wb.FOURTH)
        assert dict(report.rejected) == {reason: 1}
        assert len(found) == 3


def test_mutated_records_never_break_the_reading_of_others():
    rng = np.random.default_rng(11)
    body = np.frombuffer(DIAMOND[8:], np.uint8)
    for _ in range(400):
        bad = body[: rng.integers(0, len(body) + 1)].copy()
        for _ in range(int(rng.integers(0, 4))):
            if len(bad):
                bad[rng.integers(0, len(bad))] = rng.integers(0, 256)
        found, report = read_bytes(wb.FIRST + wb.record(8, bad.tobytes()) + wb.FOURTH)
        assert found[0].dst == DST
        assert found[-1].replies == []
        assert report.n_records + sum(report.rejected.values()) == 3
        assert len(found) <= 2 + len(bad) // 17 + 1


def test_absurd_counts_and_cycles_end():
    cycle = [(0, 1, [[(1, 2, B)]]), (1, 0, [[(1, 3, A)]]), (0, 1, [[(1, 4, B)]])]
    found, _ = read_bytes(wb.tracelb(SRC, DST, [A, B], cycle))
    assert [[reply[1] for reply in t.replies] for t in found] == [[A, B, A, B]]
    many = [(0, None, [[(flow, 2 + flow % 250, B, B, C) for flow in range(3000)]])] * 3
    found, report = read_bytes(wb.tracelb(SRC, DST, [A], many))
    assert report.n_records == 1
    with pytest.raises(FormatError, match="cut short"):
        read_bytes(wb.FIRST + wb.tracelb(SRC, DST, [A], many)[:-3])


def test_the_links_of_the_lab_are_true():
    truth = json.loads(real_data("labs/small/ground_truth.json").read_text())
    router = {addr: name for name, addr in truth["loopback"].items()}
    linked = set()
    for link in truth["links"]:
        router[link["a_addr"]], router[link["b_addr"]] = link["a"], link["b"]
        linked |= {(link["a"], link["b"]), (link["b"], link["a"])}
    links: dict[tuple[str, str], int] = {}
    for name in ("h1", "h2"):
        report = ReadReport(name)
        for batch in open_reader(real_data(f"labs/small/{name}.tracelb.warts"), report)[1]:
            names = format_addrs(batch.addr)
            for row in range(batch.n_traces):
                for k in range(batch.reply_ptr[row] + 1, batch.reply_ptr[row + 1]):
                    if batch.ttl[k] == batch.ttl[k - 1] + 1:
                        pair = names[k - 1], names[k]
                        links[pair] = links.get(pair, 0) + 1
        assert report.n_records == 53
    assert len(links) == 90
    assert max(links.values()) <= 2 * 53
    assert all((router[near], router[far]) in linked for near, far in links)


def test_files_with_a_text_rendering_give_the_addresses_that_it_shows():
    folder = Path(real_data("traceroute/warts_dioptra"))
    for path in sorted(folder.glob("tracelb_*.warts")):
        report = ReadReport(str(path))
        found = [t for batch in open_reader(path, report)[1] for t in unpack(batch)]
        text = path.with_suffix(".txt").read_text()
        assert report.n_records == 1
        assert len(found) > 1
        assert all(reply[1] in text for t in found for reply in t.replies)
        assert all(math.isfinite(reply[2]) for t in found for reply in t.replies if reply[0] > 1)
