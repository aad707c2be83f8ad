"""Why a link of one night is not seen on another: what became of the pairs that crossed it.

A pair of vantage point and target that crossed a link, from its near router to its far one, shows
one of these on the other night:

- **turned**: it crosses the near router again, but the next hop is another router, or the target:
  the link would be on its path if it still existed;
- **silent**: it crosses the near router, and the next hop does not answer;
- **as target**: it crosses the link, whose far end is its target: known to be a router on the night
  that has the link, since other traces passed it, and taken for a host on the other;
- **elsewhere**: it does not cross the near router;
- **no target**, **no vantage**: it was not measured.

One pair that turned is enough to call the link removed, unless a pair crosses it to its target, or
pairs **still** cross it, although inference left it out (it looked rare on the other night, where
load is balanced). Without any that turned the link is not observable. With the nights exchanged the
same question tells a new link from one that was not seen before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.compare.trees import mark_below
from pipeline.model.columns.keys import (
    distinct_keys,
    first_rows,
    packed_keys,
    pair_keys,
    position_of,
)
from pipeline.model.columns.ragged import run_starts
from pipeline.model.measured.observations import FIRST, Observations, Steps

# Verdicts on a pair that was not measured, and on one whose target is the far end.
_NO_TARGET, _NO_VANTAGE, _AS_TARGET = 3, 4, 5
_CHUNK = 1 << 20  # paths that are walked at a time


@dataclass(frozen=True, eq=False)
class View:
    """One night as seen by vantage points, in common numbers.

    Attributes
    ----------
    seen : Observations
    group : (n_nodes,) int64
        Group of each node.
    pair : (n_paths,) int64
    vantage : (n_vantages,) int64
    at_target : (n_paths,) bool
        The last router of the path is the target itself.
    """

    seen: Observations
    group: np.ndarray
    pair: np.ndarray
    vantage: np.ndarray
    at_target: np.ndarray


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the pairs that crossed each link show, (n_links,) int64 columns.

    Attributes
    ----------
    n_traces, n_pairs, n_vantages
        That crossed it on its night.
    n_turned, n_silent, n_elsewhere, n_no_target, n_no_vantage, n_as_target
        Pairs by what became of them.
    still
        Pairs that cross it on the other night: all that were measured there.
    vantage
        Common number of that vantage point, of those that did not measure, from which most pairs
        crossed it; -1 for none.
    near, far
        Nodes of its night, in the direction of most traces; -1 where no trace crossed it.
    """

    n_traces: np.ndarray
    n_pairs: np.ndarray
    n_vantages: np.ndarray
    n_turned: np.ndarray
    n_silent: np.ndarray
    n_elsewhere: np.ndarray
    n_no_target: np.ndarray
    n_no_vantage: np.ndarray
    n_as_target: np.ndarray
    still: np.ndarray
    vantage: np.ndarray
    near: np.ndarray
    far: np.ndarray


def link_keys(group: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """One number for each link between the groups of two nodes, in either direction; (n,) int64."""
    return pair_keys(group[one], group[other])


def walk_back(steps: Steps, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Walk some paths back at once: which of them still go on, and the step where each stands."""
    which = np.arange(len(rows))
    while len(which):
        on = rows != FIRST
        which, rows = which[on], rows[on]
        if len(which):
            yield which, rows
        rows = steps.before[rows]


def _holds_one(steps: Steps, marked: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n_paths,) bool: whether paths that end at these steps hold a marked one; not without one."""
    holds = np.zeros(len(ends), bool)
    some = np.flatnonzero(ends != FIRST)
    holds[some] = mark_below(steps.before, marked)[ends[some]]
    return holds


def crossings(
    view: View, label: np.ndarray, which: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Labels that paths hold, and these paths; each such row once.

    Parameters
    ----------
    view : View
    label : (n_steps,) int64
        -1 for none.
    which : (n_paths,) bool, optional
        Paths to look at; default: all.
    """
    steps, ends = view.seen.steps, view.seen.paths.step
    is_asked = _holds_one(steps, label >= 0, ends)
    asked = np.flatnonzero(is_asked if which is None else is_asked & which)
    for start in range(0, len(asked), _CHUNK):
        rows = asked[start : start + _CHUNK]
        found = [(label[at], rows[on]) for on, at in walk_back(steps, ends[rows])]
        labels, paths = (np.concatenate(column) for column in zip(*found, strict=True))
        labels, paths = labels[labels >= 0], paths[labels >= 0]
        first = _first_of(labels, paths)
        yield labels[first], paths[first]


def count_crossings(view: View, label: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """Traces, pairs and vantage points that cross each of ``n`` labels, as columns of changes."""
    n_traces, n_pairs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    of_vantages = [np.empty(0, np.int64)]
    n_all = max(1, len(view.vantage))
    for of, path in crossings(view, label):
        np.add.at(n_traces, of, view.seen.paths.n_traces[path])
        n_pairs += np.bincount(of[_first_of(of, view.pair[path])], minlength=n)
        of_vantages.append(distinct_keys(of * n_all + view.seen.paths.vantage[path]))
    n_vantages = np.bincount(distinct_keys(np.concatenate(of_vantages)) // n_all, minlength=n)
    return {"n_traces": n_traces, "n_pairs": n_pairs, "n_vantages": n_vantages}


def label_links(view: View, keys: np.ndarray) -> np.ndarray:
    """(n_steps,) int64: which link each step takes, as a row of sorted ``keys``; -1 for none."""
    steps = view.seen.steps
    direct = np.flatnonzero(~steps.across_gap & (steps.near != FIRST))
    link = np.full(len(steps), -1, np.int64)
    link[direct] = position_of(keys, link_keys(view.group, steps.near[direct], steps.far[direct]))
    return link


def find_evidence(here: View, there: View, keys: np.ndarray) -> Evidence:
    """What became of the pairs that crossed some links.

    Parameters
    ----------
    here : View
        The night that has the links.
    there : View
        The night that does not.
    keys : (n_links,) int64
        As from ``link_keys``, sorted.
    """
    steps = here.seen.steps
    link = label_links(here, keys)
    crossing = np.flatnonzero(_holds_one(steps, link >= 0, here.seen.paths.step))
    there_pairs = distinct_keys(there.pair)
    known_vantages = np.unique(there.vantage)
    counts = np.zeros((6, len(keys)), np.int64)
    n_traces, n_pairs = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
    vantages: list[np.ndarray] = []
    lost: list[np.ndarray] = [np.empty(0, np.int64)]  # link and vantage point that did not measure
    n_vantages = len(here.vantage)
    for start in range(0, len(crossing), _CHUNK):
        rows = crossing[start : start + _CHUNK]
        found = [
            (rows[which[on]], at[on])
            for which, at in walk_back(steps, here.seen.paths.step[rows])
            if (on := link[at] >= 0).any()
        ]
        path = np.concatenate([each[0] for each in found])
        at = np.concatenate([each[1] for each in found])
        np.add.at(n_traces, link[at], here.seen.paths.n_traces[path])
        # A pair with several paths counts once for each link and near router.
        pair, near, of_link = here.pair[path], here.group[steps.near[at]], link[at]
        vantage = here.seen.paths.vantage[path]
        # A target that is a router here may be a host there: then nothing went elsewhere.
        beyond = (at != here.seen.paths.step[path]) | ~here.at_target[path]
        first = _first_of(of_link, near, pair)
        pair, near, of_link, vantage = pair[first], near[first], of_link[first], vantage[first]
        np.add.at(n_pairs, of_link, 1)
        vantages.append(distinct_keys(of_link * n_vantages + vantage))
        measured = position_of(there_pairs, pair) >= 0
        verdict = np.where(
            position_of(known_vantages, here.vantage[vantage]) >= 0, _NO_TARGET, _NO_VANTAGE
        )
        verdict[measured] = _verdicts(
            there, pair[measured], near[measured], beyond[first][measured]
        )
        np.add.at(counts, (verdict, of_link), 1)
        lost.append((of_link * n_vantages + vantage)[verdict == _NO_VANTAGE])
    n_turned, n_silent, n_elsewhere, n_no_target, n_no_vantage, n_as_target = counts
    distinct = distinct_keys(np.concatenate(vantages)) if vantages else np.empty(0, np.int64)
    near, far = _directions(steps, link, len(keys))
    return Evidence(
        n_traces,
        n_pairs,
        np.bincount(distinct // max(1, n_vantages), minlength=len(keys)),
        n_turned,
        n_silent,
        n_elsewhere,
        n_no_target,
        n_no_vantage,
        n_as_target,
        count_crossings(there, label_links(there, keys), len(keys))["n_pairs"],
        _most_often(np.concatenate(lost), here.vantage, len(keys)),
        near,
        far,
    )


def _most_often(rows: np.ndarray, vantage: np.ndarray, n: int) -> np.ndarray:
    """(n,) int64: number of the most frequent vantage point of each link, -1 for none.

    ``rows``: link times the number of vantage points, plus the row of a vantage point.
    """
    distinct, times = np.unique(rows, return_counts=True)
    order = np.argsort(times, kind="stable")[::-1]
    link, at = np.divmod(distinct[order], max(1, len(vantage)))
    links, first = np.unique(link, return_index=True)
    out = np.full(n, -1)
    out[links] = vantage[at[first]]
    return out


def _first_of(*columns: np.ndarray) -> np.ndarray:
    """Positions of the first of equal rows."""
    keys = packed_keys(*columns[::-1])
    if len(keys) == 1:
        return first_rows(keys[0])
    order = np.lexsort(keys[::-1])
    return order[run_starts(*(key[order] for key in keys))]


def _verdicts(there: View, pair: np.ndarray, near: np.ndarray, beyond: np.ndarray) -> np.ndarray:
    """What became of pairs that were measured: 0 turned, 1 silent, 2 elsewhere, or as target.

    ``beyond``: the pair went on behind the link; else the link led to its target.
    """
    steps, paths = there.seen.steps, there.seen.paths
    asked = distinct_keys(pair)
    of_path = position_of(asked, there.pair)
    rows = np.flatnonzero(of_path >= 0)
    n_groups = int(max(there.group.max(initial=0), near.max(initial=0))) + 1
    turned, silent = [], []
    for which, at in walk_back(steps, paths.step[rows]):
        own = of_path[rows[which]] * n_groups
        known = steps.near[at] != FIRST
        onward = known & ~steps.across_gap[at]
        turned.append(own[onward] + there.group[steps.near[at[onward]]])
        gap = known & steps.across_gap[at]
        silent.append(own[gap] + there.group[steps.near[at[gap]]])
    rows = rows[paths.step[rows] != FIRST]
    last = of_path[rows] * n_groups + there.group[steps.far[paths.step[rows]]]
    silent.append(last[~paths.direct[rows]])
    key = position_of(asked, pair) * n_groups + near
    verdict = np.full(len(pair), 2)
    verdict[position_of(distinct_keys(np.concatenate(silent)), key) >= 0] = 1
    verdict[position_of(distinct_keys(np.concatenate([last[:0], *turned])), key) >= 0] = 0
    meets = (
        position_of(distinct_keys(last[paths.direct[rows]]), key) >= 0
    )  # its target, right behind
    verdict[meets] = np.where(beyond[meets], 0, _AS_TARGET)
    return verdict


def _directions(steps: Steps, link: np.ndarray, n_links: int) -> tuple[np.ndarray, np.ndarray]:
    """Near and far node of each link in the direction of most traces."""
    rows = np.flatnonzero(link >= 0)
    order = rows[np.lexsort((steps.far[rows], steps.near[rows], link[rows]))]
    near, far = np.full(n_links, -1, np.int64), np.full(n_links, -1, np.int64)
    if not len(order):
        return near, far
    starts = run_starts(link[order], steps.near[order], steps.far[order])
    total = np.add.reduceat(steps.n_traces[order].astype(np.int64), starts)
    first = order[starts]
    best = first[np.lexsort((-np.arange(len(first)), total, link[first]))]  # the last one stays
    near[link[best]], far[link[best]] = steps.near[best], steps.far[best]
    return near, far
