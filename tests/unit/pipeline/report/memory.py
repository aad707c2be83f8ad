"""Snapshots in memory and searches by hand, for tests of reports: no store, no cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from kernels import CSRGraph, Shard
from pipeline.model.columns import empty
from pipeline.model.graphs import Exits
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.observations import Steps, Vantages
from pipeline.model.search.results import Measurement, SearchResults
from pipeline.store.tables import Ingresses, NodeTable
from tests.addresses import parse_addrs


class MemorySnapshot:
    """The part of ``pipeline.store.Snapshot`` that reports read, from adjacency lists.

    Parameters
    ----------
    ases : dict of int to list of (int, int)
        ASN -> links (local node ids).
    n_nodes : dict of int to int
    ingresses : list of (asn, node, neighbours, n_direct, n_after_gap, candidate[, exchange points])
        Sorted by asn, then node.
    weight : callable of (int, int) to float, optional
        Weight of the link between two nodes, in any AS.
    exits : list of (asn, node, next AS, n_traces), optional
        Sorted.
    borders : list of (near asn, far asn), optional
        Links between ASes, the smaller one first.
    """

    def __init__(
        self,
        ases: dict[int, list[tuple[int, int]]],
        n_nodes: dict[int, int],
        ingresses: list[tuple],
        *,
        names: dict[int, str] | None = None,
        organisations: dict[int, str] | None = None,
        addrs: dict[int, list[str]] | None = None,
        name: str = "2026-11-21",
        manifest: dict | None = None,
        rejects_path: Path | None = None,
        weight=None,
        exits: Sequence[tuple[int, int, int, int]] = (),
        borders: Sequence[tuple[int, ...]] = (),
    ):
        self.name = name
        self.version = f"{name}-0123456789ab"
        self.asn = np.array(sorted(ases), np.int64)
        self._graphs = [_csr(ases[asn], n_nodes[asn]) for asn in self.asn.tolist()]
        self._addrs = [
            None if addrs is None else parse_addrs(addrs[asn]) for asn in self.asn.tolist()
        ]
        self.n_nodes = np.array([g.n_nodes for g in self._graphs], np.int64)
        self.n_arcs = np.array([g.n_arcs for g in self._graphs], np.int64)
        self.n_edges = self.n_arcs // 2
        parts = [_components(g) for g in self._graphs]
        self.n_components = np.array([len(p) for p in parts], np.int64)
        self.largest_component = np.array([max(map(len, p), default=0) for p in parts], np.int64)
        self.n_unmapped = np.zeros(len(self.asn), np.int64)
        self.n_entered_unseen = np.zeros(len(self.asn), np.int64)
        self.n_mpls_links = np.zeros(len(self.asn), np.int64)
        self.n_may_hide_links = np.zeros(len(self.asn), np.int64)
        self.n_silent = np.zeros(len(self.asn), np.int64)
        self.as_name = [(names or {}).get(asn, "") for asn in self.asn.tolist()]
        self.as_organisation = [(organisations or {}).get(asn, "") for asn in self.asn.tolist()]
        self.graph_hash = [g.graph_hash() for g in self._graphs]
        self._ingresses = _ingress_table(self.asn, ingresses)
        self.rejects_path = rejects_path
        self.manifest = {"kind": "interface", "inputs": [], "options": {}, "counts": {}}
        self.manifest |= {"has_weights": weight is not None, "arc_columns": {}} | (manifest or {})
        self.weight_unit = self.manifest.get("weight_unit", "")
        self.path = Path("/nowhere/versions") / self.version
        self.weight = weight
        self.of_paths: Steps | None = None
        self.of_vantages: Vantages | None = None
        self.of_hosts: HostNames | None = None
        self.of_places: Locations | None = None
        self._exits, self.of_borders = exits, borders

    def ingresses(self, rows=None) -> Ingresses:
        return self._ingresses if rows is None else self._ingresses.of_rows(rows)

    def addresses(self) -> None:
        """No node has several."""

    def locations(self) -> Locations | None:
        return self.of_places

    def host_names(self) -> HostNames | None:
        """None is known, unless a test gives some."""
        return self.of_hosts

    def borders(self) -> pa.Table:
        """Links between ASes: near AS, far AS and, where traces show them, how many."""
        ends = dict(
            zip(
                ("near_asn", "far_asn", "n_traces"),
                zip(*self.of_borders, strict=True),
                strict=False,
            )
        )
        columns = ends or {"near_asn": (), "far_asn": ()}
        columns |= dict.fromkeys(("near", "far"), [0] * len(columns["near_asn"]))
        return pa.table({name: pa.array(values, pa.uint32()) for name, values in columns.items()})

    def link_columns(self, rows) -> dict[str, np.ndarray]:
        """Weights of the links of some ASes, if there are any."""
        if self.weight is None:
            return {}
        weights = [self.graph(row, weights=True).weights for row in rows]
        return {"weight": np.concatenate([np.empty(0, np.float32), *weights])}

    def reasons(self) -> None:
        """None are kept."""

    def exits(self, rows=None) -> Exits:
        asns = self.asn[... if rows is None else rows].tolist()
        kept = [one for one in self._exits if one[0] in asns]
        if not kept:
            return empty(Exits)
        asn, node, neighbor, n = (np.array(column, np.int64) for column in zip(*kept, strict=True))
        return Exits(np.searchsorted(self.asn, asn), node.astype(np.int32), neighbor, n)

    def steps(self) -> Steps | None:
        """No path of a trace is known, unless a test gives some."""
        return self.of_paths

    def vantages(self) -> Vantages | None:
        """Likewise."""
        return self.of_vantages

    def graph(self, row: int, weights: bool = False) -> CSRGraph:
        graph = self._graphs[row]
        if not weights or self.weight is None:
            return graph
        tail = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        values = [self.weight(a, b) for a, b in zip(tail, graph.indices, strict=True)]
        return CSRGraph(graph.indptr, graph.indices, np.array(values, np.float32))

    def shard(self, rows) -> Shard:
        graphs = [self._graphs[row] for row in rows]
        node_ptr = np.append(0, np.cumsum([g.n_nodes for g in graphs])).astype(np.int64)
        arc_ptr = np.append(0, np.cumsum([g.n_arcs for g in graphs])).astype(np.int64)
        indptr = [g.indptr[:-1] + a for g, a in zip(graphs, arc_ptr[:-1], strict=True)]
        indices = [g.indices + n for g, n in zip(graphs, node_ptr[:-1], strict=True)]
        return Shard(
            np.concatenate([*indptr, arc_ptr[-1:]]).astype(np.int64),
            np.concatenate([np.empty(0, np.int32), *indices]).astype(np.int32),
            node_ptr,
            trusted=True,
        )

    def nodes(self, row: int) -> NodeTable:
        every = np.arange(self.n_nodes[row])
        return self.lookup(np.full(len(every), row), every)

    def lookup(self, rows, nodes, columns=False) -> NodeTable:
        pairs = zip(np.asarray(rows).tolist(), np.asarray(nodes).tolist(), strict=True)
        if self._addrs and self._addrs[0] is not None:
            addr = [self._addrs[row][node] for row, node in pairs]
            return NodeTable(np.array(addr, np.uint64).reshape(-1, 2), None)
        # Ids as a file might give them: not the local ones.
        return NodeTable(None, np.array([1000 * (row + 1) + node for row, node in pairs], np.int64))


def _csr(links: list[tuple[int, int]], n_nodes: int) -> CSRGraph:
    arcs = sorted({(a, b) for a, b in links} | {(b, a) for a, b in links})
    degree = np.bincount([a for a, _ in arcs], minlength=n_nodes) if arcs else np.zeros(n_nodes)
    indptr = np.append(0, np.cumsum(degree)).astype(np.int64)
    return CSRGraph(indptr, np.array([b for _, b in arcs], np.int32))


def _levels(graph: CSRGraph, source: int) -> np.ndarray:
    """Plain queue: shares no code with the kernels."""
    level = np.full(graph.n_nodes, -1)
    level[source] = 0
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for far in graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist():
            if level[far] < 0:
                level[far] = level[node] + 1
                queue.append(far)
    return level


def _components(graph: CSRGraph) -> list[list[int]]:
    left, parts = set(range(graph.n_nodes)), []
    while left:
        part = set(np.flatnonzero(_levels(graph, min(left)) >= 0).tolist())
        parts.append(sorted(part))
        left -= part
    return parts


def _ingress_table(asn: np.ndarray, ingresses: list[tuple]) -> Ingresses:
    row = {number: i for i, number in enumerate(asn.tolist())}
    neighbors = [sorted(entry[2]) for entry in ingresses]
    return Ingresses(
        row=np.array([row[entry[0]] for entry in ingresses], np.int64),
        node=np.array([entry[1] for entry in ingresses], np.int32),
        neighbor_ptr=np.append(0, np.cumsum([len(n) for n in neighbors])).astype(np.int64),
        neighbor_asn=np.array([asn for n in neighbors for asn in n], np.int64),
        n_direct=np.array([entry[3] for entry in ingresses], np.int64),
        n_after_gap=np.array([entry[4] for entry in ingresses], np.int64),
        confidence=np.full(len(ingresses), np.nan, np.float32),
        candidate=np.array([entry[5] for entry in ingresses], bool),
        neighbor_ixp=np.array(
            [
                ixp
                for entry, n in zip(ingresses, neighbors, strict=True)
                for ixp in (entry[6] if len(entry) > 6 else [None] * len(n))
            ],
            object,
        ),
        neighbor_n_direct=np.concatenate(
            [np.empty(0, np.int64), *map(_shared_out, (entry[3] for entry in ingresses), neighbors)]
        ),
    )


def _shared_out(n_traces: int, neighbors: list[int]) -> np.ndarray:
    """Traces of each neighbour: the first ones have one more if they cannot have the same."""
    n = max(len(neighbors), 1)
    each = n_traces // n + (np.arange(n) < n_traces % n)
    return each[: len(neighbors)].astype(np.int64)


def measured(
    snapshot: MemorySnapshot, *, without: set[tuple[int, int]] = frozenset(), **changes
) -> Measurement:
    """Search from every ingress of a snapshot; ``without`` leaves (row, node) pairs out."""
    table = snapshot.ingresses()
    searches = [
        (row, node)
        for row, node, candidate in zip(
            table.row.tolist(), table.node.tolist(), table.candidate.tolist(), strict=True
        )
        if not candidate and (row, node) not in without
    ]
    hop_counts, farthest, eccentricity, n_reached = [], [], [], []
    for row, node in searches:
        level = _levels(snapshot._graphs[row], node)
        hop_counts.append(np.bincount(level[level >= 0]))
        eccentricity.append(level.max())
        n_reached.append((level >= 0).sum())
        farthest.append(np.flatnonzero(level == level.max())[:10])
    n_ases = len(snapshot.asn)

    def ptr(parts):
        return np.append(0, np.cumsum([len(part) for part in parts])).astype(np.int64)

    results = SearchResults(
        row=np.array([row for row, _ in searches], np.int64),
        source=np.array([node for _, node in searches], np.int32),
        n_reached=np.array(n_reached, np.int64),
        eccentricity=np.array(eccentricity, np.int32),
        hop_ptr=ptr(hop_counts),
        hop_counts=np.concatenate([np.empty(0, np.int64), *hop_counts]).astype(np.int64),
        farthest_ptr=ptr(farthest),
        farthest=np.concatenate([np.empty(0, np.int32), *farthest]).astype(np.int32),
    )
    columns = {
        "rows": np.arange(n_ases),
        "results": results,
        "failed": {},
        "n_tasks": np.ones(n_ases, np.int64),
        "n_retries": np.zeros(n_ases, np.int64),
        "wall_s": np.full(n_ases, np.nan),
        "device": ["cpu"] * n_ases,
        "tasks": {},
    }
    return Measurement(**(columns | changes))
