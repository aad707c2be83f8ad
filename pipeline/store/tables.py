"""Tables of a snapshot, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from pipeline.model.columns import take
from pipeline.model.columns.ragged import take_rows
from pipeline.model.graphs import NO_ID, Exits
from pipeline.model.measured.delays import Delays
from pipeline.store.delays import delays_of_table

# Columns of ases.parquet that every use of a snapshot needs; texts are read on request.
AS_NUMBERS = (
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
LATER_AS_NUMBERS = ("n_entered_unseen", "n_mpls_links", "n_may_hide_links", "n_silent")


@dataclass(frozen=True, eq=False)
class NodeTable:
    """What nodes stand for in the input, one row per node.

    Attributes
    ----------
    addr : (n, 2) uint64 or None
        See ``pipeline.model.addresses``. None: the input has no addresses.
    id : (n,) int64 or None
        The file's ids. None: the input has none.
    columns : dict of str to (n,) arrays
        Optional columns of the input.
    """

    addr: np.ndarray | None
    id: np.ndarray | None
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> NodeTable:
        """Make it from columns of a nodes file.

        Addresses and ids that none of the nodes has are None, as for an AS whose input gives none.
        """
        columns = dict(arrays)
        addr = None
        if "addr_low" in columns:
            addr = np.stack([columns.pop("addr_high"), columns.pop("addr_low")], axis=1)
            addr = addr if len(addr) == 0 or addr.any() else None
        ids = columns.pop("id", None)
        if ids is not None and len(ids) and (ids == NO_ID).all():
            ids = None
        return cls(addr, ids, columns)


@dataclass(frozen=True, eq=False)
class Ingresses:
    """Ingresses of some ASes, sorted by (row, node).

    Attributes
    ----------
    row : (n,) int64
        AS row of the snapshot.
    node : (n,) int32
        Local node id.
    neighbor_ptr : (n + 1,) int64; neighbor_asn : (n_neighbors,) int64
        Neighbours of ingress i are neighbor_asn[neighbor_ptr[i]:neighbor_ptr[i + 1]], ascending.
    n_direct, n_after_gap : (n,) int64; candidate : (n,) bool
        As in ``pipeline.model.topology.IngressTable``.
    confidence : (n,) float32
        Likewise; NaN where none is known, as in snapshots from before there was any.
    neighbor_ixp : (n_neighbors,) object
        Likewise; None in place of a name where nothing is known.
    neighbor_n_direct : (n_neighbors,) int64
        Likewise; -1 where it is not known, as in snapshots from before there was any.
    delays : Delays or None
        Likewise; None for a topology, and in snapshots from before there were any.
    """

    row: np.ndarray
    node: np.ndarray
    neighbor_ptr: np.ndarray
    neighbor_asn: np.ndarray
    n_direct: np.ndarray
    n_after_gap: np.ndarray
    candidate: np.ndarray
    confidence: np.ndarray
    neighbor_ixp: np.ndarray
    neighbor_n_direct: np.ndarray
    delays: Delays | None = None

    @classmethod
    def from_table(cls, table: pa.Table, asn: np.ndarray) -> Ingresses:
        """Make it from the ingresses file of a snapshot whose AS rows are ``asn``, ascending."""
        table = table.combine_chunks()
        neighbors = table.column("neighbor_asns").combine_chunks()
        confidence = np.full(table.num_rows, np.nan, np.float32)
        if "confidence" in table.column_names:
            confidence = table.column("confidence").fill_null(np.nan).to_numpy()
        neighbor_ptr = neighbors.offsets.to_numpy().astype(np.int64)
        neighbor_asn = neighbors.values.to_numpy().astype(np.int64)
        if not (_first_of_lists(neighbor_ptr) | (np.diff(neighbor_asn, prepend=0) > 0)).all():
            raise ValueError("its lists of neighbours do not ascend")
        names = _of_neighbors(table, "neighbor_ixps", neighbors)
        neighbor_ixp = np.full(len(neighbor_asn), None, object)
        if names is not None:
            neighbor_ixp = names.fill_null("").to_numpy(zero_copy_only=False)
        counts = _of_neighbors(table, "neighbor_n_direct", neighbors)
        neighbor_n_direct = np.full(len(neighbor_asn), -1, np.int64)
        if counts is not None:
            if counts.null_count:
                raise ValueError("its column neighbor_n_direct has nulls in lists")
            neighbor_n_direct = counts.to_numpy()
        return cls(
            row=rows_in(asn, table.column("asn")),
            node=table.column("node").to_numpy(),
            neighbor_ptr=neighbor_ptr,
            neighbor_asn=neighbor_asn,
            n_direct=table.column("n_direct").to_numpy(),
            n_after_gap=table.column("n_after_gap").to_numpy(),
            candidate=table.column("candidate").to_numpy(),
            confidence=confidence,
            neighbor_ixp=neighbor_ixp,
            neighbor_n_direct=neighbor_n_direct,
            delays=delays_of_table(table),
        )

    def __len__(self) -> int:
        return len(self.row)

    def of_rows(self, rows: np.ndarray) -> Ingresses:
        """The ingresses of some AS rows, ascending."""
        rows = np.asarray(rows, np.int64)
        first = np.searchsorted(self.row, rows, side="left")
        last = np.searchsorted(self.row, rows, side="right")
        picked = ragged_positions(first, last)
        neighbor_ptr, neighbor_asn = take_rows(self.neighbor_ptr, self.neighbor_asn, picked)
        _, neighbor_ixp = take_rows(self.neighbor_ptr, self.neighbor_ixp, picked)
        _, counts = take_rows(self.neighbor_ptr, self.neighbor_n_direct, picked)
        return Ingresses(
            row=self.row[picked],
            node=self.node[picked],
            neighbor_ptr=neighbor_ptr,
            neighbor_asn=neighbor_asn,
            n_direct=self.n_direct[picked],
            n_after_gap=self.n_after_gap[picked],
            candidate=self.candidate[picked],
            confidence=self.confidence[picked],
            neighbor_ixp=neighbor_ixp,
            neighbor_n_direct=counts,
            delays=None if self.delays is None else take(self.delays, picked),
        )


def _of_neighbors(table: pa.Table, name: str, neighbors: pa.Array) -> pa.Array | None:
    """Values of a column of lists, one for each neighbour; None where nothing is known of any."""
    if name not in table.column_names:
        return None
    lists = table.column(name).combine_chunks()
    if len(lists) and lists.null_count == len(lists):
        return None
    if lists.null_count or not lists.offsets.equals(neighbors.offsets):
        raise ValueError(f"its column {name} does not have one value for each of neighbor_asns")
    return lists.values


def _first_of_lists(ptr: np.ndarray) -> np.ndarray:
    """Whether each value of lists is the first of its own; (n_values,) bool."""
    is_first = np.zeros(ptr[-1] + 1, bool)
    is_first[ptr[:-1]] = True  # an empty list at the end marks the place behind them
    return is_first[:-1]


def exits_of_table(table: pa.Table, asn: np.ndarray) -> Exits:
    """The exits file of a snapshot whose AS rows are ``asn``, ascending."""
    return Exits(
        row=rows_in(asn, table["asn"]),
        node=table["node"].to_numpy(),
        neighbor_asn=table["neighbor_asn"].to_numpy().astype(np.int64),
        n_traces=table["n_traces"].to_numpy(),
    )


def rows_in(asn: np.ndarray, given: pa.ChunkedArray) -> np.ndarray:
    """(n,) int64 rows of AS numbers among ``asn``, ascending; ValueError if one is not there."""
    numbers = given.to_numpy().astype(np.int64)
    row = np.searchsorted(asn, numbers)
    known = row < len(asn)
    known[known] = asn[row[known]] == numbers[known]
    if not known.all():
        raise ValueError(f"it names AS{numbers[~known][0]}, which the snapshot does not have")
    return row


def ragged_positions(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """first[0] .. last[0]-1, first[1] .. last[1]-1, ... as one column of int64."""
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - before, lengths)
