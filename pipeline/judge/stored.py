"""A snapshot as the topology that it was stored from, as far as that is judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.errors import UsageError
from pipeline.model.columns.ragged import offsets
from pipeline.model.topology import NO_ASN, IngressTable, Topology
from pipeline.store import Snapshot

HIDES = "may_hide"  # column of links


def topology_of(snapshot: Snapshot) -> Topology:
    """Nodes of all ASes end to end, then a node for each address that is in no AS.

    Returns
    -------
    Topology
        With ``node_addr``, ``addrs``, ``addr_node``, ``addr_confidence`` and ``ingresses``; of
        columns of links ``may_hide`` alone. Links of nodes in no AS are not stored.

    Raises
    ------
    UsageError
        If the snapshot has no addresses.
    StoreError
        If a file is missing, cut short or altered.
    """
    if not snapshot.manifest["has_addr"]:
        raise UsageError(
            f"snapshot {snapshot.name} has no addresses, only ids of its input: it cannot be "
            "judged; --snapshot names another one of the store"
        )
    first = offsets(snapshot.n_nodes)
    unmapped = snapshot.unmapped()
    unmapped = np.empty((0, 2), np.uint64) if unmapped is None else unmapped
    n_inside = int(first[-1])
    asn = np.repeat(snapshot.asn, snapshot.n_nodes)
    node_addr = np.concatenate([*(_node_addrs(snapshot, row) for row in range(snapshot.n_ases))])
    addrs, node, confidence = _addresses(snapshot, first, node_addr)
    near, far, hides = _links(snapshot, first)
    table = snapshot.ingresses()
    order = np.lexsort((np.arange(len(addrs)), addrs[:, 1], addrs[:, 0]))
    more = np.full(len(unmapped), np.nan, np.float32)
    return Topology(
        np.concatenate([asn, np.full(len(unmapped), NO_ASN)]),
        near,
        far,
        node_addr=np.concatenate([node_addr, unmapped]),
        addrs=np.concatenate([addrs[order], unmapped]),
        addr_node=np.concatenate([node[order], n_inside + np.arange(len(unmapped))]),
        addr_confidence=None if confidence is None else np.concatenate([confidence[order], more]),
        link_columns={} if hides is None else {HIDES: hides},
        ingresses=IngressTable(
            first[table.row] + table.node,
            table.neighbor_ptr,
            table.neighbor_asn,
            table.n_direct,
            table.n_after_gap,
            table.candidate,
            None if np.isnan(table.confidence).all() else table.confidence,
        ),
        kind=snapshot.kind,
    )


def _node_addrs(snapshot: Snapshot, row: int) -> np.ndarray:
    """(n_nodes, 2) uint64 of an AS; zeros where there is none."""
    found = snapshot.nodes(row).addr
    return np.zeros((snapshot.n_nodes[row], 2), np.uint64) if found is None else found


def _addresses(
    snapshot: Snapshot, first: np.ndarray, node_addr: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Every address of a node, its node, and the confidence of its AS where there is any."""
    table = snapshot.addresses()
    if table is None:
        node = np.flatnonzero(node_addr.any(axis=1))
        return node_addr[node], node, None
    addrs = np.column_stack([table[name].to_numpy() for name in ("addr_high", "addr_low")])
    row = np.searchsorted(snapshot.asn, table["asn"].to_numpy())
    confidence = None
    if "confidence" in table.column_names:
        column = table["confidence"].fill_null(np.nan).to_numpy().astype(np.float32)
        confidence = None if np.isnan(column).all() else column
    return addrs, first[row] + table["node"].to_numpy().astype(np.int64), confidence


def _links(
    snapshot: Snapshot, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Both ends of each link, within ASes and between them, and whether it may hide routers."""
    near, far, hides = [], [], []
    knows = HIDES in snapshot.manifest["arc_columns"]
    for row in np.flatnonzero(snapshot.n_arcs).tolist():
        graph = snapshot.graph(row)
        tail = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        once = tail < graph.indices
        near.append(first[row] + tail[once])
        far.append(first[row] + graph.indices[once].astype(np.int64))
        if knows:
            hides.append(snapshot.arc_columns(row)[HIDES][once].astype(bool))
    borders = snapshot.borders()
    ends = [_border_ends(snapshot, borders, end, first) for end in ("near", "far")]
    near.append(ends[0])
    far.append(ends[1])
    hides.append(np.zeros(borders.num_rows, bool))  # asked of links within an AS alone
    return np.concatenate(near), np.concatenate(far), np.concatenate(hides) if knows else None


def _border_ends(snapshot: Snapshot, borders: pa.Table, end: str, first: np.ndarray) -> Any:
    row = np.searchsorted(snapshot.asn, borders[f"{end}_asn"].to_numpy())
    return first[row] + borders[end].to_numpy().astype(np.int64)
