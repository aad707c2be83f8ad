"""Which destinations are routers.

The destination's own final reply is not a router unless the destination also answered as one:

1. its address answered as a router somewhere (``traces.rules``); or
2. its router did, under another address, as a point-to-point link shows: the address and its
   mate (``subnet_mates``) both answered as destinations, neither is a vantage, and traces passed
   one of the two routers on the way to the other. That is seen in the hops before: one trace ended
   ``p, end``, another ``p, x, other end``, with x, which is not p, the reply of the router of the
   first end (or x is that end itself): a *passage*; or
3. another interface of its alias set belongs to a router by 1 or 2. That does not make a vantage a
   router.

The second rule finds links that no trace crosses on its way to anywhere else, where router
interfaces were traced to. A host right behind its gateway is taken for a router by this rule if
both were traced to and the host's address is the mate of the gateway's.

All other destinations are hosts: no node, and no end of a link. ``targets_are_routers`` takes
every destination that answered and is not a vantage for a router: for measurements that were aimed
at routers.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pipeline.infer.rule import Rule
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.merge import ObservedAddresses
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION
from pipeline.model.columns.keys import distinct_keys, is_among, split_key
from pipeline.model.tables.aliases import AliasTable

PASSAGES = Rule(
    "passed-destinations",
    "routers",
    "a destination that traces to its subnet mate pass through is a router",
    "destinations that answered, subnet mates, predecessors",
)


@njit(cache=True, nogil=True)
def _find_passages(hop_ptr, flags, ttl, ids, mates, passed, keys, counts):
    """Mark destinations right behind their mates; record (address before, destination) of others.

    Returns how many pairs are new.
    """
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        last = hop_ptr[trace + 1] - 1
        if flags[trace] != DESTINATION or last - 1 < hop_ptr[trace]:
            continue
        far, near = np.int64(ids[last]), np.int64(ids[last - 1])
        mate = mates[far]
        if mate < 0 or ttl[last] != ttl[last - 1] + 1:
            continue
        if near == mate:
            passed[far] = True
        else:
            before = last - 2
            while before >= hop_ptr[trace] and ids[before] == near:  # it answered more than once
                before -= 1
            if before < hop_ptr[trace] or ttl[before + 1] != ttl[before] + 1:
                continue
            key = (np.int64(ids[before]) << 32) | far
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot] = key
                counts[slot, 0] = 1
                n_new += 1
    return n_new


class Passages(NamedTuple):
    """How traces came to destinations that have a mate.

    Attributes
    ----------
    right_behind : (n_addrs,) bool
        The mate was the hop before some of these answers.
    before, far : (n_pairs,) int64
        Address before the hop before a destination, and the destination; sorted.
    """

    right_behind: np.ndarray
    before: np.ndarray
    far: np.ndarray

    def find_passed(self, links: DirectedLinks, mates: np.ndarray) -> np.ndarray:
        """(n_addrs,) bool: destinations that traces reached through the router of their mate.

        Parameters
        ----------
        links : DirectedLinks
            In the same numbering.
        mates : (n_addrs,) int64
            As from ``find_mates``.
        """
        direct = links.n_router + links.n_destination > 0
        linked = (links.near[direct] << 32) | links.far[direct]
        passed = self.right_behind.copy()
        passed[self.far[is_among((self.before << 32) | mates[self.far], linked)]] = True
        return passed


# Marks, and pairs.
_Seen: TypeAlias = tuple[np.ndarray, PairCounter]


def find_passages(mates: np.ndarray) -> Finding[_Seen, Passages]:
    """Find how traces came to destinations.

    Parameters
    ----------
    mates : (n_addrs,) int64
        As from ``find_mates``.
    """

    def start() -> _Seen:
        return np.zeros(len(mates), np.bool_), PairCounter(1)

    def step(seen: _Seen, batch: Batch) -> None:
        passed, pairs = seen
        traces = batch.traces
        hops = traces.hop_ptr, traces.flags, traces.ttl, traces.ids
        pairs.reserve(len(traces.flags))
        pairs.n_used += _find_passages(*hops, mates, passed, pairs.keys, pairs.counts)

    def end(threads: list[_Seen]) -> Passages:
        keys, _ = add_up([pairs.rows() for _, pairs in threads])
        return Passages(np.logical_or.reduce([passed for passed, _ in threads]), *split_key(keys))

    return Finding(start, step, end)


def find_routers(
    observed: ObservedAddresses,
    mates: np.ndarray,
    passed: np.ndarray,
    targets_are_routers: bool = False,
    aliases: AliasTable | None = None,
) -> np.ndarray:
    """Which addresses are interfaces of routers.

    Parameters
    ----------
    observed : ObservedAddresses
    mates : (n_addrs,) int64
        As from ``find_mates``.
    passed : (n_addrs,) bool
        As from ``Passages.find_passed``.
    targets_are_routers : bool
        Take every destination that answered and is not a vantage for a router.
    aliases : AliasTable or None
        Interfaces that are one router: if one belongs to a router, so do all but vantages.

    Returns
    -------
    (n_addrs,) bool
    """
    candidate = observed.is_target & ~observed.is_vantage
    if targets_are_routers:
        return _spread(observed.is_router | candidate, observed, aliases)
    far = np.flatnonzero(passed)
    far = far[candidate[far] & candidate[mates[far]]]
    is_end = np.zeros(len(candidate), bool)
    is_end[far] = is_end[mates[far]] = True
    return _spread(observed.is_router | is_end, observed, aliases)


def _spread(
    is_router: np.ndarray, observed: ObservedAddresses, aliases: AliasTable | None
) -> np.ndarray:
    """Give what is known of one interface to its alias set; vantages stay what they are."""
    if aliases is None:
        return is_router
    alias_set = aliases.routers_of(observed.addrs)
    known = distinct_keys(alias_set[is_router & (alias_set >= 0)])
    return is_router | (is_among(alias_set, known) & ~observed.is_vantage)
