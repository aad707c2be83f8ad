"""Keep the last nights: remove older snapshots of a store, and their reports."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.model.words import number
from pipeline.places import in_one_line
from pipeline.report.folder import newest_s_of, remove_report, report_of, report_turn
from pipeline.report.nights import NIGHTS_PAGE, write_nights
from pipeline.stages.nights.broken import broken_nights
from pipeline.store import snapshot_names
from pipeline.store.pointers.nights import age_of, is_night, nights_to_keep, remove_old_nights
from pipeline.store.references import remove_orphaned_references


@dataclass(frozen=True)
class Removed:
    """Nights that were removed, by name, and lines on what was left."""

    snapshots: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def gone_of(store: Path, nights: Iterable[str]) -> tuple[str, ...]:
    """Those of some nights whose snapshots are no longer in the store."""
    nights = list(nights)
    with contextlib.suppress(PipelineError, OSError):  # a broken pointer: it may name any of them
        there = set(snapshot_names(store)) if nights else set()
        return tuple(night for night in nights if night not in there)
    return ()


def keep_nights(store: Path, out: Path, n: int, current: str) -> Removed:
    """Remove all nights but the last ``n`` and the current one, in the store and among reports.

    The last ``n`` reports stay too, whether their snapshots are there or not, and so does one into
    which a user put a file. Comparisons without a report go with the reports of their time, and are
    not counted. A broken night (``broken_nights``) is neither counted nor removed. A page of all
    nights is written again. What cannot be removed costs a warning.
    """
    warnings: list[str] = []
    old: list[str] = []
    reports: list[str] = []
    try:
        broken = broken_nights(store, out)
    except (PipelineError, OSError) as error:
        return Removed(warnings=(f"older nights were not removed: {in_one_line(error)}",))
    for name, why in broken.items():
        warnings.append(f"{name} is not one of the last {number(n, 'night')}, and stays: {why}")
    try:
        old = remove_old_nights(store, n, current, broken)
        remove_orphaned_references(store)
    except (PipelineError, OSError) as error:
        warnings.append(f"older nights were not removed: {in_one_line(error)}")
    try:
        with report_turn(out):
            for name in _old_reports(out, n, current, broken):
                if left := _not_removed(out / name):
                    warnings.append(left)
                else:
                    reports.append(name)
            if (old or reports) and (out / NIGHTS_PAGE).exists():
                warnings += filter(None, [write_nights(out, store)])
    except (PipelineError, OSError) as error:
        warnings.append(f"older reports were not removed: {in_one_line(error)}")
    return Removed(tuple(old), tuple(reports), tuple(warnings))


def _not_removed(report: Path) -> str:
    """Remove a report; why it was not, empty if it was."""
    try:
        if remove_report(report):
            return ""
        why = "it holds files that hopscope did not write"
    except (PipelineError, OSError) as error:
        why = in_one_line(error)
    return f"{report} was not removed: {why}"


def _old_reports(out: Path, n: int, current: str, broken: Collection[str]) -> list[str]:
    """Nights in a folder of reports before the last ``n`` that have one, the current one left out.

    Empty folders are left out too: removing them gains nothing.
    """
    nights = [path for path in out.iterdir() if is_night(path.name) and path.name not in broken]
    reports = {path.name: report for path in nights if (report := report_of(path)) is not None}
    newest_s = {name: newest_s_of(report) for name, report in reports.items()}
    kept = nights_to_keep(newest_s, n, "")
    if len(kept) < n:
        return []
    first = age_of(kept[0], newest_s[kept[0]])
    is_old = {p.name: age_of(p.name, newest_s.get(p.name, 0.0)) < first for p in nights}
    old = [path for path in nights if is_old[path.name] and path.name != current]
    return sorted(path.name for path in old if not path.is_dir() or any(path.iterdir()))
