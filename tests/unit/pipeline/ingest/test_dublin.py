"""dublin-traceroute: flows as traces, labels, broken and cut files."""

from __future__ import annotations

from pipeline.model.measured.traces import KIND_TIME_EXCEEDED, KIND_UNREACHABLE, LABELLED
from tests.contracts.trace_reader import Trace, TraceReaderContract


def fault(error: str = "", n_traces: int = 0, rejected: dict | None = None) -> dict:
    return {"error": error, "n_traces": n_traces, "rejected": rejected or {}}


class TestDublin(TraceReaderContract):
    format = "dublin"
    sample = "dublin/sample.json"
    traces = [
        Trace(
            "192.0.2.9",
            "203.0.113.9",
            1790000000.25,
            [
                (1, "192.0.2.1", 0.9, KIND_TIME_EXCEEDED),
                (3, "203.0.113.9", 2.75, KIND_UNREACHABLE | LABELLED),
            ],
        ),
        Trace("::", "2001:db8::9", 0.0, [(1, "2001:db8::1", None, KIND_TIME_EXCEEDED)]),
    ]
    broken_record = b'{"flows": {"1": [{"sent": {"ip": {"dst": "192.0.2.1", "ttl": 0}}}]}}\n'
    broken_reason = "TTL is not a number from 1 to 255"
    labels = [
        (
            b'{"flows":{"1":[{"sent":{"ip":{"dst":"::9","ttl":1}},"received":{"ip":{"src":"::1"},'
            b'"icmp":{"type":3,"code":0,"mpls_labels":[{"label":5}]}}},{"sent":{"ip":{"dst":"::9",'
            b'"ttl":2}},"received":{"ip":{"src":"::2"},"icmp":{"mpls_labels":null}}}]}}',
            {"::1"},
        )
    ]
    bad = {
        "cut.json": (
            b'{"flows": {"1": [{"sent": {"ip": {"dst": "192.0.2.1", "ttl": 1}}}',
            fault("cut short in a record"),
        ),
        "no_destination.json": (
            b'{"flows": {"1": []}}\n{"flows": [], "nat_id": 1}',
            fault(
                "no record of it can be used",
                rejected={"flow without a destination": 1, "flows is not an object": 1},
            ),
        ),
    }
