"""Globalping: results of its probes, and what is none of a trace."""

from __future__ import annotations

from pipeline.model.measured.reading import CLASSIC, NO_SOURCE
from pipeline.model.measured.traces import KIND_UNKNOWN
from tests.contracts.trace_reader import Trace, TraceReaderContract


def fault(error: str = "", n_traces: int = 0, rejected: dict | None = None) -> dict:
    return {"error": error, "n_traces": n_traces, "rejected": rejected or {}}


class TestGlobalping(TraceReaderContract):
    format = "globalping"
    sample = "globalping/sample.json"
    traces = [
        Trace(
            "::",
            "203.0.113.9",
            1790000000.5,
            [
                (1, "192.0.2.1", 1.125, KIND_UNKNOWN),
                (1, "192.0.2.1", 1.25, KIND_UNKNOWN),
                (3, "203.0.113.9", None, KIND_UNKNOWN),
            ],
        ),
        Trace(
            "::",
            "2001:db8::9",
            1790000001.0,
            [(1, "2001:db8::1", rtt, KIND_UNKNOWN) for rtt in (0.5, 0.75)],
        ),
    ]
    broken_record = (
        b'{"type": "mtr", "results": [{"result": {"hops": [{"resolvedAddress": "x"}]}}]}\n'
    )
    broken_reason = "not an address"
    bad = {
        "cut.json": (
            b'{"type": "mtr", "results": [{"probe": {"asn": 1}, "result": {"hops": [',
            fault("cut short in a record"),
        ),
        "hops.json": (
            b'{"type": "mtr", "results": [{"result": {"hops": 5}}]}\n[1]\n{"results": [',
            fault(
                "cut short in a record",
                rejected={"hops are not a list of objects": 1},
            ),
        ),
    }

    def test_what_is_none_of_a_trace_is_counted(self, path):
        _, report, _ = self.read_file(path)
        assert dict(report.skipped) == {"ping": 1}
        assert report.notes["results that did not finish"] == 1
        assert report.notes[NO_SOURCE] == report.notes[CLASSIC] == 2
