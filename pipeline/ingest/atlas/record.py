"""One RIPE Atlas result, parsed in Python: the rules of ``atlas``, for what the scanner leaves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pipeline.ingest.atlas.scan import (
    N_DUP,
    N_EDST,
    N_ERR,
    N_HOP_ERROR,
    N_ICMPEXT,
    N_LATE,
    N_NO_ADDR,
    N_NO_DST,
    N_NO_HOPS,
    N_NO_RTT,
    N_NO_TIME,
    N_NOT_SENT,
    N_NOTES,
    N_UNANSWERED,
)
from pipeline.model.addresses import parse_addr
from pipeline.model.traces import KIND_OTHER, KIND_UNKNOWN, KIND_UNREACHABLE

NOTES = {
    N_UNANSWERED: "unanswered probes",
    N_NOT_SENT: "probes that were not sent (error)",
    N_NO_ADDR: "replies without an address, left out",
    N_LATE: "late replies, left out",
    N_DUP: "duplicate replies, left out",
    N_ERR: "replies of kind unreachable (err)",
    N_EDST: "replies to packets for another destination (edst), left out",
    N_ICMPEXT: "replies with ICMP extensions",
    N_NO_RTT: "replies without a usable rtt",
    N_HOP_ERROR: "hops with an error",
    N_NO_DST: "results without dst_addr",
    N_NO_HOPS: "results without hops",
    N_NO_TIME: "results without a timestamp",
}
assert len(NOTES) == N_NOTES

Words = tuple[int, int]  # of an address


class Reply(NamedTuple):
    ttl: int
    addr: Words
    rtt_ms: float
    kind: int


class Result(NamedTuple):
    src: Words
    dst: Words
    start_s: float
    replies: list[Reply]  # by ascending ttl
    notes: dict[int, int]


class BrokenError(Exception):
    """A record cannot be used; ``args`` are the reason and what was found."""


class OtherTypeError(Exception):
    """A valid result of another measurement; ``args[0]`` is its type."""


def parse_result(record: Any) -> Result:
    """Apply the rules to a parsed record.

    Raises
    ------
    BrokenError
        If it is no result, or one whose hops cannot be trusted.
    OtherTypeError
        If it is the result of a ping, or of anything else but a traceroute.
    """
    if not isinstance(record, dict):
        raise BrokenError("not an object", repr(record)[:60])
    kind = record.get("type")
    if not isinstance(kind, str):
        raise BrokenError("no type", repr(kind)[:60])
    if kind != "traceroute":
        raise OtherTypeError(kind[:40])
    hops = record.get("result", [])
    if not isinstance(hops, list):
        raise BrokenError("result is no list", repr(hops)[:60])
    notes: dict[int, int] = dict.fromkeys(NOTES, 0)
    src = _addr(record.get("src_addr") or record.get("from"))
    dst = _addr(record.get("dst_addr"))
    if not record.get("dst_addr"):
        notes[N_NO_DST] += 1
    timestamp = record.get("timestamp")
    start_s = 0.0 if timestamp is None else _number(timestamp)  # ``count_batch`` judges it
    if start_s == 0.0:
        notes[N_NO_TIME] += 1
    replies: list[Reply] = []
    n_numbered = 0
    for hop in hops:
        n_numbered += _read_hop(hop, replies, notes)
    if n_numbered == 0:
        notes[N_NO_HOPS] += 1
    replies.sort(key=lambda reply: reply.ttl)
    return Result(src, dst, start_s, replies, notes)


def _read_hop(hop: Any, replies: list[Reply], notes: dict[int, int]) -> bool:
    """Add the replies of a hop; whether it bears a number."""
    if not isinstance(hop, dict):
        raise BrokenError("hop is no object", repr(hop)[:60])
    if "error" in hop:
        notes[N_HOP_ERROR] += 1
    ttl = hop.get("hop")
    is_ttl = isinstance(ttl, int) and not isinstance(ttl, bool) and 1 <= ttl <= 255
    if not is_ttl and (ttl is not None or "result" in hop):
        raise BrokenError("hop number out of range", repr(ttl)[:60])
    found = hop.get("result", [])
    if not isinstance(found, list):
        raise BrokenError("result of a hop is no list", repr(found)[:60])
    for reply in found:
        if not isinstance(reply, dict):
            raise BrokenError("reply is no object", repr(reply)[:60])
        if "x" in reply:
            notes[N_UNANSWERED] += 1
        elif "error" in reply:
            notes[N_NOT_SENT] += 1
        elif not reply.get("from"):
            notes[N_NO_ADDR] += 1
        elif "late" in reply:
            notes[N_LATE] += 1
        elif "dup" in reply:
            notes[N_DUP] += 1
        elif "edst" in reply:
            notes[N_EDST] += 1
        else:
            replies.append(_answer(reply, ttl or 0, notes))
    return ttl is not None


def _answer(reply: dict, ttl: int, notes: dict[int, int]) -> Reply:
    addr = _addr(reply["from"])
    rtt = _number(reply.get("rtt"))
    if not 0.0 <= rtt <= 1e9:
        rtt = math.nan
        notes[N_NO_RTT] += 1
    kind = KIND_UNREACHABLE if "err" in reply else KIND_OTHER if "flags" in reply else KIND_UNKNOWN
    notes[N_ERR] += "err" in reply
    notes[N_ICMPEXT] += "icmpext" in reply
    return Reply(ttl, addr, rtt, kind)


def _addr(text: Any) -> Words:
    """Words of an address; zeros where there is none."""
    if text is None or text == "":
        return 0, 0
    try:
        if isinstance(text, str):
            return parse_addr(text)
    except ValueError:
        pass
    raise BrokenError("not an address", repr(text)[:60])


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
