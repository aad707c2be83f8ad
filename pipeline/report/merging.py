"""Two runs on one version of a snapshot as one measurement: what the later did not compute stays.

Both tell facts of the same graphs, so they agree wherever both know; where one knows more (all
eccentricities, exact widths), that is kept, and bounds are those of both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.collect import concat_results, take_results
from pipeline.collect.ragged import take_ragged
from pipeline.collect.widths import (
    RAGGED,
    concat_effective,
    concat_widths,
    take_effective,
    take_widths,
)
from pipeline.model.measurement import Measurement
from pipeline.model.metrics import METRICS, WEIGHTED, WIDTH_METRICS
from pipeline.model.tasks import SearchResults
from pipeline.model.widths import EffectiveDiameters, Widths

# Kind of a task -> which of a measurement's findings it made.
_MADE = {
    "search": "results",
    "pack": "results",
    "shard": "results",
    "widths": "widths",
    "opening": "widths",
    "candidate": "widths",
    "path": "widths",
    "weighted": "weighted_widths",
    "effective": "effective",
}


def merge(snapshot, before: Measurement, after: Measurement) -> Measurement:
    """What two runs know together.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    before, after : Measurement
        Of this version of it; ``before`` is the earlier one.

    Returns
    -------
    Measurement
        ``n_tasks``, ``n_retries``, ``wall_s`` and ``device`` of an AS are those of the last run
        that was asked about it; so are ``cluster`` and ``busy_share`` of all. An AS has failed
        as long as something that failed is still missing.
    """
    rows = np.union1d(before.rows, after.rows).astype(np.int64)
    found: dict[str, Any] = {
        "results": _results(before.results, after.results),
        "widths": _widths(before.widths, after.widths),
        "weighted_widths": _widths(before.weighted_widths, after.weighted_widths),
        "effective": _effective(before.effective, after.effective),
    }
    metrics = tuple(m for m in METRICS if m in (*before.metrics, *after.metrics))
    merged = replace(after, rows=rows, metrics=metrics, **_of_last(rows, before, after), **found)
    failed = _failed(snapshot, merged, before, after)
    return replace(merged, failed=failed, tasks=_tasks(snapshot, before, after))


def covers(snapshot, before: tuple[str, ...], after: Measurement) -> bool:
    """Whether a run knows all that an earlier one of these metrics can have known."""
    widths = [w for w in (after.widths, after.weighted_widths) if w is not None]
    return (
        len(after.rows) == len(snapshot.asn)
        and set(before) <= set(after.metrics)
        and not after.failed
        and all(bool(w.exact.all()) for w in widths)
    )


def _results(before: SearchResults, after: SearchResults) -> SearchResults:
    found = concat_results([after, before])
    key = (found.row.astype(np.int64) << 32) | found.source
    first = np.unique(key, return_index=True)[1]  # of two, that of the later run
    return take_results(found, first, found.row[first])


def _effective(
    before: EffectiveDiameters | None, after: EffectiveDiameters | None
) -> EffectiveDiameters | None:
    if before is None or after is None:
        return after if before is None else before
    found = concat_effective([after, before])
    row, first = np.unique(found.row, return_index=True)
    return take_effective(found, first, row)


def _widths(before: Widths | None, after: Widths | None) -> Widths | None:
    if before is None or after is None:
        return after if before is None else before
    metrics = tuple(m for m in WIDTH_METRICS if m in (*before.metrics, *after.metrics))
    _, i, j = np.intersect1d(before.row, after.row, return_indices=True)
    old_is_all = set(after.metrics) <= set(before.metrics)
    new_is_all = set(before.metrics) <= set(after.metrics)
    new = new_is_all & (after.exact[j] | ~before.exact[i])
    old = ~new & old_is_all & before.exact[i]
    both = ~(new | old)
    pieces = [
        _taken(before, np.concatenate([_others(len(before.row), i), i[old]])),
        _taken(after, np.concatenate([_others(len(after.row), j), j[new]])),
        _both(_taken(before, i[both]), _taken(after, j[both]), old_is_all, new_is_all),
    ]
    found = concat_widths([replace(piece, metrics=metrics) for piece in pieces])
    return _taken(found, np.argsort(found.row, kind="stable"))


def _others(n: int, which: np.ndarray) -> np.ndarray:
    return np.setdiff1d(np.arange(n), which)


def _taken(widths: Widths, which: np.ndarray) -> Widths:
    return take_widths(widths, which, widths.row[which])


def _both(before: Widths, after: Widths, old_is_all: bool, new_is_all: bool) -> Widths:
    """Of the same graphs, what either knows."""
    n = len(after.row)
    at = np.arange(n)
    found = concat_widths([after, before])

    def known(name: str) -> tuple[np.ndarray, np.ndarray]:
        return getattr(before, name), getattr(after, name)

    def lower(name: str) -> np.ndarray:
        return np.maximum(*known(name))

    def upper(name: str) -> np.ndarray:
        old, new = known(name)
        return np.where(old < 0, new, np.where(new < 0, old, np.minimum(old, new)))

    columns: dict[str, Any] = {
        "n_searches": before.n_searches + after.n_searches,
        "component": lower("component"),
        "diameter_lower": lower("diameter_lower"),
        "radius_lower": lower("radius_lower"),
        "diameter_upper": upper("diameter_upper"),
        "radius_upper": upper("radius_upper"),
        "exact": (before.exact & after.exact)
        | (before.exact & old_is_all)
        | (after.exact & new_is_all),
    }
    for ptr, names in RAGGED.items():
        from_new = np.diff(getattr(after, ptr)) > 0
        if ptr == "path_ptr":  # the longer one
            has_old = np.diff(before.path_ptr) > 0
            from_new &= ~has_old | (after.diameter_lower >= before.diameter_lower)
        which = np.where(from_new, at, at + n)
        for name in names:
            columns[ptr], columns[name] = take_ragged(
                getattr(found, ptr), getattr(found, name), which
            )
    if np.array_equal(before.component_ptr, after.component_ptr):  # the graphs are the same
        for name in ("component_diameter", "component_radius"):
            columns[name] = np.maximum(*known(name))
    return replace(after, row=after.row, **columns)


def _of_last(rows: np.ndarray, before: Measurement, after: Measurement) -> dict[str, Any]:
    """Columns that tell of the last run about each AS."""
    made: dict[str, Any] = {}
    at_old, at_new = np.searchsorted(rows, before.rows), np.searchsorted(rows, after.rows)
    for name in ("n_tasks", "n_retries", "wall_s"):
        column = np.zeros(len(rows), np.asarray(getattr(after, name)).dtype)
        column[at_old] = getattr(before, name)
        column[at_new] = getattr(after, name)
        made[name] = column
    device = np.full(len(rows), "", object)
    device[at_old] = before.device
    device[at_new] = after.device
    made["device"] = device.tolist()
    return made


def _failed(
    snapshot, merged: Measurement, before: Measurement, after: Measurement
) -> dict[int, str]:
    """Rows of which something that failed is still missing, and why."""
    asked_again = set(after.rows.tolist())
    failed = {row: why for row, why in before.failed.items() if row not in asked_again}
    for run, others in ((before, after.metrics), (after, before.metrics)):
        missing: set[int] = set()
        for name in _asked(run.metrics):
            missing |= set(_lacking(snapshot, merged, name).tolist())
            if not _of_kind(name, run.metrics) <= _of_kind(name, others):
                missing |= set(_not_exact(merged, name).tolist())
        failed |= {row: why for row, why in run.failed.items() if row in asked_again & missing}
    return dict(sorted(failed.items()))


def _asked(metrics: tuple[str, ...]) -> list[str]:
    """Which findings of a measurement metrics ask for."""
    asked = {"results": "hops" in metrics, "effective": "effective_diameter" in metrics}
    asked["widths"] = any(metric in metrics for metric in WIDTH_METRICS)
    asked["weighted_widths"] = any(WEIGHTED + metric in metrics for metric in WIDTH_METRICS)
    return [name for name, is_asked in asked.items() if is_asked]


def _lacking(snapshot, merged: Measurement, name: str) -> np.ndarray:
    """Rows of which a finding is missing, or of whose ingresses some were not searched."""
    found = getattr(merged, name)
    if name != "results":
        return np.setdiff1d(merged.rows, () if found is None else found.row)
    table = snapshot.ingresses(merged.rows)
    n_wanted = np.bincount(table.row[~table.candidate], minlength=len(snapshot.asn))
    n_found = np.bincount(found.row, minlength=len(snapshot.asn))
    return merged.rows[(n_found < n_wanted)[merged.rows]]


def _not_exact(merged: Measurement, name: str) -> np.ndarray:
    """Rows of widths of which only bounds are known: what failed may have left them."""
    found = getattr(merged, name)
    return found.row[~found.exact] if isinstance(found, Widths) else merged.rows[:0]


def _tasks(snapshot, before: Measurement, after: Measurement) -> dict[str, list]:
    """Tasks of the later run, after those of the earlier one that made something still there."""
    replaced: dict[str, set[str]] = {}
    hashes = snapshot.graph_hash
    for name in _asked(before.metrics):
        of_kind = _of_kind(name, before.metrics) <= _of_kind(name, after.metrics)
        again = [row for row in after.rows.tolist() if of_kind and row not in after.failed]
        kept = np.setdiff1d(before.rows, again).tolist()
        # A graph that several ASes have was searched under one of them.
        replaced[name] = {hashes[row] for row in again} - {hashes[row] for row in kept}
    asn = np.asarray(snapshot.asn)
    old = before.tasks
    keep = []
    for i, (kind, asns) in enumerate(zip(old.get("kind", ()), old.get("asns", ()), strict=True)):
        gone = replaced.get(_MADE.get(kind, ""), set())
        rows = np.searchsorted(asn, np.asarray(asns, np.int64)).tolist()
        if not all(hashes[row] in gone for row in rows):
            keep.append(i)
    return {
        name: [old[name][i] for i in keep] + list(after.tasks.get(name, ()))
        for name in (old if not after.tasks else after.tasks)
        if name in old
    }


def _of_kind(name: str, metrics: tuple[str, ...]) -> set[str]:
    """Metrics that one finding answers."""
    known: dict[str, set[str]] = {
        "results": {"hops"},
        "effective": {"effective_diameter"},
        "widths": set(WIDTH_METRICS),
        "weighted_widths": {WEIGHTED + metric for metric in WIDTH_METRICS},
    }
    return known[name] & set(metrics)
