"""mtr's reports: text, CSV and JSON of several versions and options."""

from __future__ import annotations

import io
import json

import pytest

from pipeline.ingest.mtr import read
from pipeline.ingest.mtr.repliers import NO_ADDRESS, read_replier
from pipeline.model.addresses import format_addr
from pipeline.model.measured.reading import CLASSIC, NO_SOURCE, NO_TARGET, ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN, LABELLED
from tests.contracts.trace_reader import Trace, TraceReaderContract, unpack

HOST = "HOST: vp1    Loss%   Snt   Last   Avg  Best  Wrst StDev\n"


def fault(error: str = "", n_traces: int = 0, rejected: dict | None = None) -> dict:
    return {"error": error, "n_traces": n_traces, "rejected": rejected or {}}


class TestMtr(TraceReaderContract):
    format = "mtr"
    sample = "mtr/sample.txt"
    traces = [
        Trace(
            "::",
            "::",
            1790000000.0,
            [
                (1, "192.0.2.1", 0.3, KIND_UNKNOWN),
                (1, "192.0.2.5", None, KIND_UNKNOWN),
                (3, "198.51.100.1", 1.3, KIND_UNKNOWN | LABELLED),
            ],
        ),
        Trace("::", "::", 0.0, [(1, "2001:db8::1", 0.5, KIND_UNKNOWN)]),
        Trace(
            "::",
            "203.0.113.9",
            1790000001.0,
            [(1, "192.0.2.1", 0.25, KIND_UNKNOWN), (3, "203.0.113.9", 2.25, KIND_UNKNOWN)],
        ),
    ]
    broken_record = f"{HOST}  1.|-- gw.example  0.0%  5  0.4  0.4  0.3  0.5  0.1\n".encode()
    broken_reason = NO_ADDRESS
    labels = [
        (
            f"{HOST}  1.|-- ::1  0.0%  5  0.4  0.4  0.3  0.5  0.1\n    [MPLS: Lbl 5 TC 0 S 1]\n"
            f"  2.|-- ::2  0.0%  5  0.4  0.4  0.3  0.5  0.1\n".encode(),
            {"::1"},
        )
    ]
    bad = {
        "cut.txt": (
            f"{HOST}  1.|-- ::1  0.0%  5  0.4  0.4  0.3  0.5  0.1\n{HOST}  1.|-- ::1  0.".encode(),
            fault("cut short: the last line does not end", 1),
        ),
        "falling.txt": (
            f"{HOST}  2.|-- ::1  0.0%  5  0.4  0.4  0.3  0.5  0.1\n  1.|-- ???\n{HOST}".encode(),
            fault(n_traces=1, rejected={"hop numbers fall": 1}),
        ),
        "names.json": (
            b'{"report": {"mtr": {"dst": "a"}, "hubs": [{"count": 1, "host": "gw.example"}]}}',
            fault("no record of it can be used", rejected={NO_ADDRESS: 1}),
        ),
    }

    def test_what_is_not_said_is_counted(self, path):
        _, report, _ = self.read_file(path)
        assert (report.notes[NO_SOURCE], report.notes[NO_TARGET]) == (3, 2)
        assert report.notes[CLASSIC] == 3


def read_text(text: str) -> list[Trace]:
    report = ReadReport("text")
    found = [t for batch in read(io.BytesIO(text.encode()), report) for t in unpack(batch)]
    assert not report.rejected, report.samples
    return found


@pytest.mark.parametrize(
    ("text", "addr"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("gw.example (192.0.2.1)", "192.0.2.1"),
        ("AS64500  gw (2001:db8::1)", "2001:db8::1"),
        ("AS??? 10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("???", None),
        ("AS??? ???", None),
        ("", None),
    ],
)
def test_who_answered(text, addr):
    found = read_replier(text)
    assert (None if found is None else format_addr(*found)) == addr


@pytest.mark.parametrize("text", ["gw.example", "AS263784138.121.98.160", "(gw)", "192.0.2"])
def test_a_name_or_what_runs_into_an_address_is_none(text):
    with pytest.raises(ValueError, match="no address"):
        read_replier(text)


@pytest.mark.parametrize("as_text", [False, True])
def test_json_of_old_and_new_versions(as_text):
    hub = {"count": 2, "host": "gw (192.0.2.1)", "ASN": "AS64500", "Best": 0.5, "Avg": 0.75}
    if as_text:
        hub = {key: str(value) for key, value in hub.items()}
    hubs = [hub, {**hub, "count": 3, "host": "???"}]
    whole = {"report": {"mtr": {"src": "vm", "dst": "203.0.113.9"}, "hubs": hubs}}
    expected = [Trace("::", "203.0.113.9", 0.0, [(2, "192.0.2.1", 0.5, KIND_UNKNOWN)])]
    for text in (json.dumps(whole), json.dumps(whole, indent=4), json.dumps([whole])):
        assert read_text(text) == expected
    assert read_text(json.dumps(whole, indent=4) * 2) == expected * 2


def test_csv_without_a_header_and_with_several_targets():
    text = (
        "MTR.0.85;1790000001;OK;192.0.2.9;1;192.0.2.1;0.00;10;0;0.3;0.3;0.2;0.4;0.1\n"
        "MTR.0.85;1790000001;OK;192.0.2.9;3;192.0.2.2;0.00;10;0;0.3;0.3;0.2;0.4;0.1\n"
        "MTR.0.85;1790000001;OK;a.example;2;192.0.2.3;0.00;10;0;0.3;0.3;0.2;0.4;0.1\n"
        "MTR.0.85;1790000002;OK;a.example;1;192.0.2.4;0.00;10;0;0.3;0.3;0.2;0.4;0.1\n"
    )
    found = [
        (t.dst, t.start_s, [(ttl, addr) for ttl, addr, *_ in t.replies]) for t in read_text(text)
    ]
    assert found == [
        ("192.0.2.9", 1790000001, [(1, "192.0.2.1"), (3, "192.0.2.2")]),
        ("::", 1790000001, [(2, "192.0.2.3")]),
        ("::", 1790000002, [(1, "192.0.2.4")]),
    ]


def test_a_report_with_chosen_columns():
    text = "HOST: vp1  Loss%  Avg  Best\n  1.|-- gw (192.0.2.1)  0.0%  2.5  1.5\n"
    ((_, _, _, replies),) = read_text(text)
    assert replies == [(1, "192.0.2.1", 1.5, KIND_UNKNOWN)]
