"""Addresses of one router, as far as traces show: groups for the election.

A point-to-point link has one other end. So the predecessors of an address b, seen one hop before
it, and the subnet mate of b are on one router (``subnet_mates``), provided that b is the address by
which packets came in. A router that responds with another address, for example its outgoing
interface, breaks this: several routers are then seen before b. Such an address is recognised if two
of its predecessors are in one trace, as two addresses of one router never are.

1. The predecessors of b, in code its ``sides``: all x seen directly before b, where b answered as a
   router on the way (a destination's own reply comes from the address that was probed), and the
   subnet mate of b.
2. If two predecessors of b are in one trace, b is *suspect* and joins nothing. All pairs of up to
   ``_ALL_PAIRS`` predecessors are watched; if there are more, each is watched against the next few
   by address, so that memory stays linear in links.
3. The predecessors of all other b are joined pair by pair: pairs that several b support come first,
   and among these the pairs in one AS by prefix. A join that would put two addresses of one trace
   together is refused. So is one that only a single b supports, between groups of two or more that
   have no AS in common: a router that responds with its outgoing interface looks exactly like this.
4. Joins chain, so all traces are searched for two addresses of one group; these are added to the
   known conflicts, and step 3 is repeated, at most ``_ROUNDS`` times.
5. An address whose predecessors are not in one group in the end is suspect too. For a suspect
   address only the subnet mate, if seen, is trusted to be at the other end of its link: that is
   true whichever way packets came in.

Unmapped addresses take no part: a private address is used in many networks. An address on the LAN
of an exchange point (``exchange_lans``), mapped or not, has many routers at its other end: it has
no predecessors here, but may be one.

Alias sets given by the user are joined before all else. Two of them are two routers: they are never
joined, a b with predecessors in two of them is suspect, and an address of b's own set is none.

Predecessors on point-to-point links, and that two addresses of one trace are two routers, are from
APAR [1]_ and kapar [2]_; suspect addresses are our own.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] K. Keys, "Internet-scale IP alias resolution techniques", ACM CCR 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.rule import Rule
from pipeline.infer.traces.counting import PairCounter, add_up, key_set, slot_of
from pipeline.infer.traces.distinct import DEEPEST, DistinctPaths, Tree, addr_of
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.forest import find_root
from pipeline.model.topology import NO_ASN

SUBNET_MATES = Rule(
    "subnet-mates",
    "routers",
    "the predecessor of an address and its subnet mate are one router",
    "predecessors, subnet mates",
    source="APAR (Gunes and Sarac, ToN 2009); kapar (Keys, CCR 2010)",
)

_ALL_PAIRS = 9  # sides of an address up to which all pairs are watched
_ROUNDS = 3
_VOUCHERS = 2  # addresses that must agree before groups without a common AS are joined
# A group larger than this that holds a conflict is dissolved instead of recording its conflicts
# pair by pair: memory stays linear in addresses.
_MAX_GROUP = 256


@dataclass(frozen=True, eq=False)
class Groups:
    """Interfaces by router.

    Attributes
    ----------
    group : (n_interfaces,) int64
        Smallest interface id of the group.
    suspect : (n_interfaces,) bool
        Addresses that are not the one by which packets come in.
    near_side : (n_interfaces,) int64
        An address of the router at the other end of each address's link; -1 where none is known.
    n_conflicts : int
        Pairs of addresses that a rule on links would join but that are in one trace.
    side_ptr : (n_interfaces + 1,) int64
    sides : (n_sides,) int64
        Sides of each address, ascending; those of one that is not suspect are in one group.
    """

    group: np.ndarray
    suspect: np.ndarray
    near_side: np.ndarray
    n_conflicts: int
    side_ptr: np.ndarray
    sides: np.ndarray


@njit(cache=True, nogil=True)
def _refuses(parent, next_member, small, large, conflict_ptr, conflicts):
    """Whether a member of one group conflicts with a member of the other."""
    x = small
    while True:
        for i in range(conflict_ptr[x], conflict_ptr[x + 1]):
            if find_root(parent, conflicts[i]) == large:
                return True
        x = next_member[x]
        if x == small:
            return False


@njit(cache=True, nogil=True)
def _join(parent, size, next_member, one, other):
    """Join two groups; the smaller id stays the root, members stay in a ring."""
    if other < one:
        one, other = other, one
    parent[other] = one
    size[one] += size[other]
    next_member[one], next_member[other] = next_member[other], next_member[one]


@njit(cache=True, nogil=True)
def _share_an_as(next_member, one, other, origin):
    """Whether two groups have addresses of one AS."""
    x = one
    while True:
        y = other
        while True:
            if origin[x] == origin[y]:
                return True
            y = next_member[y]
            if y == other:
                break
        x = next_member[x]
        if x == one:
            return False


@njit(cache=True, nogil=True)
def _join_all(pairs, support, alias, barred, conflict_ptr, conflicts, origin):
    n = len(alias)
    parent = np.arange(n)
    size = np.ones(n, np.int64)
    next_member = np.arange(n)
    set_of = alias.copy()  # of each root: the alias set in its group
    for x in range(n):
        if alias[x] >= 0 and alias[x] != x:
            one, other = find_root(parent, alias[x]), find_root(parent, x)
            if one != other:
                _join(parent, size, next_member, one, other)
    for i in range(len(pairs)):
        pair = pairs[i]
        x, y = pair >> 32, pair & 0xFFFFFFFF
        one, other = find_root(parent, x), find_root(parent, y)
        if one == other or barred[x] or barred[y]:
            continue
        if set_of[one] >= 0 and set_of[other] >= 0:
            continue
        small, large = (one, other) if size[one] <= size[other] else (other, one)
        if support[i] < _VOUCHERS and size[small] > 1:
            if size[small] * size[large] > _MAX_GROUP**2:
                continue
            if not _share_an_as(next_member, small, large, origin):
                continue
        if not _refuses(parent, next_member, small, large, conflict_ptr, conflicts):
            _join(parent, size, next_member, one, other)
            set_of[min(one, other)] = max(set_of[one], set_of[other])
    for x in range(n):
        parent[x] = find_root(parent, x)
    return parent


@njit(cache=True, nogil=True)
def _watched_conflicts(code, depth, router, part, keys, counts):
    """Mark watched pairs that are in one trace."""
    above = np.empty(DEEPEST, np.int64)
    for node in range(len(code)):
        level, x = np.int64(depth[node]), addr_of(code[node])
        x = router[x] if x >= 0 else x
        above[level] = x if x >= 0 and part[x] >= 0 else -1
        if above[level] < 0:
            continue
        for i in range(level):
            y = above[i]
            if y < 0 or part[y] != part[x] or x == y:
                continue
            key = (min(x, y) << 32) | max(x, y)
            slot = slot_of(keys, key)
            if keys[slot] == key:
                counts[slot] = 1


@njit(cache=True, nogil=True)
def _group_conflicts(code, depth, start, above, group, large, broken, keys, counts, room):
    """Record pairs of one group that are in one trace; large groups are only marked.

    Returns the number of new pairs and the node to go on from (all of them, or out of room);
    ``above`` is kept till then.
    """
    n_new = 0
    for node in range(start, len(code)):
        level, x = np.int64(depth[node]), addr_of(code[node])
        above[level] = x if x >= 0 and group[x] >= 0 else -1
        if above[level] < 0:
            continue
        for i in range(level):
            y = above[i]
            if y < 0 or group[y] != group[x] or x == y:
                continue
            if large[group[x]]:
                broken[group[x]] = 1
                continue
            key = (min(x, y) << 32) | max(x, y)
            slot = slot_of(keys, key)
            if keys[slot] != key:
                if n_new == room:
                    return n_new, node
                keys[slot] = key
                counts[slot, 0] = 1
                n_new += 1
    return n_new, len(code)


def _sides(
    links: DirectedLinks,
    mates: np.ndarray,
    on_lan: np.ndarray,
    mapped: np.ndarray,
    alias: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sides of each interface as (side_ptr, sides), ascending within an interface."""
    n = len(mates)
    on_the_way = links.n_router > 0
    with_mate = np.flatnonzero(mates >= 0)
    owner = np.concatenate([links.far[on_the_way], with_mate])
    side = np.concatenate([links.near[on_the_way], mates[with_mate]])
    known = mapped[owner] & ~on_lan[owner] & (mapped | on_lan)[side]
    known &= (alias[owner] < 0) | (alias[owner] != alias[side])
    owner, side = owner[known], side[known]
    owner, side = split_key(distinct_keys((owner << 32) | side))
    return offsets(np.bincount(owner, minlength=n)), side


def watched_pairs(side_ptr: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of sides to watch: key of each, and the address whose sides they are."""
    keys, owners = [], []
    owner = np.repeat(np.arange(len(side_ptr) - 1), np.diff(side_ptr))
    for step in range(1, _ALL_PAIRS):
        if len(sides) > step:
            same = owner[step:] == owner[:-step]
            keys.append((sides[:-step][same] << 32) | sides[step:][same])
            owners.append(owner[step:][same])
    none = np.empty(0, np.int64)
    return np.concatenate([none, *keys]), np.concatenate([none, *owners])


def group_interfaces(
    paths: DistinctPaths,
    links: DirectedLinks,
    *,
    mates: np.ndarray,
    on_lan: np.ndarray,
    alias: np.ndarray,
    origin: np.ndarray,
) -> Groups:
    """Group interfaces by router.

    Parameters
    ----------
    paths : DistinctPaths
    links : DirectedLinks
    mates : (n_interfaces,) int64
        As from ``find_mates``; those on the LAN of an exchange point have none.
    on_lan : (n_interfaces,) bool
        As from ``find_exchange_lans``.
    alias : (n_interfaces,) int64
        Smallest interface of the alias set that each interface is in; -1 for none.
    origin : (n_interfaces,) int64
        AS that each address is numbered from, as from ``number_unannounced``.
    """
    n = len(mates)
    side_ptr, sides = _sides(links, mates, on_lan, origin != NO_ASN, alias)
    # The prefix of a LAN says nothing: it does not give its addresses a common AS.
    origin = np.where(on_lan, NO_ASN - 1 - np.arange(n), origin)
    n_sides = np.diff(side_ptr)
    suspect = np.zeros(n, bool)
    pairs, owners = watched_pairs(side_ptr, sides)
    conflicts = find_watched(paths, side_ptr, sides, pairs, n)
    suspect[owners[is_among(pairs, conflicts)]] = True
    one, other = alias[pairs >> 32], alias[pairs & 0xFFFFFFFF]
    suspect[owners[(one >= 0) & (other >= 0) & (one != other)]] = True
    keys, support = np.unique(pairs[~suspect[owners]], return_counts=True)
    mixed = origin[keys >> 32] != origin[keys & 0xFFFFFFFF]
    by_support = np.lexsort((keys, mixed, -support))
    in_order, support = keys[by_support], support[by_support]
    barred = np.zeros(n, bool)
    owner = np.repeat(np.arange(n), n_sides)
    for round_ in range(_ROUNDS + 1):
        ptr, partners = _both_ways(conflicts, n)
        group = _join_all(in_order, support, alias, barred, ptr, partners, origin)
        if round_ == _ROUNDS:
            break
        found, broken = _find_in_groups(paths, group)
        barred[broken[group] != 0] = True
        known = len(conflicts)
        conflicts = distinct_keys(np.concatenate([conflicts, found]))
        if len(conflicts) == known and not broken.any():
            break
    least, most = np.full(n, n), np.full(n, -1)
    np.minimum.at(least, owner, group[sides])
    np.maximum.at(most, owner, group[sides])
    suspect |= least < most
    near_side = np.where(suspect, mates, -1)
    has_side = (n_sides > 0) & ~suspect
    near_side[has_side] = sides[side_ptr[:-1][has_side]]
    return Groups(group, suspect, near_side, len(conflicts), side_ptr, sides)


def _both_ways(pairs: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    one, other = split_key(pairs)
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(source, kind="stable")
    ptr = offsets(np.bincount(source, minlength=n))
    return ptr, target[order]


def find_watched(
    paths: DistinctPaths,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    pairs: np.ndarray,
    n: int,
    router: np.ndarray | None = None,
) -> np.ndarray:
    """Which watched pairs are in one trace, sorted.

    Parameters
    ----------
    paths : DistinctPaths
    side_ptr : (n_owners + 1,) int64
    sides : (n_sides,) int64
    pairs : (n_pairs,) int64
        As from ``watched_pairs``.
    n : int
        Interfaces.
    router : (n,) int64 or None
        What stands for each interface in the pairs; None: itself.
    """
    if not len(pairs):
        return np.empty(0, np.int64)
    keys = key_set(pairs)
    # Only addresses of one part can be a watched pair: a cheap check before the table lookup.
    part = _parts(side_ptr, sides, n)
    stands_for = np.arange(n) if router is None else router

    def step(counts: np.ndarray, tree: Tree) -> None:
        _watched_conflicts(*tree, stands_for, part, keys, counts)

    seen = paths.ask(lambda: np.zeros(len(keys), np.uint8), step)
    return np.sort(keys[np.maximum.reduce(seen) != 0])


@njit(cache=True, nogil=True)
def _parts(side_ptr, sides, n):
    """Part of each address if all sides were joined; -1 for addresses that are in no pair."""
    parent = np.arange(n)
    paired = np.zeros(n, np.uint8)
    for b in range(len(side_ptr) - 1):
        for i in range(side_ptr[b] + 1, side_ptr[b + 1]):
            paired[sides[i]] = paired[sides[side_ptr[b]]] = 1
            one, other = find_root(parent, sides[side_ptr[b]]), find_root(parent, sides[i])
            parent[max(one, other)] = min(one, other)
    for x in range(n):
        parent[x] = find_root(parent, x) if paired[x] else -1
    return parent


def _find_in_groups(paths: DistinctPaths, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of one group in one trace (sorted keys), and large groups that hold such a pair."""
    size = np.bincount(group, minlength=len(group))
    watched = np.where(size[group] > 1, group, -1)
    large = size > _MAX_GROUP

    def start() -> tuple[PairCounter, np.ndarray]:
        return PairCounter(1), np.zeros(len(group), np.uint8)

    def step(state: tuple[PairCounter, np.ndarray], tree: Tree) -> None:
        table, broken = state
        above, node = np.empty(DEEPEST, np.int64), 0
        while node < len(tree.code):
            table.reserve(1024)
            room = len(table.keys) // 2 - table.n_used
            n_new, node = _group_conflicts(
                *tree, node, above, watched, large, broken, table.keys, table.counts, room
            )
            table.n_used += n_new

    states = paths.ask(start, step)
    keys, _ = add_up([table.rows() for table, _ in states])
    return keys, np.maximum.reduce([broken for _, broken in states])
