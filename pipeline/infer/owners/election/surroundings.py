"""The surroundings of each group of addresses: the evidence that the election weighs (``elect``).

One row for each link or adjacency of a group, for each kind of hosts right behind it and for each
AS that traces past it were aimed at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.infer.owners.aims import MANY, Aims
from pipeline.infer.owners.election.earlier import Knowledge
from pipeline.infer.owners.election.evidence import AddressEvidence, Named
from pipeline.infer.owners.terms import (
    broken_off,
    destinations,
    host_names,
    hosts,
    hosts_past,
    members,
    only_destination,
    transit,
)
from pipeline.infer.owners.unannounced import FIRST_STAND_IN
from pipeline.infer.rule import EVERY_RULE, Rules
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, pair_keys, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.topology import NO_ASN

# In place of the other end:
HOST = -2  # hosts of the AS
HOST_OR_ROUTER = -3  # the same, right behind a router that leads on
AIMED = -4  # an AS that an address of the group was the last router to
AIMED_PERHAPS = -5  # the same, but its destinations answered and may be routers
AIMED_SILENT = -10  # the same, and none of its destinations answered
AIMED_BROKEN = -11  # the same, though others go on from the group: traces may break off there
ONLY = -6  # the only AS that traces through the group were aimed at
ONLY_OF_SIBLINGS = -9  # the same, said of siblings alone
CROSSED = -12  # traces to several ASes cross the group
MEMBER = -7  # a member registered with an address of the group on the LAN of an exchange point

# A host name that says an AS; less that, what any other AS costs, in tenths of a nat.
NAMED = -100

# In place of the AS that a link is numbered from:
ADJACENCY = -2  # not known to be one link
UNNUMBERED = -3  # a link between two routers of alias sets
PRIVATE = -4  # a link by a private address from which traces go on

# What is not looked at without a term.
_ENDS = (
    (hosts.TERM, (HOST,)),
    (hosts_past.TERM, (HOST_OR_ROUTER,)),
    (destinations.TERM, (AIMED, AIMED_PERHAPS, AIMED_SILENT, AIMED_BROKEN)),
    (only_destination.TERM, (ONLY, ONLY_OF_SIBLINGS)),
    (transit.TERM, (CROSSED,)),
    (members.TERM, (MEMBER,)),
)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Evidence of each group as a CSR over interface ids; links are listed at both ends.

    Attributes
    ----------
    ptr : (n_interfaces + 1,) int64
    other : (n_rows,) int64
        Group at the other end, -1 for unknown; ``HOST``, ``HOST_OR_ROUTER``, ``AIMED``,
        ``AIMED_PERHAPS``, ``AIMED_SILENT``, ``AIMED_BROKEN``, ``ONLY``, ``ONLY_OF_SIBLINGS``,
        ``MEMBER``, ``NAMED`` and less.
    numbered : (n_rows,) int64
        AS row that the link is numbered from, -1 for unmapped, or ``ADJACENCY``, ``UNNUMBERED``,
        ``PRIVATE``. The AS row of hosts or destinations.
    """

    ptr: np.ndarray
    other: np.ndarray
    numbered: np.ndarray


def _passed(links: DirectedLinks, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Addresses by which packets came in from one group and went on to another; (n,) bool.

    Second, those from which they went on; third, likewise, if only past unanswered hops.

    The first answer of a trace is not among them: what is behind the router next to a vantage is
    the rest of the network, whatever AS the router is in.
    """
    apart = group[links.near] != group[links.far]
    came, went, went_far = np.zeros((3, len(group)), bool)
    came[links.far[apart & (links.n_router + links.n_bridged > 0)]] = True
    went[links.near[apart & (links.n_router + links.n_destination > 0)]] = True
    went_far[links.near[apart]] = True
    return came & went, went, went_far


def _of_groups(group: np.ndarray, of: np.ndarray) -> np.ndarray:
    """(n,) bool: groups with an address that is one of those; ``of`` (n,) bool."""
    found = np.zeros(len(group), bool)
    found[group[of]] = True
    return found


def _find_unseen(shown: AddressEvidence, row: np.ndarray, ases: np.ndarray) -> np.ndarray:
    """(n_ases,) bool: ASes of which nothing answered.

    What answers may be of one of them if it is numbered from no known AS, and traces to it end
    there; the other arguments are those of ``surround``.
    """
    unseen = ~np.isin(ases, shown.answering) & (ases < FIRST_STAND_IN)
    any_ones = (row < 0) | (ases[row] >= FIRST_STAND_IN)
    ends_there = shown.aims.asn[any_ones[shown.aims.router]]
    unseen[np.searchsorted(ases, ends_there)] = False
    return unseen


def _private_links(
    links: DirectedLinks, group: np.ndarray, row: np.ndarray, private: np.ndarray
) -> np.ndarray:
    """Private addresses that stand for a link inside one AS; (n,) bool.

    Many networks may use the same one. So all that is right before it must be one group, or
    numbered from one AS.
    """
    n = len(group)
    direct = (links.n_router + links.n_destination > 0) & private[links.far]
    near, far = links.near[direct], links.far[direct]
    is_one = np.zeros(n, bool)
    for kind in (group, row):
        known = kind[near] >= 0
        least, most = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
        np.minimum.at(least, far[known], kind[near[known]])
        np.maximum.at(most, far[known], kind[near[known]])
        is_one |= least == most
    return is_one


def surround(
    shown: AddressEvidence,
    known: Knowledge,
    row: np.ndarray,
    ases: np.ndarray,
    rules: Rules = EVERY_RULE,
) -> Surroundings:
    """Gather the evidence of each group.

    Parameters
    ----------
    shown : AddressEvidence
    known : Knowledge
        Of the election that it is for.
    row : (n_interfaces,) int64
        AS row that each address is numbered from; -1 for none, and on LANs.
    ases : (n_ases,) int64
        AS of each row, ascending; holds all that are named in ``shown``.
    rules : Rules
    """
    links, groups, on_lan = shown.links, known.groups, shown.on_lan
    hosts_behind, aims, registered_members = shown.hosts, shown.aims, shown.members
    n = len(row)
    group = groups.group
    ids = np.arange(n)
    near = np.where(groups.near_side >= 0, group[np.maximum(groups.near_side, 0)], -1)
    # A link implied by both its ends counts once; keep what the larger address says.
    mate = np.maximum(shown.mates, 0)
    implied_twice = (shown.mates > ids) & (near == group[mate]) & (near[mate] == group)
    near = np.where(near == group, -1, near)
    leads_on, goes_on, goes_far = (_of_groups(group, are) for are in _passed(links, group))
    private = _private_links(links, group, row, (row < 0) & ~on_lan & goes_on[group])
    by = np.where(private & (near >= 0), PRIVATE, row)
    one, other, numbered = group[~implied_twice], near[~implied_twice], by[~implied_twice]
    linked = other >= 0
    pair = pair_keys(one, other)
    direct = (links.n_router + links.n_destination > 0) & ~on_lan[links.far]
    # An address of which only the numbering is known stands for the link to what is before it: what
    # is before it counts for that side, but not again for the side of the address.
    stands_alone = (near < 0) & (row >= 0) & ~implied_twice
    before, behind_it = group[links.near[direct]], group[links.far[direct]]
    back = ~stands_alone[links.far[direct]]
    a, b = np.append(before, behind_it[back]), np.append(behind_it, before[back])
    a, b = split_key(distinct_keys((a << 32) | b))
    adjacent = (a != b) & ~is_among(pair_keys(a, b), pair[linked])
    a, b = a[adjacent], b[adjacent]
    mapped = hosts_behind.asn != NO_ASN
    host_row = np.searchsorted(ases, hosts_behind.asn[mapped])
    gate, host = split_key(distinct_keys((hosts_behind.router[mapped] << 32) | host_row))
    behind = np.where(leads_on[group[gate]], HOST_OR_ROUTER, HOST)
    has_siblings = known.registries.organisations is not None
    past, aimed, aimed_at = aims_of_groups(
        aims, group, leads_on, goes_on, known.only_settles, ases, has_siblings
    )
    if broken_off.TERM in rules:
        told = ~(goes_far[past] & _find_unseen(shown, row, ases)[aimed_at])
        past, aimed, aimed_at = past[told], aimed[told], aimed_at[told]
    registered = np.searchsorted(ases, registered_members.asn)
    member, registered = split_key(
        distinct_keys((group[registered_members.router] << 32) | registered)
    )
    named, say, named_as = _names_of_groups(shown.named, group, ases, rules)
    crossed = _crossed(aims, group)
    source = np.concatenate([one, other[linked], a, group[gate], past, member, named, crossed])
    of_members, of_crossed = np.full(len(member), MEMBER), np.full(len(crossed), CROSSED)
    target = np.concatenate([other, one[linked], b, behind, aimed, of_members, say, of_crossed])
    certain = _of_groups(group, known.in_set)
    between = np.where(certain[a] & certain[b], UNNUMBERED, ADJACENCY)
    hidden = private[links.far[direct]]
    between[is_among(pair_keys(a, b), pair_keys(before[hidden], behind_it[hidden]))] = PRIVATE
    rows = [numbered, numbered[linked], between, host, aimed_at, registered, named_as]
    kind = np.concatenate([*rows, np.full(len(crossed), -1)])
    if broken_off.TERM not in rules:
        target = np.where(target == AIMED_BROKEN, AIMED_SILENT, target)
    kept = ~np.isin(target, [end for term, ends in _ENDS for end in ends if term not in rules])
    source, target, kind = source[kept], target[kept], kind[kept]
    order = np.lexsort((kind, target, source))
    ptr = offsets(np.bincount(source, minlength=n))
    return Surroundings(ptr, target[order], kind[order])


def _names_of_groups(
    named: Named, group: np.ndarray, ases: np.ndarray, rules: Rules
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group, ``NAMED`` less its weight and AS row of what host names say of each group."""
    weight = np.minimum(named.nats, host_names.TERM.weights["named_most"])
    _, first = np.unique((group[named.router] << 32) | named.name, return_index=True)
    if host_names.TERM not in rules:
        first = first[:0]
    say = NAMED - np.rint(10 * weight[first]).astype(np.int64)
    return group[named.router[first]], say, np.searchsorted(ases, named.asn[first])


def _crossed(aims: Aims, group: np.ndarray) -> np.ndarray:
    """Groups that traces to several ASes cross, ascending."""
    some = np.flatnonzero(aims.only != NO_ASN)
    several = np.zeros(len(group), bool)
    several[group[some[aims.only[some] == MANY]]] = True
    one = np.full(len(group), NO_ASN)
    one[group[some]] = aims.only[some]
    differs = aims.only[some] != one[group[some]]
    several[group[some[differs]]] = True
    return np.flatnonzero(several)


def aims_of_groups(
    aims: Aims,
    group: np.ndarray,
    leads_on: np.ndarray,
    goes_on: np.ndarray,
    only_settles: np.ndarray,
    ases: np.ndarray,
    has_siblings: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group, kind and AS row of what traces past each group were aimed at.

    Parameters
    ----------
    aims : Aims
    group : (n_interfaces,) int64
    leads_on, goes_on, only_settles : (n_interfaces,) bool
        Groups that traces pass through, from one to another; those from which traces go on, which
        may begin there; and those that get ``ONLY``.
    ases : (n_ases,) int64, ascending
    has_siblings : bool
        The others get ``ONLY_OF_SIBLINGS``.
    """
    n = len(group)
    last, row = group[aims.router], np.searchsorted(ases, aims.asn)
    n_aims = np.bincount(last, minlength=n)
    unsure = ~aims.silent & leads_on[last]  # what answers may be a router of the next AS
    silent = np.where(goes_on[last], AIMED_BROKEN, AIMED_SILENT)
    kind = np.where(aims.answered, np.where(unsure, AIMED_PERHAPS, AIMED), silent)
    least, most = np.full(n, np.iinfo(np.int64).max), np.full(n, NO_ASN)
    some = aims.only != NO_ASN
    np.minimum.at(least, group[some], aims.only[some])
    np.maximum.at(most, group[some], aims.only[some])
    through = (n_aims == 0) & (least == most) & (least >= 0)
    through = np.flatnonzero(through & (only_settles | has_siblings))
    only = np.where(only_settles[through], ONLY, ONLY_OF_SIBLINGS)
    return (
        np.concatenate([last, through]),
        np.concatenate([kind, only]),
        np.concatenate([row, np.searchsorted(ases, most[through])]),
    )
