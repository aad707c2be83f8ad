"""Searches one source at a time, shared by threads; for few sources and for long graphs."""

from __future__ import annotations

import threading

import numpy as np

from kernels._cpu.threads import Team
from kernels.breadth_first import search_scratch
from kernels.breadth_first.cpu import fill_levels
from kernels.multi_source.cpu.sweeps import LARGE, Found, level_dtype, search_one


class _Rows:
    """The level matrix, row by row; a row that is too deep for it is kept aside."""

    def __init__(self, n_sources: int, n_nodes: int):
        self._shape = (n_sources, n_nodes)
        self._lock = threading.Lock()
        self._matrix: np.ndarray | None = None
        self._deep: dict[int, np.ndarray] = {}
        self._deepest = 0

    def row(self, i: int, eccentricity: int) -> np.ndarray:
        """Row ``i``, all unreached, to be filled with levels up to ``eccentricity``."""
        with self._lock:
            self._deepest = max(self._deepest, eccentricity)
            if self._matrix is None:  # the others are probably as deep
                self._matrix = np.empty(self._shape, level_dtype(eccentricity))
            matrix = self._matrix
        if eccentricity < np.iinfo(matrix.dtype).max:
            row = matrix[i]
        else:
            row = np.empty(self._shape[1], level_dtype(eccentricity))
            self._deep[i] = row
        row[:] = np.iinfo(row.dtype).max
        return row

    def matrix(self) -> np.ndarray:
        """All rows in the narrowest dtype that holds them."""
        assert self._matrix is not None
        dtype = level_dtype(self._deepest)
        narrow = self._matrix
        if narrow.dtype != dtype:
            self._matrix = np.empty(self._shape, dtype)
            for i, row in enumerate(narrow):
                level = self._deep.get(i, row)
                self._matrix[i] = level
                self._matrix[i][level == np.iinfo(level.dtype).max] = np.iinfo(dtype).max
        return self._matrix


def search_singly(
    indptr: np.ndarray,
    indices: np.ndarray,
    base: int,
    n_nodes: int,
    sources: np.ndarray,
    levels: bool,
    team: Team,
    found: Found,
    row: int,
) -> np.ndarray | None:
    """Fill rows from ``row`` on; levels (n_sources, n_nodes) if requested.

    ``sources`` and what is filled are local ids.
    """
    rows = _Rows(len(sources), n_nodes) if levels else None
    own = threading.local()

    def one(i: int) -> None:
        if rows is None and row + i in found.hop_counts:  # by a sweep that was given up
            return
        if not hasattr(own, "scratch"):
            own.scratch = search_scratch(n_nodes)
        graph = (indptr, indices, base, n_nodes)
        n_levels = len(search_one(*graph, int(sources[i]), own.scratch, found, row + i))
        if rows is not None:
            queue, ends, _ = own.scratch
            fill_levels(queue, ends, n_levels, rows.row(i, n_levels - 1))

    n_arcs = int(indptr[base + n_nodes] - indptr[base])
    if (n_nodes + n_arcs) * len(sources) < LARGE:  # over before another thread has started
        for i in range(len(sources)):
            one(i)
    else:
        team.run(one, range(len(sources)))
    return rows.matrix() if rows is not None else None
