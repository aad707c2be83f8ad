"""Edge lists with names, or with commas: one link per line, its two ends in two columns.

    source,target,weight          a b
    1,2,0.5                       b c

What is done with it:

- Columns are separated by commas, semicolons, TABs, bars or blanks, whichever the first line
  has; texts may be in quotes. Comments begin with ``#`` or ``%``.
- A header may name the ends (``source,target``, ``from,to``, ``tail,head``, ``u,v`` ...) and a
  ``weight``; ``tail_addr`` and ``head_addr``, as we export them, are the addresses of the ends.
  Without a header the first two columns are the ends. Other columns are not read, which is
  noted.
- Ends that are all whole numbers are ids of nodes; else the names are kept (``name``).
- Directed edges are used as undirected.

Lists of numbers between blanks or TABs are ``snap``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.lines import Lines
from pipeline.ingest.text.names import clean_name
from pipeline.ingest.text.numbered_graph import numbered_topology
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology

_ENDS = (
    *(("source", "target"), ("from", "to"), ("src", "dst"), ("tail", "head"), ("u", "v")),
    *(("node1", "node2"), ("node_1", "node_2"), ("nodea", "nodeb"), ("fromnodeid", "tonodeid")),
    *(("id_1", "id_2"), ("near", "far"), ("as1", "as2")),
)
_WEIGHTS = ("weight", "rtt", "rtt_ms", "length", "delay", "latency")
_COMMENTS = (b"#", b"%")
_SNIFFED_ROWS = 100
_MOST_COLUMNS = 64
_WORD = re.compile(r"[\w.:@-]+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_PLACED = re.compile(r"-?\d+ @\S")  # of Rocketfuel's maps: "City,+Country" looks like two columns
_MOST_NAME = 200
_MAX_ID = 2**63 - 1


@dataclass(frozen=True)
class _Layout:
    """Which column holds what."""

    delimiter: str
    n_columns: int
    has_header: bool
    ends: tuple[int, int] = (0, 1)
    weight: int = -1
    addrs: tuple[int, int] = (-1, -1)


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.partition(" {")[0].split()  # NetworkX writes attributes in braces
    try:
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [field.strip() for field in row]


def _layout(lines: list[str]) -> _Layout | None:
    """The layout of a file that begins with these lines, without comments; None: not a list."""
    if not lines:
        return None
    first = lines[0]
    delimiter = next((each for each in ",;\t|" if each in first), " ")
    fields = _fields(first, delimiter)
    if not 2 <= len(fields) <= _MOST_COLUMNS:
        return None
    words = [field.lower() for field in fields]
    if words[2:] in (["u", "graph"], ["d", "graph"]):  # a header of counts, of .jlg files
        return _Layout(delimiter, 2, True)
    for tail, head in _ENDS:
        if tail in words and head in words:
            weight = next((words.index(name) for name in _WEIGHTS if name in words), -1)
            addrs = [
                words.index(each) if each in words else -1
                for each in (f"{tail}_addr", f"{head}_addr")
            ]
            ends = words.index(tail), words.index(head)
            return _Layout(delimiter, len(fields), True, ends, weight, (addrs[0], addrs[1]))
    return _Layout(delimiter, len(fields), False)


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a list of links.

    A header that names both ends says so. Without one, all of its first lines have two columns, or
    more that are numbers; between blanks, two words each.
    """
    *lines, last = head.removeprefix(BOM).split(b"\n")
    rows = [
        line.decode("utf-8", "replace").strip("\r")
        for line in (lines or [last])
        if line.strip() and not line.startswith(_COMMENTS)
    ][: _SNIFFED_ROWS + 1]
    layout = _layout(rows)
    if layout is None or _PLACED.match(rows[0]):
        return False
    parts = [_fields(row, layout.delimiter) for row in rows[layout.has_header :]]
    if not parts or any(len(row) != layout.n_columns for row in parts):
        return False
    if layout.has_header:
        return True
    if len(parts) < 2 or not all(_is_plain(row, layout.delimiter) for row in parts):
        return False
    is_numbers = all(end.lstrip("+-").isdigit() for row in parts for end in row[:2])
    if layout.delimiter in " \t":
        return not is_numbers or " {" in rows[0]
    return not (is_numbers and _are_lists(parts))


def _is_plain(row: list[str], delimiter: str) -> bool:
    if any(_NUMBER.fullmatch(field) is None for field in row[2:]) or not all(row[:2]):
        return False
    if any(_is_address(end.partition("/")[0]) for end in row[:2]) and (
        "/" in row[0] + row[1] or (len(row) > 2 and all(map(_is_address, row[:2])))
    ):  # prefixes, or ranges of addresses
        return False
    if delimiter not in " \t":
        return len(row) <= 4 and delimiter != "|"
    are_words = all(_WORD.fullmatch(field) for field in row[:2])
    return are_words and len(row) <= 3 and _is_address(row[0]) == _is_address(row[1])


def _is_address(text: str) -> bool:
    try:
        parse_addr(text)
    except ValueError:
        return False
    return True


def _are_lists(rows: list[list[str]]) -> bool:
    """Whether line i holds neighbours of node i: most links are named by both ends."""
    lists = [set(map(int, row)) for row in rows]
    pairs = [(i, j) for i, row in enumerate(lists) for j in row if j < len(lists)]
    return bool(pairs) and 10 * sum(i in lists[j] for i, j in pairs) >= 9 * len(pairs)


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology

    Raises
    ------
    FormatError
        After the topology, if the stream is cut short; at once if it holds no link.
    """
    lines = Lines(stream)
    edges = _Edges(report)
    while lines.fill():
        block = lines.buffer[lines.start : lines.stop].tobytes()
        edges.read(block, lines.number)
        lines.number += block.count(b"\n") + (not block.endswith(b"\n"))
        lines.start = lines.stop
    topology = edges.topology()
    if topology is not None:
        yield topology
    if lines.error is not None:
        raise lines.error
    if topology is None:
        raise FormatError(report.path, "", "no usable link; expected two ends per line")


class _Edges:
    """Ends of links, as numbers of distinct names."""

    def __init__(self, report: ReadReport):
        self._report = report
        self._layout: _Layout | None = None
        self._number: dict[str, int] = {}
        self._ends: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        self._addr_of: dict[int, str] = {}

    def read(self, block: bytes, n_before: int) -> None:
        """Take whole lines, of which ``n_before`` are before."""
        rows, numbers = self._rows(block, n_before)
        if not rows:
            return
        layout = self._layout
        assert layout is not None
        names = [str(i) for i in range(layout.n_columns)]
        text = b"\n".join(rows) + b"\n"
        broken: set[int] = set()

        def refuse(row: pacsv.InvalidRow) -> str:
            broken.add(0 if row.number is None else row.number - 1)
            return "skip"

        wanted = [*layout.ends, layout.weight, *layout.addrs]
        include = [str(i) for i in dict.fromkeys(wanted) if i >= 0]
        table = pacsv.read_csv(
            pa.BufferReader(text),
            pacsv.ReadOptions(column_names=names, use_threads=False, block_size=max(len(text), 1)),
            pacsv.ParseOptions(
                delimiter=layout.delimiter, newlines_in_values=False, invalid_row_handler=refuse
            ),
            pacsv.ConvertOptions(
                include_columns=include,
                column_types=dict.fromkeys(include, pa.binary()),
                strings_can_be_null=False,
            ),
        )
        for i in sorted(broken):
            self._reject(numbers[i], "not as many columns as the first line", rows[i])
        kept = [i for i in range(len(rows)) if i not in broken] if broken else range(len(rows))
        tail, head = (self._numbers(table[str(i)]) for i in layout.ends)
        good = (tail >= 0) & (head >= 0)
        for at in np.flatnonzero(~good).tolist():
            self._reject(numbers[kept[at]], "an end without a name", rows[kept[at]])
        self._ends.append(np.stack([tail, head])[:, good])
        if layout.weight >= 0:
            texts = table[str(layout.weight)].cast(pa.string(), safe=False).to_pylist()
            self._weights.append(np.array([_weight(each) for each in texts])[good])
        for numbers_of, at in zip((tail, head), layout.addrs, strict=True):
            if at >= 0:
                texts = table[str(at)].to_pylist()
                self._addr_of |= dict(zip(numbers_of.tolist(), texts, strict=True))

    def _rows(self, block: bytes, n_before: int) -> tuple[list[bytes], list[int]]:
        """Lines of links, and their numbers; the first one tells the layout."""
        rows, numbers = [], []
        for i, line in enumerate(block.split(b"\n"), n_before + 1):
            if not line.strip() or line.startswith(_COMMENTS):
                continue
            line = line.rstrip(b"\r")
            if self._layout is None:
                self._layout = _layout([line.decode("utf-8", "replace")])
                if self._layout is None:
                    self._reject(i, "not as many columns as the first line", line)
                    continue
                if self._layout.has_header:
                    continue
            if self._layout.delimiter == " ":
                line = b" ".join(line.partition(b" {")[0].split())
            rows.append(line)
            numbers.append(i)
        return rows, numbers

    def _reject(self, line: int, reason: str, text: bytes) -> None:
        self._report.reject(f"line {line}", reason, text[:60].decode("utf-8", "replace"))

    def _numbers(self, names: pa.ChunkedArray) -> np.ndarray:
        """(n,) int64: number of each name; -1 for none."""
        encoded = pc.dictionary_encode(names.combine_chunks())
        distinct = [
            each.decode("utf-8", "replace").strip() for each in encoded.dictionary.to_pylist()
        ]
        number = self._number
        of_distinct = [number.setdefault(name, len(number)) if name else -1 for name in distinct]
        return np.array(of_distinct, np.int64)[encoded.indices.to_numpy()]

    def topology(self) -> Topology | None:
        ends = np.concatenate([np.empty((2, 0), np.int64), *self._ends], axis=1)
        if not ends.shape[1]:
            return None
        names = list(self._number)
        weight = np.concatenate(self._weights) if self._weights else None
        if self._layout is not None and self._layout.n_columns > 2 + (weight is not None):
            self._report.notes["edges with further columns, which are not read"] += ends.shape[1]
        ids = _ids(names)
        columns = {}
        if ids is None:
            ids = np.arange(len(names))
            texts = [clean_name(name, _MOST_NAME, self._report) for name in names]
            columns["name"] = np.array(texts, object)
        order = np.argsort(ids)
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        known = None if weight is None else np.nan_to_num(weight, nan=0.0)
        near, far = position[ends]
        made = numbered_topology(self._report, ids[order], near, far, known)
        assert made is not None
        if made.weight is not None and weight is not None:
            made.weight[np.isnan(weight)] = np.nan
        columns = {name: column[order] for name, column in columns.items()}
        return _with_addrs(made, columns, [self._addr_of.get(i, b"") for i in order.tolist()])


def _with_addrs(made: Topology, columns: dict[str, np.ndarray], texts: list) -> Topology:
    """With the addresses of nodes, sorted by them, if there are any."""
    addrs = np.zeros((made.n_nodes, 2), np.uint64)
    for i, text in enumerate(texts):
        try:
            addrs[i] = parse_addr(text.decode("ascii", "replace")) if text else (0, 0)
        except ValueError:  # the id of a node without an address
            continue
    assert made.node_id is not None
    order = np.arange(made.n_nodes)
    if addrs.any():
        order = np.lexsort((made.node_id, addrs[:, 1], addrs[:, 0], ~addrs.any(axis=1)))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return Topology(
        node_asn=np.full(made.n_nodes, NO_ASN, np.int64),
        node_addr=addrs[order] if addrs.any() else None,
        node_id=made.node_id[order],
        near=position[made.near],
        far=position[made.far],
        weight=made.weight,
        weight_unit=made.weight_unit,
        node_columns={name: column[order] for name, column in columns.items()},
    )


def _weight(text: str) -> float:
    return float(text) if _NUMBER.fullmatch(text.strip()) else np.nan


def _ids(names: list[str]) -> np.ndarray | None:
    """The numbers that all names are, if they are distinct; else None."""
    if not all(name.isascii() and name.isdigit() and len(name) <= 19 for name in names):
        return None
    ids = [int(name) for name in names]
    if max(ids) > _MAX_ID or len(set(ids)) < len(ids):
        return None
    return np.array(ids, np.int64)
