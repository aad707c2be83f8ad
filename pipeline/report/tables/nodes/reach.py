"""Which routers no ingress reaches: those of components without an ingress.

This follows from the graph, not from the searches, so a failed search hides nothing. An AS without
an ingress has all its routers unreached. Candidates are not sources and do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.connected import components
from pipeline.model.columns.ragged import offset_in_row, offsets
from pipeline.report.tables.node_names import N_NAMED

# Nodes and arcs read at once: some 100 MB of CSR and labels.
MAX_AT_ONCE = 8_000_000


@dataclass(frozen=True, eq=False)
class Unreached:
    """Routers that no ingress reaches, one row per AS.

    Attributes
    ----------
    count : (n_ases,) int64
    first_ptr : (n_ases + 1,) int64; first : int32
        Local ids of the first ``N_NAMED`` of them, ascending.
    """

    count: np.ndarray
    first_ptr: np.ndarray
    first: np.ndarray

    def part(self, begin: int, end: int) -> Unreached:
        """Those of ASes begin to end - 1."""
        ptr = self.first_ptr[begin : end + 1]
        return Unreached(self.count[begin:end], ptr - ptr[0], self.first[ptr[0] : ptr[-1]])


def find_unreached(
    snapshot, rows: np.ndarray, ingress_row: np.ndarray, ingress_node: np.ndarray
) -> Unreached:
    """Find the routers that no ingress reaches.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows, ascending.
    ingress_row, ingress_node : (n_ingresses,)
        Ingresses of these rows, candidates left out, sorted by row.

    Notes
    -----
    Reads only the graphs that have an ingress and more than one component.
    """
    n_nodes = np.asarray(snapshot.n_nodes)[rows].astype(np.int64)
    position = np.searchsorted(rows, ingress_row)
    has_ingress = np.bincount(position, minlength=len(rows)) > 0
    count = np.where(has_ingress, 0, n_nodes)
    named: list[tuple[int, np.ndarray]] = [
        (int(i), np.arange(min(n_nodes[i], N_NAMED))) for i in np.flatnonzero(~has_ingress)
    ]
    split = np.flatnonzero(has_ingress & (np.asarray(snapshot.n_components)[rows] > 1))
    for group in row_groups(split, n_nodes + np.asarray(snapshot.n_arcs)[rows]):
        shard = snapshot.shard(rows[group])
        node_ptr = np.asarray(shard.node_ptr)
        graph_of_node = np.repeat(np.arange(len(group)), np.diff(node_ptr))
        label = components(shard).component
        where = np.full(len(rows), -1)
        where[group] = np.arange(len(group))
        mine = where[position] >= 0
        sources = node_ptr[where[position[mine]]] + ingress_node[mine]
        reached = np.zeros(len(label), bool)
        reached[label[sources]] = True
        left = np.flatnonzero(~reached[label])
        in_graph = graph_of_node[left]
        n_left = np.bincount(in_graph, minlength=len(group))
        count[group] = n_left
        first = offset_in_row(offsets(n_left)) < N_NAMED
        left, in_graph = left[first], in_graph[first]
        local = left - node_ptr[in_graph]
        cuts = np.searchsorted(in_graph, np.arange(1, len(group)))
        named += zip(group.tolist(), np.split(local, cuts), strict=True)
    named.sort(key=lambda item: item[0])
    lengths = np.zeros(len(rows), np.int64)
    lengths[[i for i, _ in named]] = [len(nodes) for _, nodes in named]
    first_nodes = np.concatenate([np.empty(0, np.int64), *[nodes for _, nodes in named]])
    return Unreached(count, offsets(lengths), first_nodes.astype(np.int32))


def row_groups(which: np.ndarray, size: np.ndarray) -> list[np.ndarray]:
    """Cut ascending positions into runs of at most ``MAX_AT_ONCE`` in all (or of one)."""
    groups: list[np.ndarray] = []
    start, total = 0, 0
    for i, n in enumerate(size[which].tolist()):
        if i > start and total + n > MAX_AT_ONCE:
            groups.append(which[start:i])
            start, total = i, 0
        total += n
    if start < len(which):
        groups.append(which[start:])
    return groups
