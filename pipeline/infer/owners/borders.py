"""Election: the AS of a router from all its links, not from one address.

A link between two ASes is numbered from one of them, so a border router often answers with its
neighbour's address, and by prefix alone the router behind it looks like the ingress. What is
known instead is how a router's links are numbered and who is at their other ends:

1. Addresses are grouped by router (``routers.inferred``). An address b by which packets come
   in stands for one point-to-point link: from the group of its sides to the group of b, numbered
   from the AS of b's prefix. Two mates that imply the same link count once. For a suspect address
   only the numbering is known, not the other end. An address on the LAN of an exchange point stands
   for no link, and its prefix shows neither whose router it is on nor that the router before it is
   in the same AS.
2. Two groups that were seen next to each other without such a link (a destination's own reply,
   a suspect address) are *adjacent*: numbering unknown. That counts less than a link, since
   several groups may be one router; but not between two routers that an alias file knows.
   Answering hosts right behind a group are strong evidence for their AS if no trace passes through
   the group from router to router, counted once for each address by which packets came in.
   Otherwise the host may be a router of the next AS, and stands for a link to that AS, if the group
   has no other.
   So is the AS of what traces were aimed at (``aims``): a group is in one of the ASes that its
   addresses were the last routers to, whether the destination answered or not. If all traces
   through a group were aimed at a single AS, that settles ties.
   A member of an exchange point that is registered with an address of a group is evidence for that
   AS; of several, any one.
3. Each group starts with the AS that most of its links are numbered from, and then takes,
   group by group until nothing changes, the AS for which its surroundings cost least. A link or
   adjacency to another AS has a cost (most links stay inside), and a link that is numbered from
   neither of its ends a much higher one, since nobody does that on purpose. Among ASes of equal
   cost the present one is kept, then the one that comes first in the order of links.
4. A border router with one link on either side of the border could be on either. How links
   between two ASes are numbered is a habit (by the provider, the larger, the lower number ...),
   so it is learned from the election itself: of links between ASes, how many are numbered from the
   AS with the lower number, separately where that is the larger AS and where it is the smaller.
   Only links whose two ends are *certain* count: any other AS would cost more even without a habit.
   A tie is broken by the order of AS numbers, so it would teach that order. The rarer way of
   numbering costs more, and step 3 is repeated. Links of known providers with their customers have
   a habit of their own.
5. A group from which nothing goes on, and whose links are all numbered from the ASes at their
   other ends, is the router of a customer of these ASes if several of them are known to number
   links to others: it is in none of them, however many of its links lead to one of them. It stays
   without an AS. So does one that is linked to a single such AS and is at an exchange point: it
   meets others there.
6. An address takes the AS of its group. An address that no prefix holds is numbered from a
   stand-in (``unannounced``), which takes part like an AS until destinations show whose it is;
   routers in a stand-in that stays unknown are in no AS. A private address takes the AS of the
   routers before it (``private``). The remaining addresses take the AS that all their mapped
   neighbours have, if there are some both before and after; otherwise none.

Evidence adds up: what several addresses each show by themselves, they show as one router too.

The ideas are those of MAP-IT [1]_ (evidence from both sides of a link, several rounds) and
bdrmapIT [2]_ (routers, not addresses, are what an AS owns; destinations speak for the last of
them). AS relationships and organisations, which bdrmapIT needs, are used where they are given
(``relations``). The costs (``costs``) were chosen on simulated networks
(``tests/unit/pipeline/infer/simulate.py`` and Internet-like ones) of different sizes and ways of
numbering, none of them a laboratory that the result is measured on; they can be changed by half
without much effect.

References
----------
.. [1] A. Marder, J. M. Smith, "MAP-IT: multipass accurate passive inferences from traceroute",
   IMC 2016.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.aims import Aims
from pipeline.infer.owners.costs import by_habit, cost_of, ways_of_numbering, without_habit
from pipeline.infer.owners.relations import relations_among, with_stranger
from pipeline.infer.owners.surroundings import (
    AIMED,
    HOST,
    ONLY,
    HostsBehind,
    Members,
    Surroundings,
    surround,
)
from pipeline.infer.owners.unannounced import FIRST_STAND_IN, name_stand_ins
from pipeline.infer.registries import Registries
from pipeline.infer.routers.point_to_point import Groups
from pipeline.infer.traces.counting import split_key
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.topology import NO_ASN

_MAX_SWEEPS = 20  # over all groups; usually 3 to 5 are enough
_LESSONS = 4  # how often the habit is learned


@njit(cache=True, nogil=True)
def _settle(ptr, other, numbered, labels, size, n_known, ways, tried, met):
    """Give each group the AS of least cost, in place, until nothing changes."""
    stamp = 0
    tried[:] = -1
    for _ in range(_MAX_SWEEPS):
        changed = False
        for group in range(len(ptr) - 1):
            start, end = ptr[group], ptr[group + 1]
            if start == end:
                continue
            best, best_cost = labels[group], np.int64(1) << 60
            if best >= 0:
                best_cost = cost_of(
                    best, start, end, other, numbered, labels, size, n_known, ways, met
                )
                tried[best] = stamp
            for i in range(start, end):
                for which in range(2):
                    if which == 0:
                        one = numbered[i]
                    else:
                        one = labels[other[i]] if other[i] >= 0 else np.int64(-1)
                    if one < 0 or tried[one] == stamp:
                        continue
                    tried[one] = stamp
                    cost = cost_of(
                        one, start, end, other, numbered, labels, size, n_known, ways, met
                    )
                    if cost < best_cost:
                        best, best_cost = one, cost
            stamp += 1
            if best != labels[group]:
                labels[group] = best
                changed = True
        if not changed:
            break


@njit(cache=True, nogil=True)
def _margins(ptr, other, numbered, labels, size, n_known, absent, ways, tried, met):
    """Cost of the cheapest other AS less that of the AS that each group has; 0 without one.

    With ``absent``, the row after the last, one of the others is an AS that is not around: a group
    that only one AS is near may still be in another, and what it costs to be in none of those
    around tells how much evidence there is. Without (-1) such a group has a huge margin.
    """
    margins = np.zeros(len(labels), np.int64)
    tried[:] = -1
    for group in range(len(ptr) - 1):
        start, end, label = ptr[group], ptr[group + 1], labels[group]
        if start == end or label < 0:
            continue
        cost = cost_of(label, start, end, other, numbered, labels, size, n_known, ways, met)
        least = np.int64(1) << 60
        if absent >= 0:
            least = cost_of(absent, start, end, other, numbered, labels, size, n_known, ways, met)
        tried[label] = group
        for i in range(start, end):
            for which in range(2):
                if which == 0:
                    one = numbered[i]
                else:
                    one = labels[other[i]] if other[i] >= 0 else np.int64(-1)
                if one < 0 or tried[one] == group:
                    continue
                tried[one] = group
                least = min(
                    least,
                    cost_of(one, start, end, other, numbered, labels, size, n_known, ways, met),
                )
        margins[group] = max(least - cost, 0)
    return margins


def _majorities(around: Surroundings, group_of: np.ndarray, row_of: np.ndarray) -> np.ndarray:
    """(n,) int64: AS row from which most links of each group are numbered, -1 for none.

    Of several, the one that most of its own addresses are from.
    """
    n = len(around.ptr) - 1
    source = row_of_value(around.ptr)
    mapped = around.numbered >= 0
    keys, counts = np.unique((source[mapped] << 32) | around.numbered[mapped], return_counts=True)
    group, row = split_key(keys)
    is_own = row_of >= 0
    own, n_own = np.unique((group_of[is_own] << 32) | row_of[is_own], return_counts=True)
    at = np.minimum(np.searchsorted(own, keys), max(0, len(own) - 1))
    n_own = np.where(own[at] == keys, n_own[at], 0) if len(own) else np.zeros(len(keys), np.int64)
    order = np.lexsort((row, -n_own, -counts, group))
    group, row = group[order], row[order]
    first = np.ones(len(group), bool)
    first[1:] = group[1:] != group[:-1]
    labels = np.full(n, -1, np.int64)
    labels[group[first]] = row[first]
    return labels


def _customers(
    around: Surroundings, labels: np.ndarray, certain: np.ndarray, at_exchange: np.ndarray
) -> np.ndarray:
    """(n,) bool: groups that are in none of the ASes they are linked to (step 5)."""
    n = len(labels)
    source = row_of_value(around.ptr)
    is_link = around.numbered >= -1
    source, other, numbered = source[is_link], around.other[is_link], around.numbered[is_link]
    end = np.maximum(other, 0)
    beyond = np.where(other >= 0, labels[end], -1)
    linked = beyond >= 0
    least, most = np.full(n, n), np.full(n, -1)
    np.minimum.at(least, source[linked], beyond[linked])
    np.maximum.at(most, source[linked], beyond[linked])
    own_numbers = (numbered >= 0) & (numbered != beyond)  # or no other end was seen
    between = linked & certain[source] & certain[end] & (labels[source] != beyond)
    between &= (numbered == beyond) | (numbered == labels[source])
    excluded = np.zeros(n, bool)
    excluded[source[own_numbers | (other <= HOST)]] = True
    excluded[source[linked & ~np.isin(beyond, numbered[between])]] = True
    of_several = (most > least) | (at_exchange & (most >= 0))
    return of_several & ~around.goes_on & ~excluded


class Election(NamedTuple):
    """What was elected, and how clearly.

    Attributes
    ----------
    owner : (n_interfaces,) int64
        A stand-in for routers of an owner that no destination names. ``NO_ASN`` where nothing is
        numbered from an AS (LANs aside), and on routers that are in none of the ASes around them.
    margin : (n_interfaces,) int64 or None
        How much more any other AS costs, in tenths of a nat. None: there was no choice of ASes.
    """

    owner: np.ndarray
    margin: np.ndarray | None


def elect_owners(
    links: DirectedLinks,
    groups: Groups,
    mates: np.ndarray,
    on_lan: np.ndarray,
    origin: np.ndarray,
    hosts: HostsBehind,
    aims: Aims,
    in_set: np.ndarray,
    registries: Registries,
    members: Members,
) -> Election:
    """Elect the AS of each address that is numbered from one or on the LAN of an exchange point.

    Parameters
    ----------
    links : DirectedLinks
    groups : Groups
    mates : (n_interfaces,) int64
    on_lan : (n_interfaces,) bool
        As from ``find_exchange_lans``.
    origin : (n_interfaces,) int64
        AS that each address is numbered from, as from ``number_unannounced``.
    hosts : HostsBehind
    aims : Aims
    in_set : (n_interfaces,) bool
        Addresses in an alias set.
    registries : Registries
    members : Members
    """
    ases = np.unique(np.concatenate([origin, hosts.asn, aims.asn, aims.only, members.asn]))
    ases = ases[ases >= 0]
    n_known = int(np.searchsorted(ases, FIRST_STAND_IN))
    if len(ases) < 2:
        return Election(origin.copy(), None)
    row = np.where((origin == NO_ASN) | on_lan, -1, np.searchsorted(ases, origin))
    around = surround(links, groups, mates, on_lan, row, hosts, aims, members, ases, in_set)
    graph = (around.ptr, around.other, around.numbered)
    labels = _majorities(around, groups.group, row)
    size = np.bincount(row[row >= 0], minlength=len(ases))
    relations = relations_among(ases, registries)
    no_habit, ways = without_habit(relations), by_habit(relations)
    tried = np.empty(len(ases), np.int64)
    met = np.zeros(len(ases) + 1, np.int64)
    if n_known < len(ases):
        # Destinations show the owner of a stand-in; before that they must not decide for that AS.
        quiet = np.where(around.other <= AIMED, -1, around.numbered)
        _settle(around.ptr, around.other, quiet, labels, size, n_known, ways, tried, met)
        is_host = (around.other <= HOST) & (around.other != ONLY)  # or a destination beyond
        router, host = row_of_value(around.ptr)[is_host], around.numbered[is_host]
        stands_for = name_stand_ins(router, labels[router], host, n_known, len(ases))
        for rows in (row, labels, around.numbered):
            rows[rows >= 0] = stands_for[rows[rows >= 0]]
        size = np.bincount(row[row >= 0], minlength=len(ases))
    for lesson in range(_LESSONS + 1):
        before = labels.copy()
        _settle(*graph, labels, size, n_known, ways, tried, met)
        certain = _margins(*graph, labels, size, n_known, -1, no_habit, tried, met) > 0
        if lesson and np.array_equal(before, labels):
            break
        seen = ways_of_numbering(*graph, labels, size, n_known, relations, certain)
        ways = by_habit(relations, seen)
    ways = ways._replace(relations=with_stranger(relations))
    margins = _margins(*graph, labels, size, n_known, len(ases), ways, tried, met)
    at_exchange = np.zeros(len(labels), bool)
    at_exchange[groups.group[on_lan]] = True
    labels[_customers(around, labels, certain, at_exchange)] = -1
    label = labels[groups.group]
    owner = np.where(((row >= 0) | on_lan) & (label >= 0), ases[np.maximum(label, 0)], NO_ASN)
    return Election(owner, margins[groups.group])


def adopt_unmapped(near: np.ndarray, far: np.ndarray, asn: np.ndarray) -> np.ndarray:
    """Give unmapped nodes the AS that surrounds them.

    Parameters
    ----------
    near, far : (n_pairs,) int64
        Nodes that traces passed one right after the other.
    asn : (n_nodes,) int64
        ``NO_ASN`` where unmapped, a stand-in where that is all that is known.

    Returns
    -------
    (n_nodes,) int64
        A node whose mapped neighbours before it and after it are all in one AS, some on each
        side, is in that AS. Unmapped neighbours do not count, those in a stand-in count as in
        another AS, and there is only one round, so AS numbers do not spread along runs of unmapped
        nodes. Nodes still in a stand-in are now unmapped.
    """
    n = len(asn)
    unmapped = (asn == NO_ASN) | (asn >= FIRST_STAND_IN)
    sides = []
    for here, there in ((near, far), (far, near)):
        known = unmapped[here] & (asn[there] != NO_ASN)
        least, most = np.full(n, np.iinfo(np.int64).max), np.full(n, NO_ASN)
        np.minimum.at(least, here[known], asn[there[known]])
        np.maximum.at(most, here[known], asn[there[known]])
        sides.append((least, most))
    (after_least, after_most), (before_least, before_most) = sides
    agreed = (
        (after_most != NO_ASN)
        & (after_least == after_most)
        & (before_least == before_most)
        & (after_most == before_most)
    )
    adopted = np.where(agreed, after_most, asn)
    return np.where(adopted < FIRST_STAND_IN, adopted, NO_ASN)
