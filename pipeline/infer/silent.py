"""Silent routers: hops that never answer, between two routers of one AS.

Where traces show two routers of an AS with one or two unanswered TTLs between them, routers lie
there that do not answer. If no answering routers of the AS lead from one to the other in as many
hops, nothing else stands for those, and every path across them would be missing or too long. So
they become nodes without an address: one, or a chain of two. In the literature they are anonymous
routers [1]_, [2]_, and places that may be one router are merged. Here only those are that lie right
before one address, since a link has one other end; one router that lies between many others is
counted once for each pair of these, since a wrong merge makes paths that are too short.

References
----------
.. [1] B. Yao, R. Viswanathan, F. Chang, D. Waddington, "Topology inference in the presence of
   anonymous routers", IEEE INFOCOM 2003.
.. [2] M. Gunes, K. Sarac, "Resolving anonymous routers in Internet topology measurement studies",
   IEEE INFOCOM 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.rtt import FLOOR_MS
from pipeline.infer.rule import Rule
from pipeline.infer.traces.links import DirectedLinks, NodeLinks
from pipeline.model.columns.keys import pair_keys, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.forest import unite
from pipeline.model.topology import NO_ASN

SILENT_ROUTERS = Rule(
    "silent-routers",
    "gaps",
    "unanswered hops between two routers of an AS are silent routers",
    "gaps of one or two hops",
    source="anonymous routers (Yao et al., INFOCOM 2003)",
)


@dataclass(frozen=True, eq=False)
class SilentRouters:
    """Gaps in which silent routers lie, sorted by (near, far); near < far.

    Attributes
    ----------
    near, far : (n_gaps,) int64
        Nodes at both ends.
    n_routers : (n_gaps,) int64
        1 or 2.
    n_traces : (n_gaps,) int64
        Traces that crossed the gap, in both directions.
    same : (n_gaps,) int64
        First gap with the same silent router; of those with two, the gap itself.
    """

    near: np.ndarray
    far: np.ndarray
    n_routers: np.ndarray
    n_traces: np.ndarray
    same: np.ndarray

    @classmethod
    def none(cls) -> SilentRouters:
        """No gaps."""
        return cls(*(np.empty(0, np.int64) for _ in range(5)))

    @property
    def length(self) -> np.ndarray:
        """(n_gaps,) int64: hops from one end to the other."""
        return self.n_routers + 1

    def __len__(self) -> int:
        return len(self.near)

    def after(self, links: NodeLinks) -> NodeLinks:
        """Links, and after them the gaps as links across them."""
        return _extend(links, self.near, self.far, self.n_traces)

    def draw(
        self, links: NodeLinks, weight: np.ndarray, n_nodes: int
    ) -> tuple[NodeLinks, np.ndarray, np.ndarray]:
        """Links with those of silent routers after them.

        Parameters
        ----------
        links : NodeLinks
        weight : (n_links + n_gaps,) float32
            Of ``after(links)``. Routers in a gap are taken to be evenly spaced, and ``FLOOR_MS``
            apart at least.
        n_nodes : int
            Silent routers are the nodes from here on.

        Returns
        -------
        links : NodeLinks
        weight : (n_links,) float32
        gap : (n_silent,) int64
            Gap of each silent router.
        """
        gap = np.repeat(np.arange(len(self)), self.n_routers)
        is_own = self.same[gap] == gap  # else its router is that of an earlier gap
        first = np.r_[True, gap[1:] != gap[:-1]] if len(gap) else np.zeros(0, bool)
        last = np.r_[first[1:], True] if len(gap) else first
        node = n_nodes + np.cumsum(is_own) - 1
        node = node[np.searchsorted(gap, self.same[gap])] + ~first
        before = np.where(first, self.near[gap], node - 1)
        near = np.concatenate([before, self.far[gap[last]]])
        far = np.concatenate([node, node[last]])
        of_gap = np.concatenate([gap, gap[last]])
        drawn = _extend(links, near, far, self.n_traces[of_gap])
        own, across = np.split(weight, [len(links.near)])
        part = across[of_gap] / self.length[of_gap].astype(np.float32)
        part = np.maximum(part, np.float32(FLOOR_MS))
        return drawn, np.concatenate([own, part]), gap[is_own]


def _extend(links: NodeLinks, near: np.ndarray, far: np.ndarray, n_traces: np.ndarray) -> NodeLinks:
    """Links, and after them others that lie across unanswered hops."""
    marks = np.ones(len(near), bool)
    via_ixp, may_hide = (
        None if column is None else np.concatenate([column, ~marks])
        for column in (links.via_ixp, links.may_hide)
    )
    return NodeLinks(
        np.concatenate([links.near, near]),
        np.concatenate([links.far, far]),
        np.concatenate([links.n_traces, n_traces]),
        np.concatenate([links.bridged, marks]),
        np.concatenate([links.labelled, ~marks]),
        links.n_within_node,
        via_ixp,
        may_hide,
    )


def find_silent(
    links: DirectedLinks, node_of: np.ndarray, node_asn: np.ndarray, node_links: NodeLinks
) -> SilentRouters:
    """Find the gaps that no answering routers stand for.

    Parameters
    ----------
    links : DirectedLinks
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
    node_links : NodeLinks
        Links that traces show.
    """
    one, other = node_of[links.near], node_of[links.far]
    used = (links.n_past_one + links.n_past_two > 0) & (one != other)
    used &= (node_asn[one] == node_asn[other]) & (node_asn[one] != NO_ASN)
    key, row = np.unique(pair_keys(one[used], other[used]), return_inverse=True)
    n_one = np.bincount(row, links.n_past_one[used], len(key)).astype(np.int64)
    n_two = np.bincount(row, links.n_past_two[used], len(key)).astype(np.int64)
    inside = node_asn[node_links.near] == node_asn[node_links.far]
    near, far = node_links.near[inside], node_links.far[inside]
    n = len(node_asn)
    by_one = np.flatnonzero(n_one > 0)
    by_one = by_one[~_are_near(*_neighbors(near, far, n), *split_key(key[by_one]), 2)]
    # What lies in gaps of one hop may lead across one of two.
    one, other = split_key(key[by_one])
    silent = n + np.arange(len(one))
    near, far = np.concatenate([near, one, other]), np.concatenate([far, silent, silent])
    by_two = np.flatnonzero(n_one == 0)
    graph = _neighbors(near, far, n + len(one))
    by_two = by_two[~_are_near(*graph, *split_key(key[by_two]), 3)]
    kept = np.sort(np.concatenate([by_one, by_two]))
    near, far = split_key(key[kept])
    single = n_one[kept] > 0
    # What packets came from to one address is one router, silent or not.
    at = np.full(len(key), -1)
    at[kept] = np.arange(len(kept))
    gap, address = at[row], links.far[used]
    crossed = (links.n_past_one[used] > 0) & (gap >= 0)
    gap, address = gap[crossed], address[crossed]
    order = np.lexsort((gap, address))
    before_one = address[order[1:]] == address[order[:-1]]
    same = np.arange(len(kept))
    unite(same, gap[order[:-1]][before_one], gap[order[1:]][before_one])
    return SilentRouters(
        near, far, np.where(single, 1, 2), np.where(single, n_one[kept], n_two[kept]), same
    )


def _neighbors(near: np.ndarray, far: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ascending neighbors of each node, as (ptr, heads)."""
    tail, head = np.concatenate([near, far]), np.concatenate([far, near])
    return offsets(np.bincount(tail, minlength=n)), head[np.lexsort((head, tail))]


@njit(cache=True, nogil=True)
def _has(ptr, head, u, v):
    """Whether ``v`` is in the ascending list of ``u``."""
    own = head[ptr[u] : ptr[u + 1]]
    at = np.searchsorted(own, v)
    return at < len(own) and own[at] == v


@njit(cache=True, nogil=True)
def _meet(ptr, head, u, v):
    """Whether two nodes are neighbors, or have one in common: hubs are searched, not walked."""
    if ptr[u + 1] - ptr[u] > ptr[v + 1] - ptr[v]:
        u, v = v, u
    found = False
    for at in range(ptr[u], ptr[u + 1]):
        found = head[at] == v or _has(ptr, head, v, head[at])
        if found:
            break
    return found


def _are_near(
    ptr: np.ndarray, head: np.ndarray, one: np.ndarray, other: np.ndarray, most: int
) -> np.ndarray:
    """(n_pairs,) bool: which nodes are at most ``most`` links apart, 2 or 3."""
    degree = np.diff(ptr)
    swap = degree[one] > degree[other]
    leaf, hub = np.where(swap, other, one), np.where(swap, one, other)
    return _reach(ptr, head, leaf, hub, np.argsort(hub, kind="stable"), most)


@njit(cache=True, nogil=True)
def _reach(ptr, head, leaf, hub, order, most):
    """As ``_are_near``; ``order`` has pairs of one hub together: what is near it is asked once."""
    asked = np.full(len(ptr) - 1, -1, np.int64)
    is_near = np.zeros(len(ptr) - 1, np.bool_)
    result = np.zeros(len(leaf), np.bool_)
    for i in order:
        u, v = leaf[i], hub[i]
        result[i] = _meet(ptr, head, u, v)
        if result[i] or most < 3:
            continue
        for at in range(ptr[u], ptr[u + 1]):
            w = head[at]
            if asked[w] != v:
                asked[w], is_near[w] = v, _meet(ptr, head, w, v)
            if is_near[w]:
                result[i] = True
                break
    return result
