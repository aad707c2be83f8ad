"""Single common successors of which one observer saw two predecessors, with owners known.

A router that responds with its outgoing interface (``merge``: odd) shows one observer the same
address whichever way packets came in. So if one observer saw two predecessors of an address, they
may be several routers. Or they are interfaces of one router, at which paths from different
directions merge. With owners known, the second is believed if all predecessors are in one AS, and
there is

1. **a border**: the router of the successor is in another AS than its predecessors, and its link
   has addresses of theirs, or nothing else follows any of them. Two ASes rarely meet twice at one
   router; inside an AS many routers precede another;
2. **two ways in**: one observer saw another address of the successor's router too. To each observer
   an odd router shows only one.

Two predecessors that the same router precedes were entered from one place by two links: they are
mostly two routers, and nothing is joined.

That ASes meet at few points, most of them seen by one link, is what bdrmap [1]_ uses for the
routers of a neighbour. It is not enough that one of the predecessors is the subnet mate: in a
ground-truth network whose destinations were routers, this joined several.

References
----------
.. [1] M. Luckie et al., "bdrmap: Inference of borders between IP networks", IMC 2016.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.routers.observers import Observers
from pipeline.infer.rule import Rule
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, split_key
from pipeline.model.columns.ragged import (
    offsets,
    positions_of_rows,
    row_of_value,
    run_starts,
)
from pipeline.model.random_words import GOLDEN, mix_words
from pipeline.model.topology import NO_ASN

BORDERS_CROSSED = Rule(
    "borders-crossed",
    "routers",
    "all predecessors of an address are one router if it is behind a border, or entered two ways",
    "predecessors, observers, owners",
    source="bdrmap (Luckie et al., IMC 2016)",
)


def cross_borders(
    observers: Observers,
    links: DirectedLinks,
    root: np.ndarray,
    group: np.ndarray,
    owner: np.ndarray,
    origin: np.ndarray,
    asked: np.ndarray,
    side_ptr: np.ndarray,
    sides: np.ndarray,
) -> np.ndarray:
    """Which addresses are credible although one observer saw two of their sides.

    Parameters
    ----------
    observers : Observers
    links : DirectedLinks
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    group : (n_interfaces,) int64
        As from ``group_interfaces``.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    origin : (n_interfaces,) int64
        AS that each address is numbered from.
    asked : (n_asked,) int64
        Addresses of routers that are not odd, with two sides at least.
    side_ptr : (n_interfaces + 1,) int64
    sides : (n_sides,) int64

    Returns
    -------
    (n_asked,) bool
    """
    ptr, at = positions_of_rows(side_ptr, asked)
    row, side = row_of_value(ptr), sides[at]
    inside = owner[side[ptr[:-1]]]
    one_as = np.bincount(row, owner[side] != inside[row], len(asked)) == 0
    one_as &= inside != NO_ASN
    on_the_way = links.n_router > 0
    near, far = links.near[on_the_way], links.far[on_the_way]
    one_as &= ~_entered_twice(root, near, far, ptr, side)
    is_border = owner[asked] != inside
    is_border &= (origin[asked] == inside) | _ends_alike(near, group[far], row, side, len(asked))
    routers, which = np.unique(root[asked], return_inverse=True)
    members = np.argsort(root, kind="stable")
    all_ptr = offsets(np.bincount(root, minlength=len(root)))
    own_ptr, own = positions_of_rows(all_ptr, routers)
    two_ways = observers.see_two(own_ptr, members[own], np.arange(len(own)))
    return one_as & (is_border | two_ways[which])


def _entered_twice(
    root: np.ndarray, near: np.ndarray, far: np.ndarray, ptr: np.ndarray, side: np.ndarray
) -> np.ndarray:
    """(n_rows,) bool: rows with two sides, not of one router so far, that one router precedes."""
    behind, before = split_key(distinct_keys((far << 32) | root[near]))
    before_ptr = offsets(np.bincount(behind, minlength=len(root)))
    result = np.zeros(len(ptr) - 1, bool)
    _preceded_twice(ptr, side, root, before_ptr, before, result)
    return result


@njit(cache=True, nogil=True)
def _preceded_twice(ptr, sides, root, before_ptr, before, result):
    """Mark rows of which one router, as in ``before`` of each address, precedes two routers.

    The predecessors of the side that has most are only searched: many rows may have such a side.
    """
    seen_for = np.full(len(root), -1, np.int64)  # by predecessor: the row, and a router behind it
    seen_as = np.empty(len(root), np.int64)
    for row in range(len(ptr) - 1):
        most = ptr[row]
        for at in range(ptr[row], ptr[row + 1]):
            side = sides[at]
            largest = sides[most]
            if before_ptr[side + 1] - before_ptr[side] > (
                before_ptr[largest + 1] - before_ptr[largest]
            ):
                most = at
        for at in range(ptr[row], ptr[row + 1]):
            if at == most or result[row]:
                continue
            here = root[sides[at]]
            start, end = before_ptr[sides[most]], before_ptr[sides[most] + 1]
            for i in range(before_ptr[sides[at]], before_ptr[sides[at] + 1]):
                router = before[i]
                if seen_for[router] != row:
                    seen_for[router], seen_as[router] = row, here
                elif seen_as[router] != here:
                    result[row] = True
                if root[sides[most]] != here:
                    found = start + np.searchsorted(before[start:end], router)
                    if found < end and before[found] == router:
                        result[row] = True


def _ends_alike(
    near: np.ndarray, behind: np.ndarray, row: np.ndarray, side: np.ndarray, n_rows: int
) -> np.ndarray:
    """(n_rows,) bool: the same routers follow all sides of a row.

    Sets of routers are compared by the sum of a random word for each.
    """
    of, follows = split_key(distinct_keys((near << 32) | behind))
    words = np.zeros(max(near.max(initial=-1), side.max(initial=-1)) + 1, np.uint64)
    if len(of):
        starts = run_starts(of)
        words[of[starts]] = np.add.reduceat(mix_words(follows.view(np.uint64) + GOLDEN), starts)
    first = np.searchsorted(row, row)  # of those of its row
    return np.bincount(row, words[side] != words[side[first]], n_rows) == 0
