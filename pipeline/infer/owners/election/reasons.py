"""Which AS comes second for each group of addresses, and what each term costs in both.

bdrmapIT [1]_ returns a number that says which of its steps decided. Here all terms decide together,
so each says how much it costs in the AS that was elected and in the one that costs least of the
others.

References
----------
.. [1] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case, cost_of, explain
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.terms import TERMS

_GROUPS = 1 << 16  # explained at a time


class Explained(NamedTuple):
    """What decided for groups of addresses.

    Attributes
    ----------
    group : (n,) int64
        Ascending: groups that are in an AS and have evidence.
    second : (n,) int64
        AS row that costs least of the others.
    row : (n_terms,) int64
        Position in ``group``, ascending.
    term : (n_terms,) int64
        Position in ``TERMS``.
    cost : (n_terms, 2) int64
        In the AS of the group and in the second, tenths of a nat.
    n_pieces : (n_terms, 2) int64
        Pieces of evidence that cost that.
    """

    group: np.ndarray
    second: np.ndarray
    row: np.ndarray
    term: np.ndarray
    cost: np.ndarray
    n_pieces: np.ndarray


@njit(cache=True, nogil=True)
def _explain_groups(case, groups, absent, second, tally):
    """Fill ``second`` (n,) and ``tally`` (n, 2, 2, n_terms): costs and pieces of both ASes."""
    labels, near = case.labels, case.near
    for at in range(len(groups)):
        group = groups[at]
        label = labels[group]
        best, least = absent, cost_of(case, group, absent)
        for other in range(1, find_near(case, group, -1)):
            cost = cost_of(case, group, near[other], least)
            # Of equal ones an AS that is there.
            if cost < least or (cost == least and best == absent):
                best, least = near[other], cost
        second[at] = best
        explain(case, group, label, tally[at, 0])
        explain(case, group, best, tally[at, 1])


def explain_groups(case: Case, absent: int) -> Explained:
    """Explain the labels of a case.

    Parameters
    ----------
    case : Case
    absent : int
        Row after the last, of an AS that is not around.
    """
    groups = np.flatnonzero((np.diff(case.ptr) > 0) & (case.labels >= 0))
    second = np.empty(len(groups), np.int64)
    parts = []
    for begin in range(0, len(groups), _GROUPS):
        here = slice(begin, begin + _GROUPS)
        tally = np.zeros((len(groups[here]), 2, 2, len(TERMS)), np.int64)
        _explain_groups(case, groups[here], absent, second[here], tally)
        row, term = np.nonzero(tally[:, 0, 0] != tally[:, 1, 0])
        parts.append((row + begin, term, tally[row, :, 0, term], tally[row, :, 1, term]))
    none = np.empty(0, np.int64)
    parts = parts or [(none, none, np.empty((0, 2), np.int64), np.empty((0, 2), np.int64))]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Explained(groups, second, *columns)
