"""Topologies as neighbour lists: one node per line, its neighbours separated by commas."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
from numba import njit

from pipeline.files import written_whole
from pipeline.generate.csr import csr_from_links
from pipeline.model.topology import Topology

_ROWS_AT_ONCE = 1 << 17  # turned into text at a time
_MAX_DIGITS = 10  # of a node, which is below 2**31
_COMMA, _NEWLINE, _ZERO = 44, 10, 48


def write_adjacency(topology: Topology, path: Path, made_by: str = "") -> None:
    """Write the links of a topology so that the reader of this format reads them back.

    The file appears whole or not at all. Nodes are numbered from 0, whatever their ids; ASes,
    lengths and other columns are not written.

    Parameters
    ----------
    topology : Topology
        Without loops and parallel links, as every model makes it.
    path : Path
        Replaced if it exists.
    made_by : str
        The command that makes it again, for the comment at the beginning.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    with written_whole(path) as file:
        _write(topology, made_by, file)


def _write(topology: Topology, made_by: str, file: BinaryIO) -> None:
    file.write(b"# Neighbours of node 0, 1, 2, ...: one node per line\n")
    if made_by:
        file.write(f"# {made_by}\n".encode())
    ends = (topology.near.astype(np.int32), topology.far.astype(np.int32))
    graph = csr_from_links(topology.n_nodes, *ends)
    for first in range(0, graph.n_nodes, _ROWS_AT_ONCE):
        indptr = graph.indptr[first : first + _ROWS_AT_ONCE + 1]
        room = int(indptr[-1] - indptr[0]) * (_MAX_DIGITS + 1) + len(indptr)
        text = np.empty(room, np.uint8)
        file.write(text[: _lines(indptr, graph.indices, text)].data)


@njit(cache=True, nogil=True)
def _lines(indptr, indices, text):
    """Write the lines of some rows into ``text``; returns the number of bytes."""
    at = 0
    digits = np.empty(_MAX_DIGITS, np.uint8)
    for row in range(len(indptr) - 1):
        for arc in range(indptr[row], indptr[row + 1]):
            if arc > indptr[row]:
                text[at] = _COMMA
                at += 1
            value, n = np.int64(indices[arc]), 0
            while n == 0 or value > 0:
                digits[n] = _ZERO + value % 10
                value //= 10
                n += 1
            for i in range(n - 1, -1, -1):
                text[at] = digits[i]
                at += 1
        text[at] = _NEWLINE
        at += 1
    return at
