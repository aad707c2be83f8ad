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
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from pipeline.errors import FormatError
from pipeline.ingest.opening import open_bytes
from pipeline.json_text import parse_json
from pipeline.judge.truth import Truth, neighbors_by_links
from pipeline.model.addresses import format_addr, parse_addr
from pipeline.model.choices import MAX_ASN, TRUTH, as_number_in
from pipeline.model.words import number, printable

MAX_BYTES = 1 << 31  # decompressed; 47,000 ASes take some 100 MB
_SHOWN = 60  # characters of a value that an error quotes
_REMEDY = f"{TRUTH} needs asn_of (AS of each router) and links (u, v, u_addr, v_addr)"


class _Broken(ValueError):
    """What is no network: where, and why."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(reason)
        self.place, self.reason = place, reason


def read_ground_truth(path: Path) -> Truth:
    """Read the file, plain or compressed.

    Raises
    ------
    FormatError
        If it cannot be read, is not JSON, or not a network; with the place of the fault.
    """
    data = read_json(path)
    try:
        return _network(data)
    except _Broken as fault:
        raise FormatError(path, fault.place, f"{fault.reason}; {_REMEDY}") from fault


def read_json(path: Path) -> Any:
    """The value that a file holds, plain or compressed; FormatError if it is not JSON."""
    parts, size = [], 0
    with open_bytes(path) as stream:
        while part := stream.read(1 << 20):
            size += len(part)
            if size > MAX_BYTES:
                raise FormatError(path, "", f"more than {MAX_BYTES >> 30} GiB; too large for JSON")
            parts.append(part)
    if not size:
        raise FormatError(path, "", "is empty")
    try:
        return parse_json(b"".join(parts))
    except orjson.JSONDecodeError as error:
        reason = f"not JSON, or cut short after {number(size, 'byte')}: {error}"
        raise FormatError(path, "", reason) from error


def plain_text(addr: Any) -> str:
    """An address in its one spelling; ValueError if it is none."""
    if isinstance(addr, str) and "%" not in addr:  # no scope of a link-local one
        with contextlib.suppress(ValueError):
            return format_addr(*parse_addr(addr))
    raise ValueError(f"{_quoted(addr)} is not an address")


def _quoted(value: Any) -> str:
    """A value as JSON writes it, in ASCII; large ones by their kind, which costs no memory."""
    if isinstance(value, dict | list):
        return ("an object" if isinstance(value, dict) else "a list") if value else f"{value}"
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    return _short(json.dumps(value))


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _asn(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ASN:
        raise _Broken(place, f"{_quoted(value)} is not an AS number, 0 to {MAX_ASN}")
    return value


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object; one that is not there is empty."""
    return _object(data.get(key, {}), key)


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Broken(place, f"{_quoted(value)} is not an object")
    return value


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    found = data.get(key, [])
    if not isinstance(found, list):
        raise _Broken(key, f"{_quoted(found)} is not a list")
    return found


def _text(data: Mapping[str, Any], key: str, place: str) -> str:
    """A text that must be there."""
    if key not in data:
        raise _Broken(place, f"{key} is missing")
    if not isinstance(value := data[key], str):
        raise _Broken(f"{place}.{key}", f"{_quoted(value)} is not a text")
    return value


def _network(data: Any) -> Truth:
    data = _object(data, "")
    for key in ("asn_of", "links"):
        if key not in data:
            raise _Broken("", f"{key} is missing")
    hosts = _table(data, "hosts")
    asn_of = {
        router: _asn(asn, f"asn_of.{_short(router)}")
        for router, asn in _table(data, "asn_of").items()
        if router not in hosts
    }
    if not asn_of:
        raise _Broken("asn_of", "has no router")
    router_of: dict[str, str] = {}
    links = set()
    for router, addr, place in _addresses(data, hosts):
        _check_known(router, asn_of, place)
        try:
            router_of[plain_text(addr)] = router
        except ValueError as error:
            raise _Broken(place, str(error)) from error
    for place, _, one, other in _links(data):
        if one in hosts or other in hosts:
            continue
        for end in (one, other):
            _check_known(end, asn_of, place)
        if one != other:
            links.add(frozenset((one, other)))
    if not router_of:
        raise _Broken("", "no router has an address")
    return Truth(
        asn_of,
        router_of,
        frozenset(links),
        neighbors_by_links(links, asn_of),
        len(_list(data, "ixps")),
        _plan(_table(data, "plan")),
        relationships=_relationships(data),
        organisations=_organisations(data),
    )


def _check_known(router: str, asn_of: Mapping[str, int], place: str) -> None:
    if router not in asn_of:
        raise _Broken(place, f"router {_quoted(router)} is not in asn_of")


def _plan(plan: Mapping[str, Any]) -> str:
    """The network in words; empty: it does not say."""
    name, seed = plan.get("name"), plan.get("seed")
    if not isinstance(name, str):
        return ""
    return f"{_short(name)}, seed {seed}" if isinstance(seed, int) else _short(name)


def _relationships(data: Mapping[str, Any]) -> dict[tuple[int, int], int]:
    found = {}
    for i, row in enumerate(_list(data, "relationships")):
        place = f"relationships[{i}]"
        if not isinstance(row, list) or len(row) != 3:
            raise _Broken(place, f"{_quoted(row)} is not [AS, AS, -1 or 0]")
        one, other, kind = row
        if isinstance(kind, bool) or kind not in (-1, 0):
            raise _Broken(place, f"{_quoted(kind)} is not a relationship, -1 or 0")
        found[_asn(one, place), _asn(other, place)] = int(kind)
    return found


def _organisations(data: Mapping[str, Any]) -> dict[int, str]:
    found = {}
    for text, of in _table(data, "organisations").items():
        if (asn := as_number_in(text)) is None:
            raise _Broken("organisations", f"{_quoted(text)} is not an AS number")
        found[asn] = str(of)
    return found


def _links(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """Place, link, and the names of its ends."""
    for i, each in enumerate(_list(data, "links")):
        place = f"links[{i}]"
        link = _object(each, place)
        one, other = (_text(link, end, place) for end in _ends(link))
        yield place, link, one, other


def _ends(link: Mapping[str, Any]) -> tuple[str, str]:
    return ("a", "b") if "a" in link and "u" not in link else ("u", "v")


def _addresses(data: Mapping[str, Any], hosts: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Router, address and place of each; of an address said of two routers the last counts."""
    for place, link, *routers in _links(data):
        for end, router in zip(_ends(link), routers, strict=True):
            if router in hosts:
                continue
            for suffix in ("_addr", "_addr6"):
                if end + suffix in link:
                    yield router, link[end + suffix], f"{place}.{end}{suffix}"
    for key in ("loopback", "loopback6"):
        for router, addr in _table(data, key).items():
            yield router, addr, f"{key}.{_short(router)}"
    for name, each in hosts.items():
        place = f"hosts.{_short(name)}"
        if "gw_addr" in (host := _object(each, place)):
            yield _text(host, "gw", place), host["gw_addr"], f"{place}.gw_addr"
    for i, each in enumerate(_list(data, "ixps")):
        place = f"ixps[{i}]"
        if "members" not in (exchange := _object(each, place)):
            raise _Broken(place, "members is missing")
        for router, addr in _object(exchange["members"], f"{place}.members").items():
            yield router, addr, f"{place}.members.{_short(router)}"
