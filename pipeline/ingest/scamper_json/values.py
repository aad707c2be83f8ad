"""Values of a parsed record, checked."""

from __future__ import annotations

import math
from typing import Any

from pipeline.ingest.icmp import reply_kind
from pipeline.ingest.scamper_json.extensions import MPLS_LABELS
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.traces import KIND_OTHER, KIND_UNKNOWN, LABELLED


class BrokenRecord(Exception):
    """Why a record is refused: a fixed phrase, and what was found."""

    def __init__(self, reason: str, found: object = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, str(found)[:200]


def read_number(value: Any, low: int, high: int, reason: str) -> int:
    if type(value) is not int or not low <= value <= high:
        raise BrokenRecord(reason, value)
    return value


def read_addr(value: Any) -> tuple[int, int]:
    if not isinstance(value, str):
        raise BrokenRecord("not an address", value)
    try:
        return parse_addr(value)
    except ValueError:
        raise BrokenRecord("not an address", value) from None


def read_start(value: Any) -> float:
    """Seconds; NaN if it is not a time. ``count_batch`` checks them, as in all readers."""
    if value is None:
        return 0.0
    if not isinstance(value, dict):
        return math.nan
    sec, usec = value.get("sec", math.nan), value.get("usec", math.nan)
    if type(sec) not in (int, float) or type(usec) not in (int, float):
        return math.nan
    return sec + usec / 1e6


def read_reply_kind(reply: dict[str, Any], addr: tuple[int, int] | None) -> int:
    """KIND_* of a reply from ``addr`` and LABELLED; KIND_OTHER without an ICMP type."""
    icmp_type, icmp_code = reply.get("icmp_type"), reply.get("icmp_code")
    reason = "ICMP type or code is not a number from 0 to 255"
    if icmp_type is not None:
        read_number(icmp_type, 0, 255, reason)
    if icmp_code is not None:
        read_number(icmp_code, 0, 255, reason)
    labels = LABELLED if _has_labels(reply.get("icmpext")) else 0
    if "kind" in reply:  # of M-Lab's rows, which have no types (``rows``)
        return KIND_UNKNOWN
    if addr is None or icmp_type is None:
        return KIND_OTHER | labels
    is_v4 = addr[0] == 0 and addr[1] >> 32 == 0xFFFF
    return int(reply_kind(is_v4, icmp_type, icmp_code or 0)) | labels


def _has_labels(extensions: Any) -> bool:
    """Whether one of the ICMP extensions of a reply is an MPLS label stack."""
    if not isinstance(extensions, list):
        return False
    return any(isinstance(each, dict) and MPLS_LABELS in each for each in extensions)


def read_rtt(reply: dict[str, Any]) -> float | None:
    """Milliseconds as they are given, whatever their range."""
    rtt_ms = reply.get("rtt")
    if rtt_ms is not None and type(rtt_ms) not in (int, float):
        raise BrokenRecord("RTT is not a number", rtt_ms)
    return rtt_ms


def read_replier(value: Any) -> tuple[int, int] | None:
    """The address of a replier; None without an answer."""
    return None if value is None or value in ("", "*") else read_addr(value)
