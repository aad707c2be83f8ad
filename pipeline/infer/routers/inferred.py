"""Routers without an alias file: the well-vouched part of groups of addresses.

``point_to_point`` joins what one address vouches for, unless a trace contradicts it. A node of
the graph must be right, and the election gains from it too: two addresses are merged only within
such a group, so never two that one trace shows, and only where one of two rules holds.

A router that answers with its outgoing interface or its loopback vouches for what is not one
router. It is *odd*: one of its addresses is suspect (``point_to_point``), or two of them were seen
right behind one address, which only parallel links do otherwise.

1. **Two vouchers.** Addresses of two routers, one of them not odd, have both among their sides.
   Counted between merged routers, until nothing changes.
2. **One credible voucher.** The sides of one address b are one router if b is likely to be the
   address by which packets came in. An odd router shows the same address to one observer whichever
   way packets came; another shows the address by which *it* was entered, which one observer seldom
   sees two of. So b is credible if

   - its router is not odd;
   - no two of its sides were seen by one observer (by the first address of its traces); or they
     were, but b's mate is seen, b's router has another address and all sides are numbered from
     one AS;
   - its mate is seen, or it has at most three sides, none of which is merged yet;
   - it is not the only one that joins two routers of several addresses each.

   A side that is neither b's mate nor merged yet joins a router of several addresses only if
   everything seen right behind it is seen right behind that router too.

The election loses more by groups that are missing than nodes do (``trust_groups``): it takes rule
2 without looking at observers and parallel links, and a router is odd only if two of its addresses
are suspect.

Traces were searched for conflicts a few times only, so a node that turns out to have two addresses
in one trace is taken apart again.

Unmapped addresses take no part. A given alias set is a router as it is given, and its addresses
are merged with no others. Addresses on the LAN of an exchange point vouch for nothing, but are
merged like others for the election; as nodes they stay by themselves (``leave_out``).

The idea of common successors is that of Rocketfuel's graph heuristic [1]_ as APAR [2]_ and kapar
[3]_ use it with point-to-point mates.

References
----------
.. [1] N. Spring, R. Mahajan, D. Wetherall, "Measuring ISP topologies with Rocketfuel", SIGCOMM
   2002.
.. [2] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [3] K. Keys, "Internet-scale IP alias resolution techniques", ACM CCR 2010.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from pipeline.infer.routers.forest import find_root, unite
from pipeline.infer.routers.point_to_point import Groups, watched_pairs
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of, split_key
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import Traces
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value

_VOUCHERS = 2
_SUSPECTS = 2  # addresses of a router that is odd for the election
_MOST_SIDES = 3  # of a credible voucher whose mate is not seen


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
            part[own] = root[own]
            for i in range(group_ptr[g], group_ptr[g + 1]):
                if begin <= i < end:
                    continue
                row = order[i]
                x = find_root(part, sides[side_ptr[row]])
                for at in range(side_ptr[row] + 1, side_ptr[row + 1]):
                    y = find_root(part, sides[at])
                    part[max(x, y)] = min(x, y)
                    x = min(x, y)
            size[own] = 0
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


@njit(cache=True, nogil=True)
def _observe(hop_ptr, flags, ids, watched, keys, counts):
    """Record (address, first address of the trace) of watched addresses; how many are new."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        first, end = hop_ptr[trace], hop_ptr[trace + 1]
        if flags[trace] == DESTINATION:
            end -= 1
        for row in range(first, end):
            x = np.int64(ids[row])
            if x < 0 or not watched[x]:
                continue
            key = (x << 32) | np.int64(ids[first])
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot] = key
                counts[slot, 0] = 1
                n_new += 1
    return n_new


@njit(cache=True, nogil=True)
def _find_conflicts(hop_ptr, ids, router, broken):
    """Mark routers with two addresses in one trace; ``router`` is -1 where it has only one."""
    for trace in range(len(hop_ptr) - 1):
        for row in range(hop_ptr[trace], hop_ptr[trace + 1]):
            x = np.int64(ids[row])
            if x < 0 or router[x] < 0:
                continue
            for other in range(hop_ptr[trace], row):
                y = np.int64(ids[other])
                if y >= 0 and x != y and router[y] == router[x]:
                    broken[router[x]] = True


def merge_interfaces(
    spools: Spools,
    links: DirectedLinks,
    groups: Groups,
    mates: np.ndarray,
    alias: np.ndarray,
    origin: np.ndarray,
) -> np.ndarray:
    """Merge interfaces into routers; two passes over the spools.

    Parameters
    ----------
    spools : Spools
    links : DirectedLinks
    groups : Groups
    mates : (n_interfaces,) int64
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    origin : (n_interfaces,) int64
        AS that each address is numbered from, as from ``number_unannounced``.

    Returns
    -------
    (n_interfaces,) int64
        Smallest interface of each router; of one of a given alias set the set's.
    """
    root, side_ptr, sides, is_odd = _merge_surely(links, groups, alias)
    is_odd[groups.group[groups.suspect]] = True
    asked = _single_vouchers(root, groups, is_odd, side_ptr, sides, mates)
    credible = asked[~_seen_by_one(spools, asked, side_ptr, sides)]
    inner = asked[_is_inner(asked, groups, side_ptr, sides, mates, origin)]
    credible = np.union1d(credible, inner)
    _merge_sides(root, credible, links, groups, side_ptr, sides, mates)
    _take_apart(spools, root)
    return np.where(alias >= 0, alias, root)


def trust_groups(
    links: DirectedLinks, groups: Groups, mates: np.ndarray, alias: np.ndarray
) -> Groups:
    """The same groups, without joins that only doubtful addresses vouch for: for the election.

    Parameters
    ----------
    links : DirectedLinks
    groups : Groups
    mates : (n_interfaces,) int64
    alias : (n_interfaces,) int64
        As for ``merge_interfaces``.
    """
    root, side_ptr, sides, _ = _merge_surely(links, groups, alias)
    n_suspects = np.bincount(groups.group[groups.suspect], minlength=len(root))
    is_odd = n_suspects >= _SUSPECTS
    credible = _single_vouchers(root, groups, is_odd, side_ptr, sides, mates)
    _merge_sides(root, credible, links, groups, side_ptr, sides, mates)
    return replace(groups, group=np.where(alias >= 0, alias, root))


def leave_out(router: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """The same routers, but some interfaces are each by themselves.

    Parameters
    ----------
    router : (n_interfaces,) int64
        As from ``merge_interfaces``.
    left_out : (n_interfaces,) bool
    """
    n = len(router)
    kept = np.flatnonzero(~left_out)
    first = np.arange(n)
    smallest = np.full(n, n)
    np.minimum.at(smallest, router[kept], kept)
    first[kept] = smallest[router[kept]]
    return first


def _merge_surely(
    links: DirectedLinks, groups: Groups, alias: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Routers by rule 1; usable sides of each address (ptr, sides); groups with parallel links."""
    n = len(alias)
    root = np.arange(n)
    owner = row_of_value(groups.side_ptr)
    used = ~groups.suspect[owner] & (alias[groups.sides] < 0)
    owner, sides = owner[used], groups.sides[used]
    side_ptr = offsets(np.bincount(owner, minlength=n))
    is_odd = _has_parallel_links(links, groups.group)
    _merge_twice_vouched(root, *watched_pairs(side_ptr, sides), groups.group, is_odd)
    return root, side_ptr, sides, is_odd


def _has_parallel_links(links: DirectedLinks, group: np.ndarray) -> np.ndarray:
    """(n,) bool: groups of which two addresses were seen right behind one address."""
    result = np.zeros(len(group), bool)
    on_the_way = links.n_router > 0
    near, far = links.near[on_the_way], group[links.far[on_the_way]]
    pairs, n_addresses = np.unique((near << 32) | far, return_counts=True)
    result[split_key(pairs[n_addresses > 1])[1]] = True
    return result


def _merge_twice_vouched(
    root: np.ndarray, pairs: np.ndarray, owners: np.ndarray, group: np.ndarray, is_odd: np.ndarray
) -> None:
    """Rule 1, in place."""
    x, y = split_key(pairs)
    voucher = group[owners]
    while True:
        one, other = root[x], root[y]
        apart = one != other
        x, y, voucher, one, other = x[apart], y[apart], voucher[apart], one[apart], other[apart]
        key = (np.minimum(one, other) << 32) | np.maximum(one, other)
        order = np.lexsort((voucher, key))
        key, by = key[order], voucher[order]
        is_new = np.ones(len(key), bool)
        is_new[1:] = (key[1:] != key[:-1]) | (by[1:] != by[:-1])
        distinct, which, n_vouchers = np.unique(
            key[is_new], return_inverse=True, return_counts=True
        )
        n_plain = np.bincount(which, ~is_odd[by[is_new]], len(distinct))
        joined = distinct[(n_vouchers >= _VOUCHERS) & (n_plain > 0)]
        if not len(joined):
            return
        unite(root, *split_key(joined))


def _single_vouchers(
    root: np.ndarray,
    groups: Groups,
    is_odd: np.ndarray,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    mates: np.ndarray,
) -> np.ndarray:
    """Addresses of routers that are not odd, whose mate is seen or that have few sides."""
    n_sides = np.diff(side_ptr)
    is_merged = np.bincount(root, minlength=len(root))[root] > 1
    has_merged = np.bincount(row_of_value(side_ptr), is_merged[sides], len(root)) > 0
    has_few = (n_sides <= _MOST_SIDES) & ~has_merged
    return np.flatnonzero((n_sides > 1) & ~is_odd[groups.group] & ((mates >= 0) | has_few))


def _is_inner(
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


def _merge_sides(
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
    behind_router = np.unique((root[near] << 32) | far)
    of, behind = split_key(np.unique((near << 32) | far))
    behind_ptr = offsets(np.bincount(of, minlength=len(root)))
    ptr, at = positions_of_rows(behind_ptr, side[doubtful])
    which = row_of_value(ptr)
    key = (larger[row[doubtful]][which] << 32) | behind[at]
    n_others = np.bincount(which, ~np.isin(key, behind_router), len(doubtful))
    joins = np.ones(len(side), bool)
    joins[doubtful[n_others > 0]] = False
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


def _seen_by_one(
    spools: Spools, owners: np.ndarray, side_ptr: np.ndarray, sides: np.ndarray
) -> np.ndarray:
    """(n_owners,) bool: whether one observer saw two of an address's sides."""
    side_of, at = positions_of_rows(side_ptr, owners)
    watched = np.zeros(len(side_ptr) - 1, bool)
    watched[sides[at]] = True

    def step(table: PairCounter, traces: Traces) -> None:
        table.reserve(len(traces.ids))
        table.n_used += _observe(
            traces.hop_ptr, traces.flags, traces.ids, watched, table.keys, table.counts
        )

    keys, _ = add_up([table.rows() for table in spools.run(lambda: PairCounter(1), step)])
    address, observer = split_key(keys)
    seen_ptr = offsets(np.bincount(address, minlength=len(watched)))
    seen_of, seen = positions_of_rows(seen_ptr, sides[at])
    row = row_of_value(side_of)[row_of_value(seen_of)]
    pairs, times = np.unique((row << 32) | observer[seen], return_counts=True)
    result = np.zeros(len(owners), bool)
    result[split_key(pairs[times > 1])[0]] = True
    return result


def _take_apart(spools: Spools, root: np.ndarray) -> None:
    """Undo routers that have two addresses in one trace, in place."""
    router = np.where(np.bincount(root, minlength=len(root))[root] > 1, root, -1)

    def step(broken: np.ndarray, traces: Traces) -> None:
        _find_conflicts(traces.hop_ptr, traces.ids, router, broken)

    broken = np.logical_or.reduce(spools.run(lambda: np.zeros(len(root), np.bool_), step))
    undone = np.flatnonzero(broken[root])
    root[undone] = undone
