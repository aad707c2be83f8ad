"""Places of addresses: ITDK ``.nodes.geo``, CSV, and Hoiho's rules on host names; by content.

- ITDK [1]_: ``node.geo N15:`` and, between TABs, continent, country, region, city, latitude,
  longitude. Which addresses a node has, says a ``.nodes`` file of the same kit (``node N15:  addr
  addr``), which is one of the files, in any order.
- CSV: address or prefix, latitude, longitude, city and country, in degrees; columns in another
  order if the first line names them. The longest prefix that covers an address counts.
- Hoiho [2]_, JSON lines: ``re``, patterns whose groups hold a code, and ``geohints``, the places
  that codes stand for; only places that the file itself gives, and of classes ``good`` and
  ``promising``. A group that ``plan`` calls ``cc`` or ``st`` names a country or a state.

Of several files the first that has an address counts; where a later one has it more than
``SAME_PLACE_KM`` away, that is counted in its notes. Cities are third-party text, kept as they are
except that control characters become U+FFFD; code that shows them must escape them.

References
----------
.. [1] CAIDA, "Macroscopic Internet Topology Data Kit (ITDK)", README.
.. [2] M. Luckie et al., "Learning to extract geographic information from internet router
   hostnames", CoNEXT 2021.
"""

from __future__ import annotations

import csv
import ipaddress
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import orjson

from pipeline.ingest.tables.lines import Blocks, read_chunks
from pipeline.ingest.text.names import clean_name
from pipeline.ingest.text.patterns import compile_pattern
from pipeline.json_text import parse_json
from pipeline.model.addresses import MAPPED_V4, parse_addr, positions_of
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.locations import SAME_PLACE_KM, Locations, distance_km
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.intervals import prefix_range, table_of

MAX_CITY = 100  # characters of a city or a country
NODES, GEO, RULES, CSV = "itdk-nodes", "itdk-geo", "rules of places", "places"
CLASSES = ("good", "promising")
_MAX_PATTERNS = 100  # of a domain
_AT_ONCE = 1 << 19  # addresses that wait before they are compared with those that are wanted
_QUALIFIERS = ("cc", "st")
_PLACEHOLDERS = (b"0.", b"224.")  # of ITDK nodes that never answered
# Names of columns, as files have them, by what they are.
_COLUMNS = {
    "address": ("address", "addr", "ip", "prefix", "network"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "city": ("city", "place"),
    "country": ("country", "country_code", "cc"),
}
_NONE = "no place in it; give ITDK nodes.geo, CSV of address, latitude, longitude, city, or rules"


class Place(NamedTuple):
    """Degrees, and names; None: not given."""

    latitude: float
    longitude: float
    city: str | None
    country: str | None


class _File(NamedTuple):
    kind: str
    lines: Iterator[tuple[int, bytes]]  # its number and its text
    report: ReadReport


def read_locations(
    files: Sequence[Blocks],
    reports: Sequence[ReadReport],
    addrs: np.ndarray,
    hosts: HostNames | None = None,
) -> Locations:
    """Read the places of some addresses; files may have those of many others.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file; those given first count more.
    reports : sequence of ReadReport
        One for each file, filled: places, or nodes, as ``n_records``, broken lines by reason, its
        kind as ``format``. A file that cannot be read, is cut short or holds nothing of these kinds
        has status ``rejected`` or ``partial`` and says why in ``error``; nothing is raised for it.
    addrs : (n, 2) uint64
        Whose places are wanted; sorted, distinct.
    hosts : HostNames or None
        What rules read.
    """
    opened = [_opened(*pair) for pair in zip(files, reports, strict=True)]
    nodes: dict[int, list[int]] = {}
    for file in opened:
        if file.kind == NODES:
            _read_nodes(file, addrs, nodes)
    places: list[Place] = []
    taken = np.full(len(addrs), -1, np.int64)
    for file in opened:
        if file.kind == NODES:
            continue
        known = len(places)
        if file.kind == GEO:
            of_file = _read_geo(file, nodes, places, len(addrs))
        elif file.kind == RULES:
            of_file = _read_rules(file, hosts, addrs, places)
        else:
            of_file = _read_csv(file, addrs, places)
        if not file.report.n_records and not file.report.skipped:
            file.report.refuse_empty(_NONE)
        both = np.flatnonzero((of_file >= known) & (taken >= 0))
        if n := _apart(places, taken[both], of_file[both]):
            file.report.notes["addresses that an earlier file has elsewhere"] += n
        taken = np.where(taken >= 0, taken, of_file)
    at = np.flatnonzero(taken >= 0)
    found = [places[i] for i in taken[at].tolist()]
    numbers = np.array([place[:2] for place in found], np.float64).reshape(-1, 2)
    texts = [np.full(len(found), None, object) for _ in range(2)]
    for i, place in enumerate(found):
        texts[0][i], texts[1][i] = place.city, place.country
    return Locations.unchecked(addrs[at], numbers[:, 0], numbers[:, 1], *texts)


def _opened(blocks: Blocks, report: ReadReport) -> _File:
    """A file with what its first line says it is."""
    lines = _lines(blocks, report)
    head: list[tuple[int, bytes]] = []
    for line in lines:
        head.append(line)
        if not line[1].startswith(b"#"):
            break
    first = head[-1][1] if head else b""
    kind = CSV
    if first.startswith(b"node.geo"):
        kind = GEO
    elif first.startswith(b"node "):
        kind = NODES
    elif first.startswith(b"{"):
        kind = RULES
    report.format = kind
    return _File(kind, chain(head, lines), report)


def _lines(blocks: Blocks, report: ReadReport) -> Iterator[tuple[int, bytes]]:
    for first, data in read_chunks(blocks, report):
        for number, line in enumerate(data.split(b"\n"), first):
            if line.strip():
                yield number, line.rstrip(b"\r")


def _apart(places: Sequence[Place], one: np.ndarray, other: np.ndarray) -> int:
    """How many pairs of places are more than ``SAME_PLACE_KM`` apart."""
    if not len(one):
        return 0
    degrees = np.array([place[:2] for place in places])
    a, b = degrees[one], degrees[other]
    return int(np.count_nonzero(distance_km(*a.T, *b.T) > SAME_PLACE_KM))


def _reject(file: _File, number: int, reason: str, line: bytes) -> None:
    file.report.reject(f"line {number}", reason, line[:60].decode("utf-8", "replace"))


def _place(
    file: _File, latitude: object, longitude: object, city: str | None, country: str | None
) -> Place:
    """A place; ValueError with a fixed phrase if the degrees are none."""
    try:
        north, east = float(latitude), float(longitude)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError("latitude or longitude is no number") from None
    if not (-90 <= north <= 90 and -180 <= east <= 180):  # NaN too
        raise ValueError("latitude beyond 90 or longitude beyond 180 degrees")
    return Place(north, east, _name(city, file.report), _name(country, file.report))


def _name(text: str | None, report: ReadReport) -> str | None:
    return clean_name(text.strip(), MAX_CITY, report) or None if text else None


def _node_of(word: bytes) -> int:
    """Number of ``N15``; ValueError if it is none."""
    if word[:1] != b"N" or not word[1:].isdigit() or len(word) > 19:
        raise ValueError("not a node")
    return int(word[1:])


def _read_nodes(file: _File, addrs: np.ndarray, nodes: dict[int, list[int]]) -> None:
    """Nodes of wanted addresses: number -> positions in ``addrs``."""
    words, owners = array("Q"), array("q")

    def move() -> None:
        at = positions_of(addrs, np.array(words, np.uint64).reshape(-1, 2)).tolist()
        for owner, position in zip(owners, at, strict=True):
            if position >= 0:
                nodes.setdefault(owner, []).append(position)
        del words[:], owners[:]

    for number, line in file.lines:
        if line.startswith(b"#"):
            continue
        try:
            owner, found = _node_row(line)
        except ValueError as error:
            _reject(file, number, str(error), line)
            continue
        for word in found:
            words.extend(word)
            owners.append(owner)
        file.report.n_records += 1
        if len(owners) >= _AT_ONCE:
            move()
    move()
    if not file.report.n_records:
        file.report.refuse_empty(_NONE)


def _node_row(line: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Number and addresses of a node, placeholders left out."""
    head, colon, rest = line.partition(b":")
    if not colon or not head.startswith(b"node "):
        raise ValueError("not `node N1:  addr addr`")
    number = _node_of(head[5:].strip())
    try:
        return number, [
            parse_addr(word.decode("ascii", "replace"))
            for word in rest.split()
            if not word.startswith(_PLACEHOLDERS)
        ]
    except ValueError:
        raise ValueError("not an address") from None


def _read_geo(
    file: _File, nodes: Mapping[int, Sequence[int]], places: list[Place], n: int
) -> np.ndarray:
    found = np.full(n, -1, np.int64)
    for number, line in file.lines:
        if line.startswith(b"#"):
            continue
        try:
            owner, columns = _geo_row(line)
            if not columns[4].strip() and not columns[5].strip():
                file.report.skip("nodes without latitude and longitude")
                continue
            place = _place(file, columns[4], columns[5], columns[3], columns[1])
        except ValueError as error:
            _reject(file, number, str(error), line)
            continue
        file.report.n_records += 1
        if at := nodes.get(owner):
            found[at] = np.where(found[at] < 0, len(places), found[at])
            places.append(place)
    if not nodes and file.report.n_records:
        file.report.notes["places of nodes whose addresses no .nodes file has"] += (
            file.report.n_records
        )
    return found


def _geo_row(line: bytes) -> tuple[int, list[str]]:
    """Number of a node and its columns, six at least."""
    head, colon, rest = line.partition(b":")
    if not colon or not head.startswith(b"node.geo "):
        raise ValueError("not `node.geo N1:` and columns")
    columns = rest.removeprefix(b"\t").decode("utf-8", "replace").split("\t")
    if len(columns) < 6:
        raise ValueError("fewer than six columns between TABs")
    return _node_of(head[9:].strip()), columns


def _read_csv(file: _File, addrs: np.ndarray, places: list[Place]) -> np.ndarray:
    """Position of the place of the longest prefix around each address."""
    at = dict(zip(_COLUMNS, range(5), strict=True))
    rows: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
    is_first = True
    for number, line in file.lines:
        if line.startswith(b"#"):
            continue
        try:
            words = next(csv.reader([line.decode("utf-8", "replace")]))
        except (csv.Error, StopIteration):
            _reject(file, number, "not a line of CSV", line)
            continue
        if is_first:
            is_first = False
            if named := _header(words):
                at = named
                continue
        row = {name: words[i] for name, i in at.items() if i < len(words)}
        try:
            key = _range(row.get("address", ""))
            degrees = (row.get("latitude"), row.get("longitude"))
            place = _place(file, *degrees, row.get("city"), row.get("country"))
        except ValueError as error:
            _reject(file, number, str(error), line)
            continue
        file.report.n_records += 1
        if key in rows:
            file.report.notes["prefixes listed again, left out"] += 1
            continue
        rows[key] = len(places)
        places.append(place)
    if not rows:
        return np.full(len(addrs), -1, np.int64)
    words_of = np.array(list(rows), np.uint64).reshape(-1, 2, 2)
    start, end = words_of[:, 0], words_of[:, 1]
    order = np.lexsort((~end[:, 1], ~end[:, 0], start[:, 1], start[:, 0]))
    table = table_of(start[order], end[order], np.array(list(rows.values()))[order])
    return table.lookup(addrs)


def _header(words: Sequence[str]) -> dict[str, int] | None:
    """Columns by what they are, if a line names those that are needed."""
    names = [word.strip().lower() for word in words]
    found = {
        what: next(names.index(each) for each in known if each in names)
        for what, known in _COLUMNS.items()
        if any(each in names for each in known)
    }
    return found if {"address", "latitude", "longitude"} <= found.keys() else None


def _range(text: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last address of a prefix or an address."""
    text = text.strip()
    if "/" not in text:
        try:
            word = parse_addr(text)
        except ValueError:
            raise ValueError("not an address") from None
        return word, word
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise ValueError("not a prefix") from None
    if isinstance(network, ipaddress.IPv6Network) and network.overlaps(MAPPED_V4):
        raise ValueError("a prefix around ::ffff:0:0/96, where IPv4 is kept")
    return prefix_range(network)


class _Rule(NamedTuple):
    patterns: list[tuple[Any, list[str]]]  # what each group is, as far as it is said
    places: dict[str, int]  # by code


def _read_rules(
    file: _File, hosts: HostNames | None, addrs: np.ndarray, places: list[Place]
) -> np.ndarray:
    rules: dict[str, _Rule] = {}
    for number, line in file.lines:
        if line.startswith(b"#"):
            continue
        try:
            entry = _rule(parse_json(line.decode("utf-8", "replace")), file, places)
        except orjson.JSONDecodeError:
            _reject(file, number, "not valid JSON", line)
            continue
        except ValueError as error:
            _reject(file, number, str(error), line)
            continue
        if entry is not None:
            file.report.n_records += 1
            if entry[0] in rules:
                file.report.notes["domains listed again, left out"] += 1
            rules.setdefault(*entry)
    found = np.full(len(addrs), -1, np.int64)
    if hosts is None or not len(hosts):
        if rules:
            file.report.notes["rules without a host name to read (--host-names)"] += len(rules)
        return found
    at = positions_of(addrs, hosts.addr)
    for position, name in zip(at.tolist(), hosts.name.tolist(), strict=True):
        if position >= 0:
            found[position] = _place_in(name.lower(), rules, places)
    return found


def _rule(row: Any, file: _File, places: list[Place]) -> tuple[str, _Rule] | None:
    """Domain and rule; None: not one that is used; ValueError with a fixed phrase."""
    if not isinstance(row, dict) or not row:
        raise ValueError("not a JSON object with entries")
    domain, texts, hints = row.get("domain"), row.get("re"), row.get("geohints")
    score, plan = row.get("score"), row.get("plan")
    if not isinstance(domain, str) or not domain.strip("."):
        raise ValueError("no domain")
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise ValueError("no patterns")
    if len(texts) > _MAX_PATTERNS:
        raise ValueError(f"more than {_MAX_PATTERNS} patterns")
    if not isinstance(hints, list) or not hints:
        file.report.skip("rules without places")
        return None
    if not isinstance(score, dict) or score.get("class") not in CLASSES:
        file.report.skip("rules that are not good or promising")
        return None
    if not isinstance(plan, list):
        plan = []
    kinds = [_words(plan[i]) if i < len(plan) else [] for i in range(len(texts))]
    codes: dict[str, int] = {}
    for hint in hints:
        try:
            code, place = _hint(hint, file)
        except ValueError as error:
            file.report.notes[f"codes left out: {error}"] += 1
            continue
        if code not in codes:
            codes[code] = len(places)
            places.append(place)
    compiled = [compile_pattern(text) for text in texts]
    return domain.strip(".").lower(), _Rule(list(zip(compiled, kinds, strict=True)), codes)


def _words(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _hint(hint: Any, file: _File) -> tuple[str, Place]:
    where = hint.get("location") if isinstance(hint, dict) else None
    if not isinstance(where, dict) or not isinstance(hint.get("code"), str):
        raise ValueError("no code or location")  # noqa: TRY004
    city, country = (
        each if isinstance(each, str) else None for each in (where.get("place"), where.get("cc"))
    )
    country = country.upper() if country else None
    return hint["code"].lower(), _place(file, hint.get("lat"), hint.get("lng"), city, country)


def _place_in(name: str, rules: Mapping[str, _Rule], places: Sequence[Place]) -> int:
    """Position of the place that a host name names, -1 for none; the longest domain counts."""
    domain = name
    while domain:
        rule = rules.get(domain)
        for pattern, kinds in rule.patterns if rule else ():
            match = pattern.search(name)
            if match is None:
                continue
            groups = [each or "" for each in match.groups()]
            kinds = [*kinds, *[""] * len(groups)]  # what the plan does not say
            pairs = list(zip(groups, kinds, strict=False))
            said = [each for each, kind in pairs if kind not in _QUALIFIERS]
            code = next((c for c in ("".join(said), *said) if c in rule.places), None)  # type: ignore[union-attr]
            if code is None:
                return -1
            place = rule.places[code]  # type: ignore[union-attr]
            country = (places[place].country or "").lower()
            named = [each for each, kind in pairs if kind == "cc" and each]
            same = not named or not country or _iso(named[0]) == country
            return place if same else -1
        domain = domain.partition(".")[2]
    return -1


def _iso(code: str) -> str:
    """Country codes as ISO has them: names of hosts have ``uk``."""
    return "gb" if code == "uk" else code
