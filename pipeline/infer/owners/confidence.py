"""Confidence: the probability that what was inferred is right.

Of an address: that its AS is right. Of an ingress: that its AS is right, and that its router has a
link to an AS that is named with it. Both rest on the *margin* of the election (``borders``): how
much more any other AS costs than the one that a router got. It grows with all evidence that speaks
for this AS and against others, and it distinguishes four classes (``CLASSES``).

- **Address.** The class of its router: the largest margin among the addresses of the node that got
  the AS of the node. A node whose AS comes from its surroundings alone (``private``,
  ``adopt_unmapped``) is weak.
- **Ingress.** A border lies between two routers, so the class is the lower of two: that of the
  router, and that of the best of the routers right before it in other ASes. One of these is enough,
  as one named neighbour is. A router that has its AS from its surroundings is doubtful here: that
  rule looks for routers inside an AS. Few traces (``_FEW``) may be due to a change of routes on the
  way, and lower the class by one.
- **Candidate.** Where the AS begins was not seen, whatever the margins are; what counts is how many
  traces entered that way (``_MANY``): routers deep inside are rarely entered by many. Of those with
  fewer, more are right where addresses are nodes of their own: a router that is entered after a gap
  by one address and directly by another has a candidate there, merged it has none.

The share of each class that is right was counted in laboratories whose networks are known
(``SHARES``). It is the same for all networks: where many routers do not answer, confidence is too
high by some hundredths, elsewhere slightly too low. Real networks have no known
truth, and no share of them was counted.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.owners.election.borders import Election
from pipeline.model.topology import NO_ASN, IngressTable

CLASSES = ("doubtful", "weak", "fair", "strong")
_FROM = (10, 20, 40)  # least margin of a weak, fair and strong class, in tenths of a nat
_DOUBTFUL, _WEAK = 0, 1
_FEW = 3  # traces; an ingress with fewer is one class lower
CANDIDATE_CLASSES = ("few", "few, nothing merged", "many")
_MANY = 10  # traces after a gap

# Share right of each class, in the order of classes. Counted by ``python -m
# tests.oracles.truth.fit_confidence --into FILE LAB...``, which writes the lines from here on:
# with interfaces, inferred and true routers, each without and with registries.
# Laboratories: answers, customer, harsh, ixp, provider31, realistic; seeds 30 to 43, 110 to 117,
# 140 to 149.
SHARES = {
    "address": (0.675, 0.901, 0.949, 0.998),
    "ingress": (0.586, 0.871, 0.938, 0.995),
    "candidate": (0.056, 0.126, 0.286),
}


def class_nodes(
    node_of: np.ndarray, node_asn: np.ndarray, owner: np.ndarray, margin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Class of each node by the election.

    Parameters
    ----------
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
    owner, margin : (n_interfaces,) int64
        As in ``borders.Election``.

    Returns
    -------
    class : (n_nodes,) int64
        Position in ``CLASSES``.
    elected : (n_nodes,) bool
        Whether an address of the node was given its AS by the election.
    """
    elected = np.zeros(len(node_asn), bool)
    largest = np.zeros(len(node_asn), np.int64)
    agrees = (owner == node_asn[node_of]) & (owner != NO_ASN)
    elected[node_of[agrees]] = True
    np.maximum.at(largest, node_of[agrees], margin[agrees])
    return np.where(elected, np.searchsorted(_FROM, largest, side="right"), _WEAK), elected


def class_ingresses(
    table: IngressTable,
    near: np.ndarray,
    far: np.ndarray,
    node_asn: np.ndarray,
    node_class: np.ndarray,
    elected: np.ndarray,
    merged: bool,
) -> np.ndarray:
    """Class of each ingress.

    Parameters
    ----------
    table : IngressTable
    near, far : (n_pairs,) int64
        Nodes that traces passed one right after the other, ``far`` on the way.
    node_asn : (n_nodes,) int64
    node_class, elected : (n_nodes,)
        As from ``class_nodes``.
    merged : bool
        Some nodes have several addresses.

    Returns
    -------
    (n_ingresses,) int64
        Position in ``CLASSES``, or for a candidate in ``CANDIDATE_CLASSES``.
    """
    border = (node_asn[near] != node_asn[far]) & (node_asn[near] != NO_ASN)
    before = np.full(len(node_asn), _DOUBTFUL)
    np.maximum.at(before, far[border], node_class[near[border]])
    own = np.where(elected, node_class, _DOUBTFUL)
    lower = np.minimum(own, before)[table.node]
    lower = np.where(table.n_direct < _FEW, np.maximum(lower - 1, _DOUBTFUL), lower)
    of_candidate = np.where(table.n_after_gap >= _MANY, 2, 0 if merged else 1)
    return np.where(table.candidate, of_candidate, lower)


def rate(
    table: IngressTable,
    near: np.ndarray,
    far: np.ndarray,
    node_of: np.ndarray,
    node_asn: np.ndarray,
    election: Election,
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

    Returns
    -------
    addresses : (n_interfaces,) float32 or None
        NaN in no AS.
    ingresses : (n_ingresses,) float32 or None
        Both None if there was no choice of ASes.
    """
    owner, margin = election.owner, election.margin
    if margin is None:
        return None, None
    node_class, elected = class_nodes(node_of, node_asn, owner, margin)
    known = node_asn[node_of] != NO_ASN
    addresses = np.where(known, _shares("address")[node_class][node_of], np.float32(np.nan))
    near, far = node_of[near], node_of[far]
    merged = len(node_asn) < len(node_of)
    of_ingress = class_ingresses(table, near, far, node_asn, node_class, elected, merged)
    ingresses = np.empty(len(table), np.float32)
    for what, which in (("ingress", ~table.candidate), ("candidate", table.candidate)):
        ingresses[which] = _shares(what)[of_ingress[which]]
    return addresses, ingresses


def _shares(what: str) -> np.ndarray:
    return np.array(SHARES[what], np.float32)
