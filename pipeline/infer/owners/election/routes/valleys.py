"""Places where traces pass an AS that would carry them for neither neighbor, by known relations.

An AS carries traffic between two others only if one of them is its customer [1]_: what it learned
from a provider or a peer it tells its customers alone. So where traces pass routers of AS A, B and
C one right after the other, and neither A nor C is a customer of B, nor of its organisation, the
owner of some router there may be wrong (``filling``); so it is where A is C. A *valley* is the last
router in A, those in B and the first one in C. Where nothing is known of A and B, or of B and C,
there is none, unless A is C; unanswered hops and routers in no AS end a path.

To see what another owner changes, one has to know what traces pass around a router: the *windows*
of the routers in valleys, up to ``_REACH`` routers before and after them.

References
----------
.. [1] L. Gao, "On inferring autonomous system relationships in the Internet", IEEE/ACM Transactions
   on Networking 9 (6), 2001.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case
from pipeline.infer.owners.election.relations import NOTHING, relation
from pipeline.infer.owners.election.routes.distinct import DistinctRows
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.spool import Traces
from pipeline.model.random_words import GOLDEN, mix
from pipeline.model.tables.relationships import CUSTOMER, SIBLING

_REACH = 4
WIDTH = 2 * _REACH + 1
LONGEST = _REACH - 1  # routers in B of a valley: from each of them the whole valley is in reach
_N_RECENT = 1 << 16  # windows of a block that are known to have been seen


@njit(cache=True, nogil=True)
def _is_valley(relations, before, here, after):
    """Whether an AS carries traffic between two others though neither is its customer."""
    to_before, to_after = relation(relations, before, here), relation(relations, after, here)
    if before == after:
        return to_before != SIBLING
    carried = (NOTHING, SIBLING, CUSTOMER)
    return to_before not in carried and to_after not in carried


@njit(cache=True, nogil=True)
def next_valley(relations, labels, n_known, passed, n, start):
    """Position of the first router in B of the next valley, and of the one after B; (n, n): none.

    Parameters
    ----------
    relations : Relations
    labels : (n_groups,) int64
    n_known : int
        Labels from here on are stand-ins.
    passed : (>= n,) int
        Groups that a path passes, no two in a row the same; -1 at ends.
    n : int
    start : int
        Position, at least 1, where the search begins.
    """
    i = start
    while i < n - 1:
        before, here = passed[i - 1], passed[i]
        if before < 0 or here < 0 or labels[before] == labels[here]:
            i += 1
            continue
        end = i + 1
        while end < n and passed[end] >= 0 and labels[passed[end]] == labels[here]:
            end += 1
        if end < n and passed[end] >= 0 and end - i <= LONGEST:
            of = labels[before], labels[here], labels[passed[end]]
            if min(of) >= 0 and max(of) < n_known and _is_valley(relations, of[0], of[1], of[2]):
                return i, end
        i = end
    return n, n


@njit(cache=True, nogil=True)
def key_of(passed, start, end):
    """Hash of the groups at some positions."""
    key = np.uint64(0)
    for at in range(start, end):
        key = mix((key ^ np.uint64(passed[at] + 1)) + GOLDEN)
    return key


@njit(cache=True, nogil=True)
def _walk(ids, ttl, group, labels, passed):
    """Groups that one trace passes, -1 where something is unknown between two; how many."""
    n = 0
    for at in range(len(ids)):
        if at > 0 and ttl[at] != ttl[at - 1] + 1 and n > 0 and passed[n - 1] >= 0:
            passed[n] = -1
            n += 1
        one = group[ids[at]] if ids[at] >= 0 else -1
        if one >= 0 and labels[one] < 0:
            one = -1
        if n == 0 or passed[n - 1] != one:
            passed[n] = one
            n += 1
    return n


@njit(cache=True, nogil=True)
def _mark_block(hop_ptr, ids, ttl, group, labels, n_known, relations, marked):
    """Mark the groups of valleys of some traces."""
    longest = int(np.diff(hop_ptr).max()) if len(hop_ptr) > 1 else 0
    passed = np.empty(2 * longest, np.int64)
    for trace in range(len(hop_ptr) - 1):
        first, end = hop_ptr[trace], hop_ptr[trace + 1]
        n = _walk(ids[first:end], ttl[first:end], group, labels, passed)
        i, end = next_valley(relations, labels, n_known, passed, n, 1)
        while i < n:
            for at in range(i - 1, end + 1):
                marked[passed[at]] = True
            i, end = next_valley(relations, labels, n_known, passed, n, end)


@njit(cache=True, nogil=True)
def _windows_of_block(hop_ptr, ids, ttl, group, labels, marked):
    """Keys and groups of the windows of marked groups, most of them once."""
    longest = int(np.diff(hop_ptr).max()) if len(hop_ptr) > 1 else 0
    passed = np.empty(2 * longest, np.int64)
    window = np.empty(WIDTH, np.int64)
    n_windows = 0
    keys, rows = np.empty(64, np.uint64), np.empty((64, WIDTH), np.int32)
    recent = np.zeros(_N_RECENT, np.uint64)
    for trace in range(len(hop_ptr) - 1):
        first, end = hop_ptr[trace], hop_ptr[trace + 1]
        n = _walk(ids[first:end], ttl[first:end], group, labels, passed)
        for at in range(n):
            if passed[at] < 0 or not marked[passed[at]]:
                continue
            window[:] = -1
            window[_REACH] = passed[at]
            for step in (-1, 1):
                for far in range(1, _REACH + 1):
                    i = at + step * far
                    if i < 0 or i >= n or passed[i] < 0:
                        break
                    window[_REACH + step * far] = passed[i]
            key = key_of(window, 0, WIDTH)
            place = key & np.uint64(_N_RECENT - 1)
            if recent[place] == key:
                continue
            recent[place] = key
            if n_windows == len(keys):
                more_keys = np.empty(2 * n_windows, np.uint64)
                more_rows = np.empty((2 * n_windows, WIDTH), np.int32)
                more_keys[:n_windows], more_rows[:n_windows] = keys, rows
                keys, rows = more_keys, more_rows
            keys[n_windows], rows[n_windows] = key, window
            n_windows += 1
    return keys[:n_windows], rows[:n_windows]


def find_windows(spools: Spools, case: Case, group: np.ndarray) -> np.ndarray:
    """Windows of the groups that are in valleys; one pass over the spools, two if there are any.

    Parameters
    ----------
    spools : Spools
    case : Case
        With the labels by which there are valleys.
    group : (n_interfaces,) int64
        Group of each interface.

    Returns
    -------
    (n_windows, WIDTH) int32
        Distinct, in an order that depends on them alone; the group in the middle, -1 beyond what is
        known. Bounded (``distinct``), whatever the number of traces.
    """
    relations, labels, n_known = case.ways.relations, case.labels, case.n_known

    def mark(marked: np.ndarray, traces: Traces) -> None:
        of_traces = traces.hop_ptr, traces.ids, traces.ttl
        _mark_block(*of_traces, group, labels, n_known, relations, marked)

    def start() -> DistinctRows:
        return DistinctRows((WIDTH,))

    def gather(seen: DistinctRows, traces: Traces) -> None:
        of_traces = traces.hop_ptr, traces.ids, traces.ttl
        seen.add(*_windows_of_block(*of_traces, group, labels, marked))

    marked = np.logical_or.reduce(spools.run(lambda: np.zeros(len(labels), bool), mark))
    every = start()
    if marked.any():
        for seen in spools.run(start, gather):
            every.add(*seen.kept())
    return every.kept()[1]
