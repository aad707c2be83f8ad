"""One snapshot, open for reading: one row per AS, graphs and columns fetched on request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from kernels import CSRGraph, Shard
from kernels.csr import MAX_NODES
from pipeline.model.columns import empty, take
from pipeline.model.columns.ragged import offsets
from pipeline.model.graphs import Exits
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.observations import Observations, Steps, Vantages
from pipeline.model.measured.reasons import Joins, OwnerReasons, Reasons
from pipeline.model.words import number
from pipeline.store.columns import naming, read_table
from pipeline.store.counts import check_counts, check_ingress_counts
from pipeline.store.graph_files import GraphFiles
from pipeline.store.observations import read_observations, read_steps, read_vantages
from pipeline.store.tables import (
    AS_NUMBERS,
    LATER_AS_NUMBERS,
    Ingresses,
    NodeTable,
    exits_of_table,
    rows_in,
)
from pipeline.store.traces import StoredTraces
from pipeline.store.versions.locks import HeldLock
from pipeline.store.versions.names import (
    ADDRESSES,
    ASES,
    BORDERS,
    EXITS,
    HOST_NAMES,
    INGRESSES,
    INTERFACES,
    JOINS,
    LOCATIONS,
    OBSERVATIONS,
    PATHS,
    REASONS,
    REJECTS,
    TRACES,
    UNMAPPED,
    VANTAGES,
    broken,
)
from pipeline.store.versions.opened import OpenVersion
from pipeline.store.versions.schemas import type_of


class Snapshot(OpenVersion):
    """A version of a snapshot. Open it by ``open_snapshot`` or ``Snapshot.open_dir``.

    Attributes
    ----------
    path, name, manifest
        See ``OpenVersion``.
    asn : (n_ases,) int64
        Ascending. A row below is a position in it.
    n_nodes, n_edges, n_arcs, n_components, largest_component : (n_ases,) int64
    n_ingresses, n_candidates : (n_ases,) int64
        Ingresses that count, and those seen only after a gap.
    n_unmapped : (n_ases,) int64
        Nodes of no AS that have a link to the AS.
    n_entered_unseen, n_mpls_links, n_may_hide_links, n_silent : (n_ases,) int64
        Traces that begin inside the AS; links that were crossed under MPLS labels; links that may
        hide routers; silent routers, the last nodes of their AS. 0 in snapshots of versions that
        did not count them.

    Notes
    -----
    Opening reads and checks the numbers of ASes too. Any number of threads may read a snapshot.
    """

    def __init__(self, path: Path, lock: HeldLock | None = None):
        super().__init__(path, lock)
        self._table = read_table(self._unaltered(ASES), AS_NUMBERS, LATER_AS_NUMBERS)
        self.asn = self._column("asn").astype(np.int64)
        self.n_nodes = self._column("n_nodes")
        self.n_arcs = self._column("n_arcs")
        self.n_edges = self._column("n_edges")
        self.n_components = self._column("n_components")
        self.largest_component = self._column("largest_component")
        self.n_ingresses = self._column("n_ingresses")
        self.n_candidates = self._column("n_candidates")
        self.n_unmapped = self._column("n_unmapped")
        later = map(self._later_column, LATER_AS_NUMBERS)
        self.n_entered_unseen, self.n_mpls_links, self.n_may_hide_links, self.n_silent = later
        self._files = GraphFiles(self.path, self.manifest, self._table)
        self.as_numbers = self._table.column_names  # earlier versions lack the later ones
        check_counts(self)

    def __repr__(self) -> str:
        return f"Snapshot({self.name!r}, {self.n_ases} ASes, {str(self.path)!r})"

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
    def node_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of the file that holds each AS's nodes, and its first row there."""
        return self._files.node_places

    @property
    def rejects_path(self) -> Path:
        """rejects.jsonl: broken records of the inputs, one JSON object per line."""
        return self.file(REJECTS)

    @cached_property
    def as_name(self) -> list[str]:
        """Name of each AS, empty where none is known."""
        return self._text("name").fill_null("").to_pylist()

    @cached_property
    def as_organisation(self) -> list[str]:
        """Organisation of each AS, equal only for ASes of one; empty where none is known."""
        table = read_table(self.file(ASES), (), ("organisation",))
        if "organisation" not in table.column_names:  # from before it was kept
            return [""] * self.n_ases
        return table.column("organisation").fill_null("").to_pylist()

    @cached_property
    def graph_hash(self) -> list[str]:
        """``CSRGraph.graph_hash`` of each AS; equal graphs have equal hashes."""
        return self._text("graph_hash").to_pylist()

    @cached_property
    def weights_hash(self) -> list[str] | None:
        """``CSRGraph.weights_hash`` of each AS; None without weights, and in older snapshots."""
        if not self.manifest["has_weights"]:
            return None
        table = read_table(self.file(ASES), (), ("weights_hash",))
        known = "weights_hash" in table.column_names
        return table.column("weights_hash").to_pylist() if known else None

    def rows_of(self, asns: Sequence[int]) -> np.ndarray:
        """(n_rows,) int64 rows of some ASes, ascending, each once; of all ASes if none is given.

        Raises
        ------
        KeyError
            If the snapshot does not have one of them.
        """
        if not len(asns):
            return np.arange(self.n_ases, dtype=np.int64)
        return np.array(sorted({self.row_of(asn) for asn in asns}), np.int64)

    def row_of(self, asn: int) -> int:
        """Row of an AS; KeyError if the snapshot does not have it."""
        row = int(np.searchsorted(self.asn, asn))
        if row == len(self.asn) or self.asn[row] != asn:
            raise KeyError(f"AS{asn} is not in snapshot {self.name} ({number(self.n_ases, 'AS')})")
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
        indptr = self._files.graphs(rows, arrays, n_threads)
        graph = CSRGraph(indptr, arrays["indices"], arrays.get("weight"), trusted=True)
        if check and graph.graph_hash() != self.graph_hash[row]:
            fault = f"the graph of AS{self.asn[row]} does not match its graph_hash"
            raise broken(self._files.path_of("arcs", row), fault)
        return graph

    def degrees(self, row: int, first: int, last: int) -> np.ndarray:
        """(last - first,) int32 degrees of a range of nodes of one AS; reads only these.

        Raises
        ------
        StoreError
            As ``graph``, or if the AS has fewer nodes.
        """
        return self._files.degrees(self._checked_row(row), first, last)

    def heads(self, row: int, first: int, last: int) -> np.ndarray:
        """(last - first,) int32 heads of a range of arcs of one AS; reads only these.

        Raises
        ------
        StoreError
            As ``graph``, or if the AS has fewer arcs.
        """
        return self._files.heads(self._checked_row(row), first, last)

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
        if node_ptr[-1] > MAX_NODES:
            raise ValueError(
                f"{node_ptr[-1]} nodes in one shard; at most {MAX_NODES}: ask for fewer rows"
            )
        indices = np.empty(self.n_arcs[rows].sum(), np.int32)
        indptr = self._files.graphs(rows, {"indices": indices}, n_threads)
        return Shard(indptr, indices, node_ptr, trusted=True)

    def nodes(self, row: int) -> NodeTable:
        """What the nodes of one AS stand for in the input, in the order of their ids."""
        row = self._checked_row(row)
        out = self._files.node_columns(int(self.n_nodes[row]), optional=True)
        if out:
            self._files.read("nodes", np.array([row]), out)
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
                f"which has {number(self.n_nodes[rows[at]], 'node')}"
            )
        return self._files.take_nodes(rows, nodes, columns)

    def arc_columns(self, row: int) -> dict[str, np.ndarray]:
        """Optional columns of the arcs of one AS, in the order of ``indices``."""
        return self._files.arc_columns(self._checked_row(row))

    def link_columns(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Optional columns of the arcs of some AS rows (ascending), and ``weight`` if there is any.

        Arcs are in the order of ``shard`` of the same rows.
        """
        return self._files.link_columns(self._checked_rows(rows))

    def ingresses(self, rows: np.ndarray | None = None) -> Ingresses:
        """Ingresses of some AS rows (ascending), or of all; sorted by row, then node."""
        return self._ingresses if rows is None else self._ingresses.of_rows(rows)

    def exits(self, rows: np.ndarray | None = None) -> Exits:
        """Exits of some AS rows, or of all; none in snapshots from before there were any."""
        if EXITS not in self.manifest["files"]:
            return empty(Exits)
        with naming(self.path / EXITS):
            found = exits_of_table(self._whole(EXITS), self.asn)
        self._check_nodes(EXITS, found, "an exit")
        return found if rows is None else take(found, np.flatnonzero(np.isin(found.row, rows)))

    def borders(self) -> pa.Table:
        """Links between ASes: near_asn, near, far_asn, far (local node ids) and their columns."""
        table = self._whole(BORDERS, ("near_asn", "near", "far_asn", "far"))
        with naming(self.path / BORDERS):
            for name, kind in self.manifest["arc_columns"].items():
                found = table.schema.field(name).type if name in table.column_names else None
                if found not in (None, type_of(kind)):
                    raise ValueError(f"its column {name} is of type {found}, not {kind}")
            for end in ("near", "far"):
                row = rows_in(self.asn, table[f"{end}_asn"])
                if (table[end].to_numpy() >= self.n_nodes[row]).any():
                    raise ValueError("names a router that is not there")
        return table

    def addresses(self) -> pa.Table | None:
        """Every address: addr_high, addr_low, asn, node; sorted. None if the nodes say the same.

        ``confidence`` too, but not in snapshots from before there was any.
        """
        if ADDRESSES not in self.manifest["files"]:
            return None
        return self._whole(ADDRESSES, ("addr_high", "addr_low", "asn", "node"))

    def unmapped(self) -> np.ndarray | None:
        """(n, 2) uint64, sorted: addresses that answered, in no AS; None where it is not known."""
        if UNMAPPED not in self.manifest["files"]:
            return None
        table = self._whole(UNMAPPED, ("addr_high", "addr_low"))
        return np.column_stack([table[name].to_numpy() for name in ("addr_high", "addr_low")])

    def host_names(self) -> HostNames | None:
        """Names of some of its addresses; None where no file of names was given."""
        if HOST_NAMES not in self.manifest["files"]:
            return None
        return HostNames.from_table(self._whole(HOST_NAMES, ("addr_high", "addr_low", "name")))

    def locations(self) -> Locations | None:
        """Places of some of its addresses and vantage points; None where no file was given."""
        if LOCATIONS not in self.manifest["files"]:
            return None
        names = ("addr_high", "addr_low", *Locations.COLUMNS)
        return Locations.from_table(self._whole(LOCATIONS, names))

    def reasons(self) -> Reasons | None:
        """Why routers are in their ASes and addresses on one router; None where not kept.

        It is so for snapshots without an election of ASes, and for those from before there were
        reasons.
        """
        if REASONS not in self.manifest["files"]:
            return None
        names = ("addr_high", "addr_low")
        with naming(self.path / REASONS):
            owners = OwnerReasons.from_table(self._whole(REASONS, names))
        with naming(self.path / JOINS):
            return Reasons(owners, Joins.from_table(self._whole(JOINS, names)))

    @property
    def has_observations(self) -> bool:
        """Whether it keeps the paths of vantage points."""
        return OBSERVATIONS in self.manifest["files"]

    def observations(self) -> Observations | None:
        """Paths of each vantage point; None without traces, or from before they were kept.

        Nodes are those of all ASes end to end, in the order of rows.

        Raises
        ------
        StoreError
            If a file is missing, cut short or altered.
        """
        if not self.has_observations:
            return None
        return read_observations(self._with(VANTAGES, OBSERVATIONS, PATHS), int(self.n_nodes.sum()))

    def steps(self) -> Steps | None:
        """The steps of ``observations`` alone."""
        if OBSERVATIONS not in self.manifest["files"]:
            return None
        return read_steps(self._with(VANTAGES, OBSERVATIONS), int(self.n_nodes.sum()))

    def vantages(self) -> Vantages | None:
        """The vantage points of ``observations`` alone."""
        return read_vantages(self._with(VANTAGES)) if self.has_observations else None

    @property
    def n_traces_kept(self) -> int | None:
        """Traces that it keeps whole; None: not kept, as without traces and in older snapshots."""
        if TRACES not in self.manifest["files"]:
            return None
        return int((self.manifest.get("counts") or {}).get("n_traces_kept", 0))

    @cached_property
    def traces(self) -> StoredTraces | None:
        """Traces that it keeps whole; None where ``n_traces_kept`` is.

        Raises
        ------
        StoreError
            If a file is missing, cut short or altered.
        """
        if TRACES not in self.manifest["files"]:
            return None
        folder = self._with(TRACES, INTERFACES, VANTAGES)
        return StoredTraces(folder, int(self.n_nodes.sum()))

    @cached_property
    def _ingresses(self) -> Ingresses:
        with naming(self.path / INGRESSES):
            found = Ingresses.from_table(self._whole(INGRESSES), self.asn)
        self._check_nodes(INGRESSES, found, "an ingress")
        check_ingress_counts(self, found)
        return found

    def _whole(self, file: str, needed: Sequence[str] = ()) -> pa.Table:
        """All columns of a file."""
        path = self._unaltered(file)
        table = read_table(path)
        if lacking := sorted(set(needed) - set(table.column_names)):
            raise broken(path, f"has no column {', '.join(lacking)}")
        return table

    def _check_nodes(self, file: str, found: Ingresses | Exits, what: str) -> None:
        if len(found) and not (
            (found.row < self.n_ases).all()
            and (found.node >= 0).all()
            and (found.node < self.n_nodes[found.row]).all()
        ):
            raise broken(self.path / file, f"names {what} that is not a node")

    def _text(self, name: str) -> pa.ChunkedArray:
        return read_table(self.file(ASES), [name]).column(name)

    def _column(self, name: str) -> np.ndarray:
        return self._table.column(name).to_numpy()

    def _later_column(self, name: str) -> np.ndarray:
        if name not in self._table.column_names:
            return np.zeros(self.n_ases, np.int64)
        return self._column(name)

    def _checked_row(self, row: int) -> int:
        if not 0 <= row < self.n_ases:
            raise ValueError(f"AS row {row}; the snapshot has rows 0 to {self.n_ases - 1}")
        return int(row)

    def _checked_rows(self, rows: np.ndarray) -> np.ndarray:
        rows = np.asarray(rows, np.int64)
        if len(rows) and (rows[0] < 0 or rows[-1] >= self.n_ases or (np.diff(rows) <= 0).any()):
            raise ValueError(f"AS rows must ascend within 0 to {self.n_ases - 1}")
        return rows
