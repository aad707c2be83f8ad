"""One snapshot, open for reading: one row per AS, graphs and columns fetched on request."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from kernels import CSRGraph, Shard
from kernels.csr import MAX_NODES
from pipeline.model.columns import empty, take
from pipeline.model.columns.ragged import offsets
from pipeline.model.graphs import Exits
from pipeline.store.columns import ColumnFiles, read_table
from pipeline.store.locks import HeldLock, hold_for_reading
from pipeline.store.manifest import altered_files, read_manifest
from pipeline.store.names import (
    ADDRESSES,
    ASES,
    BORDERS,
    EXITS,
    INGRESSES,
    LOCK,
    REJECTS,
    broken,
    graph_file,
)
from pipeline.store.tables import Ingresses, NodeTable, exits_of_table

# Columns of ases.parquet that every use of a snapshot needs; texts are read on request.
NUMBERS = (
    "asn",
    "n_nodes",
    "n_edges",
    "n_arcs",
    "n_components",
    "largest_component",
    "n_ingresses",
    "n_candidates",
    "n_unmapped",
    "file",
    "node_start",
    "arc_start",
)
# Columns that snapshots of earlier versions lack: zeros there.
LATER_NUMBERS = ("n_entered_unseen", "n_mpls_links")


class Snapshot:
    """A version of a snapshot. Open it by ``open_snapshot`` or ``Snapshot.open_dir``.

    Attributes
    ----------
    path : Path
        Folder of its files.
    name : str
    manifest : dict
        Content of manifest.json.
    asn : (n_ases,) int64
        Ascending. A row below is a position in it.
    n_nodes, n_edges, n_arcs, n_components, largest_component : (n_ases,) int64
    n_ingresses, n_candidates : (n_ases,) int64
        Ingresses that count, and those seen only after a gap.
    n_unmapped : (n_ases,) int64
        Nodes of no AS that have a link to the AS.
    n_entered_unseen, n_mpls_links : (n_ases,) int64
        Traces that begin inside the AS; links that were crossed under MPLS labels. 0 in snapshots
        of versions that did not count them.

    Notes
    -----
    Opening reads the manifest and the numbers of the table of ASes and compares the sizes of all
    files. A snapshot may be pickled (the folder is opened again) and read by any number of
    threads. While it is open, a writer that replaces it leaves its files alone, if the file
    system has locks; ``close`` or losing the last reference ends that.
    """

    def __init__(self, path: Path, lock: HeldLock | None = None):
        self.path = Path(path)
        self._lock = lock
        self.manifest = read_manifest(self.path)
        self.name: str = self.manifest["name"]
        n_files = sum(name.startswith("nodes-") for name in self.manifest["files"])
        self._files = {
            kind: ColumnFiles([self.path / graph_file(kind, i) for i in range(n_files)])
            for kind in ("nodes", "arcs")
        }
        self._table = read_table(self.path / ASES, NUMBERS, LATER_NUMBERS)
        self.asn = self._column("asn").astype(np.int64)
        self.n_nodes = self._column("n_nodes")
        self.n_arcs = self._column("n_arcs")
        self.n_edges = self._column("n_edges")
        self.n_components = self._column("n_components")
        self.largest_component = self._column("largest_component")
        self.n_ingresses = self._column("n_ingresses")
        self.n_candidates = self._column("n_candidates")
        self.n_unmapped = self._column("n_unmapped")
        self.n_entered_unseen, self.n_mpls_links = map(self._later_column, LATER_NUMBERS)
        self._file = self._column("file").astype(np.int64)
        self._node_start = self._column("node_start")
        self._arc_start = self._column("arc_start")
        self._check_table(n_files)

    @classmethod
    def open_dir(cls, path: Path | str, lock: HeldLock | None = None) -> Snapshot:
        """Open the folder of a version, as ``SearchTask.snapshot`` names it.

        Raises
        ------
        StoreError
            If it is missing, of another schema version, cut short or altered.
        """
        path = Path(path)
        return cls(path, lock or hold_for_reading(path / LOCK))

    def close(self) -> None:
        """Let a writer remove this version once it is replaced; reading goes on until then."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        return Snapshot.open_dir, (self.path,)

    def __repr__(self) -> str:
        return f"Snapshot({self.name!r}, {self.n_ases} ASes, {str(self.path)!r})"

    @property
    def version(self) -> str:
        """Name of its folder; another one for each ingest."""
        return self.path.name

    @property
    def n_ases(self) -> int:
        return len(self.asn)

    @property
    def kind(self) -> str:
        """What a node is: ``interface``, ``router``, ``as`` or ``mixed``."""
        return self.manifest["kind"]

    @property
    def weight_unit(self) -> str:
        """Unit of weights: ``ms``, ``length``, ``mixed``, or empty without any."""
        return self.manifest["weight_unit"]

    @property
    def rejects_path(self) -> Path:
        """rejects.jsonl: broken records of the inputs, one JSON object per line."""
        return self.path / REJECTS

    @cached_property
    def as_name(self) -> list[str]:
        """Name of each AS, empty where none is known."""
        return self._text("name").fill_null("").to_pylist()

    @cached_property
    def graph_hash(self) -> list[str]:
        """``CSRGraph.graph_hash`` of each AS; equal graphs have equal hashes."""
        return self._text("graph_hash").to_pylist()

    def row_of(self, asn: int) -> int:
        """Row of an AS; KeyError if the snapshot does not have it."""
        row = int(np.searchsorted(self.asn, asn))
        if row == len(self.asn) or self.asn[row] != asn:
            raise KeyError(f"AS{asn} is not in snapshot {self.name} ({self.n_ases} ASes)")
        return row

    def graph(
        self, row: int, weights: bool = False, check: bool = False, n_threads: int = 1
    ) -> CSRGraph:
        """Graph of one AS, on the host.

        Parameters
        ----------
        row : int
        weights : bool
            Read the weights too, if there are any; searches by hops do not need them. NaN if a link
            has none.
        check : bool
            Compare the arrays with ``graph_hash``.
        n_threads : int
            Threads that read and decode.

        Raises
        ------
        StoreError
            If a file is missing, cut short or altered.
        """
        row = self._checked_row(row)
        rows = np.array([row], np.int64)
        arrays = {"indices": np.empty(self.n_arcs[row], np.int32)}
        if weights and self.manifest["has_weights"]:
            arrays["weight"] = np.empty(self.n_arcs[row], np.float32)
        indptr = self._read_graphs(rows, arrays, n_threads)
        node_ptr = np.array([0, self.n_nodes[row]])
        self._widen(rows, arrays["indices"], np.array([0, self.n_arcs[row]]), node_ptr)
        graph = CSRGraph(indptr, arrays["indices"], arrays.get("weight"), trusted=True)
        if check and graph.graph_hash() != self.graph_hash[row]:
            path = self._files["arcs"].paths[self._file[row]]
            raise broken(path, f"the graph of AS{self.asn[row]} does not match its graph_hash")
        return graph

    def shard(self, rows: np.ndarray, n_threads: int = 1) -> Shard:
        """Graphs of several ASes side by side, on the host, without weights.

        Parameters
        ----------
        rows : (n_graphs,) int64
            Ascending. Neighbouring rows lie together in the files and are read in one go.
        n_threads : int
            Threads that read and decode.

        Raises
        ------
        StoreError
            If a file is missing, cut short or altered.
        ValueError
            If rows do not ascend, or have more than 2**31 - 1 nodes together.
        """
        rows = self._checked_rows(rows)
        node_ptr = offsets(self.n_nodes[rows])
        arc_ptr = offsets(self.n_arcs[rows])
        if node_ptr[-1] > MAX_NODES:
            raise ValueError(
                f"{node_ptr[-1]} nodes in one shard; at most {MAX_NODES}: ask for fewer rows"
            )
        indices = np.empty(arc_ptr[-1], np.int32)
        indptr = self._read_graphs(rows, {"indices": indices}, n_threads)
        self._widen(rows, indices, arc_ptr, node_ptr)
        return Shard(indptr, indices, node_ptr, trusted=True)

    def nodes(self, row: int) -> NodeTable:
        """What the nodes of one AS stand for in the input, in the order of their ids."""
        row = self._checked_row(row)
        out = self._node_arrays(int(self.n_nodes[row]), columns=True)
        if out:
            self._read("nodes", np.array([row]), self._node_start, self.n_nodes, out)
        return NodeTable.from_arrays(out)

    def lookup(self, rows: np.ndarray, nodes: np.ndarray, columns: bool = False) -> NodeTable:
        """What some nodes of many ASes stand for; each row group is read once.

        Parameters
        ----------
        rows, nodes : (n,) integers
            AS row and local node id, in any order, repeated as you like.
        columns : bool
            The optional columns too.

        Raises
        ------
        ValueError
            If a node is not one of its AS.
        StoreError
            If a file is missing, cut short or altered.
        """
        rows = np.asarray(rows, np.int64)
        nodes = np.asarray(nodes, np.int64)
        if len(rows) and (rows.min() < 0 or rows.max() >= self.n_ases):
            raise ValueError(f"AS rows are 0 to {self.n_ases - 1}")
        if (nodes < 0).any() or (nodes >= self.n_nodes[rows]).any():
            at = int(np.flatnonzero((nodes < 0) | (nodes >= self.n_nodes[rows]))[0])
            raise ValueError(
                f"node {nodes[at]} is not a node of AS{self.asn[rows[at]]}, "
                f"which has {self.n_nodes[rows[at]]} nodes"
            )
        out = self._node_arrays(len(rows), columns)
        if not out:
            return NodeTable(None, None)
        file, position = self._file[rows], self._node_start[rows] + nodes
        order = np.lexsort((position, file))
        file, position = file[order], position[order]
        at = 0
        for number in np.unique(file):
            own = position[file == number]
            at = self._files["nodes"].take(int(number), own, out, at)
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return NodeTable.from_arrays({name: column[back] for name, column in out.items()})

    def arc_columns(self, row: int) -> dict[str, np.ndarray]:
        """Optional columns of the arcs of one AS, in the order of ``indices``."""
        row = self._checked_row(row)
        names = self.manifest["arc_columns"]
        out = {name: np.empty(self.n_arcs[row], _dtype(names[name])) for name in names}
        start = self._arc_start[row : row + 1]
        self._files["arcs"].read(int(self._file[row]), start, start + self.n_arcs[row], out, 0)
        return out

    def ingresses(self, rows: np.ndarray | None = None) -> Ingresses:
        """Ingresses of some AS rows (ascending), or of all; sorted by row, then node."""
        return self._ingresses if rows is None else self._ingresses.of_rows(rows)

    def exits(self, rows: np.ndarray | None = None) -> Exits:
        """Exits of some AS rows, or of all; none in snapshots from before there were any."""
        if EXITS not in self.manifest["files"]:
            return empty(Exits)
        found = exits_of_table(read_table(self.path / EXITS), self.asn)
        self._check_nodes(EXITS, found, "an exit")
        return found if rows is None else take(found, np.flatnonzero(np.isin(found.row, rows)))

    def borders(self) -> pa.Table:
        """Links between ASes: near_asn, near, far_asn, far (local node ids) and their columns."""
        return read_table(self.path / BORDERS)

    def addresses(self) -> pa.Table | None:
        """Every address: addr_high, addr_low, asn, node; sorted. None if the nodes say the same.

        ``confidence`` too, but not in snapshots from before there was any.
        """
        if ADDRESSES not in self.manifest["files"]:
            return None
        return read_table(self.path / ADDRESSES)

    def verify(self) -> None:
        """Compare the sha256 of every file with the manifest.

        Raises
        ------
        StoreError
            Names every file that is not as it was written.
        """
        if wrong := altered_files(self.path, self.manifest):
            raise broken(self.path, "; ".join(wrong))

    @cached_property
    def _ingresses(self) -> Ingresses:
        found = Ingresses.from_table(read_table(self.path / INGRESSES), self.asn)
        self._check_nodes(INGRESSES, found, "an ingress")
        return found

    def _check_nodes(self, file: str, found: Ingresses | Exits, what: str) -> None:
        if len(found) and not (
            (found.row < self.n_ases).all()
            and (found.node >= 0).all()
            and (found.node < self.n_nodes[found.row]).all()
        ):
            raise broken(self.path / file, f"names {what} that is not a node")

    def _text(self, name: str) -> pa.ChunkedArray:
        return read_table(self.path / ASES, [name]).column(name)

    def _column(self, name: str) -> np.ndarray:
        return self._table.column(name).to_numpy()

    def _later_column(self, name: str) -> np.ndarray:
        if name not in self._table.column_names:
            return np.zeros(self.n_ases, np.int64)
        return self._column(name)

    def _check_table(self, n_files: int) -> None:
        """Refuse offsets that would lead outside the files."""
        sound = (np.diff(self.asn) > 0).all() and ((self._file >= 0) & (self._file < n_files)).all()
        tables = (("nodes", self._node_start, self.n_nodes), ("arcs", self._arc_start, self.n_arcs))
        for kind, start, n in tables:
            names = [path.name for path in self._files[kind].paths]
            n_rows = np.array([self.manifest["files"][name]["n_rows"] for name in names], np.int64)
            sound = sound and (start >= 0).all() and (n >= 0).all()
            sound = sound and (start + n <= n_rows[self._file]).all()
        if not sound:
            raise broken(self.path / ASES, "is not sorted by asn, or points outside the files")

    def _checked_row(self, row: int) -> int:
        if not 0 <= row < self.n_ases:
            raise ValueError(f"AS row {row}; the snapshot has rows 0 to {self.n_ases - 1}")
        return int(row)

    def _checked_rows(self, rows: np.ndarray) -> np.ndarray:
        rows = np.asarray(rows, np.int64)
        if len(rows) and (rows[0] < 0 or rows[-1] >= self.n_ases or (np.diff(rows) <= 0).any()):
            raise ValueError(f"AS rows must ascend within 0 to {self.n_ases - 1}")
        return rows

    def _read_graphs(
        self, rows: np.ndarray, arcs: dict[str, np.ndarray], n_threads: int
    ) -> np.ndarray:
        """Fill ``arcs`` with the arcs of some rows and return their ``indptr``."""
        from pipeline.store.shard_arrays import sum_degrees  # compiles

        n_nodes = int(self.n_nodes[rows].sum())
        degree = {"degree": np.empty(n_nodes, np.int32)}
        self._read("nodes", rows, self._node_start, self.n_nodes, degree, n_threads)
        self._read("arcs", rows, self._arc_start, self.n_arcs, arcs, n_threads)
        indptr = np.empty(n_nodes + 1, np.int64)
        least = sum_degrees(degree["degree"], indptr)
        # The sum at the border of each AS must be its number of arcs, or a kernel would read
        # another AS; a negative degree cannot hide in that.
        borders = np.append(0, np.cumsum(self.n_nodes[rows]))
        sums = np.diff(indptr[borders])
        wrong = sums != self.n_arcs[rows]
        if wrong.any() or least < 0:
            row = int(rows[np.flatnonzero(wrong)[0]]) if wrong.any() else int(rows[0])
            path = self._files["nodes"].paths[self._file[row]]
            raise broken(path, f"the degrees of AS{self.asn[row]} do not sum to its arcs")
        return indptr

    def _read(
        self,
        kind: str,
        rows: np.ndarray,
        first: np.ndarray,
        count: np.ndarray,
        out: dict[str, np.ndarray],
        n_threads: int = 1,
    ) -> None:
        """Fill ``out`` with the columns of some rows, file by file."""
        at = 0
        files = self._file[rows]
        for file in np.unique(files):
            own = rows[files == file]
            ends = first[own] + count[own]
            at = self._files[kind].read(int(file), first[own], ends, out, at, n_threads)

    def _widen(self, rows, indices, arc_ptr, node_ptr) -> None:
        from pipeline.store.shard_arrays import widen_ids  # compiles

        if (arc := widen_ids(indices, arc_ptr, node_ptr)) >= 0:
            row = int(rows[np.searchsorted(arc_ptr, arc, side="right") - 1])
            path = self._files["arcs"].paths[self._file[row]]
            raise broken(path, f"an arc of AS{self.asn[row]} leads outside its nodes")

    def _node_arrays(self, n: int, columns: bool) -> dict[str, np.ndarray]:
        """Empty arrays for what the files say about n nodes."""
        out = {}
        if columns:
            named = self.manifest["node_columns"]
            out = {name: np.empty(n, _dtype(named[name])) for name in named}
        if self.manifest["has_addr"]:
            out |= {"addr_high": np.empty(n, np.uint64), "addr_low": np.empty(n, np.uint64)}
        if self.manifest["has_id"]:
            out["id"] = np.empty(n, np.int64)
        return out


def _dtype(name: str) -> np.dtype:
    return np.dtype(object if name == "str" else name)
