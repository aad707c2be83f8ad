"""Baselines: RTTs that links add and hops to targets, smoothed over earlier nights.

A night is compared with references, not with the night before alone: a change that is too slow for
one night adds up, and a single bad night is reported once, not again when it is over [1]_.

The value of a **series** (a link seen from a vantage point, a pair of vantage point and target) is
smoothed. Medians and their intervals are taken over series of both nights, so a lost vantage point
shifts no median. The reference of a series is its value of the night before, then the median of its
first three nights, then smoothed with a weight of ``ALPHA``; an outlier shifts it no more than a
value at the limit would. Three outliers in a row on the same side are a new level: the reference
becomes their median.

References
----------
.. [1] R. Fontugne, C. Pelsser, E. Aben, R. Bush, "Pinpointing delay and forwarding anomalies using
   large-scale traceroute measurements", IMC 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.compare.evidence import View
from pipeline.compare.figures.medians import medians
from pipeline.compare.links import Sides
from pipeline.compare.night import Night
from pipeline.compare.routes import routes_of_pairs
from pipeline.model.addresses import number_addrs
from pipeline.model.columns import concat, schema_of, take
from pipeline.model.columns.keys import number_rows, ordered_keys, packed_keys
from pipeline.model.columns.ragged import run_starts
from pipeline.model.measured.observations import FIRST, Observations, Steps
from pipeline.model.measured.references import OF_PAIR, References

ALPHA = 0.1  # weight of a night
MIN_MS = 1.0  # of a difference of medians, and between a value and its reference
MIN_HOPS = 0.5  # likewise; between two nights any whole hop
MIN_NIGHTS = 3  # of a reference; with fewer the night before is the reference
_MAX_ABSENT = 7  # nights for which a series without a value is kept

_BLOCK = 1 << 20  # series whose values are followed at a time


def follow(references: References, night: Night, alpha: float = ALPHA) -> References:
    """References after one more night; as they are if it has no traces."""
    seen = night.observations
    if seen is None:
        return references
    paths, by = seen.paths, seen.vantages
    addr, rows = number_addrs(
        [
            references.addr,
            night.name_addr,
            np.column_stack([by.addr_high, by.addr_low]),
            np.column_stack([paths.target_high, paths.target_low]),
        ]
    )
    row, name, vantage, target = rows
    # Routers are called as on this night, where it has them.
    at = _looked_up((night.addr[:, 0], night.addr[:, 1]), tuple(references.addr.T))
    called = np.where(at >= 0, name[night.addr_node[at]], row) if len(night.addr) else row
    is_pair = references.is_pair
    parts = []
    for of_pairs in (True, False):  # pairs come first; one at a time is in memory
        known = np.flatnonzero(is_pair == of_pairs)
        ends = row if of_pairs else called
        keys = (
            _taken(ends, references.near[known]),
            ends[references.far[known]],
            row[references.vantage[known]],
        )
        values = _hops(seen, target, vantage) if of_pairs else _ms(night, name, vantage)
        away = MIN_HOPS if of_pairs else MIN_MS
        parts.append(_part_after(references, known, keys, values, away, alpha))
        del known, keys, values
    made = concat(parts)
    del parts
    is_used = np.zeros(len(addr), bool)
    for ends in (made.near[made.near != OF_PAIR], made.far, made.vantage):
        is_used[ends] = True
    row = (np.cumsum(is_used) - 1).astype(np.int32)
    return replace(
        made,
        near=_taken(row, made.near),
        far=row[made.far],
        vantage=row[made.vantage],
        addr=addr[is_used],
        n_nights=references.n_nights + 1,
        since=references.since or night.name,
    )


def _hops(seen: Observations, target: np.ndarray, vantage: np.ndarray) -> tuple[np.ndarray, ...]:
    """Near, far and vantage point of each pair of a night, rows of a table, and its hops."""
    paths = seen.paths
    path = routes_of_pairs(ordered_keys(paths.vantage, target), paths.n_traces)[1]
    path = path[paths.reached[path]]
    near = np.full(len(path), OF_PAIR, np.int32)
    return near, target[path], vantage[paths.vantage[path]], paths.n_hops[path]


def _ms(night: Night, name: np.ndarray, vantage: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same of each link and vantage point, and the ms that it adds."""
    assert night.observations is not None
    near, far, by, ms = added_ms(
        night.observations, np.arange(night.n_nodes), np.arange(len(vantage))
    )
    return name[near], name[far], vantage[by], ms


def _part_after(
    references: References,
    known: np.ndarray,
    keys: tuple[np.ndarray, ...],
    values: tuple[np.ndarray, ...],
    away: float,
    alpha: float,
) -> References:
    """Pairs or links after a night, without those that are absent for too long.

    Parameters
    ----------
    references : References
    known : (n_known,) int64
        Rows there.
    keys : three (n_known,) int32
        Near, far and vantage point of each, in the table of addresses of both.
    values : four (n_values,) columns
        The same of the night, and the value of each.
    away : float
        Distance from which on a value is an outlier.
    """
    every = [np.concatenate(pair) for pair in zip(keys, values[:3], strict=True)]
    number, n = number_rows(*every)
    of_known, of_value = np.split(number, [len(known)])
    best = np.full(n, -1)
    order = np.lexsort((references.n_seen[known], -references.n_absent[known]))
    best[of_known[order]] = known[order]  # of routers that are one now, that seen most lately
    del order
    today = np.full(n, np.nan, np.float32)
    today[of_value] = values[3]
    columns = [np.empty(n, np.int32) for _ in every]
    for column in columns:
        column[number] = every.pop(0)
    del number, of_known, of_value
    parts = []
    for start in range(0, max(1, n), _BLOCK):
        rows = slice(start, start + _BLOCK)
        near, far, vantage = (column[rows] for column in columns)
        after = _followed(references, best[rows], today[rows], away, alpha)
        part = replace(references, near=near, far=far, vantage=vantage, **after)
        parts.append(take(part, np.flatnonzero(part.n_absent <= _MAX_ABSENT)))
    return concat(parts)


def _followed(
    known: References, best: np.ndarray, today: np.ndarray, away: float, alpha: float
) -> dict[str, Any]:
    """Columns of values of some series after a night.

    Parameters
    ----------
    known : References
    best : (n,) int64
        Row of each among these, -1 for none.
    today : (n,) float32
        NaN for none.
    away : float
    """
    is_known, at = best >= 0, np.maximum(best, 0)

    def earlier(name: str, missing: float) -> np.ndarray:
        if not len(known):
            return np.full(len(best), missing)
        return np.where(is_known, getattr(known, name)[at], missing)

    usual, last = earlier("usual", np.nan), earlier("last", np.nan)
    before_last, n_seen = earlier("before_last", np.nan), earlier("n_seen", 0).astype(np.int64)
    is_seen = ~np.isnan(today)
    n_seen = np.minimum(n_seen + is_seen, np.iinfo(np.int16).max)
    after = _smoothed(usual, np.stack([today, last, before_last]), n_seen, away, alpha)
    usual_before = np.where(is_known, usual, today)
    made = {
        "usual": np.where(is_seen, after, usual),
        "usual_before": np.where(is_seen, usual_before, earlier("usual_before", np.nan)),
        "last": np.where(is_seen, today, last),
        "before_last": np.where(is_seen, last, before_last),
        "n_seen": n_seen,
        "n_absent": np.where(is_seen, 0, earlier("n_absent", 0).astype(np.int64) + 1),
    }
    dtypes = schema_of(References).flat
    return {name: column.astype(dtypes[name].dtype) for name, column in made.items()}


def _smoothed(
    usual: np.ndarray, recent: np.ndarray, n_seen: np.ndarray, away: float, alpha: float
) -> np.ndarray:
    """References after a value.

    Parameters
    ----------
    usual : (n,) float
    recent : (3, n) float
        The new value and the two before it.
    n_seen : (n,) int
        With the new one.
    away : float
        Distance from which on a value is an outlier.
    """
    today = recent[0]
    middle = np.sort(recent, axis=0)[1]
    is_level = (recent - usual >= away).all(axis=0) | (usual - recent >= away).all(axis=0)
    step = np.clip(today - usual, -away, away).astype(np.float64)
    after = np.where(is_level, middle, usual + alpha * step)
    return np.where(n_seen < MIN_NIGHTS, today, np.where(n_seen == MIN_NIGHTS, middle, after))


def added_ms(seen: Observations, group: np.ndarray, vantage: np.ndarray) -> tuple[np.ndarray, ...]:
    """What links add to the RTT: near and far group, vantage point (each such row once), ms.

    Parameters
    ----------
    seen : Observations
    group : (n_nodes,) int64
    vantage : (n_vantages,) int64
        Number of each vantage point.
    """
    steps = seen.steps
    rows = np.flatnonzero(~steps.across_gap & (steps.before != FIRST)).astype(np.int32)
    known = ~np.isnan(steps.rtt_ms[rows]) & ~np.isnan(steps.rtt_ms[steps.before[rows]])
    rows = rows[known]
    # Tens of millions of steps: what is not needed is not kept.
    first = rows[_first_of_most_traces(steps, rows, group.astype(np.int32), vantage)]
    added = steps.rtt_ms[first].astype(np.float64) - steps.rtt_ms[steps.before[first]]
    near, far = group[steps.near[first]], group[steps.far[first]]
    return near, far, vantage[steps.vantage[first]], added


def _first_of_most_traces(
    steps: Steps, rows: np.ndarray, group: np.ndarray, vantage: np.ndarray
) -> np.ndarray:
    """Of the steps over each link from each vantage point the one of most traces, in their order.

    Positions in ``rows``; of equal ones it is the first.
    """
    columns = group[steps.near[rows]], group[steps.far[rows]], vantage[steps.vantage[rows]]
    times = -steps.n_traces[rows].astype(np.int64)
    keys = packed_keys(*columns, times)
    if len(keys) > 1:
        order = np.lexsort(keys[::-1])
        return order[run_starts(*(column[order] for column in columns))]
    del columns
    order = np.argsort(keys[0], kind="stable")
    by_link = keys[0][order] // (int(np.ptp(times)) + 1 if len(times) else 1)
    return order[run_starts(by_link)]


def usual_ms(
    sides: Sides, references: References, votes: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Reference of each vote, and the one before it; the vote where there is none.

    Of too few nights, the vote and the one before it: what the older night was compared with.

    Parameters
    ----------
    sides : Sides
    references : References
    votes : four (n,) columns
        As from ``added_ms`` for the older night, in the numbers of both nights.
    """
    assert sides.old_view is not None
    near, far, vantage, value = votes
    known = _best_last(references, np.flatnonzero(~references.is_pair))
    old, new = sides.old, sides.new
    addr = np.concatenate([old.addr, new.addr])
    group = np.concatenate([sides.groups.old[old.addr_node], sides.groups.new[new.addr_node]])
    vantages = sides.old_view.seen.vantages
    table = tuple(known.addr.T)
    group = _taken(group, _looked_up(tuple(addr.T), table))  # of each address of the references
    by = _taken(sides.old_view.vantage, _looked_up((vantages.addr_high, vantages.addr_low), table))
    columns = group[known.near], group[known.far], by[known.vantage]
    return _or_value(known, _looked_up(columns, (near, far, vantage)), value)


def usual_hops(
    references: References, view: View, paths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Reference of the hops of some paths, and the one before it, as for ``usual_ms``."""
    seen = view.seen
    value = seen.paths.n_hops[paths].astype(np.float64)
    known = _best_last(references, np.flatnonzero(references.is_pair))
    table, vantages = tuple(known.addr.T), seen.vantages
    by = _looked_up(table, (vantages.addr_high, vantages.addr_low))
    target = _looked_up(table, (seen.paths.target_high[paths], seen.paths.target_low[paths]))
    wanted = target, by[seen.paths.vantage[paths]]
    return _or_value(known, _looked_up((known.far, known.vantage), wanted), value)


def _or_value(
    known: References, at: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """References of some rows, and those before; the value where the row is -1.

    A reference of too few nights is the value; the one before it is that of its night.
    """
    if not len(known):
        return value, value
    row = np.maximum(at, 0)
    is_enough = (at >= 0) & (known.n_seen[row] >= MIN_NIGHTS)
    return (
        np.where(is_enough, known.usual[row], value),
        np.where(at >= 0, known.usual_before[row], value),
    )


def is_news(which: Sequence[np.ndarray], sign: int) -> np.ndarray:
    """(n,) bool: what is off its reference on one side, and was not before.

    Parameters
    ----------
    which : three (n,) int columns
        Sides on which the new night lies from the reference, the old night from the reference of
        its time, and the new night from the old one: 1 above, -1 below, 0 neither.
    sign : int
        The side in question.
    """
    from_usual, before, from_before = which
    return (from_usual == sign) & ((before != sign) | (from_before == sign))


def sign_of_shift(
    row: np.ndarray, moved: np.ndarray, n_rows: int, least: float = MIN_HOPS
) -> np.ndarray:
    """1 where the differences of a row lie above 0, -1 where below, 0 where neither; (n_rows,).

    The interval of their median leaves out 0, and the median is at least ``least`` away.
    """
    middle, lower, upper = medians(row, moved, n_rows)
    above = (lower > 0) & (middle >= least)
    return above.astype(np.int64) - ((upper < 0) & (middle <= -least))


def _best_last(references: References, rows: np.ndarray) -> References:
    """Some rows, those of enough nights last, of these those seen most and latest."""
    n_seen = references.n_seen[rows]
    order = np.lexsort((n_seen, -references.n_absent[rows], n_seen >= MIN_NIGHTS))
    return take(references, rows[order])


def _looked_up(known: tuple[np.ndarray, ...], wanted: tuple[np.ndarray, ...]) -> np.ndarray:
    """(n_wanted,) int64: the last known row that is equal, -1 where none is."""
    number, n = number_rows(*(np.concatenate(pair) for pair in zip(known, wanted, strict=True)))
    row = np.full(n, -1)
    row[number[: len(known[0])]] = np.arange(len(known[0]))
    return row[number[len(known[0]) :]]


def _taken(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """``values[at]``, -1 where ``at`` is."""
    if not len(values):
        return np.full(len(at), -1, values.dtype)
    return np.where(at >= 0, values[np.maximum(at, 0)], values.dtype.type(-1))
