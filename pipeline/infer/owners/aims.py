"""What the traces were aimed at, seen from the routers on their way.

A trace ends near its destination: the last router that answers is mostly in the AS of the address
that the trace was aimed at, whether that address answered or not, and whoever numbered the link to
it [1]_. So for each router address two things are kept:

- the ASes whose addresses it was the *last* router to: nothing but the destination answered after
  it, and the destination only at the next TTL;
- the *only* AS that traces through it were aimed at, if there is one: everything but a transit
  network has few of these.

The AS of a destination is that of its prefix. That says nothing where the destination is the
address of a router: whoever numbers a link announces both its ends. Such traces are left out, as
far as the destination answered and is known as a router.

References
----------
.. [1] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018, section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.owners.prefixes import PrefixTable
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of, split_key
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import Traces
from pipeline.model.topology import NO_ASN

MANY = NO_ASN - 1  # in place of an AS: traces were aimed at several


@dataclass(frozen=True, eq=False)
class Aims:
    """ASes that traces were aimed at, by router address.

    Attributes
    ----------
    router : (n_pairs,) int64
        Interface that was the last router of some trace; sorted, then by ``asn``.
    asn : (n_pairs,) int64
        AS that these traces were aimed at.
    silent : (n_pairs,) bool
        Some of these destinations did not answer.
    only : (n_interfaces,) int64
        The only AS that traces through an address were aimed at; ``MANY``, or ``NO_ASN`` where no
        such trace had a destination in an AS.
    """

    router: np.ndarray
    asn: np.ndarray
    silent: np.ndarray
    only: np.ndarray


@njit(cache=True, nogil=True)
def _watch(hop_ptr, flags, ttl, ids, aimed_at, only, keys, counts):
    """Note the AS that each trace was aimed at along its way; pairs of last router and AS."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        asn = aimed_at[trace]
        start, end = hop_ptr[trace], hop_ptr[trace + 1]
        if asn < 0 or start == end:
            continue
        answered = flags[trace] == DESTINATION
        if answered:
            if ids[end - 1] >= 0:
                continue
            end -= 1
        for row in range(start, end):
            x = ids[row]
            if only[x] != asn:
                only[x] = asn if only[x] == NO_ASN else MANY
        if start == end or (answered and ttl[end] != ttl[end - 1] + 1):
            continue
        key = (np.int64(ids[end - 1]) << 32) | asn
        slot = slot_of(keys, key)
        if keys[slot] != key:
            keys[slot] = key
            n_new += 1
        counts[slot, int(answered)] += 1
    return n_new


def find_aims(spools: Spools, prefixes: PrefixTable | None, n: int) -> Aims:
    """Find what the traces past each router were aimed at; one pass.

    Parameters
    ----------
    spools : Spools
        With the addresses of routers only.
    prefixes : PrefixTable or None
        None: no destination is known to be in an AS.
    n : int
        Addresses.
    """
    if prefixes is None:
        none = np.empty(0, np.int64)
        return Aims(none, none, none.astype(bool), np.full(n, NO_ASN, np.int64))

    def start() -> tuple[np.ndarray, PairCounter]:
        return np.full(n, NO_ASN, np.int64), PairCounter(2)

    def step(
        state: tuple[np.ndarray, PairCounter], traces: Traces, destinations: np.ndarray
    ) -> None:
        only, table = state
        table.reserve(len(destinations))
        table.n_used += _watch(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            prefixes.lookup(destinations),
            only,
            table.keys,
            table.counts,
        )

    states = spools.run_with_destinations(start, step)
    only = states[0][0]
    for other, _ in states[1:]:
        differ = (other != only) & (other != NO_ASN)
        only[differ] = np.where(only[differ] == NO_ASN, other[differ], MANY)
    keys, counts = add_up([table.rows() for _, table in states])
    router, asn = split_key(keys)
    return Aims(router, asn, counts[:, 0] > 0, only)
