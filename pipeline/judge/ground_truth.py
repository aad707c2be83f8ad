"""``ground_truth.json``: a whole network as the simulator, or who built it, wrote it down.

    {"asn_of": {"r0": 64496, "r1": 64497}, "loopback": {"r0": "20.1.0.1"},
     "links": [{"u": "r0", "v": "r1", "u_addr": "20.1.0.2", "v_addr": "20.1.0.3"}]}

``asn_of`` and ``links`` must be there. Ends of links are ``u`` and ``v``, or ``a`` and ``b``, with
``_addr`` and ``_addr6``. What else is read: ``loopback`` and ``loopback6`` (address of a router),
``hosts`` (``gw``, ``gw_addr``: the router before a vantage point and its address; links to hosts
count for nothing), ``ixps`` (``members``: address of each router on the LAN), ``relationships``
(``[AS, AS, -1 or 0]``), ``organisations``, ``plan`` (``name``, ``seed``). Other keys are not read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from pipeline.errors import FormatError
from pipeline.ingest.opening import open_bytes
from pipeline.json_text import parse_json
from pipeline.judge.truth import Truth, neighbors_by_links
from pipeline.model.addresses import format_addr, parse_addr
from pipeline.model.choices import MAX_ASN

TRUTH = "ground_truth.json"
MAX_BYTES = 1 << 31  # decompressed; 47,000 ASes take some 100 MB
_SHOWN = 60  # characters of a value that an error quotes


def read_ground_truth(path: Path) -> Truth:
    """Read the file, plain or compressed.

    Raises
    ------
    FormatError
        If it cannot be read, is not JSON, or not a network.
    """
    data = read_json(path)
    try:
        return _network(data)
    except KeyError as error:
        raise FormatError(path, "", f"is not a network: {error} is missing") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise FormatError(path, "", f"is not a network: {error}") from error


def read_json(path: Path) -> Any:
    """The value that a file holds, plain or compressed; FormatError if it is not JSON."""
    parts, size = [], 0
    with open_bytes(path) as stream:
        while part := stream.read(1 << 20):
            size += len(part)
            if size > MAX_BYTES:
                raise FormatError(path, "", f"more than {MAX_BYTES >> 30} GiB; too large for JSON")
            parts.append(part)
    try:
        return parse_json(b"".join(parts))
    except orjson.JSONDecodeError as error:
        raise FormatError(path, "", f"not JSON: {error}") from error


def plain_text(addr: Any) -> str:
    """An address in its one spelling; ValueError if it is none."""
    if isinstance(addr, str) and "%" not in addr:  # no scope of a link-local one
        with contextlib.suppress(ValueError):
            return format_addr(*parse_addr(addr))
    raise ValueError(f"{_quoted(addr)} is not an address")


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _asn(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ASN:
        raise ValueError(f"{_quoted(value)} is not an AS number")
    return value


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object; one that is not there is empty."""
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise ValueError(f"{key} is not an object")  # noqa: TRY004
    return found


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    found = data.get(key, [])
    if not isinstance(found, list):
        raise ValueError(f"{key} is not a list")  # noqa: TRY004
    return found


def _network(data: Any) -> Truth:
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004
    if missing := {"asn_of", "links"} - data.keys():
        raise KeyError(min(missing))
    hosts = _table(data, "hosts")
    asn_of = {
        router: _asn(asn) for router, asn in _table(data, "asn_of").items() if router not in hosts
    }
    router_of: dict[str, str] = {}
    for router, addr in _addresses(data, hosts):
        if router not in asn_of:
            raise ValueError(f"asn_of has no router {_quoted(router)}, which has {_quoted(addr)}")
        router_of[plain_text(addr)] = router
    links = set()
    for link in _list(data, "links"):
        ends = frozenset(link[end] for end in _ends(link))
        if any(end in hosts for end in ends):
            continue
        if unknown := [str(end) for end in ends if end not in asn_of]:
            raise ValueError(f"asn_of has no router {_quoted(min(unknown))} of links")
        links.add(ends)
    plan = _table(data, "plan")
    return Truth(
        asn_of,
        router_of,
        frozenset(links),
        neighbors_by_links(links, asn_of),
        len(_list(data, "ixps")),
        f"{plan['name']}, seed {plan['seed']}" if plan else "",
        relationships={
            (_asn(one), _asn(other)): _kind(kind)
            for one, other, kind in _list(data, "relationships")
        },
        organisations={int(asn): str(of) for asn, of in _table(data, "organisations").items()},
    )


def _kind(value: Any) -> int:
    if value not in (-1, 0):
        raise ValueError(f"{_quoted(value)} is not a relationship, -1 or 0")
    return int(value)


def _ends(link: Mapping[str, Any]) -> tuple[str, str]:
    return ("u", "v") if "u" in link else ("a", "b")


def _addresses(data: Mapping[str, Any], hosts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Routers and their addresses; of an address that is said of two routers the last counts."""
    for link in _list(data, "links"):
        for end in _ends(link):
            if link[end] in hosts:
                continue
            for suffix in ("_addr", "_addr6"):
                if end + suffix in link:
                    yield link[end], link[end + suffix]
    for key in ("loopback", "loopback6"):
        yield from _table(data, key).items()
    for host in hosts.values():
        if "gw_addr" in host:
            yield host["gw"], host["gw_addr"]
    for exchange in _list(data, "ixps"):
        yield from exchange["members"].items()
