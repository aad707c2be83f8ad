"""A graph as two rows of CSV: row pointers, column indices (compressed sparse rows).

    0,2,4,5,6
    1,2,0,3,0,1

What is done with it:

- The neighbours of node i, from 0 on, are ``indices[pointers[i]:pointers[i + 1]]``. A third row
  holds a weight of each of them (unit ``length``).
- A link that only one of its ends names is a link all the same, which is noted, and so is a
  neighbour that is named twice.
- The file is rejected if pointers do not ascend from 0 to the number of indices, since then
  nothing says which neighbours are whose; a neighbour that does not exist is rejected alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text import number_lines
from pipeline.ingest.text.number_lines import NO_COMMENT, NumberLines, read_number_lines
from pipeline.ingest.text.numbered_graph import MAX_NODES, numbered_topology, once
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

_ROW = re.compile(rb"\s*\d+(?:\s*,\s*\d+)*\s*,?\s*")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a row of pointers, then one of indices.

    Numbers between commas that ascend from 0; then, if the head goes so far, one other row of as
    many numbers as the last of them says, or two.
    """
    first, _, rest = head.removeprefix(BOM).partition(b"\n")
    fields = first.split(b",")
    is_cut = not rest and len(head) >= 1 << 16
    if len(fields) < 3 or not _ROW.fullmatch(first.rpartition(b",")[0] if is_cut else first):
        return False
    pointers = [int(field) for field in (fields[:-1] if is_cut else fields) if field.strip()]
    if pointers[0] != 0 or any(a > b for a, b in pairwise(pointers)):
        return False
    if is_cut:
        return True
    rows = [row.rstrip(b"\r, ") for row in rest.split(b"\n") if row.strip()]
    if not rows or len(rows) > 2 or not _ROW.fullmatch(rows[0]):
        return False
    is_whole = len(rows) == 2 or len(head) < 1 << 16
    return not is_whole or rows[0].count(b",") + 1 == pointers[-1]


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology
        node_id 0 to n - 1.

    Raises
    ------
    FormatError
        If the stream is cut short, the pointers are broken, or there is no link.
    """
    lines = read_number_lines(stream, report, NO_COMMENT)
    if lines.error is not None:
        raise lines.error
    topology = _topology(lines, report)
    if topology is None:
        raise FormatError(report.path, "", "no usable link; expected row pointers, then indices")
    yield topology


def _topology(lines: NumberLines, report: ReadReport) -> Topology | None:
    rows = [lines.line(int(i)) for i in np.flatnonzero(lines.lengths)]
    if not 2 <= len(rows) <= 3:
        raise FormatError(report.path, "", f"{len(rows)} rows of numbers; expected 2 or 3")
    pointers, heads = rows[:2]
    n_nodes = len(pointers) - 1
    if n_nodes > MAX_NODES or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise FormatError(report.path, "line 1", "row pointers do not ascend from 0")
    if pointers[-1] != len(heads):
        raise FormatError(
            report.path,
            "line 2",
            f"{len(heads):,} column indices, where the row pointers say {int(pointers[-1]):,}",
        )
    good = (heads >= 0) & (heads < n_nodes) & (heads == np.floor(heads))
    if not good.all():
        report.reject("line 2", "neighbour that does not exist", count=int((~good).sum()))
    near = np.repeat(np.arange(n_nodes), np.diff(pointers).astype(np.int64))[good]
    far = heads[good].astype(np.int64)
    kept, n_one_sided, n_twice = once(near, far)
    for n, what in (
        (n_twice, "neighbours named twice"),
        (n_one_sided, "links that only one end names"),
    ):
        if n:
            report.notes[what] += n
    has_weights = len(rows) == 3 and len(rows[2]) == len(heads)
    weight = rows[2][good][kept] if has_weights else None
    return numbered_topology(report, np.arange(n_nodes), near[kept], far[kept], weight)


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    number_lines.compile_kernels()
