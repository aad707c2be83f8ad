"""Places where traces leave an AS and come back to it, by the owners that were elected.

BGP makes no such path: an AS takes no route that has its own number in it (RFC 4271, 9.1.2). So
where traces pass routers of AS A, then of AS B, then of A again, the owner of some router there is
most likely wrong (``straightening``). A *loop* is the three runs of routers; one that many traces
pass counts once. Routers in no AS are passed over.

Memory does not grow with traces (``distinct``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.routes.distinct import DistinctRows
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.spool import Traces
from pipeline.model.random_words import GOLDEN, mix

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
    """Keys and groups of the loops of some traces, as often as they are passed."""
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


def find_loops(spools: Spools, group: np.ndarray, label: np.ndarray) -> Loops:
    """Loops that traces pass; one pass over the spools.

    Parameters
    ----------
    spools : Spools
    group : (n_interfaces,) int64
        Group of each interface.
    label : (n_interfaces,) int64
        Number of the AS of each group; -1 for none.
    """

    def start() -> DistinctRows:
        return DistinctRows((3, WIDTH))

    def step(seen: DistinctRows, traces: Traces) -> None:
        seen.add(*_find_in_block(traces.hop_ptr, traces.ids, group, label))

    every = start()
    for seen in spools.run(start, step):
        every.add(*seen.kept())
    _, groups = every.kept()
    runs, at = np.unique(groups.reshape(-1, WIDTH), axis=0, return_inverse=True)
    return Loops(runs, at.reshape(-1, 3))
