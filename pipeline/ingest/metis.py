"""METIS graph files: the neighbours of one node per line, after a line of counts.

    4 3 001
    2 5
    1 5 3 2
    2 2 4 1
    3 1

What is done with it:

- The first line is ``nodes links [format [weights per node]]``; of the format's three digits
  the last says that each neighbour has a weight, which is read (unit ``length``), the others
  that a line begins with the size and the weights of the node, which are not. Nodes are
  numbered from 1; comments begin with ``%``.
- A link that only one of its ends names is a link all the same, which is noted, and so is a
  neighbour that a line names twice.
- A line with anything else than numbers names no neighbour; a neighbour that does not exist is
  rejected. Fewer lines than nodes are noted: the file may be cut short.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text import number_lines
from pipeline.ingest.text.number_lines import PERCENT, NumberLines, read_number_lines
from pipeline.ingest.text.numbered_graph import (
    MAX_NODES,
    check_declared,
    numbered_topology,
    once,
)
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

_SNIFFED_ROWS = 2000
_MIN_MUTUAL = 0.9


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a graph of METIS.

    Its first line has two to four counts, its lines only neighbours that exist and, where both are
    known, name each other; a file that is known whole has as many lines as nodes.
    """
    *lines, last = head.removeprefix(BOM).split(b"\n")
    rows = [line.split() for line in lines if not line.startswith(b"%")][: _SNIFFED_ROWS + 1]
    if not rows or not 2 <= len(rows[0]) <= 4 or len(rows) < 2:
        return False
    if not all(field.isdigit() for row in rows for field in row):
        return False
    n_nodes, n_links = (int(field) for field in rows[0][:2])
    layout = _Layout.of(rows[0])
    if layout is None or not 0 < n_nodes <= MAX_NODES or n_links > n_nodes**2:
        return False
    is_whole = len(head) < 1 << 16 and len(rows) <= _SNIFFED_ROWS
    trailing = rows[n_nodes + 1 :] if is_whole else []
    if (is_whole and len(rows) - 1 < n_nodes - bool(last.strip())) or any(trailing):
        return False
    lists = [{int(field) for field in row[layout.skipped :: layout.step]} for row in rows[1:]]
    if any(not 1 <= v <= n_nodes for row in lists for v in row):
        return False
    pairs = [(i + 1, v) for i, row in enumerate(lists) for v in row if v <= len(lists)]
    mutual = sum(u in lists[v - 1] for u, v in pairs)
    return bool(pairs) and mutual >= _MIN_MUTUAL * len(pairs)


class _Layout:
    """What a line holds: ``skipped`` numbers of the node, then ``step`` for each neighbour."""

    def __init__(self, has_weights: bool, skipped: int):
        self.has_weights, self.skipped, self.step = has_weights, skipped, 1 + has_weights

    @classmethod
    def of(cls, header: list[bytes]) -> _Layout | None:
        """By the fields of the first line; None: it is another line."""
        format = header[2].zfill(3) if len(header) > 2 else b"000"
        if len(format) > 3 or not set(format) <= set(b"01") or len(b"".join(header)) > 60:
            return None
        n_weights = int(header[3]) if len(header) > 3 else 1
        has_size, has_node_weights, has_weights = (digit == 49 for digit in format)
        return cls(has_weights, has_size + (n_weights if has_node_weights else 0))


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology
        node_id 1 to n.

    Raises
    ------
    FormatError
        After the topology, if the stream is cut short; at once if it holds no link.
    """
    lines = read_number_lines(stream, report, PERCENT)
    header = [b"%d" % value for value in lines.line(0)[:4]] if len(lines) else []
    layout = _Layout.of(header) if len(header) >= 2 else None
    n_nodes = int(header[0]) if layout is not None else 0
    topology = None
    if layout is not None and n_nodes:
        check_declared(report, n_nodes, len(lines))
        topology = _topology(lines, n_nodes, layout, report)
    if topology is not None:
        n_declared = int(header[1])
        if lines.error is None and topology.n_links < n_declared:
            report.notes["fewer edges than declared"] += n_declared - topology.n_links
        yield topology
    if lines.error is not None:
        raise lines.error
    if topology is None:
        raise FormatError(report.path, "", "no usable link; expected counts, then neighbours")


def _topology(
    lines: NumberLines, n_nodes: int, layout: _Layout, report: ReadReport
) -> Topology | None:
    n_rows = min(len(lines) - 1, n_nodes)
    if n_rows < n_nodes:
        report.notes["fewer nodes than declared"] += n_nodes - n_rows
    end = lines.end[: n_rows + 1]
    lengths = np.diff(end)
    row = np.repeat(np.arange(n_rows), lengths)
    at = np.arange(len(row)) - np.repeat(end[:-1] - end[0], lengths)
    values = lines.values[end[0] : end[-1]]
    is_head = (at >= layout.skipped) & ((at - layout.skipped) % layout.step == 0)
    place = np.flatnonzero(is_head)
    if layout.has_weights:  # a last neighbour without a weight is none
        place = place[
            (place + 1 < len(row)) & (row[np.minimum(place + 1, len(row) - 1)] == row[place])
        ]
    heads = values[place]
    good = (heads >= 1) & (heads <= n_nodes) & (heads == np.floor(heads))
    for line in lines.number[row[place[~good]] + 1].tolist():
        report.reject(f"line {line}", "neighbour that does not exist")
    place = place[good]
    near, far = row[place], values[place].astype(np.int64) - 1
    kept, n_one_sided, n_twice = once(near, far)
    for n, what in (
        (n_twice, "neighbours named twice"),
        (n_one_sided, "links that only one end names"),
    ):
        if n:
            report.notes[what] += n
    weight = values[place + 1][kept] if layout.has_weights else None
    return numbered_topology(report, np.arange(1, n_nodes + 1), near[kept], far[kept], weight)


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    number_lines.compile_kernels()
