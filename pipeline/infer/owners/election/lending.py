"""Reallocated prefixes: ASes that use another AS's addresses inside, as the election itself shows.

A customer may have its addresses from its provider, and an AS often has addresses of another AS of
its organisation. Such addresses are not announced separately, so by its links a router inside the
*user* A is in the *lender* B, although traces to addresses of A end at it. Each router alone is a
tie or worse: a link inside A with addresses of B costs a lot (``costs``), since it is rare. But it
is no coincidence: if A uses B's addresses, it does so on many links. So for each pair of A and B
the cost of all surroundings together is computed as if such links cost little, and A is believed to
use B's addresses if that saves at least ``_PRIOR``, the cost of the assumption itself:

1. a pair is examined if two routers were elected into B although hosts or destinations behind them
   are evidence for A and none for B, or if a link inside A has addresses of B. If one such router
   shows the pair, those that were in A in the election before (``earlier``) and are in B now count
   for A too: an election starts without the conclusions of the last one, and a router that is known
   better by now may have lost its evidence for A;
2. these routers are put into A, and then each router that is in A or B, where one next to it was
   moved, into the cheaper of the two, until nothing changes;
3. what that saves is the sum over all moves, since each link costs the same from both its ends.
   If it is too little, all is undone. So it is if a router moves again and again: the cost of
   traces that end at it depends on its neighbours' ASes, so moves may go round in a circle.

Here an AS uses the addresses of at most one other AS; where relationships of both are known, of a
provider. The lender must keep a router: an AS of which none is left has lent nothing, it stands
before the other, which all traces past it were aimed at (``swallowed-ases``).

That an AS numbers its routers from addresses that its provider announces (*reallocated prefixes*)
is known from bdrmapIT [1]_, which finds them by single /24; that a hypothesis on an AS is judged by
what it explains everywhere, is an idea of MAP-IT's [2]_ rounds.

References
----------
.. [1] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018, section 6.
.. [2] A. Marder, J. M. Smith, "MAP-IT: multipass accurate passive inferences from traceroute",
   IMC 2016.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case, cost_of, gain
from pipeline.infer.owners.election.relations import NOTHING, relation
from pipeline.infer.owners.election.surroundings import (
    AIMED,
    AIMED_BROKEN,
    AIMED_PERHAPS,
    AIMED_SILENT,
    HOST,
)
from pipeline.infer.rule import CHOSEN, Rule
from pipeline.model.columns.keys import is_among, split_key
from pipeline.model.columns.ragged import offsets, row_of_value
from pipeline.model.relations import CUSTOMER

REALLOCATED = Rule(
    "reallocated-prefixes",
    "owners",
    "an AS may use another's addresses on its inner links, if that explains much evidence",
    "links, prefixes, destinations",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), section 6",
    {"prior": 4.5},
)

SWALLOWED = Rule(
    "swallowed-ases",
    "owners",
    "an AS that would lose all its routers to another has not lent it their addresses",
    "routers by AS",
)

# How much an AS that uses another's addresses must explain.
_PRIOR = REALLOCATED.tenths("prior")
_MOVES = 8  # of one router for one pair, at most; usually one or two are made
_ROUTERS = 2  # that speak for the user, if no link inside it is numbered from the lender


class _Pairs(NamedTuple):
    """Pairs of user and lender, in the order in which they are tried.

    ``group[begin[i] : end[i]]`` are the groups that show pair ``i``; int64 arrays.
    """

    user: np.ndarray
    lender: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    group: np.ndarray


def find_users(case: Case, keeps_one: bool = True) -> np.ndarray:
    """AS row whose addresses each AS uses inside, -1 for none; moves labels accordingly.

    Parameters
    ----------
    case : Case
    keeps_one : bool
        A lender keeps a router.

    Returns
    -------
    (n_ases + 1,) int64
    """
    key, group = _evidence(case)
    lent_from = np.full(len(case.size) + 1, -1, np.int64)
    pairs, starts = np.unique(key, return_index=True)
    n_each = np.diff(starts, append=len(key))
    user, lender = split_key(pairs)
    order = np.lexsort((lender, -n_each, user))
    ptr = offsets(n_each)
    _lend(
        case._replace(ways=case.ways._replace(lent_from=lent_from)),
        _Pairs(user[order], lender[order], ptr[:-1][order], ptr[1:][order], group),
        keeps_one,
    )
    return lent_from


def _evidence(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of user and lender (ascending, ``user << 32 | lender``), and groups that show them."""
    other, numbered, labels, held = case.other, case.numbered, case.labels, case.held
    source = row_of_value(case.ptr)
    label = labels[source]
    speaks = np.isin(other, (HOST, AIMED, AIMED_PERHAPS, AIMED_SILENT, AIMED_BROKEN))
    speaks &= (numbered >= 0) & (label >= 0)
    at_home = np.zeros(len(labels), bool)
    at_home[source[speaks & (numbered == label)]] = True
    claims = speaks & ~at_home[source] & (numbered < case.n_known)
    claim, claimant = _distinct((numbered[claims] << 32) | label[claims], source[claims])
    inside = (other >= 0) & (numbered >= 0) & (label >= 0) & (label < case.n_known)
    inside &= (labels[np.maximum(other, 0)] == label) & (numbered != label)
    lent, at_link = _distinct((label[inside] << 32) | numbered[inside], source[inside])
    left = np.flatnonzero((held >= 0) & (labels >= 0) & (labels != held))
    pair = (held[left] << 32) | labels[left]
    hinted = is_among(pair, claim) | is_among(pair, lent)
    left, pair = left[hinted], pair[hinted]
    claim, claimant = _distinct(np.append(claim, pair), np.append(claimant, left))
    _, which, n_routers = np.unique(claim, return_inverse=True, return_counts=True)
    asked = (n_routers[which] >= _ROUTERS) | is_among(claim, lent)
    return _distinct(np.append(claim[asked], lent), np.append(claimant[asked], at_link))


def _distinct(key: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct pairs, ascending."""
    order = np.lexsort((group, key))
    key, group = key[order], group[order]
    first = np.ones(len(key), bool)
    first[1:] = (key[1:] != key[:-1]) | (group[1:] != group[:-1])
    return key[first], group[first]


@njit(cache=True, nogil=True)
def _lend(case, pairs, keeps_one):
    """Try each pair, in place of ``labels`` and ``ways.lent_from``."""
    ptr, other, labels, lent_from = case.ptr, case.other, case.labels, case.ways.lent_from
    queued = np.zeros(len(labels), np.bool_)
    n_moves = np.zeros(len(labels), np.int64)
    n_routers = np.zeros(len(lent_from), np.int64)
    for one in range(len(labels)):
        if labels[one] >= 0 and ptr[one] < ptr[one + 1]:
            n_routers[labels[one]] += 1
    for pair in range(len(pairs.user)):
        user, lender = pairs.user[pair], pairs.lender[pair]
        if lent_from[user] >= 0 or not _may_lend(case.ways.relations, user, lender):
            continue
        within = np.int64(0)
        queue = [np.int64(0) for _ in range(0)]
        for lends in (-1, lender):
            lent_from[user] = lends
            for at in range(pairs.begin[pair], pairs.end[pair]):
                group = pairs.group[at]
                if labels[group] == user:
                    cost = cost_of(case, group, user)
                    within += cost if lends < 0 else -cost
        saved = within // 2  # links are listed at both ends
        moved = [np.int64(0) for _ in range(0)]
        for at in range(pairs.begin[pair], pairs.end[pair]):
            group = pairs.group[at]
            if labels[group] == lender:
                saved += gain(case, group, lender, user)
                n_routers[lender] -= 1
                n_routers[user] += 1
                labels[group] = user
                moved.append(group)
            if not queued[group]:
                queued[group] = True
                queue.append(group)
        for group in moved:
            for i in range(ptr[group], ptr[group + 1]):
                if other[i] >= 0 and not queued[other[i]]:
                    queued[other[i]] = True
                    queue.append(other[i])
        at = 0
        while at < len(queue):
            group = queue[at]
            at += 1
            queued[group] = False
            here = labels[group]
            if here != user and here != lender:
                continue
            there = lender if here == user else user
            more = gain(case, group, here, there)
            if more <= 0:
                continue
            if n_moves[group] == _MOVES:
                saved = np.int64(0)
                break
            saved += more
            n_routers[here] -= 1
            n_routers[there] += 1
            labels[group] = there
            n_moves[group] += 1
            moved.append(group)
            for i in range(ptr[group], ptr[group + 1]):
                if other[i] >= 0 and not queued[other[i]]:
                    queued[other[i]] = True
                    queue.append(other[i])
        for group in queue[at:]:  # none, unless moves went round in a circle
            queued[group] = False
        for group in moved:
            n_moves[group] = 0
        if saved < _PRIOR or (keeps_one and n_routers[lender] == 0):
            lent_from[user] = -1
            for group in moved[::-1]:  # each move went from one of the two to the other
                n_routers[labels[group]] -= 1
                labels[group] = lender if labels[group] == user else user
                n_routers[labels[group]] += 1


@njit(cache=True, nogil=True)
def _may_lend(relations, user, lender):
    """Whether nothing is known of the two, or the user is the lender's customer."""
    kind = relation(relations, user, lender)
    return kind in (NOTHING, CUSTOMER)
