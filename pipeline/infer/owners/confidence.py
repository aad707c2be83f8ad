"""Confidence: the probability that what was inferred is right.

Of an address: that its AS is right. Of an ingress: that its AS is right, and that its router has a
link to an AS that is named with it. Both rest on the *margin* of the election (``elect``): how
much more any other AS costs than the one that a router got. It grows with all evidence that speaks
for this AS and against others, but it is no probability: whatever evidence has in common, several
pieces of it count too much. So the log-odds of being right are a weighted sum of what is known
(``WEIGHTS``), and its value distinguishes four classes (``CLASSES``).

- **Address.** What counts is the largest margin among the addresses of its node that got the AS of
  the node. A node whose AS comes from its surroundings alone (``private``) has none.
- **Ingress.** A border lies between two routers, so there are two margins: that of the router, and
  that of the best of the routers right before it in other ASes; one of these is enough, as one
  named neighbour is. The lower one counts most. Few traces may be due to a change of routes on the
  way; beyond some (``_ENOUGH``) more say no more. Several addresses of its node are evidence. Where
  traces go on right behind it to another AS, the border may as well be one router further.
- **Both.** A margin says more if relationships between ASes or the addresses of routers are
  known, and less where many traces enter ASes after a gap. How often a class is right depends on
  what is known besides (``KINDS``), so it was counted for each kind by itself.
- **Candidate.** Where the AS begins was not seen, whatever the margins are; what counts is how many
  traces entered that way (``_MANY``): routers deep inside are rarely entered by many. Of those with
  fewer, more are right where addresses are nodes of their own: a router that is entered after a gap
  by one address and directly by another has a candidate there, merged it has none.

Weights were fitted, and the share of each class that is right was counted (``SHARES``), in
laboratories whose networks are known. Real networks have no known truth, and no share of them was
counted.

That a sum of weights becomes a probability by a logistic curve is Platt's way [1]_.

References
----------
.. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
   likelihood methods", Advances in Large Margin Classifiers, 1999.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.infer.owners.elect import Election
from pipeline.model.topology import NO_ASN, IngressTable
from pipeline.model.words import LOW_CONFIDENCE

CLASSES = ("doubtful", "weak", "fair", "strong")
_FROM = (LOW_CONFIDENCE, 0.90, 0.97)  # least probability of a weak, fair and strong class
# What is known of a node: in a given alias set, or else whether routers were inferred; the second
# half with relationships between ASes.
_ROUTERS = ("interfaces", "inferred routers", "alias sets")
KINDS = (*_ROUTERS, *(f"{one}, relationships" for one in _ROUTERS))
_ENOUGH = 30  # traces
CANDIDATE_CLASSES = ("few", "few, nothing merged", "many")
_MANY = 10  # traces after a gap
# What is known, in the order of the weights.
FEATURES = {
    "address": (
        "always",
        "log(1 + margin in nats)",
        "AS from surroundings",
        "the same log, relationships known",
        "the same log, alias set",
        "share of entries after a gap",
    ),
    "ingress": (
        "always",
        "log(1 + lower margin in nats)",
        "log(1 + higher margin in nats)",
        "another AS right behind it",
        "log of the lower margin, relationships known",
        "log of the lower margin, alias set",
        "share of entries after a gap",
        "several addresses",
        "log(1 + traces), of at most so many",
    ),
}

# Weights, and share right of each class in the order of classes, one row per kind. ``python -m
# tests.oracles.truth.fit_confidence --into FILE LAB...`` writes the lines from here on:
# with interfaces, inferred and true routers, each without and with registries.
# Laboratories: answers, customer, harsh, ixp, provider31, realistic; seeds 300 to 331, 400 to
# 439.
WEIGHTS = {
    "address": (0.96, 2.33, 4.16, 0.40, 0.30, -4.19),
    "ingress": (-2.18, 2.14, 0.57, -1.43, 0.43, 0.25, -2.48, 0.77, 0.56),
}
SHARES = {
    "address": (
        (0.669, 0.791, 0.924, 0.995),
        (0.587, 0.784, 0.927, 0.997),
        (0.643, 0.833, 0.925, 0.997),
        (0.704, 0.838, 0.925, 0.997),
        (0.594, 0.855, 0.927, 0.999),
        (0.677, 0.881, 0.952, 0.999),
    ),
    "ingress": (
        (0.561, 0.813, 0.944, 0.993),
        (0.455, 0.728, 0.933, 0.996),
        (0.597, 0.752, 0.925, 0.996),
        (0.625, 0.868, 0.930, 0.995),
        (0.456, 0.793, 0.932, 0.998),
        (0.632, 0.801, 0.941, 0.999),
    ),
    "candidate": ((0.066, 0.143, 0.287),),
}


class Sides(NamedTuple):
    """Nodes that traces passed one right after the other, ``far`` on the way; (n_pairs,) int64."""

    near: np.ndarray
    far: np.ndarray


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
    relationships : bool
        Relationships between ASes are known.
    """

    margin: np.ndarray
    in_set: np.ndarray
    is_merged: np.ndarray
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


def features_of_nodes(known: Known, after_gap: float) -> np.ndarray:
    """(n_nodes, n_features) float64: what is known of the AS of each node, as ``FEATURES`` says."""
    nats = _log_nats(known.margin)
    return np.column_stack(
        [
            np.ones(len(nats)),
            nats,
            known.margin < 0,
            nats * known.relationships,
            nats * known.in_set,
            np.full(len(nats), after_gap),
        ]
    )


def features_of_ingresses(
    table: IngressTable, sides: Sides, node_asn: np.ndarray, known: Known, after_gap: float
) -> np.ndarray:
    """(n_ingresses, n_features) float64: what is known of each ingress, as ``FEATURES`` says."""
    own, n = known.margin, len(node_asn)
    near, far = sides
    border = (node_asn[near] != node_asn[far]) & (node_asn[near] != NO_ASN)
    before = np.full(n, -1, np.int64)
    np.maximum.at(before, far[border], own[near[border]])
    before = np.where(before < 0, own, before)  # nothing is known of that side
    goes_on = np.zeros(n, bool)
    goes_on[near[border & (node_asn[far] != NO_ASN)]] = True
    lower, higher = _log_nats(np.minimum(own, before)), _log_nats(np.maximum(own, before))
    by_node = np.column_stack(
        [
            np.ones(n),
            lower,
            higher,
            goes_on,
            lower * known.relationships,
            lower * known.in_set,
            np.full(n, after_gap),
            known.is_merged,
        ]
    )
    n_traces = np.minimum(table.n_direct, _ENOUGH)
    return np.column_stack([by_node[table.node], np.log1p(n_traces)])


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
    odds = np.array(_FROM) / (1 - np.array(_FROM))
    return np.searchsorted(np.log(odds), features @ np.array(WEIGHTS[what]), side="right")


def state(what: str, features: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """(n,) float32: confidence of addresses or ingresses of some kinds."""
    return np.array(SHARES[what], np.float32)[kind, class_of(what, features)]


def rate(
    table: IngressTable,
    near: np.ndarray,
    far: np.ndarray,
    node_of: np.ndarray,
    node_asn: np.ndarray,
    election: Election,
    in_set: np.ndarray,
    relationships: bool,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Confidence of addresses and of ingresses.

    Parameters
    ----------
    table : IngressTable
    near, far : (n_pairs,) int64
        Interfaces that traces passed one right after the other, ``far`` on the way.
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
    election : Election
    in_set : (n_interfaces,) bool
        Addresses in a given alias set.
    relationships : bool
        Relationships between ASes are known.

    Returns
    -------
    addresses : (n_interfaces,) float32 or None
        NaN in no AS.
    ingresses : (n_ingresses,) float32 or None
        Both None if there was no choice of ASes.
    """
    if election.margin is None:
        return None, None
    set_nodes = np.zeros(len(node_asn), bool)
    set_nodes[node_of[in_set]] = True
    margin = margins_of_nodes(node_of, node_asn, election.owner, election.margin)
    is_merged = np.bincount(node_of, minlength=len(node_asn)) > 1
    known = Known(margin, set_nodes, is_merged, relationships)
    n_after_gap = int(table.n_after_gap.sum())
    after_gap = n_after_gap / max(1, n_after_gap + int(table.n_direct.sum()))
    of_nodes = state("address", features_of_nodes(known, after_gap), known.kind)
    is_known = node_asn[node_of] != NO_ASN
    addresses = np.where(is_known, of_nodes[node_of], np.float32(np.nan))
    sides = Sides(node_of[near], node_of[far])
    features = features_of_ingresses(table, sides, node_asn, known, after_gap)
    of_candidates = class_candidates(table, merged=len(node_asn) < len(node_of))
    (shares,) = np.array(SHARES["candidate"], np.float32)
    stated = state("ingress", features, known.kind[table.node])
    return addresses, np.where(table.candidate, shares[of_candidates], stated)


def _log_nats(margin: np.ndarray) -> np.ndarray:
    """Logarithm of 1 + a margin, from tenths of a nat; 0 where there is none."""
    return np.log1p(np.maximum(margin, 0) / 10)
