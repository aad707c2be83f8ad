from __future__ import annotations

import io
import json

import numpy as np
import pytest

from pipeline.ingest import open_reader, scamper_json
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

SRC, DST = "192.0.2.1", "198.51.100.9"
A, B, C, D = "203.0.113.1", "203.0.113.5", "203.0.113.9", "203.0.113.13"
NOBODY = {"addr": "*"}


def probe(flow, ttl, icmp=(11, 0), **more):
    reply = {"rtt": float(ttl), "icmp_type": icmp[0], "icmp_code": icmp[1], **more}
    return {"replyc": 1, "ttl": ttl, "attempt": 0, "flowid": flow, "replies": [reply]}


def group(addr, *probes):
    return {"addr": addr, "probes": list(probes)}


def record(*nodes, **more):
    """A tracelb record; a node: its address, then each hop as a list of groups."""
    made = [{"addr": addr, "q_ttl": 1, "linkc": 1, "links": list(hops)} for addr, *hops in nodes]
    return {
        "type": "tracelb",
        "src": SRC,
        "dst": DST,
        "start": {"sec": 1_700_000_009, "usec": 500_000},
        "nodes": made,
        **more,
    }


DIAMOND = record(
    (A, [group(B, probe(1, 2))], [group(C, probe(2, 2))]),
    (B, [group(D, probe(1, 3))]),
    (C, [group(D, probe(2, 3))]),
    (D, [group(DST, probe(1, 4, (3, 3)))]),
)


def read(*records) -> tuple[list[Trace], ReadReport]:
    text = "".join(json.dumps(each) + "\n" for each in records).encode()
    report = ReadReport("text")
    return [t for b in scamper_json.read(io.BytesIO(text), report) for t in unpack(b)], report


def ways(found: list[Trace]) -> list[list[tuple[int, str]]]:
    return [[reply[:2] for reply in trace.replies] for trace in found]


def test_a_diamond_is_one_measurement_of_two_paths():
    found, report = read(DIAMOND)
    exceeded = KIND_TIME_EXCEEDED
    a = (1, A, None, KIND_UNKNOWN)
    whole = [a, (2, B, 2.0, exceeded), (3, D, 3.0, exceeded), (4, DST, 4.0, KIND_UNREACHABLE)]
    other = [a, (2, C, 2.0, exceeded), (3, D, 3.0, exceeded)]
    assert found == [
        Trace(SRC, DST, 1_700_000_009.5, whole),
        Trace(SRC, DST, 1_700_000_009.5, other),
    ]
    assert (report.n_records, dict(report.notes), dict(report.skipped)) == (1, {}, {})


def test_hops_of_one_list_are_joined_by_flow_and_not_by_place():
    hops = [group(B, probe(1, 2)), group(C, probe(2, 2))], [group(D, probe(1, 3))]
    found, _ = read(record((A, *hops)))
    assert ways(found) == [[(1, A), (2, B), (3, D)], [(1, A), (2, C)]]


def test_silent_hops_behind_the_first_node_keep_it_at_its_ttl_and_unlinked():
    found, _ = read(record((A, [NOBODY], [NOBODY], [group(D, probe(1, 4))])))
    assert ways(found) == [[(1, A)], [(4, D)]]


def test_a_flow_that_two_addresses_answered_joins_nothing_behind_it():
    found, report = read(
        record((A, [group(B, probe(1, 2)), group(C, probe(1, 2))]), (B, [group(D, probe(1, 3))]))
    )
    assert ways(found) == [[(1, A), (2, B)], [(1, A), (2, C)], [(3, D)]]
    assert sum(report.notes.values()) == 1


def test_odd_answers_are_kept_or_noted():
    odd = group(B, probe(1, 2, (None, None), rtt=-1)), group("*", probe(2, 2))
    silent = {"flowid": 3, "ttl": 2, "replyc": 0, "replies": []}
    found, report = read(record((A, [*odd, group(C, silent)])), record(nodes=None))
    assert found[0].replies == [(1, A, None, KIND_UNKNOWN), (2, B, None, KIND_OTHER)]
    assert found[1].replies == []
    assert dict(report.notes) == {
        "round-trip times out of range": 1,
        "replies without an address": 1,
    }


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (record(dst=None), "trace without a destination"),
        (record(nodes=[3]), "not a list of node objects"),
        (record(nodes=[{"addr": A, "links": 3}]), "links are not a list"),
        (record((A, [3])), "not a list of hop objects"),
        (record((A, [{"addr": B, "probes": "x"}])), "not a list of probe objects"),
        (record((A, [group(B, probe(1, 0))])), "TTL is not a number from 1 to 255"),
        (record((A, [group(B, probe(70_000, 2))])), "flow is not a number from 0 to 65535"),
        (record((A, [group(B, probe(1, 2, rtt="x"))])), "RTT is not a number"),
        (
            record((A, [group(B, probe(1, 2, (300, 0)))])),
            "ICMP type or code is not a number from 0 to 255",
        ),
        (record(("x", [])), "not an address"),
    ],
)
def test_broken_records_are_rejected_alone(bad, reason):
    found, report = read(DIAMOND, bad, DIAMOND)
    assert dict(report.rejected) == {reason: 1}
    assert len(found) == 4


def test_values_of_any_type_break_only_their_record():
    rng = np.random.default_rng(5)
    text = json.dumps(DIAMOND)
    tokens = ["null", "[]", "{}", '"x"', "-1", "1e400", "true", "99999999999999999999"]
    for _ in range(300):
        at = int(rng.integers(0, len(text)))
        end = at + int(rng.integers(1, 12))
        bad = text[:at] + tokens[int(rng.integers(len(tokens)))] + text[end:]
        data = f"{text}\n{bad}\n{text}\n".encode()
        report = ReadReport("text")
        found = [t for b in scamper_json.read(io.BytesIO(data), report) for t in unpack(b)]
        assert report.n_records + sum(report.rejected.values()) + sum(report.skipped.values()) >= 3
        assert ways(found[-2:]) == ways(found[:2])


def test_the_lab_gives_links_that_its_warts_have_too():
    for name in ("h1", "h2"):
        links: dict[str, set[tuple[str, str]]] = {}
        for kind in ("warts", "json"):
            report = ReadReport(name)
            pairs = links.setdefault(kind, set())
            for batch in open_reader(real_data(f"labs/small/{name}.tracelb.{kind}"), report)[1]:
                names = format_addrs(batch.addr)
                for row in range(batch.n_traces):
                    for k in range(batch.reply_ptr[row] + 1, batch.reply_ptr[row + 1]):
                        pairs.add((names[k - 1], names[k]))
            assert report.n_records == 53
            assert not report.rejected
        assert links["json"] <= links["warts"]
        assert len(links["warts"] - links["json"]) <= 3
