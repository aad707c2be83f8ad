"""Routers that get another AS because an AS would carry traffic for neither neighbor otherwise.

An AS carries traffic between two others only if one of them is its customer [1]_: what it learned
from a provider or a peer it tells its customers alone. So where traces pass routers of AS A, B and
C one right after the other, and neither A nor C is a customer of B, nor of its organisation, the
owner of some router there may be wrong; so it is where A is C. A *valley* is the last router in A,
those in B and the first one in C. Where nothing is known of A and B, or of B and C, there is none,
unless A is C; unanswered hops and routers in no AS end a path.

To see what another owner changes, one has to know what traces pass around a router: the *windows*
of the routers in valleys, up to ``_REACH`` routers before and after them.

The routers in B, one of them, the last one in A or the first one in C may be in the wrong AS. Each
of these is tried in each AS that is near it. What the move costs by the evidence around the
routers, less ``_WORTH`` for each valley that it fills beyond those that it makes, has to be
negative, and the cost itself at most ``MOST``: relationships are true of most ASes, not of all of
them, and a relationship that is wrong makes many valleys, of routers that have much evidence for
their ASes. Moves that save most are made first, each once more judged after those before it, until
none saves anything; a router moves once. Where fewer than half of the valleys could be filled at
such a cost, relationships do not fit what was measured, and nothing is moved.

References
----------
.. [1] L. Gao, "On inferring autonomous system relationships in the Internet", IEEE/ACM Transactions
   on Networking 9 (6), 2001.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.election.relations import NOTHING, relation
from pipeline.infer.owners.repairs.runs import MAX_ROUNDS, MOST, DistinctRows, cost_of_move
from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.spool import Traces
from pipeline.model.columns.ragged import offsets
from pipeline.model.random_words import GOLDEN, mix
from pipeline.model.tables.relationships import CUSTOMER, SIBLING

VALLEYS = Rule(
    "valleys",
    "repairs",
    "no AS carries traffic between two others unless one is its customer",
    "traces, relationships (--as-rel)",
    CHOSEN,
    "Gao, ToN 2001",
    {"worth": 2.0},
)

_WORTH = VALLEYS.tenths("worth")  # of a valley less
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
        known. Bounded (``repairs.runs``), whatever the number of traces.
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


@njit(cache=True, nogil=True)
def _count_valleys(case, windows, ptr, windows_of, groups, keys):
    """Distinct valleys in the windows of some groups; ``keys`` is scratch."""
    n_keys = 0
    for group in groups:
        for row in windows_of[ptr[group] : ptr[group + 1]]:
            passed = windows[row]
            of = case.ways.relations, case.labels, case.n_known
            i, end = next_valley(of[0], of[1], of[2], passed, WIDTH, 1)
            while i < WIDTH:
                keys[n_keys] = key_of(passed, i - 1, end + 1)
                n_keys += 1
                i, end = next_valley(of[0], of[1], of[2], passed, WIDTH, end)
    distinct = np.sort(keys[:n_keys])
    n = np.int64(n_keys > 0)
    for at in range(1, n_keys):
        n += distinct[at] != distinct[at - 1]
    return n


@njit(cache=True, nogil=True)
def _saved(case, windows, ptr, windows_of, groups, to, n_before, keys):
    """What a move saves, and whether it fills a valley at little cost."""
    cost = cost_of_move(case, groups, to)
    if cost > MOST:
        return np.int64(-1), False
    labels = case.labels
    was = labels[groups].copy()
    labels[groups] = to
    n_after = _count_valleys(case, windows, ptr, windows_of, groups, keys)
    labels[groups] = was
    return _WORTH * (n_before - n_after) - cost, n_after < n_before


@njit(cache=True, nogil=True)
def _best_moves(case, runs, moved, windows, ptr, windows_of, keys):
    """By run: what its best move saves, the AS of that, and whether some move fills a valley."""
    n = len(runs)
    saves, to, fills = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    for run in range(n):
        groups = runs[run][runs[run] >= 0]
        if moved[groups].any():
            continue
        n_before = _count_valleys(case, windows, ptr, windows_of, groups, keys)
        for group in groups:
            n_near = find_near(case, group, case.held[group])
            for label in case.near[:n_near].copy():
                if label >= case.n_known or (case.labels[groups] == label).all():
                    continue
                now, is_filled = _saved(
                    case, windows, ptr, windows_of, groups, label, n_before, keys
                )
                fills[run] |= is_filled
                if now > saves[run] or (now == saves[run] > 0 and label < to[run]):
                    saves[run], to[run] = now, label
    return saves, to, fills


@njit(cache=True, nogil=True)
def _make(case, order, runs, to, moved, windows, ptr, windows_of, keys):
    """Make moves in an order, each if it still saves something; how many."""
    n_made = 0
    for run in order:
        groups = runs[run][runs[run] >= 0]
        if moved[groups].any():
            continue
        n_before = _count_valleys(case, windows, ptr, windows_of, groups, keys)
        saves, _ = _saved(case, windows, ptr, windows_of, groups, to[run], n_before, keys)
        if saves <= 0:
            continue
        for group in groups:
            moved[group] = moved[group] or case.labels[group] != to[run]
            case.labels[group] = to[run]
        n_made += 1
    return n_made


@njit(cache=True, nogil=True)
def _list_valleys(case, windows):
    """(n_valleys, LONGEST + 2) int32 groups of each valley in each window, then -1."""
    found = np.full((len(windows) * WIDTH, LONGEST + 2), -1, np.int32)
    n = 0
    for row in range(len(windows)):
        of = case.ways.relations, case.labels, case.n_known
        i, end = next_valley(of[0], of[1], of[2], windows[row], WIDTH, 1)
        while i < WIDTH:
            for at in range(i - 1, end + 1):
                found[n, at - i + 1] = windows[row, at]
            n += 1
            i, end = next_valley(of[0], of[1], of[2], windows[row], WIDTH, end)
    return found[:n]


def _runs_of(valleys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct runs of groups that may move, (n, LONGEST), with one row per run of each valley.

    Returns
    -------
    runs : (n_runs, LONGEST) int32
        Then -1.
    valley, run : (n_pairs,) int64
    """
    n = len(valleys)
    length = np.count_nonzero(valleys >= 0, axis=1)
    single = valleys.reshape(-1)
    of_single = np.repeat(np.arange(n), valleys.shape[1])
    rows = np.full((len(single) + n, LONGEST), -1, np.int32)
    rows[: len(single), 0] = single
    inner = valleys[:, 1:-1].copy()
    inner[np.arange(LONGEST) >= (length - 2)[:, None]] = -1
    rows[len(single) :] = inner
    kept = rows[:, 0] >= 0
    runs, which = np.unique(rows[kept], axis=0, return_inverse=True)
    return runs, np.append(of_single, np.arange(n))[kept], which.ravel()


def fill(case: Case, windows: np.ndarray) -> np.ndarray:
    """Give routers of valleys another AS, in place.

    Parameters
    ----------
    case : Case
    windows : (n_windows, WIDTH) int32
        As from ``find_windows``, by the labels of the case.

    Returns
    -------
    (n,) bool
        Groups that were moved.
    """
    n = len(case.labels)
    moved = np.zeros(n, bool)
    row, _ = np.nonzero(windows >= 0)
    pairs = np.unique((windows[windows >= 0].astype(np.int64) << 32) | row)
    ptr = offsets(np.bincount(pairs >> 32, minlength=n))
    windows_of = pairs & 0xFFFF_FFFF
    for at in range(MAX_ROUNDS):
        valleys = np.unique(_list_valleys(case, windows), axis=0)
        if not len(valleys):
            break
        runs, valley, run = _runs_of(valleys)
        n_windows = np.where(runs >= 0, np.diff(ptr)[runs], 0).sum(axis=1).max()
        keys = np.empty(WIDTH * n_windows, np.uint64)
        of_windows = windows, ptr, windows_of
        saves, to, fills = _best_moves(case, runs, moved, *of_windows, keys)
        if at == 0 and 2 * len(np.unique(valley[fills[run]])) < len(valleys):
            break
        order = np.argsort(-saves, kind="stable")[: np.count_nonzero(saves > 0)]
        if not _make(case, order, runs, to, moved, *of_windows, keys):
            break
    return moved


def fill_valleys(case: Case, spools: Spools, group: np.ndarray) -> np.ndarray:
    """Fill the valleys that traces show, in place.

    Parameters
    ----------
    case : Case
    spools : Spools
        Read once, and once more if there are valleys; not at all without relationships.
    group : (n_interfaces,) int64
        Group of each interface.

    Returns
    -------
    (n,) bool
        Groups that were moved.
    """
    if not len(case.ways.relations.pairs):
        return np.zeros(len(case.labels), bool)
    return fill(case, find_windows(spools, case, group))
