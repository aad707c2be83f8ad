"""Neighbour lists: one node per line, its neighbours separated by commas.

    # Neighbours of node 0, 1, 2, ...: one node per line
    1,2
    0
    0

What is done with it
    - The first line is that of node 0. Blanks around numbers are fine; lines end with LF or CRLF.
      An empty line is a node without neighbours. Comments after ``#`` are not lines of nodes; those
      that a file begins with may hold the command that generated it (``made_by``).
    - Nodes are those that have a line; a neighbour beyond the last line is rejected.
    - A link that only one of its ends names is a link all the same, which is noted, and so is a
      neighbour that a line names twice. Loops are kept here: ``graphs`` counts them.
    - A line that holds anything else is rejected and names no neighbour, but it is a line, so that
      later nodes keep their numbers.
    - There are no weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import BinaryIO

import numpy as np
from numba import njit

from kernels.csr import MAX_NODES
from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.lines import MAX_LINE_BYTES, Lines, command_in
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology

SNIFFED_ROWS = 2000
MIN_MUTUAL = 0.9  # share of links that both ends name, among lines of which both are known
_OURS = b"# Neighbours of node 0, 1, 2, ..."
_ROW = re.compile(rb"[ \t\r]*(?:\d+[ \t\r]*(?:,[ \t\r]*\d+[ \t\r]*)*)?")
_COMMENT = 35
_HEAD_BYTES = 4096  # in which the comments at the beginning are looked through


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` holds neighbour lists.

    Our own comment says so. Otherwise all lines are numbers with commas between them, at least one
    comma, and lines whose neighbours are among the known lines are named by them in return; if none
    is, lines must differ in length, or have more than two numbers, as a table of links does not.
    """
    head = head.removeprefix(BOM)
    if head.startswith(_OURS):
        return True
    *lines, last = head.split(b"\n")
    rows = [line for line in lines if not line.startswith(b"#")][:SNIFFED_ROWS]
    if not all(_ROW.fullmatch(row) for row in rows) or not _ROW.fullmatch(last[:200].strip(b",")):
        return False
    lists = [{int(part) for part in row.split(b",") if part.strip()} for row in rows]
    if len(lists) < 2 or not any(b"," in row for row in rows):
        return False
    pairs = [(i, j) for i, row in enumerate(lists) for j in row if j < len(lists)]
    if pairs:
        mutual = sum(i != j and i in lists[j] for i, j in pairs)
        return mutual >= MIN_MUTUAL * len(pairs)
    lengths = {len(row) for row in lists}
    return len(lengths) > 1 or lengths.pop() > 2


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes.
    report : ReadReport
        ``n_records`` counts the links.

    Yields
    ------
    Topology
        node_id 0, 1, 2, ...; links in the order of the larger end; no AS, no weights.

    Raises
    ------
    FormatError
        After the topology was yielded, if the stream is cut short or damaged; at once if it
        holds no link, unless it begins with our comment.

    Notes
    -----
    O(bytes) time; 8 bytes per neighbour named are kept, and 16 more while links are found.
    """
    lines = Lines(stream)
    lists = _Lists()
    lists.read(lines, report)
    report.kept_of = {"line": (lists.n_nodes - lists.n_refused, lists.n_nodes)}
    near, far = lists.links(report)
    is_usable = len(near) > 0 or (lists.is_ours and lists.n_nodes > 0 and not report.rejected)
    if is_usable:
        n_nodes = lists.n_nodes
        report.n_records += len(near)
        yield Topology(
            node_asn=np.full(n_nodes, NO_ASN, np.int64),
            node_id=np.arange(n_nodes),
            near=near,
            far=far,
        )
    if lines.error is not None:
        raise lines.error
    if not is_usable:
        raise FormatError(
            report.path,
            "",
            "no usable link; expected the neighbours of one node per line, separated by commas",
        )


def _made_by(head: bytes) -> str:
    """The command in the comments that a file begins with; empty if there is none."""
    comments = takewhile(lambda line: line.startswith(b"#"), head.split(b"\n"))
    return next(filter(None, map(command_in, comments)), "")


class _Lists:
    """Neighbours of one node after another, in pieces of one block each."""

    def __init__(self) -> None:
        self.n_nodes = self.n_refused = 0
        self.is_ours = False  # whether the file begins with our comment
        self._pieces: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []

    def read(self, lines: Lines, report: ReadReport) -> None:
        """Read to the end of the file; broken lines go to ``report``."""
        lines.fill()
        head = lines.buffer[lines.start :][:_HEAD_BYTES].tobytes()
        self.is_ours, report.made_by = head.startswith(_OURS), _made_by(head)
        while lines.fill():
            block = lines.buffer[lines.start : lines.stop]
            n_lines = int(np.count_nonzero(block == 10)) + 1
            heads = np.empty(int(np.count_nonzero(block == 44)) + n_lines, np.int32)
            counts = np.empty(n_lines, np.int64)
            n = n_rows = 0
            while lines.start < lines.stop:
                state = (lines.start, lines.stop, lines.number, n, n_rows)
                lines.start, lines.number, n, n_rows, is_plain = _scan(
                    lines.buffer, *state, heads, counts
                )
                if not is_plain:
                    self._refuse(lines, report)
                    counts[n_rows] = 0
                    n_rows += 1
            self._pieces.append(heads[:n].copy())
            self._counts.append(counts[:n_rows].copy())
            self.n_nodes += n_rows

    def _refuse(self, lines: Lines, report: ReadReport) -> None:
        self.n_refused += 1
        line = lines.next_line() or b""
        place = f"line {lines.number}"
        if len(line) > 10 * MAX_LINE_BYTES:
            report.reject(place, "line too long", f"{len(line)} bytes")
        elif _ROW.fullmatch(line):
            report.reject(place, "node out of range", line[:60].decode())
        else:
            report.reject(place, "not a list of numbers", line[:60].decode("utf-8", "replace"))

    def links(self, report: ReadReport) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of each link, (n_links,) int64, in the order of the larger end."""
        heads = np.concatenate([np.empty(0, np.int32), *self._pieces])
        counts = np.concatenate([np.empty(0, np.int64), *self._counts])
        self._pieces, self._counts = [], []
        indptr = np.zeros(self.n_nodes + 1, np.int64)
        np.cumsum(counts, out=indptr[1:])
        near, far = np.empty(len(heads), np.int64), np.empty(len(heads), np.int64)
        n, n_beyond, n_twice, n_one_sided = _find_links(indptr, heads, near, far)
        if n_beyond:
            report.reject("file", "neighbour without a line of its own", count=n_beyond)
        for n_notes, what in (
            (n_twice, "neighbours named twice"),
            (n_one_sided, "links that only one end names"),
        ):
            if n_notes:
                report.notes[what] += n_notes
        return near[:n].copy(), far[:n].copy()


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    text = np.frombuffer(b"1\n0\n", np.uint8)
    heads, counts = np.empty(4, np.int32), np.empty(4, np.int64)
    _scan(text, 0, len(text), 0, 0, 0, heads, counts)


@njit(cache=True, nogil=True)
def _scan(text, start, stop, number, n, n_rows, heads, counts):
    """Scan lines of ``text[start:stop]``; neighbours go to heads[n:], their numbers to counts.

    Returns (start of the line that was not used, lines, neighbours, rows, whether all were plain).
    """
    while start < stop:
        i, begin = start, n
        is_comment = text[start] == _COMMENT
        wants_number, has_comma = True, False
        while i < stop and text[i] != 10:
            character = text[i]
            if is_comment or character == 32 or character == 9 or character == 13:
                i += 1
            elif character == 44:
                if wants_number:
                    return start, number, begin, n_rows, False
                wants_number, has_comma = True, True
                i += 1
            elif wants_number and 48 <= character <= 57:
                value = np.int64(0)
                while i < stop and 48 <= text[i] <= 57:
                    value = min(value * 10 + (np.int64(text[i]) - 48), np.int64(MAX_NODES))
                    i += 1
                if value >= MAX_NODES:
                    return start, number, begin, n_rows, False
                heads[n] = value
                n += 1
                wants_number = False
            else:
                return start, number, begin, n_rows, False
        if wants_number and has_comma:
            return start, number, begin, n_rows, False
        if not is_comment:
            counts[n_rows] = n - begin
            n_rows += 1
        number += 1
        start = min(i + 1, stop)
    return start, number, n, n_rows, True


@njit(cache=True, nogil=True)
def _find_links(indptr, heads, near, far):
    """Write each link once, at its larger end: those it names, then those that name it only."""
    n_nodes = len(indptr) - 1
    begin = np.zeros(n_nodes + 1, np.int64)  # lists turned round: who names a node
    n_beyond = 0
    for i in range(len(heads)):
        if heads[i] < n_nodes:
            begin[heads[i] + 1] += 1
        else:
            n_beyond += 1
    for v in range(n_nodes):
        begin[v + 1] += begin[v]
    namers = np.empty(begin[n_nodes], np.int32)
    at = begin[:n_nodes].copy()
    for u in range(n_nodes):
        for arc in range(indptr[u], indptr[u + 1]):
            v = heads[arc]
            if v < n_nodes:
                namers[at[v]] = u
                at[v] += 1
    named = np.full(n_nodes, -1, np.int32)  # the last node that names it
    naming = np.full(n_nodes, -1, np.int32)  # the last node that it names
    n = n_twice = n_one_sided = 0
    for u in range(n_nodes):
        for arc in range(begin[u], begin[u + 1]):
            naming[namers[arc]] = u
        for arc in range(indptr[u], indptr[u + 1]):
            v = heads[arc]
            if v >= n_nodes:
                continue
            if named[v] == u:
                n_twice += 1
                continue
            named[v] = u
            if v <= u:
                near[n], far[n] = v, u
                n += 1
            if naming[v] != u:
                n_one_sided += 1
        previous = -1
        for arc in range(begin[u], begin[u + 1]):
            v = namers[arc]
            if v < u and named[v] != u and v != previous:
                near[n], far[n] = v, u
                n += 1
            previous = v
    return n, n_beyond, n_twice, n_one_sided
