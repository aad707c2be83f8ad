"""Routers, links, their ASes and the ingresses, whichever input they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, empty
from pipeline.model.measured.delays import Delays
from pipeline.model.measured.kept_traces import KeptTraces
from pipeline.model.measured.mapped import MappedShare
from pipeline.model.measured.observations import Observations
from pipeline.model.measured.reasons import Reasons
from pipeline.model.measured.swallowed import SwallowedLinks

SILENT = "silent"  # column of nodes: routers that never answered, with no address
NO_ASN = -1  # in memory only; files hold null
# Columns of links between two ASes; they say nothing of links inside one.
SIBLINGS = "siblings"
AS_RELATION = "as_relation"  # what the smaller number is to the other: ``tables.relationships``
BETWEEN_ASES = frozenset({SIBLINGS, AS_RELATION})


@dataclass(frozen=True, eq=False)
class IngressTable:
    """Routers by which traffic enters their AS, one row per router, sorted by node.

    Attributes
    ----------
    node : (n_ingresses,) int64
        Node of the topology.
    neighbor_ptr : (n_ingresses + 1,) int64
        Neighbours of row i are neighbor_asn[neighbor_ptr[i]:neighbor_ptr[i + 1]].
    neighbor_asn : (n_neighbors,) int64
        ASes from which traffic comes, ascending within a row.
    n_direct, n_after_gap : (n_ingresses,) int64
        Traces that entered right after an answered hop of another AS; after unanswered or
        unmapped ones. Both 0 without traces (a topology file, a drawn ingress).
    candidate : (n_ingresses,) bool
        Seen after a gap only: written to the results, no source by default.
    confidence : (n_ingresses,) float32 or None
        Probability that AS and border are right. NaN or None where no election gave one.
    neighbor_ixp : (n_neighbors,) object or None
        Name of the exchange point by which most traces from that neighbour entered, ``""`` where
        none did; the prefix of a LAN without a name. None: not known.
    neighbor_n_direct : (n_neighbors,) int64 or None
        ``n_direct`` of each neighbour alone. None: not known.
    delays : Delays or None
        RTT that the AS adds behind each. None: no traces.
    """

    node: np.ndarray
    neighbor_ptr: np.ndarray
    neighbor_asn: np.ndarray
    n_direct: np.ndarray
    n_after_gap: np.ndarray
    candidate: np.ndarray
    confidence: np.ndarray | None = None
    neighbor_ixp: np.ndarray | None = None
    neighbor_n_direct: np.ndarray | None = None
    delays: Delays | None = None

    @classmethod
    def empty(cls) -> IngressTable:
        none = np.empty(0, np.int64)
        return cls(none, np.zeros(1, np.int64), none, none, none, np.empty(0, bool))

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, eq=False)
class ExitTable:
    """Routers by which traffic leaves their AS, one row per router and next AS, sorted by both.

    Attributes
    ----------
    node : (n,) int64
        Node of the topology: the last of its AS at the TTL right before ...
    neighbor_asn : (n,) int64
        ... an answered router of this AS.
    n_traces : (n,) int64
        How often; a trace that comes back may leave again.
    """

    node: Annotated[np.ndarray, Flat(np.int64)]
    neighbor_asn: Annotated[np.ndarray, Flat(np.int64)]
    n_traces: Annotated[np.ndarray, Flat(np.int64)]

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, eq=False)
class Topology:
    """Nodes and undirected links of one input, before they are cut into one graph per AS.

    Attributes
    ----------
    node_asn : (n_nodes,) int64
        AS of each node; ``NO_ASN`` where none is known.
    node_addr : (n_nodes, 2) uint64 or None
        The address that names the router (``model.addresses.naming_addrs``), zeros for none; nodes
        are sorted by their smallest, those without one last. None: the input has ids only.
    node_id : (n_nodes,) int64 or None
        The file's id; nodes are sorted by it. None: the input has addresses only.
    near, far : (n_links,) int64 or int32
        Node positions. A link may appear twice, or join a node to itself: ``build`` drops and
        counts these.
    weight : (n_links,) float32 or None
        In ``weight_unit``. NaN where this link has none.
    weight_unit : str
        ``"ms"`` (RTT), ``"length"`` (BRITE), ``""`` (none).
    node_columns, link_columns : dict of str to (n_nodes,) or (n_links,) arrays
        Other columns of the input; kept in the store as optional columns.
    ingresses : IngressTable
    exits : ExitTable
        Empty without traces.
    kind : str
        What a node is: ``"interface"``, ``"router"`` (after alias resolution, or from a
        router-level file), ``"as"`` (an AS-level file).
    counts : dict of str to int
        What inference saw and decided, for the report (links bridged, loops, ...).
    entered_unseen : dict of int to int
        asn -> traces that begin inside the AS: the border by which they came in is not shown.
    mapped : MappedShare or None
        How many of the addresses that answered have an AS by prefix. None: no traces.
    swallowed : SwallowedLinks or None
        Links inside given alias sets. None: no sets were given.
    addrs : (n_addrs, 2) uint64 or None
        Every address of a node, sorted. None: no traces.
    addr_node : (n_addrs,) int64 or None
        Node of each of ``addrs``.
    addr_confidence : (n_addrs,) float32 or None
        Probability that the AS of each of ``addrs`` is right; NaN in no AS. None: no election.
    observations : Observations or None
        Paths of each vantage point, by nodes of the topology. None: no traces.
    traces : KeptTraces or None
        By nodes of the topology. None: no traces.
    reasons : Reasons or None
        Why routers are in their ASes, and why addresses are one router. None: no election.
    """

    node_asn: np.ndarray
    near: np.ndarray
    far: np.ndarray
    node_addr: np.ndarray | None = None
    node_id: np.ndarray | None = None
    weight: np.ndarray | None = None
    weight_unit: str = ""
    node_columns: dict[str, np.ndarray] = field(default_factory=dict)
    link_columns: dict[str, np.ndarray] = field(default_factory=dict)
    ingresses: IngressTable = field(default_factory=IngressTable.empty)
    exits: ExitTable = field(default_factory=lambda: empty(ExitTable))
    kind: str = "router"
    counts: dict[str, int] = field(default_factory=dict)
    entered_unseen: dict[int, int] = field(default_factory=dict)
    mapped: MappedShare | None = None
    swallowed: SwallowedLinks | None = None
    addrs: np.ndarray | None = None
    addr_node: np.ndarray | None = None
    addr_confidence: np.ndarray | None = None
    observations: Observations | None = None
    traces: KeptTraces | None = None
    reasons: Reasons | None = None

    @property
    def n_nodes(self) -> int:
        return len(self.node_asn)

    @property
    def n_links(self) -> int:
        return len(self.near)
