"""Single common successors: addresses whose predecessors are one router, by this evidence alone.

The predecessors of one address b, its subnet mate included, are one router if b is probably the
address by which packets came in. A router that responds with its outgoing interface (``merge``:
odd) shows the same address to one observer whichever way packets came. Any other shows the address
by which *it* was entered; one observer rarely sees two predecessors of that. So b is credible if

- its router is not odd;
- no two of its predecessors were seen by one observer (by the first address of its traces); or they
  were, but b's subnet mate is seen, b's router has another address and all predecessors have
  addresses of one AS;
- its subnet mate is seen, or it has at most three predecessors, none of which is merged yet, and
  odd routers are rare or this one shows other addresses, too;
- it is not the only one that joins two routers of several addresses each.

A predecessor that is neither b's subnet mate nor merged yet joins a router of several addresses
only if everything seen right behind it is seen right behind that router too.

That what precedes one address is one router is the common successor of Rocketfuel [1]_ and APAR
[2]_; when a single one is believed is our own.

References
----------
.. [1] N. Spring, R. Mahajan, D. Wetherall, "Measuring ISP topologies with Rocketfuel", SIGCOMM
   2002.
.. [2] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.routers.groups import Groups
from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, split_key
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value
from pipeline.model.forest import find_root, unite

SINGLE_VOUCHERS = Rule(
    "single-voucher",
    "routers",
    "all predecessors of an address that packets came in by are one router",
    "predecessors, subnet mates, observers",
    "3 predecessors, a fifth of routers that may respond with outgoing interfaces: " + CHOSEN,
    "Rocketfuel (Spring et al., SIGCOMM 2002), common successors",
)

_MOST_SIDES = 3  # of a credible voucher whose mate is not seen
# Share of routers with several addresses that are odd: in simulated networks up to 0.18, or over
# 0.25 where many answer with their outgoing interface.
_OFTEN_ODD = 0.2


@njit(cache=True, nogil=True)
def _find_bridges(group_ptr, order, voucher, side_ptr, sides, member_ptr, members, root, bridges):
    """Mark addresses that alone would merge two routers of several addresses each.

    Rows ``order[group_ptr[g]:group_ptr[g + 1]]`` have their sides in group g, those of one voucher
    one after another; ``bridges`` is by row.
    """
    part = root.copy()
    size = np.zeros(len(root), np.int64)
    for g in range(len(group_ptr) - 1):
        own = members[member_ptr[g] : member_ptr[g + 1]]
        begin = group_ptr[g]
        while begin < group_ptr[g + 1]:
            end = begin + 1
            while end < group_ptr[g + 1] and voucher[order[end]] == voucher[order[begin]]:
                end += 1
            for x in own:
                part[x] = part[root[x]] = root[x]
            for i in range(group_ptr[g], group_ptr[g + 1]):
                if begin <= i < end:
                    continue
                row = order[i]
                x = find_root(part, sides[side_ptr[row]])
                for at in range(side_ptr[row] + 1, side_ptr[row + 1]):
                    y = find_root(part, sides[at])
                    part[max(x, y)] = min(x, y)
                    x = min(x, y)
            for x in own:
                size[find_root(part, x)] = 0
            for x in own:
                size[find_root(part, x)] += 1
            for i in range(begin, end):
                row = order[i]
                first = np.int64(-1)
                for at in range(side_ptr[row], side_ptr[row + 1]):
                    x = find_root(part, sides[at])
                    if size[x] > 1 and x != first:
                        bridges[row] = first >= 0 or bridges[row]
                        first = x
            begin = end


def may_be_odd(is_odd: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Which routers may be odd without showing it: those of one address, if odd ones are common.

    Parameters
    ----------
    is_odd : (n,) bool
        Of each group.
    group : (n_interfaces,) int64
        As from ``group_interfaces``.

    Returns
    -------
    (n,) bool
        Of each group.
    """
    n_shown = np.bincount(group, minlength=len(group))
    several = n_shown > 1
    is_often = bool(several.any()) and is_odd[several].mean() >= _OFTEN_ODD
    return (n_shown == 1) & is_often


def single_vouchers(
    root: np.ndarray,
    groups: Groups,
    is_odd: np.ndarray,
    unknown: np.ndarray,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    mates: np.ndarray,
) -> np.ndarray:
    """Addresses of routers that are not odd, whose mate is seen or that have few sides.

    The second not if the router may be odd, as ``unknown`` says of each group.
    """
    n_sides = np.diff(side_ptr)
    is_merged = np.bincount(root, minlength=len(root))[root] > 1
    has_merged = np.bincount(row_of_value(side_ptr), is_merged[sides], len(root)) > 0
    has_few = (n_sides <= _MOST_SIDES) & ~has_merged
    has_few &= ~unknown[groups.group]
    return np.flatnonzero((n_sides > 1) & ~is_odd[groups.group] & ((mates >= 0) | has_few))


def is_inner(
    asked: np.ndarray,
    groups: Groups,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    mates: np.ndarray,
    origin: np.ndarray,
) -> np.ndarray:
    """(n_asked,) bool: mates are seen, routers have other addresses, all sides are in one AS."""
    n = len(mates)
    owner = row_of_value(side_ptr)
    least, most = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, np.int64)
    np.minimum.at(least, owner, origin[sides])
    np.maximum.at(most, owner, origin[sides])
    has_others = np.bincount(groups.group, minlength=n)[groups.group] > 1
    return (mates[asked] >= 0) & has_others[asked] & (least[asked] == most[asked])


def merge_sides(
    root: np.ndarray,
    credible: np.ndarray,
    links: DirectedLinks,
    groups: Groups,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    mates: np.ndarray,
) -> None:
    """Rule 2 for credible addresses that bridge nothing, in place."""
    credible = credible[~_bridging(credible, root, groups.group, side_ptr, sides)]
    kept, at = positions_of_rows(side_ptr, credible)
    row, side = row_of_value(kept), sides[at]
    joins = _may_join(links, root, groups.group, row, side, mates[credible])
    row, side = row[joins], side[joins]
    first = np.searchsorted(row, row)  # of those of its row
    unite(root, side[first], side)


def _may_join(
    links: DirectedLinks,
    root: np.ndarray,
    group: np.ndarray,
    row: np.ndarray,
    side: np.ndarray,
    mate: np.ndarray,
) -> np.ndarray:
    """(n_sides,) bool: sides of credible addresses that may join the others.

    Parameters
    ----------
    links : DirectedLinks
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    group : (n_interfaces,) int64
    row, side : (n_sides,) int64
        Credible address, by its position, and one of its sides.
    mate : (n_rows,) int64
        Of each credible address; -1 where it was not seen.
    """
    is_merged = np.bincount(root, minlength=len(root))[root[side]] > 1
    larger = np.full(len(mate), -1, np.int64)
    larger[row[is_merged]] = root[side[is_merged]]  # one at most: others would be bridged
    doubtful = np.flatnonzero(~is_merged & (larger[row] >= 0) & (side != mate[row]))
    on_the_way = links.n_router > 0
    near, far = links.near[on_the_way], group[links.far[on_the_way]]
    behind_router = distinct_keys((root[near] << 32) | far)
    of, behind = split_key(distinct_keys((near << 32) | far))
    behind_ptr = offsets(np.bincount(of, minlength=len(root)))
    pairs, pair = np.unique((larger[row[doubtful]] << 32) | side[doubtful], return_inverse=True)
    router, asked = split_key(pairs)
    ptr, at = positions_of_rows(behind_ptr, asked)
    which = row_of_value(ptr)
    key = (router[which] << 32) | behind[at]
    n_others = np.bincount(which, ~is_among(key, behind_router), len(pairs))
    joins = np.ones(len(side), bool)
    joins[doubtful[n_others[pair] > 0]] = False
    return joins


def _bridging(
    credible: np.ndarray,
    root: np.ndarray,
    group: np.ndarray,
    side_ptr: np.ndarray,
    sides: np.ndarray,
) -> np.ndarray:
    """(n_credible,) bool: addresses that join routers of several addresses by themselves."""
    n = len(root)
    bridges = np.zeros(len(credible), np.bool_)
    own_ptr, at = positions_of_rows(side_ptr, credible)
    of_sides, voucher = group[sides[side_ptr[credible]]], group[credible]
    order = np.lexsort((voucher, of_sides))
    numbers, n_rows = np.unique(of_sides, return_counts=True)
    by_group = np.argsort(group, kind="stable")
    all_ptr = offsets(np.bincount(group, minlength=n))
    member_ptr, members = positions_of_rows(all_ptr, numbers)
    _find_bridges(
        offsets(n_rows),
        order,
        voucher,
        own_ptr,
        sides[at],
        member_ptr,
        by_group[members],
        root,
        bridges,
    )
    return bridges
