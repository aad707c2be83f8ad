"""Output of Paris traceroute, as M-Lab's ``.paris`` files hold it: hop by hop, and exhaustive."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from pipeline.ingest.columns import Reply, Trace, TraceColumns
from pipeline.ingest.flow_paths import ANSWER, Head, write_paths
from pipeline.ingest.text.blocks import BrokenLine
from pipeline.ingest.traceroute_text.hops import NO_RESULT, Hops, read_addr
from pipeline.model.measured.traces import KIND_UNKNOWN, KIND_UNREACHABLE, LABELLED

_END = r"\((\S+):\d{1,5}\)"
_HEADER = re.compile(rf"traceroute6?\s+\[{_END}\s+->\s+{_END}\]")
SNIFFED = rb"traceroute6?[ \t]+\[\([0-9A-Fa-f:.]+\)[ \t]+->[ \t]+\([0-9A-Fa-f:.]+\)\]"
_HOP = re.compile(r"\s*(\d{1,3})\s+P\((\d{1,6}),\s?(\d{1,6})\)\s*(.*)")
_REPLIER = re.compile(
    r"\S+\s+\(([^()\s]+)\)(?::(\d{1,6}(?:,\d{1,6})*))?"
    r"\s+([\d.]{1,12})(?:/[\d.]{1,12}){0,3}\s*ms((?:\s+!\w+)*)\s*"
)
_TTL_MARK = re.compile(r"!T\d*(?=\s|$)")
_MPLS = re.compile(r"\s+MPLS\b")
_MOST_ANSWERS = 1 << 16  # of flows at all hops of one trace
_NO_SPLIT = 256


class _Replier(NamedTuple):
    ttl: int
    addr: tuple[int, int]
    flows: list[int]  # none: the first of those sent
    n_sent: int
    rtt_ms: float
    kind: int


def is_header(line: str) -> bool:
    return _HEADER.match(line) is not None


def take(text: str, columns: TraceColumns) -> int:
    """Put a trace into the columns; returns how many of its lines are none of a trace.

    Raises
    ------
    BrokenLine
        As for traceroute; nothing was put there.
    """
    head, *lines = text.split("\n")
    found = _HEADER.match(head)
    assert found is not None, "to be asked first"
    try:
        src, dst = read_addr(found[1]), read_addr(found[2])
    except ValueError:
        raise BrokenLine(0, "not an address", head.strip()) from None
    lines = [_TTL_MARK.sub("", line) for line in lines]
    if not any(map(_HOP.fullmatch, lines)):
        replies: list[Reply] = []
        n_others = Hops(replies).read(lines)
        columns.append(Trace(src, dst, 0.0, replies, is_classic=False))
        return n_others
    repliers, n_flows, n_others = _repliers(lines)
    ttls = [replier.ttl for replier in repliers]
    if len(set(ttls)) == len(ttls):
        replies = [Reply(each.ttl, each.addr, each.rtt_ms, each.kind) for each in repliers]
        columns.append(Trace(src, dst, 0.0, replies, is_classic=False))
        return n_others
    answers = [
        (flow, each.ttl, *each.addr, each.rtt_ms, each.kind)
        for each in repliers
        for flow in each.flows or range(min(each.n_sent, n_flows))
    ]
    n_free = len(columns.ttl) - int(columns.count["n_replies"])
    if len(answers) > _MOST_ANSWERS or 2 * len(answers) + 1 > n_free:
        raise BrokenLine(0, "more flows than a trace has", f"{len(answers)} answers")
    zero = np.uint64(0)
    src_high, src_low, dst_high, dst_low = (np.uint64(word) for word in (*src, *dst))
    head_of = Head(src_high, src_low, dst_high, dst_low, 0.0)
    rows = np.array(answers, ANSWER)
    write_paths(rows, len(rows), 0, zero, zero, _NO_SPLIT, head_of, columns.arrays)
    return n_others


def _repliers(lines: list[str]) -> tuple[list[_Replier], int, int]:
    """What answered, how many flows were named, and how many lines are none of a trace."""
    found: list[_Replier] = []
    ttl = n_flows = n_others = 0
    for number, line in enumerate(lines, 1):
        hop = _HOP.fullmatch(line.rstrip())
        if hop is None:
            if found and _MPLS.match(line):
                found[-1] = found[-1]._replace(kind=found[-1].kind | LABELLED)
            elif line.strip() and line[0].isspace():
                raise BrokenLine(number, NO_RESULT, line.strip())
            else:
                n_others += bool(line.strip())
            continue
        if not ttl < int(hop[1]) <= 255:
            reason = "hop numbers fall" if int(hop[1]) <= 255 else "hop number outside 1 to 255"
            raise BrokenLine(number, reason, line.strip())
        ttl, rest = int(hop[1]), hop[4]
        at = 0
        while at < len(rest):
            each = _REPLIER.match(rest, at)
            if each is None:
                raise BrokenLine(number, NO_RESULT, line.strip())
            try:
                addr, rtt_ms = read_addr(each[1]), float(each[3])
            except ValueError:
                raise BrokenLine(number, NO_RESULT, line.strip()) from None
            flows = [int(flow) for flow in (each[2] or "").split(",") if flow]
            n_flows = max(n_flows, *(flow + 1 for flow in flows), 1)
            kind = KIND_UNREACHABLE if each[4].strip() else KIND_UNKNOWN
            found.append(_Replier(ttl, addr, flows, int(hop[3]), rtt_ms or math.nan, kind))
            at = each.end()
    return found, n_flows, n_others
