"""dublin-traceroute's JSON: one path for each of several flows.

https://dublin-traceroute.net; written by its C++ and its Go program. Each flow is a trace: all of
its probes have the same ports. A probe without ``received`` was not answered. Its time is that of
the first probe sent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.files import BOM
from pipeline.ingest.columns import Reply, Trace, known_ttl
from pipeline.ingest.icmp import reply_kind
from pipeline.ingest.text.json_records import (
    UNKNOWN,
    BrokenRecord,
    read_addr,
    read_list,
    read_object,
    read_records,
    read_rtt,
    read_time,
    read_ttl,
)
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN, LABELLED, TraceBatch

_MARK = re.compile(rb'"flows"\s*:\s*\{')
_PROBE = re.compile(rb'"(?:rtt_usec|flowhash|nat_id|zerottl_forwarding_bug)"\s*:')


def sniff(head: bytes) -> bool:
    """Whether the text is JSON by its first character and has flows of probes."""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] not in (b"{", b"[") or _MARK.search(text) is None:
        return False
    return _PROBE.search(text) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Yield the flows of a file as traces; see ``read_records``."""
    return read_records(stream, report, _MARK, _flows)


def _flows(record: dict[str, Any], report: ReadReport) -> Iterator[Trace]:
    for probes in read_object(record.get("flows"), "flows").values():
        yield _flow(read_list(probes, "probes"))


def _flow(probes: list[dict[str, Any]]) -> Trace:
    src, dst, start_s = UNKNOWN, UNKNOWN, math.inf
    replies = []
    for probe in probes:
        sent = read_object(probe.get("sent"), "sent")
        ip = read_object(sent.get("ip"), "ip")
        if dst == UNKNOWN:
            dst = read_addr(ip.get("dst"))
            src = read_addr(ip["src"]) if ip.get("src") else UNKNOWN
        at_s = read_time(sent.get("timestamp"))
        if at_s > 0:
            start_s = min(start_s, at_s)
        ttl = read_ttl(ip.get("ttl"))
        received = read_object(probe.get("received"), "received")
        if not received:
            continue
        reply = read_object(received.get("ip"), "ip")
        addr = read_addr(reply.get("src"))
        rtt_us = read_rtt(probe.get("rtt_usec"))
        kind = _kind(addr, read_object(received.get("icmp"), "icmp"))
        replies.append(Reply(ttl, addr, rtt_us / 1000, kind, known_ttl(reply.get("ttl"))))
    if dst == UNKNOWN:
        raise BrokenRecord("flow without a destination")
    replies.sort(key=lambda reply: reply.ttl)
    return Trace(src, dst, start_s if start_s < math.inf else 0.0, replies, is_classic=False)


def _kind(addr: tuple[int, int], icmp: dict[str, Any]) -> int:
    labels = LABELLED if icmp.get("mpls_labels") else 0
    icmp_type, icmp_code = icmp.get("type"), icmp.get("code", 0)
    if icmp_type is None:
        return KIND_UNKNOWN | labels
    for value in (icmp_type, icmp_code):
        if type(value) is not int or not 0 <= value <= 255:
            raise BrokenRecord("ICMP type or code is not a number from 0 to 255", value)
    is_v4 = addr[0] == 0 and addr[1] >> 32 == 0xFFFF
    return int(reply_kind(is_v4, icmp_type, icmp_code)) | labels
