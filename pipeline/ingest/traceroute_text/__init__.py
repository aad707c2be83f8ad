"""Text that traceroute programs print: Linux, BSD and BusyBox, Windows, Paris traceroute.

Any number of traces may follow one another. One begins with its header and ends before the next::

    traceroute to a.example (192.0.2.9) from 192.0.2.1, 30 hops max, 60 byte packets
     1  gw.example (192.0.2.2) [AS64500]  0.341 ms  0.322 ms *
     2  * * *
     3  192.0.2.3  1.2 ms 192.0.2.4 <MPLS:L=24015,E=0,S=1,T=1>  1.3 ms !H  1.4 ms

    Tracing route to a.example [192.0.2.9]
    over a maximum of 30 hops:
      1    <1 ms     1 ms     *     gw.example [192.0.2.2]
      2     *        *        *     Request timed out.

    traceroute [(192.0.2.1:33459) -> (192.0.2.9:60574)], protocol udp, algo exhaustive, duration 9 s
     1  P(6, 6) gw.example (192.0.2.2)  0.340/0.548/1.280/0.330 ms
     2  P(6, 6) a (192.0.2.3):0,2,4  1.1/1.2/1.3/0.1 ms b (192.0.2.4):1,3,5  1.1/1.2/1.3/0.1 ms !T0

- The header gives the destination: the address in brackets. A trace of a header alone has no
  replies. ``from``, or the first address of Paris traceroute, gives the source; without it a trace
  has no vantage point (noted as ``traces without a source``): it is evidence for the topology, but
  comparisons of nights do not use it.
- There is no time: it is unknown, and a snapshot is named after the day of its ingest.
- The method is not said. By default, each probe goes to a port of its own (Windows: has a number
  of its own), so traces count as *classic* (``TraceBatch.n_classic``); those of Paris traceroute
  do not.
- Of a hop each probe counts: an address, with or without a name before it, holds for the times
  after it, until the next one (Windows: for the times before it). An address without a time is a
  reply too, and ``*`` is none. Lines that begin with blanks and no hop number belong to the hop
  above.
- Times of ``<1 ms`` are unknown.
- ``!H`` and all other marks of ``!`` with a letter or number, and ``reports:`` of Windows: kind
  *unreachable*. All other replies are *unknown*: a router's answer and the target's look alike.
- MPLS labels (``<MPLS:...>``, ``[MPLS: ...]``, lines of ``MPLS Label=...``): replies of the address
  that they stand with are labelled. AS numbers in brackets, ``!`` alone, ``!T`` of Paris traceroute
  (a TTL), sizes and further extensions are not read.
- Of ``exhaustive``, each address is one reply with the smallest of its times. Where a hop has
  several, numbers behind them are flows: only addresses of one flow are joined, as in
  multipath traces.
- Windows is read in English, and in other languages whose headers are known.
- Other lines, such as prompts and warnings, are skipped and counted.
- A trace is rejected as a whole for a line that is none of these, a hop number outside 1 to 255,
  hop numbers that fall, or an invalid address: a hop left out would look like a silent one.
- If the last line of a file has neither a line break nor the end of a probe (``ms``, ``*``, a
  mark), the file is cut short, and its last trace is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from pipeline.files import BOM
from pipeline.ingest.column_reader import ColumnReader
from pipeline.ingest.columns import Reply, Trace, TraceColumns
from pipeline.ingest.text.blocks import MAX_RECORD_BYTES, BlockDecoder, BrokenLine
from pipeline.ingest.traceroute_text import paris, tracert
from pipeline.ingest.traceroute_text.hops import Hops, read_addr
from pipeline.model.measured.reading import NO_SOURCE, ReadReport
from pipeline.model.measured.traces import TraceBatch

__all__ = ["MAX_RECORD_BYTES", "read", "sniff"]

_BEGIN = re.compile(
    rb"^(?:(?:paris-)?traceroute6?[ \t]+(?:to[ \t]|\[\()|" + tracert.BEGIN + rb")", re.MULTILINE
)
_HEADER = re.compile(
    r"(?:paris-)?traceroute6?\s+to\s+\S+\s+\((?P<dst>[^()\s]+)\)(?:\s+from\s+(?P<src>[^\s,]+))?"
    r"[^\n]*?,\s*\d+\s+hops\s+max\b"
)
_SNIFFED = re.compile(
    rb"^(?:(?:paris-)?traceroute6?[ \t]+to[ \t]+\S+[ \t]+\([0-9A-Fa-f:.]+(?:%\w+)?\)[^\n]*,"
    rb"[ \t]*\d+ hops max\b|" + tracert.SNIFFED + rb"|" + paris.SNIFFED + rb")",
    re.MULTILINE,
)
_WHOLE = re.compile(rb"(?:\bms|\*|![A-Z]?(?:-?\d+)?|[\]>)])[ \t\r]*\Z")  # how a line may end


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` holds output of a traceroute program."""
    return _SNIFFED.search(head.removeprefix(BOM)) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Read traces as batches of columns.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes; needs ``readinto``.
    report : ReadReport
        Filled while the iterator is consumed.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, or holds no trace.
    """
    return ColumnReader(stream, report, _TracerouteDecoder(report)).batches()


class _TracerouteDecoder(BlockDecoder):
    begins = _BEGIN
    need = (
        "no line of `traceroute to NAME (ADDRESS), N hops max`, `Tracing route to ADDRESS` or "
        "`traceroute [(ADDRESS:PORT) -> (ADDRESS:PORT)]` in it"
    )
    min_trace_bytes = len("traceroute to a (::), 1 hops max")
    min_reply_bytes = 1  # a flow of Paris traceroute may add two replies

    def is_whole(self, line: bytes) -> bool:
        text = line.decode("utf-8", "replace")
        if _WHOLE.search(line) is not None or tracert.is_whole(text):
            return True
        return _HEADER.match(text) is not None

    def take(self, text: str, columns: TraceColumns) -> None:
        head = text.split("\n", 1)[0]
        if tracert.is_header(head):
            trace, n_others = tracert.read(text)
            columns.append(trace)
        elif paris.is_header(head):
            n_others, has_source = paris.take(text, columns), True
            self._count(n_others, has_source)
            return
        else:
            trace, n_others = _read(text)
            columns.append(trace)
        self._count(n_others, trace.src != (0, 0))

    def _count(self, n_others: int, has_source: bool) -> None:
        if n_others:
            self.report.skip("other line", n_others)
        if not has_source:
            self.report.notes[NO_SOURCE] += 1


def _read(text: str) -> tuple[Trace, int]:
    """A trace of traceroute, and how many of its lines are none of a trace."""
    head, *lines = text.split("\n")
    found = _HEADER.match(head)
    if found is None:
        raise BrokenLine(0, "not `traceroute to NAME (ADDRESS), N hops max`", head.strip())
    try:
        dst = read_addr(found["dst"])
    except ValueError:
        raise BrokenLine(0, "not an address", head.strip()) from None
    try:
        src = read_addr(found["src"] or "")
    except ValueError:  # a name says nothing
        src = (0, 0)
    replies: list[Reply] = []
    n_others = Hops(replies).read(lines)
    return Trace(src, dst, 0.0, replies, is_classic=not head.startswith("paris")), n_others
