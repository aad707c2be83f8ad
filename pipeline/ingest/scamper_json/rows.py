"""M-Lab's rows of scamper's records: as parsed, and as BigQuery exports them.

https://www.measurementlab.net/tests/traceroute/. A row has the record under ``raw``, beside what
M-Lab knows of the test. In parsed rows keys are in camel case; BigQuery has no list of lists, so
hops are objects with a list, and writes whole numbers as strings, or as floats.
"""

from __future__ import annotations

import re
from typing import Any

from pipeline.ingest.scamper_json.values import BrokenRecord
from pipeline.model.measured.traces import KIND_UNKNOWN

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WHOLE = re.compile(r"-?\d{1,18}")
_OF_HOPS = ("scamper_version", "ScamperVersion")
_RECORDS = ("tracelb", "trace")
_TEXTS = frozenset(("addr", "src", "dst", "name", "method", "type", "version", "ftime"))


def of_row(row: dict[str, Any]) -> dict[str, Any]:
    """The record in a row, as scamper writes it; ``row`` itself where it is none."""
    if any(name in row for name in _OF_HOPS):
        try:
            return _of_hops(_as_written(row))
        except (AttributeError, TypeError) as error:
            raise BrokenRecord("hops are not as M-Lab writes them", error) from None
    raw = row.get("raw", row.get("Raw"))
    if not isinstance(raw, dict):
        return row
    for key, value in raw.items():
        if key.lower() in _RECORDS and isinstance(value, dict):
            return dict(_as_written(value))
    return row


def _of_hops(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table before scamper's records (``ndt.traceroute``), which has hops.

    Its links have the flows and times of probes, and no ICMP type: kinds are unknown. The server
    sends to the client.
    """
    start_s = row.get("start_time")
    return {
        "type": "tracelb",
        "method": "paris",
        "src": _ip(row.get("source")) or row.get("server_ip"),
        "dst": _ip(row.get("destination")) or row.get("client_ip"),
        "start": {"sec": start_s, "usec": 0} if start_s else None,
        "nodes": [
            {
                "addr": _ip(hop.get("source")),
                "links": [[_link(each) for each in hop.get("link") or hop.get("links") or ()]],
            }
            for hop in row.get("hop") or ()
        ],
    }


def _ip(place: Any) -> Any:
    return place.get("ip") if isinstance(place, dict) else None


def _link(link: dict[str, Any]) -> dict[str, Any]:
    return {
        "addr": link.get("hop_dst_ip"),
        "probes": [
            {
                "ttl": link.get("ttl"),
                "flowid": probe.get("flowid"),
                "replies": [{"rtt": rtt, "kind": KIND_UNKNOWN} for rtt in probe.get("rtt") or ()],
            }
            for probe in link.get("probes") or ()
        ],
    }


def _as_written(value: Any, key: str = "") -> Any:
    """A value with scamper's keys and numbers; text stays text."""
    if isinstance(value, dict):
        named = ((_HUMP.sub("_", name).lower(), each) for name, each in value.items())
        return {name: _as_written(each, name) for name, each in named}
    if isinstance(value, list):
        if key == "links":
            value = [_hop(each) for each in value]
        return [_as_written(each) for each in value]
    if isinstance(value, str) and key not in _TEXTS and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, float) and key != "rtt" and value.is_integer():
        return int(value)
    return value


def _hop(links: Any) -> Any:
    """The links of a hop, out of the object around them."""
    if isinstance(links, dict) and len(links) == 1:
        return next(iter(links.values()))
    return links
