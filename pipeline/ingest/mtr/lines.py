"""mtr's report as text and as CSV: lines under a header that names their columns."""

from __future__ import annotations

import csv
import math
import re

from pipeline.ingest.columns import Reply, Trace, TraceColumns
from pipeline.ingest.mtr.repliers import read_replier
from pipeline.ingest.text.blocks import BlockDecoder, BrokenLine
from pipeline.ingest.text.json_records import UNKNOWN, named_addr, read_time
from pipeline.model.measured.reading import NO_SOURCE, NO_TARGET, ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN, LABELLED

# A report; a header of CSV; a first hop of CSV, which older versions write without a header.
_BEGIN = re.compile(
    rb"^(?:Start:[ \t]|HOST:[ \t]|Mtr_Version[,;]|MTR\.[^,;\n]*(?:[,;][^,;\n]*){3}[,;]1[,;])",
    re.MULTILINE,
)
SNIFFED = re.compile(
    rb"^(?:HOST:[ \t][^\n]*[ \t]Loss%[ \t]|Mtr_Version[,;]Start_Time[,;]|"
    rb"MTR\.[^,;\n]*[,;]\d+[,;]\w+[,;][^,;\n]*[,;]\d+[,;])",
    re.MULTILINE,
)
_HOP = re.compile(r"\s*(\d{1,3})\.(?:\s?\|--)?\s*(.*)")
_FURTHER = re.compile(r"\s+\|\s*[`|+]+--\s*(.*)")
_MPLS = re.compile(r"\s+\[MPLS:|\s*\|?\s*\+--\s*\[MPLS:")
# What older versions write.
_PLAIN_CSV = ["Mtr_Version", "Start_Time", "Status", "Host", "Hop", "Ip"]


class ReportDecoder(BlockDecoder):
    """A report of text, or hops of CSV from a first one on."""

    begins = _BEGIN
    need = "no line of `HOST: ...  Loss%` or `Mtr_Version,Start_Time,...` in it"
    min_trace_bytes = len("HOST: ")
    min_reply_bytes = len("|--::")

    def __init__(self, report: ReadReport) -> None:
        super().__init__(report)
        self._start_s = 0.0  # of the report whose header comes next
        self._names = _PLAIN_CSV

    def is_whole(self, line: bytes) -> bool:
        text = line.strip()
        return (
            text.endswith(b",") or re.search(rb"\d\.\d+\Z|StDev\Z|Start: \S+\Z", text) is not None
        )

    def take(self, text: str, columns: TraceColumns) -> None:
        head, *lines = text.split("\n")
        if head.startswith("Start:"):
            self._start_s = read_time(head.removeprefix("Start:").strip())
            self._skip(lines)
        elif head.startswith("HOST:"):
            start_s, self._start_s = self._start_s, 0.0
            self._report_of(head.split()[2:], lines, start_s, columns)
        else:
            self._rows(text.split("\n"), columns)

    def _skip(self, lines: list[str]) -> None:
        if n := sum(bool(line.strip()) for line in lines):
            self.report.skip("other line", n)

    def _add(self, columns: TraceColumns, trace: Trace) -> None:
        columns.append(trace)
        self.report.notes[NO_SOURCE] += 1
        if trace.dst == UNKNOWN:
            self.report.notes[NO_TARGET] += 1

    def _report_of(
        self, names: list[str], lines: list[str], start_s: float, columns: TraceColumns
    ) -> None:
        replies: list[Reply] = []
        others = []
        ttl = 0
        for number, line in enumerate(lines, 1):
            try:
                if hop := _HOP.fullmatch(line.rstrip()):
                    ttl = _rising(int(hop[1]), ttl)
                    values = hop[2].rsplit(maxsplit=len(names))
                    if len(values) <= len(names):
                        values = ["", *values]
                    addr = read_replier(values[0])
                    if addr is not None:
                        rtt_ms = _number(dict(zip(names, values[1:], strict=False)).get("Best"))
                        replies.append(Reply(ttl, addr, rtt_ms, KIND_UNKNOWN))
                elif (further := _FURTHER.fullmatch(line.rstrip())) and ttl:
                    addr = read_replier(further[1])
                    if addr is not None:
                        replies.append(Reply(ttl, addr, math.nan, KIND_UNKNOWN))
                elif _MPLS.match(line) and replies:
                    replies[-1] = replies[-1]._replace(kind=KIND_UNKNOWN | LABELLED)
                else:
                    others.append(line)
            except ValueError as error:
                raise BrokenLine(number, str(error), line.strip()) from None
        self._add(columns, Trace(UNKNOWN, UNKNOWN, start_s, replies, is_classic=True))
        self._skip(others)

    def _rows(self, lines: list[str], columns: TraceColumns) -> None:
        traces: list[Trace] = []
        others = []
        before: tuple[str, str] | None = None  # time and host of the row above
        ttl = 0
        for number, line in enumerate(lines):
            cells = next(csv.reader([line.rstrip("\r")], delimiter=";" if ";" in line else ","), [])
            if cells[:1] == ["Mtr_Version"]:
                self._names = cells
            elif not cells or not cells[0].startswith("MTR."):
                others.append(line)
            else:
                row = dict(zip(self._names, cells, strict=False))
                try:
                    found = int(row.get("Hop") or 0)
                    of = (row.get("Start_Time", ""), row.get("Host", ""))
                    if of != before or found <= ttl:
                        traces.append(
                            Trace(UNKNOWN, named_addr(of[1]), read_time(of[0]), [], is_classic=True)
                        )
                        before, ttl = of, 0
                    ttl = _rising(found, ttl)
                    addr = read_replier(row.get("Ip", ""))
                    if addr is not None:
                        reply = Reply(ttl, addr, _number(row.get("Best")), KIND_UNKNOWN)
                        traces[-1].replies.append(reply)
                except ValueError as error:
                    raise BrokenLine(number, str(error), line.strip()) from None
        for trace in traces:
            self._add(columns, trace)
        self._skip(others)


def _rising(ttl: int, before: int) -> int:
    if not 1 <= ttl <= 255:
        raise ValueError("hop number outside 1 to 255")
    if ttl <= before:
        raise ValueError("hop numbers fall")
    return ttl


def _number(text: str | None) -> float:
    try:
        found = float(text or "nan")
    except ValueError:
        raise ValueError("a time is not a number") from None
    return found if math.isfinite(found) else math.nan
