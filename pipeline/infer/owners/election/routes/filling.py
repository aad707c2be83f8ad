"""Routers that get another AS because an AS would carry traffic for neither neighbor otherwise.

Of a valley (``valleys``) the routers in B, one of them, the last one in A or the first one in C may
be in the wrong AS. Each of these is tried in each AS that is near it. What the move costs by the
evidence around the routers, less ``_WORTH`` for each valley that it fills beyond those that it
makes, has to be negative, and the cost itself at most ``MOST``: relationships are true of most
ASes, not of all of them, and a relationship that is wrong makes many valleys, of routers that have
much evidence for their ASes. Moves that save most are made first, each once more judged after those
before it, until none saves anything; a router moves once. Where fewer than half of the valleys
could be filled at such a cost, relationships do not fit what was measured, and nothing is moved.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.election.routes.moves import MAX_ROUNDS, MOST, cost_of_move
from pipeline.infer.owners.election.routes.valleys import (
    LONGEST,
    WIDTH,
    find_windows,
    key_of,
    next_valley,
)
from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.passes import Spools
from pipeline.model.columns.ragged import offsets

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
