"""Last routers: at which addresses the traces to each destination end.

A trace ends at its last address before the destination's own reply. What counts is whether that
address is in the AS of the destination, as elected: otherwise the trace ended before it got there.

Destinations are known by 31 bits of a hash, and of very many only some are looked at, always the
same ones, so memory is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.rules import CUT, DESTINATION
from pipeline.infer.traces.spool import Traces
from pipeline.model.columns.keys import split_key
from pipeline.model.random_words import mix

_MOST_TRACES = 1 << 23  # beyond, every second destination is looked at, every fourth ...
_HASH = np.uint64(0x7FFF_FFFF)
_ELSEWHERE = 1 << 32  # added to a count for each trace that ended in another AS


@dataclass(frozen=True, eq=False)
class Aimed:
    """What tells destinations apart.

    Attributes
    ----------
    owner : (n_interfaces,) int64
        As elected; below 0 where unmapped or left out.
    asn_of : callable
        (n, 2) uint64 destinations -> (n,) int64 AS by prefix; ``NO_ASN`` for none.
    n_traces : int
    """

    owner: np.ndarray
    asn_of: Callable[[np.ndarray], np.ndarray]
    n_traces: int

    def at(self, aimed_at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Number and AS of destinations, (n_traces,) int64 each; AS -1: not looked at, or none."""
        word = _number(aimed_at)
        mask = np.uint64((1 << max(0, (self.n_traces - 1) // _MOST_TRACES).bit_length()) - 1)
        looked_at = (word >> np.uint64(31)) & mask == 0
        asn = np.full(len(word), -1, np.int64)
        asn[looked_at] = self.asn_of(aimed_at[looked_at])
        return (word & _HASH).astype(np.int64), asn


@dataclass(frozen=True, eq=False)
class Ends:
    """Pairs of a destination and an address at which traces to it end, sorted.

    Attributes
    ----------
    aim : (n_pairs,) int64
        Number of the destination.
    last : (n_pairs,) int64
    elsewhere : (n_pairs,) bool
        The address is not in the AS of the destination.
    before_gap : (n_pairs,) bool
        An unanswered hop lay between it and the answer of the destination in some trace.
    """

    aim: np.ndarray
    last: np.ndarray
    elsewhere: np.ndarray
    before_gap: np.ndarray


@njit(cache=True, nogil=True)
def _number(aimed_at):
    """(n_traces,) uint64: hash of each destination."""
    result = np.empty(len(aimed_at), np.uint64)
    for i in range(len(aimed_at)):
        result[i] = mix(mix(aimed_at[i, 0]) ^ aimed_at[i, 1])
    return result


@njit(cache=True, nogil=True)
def _watch_ends(hop_ptr, flags, ttl, ids, number, asn, owner, keys, counts):
    """Record (destination, last address); count traces that ended elsewhere or before a gap."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        end = hop_ptr[trace + 1]
        if asn[trace] < 0 or flags[trace] == CUT:
            continue
        answered = flags[trace] == DESTINATION
        if answered:
            end -= 1
        if end == hop_ptr[trace] or ids[end - 1] < 0:
            continue
        x = np.int64(ids[end - 1])
        key = (number[trace] << 32) | x
        slot = slot_of(keys, key)
        if keys[slot] != key:
            keys[slot] = key
            n_new += 1
        if owner[x] != asn[trace]:
            counts[slot, 0] += _ELSEWHERE
        elif answered and ttl[end] != ttl[end - 1] + 1:
            counts[slot, 0] += 1
    return n_new


@njit(cache=True, nogil=True)
def _watch_passed(hop_ptr, flags, ids, number, asn, owner, asked, keys, counts):
    """Record (destination, address) of asked addresses in its AS that another address follows."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        end = hop_ptr[trace + 1] - 1
        if asn[trace] < 0 or flags[trace] == CUT:
            continue
        if flags[trace] == DESTINATION:
            end -= 1
        for row in range(hop_ptr[trace], end):
            x = np.int64(ids[row])
            if x < 0 or not asked[x] or owner[x] != asn[trace] or ids[row + 1] == x:
                continue
            key = (number[trace] << 32) | x
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot] = key
                counts[slot, 0] = 1
                n_new += 1
    return n_new


def find_ends(spools: Spools, aimed: Aimed) -> Ends:
    """Where the traces to each destination end; one pass over the spools of router addresses."""

    def step(table: PairCounter, traces: Traces, aimed_at: np.ndarray) -> None:
        number, asn = aimed.at(aimed_at)
        table.reserve(int(np.count_nonzero(asn >= 0)))
        table.n_used += _watch_ends(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            number,
            asn,
            aimed.owner,
            table.keys,
            table.counts,
        )

    tables = spools.run_with_destinations(lambda: PairCounter(1), step)
    keys, counts = add_up([table.rows() for table in tables])
    aim, last = split_key(keys)
    return Ends(aim, last, counts[:, 0] >= _ELSEWHERE, counts[:, 0] % _ELSEWHERE > 0)


def find_passed(spools: Spools, aimed: Aimed, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Addresses in the AS of a destination by which traces to it went on; one pass.

    Parameters
    ----------
    spools : Spools
    aimed : Aimed
    asked : (n_interfaces,) bool
        Addresses that are looked at.

    Returns
    -------
    aim, address : (n_pairs,) int64
        Distinct pairs, sorted.
    """

    def step(table: PairCounter, traces: Traces, aimed_at: np.ndarray) -> None:
        number, asn = aimed.at(aimed_at)
        n_hops = np.diff(traces.hop_ptr)[asn >= 0].sum()
        table.reserve(int(min(n_hops, np.count_nonzero(asked[np.maximum(traces.ids, 0)]))))
        table.n_used += _watch_passed(
            traces.hop_ptr,
            traces.flags,
            traces.ids,
            number,
            asn,
            aimed.owner,
            asked,
            table.keys,
            table.counts,
        )

    tables = spools.run_with_destinations(lambda: PairCounter(1), step)
    keys, _ = add_up([table.rows() for table in tables])
    return split_key(keys)
