"""Every address of the ASes of a report: its AS, and whether its node is an ingress."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pipeline.model.addresses import sort_addrs
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.columns.ragged import offsets, row_of_value


@dataclass(frozen=True, eq=False)
class AddressList:
    """One row per address, sorted by address.

    Attributes
    ----------
    addr : (n, 2) uint64
        As in ``pipeline.model.addresses``.
    asn : (n,) int64
    ingress : (n,) bool
        Its node is an ingress of the AS, and no candidate.
    node : (n,) int64
        Local node id.
    confidence : (n,) float32
        Probability that the AS is right; NaN where none is known.
    """

    addr: np.ndarray
    asn: np.ndarray
    ingress: np.ndarray
    node: np.ndarray
    confidence: np.ndarray

    def __len__(self) -> int:
        return len(self.asn)

    @cached_property
    def router(self) -> np.ndarray:
        """(n,) int64: its router, counted by AS and node among those that have an address."""
        place = np.unique(self.asn, return_inverse=True)[1]
        return np.unique(ordered_keys(place, self.node), return_inverse=True)[1]


def address_table(snapshot, rows: np.ndarray) -> AddressList:
    """Addresses of some ASes of a snapshot.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows, ascending.

    Returns
    -------
    AddressList
        All addresses of each node, also those merged into a router; none of nodes without any.
    """
    rows = np.asarray(rows, np.int64)
    stored = snapshot.addresses()
    if stored is None:
        n_nodes = np.asarray(snapshot.n_nodes)[rows]
        ptr = offsets(n_nodes)
        of = row_of_value(ptr)
        row, node = rows[of], np.arange(ptr[-1]) - ptr[:-1][of]
        found = snapshot.lookup(row, node).addr
        addr = np.zeros((len(row), 2), np.uint64) if found is None else found
        confidence = np.full(len(row), np.nan, np.float32)
    else:
        asn = stored["asn"].to_numpy().astype(np.int64)
        every = np.asarray(snapshot.asn)
        row = np.minimum(np.searchsorted(every, asn), len(every) - 1)
        kept = (every[row] == asn) & np.isin(row, rows)
        row, node = row[kept], stored["node"].to_numpy()[kept].astype(np.int64)
        halves = [stored[name].to_numpy()[kept] for name in ("addr_high", "addr_low")]
        addr = np.stack(halves, axis=1).astype(np.uint64)
        confidence = np.full(len(row), np.nan, np.float32)
        if "confidence" in stored.column_names:  # not in snapshots from before there was any
            confidence = stored["confidence"].fill_null(np.nan).to_numpy()[kept]
    known = addr.any(axis=1)
    row, node, addr, confidence = row[known], node[known], addr[known], confidence[known]
    order = sort_addrs(addr)
    row, node, addr, confidence = row[order], node[order], addr[order], confidence[order]
    entered = snapshot.ingresses(rows)
    real = ~np.asarray(entered.candidate, bool)
    is_ingress = np.isin(ordered_keys(row, node), ordered_keys(entered.row, entered.node)[real])
    return AddressList(addr, np.asarray(snapshot.asn)[row], is_ingress, node, confidence)
