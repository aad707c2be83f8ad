"""traceroute's output as the program jc turns it into JSON.

https://kellyjonbrazil.github.io/jc/docs/parsers/traceroute. There is neither a source nor a time;
``annotation`` has the marks of traceroute (``!H``); probes without an address did not answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.files import BOM
from pipeline.ingest.columns import Reply, Trace
from pipeline.ingest.text.json_records import (
    UNKNOWN,
    read_addr,
    read_list,
    read_records,
    read_rtt,
    read_ttl,
)
from pipeline.model.measured.reading import NO_SOURCE, ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN, KIND_UNREACHABLE, TraceBatch

_MARK = re.compile(rb'"destination_ip"\s*:')
_HOPS = re.compile(rb'"hops"\s*:\s*\[')


def sniff(head: bytes) -> bool:
    """Whether the text is JSON by its first character, with a destination and hops as jc names."""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] not in (b"{", b"["):
        return False
    return _MARK.search(text) is not None and _HOPS.search(text) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Yield the traces of a file; see ``read_records``."""
    return read_records(stream, report, _MARK, _traces)


def _traces(record: dict[str, Any], report: ReadReport) -> Iterator[Trace]:
    dst = read_addr(record.get("destination_ip"))
    replies = []
    for hop in read_list(record.get("hops"), "hops"):
        ttl = read_ttl(hop.get("hop"))
        for probe in read_list(hop.get("probes"), "probes"):
            if probe.get("ip") is None:
                continue
            is_marked = re.fullmatch(r"!\S+", str(probe.get("annotation"))) is not None
            kind = KIND_UNREACHABLE if is_marked else KIND_UNKNOWN
            replies.append(Reply(ttl, read_addr(probe["ip"]), read_rtt(probe.get("rtt")), kind))
    replies.sort(key=lambda reply: reply.ttl)
    report.notes[NO_SOURCE] += 1
    yield Trace(UNKNOWN, dst, 0.0, replies, is_classic=True)
