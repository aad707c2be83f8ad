"""Keep the last nights: remove older snapshots of a store, and their reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.report.folder import remove_report, report_of, report_turn
from pipeline.store.pointers.nights import is_night, nights_to_keep, remove_old_nights
from pipeline.store.references import remove_orphaned_references


@dataclass(frozen=True)
class Removed:
    """Nights that were removed, by name, and lines on what was left."""

    snapshots: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def keep_nights(store: Path, out: Path, n: int, current: str) -> Removed:
    """Remove all nights but the last ``n`` and the current one, in the store and among reports.

    The last ``n`` reports stay too, whether their snapshots are there or not, and so does one into
    which a user put a file. Comparisons without a report go with the reports of their time, and are
    not counted. What cannot be removed costs a warning, not the run.
    """
    warnings: list[str] = []
    old: list[str] = []
    try:
        old = remove_old_nights(store, n, current)
        remove_orphaned_references(store)
    except (PipelineError, OSError) as error:
        warnings.append(f"older nights were not removed: {_said(error)}")
    reports = []
    with report_turn(out):
        for name in _old_reports(out, n, current):
            try:
                if remove_report(out / name):
                    reports.append(name)
                else:
                    warnings.append(
                        f"{out / name} was not removed: it holds files that hopscope did not write"
                    )
            except (PipelineError, OSError) as error:
                warnings.append(f"{out / name} was not removed: {_said(error)}")
    return Removed(tuple(old), tuple(reports), tuple(warnings))


def _old_reports(out: Path, n: int, current: str) -> list[str]:
    """Nights in a folder of reports before the last ``n`` that have one, the current one left out.

    Empty folders are left out too: whoever made them, nothing is gained.
    """
    nights = [path for path in out.iterdir() if is_night(path.name)]
    kept = nights_to_keep([path.name for path in nights if report_of(path) is not None], n, "")
    if len(kept) < n:
        return []
    old = [path for path in nights if path.name < kept[0] and path.name != current]
    return sorted(path.name for path in old if not path.is_dir() or any(path.iterdir()))


def _said(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'system'}: {error.strerror or error}"
    return str(error)
