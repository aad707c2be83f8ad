"""How many traces, and of how many vantage points, cross each AS; what each vantage point saw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pipeline.model.columns.keys import ordered_keys, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.observations import FIRST, Steps
from pipeline.model.topology import NO_ASN


@dataclass(frozen=True, eq=False)
class Crossings:
    """One row per AS of a run, one per vantage point; empty where nothing is known of paths.

    Attributes
    ----------
    n_traces, n_vantages : (n_ases,) int64
        Traces with a router of the AS on their way, each counted once; vantage points of these.
    vantage_n_traces, vantage_n_ases : (n_vantages,) int64
        Of each vantage point: traces that show a router, ASes of the snapshot on their way. Those
        after the last vantage point with such a trace may be missing.
    vantage_asn : (n_vantages,) int64
        AS of the first router that most of these traces show, the smallest number of equal ones;
        ``NO_ASN`` without any.
    """

    n_traces: np.ndarray
    n_vantages: np.ndarray
    vantage_n_traces: np.ndarray
    vantage_n_ases: np.ndarray
    vantage_asn: np.ndarray

    def part(self, begin: int, end: int) -> Crossings:
        """Those of ASes begin to end - 1, with all vantage points."""
        return replace(
            self, n_traces=self.n_traces[begin:end], n_vantages=self.n_vantages[begin:end]
        )


def count_crossings(snapshot, rows: np.ndarray) -> Crossings:
    """Count them for some AS rows of a snapshot, ascending."""
    steps = snapshot.steps()
    if steps is None:
        return Crossings(*[np.empty(0, np.int64)] * 5)
    n_ases = len(snapshot.asn)
    node_ptr = offsets(np.asarray(snapshot.n_nodes))
    row = np.searchsorted(node_ptr, steps.far, side="right") - 1
    first = entering(steps, row)
    # Sums of float64 are exact below 2**53.
    n_traces = np.bincount(row[first], steps.n_traces[first], n_ases).astype(np.int64)
    pairs = np.unique(ordered_keys(row[first], steps.vantage[first]))
    crossed, vantage = split_key(pairs)
    n_vantages = np.bincount(crossed, minlength=n_ases)
    begins = steps.before == FIRST
    return Crossings(
        n_traces[rows],
        n_vantages[rows],
        np.bincount(steps.vantage[begins], steps.n_traces[begins]).astype(np.int64),
        np.bincount(vantage),
        _begin_in(steps.vantage[begins], snapshot.asn[row[begins]], steps.n_traces[begins]),
    )


def _begin_in(vantage: np.ndarray, asn: np.ndarray, n_traces: np.ndarray) -> np.ndarray:
    """AS in which most traces of each vantage point begin."""
    pairs, of = np.unique(np.stack([vantage, asn]).astype(np.int64), axis=1, return_inverse=True)
    total = np.bincount(of.ravel(), n_traces, pairs.shape[1])
    order = np.lexsort((-pairs[1], total, pairs[0]))  # the last of each vantage point stays
    result = np.full(int(vantage.max(initial=-1)) + 1, NO_ASN, np.int64)
    result[pairs[0][order]] = pairs[1][order]
    return result


def entering(steps: Steps, place: np.ndarray) -> np.ndarray:
    """Steps into an AS, or to a router, where their path was not before.

    Parameters
    ----------
    steps : Steps
    place : (n_steps,) integers
        AS row, or router, to which each step leads.

    Returns
    -------
    (n_entering,) int64
        So each trace counts once for each place that it crosses, even if it comes back.
    """
    before = steps.before
    entering = np.flatnonzero((before == FIRST) | (place[before] != place))
    at = before[entering]
    again = np.zeros(len(entering), bool)
    open_ = np.flatnonzero(at != FIRST)
    while len(open_):
        again[open_] |= place[at[open_]] == place[entering[open_]]
        at[open_] = before[at[open_]]
        open_ = open_[(at[open_] != FIRST) & ~again[open_]]
    return entering[~again]
