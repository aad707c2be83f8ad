"""mtr's JSON. Versions differ in whether numbers are written as text."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

from pipeline.ingest.columns import Reply, Trace
from pipeline.ingest.mtr.repliers import read_replier
from pipeline.ingest.text.json_records import (
    UNKNOWN,
    BrokenRecord,
    named_addr,
    read_list,
    read_object,
    read_ttl,
)
from pipeline.model.measured.reading import NO_SOURCE, NO_TARGET, ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN

MARK = re.compile(rb'"hubs"\s*:')


def traces(record: dict[str, Any], report: ReadReport) -> Iterator[Trace]:
    """The trace of one report."""
    head = read_object(record.get("mtr"), "mtr")
    dst = named_addr(head.get("dst"))
    replies = []
    for hub in read_list(record.get("hubs"), "hubs"):
        ttl, host = read_ttl(hub.get("count")), hub.get("host")
        if not isinstance(host, str):
            raise BrokenRecord("a hop has no host", host)
        try:
            addr = read_replier(host)
        except ValueError as error:
            raise BrokenRecord(str(error), host) from None
        if addr is not None:
            replies.append(Reply(ttl, addr, _best(hub), KIND_UNKNOWN))
    if any(after.ttl <= reply.ttl for reply, after in itertools.pairwise(replies)):
        raise BrokenRecord("hop numbers do not rise")
    report.notes[NO_SOURCE] += 1
    if dst == UNKNOWN:
        report.notes[NO_TARGET] += 1
    yield Trace(UNKNOWN, dst, 0.0, replies, is_classic=True)


def _best(hub: dict[str, Any]) -> float:
    """The smallest time in ms; NaN if it is not given."""
    try:
        best = float(hub.get("Best", math.nan))
    except (TypeError, ValueError):
        raise BrokenRecord("RTT is not a number", hub["Best"]) from None
    return best if math.isfinite(best) else math.nan
