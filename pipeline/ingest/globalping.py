"""Measurements of Globalping, as its API and its command line give them: traceroute and mtr.

https://globalping.io/docs/api.globalping.io. Each probe's result is a trace. Hops stand in the
order of TTLs and have no number; one without an address did not answer. Nothing says where a probe
is but its city and AS, so traces have no vantage point; methods are those of traceroute and mtr,
whose probes each are of another flow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.files import BOM
from pipeline.ingest.columns import Reply, Trace
from pipeline.ingest.text.json_records import (
    UNKNOWN,
    BrokenRecord,
    OtherRecord,
    named_addr,
    read_addr,
    read_list,
    read_object,
    read_records,
    read_rtt,
    read_time,
)
from pipeline.model.measured.reading import NO_SOURCE, ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN, TraceBatch

_MARK = re.compile(rb'"results"\s*:\s*\[')
_PROBE = re.compile(rb'"probe"\s*:\s*\{')
_HOPS = re.compile(rb'"(?:resolvedAddress|rawOutput|probesCount)"\s*:')
_TYPES = re.compile("traceroute|mtr")


def sniff(head: bytes) -> bool:
    """Whether the text is JSON by its first character and has results of Globalping's probes."""
    text = head.removeprefix(BOM).lstrip()
    return text[:1] in (b"{", b"[") and all(map(_found_in(text), (_MARK, _PROBE, _HOPS)))


def _found_in(text: bytes):
    return lambda pattern: pattern.search(text) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Yield the results of a file's measurements as traces; see ``read_records``."""
    return read_records(stream, report, _MARK, _results)


def _results(record: dict[str, Any], report: ReadReport) -> Iterator[Trace]:
    kind = str(record.get("type"))
    if not _TYPES.fullmatch(kind):
        raise OtherRecord(kind[:40])
    start_s = read_time(record.get("createdAt"))
    target = named_addr(record.get("target"))
    for each in read_list(record.get("results"), "results"):
        result = read_object(each.get("result"), "result")
        if result.get("status", "finished") != "finished":
            report.notes["results that did not finish"] += 1
            continue
        dst = read_addr(result["resolvedAddress"]) if result.get("resolvedAddress") else target
        replies = []
        hops = read_list(result.get("hops"), "hops")
        if len(hops) > 255:
            raise BrokenRecord("more than 255 hops", len(hops))
        for ttl, hop in enumerate(hops, 1):
            if hop.get("resolvedAddress") is None:
                continue
            addr = read_addr(hop["resolvedAddress"])
            timings = read_list(hop.get("timings"), "timings")
            rtts = [read_rtt(t["rtt"]) for t in timings if t.get("rtt") is not None]
            replies += [Reply(ttl, addr, rtt, KIND_UNKNOWN) for rtt in rtts or [math.nan]]
        report.notes[NO_SOURCE] += 1
        yield Trace(UNKNOWN, dst, start_s, replies, is_classic=True)
