"""Routers without an alias file: the well-supported part of groups of addresses.

``groups`` joins all predecessors of one address, unless a trace contradicts it. A node of the graph
must be right, which helps the election too. So two addresses are merged only if they are the
gateway of one host or dead ends of the same traces (``gateways``), which no rule divides again, or
if they are in one group and one of seven rules holds; never two that one trace shows.

The predecessors of an address include its subnet mate; in code they are its ``sides``. An address
that they have in common, their *common successor*, is evidence that they are one router; in code it
is their voucher. A router that responds with its outgoing interface or its loopback gives false
evidence. There are two signs of it: two of its addresses were seen right behind one address, which
otherwise only parallel links cause (in code: *twofold*), or one of its addresses is suspect
(``groups``). With either sign it is called *odd*. The first shows in the addresses of a group or of
a gateway: that the addresses which different observers see are one router is mostly known by hosts.

1. **Two common successors**, addresses of two routers of which at least one is not twofold; suspect
   addresses do not count. Counted between merged routers, until nothing changes. A router that
   responds with its outgoing interface shows one address to each observer and may be both
   successors (``observers``): so either one of the two addresses is the subnet mate of a successor,
   or no observer saw two predecessors of one successor, or an observer saw both successors.
2. **One credible common successor**: an address that is probably the one by which packets came in
   (``single_voucher``), or that elected owners make credible (``borders_crossed``). Only several
   addresses show that a router is odd. So if a fifth of the routers with several are odd, the only
   address of a router counts by itself only if its subnet mate is seen, and never by owners.
3. **Last routers of all traces to one destination**, if they are in its AS (``last_routers``).
4. **The subnet mate and a predecessor of an address**, if both are in one AS
   (``mate_and_predecessor``).
5. **Routers where traces to the same destinations end**, some of which do not answer every time
   (``shared_ends``).
6. **Routers before one address of a router that is not odd**, of which no observer saw both
   (``common_successors``).
7. **Two kinds of evidence**, each alone too weak: common successors or predecessors, subnet mates,
   and where traces end (``two_weak_signs``).

If a join shows that a router has two addresses right behind one router, it is twofold as well,
since other routers have one address per link. Rules 1 and 2 are then repeated, at most twice,
without the evidence that it gave.

Missing groups harm the election more than nodes (``trust_groups``): it takes rules 1 and 2 once,
and looks neither at observers nor at owners. For it a router is twofold by its group only in rule
1, and odd in rule 2 only if two of its addresses are suspect.

Traces were searched for conflicts a few times only, so a node that turns out to have two addresses
in one trace is taken apart again, into what was joined before one of rules 3 to 7, or into
gateways. So is one whose parts send packets for the same destinations to different next hops
(``diverging_next_hops``), into what rule 1 joined.

Unmapped addresses take no part. As nodes, private addresses are merged like those of the AS that
uses them, if that is known (``owners.private``). A given alias set is a router as given, and its
addresses are merged with no others. Addresses on the LAN of an exchange point are no evidence about
their predecessors, but are merged like others: what follows one is behind the member's router.

The idea of common successors is that of Rocketfuel's graph heuristic [1]_ as APAR [2]_ and kapar
[3]_ use it with subnet mates.

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
from typing import NamedTuple

import numpy as np

from pipeline.infer.routers.ends import find_ends
from pipeline.infer.routers.groups import Groups, watched_pairs
from pipeline.infer.routers.joins import Joined
from pipeline.infer.routers.observers import Observers
from pipeline.infer.routers.rules.borders_crossed import BORDERS_CROSSED, cross_borders
from pipeline.infer.routers.rules.common_successors import SAME_PLACE, join_same_place
from pipeline.infer.routers.rules.diverging_next_hops import DIVERGING, take_apart_diverging
from pipeline.infer.routers.rules.gateways import GATEWAYS
from pipeline.infer.routers.rules.last_routers import LAST_ROUTERS, join_last_routers
from pipeline.infer.routers.rules.mate_and_predecessor import MATE_SIDES, join_mates
from pipeline.infer.routers.rules.one_trace import take_apart
from pipeline.infer.routers.rules.shared_ends import SAME_ENDS, join_same_ends
from pipeline.infer.routers.rules.single_voucher import (
    SINGLE_VOUCHERS,
    is_inner,
    may_be_odd,
    merge_sides,
    single_vouchers,
)
from pipeline.infer.routers.rules.two_weak_signs import TWO_KINDS, join_two_kinds
from pipeline.infer.rule import Rule, Rules
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, pair_keys, split_key
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value
from pipeline.model.forest import unite

TWO_VOUCHERS = Rule(
    "two-vouchers",
    "routers",
    "two routers before the same two addresses, or their subnet mates, are one",
    "predecessors, subnet mates, observers",
    source="APAR (Gunes and Sarac, ToN 2009), common successors",
)
PARALLEL_LINKS = Rule(
    "parallel-links",
    "routers",
    "a router with two addresses right behind one predecessor is weaker evidence",
    "predecessors",
)

_VOUCHERS = 2
_ROUNDS = 3
_SUSPECTS = 2  # addresses of a router that is odd for the election


def merge_interfaces(
    paths: DistinctPaths,
    observers: Observers,
    links: DirectedLinks,
    groups: Groups,
    *,
    mates: np.ndarray,
    alias: np.ndarray,
    origin: np.ndarray,
    gateways: np.ndarray,
    owner: np.ndarray,
    rules: Rules,
) -> tuple[np.ndarray, Joined]:
    """Merge interfaces into routers.

    Parameters
    ----------
    paths : DistinctPaths
    observers : Observers
    links : DirectedLinks
    groups : Groups
    mates : (n_interfaces,) int64
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    origin : (n_interfaces,) int64
        AS that each address is numbered from, as from ``number_unannounced``.
    gateways : (n_interfaces,) int64
        As from ``find_gateways``.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    rules : Rules

    Returns
    -------
    root : (n_interfaces,) int64
        Smallest interface of each router; of one of a given alias set the set's.
    joined : Joined
    """
    joined = Joined.none(len(gateways))
    joined.note(np.arange(len(gateways)), gateways, GATEWAYS)
    vouched = _merge_vouched(observers, links, groups, mates, alias, origin, gateways, owner, rules)
    joined.note(gateways, vouched.twice, TWO_VOUCHERS)
    joined.note(vouched.twice, vouched.by_single, SINGLE_VOUCHERS)
    joined.note(vouched.by_single, vouched.root, BORDERS_CROSSED)
    root = vouched.root.copy()
    take_apart(paths, root, gateways, rules)
    sure = np.where(root == vouched.root, vouched.twice, root)
    parts = root
    inferred_owner = np.where(alias >= 0, -2, owner)  # destinations say nothing of given sets
    ends = find_ends(paths, inferred_owner)
    last_joined, at_hosts = join_last_routers(paths, links, root, ends, observers)
    if LAST_ROUTERS in rules:
        root = last_joined
        take_apart(paths, root, parts, rules)
        joined.note(parts, root, LAST_ROUTERS)
    if MATE_SIDES in rules:
        parts = root
        side_ptr, sides = _usable_sides(groups, alias)
        root = join_mates(parts, owner, vouched.asked, vouched.by_one, side_ptr, sides, mates)
        take_apart(paths, root, parts, rules)
        joined.note(parts, root, MATE_SIDES)
    if SAME_ENDS in rules and at_hosts:
        parts = root
        root = join_same_ends(paths, links, root, inferred_owner, ends)
        take_apart(paths, root, parts, rules)
        joined.note(parts, root, SAME_ENDS)
    is_plain = ~vouched.is_odd[groups.group]
    if SAME_PLACE in rules:
        parts = root
        root = join_same_place(paths, observers, links, root, owner, is_plain, alias)
        take_apart(paths, root, parts, rules)
        joined.note(parts, root, SAME_PLACE)
    if TWO_KINDS in rules:
        parts = root
        root = join_two_kinds(paths, observers, links, root, owner, mates, is_plain, alias, ends)
        take_apart(paths, root, parts, rules)
        joined.note(parts, root, TWO_KINDS)
    if DIVERGING in rules:
        take_apart_diverging(paths, root, sure)
    root = np.where(alias >= 0, alias, root)
    joined.finish(root, alias)
    return root, joined


class _Vouched(NamedTuple):
    """Routers by rules 1 and 2.

    Attributes
    ----------
    root : (n_interfaces,) int64
        Smallest interface of each router.
    twice : (n_interfaces,) int64
        The same by rule 1 alone.
    by_single : (n_interfaces,) int64
        By that and by single vouchers, without those that owners make credible.
    is_odd : (n_interfaces,) bool
        Of each group: twofold, or with a suspect address.
    asked : (n_asked,) int64
        Addresses that vouch if they are credible.
    by_one : (n_asked,) bool
        One observer saw two of their sides.
    """

    root: np.ndarray
    twice: np.ndarray
    by_single: np.ndarray
    is_odd: np.ndarray
    asked: np.ndarray
    by_one: np.ndarray


def _merge_vouched(
    observers: Observers,
    links: DirectedLinks,
    groups: Groups,
    mates: np.ndarray,
    alias: np.ndarray,
    origin: np.ndarray,
    gateways: np.ndarray,
    owner: np.ndarray,
    rules: Rules,
) -> _Vouched:
    """Rules 1 and 2, again without the vouchers that turn out to be odd."""
    group = groups.group
    is_twofold = np.zeros(len(group), bool)
    if PARALLEL_LINKS in rules:
        is_twofold = _has_parallel_links(links, group)
        is_twofold[group[_has_parallel_links(links, gateways)[gateways]]] = True
    side_ptr, sides = _usable_sides(groups, alias)
    pairs, owners = watched_pairs(side_ptr, sides)
    certain = _are_two(observers, pairs, owners, group, side_ptr, sides, mates)
    shown_odd = np.zeros(len(group), bool)
    shown_odd[group[groups.suspect]] = True
    for _ in range(_ROUNDS):
        root = gateways.copy()
        if TWO_VOUCHERS in rules:
            _merge_twice_vouched(root, pairs, owners, group, is_twofold, certain)
        twice, odd = root.copy(), is_twofold | shown_odd
        unknown = may_be_odd(odd, group)
        asked = single_vouchers(root, groups, odd, unknown, side_ptr, sides, mates)
        by_one = _sides_seen_by_one(observers, asked, side_ptr, sides)
        credible = ~by_one | is_inner(asked, groups, side_ptr, sides, mates, origin)
        if SINGLE_VOUCHERS in rules:
            merge_sides(root, asked[credible], links, groups, side_ptr, sides, mates)
        by_single = root.copy()
        if BORDERS_CROSSED in rules:
            plain = np.flatnonzero((np.diff(side_ptr) > 1) & ~(odd | unknown)[group])
            crossed = cross_borders(
                observers, links, root, group, owner, origin, plain, side_ptr, sides
            )
            merge_sides(root, plain[crossed], links, groups, side_ptr, sides, mates)
        found = group[_on_parallel_links(links, root)]
        if PARALLEL_LINKS not in rules or is_twofold[found].all():
            break
        is_twofold[found] = True
    return _Vouched(root, twice, by_single, odd, asked, by_one)


def trust_groups(
    links: DirectedLinks,
    groups: Groups,
    *,
    mates: np.ndarray,
    alias: np.ndarray,
    gateways: np.ndarray,
    rules: Rules,
) -> Groups:
    """Gateways, and what rules 1 and 2 join within groups, as the election takes them.

    Parameters
    ----------
    links : DirectedLinks
    groups : Groups
    mates : (n_interfaces,) int64
    alias : (n_interfaces,) int64
    gateways : (n_interfaces,) int64
        As for ``merge_interfaces``.
    rules : Rules

    Returns
    -------
    Groups
        The same in all but ``group``, in which given alias sets are as they are given.
    """
    root = gateways.copy()
    side_ptr, sides = _usable_sides(groups, alias)
    pairs, owners = watched_pairs(side_ptr, sides)
    certain = np.ones(len(pairs), bool)
    is_twofold = _has_parallel_links(links, groups.group) & (PARALLEL_LINKS in rules)
    if TWO_VOUCHERS in rules:
        _merge_twice_vouched(root, pairs, owners, groups.group, is_twofold, certain)
    n_suspects = np.bincount(groups.group[groups.suspect], minlength=len(root))
    is_odd = n_suspects >= _SUSPECTS
    none = np.zeros(len(root), bool)
    if SINGLE_VOUCHERS in rules:
        credible = single_vouchers(root, groups, is_odd, none, side_ptr, sides, mates)
        merge_sides(root, credible, links, groups, side_ptr, sides, mates)
    return replace(groups, group=np.where(alias >= 0, alias, root))


def _usable_sides(groups: Groups, alias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sides of addresses that are not suspect, without those in alias sets: (ptr, sides)."""
    owner = row_of_value(groups.side_ptr)
    used = ~groups.suspect[owner] & (alias[groups.sides] < 0)
    return offsets(np.bincount(owner[used], minlength=len(alias))), groups.sides[used]


def _sides_seen_by_one(
    observers: Observers, asked: np.ndarray, side_ptr: np.ndarray, sides: np.ndarray
) -> np.ndarray:
    """(n_asked,) bool: addresses of which one observer saw two sides."""
    ptr, at = positions_of_rows(side_ptr, asked)
    return observers.see_two(ptr, sides[at], np.arange(len(at)))


def _are_two(
    observers: Observers,
    pairs: np.ndarray,
    owners: np.ndarray,
    group: np.ndarray,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    mates: np.ndarray,
) -> np.ndarray:
    """Which pairs have vouchers that cannot be addresses of one odd router.

    Parameters
    ----------
    observers : Observers
    pairs, owners : (n_pairs,) int64
        As from ``watched_pairs``: two sides, and an address that has both, which vouches for them.
    group : (n_interfaces,) int64
    side_ptr, sides : int64
        As from ``_usable_sides``.
    mates : (n_interfaces,) int64

    Returns
    -------
    (n_pairs,) bool
    """
    one, other = split_key(pairs)
    mate = mates[owners]
    keys, key = np.unique(pairs, return_inverse=True)
    certain = np.bincount(key, (mate == one) | (mate == other), len(keys)) > 0
    asked = distinct_keys(owners[~certain[key]])
    by_one = np.zeros(len(group), bool)
    by_one[asked] = _sides_seen_by_one(observers, asked, side_ptr, sides)
    certain |= np.bincount(key, ~by_one[owners], len(keys)) > 0
    open_rows = np.flatnonzero(~certain[key])
    open_rows = open_rows[np.argsort(key[open_rows], kind="stable")]
    vouchers = owners[open_rows]
    ptr = offsets(np.bincount(key[open_rows], minlength=len(keys)))
    certain |= observers.see_two(ptr, vouchers, group[vouchers])
    return certain[key]


def _has_parallel_links(links: DirectedLinks, group: np.ndarray) -> np.ndarray:
    """(n,) bool: groups of which two addresses were seen right behind one address."""
    result = np.zeros(len(group), bool)
    on_the_way = links.n_router > 0
    near, far = links.near[on_the_way], group[links.far[on_the_way]]
    pairs, n_addresses = np.unique((near << 32) | far, return_counts=True)
    result[split_key(pairs[n_addresses > 1])[1]] = True
    return result


def _on_parallel_links(links: DirectedLinks, root: np.ndarray) -> np.ndarray:
    """Addresses of routers of which two were seen right behind one router."""
    on_the_way = links.n_router > 0
    near, far = split_key(
        distinct_keys((root[links.near[on_the_way]] << 32) | links.far[on_the_way])
    )
    _, which, n_addresses = np.unique(
        (near << 32) | root[far], return_inverse=True, return_counts=True
    )
    return far[n_addresses[which] > 1]


def _merge_twice_vouched(
    root: np.ndarray,
    pairs: np.ndarray,
    owners: np.ndarray,
    group: np.ndarray,
    is_twofold: np.ndarray,
    certain: np.ndarray,
) -> None:
    """Rule 1, in place."""
    x, y = split_key(pairs)
    voucher = group[owners]
    while True:
        one, other = root[x], root[y]
        apart = one != other
        x, y, voucher, one, other = x[apart], y[apart], voucher[apart], one[apart], other[apart]
        certain = certain[apart]
        key = pair_keys(one, other)
        order = np.lexsort((voucher, key))
        key, by, sure = key[order], voucher[order], certain[order]
        is_new = np.ones(len(key), bool)
        is_new[1:] = (key[1:] != key[:-1]) | (by[1:] != by[:-1])
        n_sure = np.add.reduceat(sure, np.flatnonzero(is_new)) if len(key) else sure
        distinct, which, n_vouchers = np.unique(
            key[is_new], return_inverse=True, return_counts=True
        )
        n_plain = np.bincount(which, ~is_twofold[by[is_new]], len(distinct))
        is_sure = np.bincount(which, n_sure, len(distinct)) > 0
        joined = distinct[(n_vouchers >= _VOUCHERS) & (n_plain > 0) & is_sure]
        if not len(joined):
            return
        unite(root, *split_key(joined))
