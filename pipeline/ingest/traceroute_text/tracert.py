"""Output of tracert, of Windows: times stand before the address, and headers in many languages."""

from __future__ import annotations

import math
import re

from pipeline.ingest.columns import Reply, Trace
from pipeline.ingest.text.blocks import BrokenLine
from pipeline.ingest.traceroute_text.hops import read_addr
from pipeline.model.measured.traces import KIND_UNKNOWN, KIND_UNREACHABLE

# English, German, French, Spanish, Italian, Portuguese, Dutch. What is not ASCII has another code
# in every code page.
_HEADERS = (
    r"Tracing route to",
    r"Routenverfolgung zu",
    r"D.{1,2}termination de l'itin.{1,2}raire vers",
    r"Traza a(?: la direcci.{1,2}n)?",
    r"Traccia instradamento verso",
    r"Rastreando a rota para",
    r"Traceren van de route naar",
)
BEGIN = f"(?:{'|'.join(_HEADERS)})[ \t]".encode()
_AT = re.compile(rf"(?:{'|'.join(_HEADERS)})\s+(.*)", re.DOTALL)
SNIFFED = rb"(?:" + BEGIN + rb"[^\n]*[0-9A-Fa-f]*[:.][0-9A-Fa-f:.]+[^\n]*\n)"
_ADDR = re.compile(r"(\d[\d.]+\d|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?:%\w+)?)(?=\s|$)")
_IN_BRACKETS = re.compile(r"\[([^\[\]\s]+)\]")
_HOP = re.compile(r"\s*(\d{1,3})\s+((?:(?:<?\d{1,9}\s*ms|\*)\s+)*)(\S.*)?")
_PROBE = re.compile(r"(<?)(\d+)\s*ms|\*")
_REPLIER = re.compile(r"(?:\S+\s+\[)?([0-9A-Fa-f:.]+(?:%\w+)?)\]?(?P<more>\s+\S.*)?")


def is_header(line: str) -> bool:
    return _AT.match(line) is not None


def is_whole(line: str) -> bool:
    """Whether a line that ends the file, and no line break ends, is not cut."""
    found = _HOP.fullmatch(line.rstrip())
    if found is not None and not found[2] and ": " not in line:
        return False
    said = found[3] or "" if found is not None else line.strip()
    return said.endswith("]") or (said.endswith((".", ":")) and " " in said)


def read(text: str) -> tuple[Trace, int]:
    """A trace of tracert, and how many of its lines are none of a trace.

    Raises
    ------
    BrokenLine
        A line is no hop, a hop has no address, or hop numbers fall.
    """
    head, *lines = text.split("\n")
    at = _AT.match(head)
    assert at is not None, "to be asked first"
    found = _IN_BRACKETS.search(at[1]) or _ADDR.match(at[1])
    try:
        dst = read_addr(found[1] if found else "")
    except ValueError:
        raise BrokenLine(0, "no address of the destination", head.strip()) from None
    replies: list[Reply] = []
    ttl = n_others = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        hop = _HOP.fullmatch(line.rstrip())
        if hop is None:
            n_others += line.rstrip()[-1] not in ".:"  # as its own sentences end
            continue
        if not ttl < int(hop[1]) <= 255:
            reason = "hop numbers fall" if int(hop[1]) <= 255 else "hop number outside 1 to 255"
            raise BrokenLine(number, reason, line.strip())
        ttl = int(hop[1])
        replies += _replies(ttl, hop, number)
    return Trace((0, 0), dst, 0.0, replies, is_classic=True), n_others


def _replies(ttl: int, hop: re.Match[str], number: int) -> list[Reply]:
    probes = [*_PROBE.finditer(hop[2])]
    rtts = [math.nan if probe[1] else float(probe[2]) for probe in probes if probe[2]]
    replier = _REPLIER.fullmatch(hop[3] or "")
    try:
        addr = read_addr(replier[1]) if replier else None
    except ValueError:
        addr = None
    if addr is None:
        if rtts or not probes:  # else a message stands there: no answer
            raise BrokenLine(number, "no address that answered", hop[0].strip())
        return []
    if not probes:  # ``reports: Destination host unreachable.``
        return [Reply(ttl, addr, math.nan, KIND_UNREACHABLE)]
    return [Reply(ttl, addr, rtt, KIND_UNKNOWN) for rtt in rtts]
