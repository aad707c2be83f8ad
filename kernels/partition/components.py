"""Connected components of a graph in parts, known to every rank.

Each rank links the nodes that its own arcs join; then all get the labels of all, and link what
these join. A label is a node of the same component by the graph's own numbers, the smallest one in
the end, as in ``kernels.connected``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32
from kernels.connected.cpu import flatten, root_of
from kernels.partition.exchange import Collective
from kernels.partition.split import Part
from kernels.types import NODE

AT_ONCE = 1 << 22  # nodes whose components are numbered at once


@dataclass(frozen=True, eq=False)
class PartComponents:
    """Components by number, 0, 1, ...

    Attributes
    ----------
    names : (n_components,) int32
        Smallest node of each by the graph's own numbers, ascending.
    size : (n_components,) int64
    own : (n_own,) int32
        Number of the component of each own node, padding left out; on the rank's device.
    """

    names: np.ndarray
    size: np.ndarray
    own: Any


def part_components(part: Part, collective: Collective) -> PartComponents:
    """Find the components of the whole graph; called by all ranks.

    Every rank holds 8 bytes per node of the graph for a moment, and 16 per component.
    """
    xp, link_rows, link_labels, flat = _on_device_of(part.indptr)
    whole, rank = part.split, part.rank
    order = xp.asarray(whole.order)
    label = xp.arange(whole.n_nodes, dtype=NODE)
    n_own = whole.n_own(rank)
    first = int(whole.first[rank])
    link_rows(part.indptr[: n_own + 1], part.indices, first, order, whole.block, label)
    flat(label)
    theirs, nothing = xp.empty_like(label), label[:0]
    for sender in range(whole.n_ranks):  # one after another: labels of one rank at a time
        is_own = rank == sender
        to = [label if is_own else nothing for _ in range(whole.n_ranks)]
        of = [theirs if r == sender else nothing for r in range(whole.n_ranks)]
        to[rank] = of[rank] = None
        collective.swap(to, of)
        if not is_own:
            link_labels(theirs, label)
    del theirs
    flat(label)
    names = _roots(xp, label)
    size = xp.zeros(len(names), np.int64)
    for some in _runs(whole.n_nodes, len(names)):
        size += xp.bincount(xp.searchsorted(names, label[some]), minlength=len(names))
    own = xp.empty(n_own, NODE)
    for some in _runs(n_own):
        numbers = xp.arange(first + some.start, first + some.stop)
        nodes = order[numbers // whole.block] * whole.block + numbers % whole.block
        own[some] = xp.searchsorted(names, label[nodes])
    if xp is not np:
        names, size = names.get(), size.get()
    return PartComponents(names, size, own)


def _roots(xp: Any, label: Any) -> Any:
    """Nodes that are their own label, ascending; int32."""
    found = []
    for some in _runs(len(label)):
        is_root = label[some] == xp.arange(some.start, some.stop, dtype=NODE)
        found.append((xp.flatnonzero(is_root) + some.start).astype(NODE))
    return xp.concatenate(found) if found else xp.empty(0, NODE)


def _runs(n: int, least: int = 0) -> list[slice]:
    """Slices of n in runs of AT_ONCE, or of ``least`` if that is more."""
    step = max(AT_ONCE, least)
    return [slice(at, min(n, at + step)) for at in range(0, n, step)]


def _on_device_of(array: Any) -> tuple[Any, Any, Any, Any]:
    """The array module, and the three passes over labels, of a device."""
    if isinstance(array, np.ndarray):
        return np, _link_rows, _link_labels, flatten
    import cupy

    from kernels.partition import gpu

    return cupy, gpu.link_rows, gpu.link_labels, gpu.flatten_labels


@njit(inline="always")
def _unite(label, u, v):
    a, b = root_of(label, u), root_of(label, v)
    label[max(a, b)] = min(a, b)


@njit([types.void(I64, I32, types.int64, I64, types.int64, OUT_I32)], cache=True, nogil=True)
def _link_rows(indptr, indices, first, order, block, label):
    for u in range(indptr.size - 1):
        number = first + u
        own = order[number // block] * block + number % block
        for arc in range(indptr[u], indptr[u + 1]):
            head = np.int64(indices[arc])
            _unite(label, own, order[head // block] * block + head % block)


@njit([types.void(I32, OUT_I32)], cache=True, nogil=True)
def _link_labels(others, label):
    for v in range(label.size):
        if others[v] != label[v]:
            _unite(label, np.int64(v), np.int64(others[v]))
