"""traceroute by jc: marks, probes without an answer, broken and cut files."""

from __future__ import annotations

from pipeline.model.measured.traces import KIND_UNKNOWN, KIND_UNREACHABLE
from tests.contracts.trace_reader import Trace, TraceReaderContract


def fault(error: str = "", n_traces: int = 0, rejected: dict | None = None) -> dict:
    return {"error": error, "n_traces": n_traces, "rejected": rejected or {}}


class TestJc(TraceReaderContract):
    format = "jc"
    sample = "jc/sample.json"
    traces = [
        Trace(
            "::",
            "203.0.113.9",
            0.0,
            [(1, "192.0.2.1", 0.875, KIND_UNKNOWN), (3, "203.0.113.1", 3.5, KIND_UNREACHABLE)],
        ),
        Trace("::", "2001:db8::9", 0.0, []),
    ]
    broken_record = b'{"destination_ip": "203.0.113.9", "hops": [{"hop": 256}]}\n'
    broken_reason = "TTL is not a number from 1 to 255"
    bad = {
        "cut.json": (
            b'[{"destination_ip": "203.0.113.9", "hops": []}, {"destination_ip": "203',
            fault("cut short in a record", 1),
        ),
        "rtt.json": (
            b'{"destination_ip": "::1", "hops": [{"hop": 1, "probes": [{"ip": "::1", "rtt": "1"}]}]'
            b'}\n{"destination_ip": "::1", "hops": []}',
            fault(n_traces=1, rejected={"RTT is not a number": 1}),
        ),
    }
