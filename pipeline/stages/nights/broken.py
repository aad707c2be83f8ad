"""Nights that cannot be read: in the store, or their reports."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import StoreError
from pipeline.places.command_lines import command_line
from pipeline.report.folder import report_fault, report_of
from pipeline.store import open_snapshot
from pipeline.store.pointers import names_and_faults
from pipeline.store.pointers.nights import is_night


def broken_nights(store: Path, out: Path) -> dict[str, str]:
    """Nights that cannot be opened or whose report is broken, and why, with what to do.

    A night without a report is none of them.
    """
    names, faults = names_and_faults(store)
    found = {name: str(error) for name, error in faults.items()}
    for name in names:
        try:
            check_report(store, out, name)
            with open_snapshot(store, name):
                pass
        except StoreError as error:
            if is_there(store, name):
                found[name] = str(error)
    return {name: why for name, why in found.items() if is_night(name)}


def is_reported(report: Path) -> bool:
    """Whether there is a report in a folder, sound or not."""
    return bool(report_fault(report)) or report_of(report) is not None


def check_report(store: Path, out: Path, name: str) -> None:
    """Check the report of a snapshot, if there is one.

    Raises
    ------
    StoreError
        If it is broken; says what to do.
    """
    if fault := report_fault(out / name):
        command = command_line("analyze", "--snapshot", name, store=store, out=out)
        raise StoreError(f"{out / name}: {fault}; move it away, and {command} makes it again")


def is_there(store: Path, name: str) -> bool:
    """Whether a store has a snapshot, sound or not: others may have removed it meanwhile."""
    names, faults = names_and_faults(store)
    return name in names or name in faults
