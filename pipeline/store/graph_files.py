"""Nodes and arcs of a version of a snapshot: where those of each AS lie in its files."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.model.columns.ragged import offsets
from pipeline.store.columns import ColumnFiles
from pipeline.store.tables import NodeTable
from pipeline.store.versions.mirrored import bring_file
from pipeline.store.versions.names import ASES, broken, graph_file


class GraphFiles:
    """The files ``nodes-*`` and ``arcs-*`` of a version, read by AS.

    Parameters
    ----------
    path : Path
        Folder of the version.
    manifest : mapping
        Content of its manifest.json.
    ases : pyarrow.Table
        Its table of ASes: asn, n_nodes, n_arcs, file, node_start, arc_start.

    Raises
    ------
    StoreError
        If the table of ASes is not sorted, or leads outside the files.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], ases: pa.Table):
        self._path, self._manifest = path, manifest
        n_files = sum(name.startswith("nodes-") for name in manifest["files"])
        bring = functools.partial(bring_file, path, manifest)
        self._files = {
            kind: ColumnFiles([path / graph_file(kind, i) for i in range(n_files)], bring)
            for kind in ("nodes", "arcs")
        }
        column = {name: ases.column(name).to_numpy() for name in ases.column_names}
        self._asn, self._file = column["asn"].astype(np.int64), column["file"].astype(np.int64)
        self._first = {"nodes": column["node_start"], "arcs": column["arc_start"]}
        self._count = {"nodes": column["n_nodes"], "arcs": column["n_arcs"]}
        self._check(n_files)

    def _check(self, n_files: int) -> None:
        file = self._file
        sound = (np.diff(self._asn) > 0).all() and ((file >= 0) & (file < n_files)).all()
        for kind, first in self._first.items():
            n = self._count[kind]
            names = [path.name for path in self._files[kind].paths]
            n_rows = np.array([self._manifest["files"][name]["n_rows"] for name in names], np.int64)
            sound = sound and (first >= 0).all() and (n >= 0).all()
            sound = sound and (first + n <= n_rows[file]).all()
        if not sound:
            raise broken(self._path / ASES, "is not sorted by asn, or points outside the files")

    @property
    def node_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of the file that holds each AS's nodes, and its first row there."""
        return self._file, self._first["nodes"]

    def path_of(self, kind: str, row: int) -> Path:
        """The file of ``nodes`` or ``arcs`` in which those of an AS lie."""
        return self._files[kind].paths[self._file[row]]

    def graphs(self, rows: np.ndarray, arcs: dict[str, np.ndarray], n_threads: int) -> np.ndarray:
        """Fill ``arcs`` with columns of the arcs of some AS rows; returns their ``indptr``.

        Raises
        ------
        StoreError
            If a file is missing, cut short or altered, or an arc leads outside its AS.
        """
        # Commands that read one AS need not wait for compiled code; workers have it.
        if len(rows) == 1 and "pipeline.store.shard_arrays" not in sys.modules:
            sum_degrees, widen_ids = _sum_degrees, _check_ids
        else:
            from pipeline.store.shard_arrays import sum_degrees, widen_ids

        n_nodes, n_arcs = self._count["nodes"][rows], self._count["arcs"][rows]
        node_ptr, arc_ptr = offsets(n_nodes), offsets(n_arcs)
        degree = {"degree": np.empty(node_ptr[-1], np.int32)}
        self.read("nodes", rows, degree, n_threads)
        self.read("arcs", rows, arcs, n_threads)
        indptr = np.empty(node_ptr[-1] + 1, np.int64)
        least = sum_degrees(degree["degree"], indptr)
        # The sum at the border of each AS must be its number of arcs, or a kernel would read
        # another AS; a negative degree cannot hide in that.
        wrong = np.diff(indptr[node_ptr]) != n_arcs
        if wrong.any() or least < 0:
            row = int(rows[np.flatnonzero(wrong)[0]]) if wrong.any() else int(rows[0])
            fault = f"the degrees of AS{self._asn[row]} do not sum to its arcs"
            raise broken(self.path_of("nodes", row), fault)
        if (arc := widen_ids(arcs["indices"], arc_ptr, node_ptr)) >= 0:
            row = int(rows[np.searchsorted(arc_ptr, arc, side="right") - 1])
            fault = f"an arc of AS{self._asn[row]} leads outside its nodes"
            raise broken(self.path_of("arcs", row), fault)
        return indptr

    def degrees(self, row: int, first: int, last: int) -> np.ndarray:
        """(last - first,) int32: arcs of nodes first .. last - 1 of one AS, no others read."""
        out = {"degree": np.empty(last - first, np.int32)}
        self._read_range("nodes", row, first, last, out)
        if out["degree"].min(initial=0) < 0:
            raise broken(self.path_of("nodes", row), f"AS{self._asn[row]} has a negative degree")
        return out["degree"]

    def heads(self, row: int, first: int, last: int) -> np.ndarray:
        """(last - first,) int32: heads of arcs first .. last - 1 of one AS, no others read."""
        out = {"indices": np.empty(last - first, np.int32)}
        self._read_range("arcs", row, first, last, out)
        n_nodes = int(self._count["nodes"][row])
        if out["indices"].min(initial=0) < 0 or out["indices"].max(initial=-1) >= n_nodes:
            fault = f"an arc of AS{self._asn[row]} leads outside its nodes"
            raise broken(self.path_of("arcs", row), fault)
        return out["indices"]

    def _read_range(
        self, kind: str, row: int, first: int, last: int, out: dict[str, np.ndarray]
    ) -> None:
        if not 0 <= first <= last <= self._count[kind][row]:
            fault = f"AS{self._asn[row]} has {self._count[kind][row]} {kind}, not {last}"
            raise broken(self.path_of(kind, row), fault)
        begin = np.array([self._first[kind][row]], np.int64)
        self._files[kind].read(int(self._file[row]), begin + first, begin + last, out, 0)

    def arc_columns(self, row: int) -> dict[str, np.ndarray]:
        """Optional columns of the arcs of one AS, in the order of its arcs."""
        out = _empty(self._manifest["arc_columns"], int(self._count["arcs"][row]))
        self.read("arcs", np.array([row]), out)
        return out

    def link_columns(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The same of some AS rows, end to end, and ``weight`` if there is any."""
        n_arcs = int(self._count["arcs"][rows].sum())
        out = _empty(self._manifest["arc_columns"], n_arcs)
        if self._manifest["has_weights"]:
            out["weight"] = np.empty(n_arcs, np.float32)
        self.read("arcs", rows, out)
        return out

    def node_columns(self, n_nodes: int, optional: bool) -> dict[str, np.ndarray]:
        """Empty arrays for what the files say about ``n_nodes`` nodes."""
        out = _empty(self._manifest["node_columns"], n_nodes) if optional else {}
        if self._manifest["has_addr"]:
            out |= {half: np.empty(n_nodes, np.uint64) for half in ("addr_high", "addr_low")}
        if self._manifest["has_id"]:
            out["id"] = np.empty(n_nodes, np.int64)
        return out

    def read(
        self, kind: str, rows: np.ndarray, out: dict[str, np.ndarray], n_threads: int = 1
    ) -> None:
        """Fill ``out`` with columns of the nodes or arcs of some AS rows, file by file."""
        at = 0
        first, count, files = self._first[kind], self._count[kind], self._file[rows]
        for file in np.unique(files):
            own = rows[files == file]
            stop = first[own] + count[own]
            at = self._files[kind].read(int(file), first[own], stop, out, at, n_threads)

    def take_nodes(self, rows: np.ndarray, nodes: np.ndarray, optional: bool) -> NodeTable:
        """What some nodes stand for, (n,) AS rows and local ids in any order; as ``lookup``."""
        out = self.node_columns(len(rows), optional)
        if not out:
            return NodeTable(None, None)
        file, position = self._file[rows], self._first["nodes"][rows] + nodes
        order = np.lexsort((position, file))
        file, position = file[order], position[order]
        at = 0
        for number in np.unique(file):
            own = position[file == number]
            at = self._files["nodes"].take(int(number), own, out, at)
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return NodeTable.from_arrays({name: column[back] for name, column in out.items()})


def _sum_degrees(degree: np.ndarray, indptr: np.ndarray) -> int:
    """``shard_arrays.sum_degrees`` without compiled code."""
    indptr[0] = 0
    np.cumsum(degree, out=indptr[1:])
    return int(degree.min(initial=0))


def _check_ids(indices: np.ndarray, arc_ptr: np.ndarray, node_ptr: np.ndarray) -> int:
    """``shard_arrays.widen_ids`` for one graph, whose ids stay as they are."""
    if indices.min(initial=0) >= 0 and indices.max(initial=-1) < node_ptr[1]:
        return -1
    return int(np.flatnonzero((indices < 0) | (indices >= node_ptr[1]))[0])


def _empty(columns: Mapping[str, str], n: int) -> dict[str, np.ndarray]:
    """Arrays of ``n`` values for columns, by the names of their types in the manifest."""
    return {
        name: np.empty(n, np.dtype(object if kind == "str" else kind))
        for name, kind in columns.items()
    }
