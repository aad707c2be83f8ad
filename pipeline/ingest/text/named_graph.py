"""Graphs whose nodes have names and attributes, one element after another, to columns.

What attributes mean
    - Of a node: ``asn`` (also ``AS``, ``as``) is its AS, ``addr`` (also ``address``, ``ip``) its
      address. Of a link: ``weight`` is its weight, in the graph's ``weight_unit`` or ``length``.
    - All others are kept as columns: whole numbers, numbers, flags or text, whichever all their
      values are. At most ``MAX_COLUMNS`` of each kind.
    - Names of nodes that are all whole numbers, or all ``n`` and a whole number, are their ids;
      else they are the column ``name``. Nodes are sorted by address, if any has one, else by id.
"""

from __future__ import annotations

import re
from array import array
from typing import Any, BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.ingest.text.names import clean_name
from pipeline.ingest.text.numbered_graph import MAX_WEIGHT, UNIT
from pipeline.model.addresses import parse_addr
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology

MAX_COLUMNS = 40
MAX_TEXT = 200  # characters of a value
NAME, ASN, ADDR, WEIGHT = "name", "asn", "addr", "weight"
_SAME = {"as": ASN, "address": ADDR, "ip": ADDR, "ip_address": ADDR}
_NUMBER = re.compile(r"n?\d{1,18}", re.ASCII)
# Names of columns that the store has itself, or to which it gives a meaning.
_TAKEN = frozenset(
    {"degree", "addr_high", "addr_low", "id", "indices", "silent", "siblings", "as_relation"}
)
_TYPED = {"n_traces": int, "bridged": bool, "mpls": bool, "may_hide": bool, "via_ixp": bool}
_Value = bool | int | float | str


class _Column:
    """Values of some of the elements."""

    def __init__(self) -> None:
        self.place = array("q")
        self.values: list[_Value] = []

    def add(self, place: int, value: _Value) -> None:
        self.place.append(place)
        self.values.append(value)

    def dense(self, n: int, kind: type | None = None) -> np.ndarray | None:
        """(n,) values of the narrowest type that holds all; None if that is not ``kind``."""
        kinds = set(map(type, self.values))
        place = np.frombuffer(self.place, np.int64)
        is_full = len(np.unique(place)) == n
        column: np.ndarray
        if kinds == {bool}:
            column = np.zeros(n, bool)
        elif kinds == {int} and is_full:
            column = np.zeros(n, np.int64)
        elif kinds <= {int, float}:
            column = np.full(n, np.nan)
        else:
            column = np.full(n, "", object)
            self.values = [
                each if isinstance(each, str) else _as_text(each) for each in self.values
            ]
        if kind is not None and kinds != {kind}:
            return None
        column[place] = np.array(self.values, column.dtype)
        return column


class NamedGraph:
    """Nodes and links that a reader found."""

    def __init__(self, report: ReadReport):
        self._report = report
        self._number: dict[str, int] = {}
        self._is_declared = bytearray()
        self._tail, self._head, self._place = array("q"), array("q"), array("q")
        self._of_nodes: dict[str, _Column] = {}
        self._of_links: dict[str, _Column] = {}
        self.weight_unit = UNIT
        self.kind = "router"
        self._texts: dict[str, str] = {}

    @property
    def n_links(self) -> int:
        return len(self._tail)

    def node(self, name: str, values: dict[str, _Value], place: str) -> None:
        number = self._of(name)
        if self._is_declared[number]:
            self._report.reject(place, "node with the name of another one", name)
            return
        self._is_declared[number] = True
        self._keep(self._of_nodes, number, values)

    def link(self, tail: str, head: str, values: dict[str, _Value], place: int) -> None:
        """A link; its ends may follow. ``place`` is its line, for messages."""
        self._keep(self._of_links, len(self._tail), values)
        self._tail.append(self._of(tail))
        self._head.append(self._of(head))
        self._place.append(place)

    def _of(self, name: str) -> int:
        number = self._number.setdefault(name, len(self._number))
        if number == len(self._is_declared):
            self._is_declared.append(False)
        return number

    def _keep(self, columns: dict[str, _Column], place: int, values: dict[str, _Value]) -> None:
        for name, value in values.items():
            column = columns.get(name)
            if column is None:
                if len(columns) >= MAX_COLUMNS:
                    self._report.notes[f"attributes beyond {MAX_COLUMNS}, not read"] += 1
                    continue
                column = columns[name] = _Column()
            if isinstance(value, str):  # many elements have the same texts
                value = self._texts.setdefault(value, value)
            column.add(place, value)

    def topology(self) -> Topology | None:
        """All of it; None if there is neither a node nor a link.

        Links to nodes that were not declared are rejected, unless none was.
        """
        n = len(self._number)
        declared = np.frombuffer(bytes(self._is_declared), bool)
        ends = np.stack([np.array(self._tail, np.int64), np.array(self._head, np.int64)])
        kept = np.arange(self.n_links)
        if declared.any():
            there = declared[ends].all(axis=0) if len(kept) else np.ones(0, bool)
            for i in np.flatnonzero(~there).tolist():
                self._report.reject(f"line {self._place[i]}", "link to a missing node")
            kept = kept[there]
        else:
            declared = np.ones(n, bool)
        if not declared.any():
            return None
        names = np.array(list(self._number), object)
        columns = _columns(self._of_nodes, n, self._report)
        asn = _asns(columns.pop(ASN, None), n)
        addr = self._addrs(columns.pop(ADDR, None), n)
        node_id = _ids(names)
        if node_id is None:
            if NAME not in columns:
                columns[NAME] = np.array(
                    [clean_name(name, MAX_TEXT, self._report) for name in names], object
                )
            node_id = np.arange(n, dtype=np.int64)
        order = np.flatnonzero(declared)
        if addr is None:
            order = order[np.argsort(node_id[order], kind="stable")]
        else:
            key = addr[order]
            order = order[np.lexsort((node_id[order], key[:, 1], key[:, 0], ~key.any(axis=1)))]
        position = np.full(n, -1, np.int64)
        position[order] = np.arange(len(order))
        of_links = {
            name: column[kept]
            for name, column in _columns(self._of_links, self.n_links, self._report).items()
        }
        weight = self._weights(of_links.pop(WEIGHT, None), len(kept))
        self._report.n_records += len(kept) or len(order)
        return Topology(
            node_asn=asn[order],
            node_addr=None if addr is None else addr[order],
            node_id=node_id[order],
            near=position[ends[0, kept]],
            far=position[ends[1, kept]],
            weight=weight,
            weight_unit="" if weight is None else self.weight_unit,
            node_columns={name: column[order] for name, column in columns.items()},
            link_columns=of_links,
            kind=self.kind,
        )

    def _addrs(self, texts: np.ndarray | None, n: int) -> np.ndarray | None:
        if texts is None or texts.dtype != object:
            return None
        addrs = np.zeros((n, 2), np.uint64)
        for i, text in enumerate(texts.tolist()):
            try:
                addrs[i] = parse_addr(text) if text and not text.isdigit() else (0, 0)
            except ValueError:
                self._report.notes["addresses that are none"] += 1
        return addrs if addrs.any() else None

    def _weights(self, values: np.ndarray | None, n: int) -> np.ndarray | None:
        if values is None or values.dtype == object or values.dtype == bool:
            return None
        weight = values.astype(np.float64)
        wrong = (weight < 0) | (weight > MAX_WEIGHT)
        if wrong.any():
            self._report.notes["weights below 0 or too large, left out"] += int(wrong.sum())
        weight[wrong] = np.nan
        return weight.astype(np.float32) if n else None


def drained(stream: BinaryIO) -> FormatError | None:
    """What is wrong with the rest of a stream of which no more is used; None: nothing."""
    try:
        while stream.read(1 << 20):
            pass
    except FormatError as error:
        return error
    return None


def value_of(text: str) -> _Value:
    """A whole number or a number if the text is one; else the text."""
    text = text.strip()
    try:
        if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
            return int(text)
        value = float(text) if re.match(r"[+-]?[\d.]", text) else np.nan
    except ValueError:
        return text
    return value if np.isfinite(value) else text


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _columns(columns: dict[str, _Column], n: int, report: ReadReport) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, column in columns.items():
        plain = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_")[:40]
        plain = _SAME.get(plain.lower(), plain) if plain else "attribute"
        plain = plain.lower() if plain.lower() in (ASN, ADDR, WEIGHT) else plain
        values = None
        if plain in _TYPED and (values := column.dense(n, _TYPED[plain])) is None:
            plain += "_"
        if values is None:
            values = column.dense(n)
        while plain in _TAKEN or plain in found:
            plain += "_"
        assert values is not None
        if values.dtype == object:
            values = np.array([clean_name(v, MAX_TEXT, report) for v in values.tolist()], object)
        found[plain] = values
    return found


def _asns(values: np.ndarray | None, n: int) -> np.ndarray:
    asn = np.full(n, NO_ASN, np.int64)
    if values is not None and values.dtype != bool:
        texts = values.tolist()
        for i, value in enumerate(texts):
            number = value_of(re.sub(r"^AS", "", value)) if isinstance(value, str) else value
            if isinstance(number, int | float) and 0 <= number <= MAX_ASN and number == int(number):
                asn[i] = int(number)
    return asn


def _ids(names: np.ndarray) -> np.ndarray | None:
    """The numbers that all names are, distinct; else None."""
    texts = names.tolist()
    if not all(map(_NUMBER.fullmatch, texts)) or len({text[0] == "n" for text in texts}) > 1:
        return None
    ids = np.array([int(text.removeprefix("n")) for text in texts], np.int64)
    return ids if len(np.unique(ids)) == len(ids) else None
