"""Routes of the pairs of vantage point and target that were measured on both nights.

If a pair has several paths on one night, the one with the most traces is its route. Routes of
routers are compared in groups; most are the same on both nights, and only the others are expanded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.compare.evidence import View
from pipeline.compare.night import Night
from pipeline.compare.trees import sign_ways, steps_of
from pipeline.model.columns.keys import distinct_keys, is_among, ordered_keys, position_of
from pipeline.model.columns.ragged import run_starts
from pipeline.model.measured.observations import FIRST

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, with its bits spread


@dataclass(frozen=True, eq=False)
class Routes:
    """Routes of some pairs on one night.

    Attributes
    ----------
    ptr : (n_pairs + 1,) int64
    group, asn : (n_hops,) int64
        Routers in the order in which traces passed them, and their ASes.
    direct : (n_hops,) bool
        It follows the router before it, without a gap; False for the first.
    """

    ptr: np.ndarray
    group: np.ndarray
    asn: np.ndarray
    direct: np.ndarray


@dataclass(frozen=True, eq=False)
class Common:
    """Pairs that both nights have.

    Attributes
    ----------
    old, new : (n_pairs,) int64
        Path of each on either night.
    vantage : (n_pairs,) int64
        Row of its vantage point on the old night.
    changed : (n_pairs,) bool
        Its routers differ, or the gaps between them.
    as_often : (n_pairs,) bool
        Both nights have as many traces of it.
    """

    old: np.ndarray
    new: np.ndarray
    vantage: np.ndarray
    changed: np.ndarray
    as_often: np.ndarray


def common_pairs(old: View, new: View) -> Common:
    """Find the pairs of both nights, by their number."""
    old_pair, old_path, n_old = routes_of_pairs(old.pair, old.seen.paths.n_traces)
    new_pair, new_path, n_new = routes_of_pairs(new.pair, new.seen.paths.n_traces)
    at_new = position_of(new_pair, old_pair)
    at_old = np.flatnonzero(at_new >= 0)
    at_new = at_new[at_old]
    old_path, new_path = old_path[at_old], new_path[at_new]
    changed = _signature(old, old_path) != _signature(new, new_path)
    vantage = old.seen.paths.vantage[old_path].astype(np.int64)
    return Common(old_path, new_path, vantage, changed, n_old[at_old] == n_new[at_new])


def spell_out(view: View, night: Night, paths: np.ndarray) -> Routes:
    """The routers of some paths."""
    steps = view.seen.steps
    ptr, row = steps_of(steps.before, view.seen.paths.step[paths])
    far = steps.far[row]
    direct = ~steps.across_gap[row] & (steps.before[row] != FIRST)
    return Routes(ptr, view.group[far], night.asn_of(far), direct)


def is_renamed(routes: Routes, there: Night, group: np.ndarray, n_groups: int) -> np.ndarray:
    """(n_hops,) bool: routers that the other night has, but in no such AS; only owners changed.

    ``group``: of the nodes of the other night, of ``n_groups``.
    """
    is_there = np.zeros(n_groups, bool)
    is_there[group] = True
    known = distinct_keys(ordered_keys(group, there.asn_of(np.arange(there.n_nodes))))
    return is_there[routes.group] & ~is_among(ordered_keys(routes.group, routes.asn), known)


def routes_of_pairs(
    pair: np.ndarray, n_traces: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct pairs, ascending, the path of most traces of each, and how many traces all have.

    Of equal ones it is the first path.

    Parameters
    ----------
    pair, n_traces : (n_paths,) int
    """
    times = n_traces.astype(np.int64)
    order = np.lexsort((-times, pair))
    starts = run_starts(pair[order])
    total = np.add.reduceat(times[order], starts) if len(starts) else times[:0]
    return pair[order[starts]], order[starts], total


def _signature(view: View, paths: np.ndarray) -> np.ndarray:
    """(n_paths,) uint64: the same for the same routers with the same gaps between them."""
    steps = view.seen.steps
    own = (view.group[steps.far].astype(np.uint64) << np.uint64(1)) | (
        steps.across_gap & (steps.before != FIRST)
    ).astype(np.uint64)
    own = (own + np.uint64(1)) * MIX
    own ^= own >> np.uint64(31)
    signs = np.append(sign_ways(steps.before, own, MIX, 29), np.uint64(0))  # of no step
    return signs[view.seen.paths.step[paths]]
