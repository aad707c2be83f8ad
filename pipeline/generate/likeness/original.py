"""The topology that a likeness is made of: graphs of some ASes, their ingresses and borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.csr import Shard


@dataclass(frozen=True, eq=False)
class Original:
    """ASes of a snapshot, sorted by asn; node ids are those of the shard.

    Attributes
    ----------
    asn : (n_ases,) int64
    shard : Shard
        On the host, one graph per AS.
    weights : (n_arcs,) float32 or None
        NaN where a link has none.
    weight_unit : str
    ingress : (n_ingresses,) int64
        Nodes, ascending.
    border_near, border_far : (n_borders,) int64
        Ends of links between two of the ASes, each link once.
    border_weight : (n_borders,) float32 or None
        NaN where a link has none.
    kind : str
        What a node is, as in ``Topology``.
    """

    asn: np.ndarray
    shard: Shard
    weights: np.ndarray | None
    weight_unit: str
    ingress: np.ndarray
    border_near: np.ndarray
    border_far: np.ndarray
    border_weight: np.ndarray | None = None
    kind: str = "router"

    @property
    def n_nodes(self) -> int:
        return self.shard.n_nodes

    @property
    def n_ases(self) -> int:
        return len(self.asn)

    def sizes(self) -> np.ndarray:
        """(n_ases,) int64 routers of each AS."""
        return np.diff(self.shard.node_ptr)

    def rows_of(self, nodes: np.ndarray) -> np.ndarray:
        """AS row of each node."""
        return np.searchsorted(self.shard.node_ptr, nodes, side="right") - 1
