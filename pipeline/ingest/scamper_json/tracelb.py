"""Parsed tracelb records, traceroutes of many flows, as the paths that they show.

A node has ``links``: hops, for each hop the addresses that answered, for each address the probes
that it answered, for each probe its flow and TTL. Hops of several links follow one another, and
a hop without an answer is one address ``*`` without probes; so links are found from flows and TTLs
(``pipeline.ingest.flow_paths``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.ingest.columns import TraceColumns
from pipeline.ingest.flow_paths import ANSWER, Head, write_paths
from pipeline.ingest.scamper_json.decode import MAX_RTT_MS
from pipeline.ingest.scamper_json.values import (
    BrokenRecord,
    read_addr,
    read_number,
    read_replier,
    read_reply_kind,
    read_rtt,
    read_start,
)

_NO_SPLIT = 256


def take_paths(record: dict[str, Any], columns: TraceColumns) -> None:
    """Append the paths of a parsed tracelb record to the columns.

    Raises
    ------
    BrokenRecord
        Nothing was appended.
    """
    src = read_addr(record["src"]) if record.get("src") is not None else (0, 0)
    if record.get("dst") is None:
        raise BrokenRecord("trace without a destination")
    dst = read_addr(record["dst"])
    start_s = read_start(record.get("start"))
    rows: list[tuple[int, int, int, int, float, int]] = []
    first, first_ttl = (0, 0), 0
    n_no_addr = n_bad_rtt = 0
    for at, node in enumerate(_objects(record.get("nodes"), "node")):
        addr = read_replier(node.get("addr"))
        n_silent = 0  # hops of the first node before the first that answered
        for hop in _lists(node.get("links")):
            n_before = len(rows)
            for group in _objects(hop, "hop"):
                replier = read_replier(group.get("addr"))
                for probe in _objects(group.get("probes"), "probe"):
                    replies = _objects(probe.get("replies"), "reply")
                    if not replies:
                        continue
                    if replier is None:
                        n_no_addr += len(replies)
                        continue
                    ttl = read_number(probe.get("ttl"), 1, 255, "TTL is not a number from 1 to 255")
                    flow = read_number(
                        probe.get("flowid"), 0, 0xFFFF, "flow is not a number from 0 to 65535"
                    )
                    rtt_ms, kind = read_rtt(replies[0]), read_reply_kind(replies[0], replier)
                    if rtt_ms is None or not 0 <= rtt_ms < MAX_RTT_MS:
                        n_bad_rtt += rtt_ms is not None
                        rtt_ms = np.nan
                    rows.append((flow, ttl, *replier, rtt_ms, kind))
            if at == 0 and addr is not None and first_ttl == 0:
                if len(rows) == n_before:
                    n_silent += 1
                else:
                    least = min(row[1] for row in rows[n_before:])
                    first, first_ttl = addr, max(least - 1 - n_silent, 0)
    columns.count["n_no_addr"] += n_no_addr
    columns.count["n_bad_rtt"] += n_bad_rtt
    head = Head(np.uint64(src[0]), np.uint64(src[1]), np.uint64(dst[0]), np.uint64(dst[1]), start_s)
    write_paths(
        np.array(rows, ANSWER),
        len(rows),
        first_ttl,
        np.uint64(first[0]),
        np.uint64(first[1]),
        _NO_SPLIT,
        head,
        columns.arrays,
    )


def _lists(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BrokenRecord("links are not a list", type(value).__name__)
    return value


def _objects(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of objects; none if it is missing."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BrokenRecord(f"not a list of {name} objects", type(value).__name__)
    return value
