"""The graphs of many ASes side by side, as flat columns: what the store writes and reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, empty
from pipeline.model.columns.gathered import Gathered
from pipeline.model.measured.delays import Delays
from pipeline.model.measured.kept_traces import KeptTraces
from pipeline.model.measured.observations import Observations
from pipeline.model.measured.reasons import Reasons

NO_ID = -1  # node_id of a node whose input gives none; files hold null


@dataclass(frozen=True, eq=False)
class Exits:
    """Exits of many ASes, one row per node and next AS, sorted by (row, node, next AS).

    Attributes
    ----------
    row : (n,) int64
        AS row.
    node : (n,) int32
        Local node id.
    neighbor_asn, n_traces : (n,) int64
        As in ``pipeline.model.topology.ExitTable``.
    """

    row: Annotated[np.ndarray, Flat(np.int64)]
    node: Annotated[np.ndarray, Flat(np.int32)]
    neighbor_asn: Annotated[np.ndarray, Flat(np.int64)]
    n_traces: Annotated[np.ndarray, Flat(np.int64)]

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, eq=False)
class GraphSet:
    """One CSR per AS, laid end to end, sorted by asn. Node ids are local to their AS: 0..n-1.

    Attributes
    ----------
    asn : (n_ases,) int64
    node_ptr : (n_ases + 1,) int64
        Nodes of AS row i are node_ptr[i]:node_ptr[i + 1].
    arc_ptr : (n_ases + 1,) int64
        Arcs of AS row i are arc_ptr[i]:arc_ptr[i + 1].
    degree : (n_nodes,) int32
        Arcs out of each node; the cumulative sum within an AS is its ``indptr``.
    indices : (n_arcs,) int32
        Local node ids, ascending within a node; each link twice, no loops, no duplicates.
    weights : (n_arcs,) float32 or None
    graph_hash : list of n_ases str
        sha256 hex of the structure of each graph (``CSRGraph.graph_hash``); equal for equal CSR.
    node_addr : (n_nodes, 2) uint64 or None; node_id : (n_nodes,) int64 or None
        To translate back, as in Topology. ``::`` and ``NO_ID`` where an input gives none.
    addrs : (n_addrs, 2) uint64 or None
        Every address of every node, sorted. None: no node has two, and no confidence is known.
    addr_asn : (n_addrs,) int64 or None; addr_node : (n_addrs,) int32 or None
        AS and local node id of each.
    addr_confidence : (n_addrs,) float32 or None
        As in Topology.
    node_columns, arc_columns : optional columns, one row per node or arc
    component_count, largest_component : (n_ases,) int64
        Connected components of each AS and the nodes of its largest.
    ingress_ptr : (n_ases + 1,) int64
        Ingress rows of AS row i are ingress_ptr[i]:ingress_ptr[i + 1]; sorted by local node.
    ingress_node : (n_ingresses,) int32
        Local node ids.
    neighbor_ptr, neighbor_asn, n_direct, n_after_gap, candidate, confidence : as in IngressTable.
    neighbor_ixp : (n_neighbors,) object or None; neighbor_n_direct : int64 or None
        Likewise.
    delays : Delays or None
        Likewise.
    exits : Exits
        Empty without traces.
    border_near_asn, border_far_asn : (n_borders,) int64; border_near, border_far : int32
        Links between two ASes, each once, by local node ids, near_asn < far_asn; with their
        columns in ``border_columns``.
    weight_unit, kind : str, as in Topology.
    n_unmapped : int
        Nodes with no AS: in no graph.
    unmapped : (n, 2) uint64 or None
        Their addresses, distinct, sorted. None: the input has no addresses or no traces.
    adjacent_unmapped : (n_ases,) int64 or None
        Nodes with no AS that have a link to each AS.
    entered_unseen : (n_ases,) int64 or None
        Traces that begin inside each AS. None: no traces.
    observations : Observations or None
        Paths of each vantage point, by nodes of all ASes end to end: ``node_ptr`` cuts them.
    traces : KeptTraces or None
        Likewise.
    reasons : Reasons or None
        As in Topology.
    counts : dict of str to int
        Loops and duplicates dropped, and what inference counted.
    """

    asn: np.ndarray
    node_ptr: np.ndarray
    arc_ptr: np.ndarray
    degree: np.ndarray
    indices: np.ndarray
    graph_hash: list[str]
    component_count: np.ndarray
    largest_component: np.ndarray
    ingress_ptr: np.ndarray
    ingress_node: np.ndarray
    neighbor_ptr: np.ndarray
    neighbor_asn: np.ndarray
    n_direct: np.ndarray
    n_after_gap: np.ndarray
    candidate: np.ndarray
    border_near_asn: np.ndarray
    border_near: np.ndarray
    border_far_asn: np.ndarray
    border_far: np.ndarray
    confidence: np.ndarray | None = None
    neighbor_ixp: np.ndarray | None = None
    neighbor_n_direct: np.ndarray | None = None
    delays: Delays | None = None
    exits: Exits = field(default_factory=lambda: empty(Exits))
    weights: np.ndarray | None = None
    node_addr: np.ndarray | None = None
    node_id: np.ndarray | None = None
    addrs: np.ndarray | None = None
    addr_asn: np.ndarray | None = None
    addr_node: np.ndarray | None = None
    addr_confidence: np.ndarray | None = None
    node_columns: dict[str, np.ndarray | Gathered] = field(default_factory=dict)
    arc_columns: dict[str, np.ndarray | Gathered] = field(default_factory=dict)
    border_columns: dict[str, np.ndarray] = field(default_factory=dict)
    weight_unit: str = ""
    kind: str = "router"
    n_unmapped: int = 0
    unmapped: np.ndarray | None = None
    adjacent_unmapped: np.ndarray | None = None
    entered_unseen: np.ndarray | None = None
    observations: Observations | None = None
    traces: KeptTraces | None = None
    reasons: Reasons | None = None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def n_ases(self) -> int:
        return len(self.asn)
