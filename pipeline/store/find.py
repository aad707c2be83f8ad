"""Nodes by address: every address of a node is found, a range of addresses too.

The table of addresses is sorted, so the few row groups that hold a range are found by halving.
Without that table each node has one address; nodes are sorted within their AS alone, so all are
read, one row group at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.model.addresses import sort_addrs
from pipeline.store.columns import naming
from pipeline.store.snapshot import Snapshot
from pipeline.store.tables import rows_in
from pipeline.store.traces import within
from pipeline.store.versions.names import ADDRESSES, broken, graph_file
from pipeline.store.versions.schemas import checked_table

Address = tuple[int, int]  # high and low word


@dataclass(frozen=True, eq=False)
class Found:
    """Addresses of nodes, sorted by address.

    Attributes
    ----------
    addr : (n, 2) uint64
    row : (n,) int64
        AS row of the snapshot.
    node : (n,) int64
        Local node id.
    confidence : (n,) float32
        Probability that the AS is right; NaN where none is known.
    """

    addr: np.ndarray
    row: np.ndarray
    node: np.ndarray
    confidence: np.ndarray

    def __len__(self) -> int:
        return len(self.row)


def find_addresses(snapshot: Snapshot, first: Address, last: Address) -> Found:
    """Nodes with an address from ``first`` to ``last``, both included.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered.
    """
    if ADDRESSES in snapshot.manifest["files"]:
        found = list(_in_table(snapshot, first, last))
    elif snapshot.manifest["has_addr"]:
        found = list(_in_nodes(snapshot, first, last))
    else:
        found = []
    if not found:
        none = np.empty(0, np.int64)
        return Found(np.empty((0, 2), np.uint64), none, none, np.empty(0, np.float32))
    columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
    addr, row, node, confidence = columns
    known = (row < snapshot.n_ases) & (node >= 0)
    if not (known.all() and (node < snapshot.n_nodes[row]).all()):
        raise broken(snapshot.path / ADDRESSES, "names a node that is not there")
    order = sort_addrs(addr)
    return Found(addr[order], row[order], node[order], confidence[order])


def addresses_of(snapshot: Snapshot, row: int, node: int) -> np.ndarray:
    """Every address of one node, ascending; (n, 2) uint64."""
    if ADDRESSES not in snapshot.manifest["files"]:
        addr = snapshot.lookup(np.array([row]), np.array([node])).addr
        return np.empty((0, 2), np.uint64) if addr is None else addr
    path = snapshot.file(ADDRESSES)
    parts = [np.empty((0, 2), np.uint64)]
    with naming(path), _open(path) as file:
        for group in range(file.num_row_groups):
            own = file.read_row_group(group, columns=["asn", "node"])
            is_own = (own["asn"].to_numpy() == snapshot.asn[row]) & (own["node"].to_numpy() == node)
            if is_own.any():
                parts.append(_addrs(_words(file, group, path))[is_own])
    return np.concatenate(parts)


def _in_table(snapshot: Snapshot, first: Address, last: Address) -> Iterator[tuple]:
    path = snapshot.file(ADDRESSES)
    with naming(path), _open(path) as file:
        names = [n for n in ("confidence",) if n in file.schema_arrow.names]
        low, high = 0, file.num_row_groups
        while low < high:  # the first group that ends at ``first`` or later
            middle = (low + high) // 2
            end = _addrs(_words(file, middle, path))[-1]
            low, high = (middle + 1, high) if tuple(end.tolist()) < first else (low, middle)
        before = (-1, -1)
        for group in range(low, file.num_row_groups):
            addrs = _addrs(_words(file, group, path))
            if tuple(addrs[0].tolist()) < before:
                raise ValueError("its row groups are not sorted by address")
            before = tuple(addrs[-1].tolist())
            if tuple(addrs[0].tolist()) > last:
                return
            at = np.flatnonzero(within(addrs, first, last))
            if not len(at):
                continue
            rest = checked_table(path, file.read_row_group(group, columns=["asn", "node", *names]))
            rest = rest.take(pa.array(at))
            confidence = np.full(len(at), np.nan, np.float32)
            if names:
                confidence = rest["confidence"].fill_null(np.nan).to_numpy()
            row = rows_in(snapshot.asn, rest["asn"])
            yield addrs[at], row, rest["node"].to_numpy().astype(np.int64), confidence


def _in_nodes(snapshot: Snapshot, first: Address, last: Address) -> Iterator[tuple]:
    file_of, start_of = snapshot.node_places
    for number in np.unique(file_of).tolist():
        path = snapshot.file(graph_file("nodes", number))
        own = np.flatnonzero((file_of == number) & (snapshot.n_nodes > 0))
        begin = 0
        with naming(path), _open(path) as file:
            for group in range(file.num_row_groups):
                addrs = _addrs(_words(file, group, path))
                at = np.flatnonzero(within(addrs, first, last) & addrs.any(axis=1))  # ::, none
                row = own[np.searchsorted(start_of[own], begin + at, side="right") - 1]
                node = begin + at - start_of[row]
                yield addrs[at], row, node, np.full(len(at), np.nan, np.float32)
                begin += len(addrs)


def _open(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path, page_checksum_verification=True)


def _words(file: pq.ParquetFile, group: int, path: Path) -> pa.Table:
    return checked_table(path, file.read_row_group(group, columns=["addr_high", "addr_low"]))


def _addrs(words: pa.Table) -> np.ndarray:
    return np.stack([words["addr_high"].to_numpy(), words["addr_low"].to_numpy()], axis=1)
