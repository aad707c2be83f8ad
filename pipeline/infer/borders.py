"""Election: the AS of a router from all its links, not from one address."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.grouping import Groups
from pipeline.infer.links import DirectedLinks
from pipeline.model.topology import NO_ASN

_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Election:
    asn: np.ndarray
    n_moved: int
    n_neighbours: int


@njit(cache=True, nogil=True)
def _cost(label, edge_start, edge_end, other, numbered, labels):
    cost = 0
    for e in range(edge_start, edge_end):
        z = numbered[e]
        far = labels[other[e]] if other[e] >= 0 else -1
        if far < 0:
            if z >= 0 and z != label:
                cost += 2
        elif z < 0:
            if far != label:
                cost += 1
        elif far == label:
            if z != label:
                cost += 5
        elif z == label or z == far:
            cost += 2
        else:
            cost += 7
    return cost


@njit(cache=True, nogil=True)
def _elect(edge_ptr, other, numbered, labels, rounds):
    n_done = 0
    for r in range(rounds):
        changed = 0
        for g in range(len(edge_ptr) - 1):
            s, t = edge_ptr[g], edge_ptr[g + 1]
            if s == t:
                continue
            best, best_cost = labels[g], 1 << 60
            if best >= 0:
                best_cost = _cost(best, s, t, other, numbered, labels)
            for e in range(s, t):
                for which in range(2):
                    if which == 0:
                        c = numbered[e]
                    else:
                        c = labels[other[e]] if other[e] >= 0 else -1
                    if c < 0 or c == best:
                        continue
                    cost = _cost(c, s, t, other, numbered, labels)
                    if cost < best_cost:
                        best, best_cost = c, cost
            if best != labels[g]:
                labels[g] = best
                changed += 1
        n_done += 1
        if changed == 0:
            break
    return n_done


def elect(links, groups: Groups, mates, origin):
    n = len(origin)
    ases, z = np.unique(origin, return_inverse=True)
    z = z.astype(np.int64)
    if len(ases) and ases[0] == NO_ASN:
        z -= 1
        ases = ases[1:]
    far = groups.group
    near = np.where(groups.near_side >= 0, groups.group[np.maximum(groups.near_side, 0)], -1)
    # a link seen from both ends is one
    keep = np.ones(n, bool)
    m = mates
    both = (m >= 0) & (m < np.arange(n))
    mm = np.maximum(m, 0)
    dup = both & (near == far[mm]) & (near[mm] == far)
    keep &= ~dup
    self_loop = near == far
    near = np.where(self_loop, -1, near)
    b = np.flatnonzero(keep)
    e_src = np.concatenate([far[b], near[b][near[b] >= 0]])
    e_dst = np.concatenate([near[b], far[b][near[b] >= 0]])
    e_z = np.concatenate([z[b], z[b][near[b] >= 0]])
    order = np.lexsort((e_z, e_dst, e_src))
    e_src, e_dst, e_z = e_src[order], e_dst[order], e_z[order]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(e_src, minlength=n))]).astype(np.int64)
    # majority
    mapped = e_z >= 0
    key, cnt = np.unique((e_src[mapped] << 32) | e_z[mapped], return_counts=True)
    g, a = key >> 32, key & 0xFFFFFFFF
    o = np.lexsort((a, -cnt, g))
    g, a = g[o], a[o]
    first = np.ones(len(g), bool)
    first[1:] = g[1:] != g[:-1]
    labels = np.full(n, -1, np.int64)
    labels[g[first]] = a[first]
    maj = labels.copy()
    _elect(ptr, e_dst, e_z, labels, _ROUNDS)
    lab = labels[groups.group]
    asn = np.where((lab >= 0) & (z >= 0), ases[np.maximum(lab, 0)] if len(ases) else NO_ASN, NO_ASN)
    return asn, dict(labels=labels, maj=maj, ases=ases, edges=(ptr, e_dst, e_z))
