"""Routers that answer with private addresses: in the AS of the router before them.

Private address space ends at the border of a network: a link between two ASes has public addresses
on both ends, since each side must reach them. So a private address by which packets came in shows
a link inside one AS, and its router is in the AS of the router before it. MAP-IT [1]_ leaves such
addresses out; bdrmapIT [2]_ gives them to the AS around them.

The same private address may be used in many networks: an address takes an AS only if all of those
that are asked and say something are in the same AS. If they are in several, the next are asked,
until nothing changes:

1. routers right before it, so a run of private addresses takes its AS from its beginning;
2. private addresses right behind it: the links to these are inside their AS too;
3. where unanswered hops lie before it: the routers before these and those right behind it together;
4. where no router of a known AS is right before it, but a public address answered before it: the
   AS that all traces that ended at it were aimed at, if it is a single one. What nothing public
   answered before may be next to a vantage point, in whichever network that is.

An address that no trace passes may be that of the last customer. It takes the AS of the routers
before it only if some traces that end at it were aimed at this AS (``aims``): then they did not
leave it, and a customer there would be one without an AS of its own.

References
----------
.. [1] A. Marder, J. M. Smith, "MAP-IT: multipass accurate passive inferences from traceroute",
   IMC 2016.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.infer.owners.aims import Aims
from pipeline.infer.rule import Rule
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.topology import NO_ASN

PRIVATE_ROUTERS = Rule(
    "private-routers",
    "owners",
    "a router that answers with a private address is in the AS of the router before it",
    "private addresses and what precedes them",
    source="bdrmapIT (Marder et al., IMC 2018)",
)


@dataclass(frozen=True, eq=False)
class Around:
    """What traces show around nodes, or around groups of addresses.

    Attributes
    ----------
    near, far : (n_pairs,) int64
        Nodes that traces passed one right after the other, ``far`` on the way.
    before, after : (n_gaps,) int64
        Nodes that traces passed with unanswered hops between them.
    last : (n_aims,) int64
        Nodes at which traces ended.
    aimed_at : (n_aims,) int64
        AS at which these were aimed.
    """

    near: np.ndarray
    far: np.ndarray
    before: np.ndarray
    after: np.ndarray
    last: np.ndarray
    aimed_at: np.ndarray

    @classmethod
    def of(cls, links: DirectedLinks, aims: Aims, node_of: np.ndarray) -> Around:
        """What is around nodes; ``node_of`` (n_interfaces,) int64."""
        near, far = node_of[links.near], node_of[links.far]
        right_after, gap = links.n_router > 0, links.n_bridged > 0
        last = node_of[aims.router]
        return cls(near[right_after], far[right_after], near[gap], far[gap], last, aims.asn)


def follow_private_links(around: Around, asn: np.ndarray, private: np.ndarray) -> np.ndarray:
    """Give private nodes the AS of what comes before or after them.

    Parameters
    ----------
    around : Around
    asn : (n_nodes,) int64
        ``NO_ASN`` where unmapped, a placeholder where that is all that is known.
    private : (n_nodes,) bool
        Nodes that have special-purpose addresses only.

    Returns
    -------
    (n_nodes,) int64
    """
    asn, n = asn.copy(), len(asn)
    near, far = around.near, around.far
    leads_on = np.zeros(n, bool)
    leads_on[near] = True
    is_behind = _behind_public(around, private)
    inner = private[far]
    while True:
        unknown = private & (asn == NO_ASN)
        from_before = far, near
        from_behind = near[inner], far[inner]
        across = (
            np.concatenate([around.after, near]),
            np.concatenate([around.before, far]),
        )
        found = _agreed(*from_before, asn, unknown)
        stays = leads_on | _is_among(found, around)
        found[~stays] = NO_ASN
        if (found == NO_ASN).all():
            found = _agreed(*from_behind, asn, unknown)
        if (found == NO_ASN).all():
            beyond = unknown & leads_on
            beyond &= np.bincount(around.after, asn[around.before] != NO_ASN, n) > 0
            beyond &= np.bincount(far, asn[near] != NO_ASN, n) == 0
            beyond &= np.bincount(near, asn[far] != NO_ASN, n) > 0
            found = _agreed(*across, asn, beyond)
        if (found == NO_ASN).all():
            unentered = unknown & is_behind & (np.bincount(far, asn[near] != NO_ASN, n) == 0)
            found = _only_aim(around, unentered)
        if (found == NO_ASN).all():
            return asn
        asn = np.where(found != NO_ASN, found, asn)


def _agreed(here: np.ndarray, there: np.ndarray, asn: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """(n_nodes,) int64: AS that all known neighbours of asked nodes are in; ``NO_ASN`` for none."""
    used = asked[here] & (asn[there] != NO_ASN)
    least, most = np.full(len(asn), np.iinfo(np.int64).max), np.full(len(asn), NO_ASN)
    np.minimum.at(least, here[used], asn[there[used]])
    np.maximum.at(most, here[used], asn[there[used]])
    return np.where(least == most, most, NO_ASN)


def _only_aim(around: Around, asked: np.ndarray) -> np.ndarray:
    """(n_nodes,) int64: AS that all traces that ended at asked nodes were aimed at."""
    used = asked[around.last]
    last, aimed_at = around.last[used], around.aimed_at[used]
    least, most = np.full(len(asked), np.iinfo(np.int64).max), np.full(len(asked), NO_ASN)
    np.minimum.at(least, last, aimed_at)
    np.maximum.at(most, last, aimed_at)
    return np.where(least == most, most, NO_ASN)


def _behind_public(around: Around, private: np.ndarray) -> np.ndarray:
    """(n_nodes,) bool: a public node, or behind one, over links, gaps and private nodes."""
    before = np.append(around.near, around.before)
    after = np.append(around.far, around.after)
    result = ~private
    while True:
        found = after[result[before] & ~result[after]]
        if not len(found):
            return result
        result[found] = True


def _is_among(asn: np.ndarray, around: Around) -> np.ndarray:
    """(n_nodes,) bool: traces that ended at a node were aimed at this AS."""
    result = np.zeros(len(asn), bool)
    result[around.last[asn[around.last] == around.aimed_at]] = True
    return result


def locate_private(
    links: DirectedLinks, aims: Aims, group: np.ndarray, owner: np.ndarray, special: np.ndarray
) -> np.ndarray:
    """AS that private addresses are used in, before they are merged with others.

    Parameters
    ----------
    links : DirectedLinks
    aims : Aims
    group : (n_interfaces,) int64
        As from ``trust_groups``.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped, a placeholder where that is all that is known.
    special : (n_interfaces,) bool
        Private and other special-purpose addresses.

    Returns
    -------
    (n_interfaces,) int64
        ``NO_ASN`` for addresses that are not private, and where no single AS is known.
    """
    asn = np.full(len(group), NO_ASN)
    mapped = owner != NO_ASN
    asn[group[mapped]] = owner[mapped]
    private = np.bincount(group, ~special, minlength=len(group)) == 0
    around = Around.of(links, aims, group)
    return np.where(special, follow_private_links(around, asn, private)[group], NO_ASN)
