"""CAIDA's Internet Topology Data Kit: routers, the links between them, and their ASes.

    link L1:  N27677807:1.0.0.1 N106961:1.0.0.2 N53243

A kit is several files of one name: ``X.links``, which is the input, and beside it ``X.nodes``
(``node N1:  addr addr``), ``X.nodes.as`` (``node.AS N1 AS method``) and ``X.nodes.geo``, plain or
compressed; without ``X.nodes`` the addresses in the links, and those of ``X.ifaces``, are used.

What is done with it:

- A link has two or more ends, since an interface may be seen behind several routers. Two of its
  ends are linked if the address of one of them is known there: that interface was seen behind
  the other router. If no address is known, the first end is linked to each other one. Column
  ``link`` is the number of the line's link, so that its ends can be found together again; of
  more than ``MAX_ENDS`` ends those with an address are linked to the first one only, which is
  noted.
- A router's AS is that of ``.nodes.as``, with its method as column ``method``; ASes are those
  of CAIDA's inference, not of ours.
- Addresses in 0.0.0.0/8 and 224.0.0.0/3 stand for routers that did not answer: no address.
- Routers without a link are left out, and counted: an ITDK has tens of millions of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numba import njit

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.opening import COMPRESSED_SUFFIXES, open_bytes
from pipeline.ingest.text.addresses import scan_addr
from pipeline.ingest.text.lines import Lines
from pipeline.ingest.text.names import clean_name
from pipeline.model.addresses import naming_addrs
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology

MAX_ENDS = 1000
_LINK = re.compile(rb"link L\d{1,18}:\s+N\d{1,18}\b")
_NODE_LINE, _LINK_LINE, _AS_LINE, _GEO_LINE = b"node N", b"link L", b"node.AS N", b"node.geo N"
_MOST_TEXT = 100
_ZERO, _U24 = np.uint64(0), np.uint64(24)


def sniff(head: bytes) -> bool:
    """Whether the first line after comments is a link of an ITDK."""
    for line in head.removeprefix(BOM).split(b"\n"):
        if line.strip() and not line.startswith(b"#"):
            return _LINK.match(line) is not None
    return False


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole, with the files of the same name beside it.

    Yields
    ------
    Topology
        kind ``router``; node_id are the numbers of nodes, sorted unless they have addresses.

    Raises
    ------
    FormatError
        After the topology, if the stream is cut short; at once if it holds no link.
    """
    ends, error = _scanned(stream, report, _LINK_LINE, "not a link")
    near, far, link, n_wide = _pairs(ends)
    if n_wide:
        report.notes[f"links of more than {MAX_ENDS} ends, as stars"] += n_wide
    if len(near):
        report.n_records += len(np.unique(ends.line))
        yield _topology(near, far, link, ends, _Beside(getattr(stream, "path", None), report))
    if error is not None:
        raise error
    if not len(near):
        raise FormatError(report.path, "", "no usable link; expected `link L1:  N1:addr N2`")


class _Words:
    """Nodes and addresses of lines, one row each; ``first`` says whether it begins a line."""

    def __init__(self, parts: Sequence[tuple[np.ndarray, ...]]):
        empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 2), np.uint64))
        columns = [np.concatenate(each) for each in zip(empty, *parts, strict=True)]
        self.line, self.node, self.addr = columns


def _scanned(
    stream: BinaryIO, report: ReadReport, prefix: bytes, reason: str
) -> tuple[_Words, FormatError | None]:
    """The words of all lines that begin with ``prefix``; others but comments are rejected."""
    lines = Lines(stream)
    parts = []
    code = np.frombuffer(prefix, np.uint8)
    while lines.fill():
        data = lines.buffer[lines.start : lines.stop]
        room = int(np.count_nonzero(data == 32)) + int(np.count_nonzero(data == 9)) + 2
        line, node = np.empty((2, room), np.int64)
        addr = np.zeros((room, 2), np.uint64)
        broken = np.empty(int(np.count_nonzero(data == 10)) + 1, np.int64)
        n, n_lines, n_broken = _scan(data, code, line, node, addr, broken)
        parts.append((line[:n].copy(), node[:n].copy(), addr[:n].copy()))
        for at in broken[:n_broken].tolist():
            report.reject(f"line {lines.number + at}", reason)
        lines.number += n_lines
        lines.start = lines.stop
    return _Words(parts), lines.error


@njit(cache=True, nogil=True)
def _number(data, start, stop):
    """Whole number in data[start:stop]; -1 if it is none."""
    if stop == start or stop - start > 18:
        return np.int64(-1)
    value = np.int64(0)
    for i in range(start, stop):
        if not 48 <= data[i] <= 57:
            return np.int64(-1)
        value = 10 * value + np.int64(data[i]) - 48
    return value


@njit(cache=True, nogil=True)
def _scan(data, prefix, line, node, addr, broken):
    """Words of whole lines: for ``node N1:  a b`` rows (1, a), (1, b), for links a row an end.

    Of a link ``line`` is its number, of a node its own. Returns (rows, lines, broken lines).
    """
    n, n_lines, n_broken, i, size = 0, 0, 0, 0, len(data)
    is_link = prefix[0] == 108
    while i < size:
        stop = i
        while stop < size and data[stop] != 10:
            stop += 1
        n_lines += 1
        begin, end = n, stop
        while end > i and data[end - 1] <= 32:
            end -= 1
        ok = end - i > len(prefix)
        for k in range(len(prefix)):
            ok = ok and data[i + k] == prefix[k]
        if ok:
            j = i + len(prefix)
            colon = j
            while colon < end and data[colon] != 58:
                colon += 1
            owner = _number(data, j, colon)
            ok = owner >= 0 and colon < end
            j = colon + 1
            while ok:
                while j < end and (data[j] == 32 or data[j] == 9):
                    j += 1
                if j >= end:
                    break
                word = j
                while j < end and data[j] != 32 and data[j] != 9:
                    j += 1
                line[n], node[n] = owner, owner
                addr[n, 0], addr[n, 1] = _ZERO, _ZERO
                at = word
                if is_link:
                    at = word + 1
                    while at < j and data[at] != 58:
                        at += 1
                    node[n] = _number(data, word + 1, at) if data[word] == 78 else -1
                    ok = node[n] >= 0
                    at += 1
                if ok and at < j:
                    ok = scan_addr(data, at, j, addr, n)
                    octet = (addr[n, 1] >> _U24) & np.uint64(0xFF)
                    is_v4 = addr[n, 0] == _ZERO and addr[n, 1] >> np.uint64(32) == np.uint64(0xFFFF)
                    if is_v4 and (octet == _ZERO or octet >= np.uint64(224)):
                        addr[n, 0], addr[n, 1] = _ZERO, _ZERO
                n += 1
            ok = ok and (n - begin >= 2 if is_link else True)
        elif end == i or data[i] == 35:
            i = stop + 1
            continue
        if not ok:
            n = begin
            broken[n_broken] = n_lines
            n_broken += 1
        i = stop + 1
    return n, n_lines, n_broken


def _pairs(ends: _Words) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Two nodes and the link of each pair of ends that is linked; how many links are stars."""
    first = np.flatnonzero(np.diff(ends.line, prepend=-1))
    bounds = np.append(first, len(ends.line))
    has_addr = ends.addr.any(axis=1)
    none = np.empty(0, np.int64)
    n, n_wide = _expand(bounds, ends.node, has_addr, none, none, none)
    near, far, row = np.empty((3, n), np.int64)
    _expand(bounds, ends.node, has_addr, near, far, row)
    return near, far, ends.line[first][row] if len(row) else row, n_wide


@njit(cache=True, nogil=True)
def _expand(bounds, node, has_addr, near, far, row):
    """Write the pairs of each link; with empty outputs they are only counted."""
    n = n_wide = 0
    for i in range(len(bounds) - 1):
        begin, stop = bounds[i], bounds[i + 1]
        center = begin
        n_known = 0
        for a in range(begin, stop):
            if has_addr[a]:
                if n_known == 0:
                    center = a
                n_known += 1
        is_star = n_known == 0 or stop - begin > MAX_ENDS
        n_wide += stop - begin > MAX_ENDS
        for a in range(begin, stop):
            if is_star and a != center:
                continue
            for b in range(begin, stop):
                known = has_addr[a] or is_star
                # Of two ends with addresses the pair is written once.
                if a == b or not known or (not is_star and has_addr[b] and b < a):
                    continue
                if len(near):
                    near[n], far[n], row[n] = node[a], node[b], i
                n += 1
    return n, n_wide


@dataclass(frozen=True, eq=False)
class Kit:
    """All routers of a kit, with links or without.

    Attributes
    ----------
    node : (n_addrs,) int64; addr : (n_addrs, 2) uint64
        Each address and the number of its router.
    owned : (n_owned,) int64; asn : (n_owned,) int64
        Routers with an AS, and that.
    near, far : (n_pairs,) int64 or None
        Routers that are linked. None: no ``.links``.
    """

    node: np.ndarray
    addr: np.ndarray
    owned: np.ndarray
    asn: np.ndarray
    near: np.ndarray | None
    far: np.ndarray | None


def read_kit(path: Path, report: ReadReport) -> Kit:
    """Read ``X.nodes``, ``X.nodes.as`` and ``X.links``, of which ``path`` is one.

    Raises
    ------
    FormatError
        If there is no ``X.nodes`` or it holds no address.
    """
    stem = _stem(path)
    beside = _Beside(path.with_name(stem), report)
    words = beside.read(".nodes", _nodes)
    if words is None or not len(words.node):
        raise FormatError(path.with_name(f"{stem}.nodes"), "", "no router with an address in it")
    owners = beside.read(".nodes.as", _owners)
    none = np.empty(0, np.int64)
    owned, asn, _ = (none, none, none) if owners is None else owners
    ends = beside.read(".links", _ends)
    near, far = (None, None) if ends is None else _pairs(ends)[:2]
    kept = words.addr.any(axis=1)
    return Kit(words.node[kept], words.addr[kept], owned, asn, near, far)


def _stem(path: Path) -> str:
    """The name of a kit, from that of one of its files."""
    name = path.name
    for suffix in (*COMPRESSED_SUFFIXES, ".links", ".as", ".geo", ".nodes"):
        name = name.removesuffix(suffix)
    return name


def _ends(stream: BinaryIO, report: ReadReport) -> _Words:
    words, error = _scanned(stream, report, _LINK_LINE, "not a link")
    report.n_records = len(np.unique(words.line))
    if error is not None and not report.n_records:
        raise error
    return words


class _Beside:
    """The files of the kit beside its links."""

    def __init__(self, path: Path | None, report: ReadReport):
        self._path, self._report = path, report

    def _open(self, ending: str) -> Path | None:
        if self._path is None:
            return None
        name = self._path.name
        for suffix in COMPRESSED_SUFFIXES:
            name = name.removesuffix(suffix)
        stem = name.removesuffix(".links")
        for suffix in ("", *COMPRESSED_SUFFIXES):
            path = self._path.with_name(stem + ending + suffix)
            if path.is_file():
                return path
        return None

    def read(self, ending: str, take: Callable[[BinaryIO, ReadReport], Any]) -> Any:
        """What ``take`` makes of one of them, None if it is not there; a note says so."""
        path = self._open(ending)
        if path is None:
            return None
        own = ReadReport(str(path))
        try:
            with open_bytes(path) as stream:
                found = take(cast(BinaryIO, stream), own)
        except FormatError as error:
            self._report.notes[f"{ending} not read: {error.reason}"] += 1
            return None
        self._report.notes[f"lines of {path.name}"] += own.n_records
        for reason, n in own.rejected.items():
            self._report.reject(path.name, reason, count=n)
        return found


def _topology(
    near: np.ndarray, far: np.ndarray, link: np.ndarray, ends: _Words, beside: _Beside
) -> Topology:
    ids = np.unique(np.concatenate([near, far]))
    nodes = beside.read(".nodes", _nodes)
    interfaces = None if nodes is not None else beside.read(".ifaces", _interfaces)
    rows = [nodes, ends] if nodes is not None else [ends, interfaces]
    node = np.concatenate([each.node for each in rows if each is not None])
    addr = np.concatenate([each.addr for each in rows if each is not None])
    place = _place_of(ids, node)
    kept = (place >= 0) & addr.any(axis=1)
    addr, place = addr[kept], place[kept]
    order = np.lexsort((place, addr[:, 1], addr[:, 0]))
    addr, place = addr[order], place[order]
    first = np.ones(len(addr), bool)
    first[1:] = (addr[1:] != addr[:-1]).any(axis=1)
    addr, place = addr[first], place[first]  # of an address of two nodes the smaller one keeps it
    naming = np.zeros((len(ids), 2), np.uint64)
    named, at = naming_addrs(addr, place)
    naming[named] = addr[at]
    least = np.full((len(ids), 2), np.iinfo(np.uint64).max, np.uint64)
    at = np.flatnonzero(np.diff(place[np.argsort(place, kind="stable")], prepend=-1))
    by_node = np.argsort(place, kind="stable")
    least[place[by_node][at]] = addr[by_node][at]
    order = np.lexsort((ids, least[:, 1], least[:, 0]))
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.arange(len(ids))
    columns: dict[str, np.ndarray] = {}
    asn = np.full(len(ids), NO_ASN, np.int64)
    if (owners := beside.read(".nodes.as", _owners)) is not None:
        at = _place_of(ids, owners[0])
        asn[at[at >= 0]] = owners[1][at >= 0]
        columns["method"] = _spread(at, owners[2], len(ids))
    if (places := beside.read(".nodes.geo", _places)) is not None:
        at = _place_of(ids, places[0])
        for name, values in places[1].items():
            columns[name] = _spread(at, values, len(ids))
    has_addrs = bool(len(addr))
    ends_at = rank[np.searchsorted(ids, near)], rank[np.searchsorted(ids, far)]
    return Topology(
        node_asn=asn[order],
        node_addr=naming[order] if has_addrs else None,
        node_id=ids[order],
        near=ends_at[0],
        far=ends_at[1],
        node_columns={name: values[order] for name, values in columns.items()},
        link_columns={"link": link},
        addrs=addr if has_addrs else None,
        addr_node=rank[place] if has_addrs else None,
    )


def _place_of(ids: np.ndarray, node: np.ndarray) -> np.ndarray:
    """Position of each node in ``ids``, ascending; -1 for none."""
    at = np.minimum(np.searchsorted(ids, node), len(ids) - 1)
    return np.where(ids[at] == node, at, -1)


def _spread(at: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """(n,) values at their places; what has none is empty, or NaN."""
    column: np.ndarray = (
        np.full(n, np.nan) if values.dtype == np.float64 else np.full(n, "", object)
    )
    column[at[at >= 0]] = values[at >= 0]
    return column


def _nodes(stream: BinaryIO, report: ReadReport) -> _Words:
    words, error = _scanned(stream, report, _NODE_LINE, "not a node")
    report.n_records = len(np.unique(words.node))
    if error is not None and not report.n_records:
        raise error
    return words


def _lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    lines = Lines(stream)
    while (line := lines.next_line()) is not None:
        if line.strip() and not line.startswith(b"#"):
            yield line.rstrip(b"\r").split(b"\t") if b"\t" in line else line.split()


def _interfaces(stream: BinaryIO, report: ReadReport) -> _Words:
    """``addr N1 L1 T D``, all but the address optional."""
    found = []
    for words in _lines(stream):
        node = next((w[1:] for w in words[1:] if w[:1] == b"N" and w[1:].isdigit()), b"")
        text = np.frombuffer(words[0], np.uint8)
        addr = np.zeros((1, 2), np.uint64)
        if node and len(node) <= 18 and scan_addr(text, 0, len(text), addr, 0):
            found.append((np.array([-1]), np.array([int(node)]), addr))
    report.n_records = len(found)
    return _Words(found)


def _owners(stream: BinaryIO, report: ReadReport) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``node.AS N1 AS method``: nodes, ASes, methods."""
    node, asn, method = [], [], []
    for words in _lines(stream):
        words = b" ".join(words).split()
        if len(words) >= 3 and words[0] == b"node.AS" and _is_node(words[1]) and _is_asn(words[2]):
            node.append(int(words[1][1:].rstrip(b":")))
            asn.append(int(words[2]))
            said = words[3].decode("utf-8", "replace") if len(words) > 3 else ""
            method.append(clean_name(said, _MOST_TEXT, report))
        else:
            report.reject("", "not `node.AS N1 AS method`")
    report.n_records = len(node)
    return np.array(node, np.int64), np.array(asn, np.int64), np.array(method, object)


def _places(stream: BinaryIO, report: ReadReport) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """``node.geo N1: continent country region city lat lon ...`` between TABs."""
    node, rows = [], []
    for words in _lines(stream):
        head = words[0].split()
        if len(head) == 2 and head[0] == b"node.geo" and _is_node(head[1]) and len(words) >= 7:
            node.append(int(head[1][1:].rstrip(b":")))
            rows.append([word.decode("utf-8", "replace").strip() for word in words[1:7]])
        else:
            report.reject("", "not `node.geo N1: ...`")
    report.n_records = len(node)
    columns: dict[str, np.ndarray] = {}
    for i, name in ((1, "country"), (3, "city")):
        texts = [clean_name(row[i], _MOST_TEXT, report) for row in rows]
        columns[name] = np.array(texts, object)
    for i, name in ((4, "latitude"), (5, "longitude")):
        columns[name] = np.array([_degrees(row[i]) for row in rows], np.float64)
    return np.array(node, np.int64), columns


def _is_node(word: bytes) -> bool:
    digits = word[1:].rstrip(b":")
    return word[:1] == b"N" and digits.isdigit() and len(digits) <= 18


def _is_asn(word: bytes) -> bool:
    return word.isdigit() and len(word) <= 10 and int(word) <= MAX_ASN


def _degrees(text: str) -> float:
    return float(text) if re.fullmatch(r"-?\d{1,3}(?:\.\d{1,20})?", text) else np.nan


def compile_kernels() -> None:
    """Compile the scanners, or load them from numba's cache."""
    data = np.frombuffer(b"link L1:  N1:20.0.0.1 N2\n", np.uint8)
    ends = np.empty((2, 4), np.int64)
    _scan(data, data[:6], ends[0], ends[1], np.empty((4, 2), np.uint64), np.empty(2, np.int64))
