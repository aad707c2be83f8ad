"""Dead ends: router addresses behind which no trace shows another router.

Two dead ends are on one router if the traces to the same destinations end at both, whether these
answered or not: each vantage may enter the last router before them by another interface. A router
further away is a dead end too only if all routers between it and whatever traces through it were
aimed at are silent. Only destinations in announced space count: traces to others may end anywhere.

A vantage point all of whose traces end at one router, and none at its destination, is *blocked*:
nothing shows whether that router is near the destinations or near the vantage point, as behind a
firewall or where each vantage point has a single trace. Such traces show no dead ends.

The destinations of a dead end are compared by those ``_KEPT`` of them whose hashes are smallest
[1]_, so memory does not grow with traces.

References
----------
.. [1] A. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pipeline.infer.rule import Rule
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import CUT, DESTINATION
from pipeline.model.random_words import mix, mix_words

DEAD_ENDS = Rule(
    "dead-ends",
    "routers",
    "dead ends where traces to the same destinations end are one router",
    "last routers, destinations",
)

_KEPT = 4
_BITS = 22  # of a hash, by which vantage points are known: two that share them count as one
_NOWHERE, _SEVERAL = -1, -2  # in place of the router at which all traces of a vantage point end
_NONE = 0xFFFF_FFFF_FFFF_FFFF  # in place of a hash


@njit(cache=True, nogil=True, inline="always")
def _keep(kept, value):
    """Insert a value into ascending distinct ones of which the smallest are kept."""
    at = len(kept)
    while at > 0 and kept[at - 1] >= value:
        at -= 1
    if at == len(kept) or kept[at] == value:
        return
    for i in range(len(kept) - 1, at, -1):
        kept[i] = kept[i - 1]
    kept[at] = value


@njit(cache=True, nogil=True)
def _watch_vantages(hop_ptr, flags, ids, vantage, only):
    """Note the router at which all traces of each vantage point end."""
    for trace in range(len(hop_ptr) - 1):
        end, at = hop_ptr[trace + 1], vantage[trace]
        if end == hop_ptr[trace] or flags[trace] == CUT or at < 0:
            continue
        if flags[trace] == DESTINATION:
            only[at] = _SEVERAL
        elif only[at] != ids[end - 1]:
            only[at] = ids[end - 1] if only[at] == _NOWHERE else _SEVERAL


@njit(cache=True, nogil=True)
def _ends(hop_ptr, flags, ttl, ids, is_blocked, row, leads_on):
    """(n_traces,) row of the dead end that each trace ends at, or -1; ``row`` is -1 for others.

    Of traces of blocked vantage points -1. A dead end with unanswered hops between it and a
    destination that answered leads on.
    """
    result = np.full(len(hop_ptr) - 1, -1, np.int64)
    for trace in range(len(hop_ptr) - 1):
        end = hop_ptr[trace + 1]
        answered = flags[trace] == DESTINATION
        if answered:
            end -= 1
        if end == hop_ptr[trace] or flags[trace] == CUT or ids[end - 1] < 0 or is_blocked[trace]:
            continue
        at = row[ids[end - 1]]
        if at >= 0 and answered and ttl[end] != ttl[end - 1] + 1:
            leads_on[at] = True
        else:
            result[trace] = at
    return result


@njit(cache=True, nogil=True)
def _keep_aims(row, aimed_at, kept):
    for i in range(len(row)):
        _keep(kept[row[i]], mix(mix(aimed_at[i, 0]) ^ aimed_at[i, 1]))


@njit(cache=True, nogil=True)
def _merge_kept(kept, other):
    for row in range(len(other)):
        for value in other[row]:
            _keep(kept[row], value)


@njit(cache=True, nogil=True)
def _mix_rows(kept):
    result = np.zeros(len(kept), np.uint64)
    for row in range(len(kept)):
        for value in kept[row]:
            result[row] = mix(result[row] ^ value)
    return result


def _numbers(vantages: np.ndarray) -> np.ndarray:
    """(n,) int64: number of each vantage point, (n, 2) uint64."""
    word = mix_words(mix_words(vantages[:, 0]) ^ vantages[:, 1])
    return (word >> np.uint64(64 - _BITS)).astype(np.int64)


def find_only_ends(vantages: np.ndarray) -> Finding[np.ndarray, np.ndarray]:
    """By vantage point, (2 ** _BITS,) int32: router at which all its traces end.

    Parameters
    ----------
    vantages : (n_vantages, 2) uint64
        As of ``Spools``.
    """
    number = _numbers(vantages)

    def start() -> np.ndarray:
        return np.full(1 << _BITS, _NOWHERE, np.int32)

    def step(only: np.ndarray, batch: Batch) -> None:
        traces, vantage = batch.traces, batch.of_vantage(number)
        _watch_vantages(traces.hop_ptr, traces.flags, traces.ids, vantage, only)

    def end(threads: list[np.ndarray]) -> np.ndarray:
        only, *others = threads
        for other in others:
            differ = (other != _NOWHERE) & (other != only)
            only[differ] = np.where(only[differ] == _NOWHERE, other[differ], _SEVERAL)
        return only

    return Finding(start, step, end)


class DeadEnds(NamedTuple):
    """Dead ends.

    Attributes
    ----------
    address : (n_ends,) int64, ascending
    group : (n_ends,) int64
        Equal for those at which the traces to the same destinations end.
    """

    address: np.ndarray
    group: np.ndarray

    @classmethod
    def none(cls) -> DeadEnds:
        """No dead ends."""
        return cls(*np.empty((2, 0), np.int64))


# Smallest hashes of what traces were aimed at, by address that may be a dead end; which lead on.
_Kept: TypeAlias = tuple[np.ndarray, np.ndarray]


def find_dead_ends(
    links: DirectedLinks,
    n: int,
    vantages: np.ndarray,
    only: np.ndarray,
    is_announced: Callable[[np.ndarray], np.ndarray],
) -> Finding[_Kept, DeadEnds]:
    """Find dead ends and what the traces that end there were aimed at.

    Parameters
    ----------
    links : DirectedLinks
        Of the addresses of routers.
    n : int
        Addresses of routers.
    vantages : (n_vantages, 2) uint64
        As of ``Spools``.
    only : (2 ** _BITS,) int32
        As from ``find_only_ends``.
    is_announced : callable
        (n, 2) uint64 destinations -> (n,) bool: not announced ones are left out, since traces to
        these may end anywhere.
    """
    number = _numbers(vantages)
    leads_on = np.zeros(n, bool)
    leads_on[links.near] = True
    address = np.flatnonzero(~leads_on)
    row = np.full(n, -1, np.int64)
    row[address] = np.arange(len(address))

    def start() -> _Kept:
        return np.full((len(address), _KEPT), _NONE, np.uint64), np.zeros(len(address), np.bool_)

    def step(state: _Kept, batch: Batch) -> None:
        kept, leads_on = state
        traces, aimed_at = batch.traces, batch.destinations
        vantage = batch.of_vantage(number)
        is_blocked = (vantage >= 0) & (only[vantage] != _SEVERAL)
        hops = traces.hop_ptr, traces.flags, traces.ttl, traces.ids
        ends = _ends(*hops, is_blocked, row, leads_on)
        at_end = np.flatnonzero(ends >= 0)
        at_end = at_end[is_announced(aimed_at[at_end])]
        _keep_aims(ends[at_end], aimed_at[at_end], kept)

    def end(threads: list[_Kept]) -> DeadEnds:
        kept = threads[0][0]
        for other, _ in threads[1:]:
            _merge_kept(kept, other)
        is_end = (kept[:, 0] != _NONE) & ~np.logical_or.reduce([passed for _, passed in threads])
        _, group = np.unique(_mix_rows(kept[is_end]), return_inverse=True)
        return DeadEnds(address[is_end], group)

    return Finding(start, step, end)
