"""Routers that get another AS because traces would leave an AS and come back to it otherwise.

BGP makes no such path: an AS takes no route that has its own number in it (RFC 4271, 9.1.2). So
where traces pass routers of AS A, then of AS B, then of A again, the owner of some router there is
most likely wrong. A *loop* is the three runs of routers; one that many traces pass counts once.
Routers in no AS are passed over. Memory does not grow with traces (``runs.DistinctRows``).

Of the three runs of a loop one is in the wrong AS: that between is in A, or that after it is in B.
(Or that before it; but where that costs least, it is wrong as often as right, so such loops stay.)
What a run costs in the other AS, its routers moved one after the other, tells which: a run is moved
if that costs little, and less by some than what else would straighten all the loops that it is in.
That is added up from other runs: for each loop the one that costs least for each of these loops
that it is in, and each such run once.

The clearest runs are moved first. A loop with a router that was moved counts no more. Moves may
make other loops, so traces are looked through again. Loops of ASes of one organisation stay. Where
fewer than half of all loops could be straightened at little cost, paths do come back, as in
networks whose routes BGP does not make, and nothing is moved.

That wrong owners show as loops was seen by Mao et al. [1]_, who corrected by them which AS a prefix
is taken for; here it is the AS of a router.

References
----------
.. [1] Z. M. Mao, J. Rexford, J. Wang, R. H. Katz, "Towards an accurate AS-level traceroute tool",
   SIGCOMM 2003.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case
from pipeline.infer.owners.election.relations import relation
from pipeline.infer.owners.repairs.runs import MAX_ROUNDS, MOST, DistinctRows, cost_of_move
from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.distinct import DistinctPaths, Tree
from pipeline.model.columns.ragged import offsets
from pipeline.model.random_words import GOLDEN, mix
from pipeline.model.relations import SIBLING

LOOPS = Rule(
    "loops",
    "repairs",
    "no trace leaves an AS and comes back to it",
    "traces",
    CHOSEN,
    "Mao et al., SIGCOMM 2003",
    {"clear": 1.0},
)

# Least by which everything else that would straighten its loops costs more, in tenths of a nat;
# chosen on simulated networks.
_CLEAR = LOOPS.tenths("clear")
# Cost of a run that is too long. Costs are multiplied by numbers of loops, so ``costs.UNLIMITED``
# would overflow.
_TOO_LONG = np.int64(1) << 40
_TURNS = 2
_BEFORE = 0  # column of ``Loops.runs``

LONGEST = 8  # routers of a run that is looked at whole
WIDTH = LONGEST + 1  # so many are kept of a longer one, to show that it is longer


class Loops(NamedTuple):
    """Loops by their runs; the order of both depends on what they hold alone.

    Attributes
    ----------
    groups : (n_runs, WIDTH) int32
        Groups of each run in the order of traces, then -1. Of more than ``WIDTH``: those next to
        the other AS.
    runs : (n_loops, 3) int64
        Run before the other AS, in it, and after it.
    """

    groups: np.ndarray
    runs: np.ndarray


@njit(cache=True, nogil=True)
def _split_into_runs(ids, group, label, passed, start):
    """Groups that one trace passes, and where the runs of one AS start; how many runs."""
    n, n_runs = 0, 0
    for one in ids:
        if one < 0 or label[group[one]] < 0 or (n > 0 and passed[n - 1] == group[one]):
            continue
        passed[n] = group[one]
        if n == 0 or label[passed[n - 1]] != label[passed[n]]:
            start[n_runs] = n
            n_runs += 1
        n += 1
    start[n_runs] = n
    return n_runs


@njit(cache=True, nogil=True)
def _comes_back(label, passed, start, i):
    """Whether the run after the next is of the same AS as run ``i``."""
    return label[passed[start[i]]] == label[passed[start[i + 2]]]


@njit(cache=True, nogil=True)
def _find_in_block(hop_ptr, ids, group, label):
    """Keys and groups of the loops of some paths, as often as they are passed."""
    n_traces = len(hop_ptr) - 1
    longest = int(np.diff(hop_ptr).max()) if n_traces else 0
    passed, start = np.empty(longest, np.int64), np.empty(longest + 1, np.int64)
    n_of = np.zeros(n_traces, np.int64)
    for trace in range(n_traces):
        of_trace = ids[hop_ptr[trace] : hop_ptr[trace + 1]]
        for i in range(_split_into_runs(of_trace, group, label, passed, start) - 2):
            n_of[trace] += _comes_back(label, passed, start, i)
    loop = 0
    keys = np.zeros(n_of.sum(), np.uint64)
    groups = np.full((len(keys), 3, WIDTH), -1, np.int32)
    for trace in range(n_traces):
        if not n_of[trace]:
            continue
        of_trace = ids[hop_ptr[trace] : hop_ptr[trace + 1]]
        for i in range(_split_into_runs(of_trace, group, label, passed, start) - 2):
            if not _comes_back(label, passed, start, i):
                continue
            for at in range(3):
                first, end = start[i + at], start[i + at + 1]
                if at == 0:
                    first = max(first, end - WIDTH)
                for j in range(min(WIDTH, end - first)):
                    groups[loop, at, j] = passed[first + j]
                for j in range(WIDTH):
                    word = np.uint64(groups[loop, at, j] + 1)
                    keys[loop] = mix((keys[loop] ^ word) + GOLDEN)
            loop += 1
    return keys, groups


def find_loops(paths: DistinctPaths, group: np.ndarray, label: np.ndarray) -> Loops:
    """Loops that traces pass.

    Parameters
    ----------
    paths : DistinctPaths
    group : (n_interfaces,) int64
        Group of each interface.
    label : (n_interfaces,) int64
        Number of the AS of each group; -1 for none.
    """

    def start() -> DistinctRows:
        return DistinctRows((3, WIDTH))

    def step(seen: DistinctRows, tree: Tree) -> None:
        for hop_ptr, ids in tree.whole_paths():
            seen.add(*_find_in_block(hop_ptr, ids, group, label))

    every = start()
    for seen in paths.ask(start, step):
        every.add(*seen.kept())
    _, groups = every.kept()
    runs, at = np.unique(groups.reshape(-1, WIDTH), axis=0, return_inverse=True)
    return Loops(runs, at.reshape(-1, 3))


@njit(cache=True, nogil=True)
def _is_loop(labels, relations, groups, runs, moved):
    """Whether the groups of three runs are in two ASes still, not of one organisation."""
    here, there = labels[groups[runs[0], 0]], labels[groups[runs[1], 0]]
    for at in range(3):
        for group in groups[runs[at]]:
            if group >= 0 and moved[group]:
                return False
    return relation(relations, here, there) != SIBLING


@njit(cache=True, nogil=True)
def _others_of(moves, mine, move, n_shared, cost, counted):
    """What it costs to straighten the loops of a move without it.

    ``n_shared`` and ``counted`` are scratch: by move, zeros.
    """
    for loop in mine:
        for other in moves[loop]:
            n_shared[other] += 1
    total = np.int64(0)
    for loop in mine:
        best = np.int64(-1)
        for other in moves[loop]:
            if other == move:
                continue
            # Costs per loop, in whole numbers; of equal ones the first.
            if best < 0 or cost[other] * n_shared[best] < cost[best] * n_shared[other]:
                best = other
        if not counted[best]:
            counted[best] = True
            total += cost[best]
    for loop in mine:
        for other in moves[loop]:
            n_shared[other], counted[other] = 0, False
    return total


@njit(cache=True, nogil=True)
def _compare(ptr, loops_of, moves, cost, is_before):
    """By move: how much more it costs to straighten its loops without it; -1: it is not made."""
    n = len(cost)
    clear = np.full(n, -1, np.int64)
    n_shared, counted = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for move in range(n):
        if cost[move] > MOST or is_before[move]:
            continue
        mine = loops_of[ptr[move] : ptr[move + 1]]
        gap = _others_of(moves, mine, move, n_shared, cost, counted) - cost[move]
        if gap >= _CLEAR:
            clear[move] = gap
    return clear


@njit(cache=True, nogil=True)
def _make(case, order, ptr, loops_of, moves, run_of, to, groups, moved):
    """Make moves in an order, save those with a loop that has a moved group; how many."""
    n_made = 0
    for move in order:
        is_free = True
        for loop in loops_of[ptr[move] : ptr[move + 1]]:
            for other in moves[loop]:
                for group in groups[run_of[other]]:
                    if group >= 0 and moved[group]:
                        is_free = False
        if not is_free:
            continue
        n_made += 1
        for group in groups[run_of[move]]:
            if group >= 0:
                case.labels[group], moved[group] = to[move], True
    return n_made


@njit(cache=True, nogil=True)
def _left(case, groups, runs, moved):
    """(n_loops,) bool: loops that are still there, without a moved group."""
    relations, labels = case.ways.relations, case.labels
    is_left = np.zeros(len(runs), np.bool_)
    for loop in range(len(runs)):
        is_left[loop] = _is_loop(labels, relations, groups, runs[loop], moved)
    return is_left


@njit(cache=True, nogil=True)
def _costs(case, groups, run_of, to):
    """(n_moves,) int64: what each move costs."""
    cost = np.empty(len(run_of), np.int64)
    for move in range(len(run_of)):
        run = groups[run_of[move]]
        is_whole = run[LONGEST] < 0
        cost[move] = max(cost_of_move(case, run, to[move]), 0) if is_whole else _TOO_LONG
    return cost


def straighten(case: Case, loops: Loops) -> np.ndarray:
    """Give runs of loops the other AS of the loop, in place.

    Parameters
    ----------
    case : Case
    loops : Loops
        By the labels of the case.

    Returns
    -------
    (n,) bool
        Groups that were moved.
    """
    moved = np.zeros(len(case.labels), bool)
    # That an AS uses another's addresses inside was learned from the very routers that may move.
    lent_from = np.full_like(case.ways.lent_from, -1)
    unlent = case._replace(ways=case.ways._replace(lent_from=lent_from))
    for at in range(MAX_ROUNDS):
        runs = loops.runs[_left(case, loops.groups, loops.runs, moved)]
        if not len(runs):
            break
        label = case.labels[loops.groups[runs[:, :2], 0]]
        to = label[:, [1, 0, 1]]
        keys, moves = np.unique((runs << 32) | to, return_inverse=True)
        moves = moves.reshape(-1, 3)
        run_of, to = keys >> 32, keys & 0xFFFF_FFFF
        is_before = np.zeros(len(keys), bool)
        is_before[moves[:, _BEFORE]] = True
        order = np.argsort(moves, axis=None, kind="stable")
        ptr, loops_of = offsets(np.bincount(moves.ravel(), minlength=len(keys))), order // 3
        cost = _costs(unlent, loops.groups, run_of, to)
        can_be_mended = (cost[moves[:, _BEFORE + 1 :]] <= MOST).any(axis=1)
        if at == 0 and 2 * np.count_nonzero(can_be_mended) < len(runs):
            break
        clear = _compare(ptr, loops_of, moves, cost, is_before)
        order = np.lexsort((cost, -clear))[: np.count_nonzero(clear >= 0)]
        if not _make(case, order, ptr, loops_of, moves, run_of, to, loops.groups, moved):
            break
    return moved


def straighten_traces(case: Case, paths: DistinctPaths, group: np.ndarray) -> np.ndarray:
    """Straighten the loops that traces show, in place.

    Parameters
    ----------
    case : Case
    paths : DistinctPaths
    group : (n_interfaces,) int64
        Group of each interface.

    Returns
    -------
    (n,) bool
        Groups that were moved.
    """
    moved = np.zeros(len(case.labels), bool)
    for _ in range(_TURNS):
        # It is unknown whether a placeholder is one of the ASes around it.
        label = np.where(case.labels < case.n_known, case.labels, -1)
        now = straighten(case, find_loops(paths, group, label))
        if not now.any():
            break
        moved |= now
    return moved
