"""Which folder a report may replace: a missing or empty one, or an earlier report of ours."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import UsageError
from pipeline.report.escaping import printable

REPORT = "report.json"
N_NAMED = 3  # files of a folder that a refusal names


def earlier_report(folder: Path) -> dict | None:
    """``report.json`` of the report that a new one of the same snapshot would replace.

    Parameters
    ----------
    folder : Path
        ``OUT/<snapshot>``.

    Returns
    -------
    dict or None
        None where the folder is missing or empty.

    Raises
    ------
    UsageError
        If there is anything but a report of this snapshot by hopscope: it would be lost.
    """
    if folder.is_symlink():
        raise _refusal(folder, "is a link, and a report can replace only folders")
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise _refusal(folder, "is not a folder")
    names = sorted(path.name for path in folder.iterdir())
    if not names:
        return None
    if REPORT not in names:
        listed = ", ".join(printable(name) for name in names[:N_NAMED])
        more = f" and {len(names) - N_NAMED:,} more" if len(names) > N_NAMED else ""
        raise _refusal(
            folder, f"holds {listed}{more}, but no {REPORT}, so it is not a hopscope report"
        )
    report = _read(folder / REPORT)
    if report is None or report.get("snapshot") != folder.name:
        raise _refusal(folder, f"its {REPORT} does not belong to a report of {folder.name}")
    return report


@contextlib.contextmanager
def report_turn(out: Path) -> Iterator[None]:
    """Wait for this process's turn to add to reports in a folder, so that no results are lost.

    The folder is made if it is missing. If the file system has no locks, nobody waits.

    Raises
    ------
    UsageError
        If the folder cannot be made or read.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{out}: {error.strerror}; give --out a writable folder") from None
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict | None:
    """A ``report.json`` of ours; None if it is anything else."""
    try:
        report = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or not isinstance(report.get("schema_version"), int):
        return None
    versions = report.get("versions")
    return report if isinstance(versions, dict) and "hopscope" in versions else None


def _refusal(folder: Path, why: str) -> UsageError:
    return UsageError(
        f"{folder}: {why}; a report would replace it: give --out another folder, or move it away"
    )
