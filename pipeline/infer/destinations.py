"""Which destinations are routers.

The destination's own final reply is no router unless the destination also answered as one:

1. its address answered as a router somewhere (``cleaning``); or
2. its router did, under another address, as a point-to-point link shows: the address and its
   mate (``mates``) both answered as destinations, neither is a vantage, and traces passed one of
   the two routers on the way to the other. That is seen in the hop before: the trace to one end
   ends ``p, end``, the trace to the other ``p, x, other end``, with x the reply of the router of
   the first end (or x is that end itself).

The second rule finds links that no trace crosses on its way to anywhere else, where router
interfaces were traced to. A host right behind its gateway passes for a router by it if both were
traced to and the host has the gateway's mate for an address.

All other destinations are hosts: no node, and no end of a link. ``targets_are_routers`` takes
every destination that answered and is no vantage for a router: for measurements that were aimed
at routers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.links import DirectedLinks
from pipeline.infer.mates import find_mates
from pipeline.infer.merging import Answers


@njit(cache=True, nogil=True)
def _one_beyond_the_other(nearer, farther, near_ptr, near, mark):
    """Whether some trace to ``farther`` passed the router of ``nearer`` just before."""
    for i in range(near_ptr[nearer], near_ptr[nearer + 1]):
        mark[near[i]] = nearer
    for i in range(near_ptr[farther], near_ptr[farther + 1]):
        x = near[i]
        if x == nearer:
            return True
        for j in range(near_ptr[x], near_ptr[x + 1]):
            if mark[near[j]] == nearer:
                return True
    return False


@njit(cache=True, nogil=True)
def _ends_of_links(candidate, mates, near_ptr, near):
    n = len(candidate)
    mark = np.full(n, -1, np.int64)
    is_end = np.zeros(n, np.bool_)
    for one in range(n):
        other = mates[one]
        if other < one or not (candidate[one] and candidate[other]):
            continue
        if _one_beyond_the_other(one, other, near_ptr, near, mark) or _one_beyond_the_other(
            other, one, near_ptr, near, mark
        ):
            is_end[one] = is_end[other] = True
    return is_end


def find_routers(
    answers: Answers, links: DirectedLinks, targets_are_routers: bool = False
) -> np.ndarray:
    """Which addresses are interfaces of routers.

    Parameters
    ----------
    answers : Answers
    links : DirectedLinks
        In the numbering of ``answers``.
    targets_are_routers : bool
        Take every destination that answered and is no vantage for a router.

    Returns
    -------
    (n_addrs,) bool
    """
    candidate = answers.is_target & ~answers.is_vantage
    if targets_are_routers:
        return answers.is_router | candidate
    direct = links.n_router + links.n_destination > 0
    order = np.argsort(links.far[direct], kind="stable")
    near, far = links.near[direct][order], links.far[direct][order]
    near_ptr = np.concatenate([[0], np.cumsum(np.bincount(far, minlength=len(candidate)))])
    is_end = _ends_of_links(candidate, find_mates(answers.addrs), near_ptr, near)
    return answers.is_router | is_end
