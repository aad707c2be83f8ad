"""What a method says of addresses: their routers, the ASes of these, perhaps links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.infer import Observation, infer_topology
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.traces.passes import Spools
from pipeline.model.addresses import naming_addrs, positions_of, sort_addrs
from pipeline.model.columns.ragged import run_starts
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.topology import NO_ASN, Topology

_ANY_ASN = 1  # what prefixes would say; replaced


@dataclass(frozen=True, eq=False)
class Output:
    """What a method says, by address.

    Attributes
    ----------
    method : str
        What wrote it, in words.
    addrs : (n_addrs, 2) uint64, sorted, distinct
    router : (n_addrs,) int64
        From 0 on; an address that is not joined with others is alone on one.
    asn : (n_routers,) int64
        ``NO_ASN`` where it says none.
    near, far : (n_links,) int64 or None
        Routers. None: it says nothing of links.
    n_several : int
        Routers whose addresses were said to be in several ASes: that of most counts, of equally
        many the lowest.
    """

    method: str
    addrs: np.ndarray
    router: np.ndarray
    asn: np.ndarray
    near: np.ndarray | None = None
    far: np.ndarray | None = None
    n_several: int = 0

    @property
    def joins(self) -> bool:
        """Whether any addresses are said to be of one router."""
        return len(np.unique(self.router)) < len(self.addrs)

    @property
    def has_owners(self) -> bool:
        """Whether the AS of any router is said."""
        return bool((self.asn != NO_ASN).any())

    @classmethod
    def of_addresses(
        cls, method: str, addrs: np.ndarray, asn: np.ndarray, router: Sequence[str] | None = None
    ) -> Output:
        """Make it from a row for each address; of an address that comes again the first counts.

        Parameters
        ----------
        method : str
        addrs : (n, 2) uint64
        asn : (n,) int64
        router : sequence of str or None
            Name of the router of each; empty: alone.
        """
        order = sort_addrs(addrs)  # stable
        order = order[run_starts(addrs[order, 0], addrs[order, 1])] if len(order) else order
        addrs, asn = addrs[order], asn[order]
        number = np.arange(len(addrs))
        if router is not None:
            first: dict[str, int] = {}
            for i, at in enumerate(order.tolist()):
                if name := router[at]:
                    number[i] = first.setdefault(name, i)
        _, number = np.unique(number, return_inverse=True)
        of_router, n_several = _most(number, asn)
        return cls(method, addrs, number, of_router, n_several=n_several)


def _most(router: np.ndarray, asn: np.ndarray) -> tuple[np.ndarray, int]:
    """The AS of most addresses of each router, and of how many there are several."""
    n = int(router.max(initial=-1)) + 1
    known = asn != NO_ASN
    pairs, counts = np.unique(
        np.column_stack([router[known], asn[known]]), axis=0, return_counts=True
    )
    order = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
    pairs = pairs[order]
    first = run_starts(pairs[:, 0]) if len(pairs) else np.empty(0, np.int64)
    most = np.full(n, NO_ASN, np.int64)
    most[pairs[first, 0]] = pairs[first, 1]
    return most, int(np.count_nonzero(np.bincount(pairs[:, 0], minlength=n) > 1))


def topology_of_output(output: Output, observations: Sequence[Observation]) -> Topology:
    """The topology that an output stands for, with the same rules for all methods.

    Addresses of the traces that it does not name are nodes in no AS. Ingresses are where the traces
    enter the ASes that it names; without traces there are none. Links are its own, or those of the
    traces.
    """
    if observations:
        aliases = AliasTable(output.addrs, output.router) if output.joins else None
        plain = infer_topology(
            observations, asn=_ANY_ASN, aliases=aliases, borders="prefix", routers="interfaces"
        )
    else:
        none, no_addr = np.empty(0, np.int64), np.empty((0, 2), np.uint64)
        plain = Topology(none, none, none, node_addr=no_addr, addrs=no_addr, addr_node=none)
    assert plain.addrs is not None
    assert plain.addr_node is not None
    assert plain.node_addr is not None
    at = positions_of(output.addrs, plain.addrs)
    said = at >= 0
    router_of = np.full(plain.n_nodes, -1)
    router_of[plain.addr_node[said]] = output.router[at[said]]
    node_of = np.full(len(output.asn), -1)
    node_of[router_of[router_of >= 0]] = np.flatnonzero(router_of >= 0)
    unseen = np.flatnonzero(node_of < 0)
    node_of[unseen] = plain.n_nodes + np.arange(len(unseen))
    asn = np.where(router_of >= 0, np.append(output.asn, NO_ASN)[router_of], NO_ASN)
    asn = np.concatenate([asn, output.asn[unseen]])

    is_new = np.ones(len(output.addrs), bool)
    is_new[at[said]] = False
    addrs = np.concatenate([plain.addrs, output.addrs[is_new]])
    node = np.concatenate([plain.addr_node, node_of[output.router[is_new]]])
    order = np.lexsort((node, addrs[:, 1], addrs[:, 0]))
    names = np.zeros((len(asn), 2), np.uint64)
    names[: plain.n_nodes] = plain.node_addr
    named, first = naming_addrs(addrs, node)
    later = named >= plain.n_nodes
    names[named[later]] = addrs[first[later]]
    topology = replace(
        plain,
        node_asn=asn,
        node_addr=names,
        addrs=addrs[order],
        addr_node=node[order],
        addr_confidence=None,
        link_columns={},
        kind="router" if output.joins else "interface",
    )
    if output.near is not None and output.far is not None:
        topology = replace(topology, near=node_of[output.near], far=node_of[output.far])
    if not observations:
        return topology
    spools = Spools(observations, plain.addrs, 1)
    unknown = np.full(len(spools.vantages), NO_ASN)
    crossed = spools.read(find_ingresses(plain.addr_node, asn, unknown))
    return replace(topology, ingresses=crossed.ingresses)
