"""Places of private addresses: where in the network each of them answered.

Any network may number its routers from private and shared ranges, so one such address may be on
many routers. What tells them apart is what lies around them in traces. So a private address is
several interfaces, one a **place**: the last public address that answered before it in the trace
(of the first answers, the vantage point's own, or else the first public one behind).

Two places of one address are one if the same public address, or the same place of another private
one, was seen right behind both: that has one predecessor on a link. This is repeated until nothing
changes, so a run of private addresses is joined from its end. Later, places in one AS are joined
(``infer.routers.rules.one_number``), since a network uses each number once.

Places of an address are ordered by the smallest public address before them, zeros where there is
none, then by the smallest behind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pipeline.infer.rule import Rule
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION, is_repeated
from pipeline.infer.traces.spool import Traces
from pipeline.model.columns.keys import split_key
from pipeline.model.columns.ragged import offsets, run_starts
from pipeline.model.forest import unite

PRIVATE_PLACES = Rule(
    "private-places",
    "routers",
    "a private address is one router a place, not one router a number",
    "public addresses before and behind private ones",
)


@njit(cache=True, nogil=True, inline="always")
def _around(ids, private, row, start, end, vantage, n):
    """What tells the place of a private hop: see ``Around``."""
    for at in range(row - 1, start - 1, -1):
        if ids[at] >= 0 and not private[ids[at]]:
            return np.int64(ids[at]) + 1
    if vantage >= 0:
        return 2 * n + 1 + vantage
    for at in range(row + 1, end):
        if ids[at] >= 0 and not private[ids[at]]:
            return n + 1 + np.int64(ids[at])
    return np.int64(0)


@njit(cache=True, nogil=True)
def _find(hop_ptr, flags, ttl, ids, private, vantage, n, keys, number, n_known, pairs, counts):
    """Number the places, and count what is right behind each; new places and pairs."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        start, end = hop_ptr[trace], hop_ptr[trace + 1]
        for row in range(start, end):
            if ids[row] < 0 or not private[ids[row]]:
                continue
            around = _around(ids, private, row, start, end, vantage[trace], n)
            key = (np.int64(ids[row]) << 32) | around
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot], number[slot, 0] = key, n_known
                n_known += 1
            if row + 1 == end or ids[row + 1] < 0 or ttl[row + 1] != ttl[row] + 1:
                continue
            own = row + 2 == end and flags[trace] == DESTINATION
            if own or ids[row + 1] == ids[row] or is_repeated(ttl, ids, row + 1, end):
                continue
            pair = (number[slot, 0] << 32) | np.int64(ids[row + 1])
            slot = slot_of(pairs, pair)
            if pairs[slot] != pair:
                pairs[slot], counts[slot, 0] = pair, 1
                n_new += 1
    return n_known, n_new


@njit(cache=True, nogil=True)
def _assign(hop_ptr, ids, private, vantage, n, first, keys, place, out):
    """Interface of each hop."""
    for trace in range(len(hop_ptr) - 1):
        start, end = hop_ptr[trace], hop_ptr[trace + 1]
        for row in range(start, end):
            out[row] = ids[row]
            if ids[row] < 0:
                continue
            out[row] = first[ids[row]]
            if private[ids[row]]:
                around = _around(ids, private, row, start, end, vantage[trace], n)
                slot = slot_of(keys, (np.int64(ids[row]) << 32) | around)
                out[row] = place[slot]


@dataclass(frozen=True, eq=False)
class Places:
    """Interfaces of private addresses that are in several places.

    Attributes
    ----------
    address : (n_interfaces,) int64, ascending
        Address of each interface; those of one that is in a single place have one.
    """

    address: np.ndarray
    _first: np.ndarray
    _private: np.ndarray
    _vantage: np.ndarray
    _keys: np.ndarray
    _place: np.ndarray

    def assign(self, batch: Batch) -> Traces:
        """The traces of a batch by interfaces."""
        traces = batch.traces
        out = np.empty_like(traces.ids)
        _assign(
            traces.hop_ptr,
            traces.ids,
            self._private,
            batch.of_vantage(self._vantage),
            len(self._private),
            self._first,
            self._keys,
            self._place,
            out,
        )
        return replace(traces, ids=out)


# Places by number, and what is right behind them.
_Seen: TypeAlias = tuple[PairCounter, PairCounter]


class _Found(NamedTuple):
    """Places as keys, (address << 32) | around, ascending; (place, address right behind)."""

    keys: np.ndarray
    place: np.ndarray
    behind: np.ndarray


def find_places(private: np.ndarray, vantage: np.ndarray) -> Finding[_Seen, Places | None]:
    """Find the places of private addresses; None where none is in several.

    Parameters
    ----------
    private : (n_addrs,) bool
        Addresses that may be in several places.
    vantage : (n_vantages,) int64
        By ``Spools.vantages``: a number for those with public addresses, ascending; -1 for others.
    """
    n = len(private)

    def step(seen: _Seen, batch: Batch) -> None:
        traces, (places, pairs) = batch.traces, seen
        places.reserve(len(traces.ids))
        pairs.reserve(len(traces.ids))
        n_known, n_new = _find(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            private,
            batch.of_vantage(vantage),
            n,
            places.keys,
            places.counts,
            places.n_used,
            pairs.keys,
            pairs.counts,
        )
        places.n_used = n_known
        pairs.n_used += n_new

    def end(threads: list[_Seen]) -> Places | None:
        found = _add_up(threads)
        root = _join(found, private)
        address = split_key(found.keys)[0]
        is_root = root == np.arange(len(root))
        if np.bincount(address[is_root], minlength=n).max(initial=0) < 2:
            return None
        # Roots are the smallest members: by address, then by the public address before.
        n_places = np.maximum(1, np.bincount(address[is_root], minlength=n))
        first = offsets(n_places)[:-1]
        own = np.cumsum(is_root) - 1  # number among all roots
        before = own[run_starts(address)][np.cumsum(np.r_[False, address[1:] != address[:-1]])]
        place = first[address] + own[root] - before
        table = PairCounter(1)
        table.reserve(len(found.keys))
        _fill(found.keys, place, table.keys, table.counts)
        return Places(
            np.repeat(np.arange(n), n_places),
            first.astype(np.int32),
            private,
            vantage,
            table.keys,
            table.counts[:, 0].astype(np.int32),
        )

    return Finding(lambda: (PairCounter(1), PairCounter(1)), step, end)


@njit(cache=True, nogil=True)
def _fill(keys, place, slots, counts):
    for i in range(len(keys)):
        slot = slot_of(slots, keys[i])
        slots[slot], counts[slot, 0] = keys[i], place[i]


def _add_up(threads: list[_Seen]) -> _Found:
    """Places and pairs of all threads, places by their keys."""
    keys = np.unique(np.concatenate([places.rows()[0] for places, _ in threads]))
    tables = []
    for places, pairs in threads:
        own, number = places.rows()
        at = np.empty(len(own), np.int64)
        at[number[:, 0]] = np.searchsorted(keys, own)
        place, behind = split_key(pairs.rows()[0])
        pair = np.sort((at[place] << 32) | behind)
        tables.append((pair, np.ones((len(pair), 1), np.int64)))
    return _Found(keys, *split_key(add_up(tables)[0]))


def _join(found: _Found, private: np.ndarray) -> np.ndarray:
    """(n_places,) int64: smallest of the places that are one."""
    address, around = split_key(found.keys)
    root = np.arange(len(found.keys))
    # Right behind a private address, another one is in the place of the same surroundings.
    is_place = private[found.behind]
    key = (found.behind << 32) | around[found.place]
    at = np.minimum(np.searchsorted(found.keys, key), max(0, len(found.keys) - 1))
    n = len(private)
    while True:
        behind = np.where(is_place, n + root[at] if len(root) else 0, found.behind)
        order = np.lexsort((found.place, behind, address[found.place]))
        one, other = found.place[order[:-1]], found.place[order[1:]]
        same = (behind[order[:-1]] == behind[order[1:]]) & (address[one] == address[other])
        same &= root[one] != root[other]
        if not same.any():
            return root
        unite(root, one[same], other[same])
