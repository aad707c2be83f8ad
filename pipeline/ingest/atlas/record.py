"""One RIPE Atlas result, parsed in Python by the rules of ``atlas``, if the scanner leaves it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pipeline.ingest.atlas.scan import NOTES, is_private
from pipeline.ingest.columns import known_ttl
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.traces import KIND_OTHER, KIND_UNKNOWN, KIND_UNREACHABLE, LABELLED

Words = tuple[int, int]  # of an address


class Reply(NamedTuple):
    ttl: int
    addr: Words
    rtt_ms: float
    kind: int
    reply_ttl: int


class Result(NamedTuple):
    src: Words
    dst: Words
    start_s: float
    replies: list[Reply]  # by ascending ttl
    notes: dict[str, int]
    is_classic: bool  # each packet is of another flow (paris_id 0)


class BrokenError(Exception):
    """A record cannot be used; ``args`` are the reason and what was found."""


class OtherTypeError(Exception):
    """A valid result of another measurement; ``args[0]`` is its type."""


def parse_result(record: Any) -> Result:
    """Apply the rules to a parsed record.

    Raises
    ------
    BrokenError
        If it is not a result, or one whose hops cannot be trusted.
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
        raise BrokenError("result is not a list", repr(hops)[:60])
    notes: dict[str, int] = dict.fromkeys(NOTES, 0)
    src = _source(record)
    if not any(src):
        notes["no_src"] += 1
    dst = _addr(record.get("dst_addr"))
    if not record.get("dst_addr"):
        notes["no_dst"] += 1
    timestamp = record.get("timestamp")
    start_s = 0.0 if timestamp is None else _number(timestamp)  # ``count_batch`` checks it
    if start_s == 0.0:
        notes["no_time"] += 1
    replies: list[Reply] = []
    n_numbered = 0
    for hop in hops:
        n_numbered += _read_hop(hop, replies, notes)
    if n_numbered == 0:
        notes["no_hops"] += 1
    replies.sort(key=lambda reply: reply.ttl)
    paris_id = record.get("paris_id")
    return Result(src, dst, start_s, replies, notes, type(paris_id) is int and paris_id == 0)


def _read_hop(hop: Any, replies: list[Reply], notes: dict[str, int]) -> bool:
    """Add the replies of a hop; returns whether it has a number."""
    if not isinstance(hop, dict):
        raise BrokenError("hop is not an object", repr(hop)[:60])
    if "error" in hop:
        notes["hop_error"] += 1
    ttl = hop.get("hop")
    is_ttl = isinstance(ttl, int) and not isinstance(ttl, bool) and 1 <= ttl <= 255
    if not is_ttl and (ttl is not None or "result" in hop):
        raise BrokenError("hop number out of range", repr(ttl)[:60])
    found = hop.get("result", [])
    if not isinstance(found, list):
        raise BrokenError("result of a hop is not a list", repr(found)[:60])
    for reply in found:
        if not isinstance(reply, dict):
            raise BrokenError("reply is not an object", repr(reply)[:60])
        if "x" in reply:
            notes["unanswered"] += 1
        elif "error" in reply:
            notes["not_sent"] += 1
        elif not reply.get("from"):
            notes["no_addr"] += 1
        elif "late" in reply:
            notes["late"] += 1
        elif "dup" in reply:
            notes["dup"] += 1
        elif "edst" in reply:
            notes["edst"] += 1
        else:
            replies.append(_answer(reply, ttl or 0, notes))
    return ttl is not None


def _answer(reply: dict, ttl: int, notes: dict[str, int]) -> Reply:
    addr = _addr(reply["from"])
    rtt = _number(reply.get("rtt"))
    if not 0.0 <= rtt <= 1e9:
        rtt = math.nan
        notes["no_rtt"] += 1
    kind = KIND_UNREACHABLE if "err" in reply else KIND_OTHER if "flags" in reply else KIND_UNKNOWN
    notes["err"] += "err" in reply
    notes["icmpext"] += "icmpext" in reply
    if _has_labels(reply.get("icmpext")):
        kind |= LABELLED
    return Reply(ttl, addr, rtt, kind, known_ttl(reply.get("ttl")))


def _has_labels(extensions: Any) -> bool:
    """Whether one of the ICMP extensions of a reply is an MPLS label stack."""
    objects = extensions.get("obj") if isinstance(extensions, dict) else None
    if not isinstance(objects, list):
        return False
    return any(isinstance(each, dict) and "mpls" in each for each in objects)


def _source(record: dict) -> Words:
    """The probe's own address, or the one it is known by where that is private or not given."""
    src = _addr(record.get("src_addr"))
    if record.get("from") and (not any(src) or is_private(*np.array(src, np.uint64))):
        return _addr(record["from"])
    return src


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
