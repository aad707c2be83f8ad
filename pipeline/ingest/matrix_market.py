"""Matrix Market files: the entries of a sparse matrix, each a link between its row and its column.

    %%MatrixMarket matrix coordinate real symmetric
    4 4 3
    2 1 0.5

What is done with it:

- Coordinate format; ``pattern``, ``real`` and ``integer``; ``symmetric`` or ``general``, whose
  two directions are one link. Nodes are the rows, 1 to n, also those without an entry.
- Values become weights (unit ``length``) if none is below 0; else they are not read.
- Entries outside the matrix, and lines of fewer or more columns, are rejected. Fewer entries than
  declared: the file is cut short, and those that it has are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text import number_lines
from pipeline.ingest.text.number_lines import PERCENT, read_number_lines
from pipeline.ingest.text.numbered_graph import check_declared, numbered_topology
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

_MAGIC = b"%%matrixmarket matrix coordinate "
_VALUES = (b"pattern", b"real", b"integer", b"double")
_SYMMETRIES = (b"symmetric", b"general")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a sparse matrix of numbers."""
    return _is_read(head.removeprefix(BOM).partition(b"\n")[0])


def _is_read(line: bytes) -> bool:
    words = line.lower().split()
    if not line.lower().startswith(_MAGIC) or len(words) != 5:
        return False
    return words[3] in _VALUES and words[4] in _SYMMETRIES


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology
        node_id 1 to n.

    Raises
    ------
    FormatError
        After the topology, if the stream is cut short; at once if it holds no entry.
    """
    lines = read_number_lines(stream, report, PERCENT)
    n_broken = sum(report.rejected.values())
    lengths = lines.lengths
    n_nodes = 0
    if len(lines) and lengths[0] == 3:
        n_rows, n_columns, n_entries = (int(value) for value in lines.line(0))
        if n_rows != n_columns:
            raise FormatError(
                report.path, "", f"a matrix of {n_rows} rows and {n_columns} columns is not a graph"
            )
        n_nodes = n_rows
    if not n_nodes:
        raise lines.error or FormatError(report.path, "", "no line `rows columns entries`")
    check_declared(report, n_nodes, len(lines))
    rest = np.flatnonzero(lengths[1:] > 0) + 1
    n_columns = int(lengths[rest[0]]) if len(rest) else 0
    good = rest[lengths[rest] == n_columns] if n_columns in (2, 3) else rest[:0]
    for line in lines.number[rest[lengths[rest] != n_columns]].tolist():
        report.reject(f"line {line}", "not row, column and value")
    first = lines.end[good] - n_columns
    ends = np.stack([lines.values[first], lines.values[first + 1]])
    weight = lines.values[first + 2] if n_columns == 3 else None
    is_node = ((ends >= 1) & (ends <= n_nodes) & (ends == np.floor(ends))).all(axis=0)
    for line in lines.number[good[~is_node]].tolist():
        report.reject(f"line {line}", "entry outside the matrix")
    error = lines.error
    if error is None and (n_seen := len(rest) + n_broken) < n_entries:
        found = f"{n_seen:,} of {n_entries:,} declared entries"
        error = FormatError(report.path, "end of file", f"cut short: found {found}")
    near, far = ends[:, is_node].astype(np.int64) - 1
    topology = numbered_topology(
        report, np.arange(1, n_nodes + 1), near, far, None if weight is None else weight[is_node]
    )
    if topology is not None:
        yield topology
    if error is not None:
        raise error
    if topology is None:
        raise FormatError(report.path, "", "no usable entry; expected row and column per line")


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    number_lines.compile_kernels()
