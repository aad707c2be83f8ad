"""Confidence: the probability that what was inferred is right.

Of an address: that its AS is right. Of an ingress: that its AS is right, and that its router has a
link to an AS that is named with it. Both rest on the *margin* of the election (``elect``): how
much more any other AS costs than the one that a router got. It grows with all evidence that speaks
for this AS and against others, but it is no probability: whatever evidence has in common, several
pieces of it count too much. So the log-odds of being right are a weighted sum of what is known
(``WEIGHTS``), and its value distinguishes four classes (``CLASSES``).

- **Address.** What counts is the largest margin among the addresses of its node that got the AS of
  the node. A node whose AS comes from its surroundings alone (``private``) has none. Of a node with
  a private address less is sure: the address may be in use at several places.
- **Ingress.** A border lies between two routers, so there are two margins: that of the router, and
  that of the best of the routers right before it in other ASes; one of these is enough, as one
  named neighbour is. The lower one counts. Few traces may be due to a change of routes on the way;
  beyond some (``_ENOUGH``) more say no more. Several addresses of its node are evidence. Where
  traces go on right behind it to another AS, the border may as well be one router further.
- **Method.** Classic traceroute shows links that do not exist where load is balanced [1]_: the more
  of the traces that cross a border by its router are classic, the less a margin says. No ingress is
  "strong" where most are: of those that would be, 0.94 were right where load is balanced unevenly.
  What others of the same measurement are says nothing of it.
- **Aims.** A router without an address of its AS is there by what surrounds it; where all traces
  through it are aimed at that AS, too, its margin rests on aims alone.
- **Unseen ASes.** Of some ASes nothing ever answers, neither an address of their own nor a
  destination. Whether traces got into such an AS is not known: real networks that let no probe in
  end them at their provider's last router, and how many do is not known; most networks of the fit
  have none. So an AS of this kind is stated no higher than "weak".
- **Vantage points.** Of more of them the same margin and the same traces say a little less: more of
  what they see is seen by few. No more count than weights were fitted with (``_MOST_VANTAGES``).
- **Kinds.** How often a class is right depends on what is known besides (``KINDS``), so it was
  counted for each kind of knowledge by itself.
- **Candidate.** Where the AS begins was not seen, whatever the margins are; what counts is how many
  traces entered that way (``_MANY``): routers deep inside are rarely entered by many. Of those with
  fewer, more are right where addresses are nodes of their own: a router that is entered after a gap
  by one address and directly by another has a candidate there, merged it has none.

Weights were fitted, and the share of each class that is right was counted (``SHARES``), in networks
of known truth, each kind of network counting as much as any other. A kind that was left out is
stated nearly as well (docs/accuracy.md). Real networks have no known truth, and no share of them
was counted.

That a sum of weights becomes a probability by a logistic curve is Platt's way [2]_.

References
----------
.. [1] B. Augustin et al., "Avoiding traceroute anomalies with Paris traceroute", IMC 2006.
.. [2] J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
   likelihood methods", Advances in Large Margin Classifiers, 1999.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.infer.owners.aims import Aims
from pipeline.infer.owners.elect import Election
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.topology import NO_ASN, IngressTable
from pipeline.model.words import CONFIDENCE_CLASSES, CONFIDENCE_FROM

CLASSES = CONFIDENCE_CLASSES
# What is known of a node: in a given alias set, or else whether routers were inferred; the second
# half with relationships between ASes.
_ROUTERS = ("interfaces", "inferred routers", "alias sets")
KINDS = (*_ROUTERS, *(f"{one}, relationships" for one in _ROUTERS))
_ENOUGH = 30  # traces
_MOST_VANTAGES = 30
CANDIDATE_CLASSES = ("few", "few, nothing merged", "many")
_MANY = 10  # traces after a gap
_CLASSIC = "share of classic traces"
# What is known, in the order of the weights.
FEATURES = {
    "address": (
        "always",
        "log(1 + margin in nats)",
        "AS from surroundings",
        "a private address",
        "no address of its AS",
        "the same, and all traces aimed at its AS",
    ),
    "ingress": (
        "always",
        "log(1 + lower margin in nats)",
        "another AS right behind it",
        "several addresses",
        "log(1 + traces), of at most so many",
        "a private address at the border",
        "log(1 + vantage points), of at most so many",
        _CLASSIC,
        "the same times log(1 + lower margin in nats)",
        "no address of its AS",
        "the same, and all traces aimed at its AS",
    ),
}

# Weights, and share right of each class in the order of classes, one row per kind. ``python -m
# tests.oracles.truth.fit_confidence --into FILE KIND...`` writes the lines from here on:
# with interfaces, inferred and true routers, each without and with registries.
# Networks: brite, provider31, ixp, customer, answers, harsh, realistic, plain, ipv6, mpls,
# mpls_ultimate, ecmp, ecmp_classic, classic, carrier_nat, vantage_nat, private_core, rewriting,
# zero_ttl, zombies, loops, anycast, siblings, second_origins, outgoing, dark, firewalled,
# packed31; seeds 9621 to 9632.
WEIGHTS = {
    "address": (-0.29, 2.62, 5.57, -2.07, -0.91, 1.20),
    "ingress": (-1.94, 2.37, -0.57, 0.62, 0.94, -0.38, -0.48, 0.78, -1.50, 0.12, 1.10),
}
SHARES = {
    "address": (
        (0.629, 0.793, 0.929, 0.995),
        (0.579, 0.775, 0.927, 0.996),
        (0.585, 0.825, 0.949, 0.998),
        (0.542, 0.779, 0.929, 0.997),
        (0.514, 0.769, 0.928, 0.998),
        (0.529, 0.783, 0.955, 0.999),
    ),
    "ingress": (
        (0.546, 0.822, 0.945, 0.991),
        (0.478, 0.809, 0.939, 0.992),
        (0.549, 0.835, 0.958, 0.994),
        (0.530, 0.833, 0.954, 0.994),
        (0.500, 0.811, 0.963, 0.996),
        (0.485, 0.811, 0.976, 0.998),
    ),
    "candidate": ((0.107, 0.134, 0.289),),
}


class Sides(NamedTuple):
    """Nodes that traces passed one right after the other, ``far`` on the way; (n_pairs,) int64.

    ``n_traces``, ``n_paris``: traces that did, and those of them that are not classic.
    """

    near: np.ndarray
    far: np.ndarray
    n_traces: np.ndarray
    n_paris: np.ndarray


class Conditions(NamedTuple):
    """What is known of the whole measurement.

    Attributes
    ----------
    relationships : bool
        Relationships between ASes are known.
    classic : float
        Share of the traces that are by a classic method (``TraceBatch.n_classic``): for ingresses
        right before which no trace shows another AS.
    n_vantages : int
        Vantage points.
    """

    relationships: bool
    classic: float
    n_vantages: int


class Known(NamedTuple):
    """What is known of each node.

    Attributes
    ----------
    margin : (n_nodes,) int64
        By the election, in tenths of a nat; -1 where the AS comes from its surroundings.
    in_set : (n_nodes,) bool
        An address of it is in a given alias set.
    is_merged : (n_nodes,) bool
        It has several addresses.
    special : (n_nodes,) bool
        An address of it is private, or otherwise of special purpose.
    foreign : (n_nodes,) bool
        No address of it is numbered from its AS.
    aimed : (n_nodes,) bool
        Likewise, and all traces through it are aimed at its AS.
    relationships : bool
        Relationships between ASes are known.
    """

    margin: np.ndarray
    in_set: np.ndarray
    is_merged: np.ndarray
    special: np.ndarray
    foreign: np.ndarray
    aimed: np.ndarray
    relationships: bool

    @property
    def kind(self) -> np.ndarray:
        """(n_nodes,) int64: position in ``KINDS``."""
        is_inferred = bool((self.is_merged & ~self.in_set).any())
        return np.where(self.in_set, 2, int(is_inferred)) + len(_ROUTERS) * self.relationships


def margins_of_nodes(
    node_of: np.ndarray, node_asn: np.ndarray, owner: np.ndarray, margin: np.ndarray
) -> np.ndarray:
    """(n_nodes,) int64: largest margin of an address for the AS of its node; -1 without one.

    Parameters
    ----------
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
    owner, margin : (n_interfaces,) int64
        As in ``borders.Election``.
    """
    largest = np.full(len(node_asn), -1, np.int64)
    agrees = (owner == node_asn[node_of]) & (owner != NO_ASN)
    np.maximum.at(largest, node_of[agrees], margin[agrees])
    return largest


def features_of_nodes(known: Known) -> np.ndarray:
    """(n_nodes, n_features) float64: what is known of the AS of each node, as ``FEATURES`` says."""
    nats = _log_nats(known.margin)
    plain = [known.margin < 0, known.special, known.foreign, known.aimed]
    return np.column_stack([np.ones(len(nats)), nats, *plain])


def features_of_ingresses(
    table: IngressTable, sides: Sides, node_asn: np.ndarray, known: Known, conditions: Conditions
) -> np.ndarray:
    """(n_ingresses, n_features) float64: what is known of each ingress, as ``FEATURES`` says."""
    own, n = known.margin, len(node_asn)
    near, far, n_traces_of, n_paris_of = sides
    border = (node_asn[near] != node_asn[far]) & (node_asn[near] != NO_ASN)
    before = np.full(n, -1, np.int64)
    np.maximum.at(before, far[border], own[near[border]])
    before = np.where(before < 0, own, before)  # nothing is known of that side
    special = known.special.copy()
    special[far[border & known.special[near]]] = True
    goes_on = np.zeros(n, bool)
    goes_on[near[border & (node_asn[far] != NO_ASN)]] = True
    lower = _log_nats(np.minimum(own, before))
    shown = np.bincount(far[border], n_traces_of[border], n)
    by_paris = np.bincount(far[border], np.minimum(n_paris_of, n_traces_of)[border], n)
    classic = np.where(shown > 0, 1 - by_paris / np.maximum(shown, 1), conditions.classic)
    n_traces = np.zeros(n)
    n_traces[table.node] = np.minimum(table.n_direct, _ENOUGH)
    return np.column_stack(
        [
            np.ones(n),
            lower,
            goes_on,
            known.is_merged,
            np.log1p(n_traces),
            special,
            np.full(n, np.log1p(min(conditions.n_vantages, _MOST_VANTAGES))),
            classic,
            classic * lower,
            known.foreign,
            known.aimed,
        ]
    )[table.node]


def class_candidates(table: IngressTable, merged: bool) -> np.ndarray:
    """(n_ingresses,) int64: position in ``CANDIDATE_CLASSES``, were each a candidate.

    Parameters
    ----------
    table : IngressTable
    merged : bool
        Some nodes have several addresses.
    """
    return np.where(table.n_after_gap >= _MANY, 2, 0 if merged else 1)


def class_of(what: str, features: np.ndarray) -> np.ndarray:
    """(n,) int64: position in ``CLASSES`` of addresses or ingresses, by their features."""
    odds = np.array(CONFIDENCE_FROM) / (1 - np.array(CONFIDENCE_FROM))
    classes = np.searchsorted(np.log(odds), features @ np.array(WEIGHTS[what]), side="right")
    if what == "address":
        return classes
    mostly_classic = features[:, FEATURES[what].index(_CLASSIC)] > 0.5
    return np.where(mostly_classic, np.minimum(classes, len(CLASSES) - 2), classes)


def state(what: str, features: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """(n,) float32: confidence of addresses or ingresses of some kinds."""
    return np.array(SHARES[what], np.float32)[kind, class_of(what, features)]


def rate(
    table: IngressTable,
    links: DirectedLinks,
    node_of: np.ndarray,
    node_asn: np.ndarray,
    election: Election,
    in_set: np.ndarray,
    special: np.ndarray,
    origin: np.ndarray,
    aims: Aims,
    conditions: Conditions,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Confidence of addresses and of ingresses.

    Parameters
    ----------
    table : IngressTable
    links : DirectedLinks
        Between interfaces.
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
    election : Election
    in_set : (n_interfaces,) bool
        Addresses in a given alias set.
    special : (n_interfaces,) bool
        Addresses of special purpose, such as private ones.
    origin : (n_interfaces,) int64
        AS by prefix; ``NO_ASN`` for none.
    aims : Aims
    conditions : Conditions

    Returns
    -------
    addresses : (n_interfaces,) float32 or None
        NaN in no AS.
    ingresses : (n_ingresses,) float32 or None
        Both None if there was no choice of ASes.
    """
    if election.margin is None:
        return None, None
    n = len(node_asn)
    set_nodes, special_nodes = np.zeros(n, bool), np.zeros(n, bool)
    set_nodes[node_of[in_set]] = True
    special_nodes[node_of[special]] = True
    foreign, aimed = np.ones(n, bool), np.ones(n, bool)
    foreign[node_of[origin == node_asn[node_of]]] = False
    aimed[node_of[aims.only != node_asn[node_of]]] = False
    margin = margins_of_nodes(node_of, node_asn, election.owner, election.margin)
    is_merged = np.bincount(node_of, minlength=n) > 1
    flags = set_nodes, is_merged, special_nodes, foreign, foreign & aimed
    known = Known(margin, *flags, conditions.relationships)
    seen = np.concatenate([origin, aims.asn[aims.answered]])
    unseen = ~np.isin(node_asn, seen)
    of_nodes = state("address", features_of_nodes(known), known.kind)
    of_nodes = capped("address", of_nodes, known.kind, unseen)
    is_known = node_asn[node_of] != NO_ASN
    addresses = np.where(is_known, of_nodes[node_of], np.float32(np.nan))
    crossed = links.n_router > 0
    sides = Sides(
        node_of[links.near[crossed]],
        node_of[links.far[crossed]],
        links.n_router[crossed],
        links.n_paris[crossed],
    )
    features = features_of_ingresses(table, sides, node_asn, known, conditions)
    of_candidates = class_candidates(table, merged=n < len(node_of))
    (shares,) = np.array(SHARES["candidate"], np.float32)
    stated = state("ingress", features, known.kind[table.node])
    stated = capped("ingress", stated, known.kind[table.node], unseen[table.node])
    return addresses, np.where(table.candidate, shares[of_candidates], stated)


def capped(what: str, stated: np.ndarray, kind: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """The same, but no more than what is stated of a weak one where the AS is unseen."""
    weak = np.array(SHARES[what], np.float32)[kind, CLASSES.index("weak")]
    return np.where(unseen, np.minimum(stated, weak), stated)


def _log_nats(margin: np.ndarray) -> np.ndarray:
    """Logarithm of 1 + a margin, from tenths of a nat; 0 where there is none."""
    return np.log1p(np.maximum(margin, 0) / 10)
