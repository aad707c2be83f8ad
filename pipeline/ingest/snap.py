"""Edge lists as SNAP publishes them: one edge per line, two node ids, comments after ``#``.

A comment has a line of its own, or follows an edge after a blank.

    # Directed graph (each unordered pair of nodes is saved once): Wiki-Vote.txt
    # Nodes: 7115 Edges: 103689
    # FromNodeId  ToNodeId
    30      1412

What is done with it
    - Ids are whole numbers from 0 to 2**63 - 1, in any order and with gaps; nodes come out sorted
      by id, edges in file order. Blanks or TABs separate them; lines end with LF or CRLF.
    - Further columns must be numbers and are not read: in SNAP's own files they are a sign, a
      relationship, a time or a count, and nothing in the file says which. They are noted.
    - All lines have the same number of columns as the first edge; others are rejected. So a list
      of neighbours (METIS) is not taken for edges.
    - A first line of one whole number is the count of nodes that some lists begin with: skipped.
    - Directed edges are used as undirected, which is noted where the comments say so. Loops,
      parallel edges and edges given in both directions are kept here: ``build`` counts them.
    - Counts in the comments are compared with what is there and a difference is noted; it is not an
      error, since published counts differ in what they count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import BinaryIO

import numpy as np
from numba import njit

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.digits import PARSED, scan_float, scan_int
from pipeline.ingest.text.lines import MAX_HEADER_LINES, MAX_LINE_BYTES, Lines
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology

MAX_COLUMNS = 16
MAX_SNIFFED_COLUMNS = 4  # of lists recognised by content; wider tables of numbers may be anything
SNIFFED_ROWS = 100
MAX_ID = 2**63 - 1
_COUNTS = re.compile(rb"Nodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})(?!\d)")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NO_MATTER = 4 << 20  # entries of a table of ids that are allocated however few edges there are


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is an edge list.

    It begins with comments after ``#`` or with at least two edges. An edge is two to four columns
    of numbers, the same number as in the first line, the first two whole. The first line must be
    one, and two thirds of all lines after comments, or nine tenths without: ``read`` rejects the
    rest. A line of more or fewer whole numbers is a list of neighbours: then the file is not an
    edge list.
    """
    *lines, last = head.removeprefix(BOM).split(b"\n")
    has_comment = False
    rows: list[list[bytes]] = []
    for line in lines:
        if fields := _fields(line):
            rows.append(fields)
        elif line.strip():
            has_comment = has_comment or not rows
        if len(rows) > SNIFFED_ROWS:
            break
    else:
        fields = _fields(last)
        if _is_edge(fields) and (not rows or len(fields) == len(rows[-1])):
            rows.append(fields)  # else it may be cut short, like the head
    if rows and len(rows[0]) == 1 and rows[0][0].isdigit():
        rows = rows[1:]
    if len(rows) < (1 if has_comment else 2):
        return False
    if not _is_edge(rows[0]) or any(_is_other_list(row, len(rows[0])) for row in rows):
        return False
    n_edges = sum(_is_edge(row) and len(row) == len(rows[0]) for row in rows)
    return 3 * n_edges >= 2 * len(rows) if has_comment else 10 * n_edges >= 9 * len(rows)


def _fields(line: bytes) -> list[bytes]:
    """Columns of a line; a ``#`` after a blank, or first, begins a comment."""
    fields = line.split()
    if b"#" not in line:
        return fields
    return list(takewhile(lambda field: not field.startswith(b"#"), fields))


def _is_other_list(fields: list[bytes], n_columns: int) -> bool:
    return len(fields) != n_columns and all(field.isdigit() for field in fields)


def _is_edge(fields: list[bytes]) -> bool:
    if not 2 <= len(fields) <= MAX_SNIFFED_COLUMNS:
        return False
    return all(field.isdigit() for field in fields[:2]) and all(map(_NUMBER.fullmatch, fields[2:]))


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes.
    report : ReadReport
        ``n_records`` counts the edges that were used.

    Yields
    ------
    Topology
        node_id sorted; no AS, no weights, no further columns.

    Raises
    ------
    FormatError
        After the topology was yielded, if the stream is cut short or damaged; at once if it
        holds no edge.

    Notes
    -----
    O(bytes) time; 16 bytes per edge are kept, and 32 more while nodes are numbered.
    """
    lines = Lines(stream)
    header = _Header()
    header.read(lines, report)
    edges = _Edges()
    edges.read(lines, report)
    ids = edges.ids()
    if ids.shape[1]:
        node_id, ends = _number_nodes(ids)
        topology = Topology(
            node_asn=np.full(len(node_id), NO_ASN, np.int64),
            node_id=node_id,
            near=ends[0],
            far=ends[1],
        )
        report.n_records += topology.n_links
        header.compare(topology, report)
        if edges.n_columns > 2:
            report.notes["edges with further columns, which are not read"] += topology.n_links
        yield topology
    if lines.error is not None:
        raise lines.error
    if not ids.shape[1]:
        raise FormatError(report.path, "", "no usable edge; expected two node ids per line")


class _Header:
    """What the comments before the first edge say."""

    def __init__(self) -> None:
        self.n_nodes = self.n_edges = -1
        self.is_directed = False

    def read(self, lines: Lines, report: ReadReport) -> None:
        """Go to the first line that is neither comment nor blank, nor the count of nodes."""
        for _ in range(MAX_HEADER_LINES):  # further comments are skipped unread
            if not lines.fill():
                return
            text = _peek(lines).strip()
            fields = _fields(text)
            is_count = len(fields) == 1 and fields[0].isdigit()
            if fields and not is_count:
                return
            lines.next_line()
            if is_count:
                report.skip("count of nodes")
                return
            if counts := _COUNTS.search(text):
                self.n_nodes, self.n_edges = int(counts[1]), int(counts[2])
            self.is_directed = self.is_directed or text[1:].lstrip().startswith(b"Directed graph")

    def compare(self, topology: Topology, report: ReadReport) -> None:
        """Note what differs from the counts, and that directions are not used."""
        if self.is_directed:
            report.notes["directed edges, used as undirected"] += topology.n_links
        there = (
            ("nodes", self.n_nodes, topology.n_nodes),
            ("edges", self.n_edges, topology.n_links),
        )
        for what, declared, found in there:
            if 0 <= found < declared:
                report.notes[f"fewer {what} than declared"] += declared - found
            elif 0 <= declared < found:
                report.notes[f"more {what} than declared"] += found - declared


def _peek(lines: Lines) -> bytes:
    """The beginning of the next line; at least as much as the header's rules look at."""
    rest = lines.buffer[lines.start : min(lines.stop, lines.start + 4096)].tobytes()
    return rest.partition(b"\n")[0]


class _Edges:
    """Ends of edges, in pieces of one block each."""

    def __init__(self) -> None:
        self.n_columns = 0  # of the first edge; 0: there is none yet
        self._pieces: list[np.ndarray] = []

    def ids(self) -> np.ndarray:
        """(2, n_edges) int64 as the file has them."""
        pieces, self._pieces = self._pieces, []
        return np.concatenate([np.empty((2, 0), np.int64), *pieces], axis=1)

    def read(self, lines: Lines, report: ReadReport) -> None:
        """Read to the end of the file; broken lines go to ``report``."""
        while lines.fill():
            room = np.count_nonzero(lines.buffer[lines.start : lines.stop] == 10) + 1
            ends = np.empty((2, room), np.int64)
            n = 0
            while lines.start < lines.stop:
                state = (lines.start, lines.stop, lines.number, n, self.n_columns)
                lines.start, lines.number, n, self.n_columns, is_plain = _scan(
                    lines.buffer, *state, ends
                )
                if not is_plain:
                    n += self._take(lines, ends[:, n], report)
            self._pieces.append(ends[:, :n].copy())

    def _take(self, lines: Lines, edge: np.ndarray, report: ReadReport) -> int:
        """Look closely at the next line; 1 if it is an edge, which is then in ``edge``."""
        line = lines.next_line() or b""
        fields = _fields(line) if len(line) <= MAX_LINE_BYTES else []
        wrong = self._fault(line, fields)
        if wrong is not None:
            report.reject(f"line {lines.number}", *wrong)
            return 0
        edge[:] = [int(field) for field in fields[:2]]
        self.n_columns = len(fields)
        return 1

    def _fault(self, line: bytes, fields: list[bytes]) -> tuple[str, str] | None:
        """What is wrong with a line, if anything: the reason, and what was found."""
        if len(line) > MAX_LINE_BYTES:
            return "line too long", f"{len(line)} bytes"
        expected = self.n_columns or max(2, min(len(fields), MAX_COLUMNS))
        if len(fields) != expected:
            few_or_many = "few" if len(fields) < expected else "many"
            return f"too {few_or_many} columns", f"{len(fields)} of {expected}"
        for position, field in enumerate(fields):
            shown = field[:60].decode("utf-8", "replace")
            if not _NUMBER.fullmatch(field[:MAX_LINE_BYTES]):
                return "not a number", shown
            if position < 2 and not field.removeprefix(b"+").isdigit():
                is_negative = field.removeprefix(b"-").isdigit()
                return ("negative node id" if is_negative else "not a whole number"), shown
            if position < 2 and (len(field) > 60 or int(field) > MAX_ID):
                return "node id out of range", shown
        return None


def _number_nodes(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ids in ascending order, and the place among them of each end, (2, n_edges) int64."""
    most = int(ids.max())
    if most > 8 * ids.shape[1] + _NO_MATTER:
        node_id, ends = np.unique(ids, return_inverse=True)
        return node_id, ends.reshape(ids.shape)
    is_there = np.zeros(most + 1, bool)
    is_there[ids.reshape(-1)] = True
    place = np.cumsum(is_there, dtype=np.int64) - 1
    return np.flatnonzero(is_there), place[ids]


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    text = np.frombuffer(b"1 2\n", np.uint8)
    _scan(text, 0, len(text), 0, 0, 0, np.empty((2, 2), np.int64))


@njit(cache=True, nogil=True)
def _scan(text, start, stop, number, n, n_columns, ends):
    """Scan lines of ``text[start:stop]`` from edge ``n`` on.

    Returns (start of the line that was not used, lines, edges, columns, whether all were plain).
    """
    while start < stop:
        i = start
        column = 0
        while True:
            while i < stop and (text[i] == 32 or text[i] == 9 or text[i] == 13):
                i += 1
            if i == stop or text[i] == 10:
                break
            if text[i] == 35:
                while i < stop and text[i] != 10:
                    i += 1
                break
            begin = i
            while i < stop and text[i] > 32:
                i += 1
            if column < 2:
                value, status = scan_int(text, begin, i)
                if status != PARSED or value < 0:
                    return start, number, n, n_columns, False
                ends[column, n] = value
            else:
                _, status = scan_float(text, begin, i)
                if status != PARSED:
                    return start, number, n, n_columns, False
            column += 1
        if column > 0:
            if n_columns == 0 and 2 <= column <= MAX_COLUMNS:
                n_columns = column
            if column != n_columns:
                return start, number, n, n_columns, False
            n += 1
        number += 1
        start = min(i + 1, stop)
    return start, number, n, n_columns, True
