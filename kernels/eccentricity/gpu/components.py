"""Components of a shard on a GPU, each with its own run of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from kernels.connected.gpu import components
from kernels.csr import Shard
from kernels.eccentricity.gpu.bounds import reordered
from kernels.types import NODE


@dataclass(frozen=True, eq=False)
class Parts:
    """A shard whose graphs are the components of another one; all arrays on the device.

    There may be millions of them, nearly all single nodes: nothing here is copied to the host.

    Attributes
    ----------
    shard : Shard
        Every graph is connected and has a node.
    names, size : (n_components,) int32
        Smallest node of each component, ascending, in the ids of the other; nodes.
    order : (n_nodes,) int32 or None
        The other's node that is node i here; None: itself.
    """

    shard: Shard
    names: Any
    size: Any
    order: Any

    def named(self, nodes: Any) -> Any:
        """Nodes of ``shard``, or -1 for none, in the other's ids."""
        if self.order is None:
            return nodes
        return cp.where(nodes >= 0, self.order[cp.maximum(nodes, 0)], nodes)


def components_of(shard: Shard, level: Any = None) -> Parts:
    """Give every component of a shard its run of nodes.

    Parameters
    ----------
    level : (n_nodes,) int32 or None
        Levels of a search from some node, which gives its component; -1: unreached.

    Notes
    -----
    In most graphs one component has nearly all arcs and most others have none: only nodes in
    neither kind are labelled and sorted.
    """
    n_nodes = shard.n_nodes
    each = cp.arange(n_nodes, dtype=NODE)
    label, size, rank = each.copy(), cp.ones(n_nodes, NODE), cp.zeros(n_nodes, NODE)  # all alone
    is_other = cp.diff(shard.indptr) > 0
    if level is not None:
        reached = level >= 0
        is_other &= ~reached
        count = cp.cumsum(reached, dtype=NODE)
        first = cp.searchsorted(count, cp.ones(1, NODE)).astype(NODE)
        label, rank = cp.where(reached, first, label), cp.where(reached, count - 1, rank)
        size[reached] = 0
        size[first] = count[-1:]
    others = cp.flatnonzero(is_other).astype(NODE)
    if others.size:
        if level is None:
            own = components(shard.indptr, shard.indices)[others]
        else:
            part = reordered(shard, others)
            own = others[components(part.indptr, part.indices)]
            del part  # before the whole is copied
        label[others] = own
        # Unique keys: nodes stay ascending within their component.
        keys = cp.sort(own.astype(np.int64) << 32 | others)
        nodes, own = (keys & 0x7FFFFFFF).astype(NODE), (keys >> 32).astype(NODE)
        is_first = cp.ones(own.size, np.bool_)
        is_first[1:] = own[1:] != own[:-1]
        begins = cp.flatnonzero(is_first).astype(NODE)
        size[others] = 0
        size[own[begins]] = cp.diff(cp.append(begins, NODE.type(own.size)))
        places = cp.arange(own.size, dtype=NODE)
        rank[nodes] = places - begins[cp.cumsum(is_first, dtype=NODE) - 1]
    names, order = cp.flatnonzero(size).astype(NODE), None
    size_each = size[names]
    if names.size > 1:
        place = (cp.cumsum(size, dtype=NODE) - size)[label] + rank
        if not bool((place == each).all()):
            order = cp.empty(n_nodes, NODE)
            order[place] = each
            shard = reordered(shard, order)
    return parts_of(shard, names, size_each, order)


def parts_of(shard: Shard, names: Any, size: Any, order: Any) -> Parts:
    """Runs of ``size`` nodes of a shard as its parts."""
    node_ptr = cp.zeros(size.size + 1, np.int64)
    node_ptr[1:] = cp.cumsum(size, dtype=np.int64)
    cut = Shard(shard.indptr, shard.indices, node_ptr, trusted=True)
    return Parts(cut, names, size, order)
