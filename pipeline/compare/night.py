"""What comparing needs of one night, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.observations import FIRST, Observations

NO_CITY, FORBIDDEN = -1, -2


@dataclass(frozen=True, eq=False)
class Night:
    """The graphs of one snapshot, with nodes of all ASes end to end.

    Attributes
    ----------
    name : str
    asn : (n_ases,) int64
        Ascending.
    node_ptr : (n_ases + 1,) int64
        Nodes of AS row i are node_ptr[i]:node_ptr[i + 1].
    addr : (n_addrs, 2) uint64; addr_node : (n_addrs,) int64
        Addresses of all nodes. An input without addresses has its ids here, the high word its AS.
    low, high : (n_links,) int64
        Ends of each link, within an AS or between two; low < high, each once.
    ingress : (n_ingresses,) int64
        Nodes, without candidates.
    neighbor_ptr : (n_ingresses + 1,) int64; neighbor_asn : (n_neighbors,) int64
        Neighbours of each ingress.
    component : (n_nodes,) int64
        Connected component of each node within its AS: its smallest node.
    name_addr : (n_nodes, 2) uint64
        The address that names each node; ids as in ``addr``.
    observations : Observations or None
        None: no traces, or a snapshot from before they were kept.
    inputs : dict of str to str
        What inference was given besides traces (tables by their sha256, options), as texts.
    figures : dict of str to (n_ases,) float64
        Columns of the report of the night, NaN where unknown; none without a report.
    names : dict of int to str
        Names of ASes.
    unmapped : (n, 2) uint64 or None
        Addresses that answered and are in no AS, sorted; None if unknown.
    is_inferred : bool
        From traces, in whole or in part; otherwise from a topology file or a generator.
    neighbor_ixp : (n_neighbors,) object or None
        Exchange point by which most traces from that neighbour entered; empty or None for none.
    confidence : (n_nodes,) float64 or None
        Probability that its AS is right, of the surest address of each node.
    city : (n_nodes,) int64 or None
        Row of ``city_names``, ``NO_CITY`` where no file says it, ``FORBIDDEN`` where the speed of
        light forbids what it says. None: no files of places were given.
    city_names : list of str
        City and country; third-party text.
    """

    name: str
    asn: np.ndarray
    node_ptr: np.ndarray
    addr: np.ndarray
    addr_node: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ingress: np.ndarray
    neighbor_ptr: np.ndarray
    neighbor_asn: np.ndarray
    component: np.ndarray
    name_addr: np.ndarray
    observations: Observations | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    figures: dict[str, np.ndarray] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    unmapped: np.ndarray | None = None
    is_inferred: bool = True
    neighbor_ixp: np.ndarray | None = None
    confidence: np.ndarray | None = None
    city: np.ndarray | None = None
    city_names: list[str] = field(default_factory=list)

    def other_inputs(self, other: Night) -> list[str]:
        """Names of inputs that differ, sorted; of those that both have if one is not inferred."""
        own, others = self.inputs, other.inputs
        is_alike = self.is_inferred == other.is_inferred
        names = own.keys() | others.keys() if is_alike else own.keys() & others.keys()
        return sorted(name for name in names if own.get(name) != others.get(name))

    @property
    def n_nodes(self) -> int:
        return int(self.node_ptr[-1])

    def restrict(self, kept: np.ndarray) -> Night:
        """The same without some nodes and their links; what was connected by these still is.

        Parameters
        ----------
        kept : (n_nodes,) bool
            With all nodes that have an address, that are ingresses or on a path, and the first of
            each component.
        """
        if kept.all():
            return self
        before = offsets(kept)
        new_id = np.where(kept, before[:-1], -1)
        linked = kept[self.low] & kept[self.high]
        seen = self.observations
        if seen is not None:
            near = np.where(seen.steps.near == FIRST, FIRST, new_id[seen.steps.near])
            steps = replace(
                seen.steps,
                near=near.astype(seen.steps.near.dtype),
                far=new_id[seen.steps.far].astype(seen.steps.far.dtype),
            )
            seen = replace(seen, steps=steps)
        return replace(
            self,
            node_ptr=before[self.node_ptr],
            addr_node=new_id[self.addr_node],
            low=new_id[self.low[linked]],
            high=new_id[self.high[linked]],
            ingress=new_id[self.ingress],
            component=new_id[self.component[kept]],
            name_addr=self.name_addr[kept],
            confidence=None if self.confidence is None else self.confidence[kept],
            city=None if self.city is None else self.city[kept],
            observations=seen,
        )

    def asn_of(self, nodes: np.ndarray) -> np.ndarray:
        """AS of some nodes, (n,) int64."""
        return self._asn_of_node[nodes]

    @cached_property
    def _asn_of_node(self) -> np.ndarray:
        return np.repeat(self.asn, np.diff(self.node_ptr))
