"""Addresses that no prefix covers: in the AS that surrounds them.

This rule is our own. It only fills what the election left open.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.owners.unannounced import FIRST_STAND_IN
from pipeline.infer.rule import Rule
from pipeline.model.topology import NO_ASN

SURROUNDED = Rule(
    "surrounded",
    "owners",
    "an unmapped router with one AS before and behind it is in that AS",
    "predecessors and successors",
)


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
