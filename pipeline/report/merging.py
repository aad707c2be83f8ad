"""Two runs on one version of a snapshot as one measurement: the later one wins, nothing is lost.

Both describe the same graphs, so they agree on what both know; if one knows more (all
eccentricities, exact widths), that is kept, and the tighter of both bounds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.metrics import METRICS, WIDTH_METRICS, WidthMetric, tasks_of
from pipeline.model.columns import concat, schema_of, take
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.columns.ragged import positions_of_rows, row_of_value
from pipeline.model.search.results import Findings, Measurement, SearchResults, Widths
from pipeline.model.search.tasks import ANSWERS
from pipeline.report.tables.width.width_bounds import with_exact


def merge(snapshot, before: Measurement, after: Measurement) -> Measurement:
    """Combine two runs.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    before, after : Measurement
        Of this version of it; ``before`` is the earlier one.

    Returns
    -------
    Measurement
        ``n_tasks``, ``n_retries``, ``wall_s`` and ``device`` of an AS are those of the last run
        that measured it; ``cluster`` and ``busy_share`` are those of the last run. An AS has failed
        as long as something that failed is still missing.
    """
    rows = np.union1d(before.rows, after.rows).astype(np.int64)
    old, new = before.found(), after.found()
    found = {task: _merged(old.get(task), new.get(task)) for task in old | new}
    metrics = tuple(m for m in METRICS if m in (*before.metrics, *after.metrics))
    merged = replace(after, rows=rows, metrics=metrics, **_of_last(rows, before, after))
    merged = merged.with_found(found)
    failed = _failed(snapshot, merged, before, after)
    return replace(merged, failed=failed, tasks=_tasks(snapshot, merged, before, after))


def covers(snapshot, before: tuple[str, ...], after: Measurement) -> bool:
    """Whether a run has everything that an earlier one of these metrics can have."""
    widths = [w for w in (after.widths, after.weighted_widths) if w is not None]
    return (
        len(after.rows) == len(snapshot.asn)
        and set(before) <= set(after.metrics)
        and not after.failed
        and all(bool(w.exact.all()) for w in widths)
    )


def _merged(before: Findings | None, after: Findings | None) -> Findings | None:
    """Results of two runs for one kind of task; figures that both have are from the later one."""
    if before is None or after is None:
        return after if before is None else before
    if isinstance(before, Widths) and isinstance(after, Widths):
        return _widths(before, after)
    found: Any = concat([after, before])
    key = found.row.astype(np.int64)
    if isinstance(found, SearchResults):
        key = ordered_keys(key, found.source)
    return take(found, np.unique(key, return_index=True)[1])


def _widths(before: Widths, after: Widths) -> Widths:
    metrics = tuple(m for m in WIDTH_METRICS if m in (*before.metrics, *after.metrics))
    _, i, j = np.intersect1d(before.row, after.row, return_indices=True)
    old_is_all = set(after.metrics) <= set(before.metrics)
    new_is_all = set(before.metrics) <= set(after.metrics)
    new = new_is_all & after.exact[j]
    old = ~new & old_is_all & before.exact[i]
    both = ~(new | old)
    pieces = [
        take(before, np.concatenate([_others(len(before.row), i), i[old]])),
        take(after, np.concatenate([_others(len(after.row), j), j[new]])),
        _both(take(before, i[both]), take(after, j[both]), metrics),
    ]
    found = concat([replace(piece, metrics=metrics) for piece in pieces])
    return take(found, np.argsort(found.row, kind="stable"))


def _others(n: int, which: np.ndarray) -> np.ndarray:
    return np.setdiff1d(np.arange(n), which)


def _both(before: Widths, after: Widths, metrics: tuple[WidthMetric, ...]) -> Widths:
    """Combined results for the same graphs: what either knows exactly, and the tighter bounds."""
    n = len(after.row)
    is_exact = before.exact & after.exact
    found = concat([after, before])
    columns: dict[str, Any] = {"component": np.maximum(before.component, after.component)}
    for name in ("diameter", "radius"):
        columns |= _bounds(before, after, name)
    for ptr, names in schema_of(Widths).ragged.items():
        which = np.where(_has_more(before, after, ptr), np.arange(n) + n, np.arange(n))
        columns[ptr], positions = positions_of_rows(getattr(found, ptr), which)
        columns |= {name: getattr(found, name)[positions] for name in names}
    has_old = np.diff(before.component_ptr) > 0
    _, positions = positions_of_rows(found.component_ptr, np.arange(n) + n * has_old)
    if len(positions) == len(columns["component_id"]):  # the graphs are the same
        for name in ("component_diameter", "component_radius"):
            new = columns[name]
            columns[name] = np.where(new < 0, getattr(found, name)[positions], new)
    made = with_exact(replace(after, metrics=metrics, exact=is_exact, **columns))
    of_old, of_new = _says_more(made, after), _says_more(made, before)
    n_searches = before.n_searches * of_old + after.n_searches * (of_new | ~of_old)
    return replace(made, n_searches=n_searches)


def _bounds(before: Widths, after: Widths, name: str) -> dict[str, np.ndarray]:
    """Bounds of one width; a value that one run knows exactly is taken as it is.

    By weight two sums of one path may differ in their last digit, so that bounds of two runs cross.
    """
    names = f"{name}_lower", f"{name}_upper"
    (old_lower, old_upper), (lower, upper) = (
        [getattr(run, bound) for bound in names] for run in (before, after)
    )
    highest = np.maximum(old_lower, lower)
    lowest = np.where(
        old_upper < 0, upper, np.where(upper < 0, old_upper, np.minimum(old_upper, upper))
    )
    lowest = np.where(lowest < 0, lowest, np.maximum(lowest, highest))
    known, known_old = ((a == b) & (a >= 0) for a, b in ((lower, upper), (old_lower, old_upper)))
    choices = [known, known_old]
    return {
        names[0]: np.select(choices, [lower, old_lower], highest),
        names[1]: np.select(choices, [upper, old_upper], lowest),
    }


def _has_more(before: Widths, after: Widths, ptr: str) -> np.ndarray:
    """(n_graphs,) bool: whose lists, cut by ``ptr``, are those of the earlier run."""
    old, new = np.diff(getattr(before, ptr)), np.diff(getattr(after, ptr))
    if ptr != "path_ptr":  # either has all, or nothing
        return new == 0
    # In hops the bound may be from a search from an ingress, without a path.
    length = (before.diameter_lower, after.diameter_lower) if after.is_weighted else (old, new)
    return (new == 0) | ((length[0] > length[1]) & (old > 0))


def _says_more(found: Widths, than: Widths) -> np.ndarray:
    """(n_graphs,) bool: whether something is in one table that is not in the other."""
    more = np.zeros(len(found.row), bool)
    for name in schema_of(Widths).flat:
        if name.endswith(("_lower", "_upper")):
            more |= getattr(found, name) != getattr(than, name)
    for ptr in schema_of(Widths).ragged:
        more |= np.diff(getattr(found, ptr)) != np.diff(getattr(than, ptr))
    if np.array_equal(found.component_ptr, than.component_ptr):
        graph = row_of_value(found.component_ptr)
        for name in ("component_diameter", "component_radius"):
            more[graph[getattr(found, name) != getattr(than, name)]] = True
    return more


def _of_last(rows: np.ndarray, before: Measurement, after: Measurement) -> dict[str, Any]:
    """Columns that describe the last run of each AS."""
    made: dict[str, Any] = {}
    at_old, at_new = np.searchsorted(rows, before.rows), np.searchsorted(rows, after.rows)
    for name in ("n_tasks", "n_retries", "wall_s", "n_reused"):
        column = np.zeros(len(rows), np.asarray(getattr(after, name)).dtype)
        for run, at in ((before, at_old), (after, at_new)):
            values = getattr(run, name)
            column[at] = values if len(values) else 0
        made[name] = column
    for name in ("device", "reused_from"):
        texts = np.full(len(rows), "", object)
        texts[at_old] = getattr(before, name) or ""
        texts[at_new] = getattr(after, name) or ""
        made[name] = texts.tolist()
    return made


def _failed(
    snapshot, merged: Measurement, before: Measurement, after: Measurement
) -> dict[int, str]:
    """Rows with missing results after a failure, and why."""
    asked_again = set(after.rows.tolist())
    failed = {row: why for row, why in before.failed.items() if row not in asked_again}
    for run, others in ((before, after.metrics), (after, before.metrics)):
        missing: set[int] = set()
        asked_of_others = tasks_of(others)
        for task, asked in tasks_of(run.metrics).items():
            missing |= set(_lacking(snapshot, merged, task).tolist())
            if not set(asked) <= set(asked_of_others.get(task, ())):
                missing |= set(_not_exact(merged, task).tolist())
        failed |= {row: why for row, why in run.failed.items() if row in asked_again & missing}
    return dict(sorted(failed.items()))


def _lacking(snapshot, merged: Measurement, task: str) -> np.ndarray:
    """Rows with a missing result, or with unsearched ingresses."""
    found = merged.found().get(task)
    if not isinstance(found, SearchResults):
        return np.setdiff1d(merged.rows, () if found is None else found.row)
    table = snapshot.ingresses(merged.rows)
    n_wanted = np.bincount(table.row[~table.candidate], minlength=len(snapshot.asn))
    n_found = np.bincount(found.row, minlength=len(snapshot.asn))
    return merged.rows[(n_found < n_wanted)[merged.rows]]


def _not_exact(merged: Measurement, task: str) -> np.ndarray:
    """Rows of widths with only bounds, as a failure may leave them."""
    found = merged.found().get(task)
    return found.row[~found.exact] if isinstance(found, Widths) else merged.rows[:0]


def _tasks(
    snapshot, merged: Measurement, before: Measurement, after: Measurement
) -> dict[str, list]:
    """Tasks of the later run, after those of the earlier one with results that are still used."""
    replaced: dict[str, set[str]] = {}
    hashes = snapshot.graph_hash
    asked_again = tasks_of(after.metrics)
    for task, asked in tasks_of(before.metrics).items():
        of_kind = set(asked) <= set(asked_again.get(task, ()))
        used = _rows_from_earlier(merged.found().get(task), after.found().get(task))
        again = [
            row
            for row in after.rows.tolist()
            if of_kind and row not in after.failed and row not in used
        ]
        kept = np.setdiff1d(before.rows, again).tolist()
        # A graph that several ASes share was searched under one of them.
        replaced[task] = {hashes[row] for row in again} - {hashes[row] for row in kept}
    asn = np.asarray(snapshot.asn)
    old = before.tasks
    keep = []
    for i, (kind, asns) in enumerate(zip(old.get("kind", ()), old.get("asns", ()), strict=True)):
        gone = replaced.get(ANSWERS.get(kind, kind), set())
        rows = np.searchsorted(asn, np.asarray(asns, np.int64)).tolist()
        if not all(hashes[row] in gone for row in rows):
            keep.append(i)
    return {
        name: [old[name][i] for i in keep] + list(after.tasks.get(name, ()))
        for name in (old if not after.tasks else after.tasks)
        if name in old
    }


def _rows_from_earlier(merged: Findings | None, after: Findings | None) -> set[int]:
    """Rows of widths of the later run that the earlier one said more about."""
    if not isinstance(merged, Widths) or not isinstance(after, Widths):
        return set()
    at = np.searchsorted(merged.row, after.row)
    return set(after.row[_says_more(take(merged, at), after)].tolist())
