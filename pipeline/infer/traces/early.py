"""Early replies: the destination's address answered, then others did, and the destination never.

Of one destination that may be so: a router whose own address the packet passed. But where several
destinations "answered" right before one next hop, none of them is there: a gateway answered that
sends with the address that a packet was aimed at (NAT64 and virtual networks have such). Their
replies show no router and no link: those TTLs count as unanswered. Which destinations a hop follows
is seen in all traces together, in those too whose destination answered at last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.observer import Observation

EARLY_REPLIES = Rule(
    "early-replies",
    "gaps",
    "destinations that answer right before one next hop, and never again, are no hops",
    "destinations that answered before others did",
    "2 destinations: " + CHOSEN,
)
# Destinations "seen" before one next hop from which on none is believed.
_SEVERAL = 2


def find_believed(observations: Sequence[Observation], every: bool = False) -> list[np.ndarray]:
    """Which early pairs of each observation show a router.

    Parameters
    ----------
    observations : sequence of Observation
    every : bool
        All of them: ``EARLY_REPLIES`` is left out.

    Returns
    -------
    list of (n_early,) bool
        In the order of the observations.
    """
    if not observations:
        return []
    pairs = [_addresses(observation) for observation in observations]
    distinct, inverse = np.unique(np.concatenate(pairs), axis=0, return_inverse=True)
    _, next_hop, n_before = np.unique(
        distinct[:, 2:], axis=0, return_inverse=True, return_counts=True
    )
    believed = ((n_before < _SEVERAL) | every)[next_hop.ravel()][inverse.ravel()]
    return np.split(believed, np.cumsum([len(rows) for rows in pairs])[:-1])


def _addresses(observation: Observation) -> np.ndarray:
    """(n_early, 4) uint64: the destination and the next hop of each early pair."""
    early = np.load(observation.early)
    if not len(early):
        return np.empty((0, 4), np.uint64)
    return np.load(observation.addrs)[early].reshape(len(early), 4)
