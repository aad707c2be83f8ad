"""Which folder a report may replace: a missing or empty one, or an earlier report of ours.

Files that users put into a report of ours are carried over to the one that replaces it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import UsageError, said_by_system
from pipeline.model.measured.reading import newest_on_calendar
from pipeline.model.words import printable
from pipeline.places import url_of
from pipeline.report.compared import COMPARISON, foreign_in, is_shard
from pipeline.report.names import ADDRESSES, ASES, CHANGES, HISTORY, PATHS, REPORT, ROUTERS
from pipeline.report.published import bring_reports, publish_reports, published_of
from pipeline.store.versions.held import set_aside

N_NAMED = 3  # files of a folder that a refusal names

# What reports consist of. Anything else in a folder of a report belongs to its user.
_FILES = frozenset(
    {
        REPORT,
        "as_links.parquet",
        "as_page.js",
        "ases.js",
        ASES,
        "exits.parquet",
        "filters.js",
        "history.js",
        "hopscope.css",
        "hopscope.js",
        "index.html",
        "ingresses.parquet",
        "internet.html",
        "internet.js",
        "lookup.js",
        "night.js",
        "pages.parquet",
        "panel.js",
        "paths.html",
        "paths.js",
        "rejects.jsonl",
        "tasks.parquet",
    }
)
# Files of comparisons: kept as those of users are, and no report by themselves.
_COMPARISON_FILES = COMPARISON | {"hopscope.css", "hopscope.js"}
_LATER = frozenset({CHANGES, "changes.js"})  # comparisons of before lack them
_OF_ASES = {"as": ".html", "distances": ".parquet", "nodes": ".parquet"}
# Folders of scripts, and the names that these may have.
_SCRIPTS = {
    ADDRESSES: re.compile(r"index|\d+"),
    HISTORY: re.compile(r"index|\d+"),
    ROUTERS: re.compile(r"index|\d+"),
    PATHS: re.compile(r"index|[art]?\d+"),
}
_FOLDERS = frozenset({*_OF_ASES, *_SCRIPTS})


def earlier_report(folder: Path, new: str = "a report") -> dict | None:
    """``report.json`` of the report that a new one of the same snapshot would replace.

    Parameters
    ----------
    folder : Path
        ``OUT/<snapshot>``.
    new : str
        What is to be written there, for the message.

    Returns
    -------
    dict or None
        None where the folder is missing or empty, or holds comparisons alone.

    Raises
    ------
    UsageError
        If there is anything but a report of this snapshot by hopscope, or in it something that a
        new report has no room for: it would be lost.
    """
    if fault := report_fault(folder):
        raise UsageError(
            f"{folder}: {fault}; {new} would replace it: give --out another folder, or move it away"
        )
    return report_of(folder)


def report_fault(folder: Path) -> str:
    """Why a folder that should hold a report of its name does not; empty: it does, or holds none.

    It holds none where it is missing or empty, or holds comparisons alone.
    """
    if folder.is_symlink():
        return "is a link, and a report can replace only folders"
    if not folder.exists():
        return ""
    if not folder.is_dir():
        return "is not a folder"
    names = sorted(path.name for path in folder.iterdir())
    if _COMPARISON_FILES.issuperset(names):
        foreign = foreign_in(folder)
        return f"holds {', '.join(foreign)}, which hopscope did not write" if foreign else ""
    if REPORT not in names:
        listed = ", ".join(printable(name) for name in names[:N_NAMED])
        more = f" and {len(names) - N_NAMED:,} more" if len(names) > N_NAMED else ""
        return f"holds {listed}{more}, but no {REPORT}, so it is not a hopscope report"
    if report_of(folder) is None:
        return f"its {REPORT} does not belong to a report of {folder.name}"
    for name in names:
        is_folder = (folder / name).is_dir() and not (folder / name).is_symlink()
        if (name in _FILES and is_folder) or (name in _FOLDERS and not is_folder):
            return f"{name} should be a {'folder' if name in _FOLDERS else 'file'}"
    return ""


def report_of(folder: Path) -> dict | None:
    """``report.json`` of a folder that holds a report of ours under its own name; else None."""
    report = read_report(folder / REPORT)
    return report if report is not None and report.get("snapshot") == folder.name else None


def read_report(path: Path) -> dict | None:
    """A ``report.json`` of ours, of whatever snapshot; None if it is anything else."""
    try:
        return _parsed(path.read_bytes())
    except OSError:
        return None


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    """A part of ``report.json`` that is a mapping in ours; empty if it is anything else."""
    return value if isinstance(value, dict) else {}


def newest_s_of(report: Mapping[str, Any]) -> float:
    """Time of the newest record that a report is of, s since 1970; 0: unknown."""
    inputs = report.get("inputs")
    inputs = inputs if isinstance(inputs, list) else []
    return newest_on_calendar(entry for entry in inputs if isinstance(entry, dict))


def current_report(out: Path, night: str) -> dict | None:
    """``report.json`` of a night as readers find it now, at a URL what others published; or None.

    Raises
    ------
    StoreError
        If the reports are at a URL that cannot be read.
    """
    if url_of(out) is None:
        return report_of(out / night)
    text = published_of(out, night, REPORT)
    return None if text is None else _parsed(text)


def remove_report(folder: Path) -> bool:
    """Remove a report of ours, a comparison, or both; False if it holds what a user put there.

    The folder is renamed first, so that nobody reads a part of it; what a kill leaves is removed
    by the next run.

    Raises
    ------
    UsageError
        If it is neither.
    OSError
        If it cannot be renamed.
    """
    if earlier_report(folder) is None:
        if not _is_comparison(folder):
            return False
        set_aside(folder)
        return True
    asns = _asns_of(folder)
    for here, _, names in os.walk(folder, onerror=_raise):
        within = Path(here).relative_to(folder)
        if not all(_is_ours(within / name, asns) for name in names):
            return False
    set_aside(folder)
    return True


def _is_comparison(folder: Path) -> bool:
    """Whether a folder holds all files of a comparison and nothing else."""
    entries = list(folder.iterdir())
    if any(entry.is_symlink() or entry.is_dir() != (entry.name == CHANGES) for entry in entries):
        return False
    names = {entry.name for entry in entries}
    is_whole = _COMPARISON_FILES - _LATER <= names <= _COMPARISON_FILES
    return is_whole and CHANGES not in foreign_in(folder)


def carry_over(before: Path, after: Path, left_out: Collection[str] = ()) -> None:
    """Put what users added to a report into the folder of another one.

    Files are linked, so that both folders have them; what is there already is kept.

    Parameters
    ----------
    before : Path
        Report of ours; may be missing.
    after : Path
        Report of ours, complete.
    left_out : collection of str
        Files of ``before`` itself that stay behind.

    Raises
    ------
    OSError
        If something can be neither linked nor copied.
    """
    if not before.exists():
        return
    asns = _asns_of(before)
    # From below, so that a folder is filled before it may become read-only.
    for folder, subfolders, names in os.walk(before, topdown=False, onerror=_raise):
        here = Path(folder).relative_to(before)
        links = [name for name in subfolders if os.path.islink(os.path.join(folder, name))]
        for path in (here / name for name in [*names, *links]):
            is_kept = not _is_of_report(path, asns) and path.parts[0] not in left_out
            if is_kept and not os.path.lexists(after / path):
                (after / path).parent.mkdir(parents=True, exist_ok=True)
                _link(before / path, after / path)
        if here.parts and str(here) not in {*_FOLDERS, *left_out}:
            (after / here).mkdir(parents=True, exist_ok=True)
            shutil.copystat(folder, after / here)


def _asns_of(report: Path) -> frozenset[str]:
    """ASes that a report is about; none if its table cannot be read: then nothing is dropped."""
    try:
        column = pq.read_table(report / ASES, columns=["asn"])["asn"]
    except (OSError, KeyError, pa.ArrowException):
        return frozenset()
    return frozenset(map(str, column.to_pylist()))


def _is_of_report(path: Path, asns: frozenset[str]) -> bool:
    if len(path.parts) == 2 and path.parts[0] in _SCRIPTS:
        return path.suffix == ".js" and _SCRIPTS[path.parts[0]].fullmatch(path.stem) is not None
    if len(path.parts) == 2 and path.parts[0] in _OF_ASES:
        return path.suffix == _OF_ASES[path.parts[0]] and path.stem in asns
    return str(path) in _FILES


def _is_ours(path: Path, asns: frozenset[str]) -> bool:
    return _is_of_report(path, asns) or str(path) in _COMPARISON_FILES or is_shard(path)


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError:  # a file system without hard links, or a file of another user
        shutil.copy2(path, target, follow_symlinks=False)


def _raise(error: OSError) -> None:
    raise error


@contextlib.contextmanager
def report_turn(
    out: Path, night: str | None = None, check: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Wait for this process's turn to add to reports in a folder, so that no results are lost.

    The folder is made if it is missing. Without locks in the file system no process waits. For
    reports at a URL the mirror is brought up to date first, and what changed in it is published at
    the end of the block, unless that ends by an error.

    Parameters
    ----------
    out : Path
    night : str or None
        Whose report is added to: all of it is fetched, not its tables alone.
    check
        As for ``publish_reports``: a turn is one of this machine's, and others publish, too.

    Raises
    ------
    UsageError
        If the folder cannot be made or read.
    StoreError
        If the reports are at a URL that cannot be read or written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{out}: {said_by_system(error)}; give --out a writable folder") from None
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        bring_reports(out, night)
        yield
        publish_reports(out, night, check)
    finally:
        os.close(descriptor)


def _parsed(text: bytes) -> dict | None:
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or not isinstance(report.get("schema_version"), int):
        return None
    versions = report.get("versions")
    return report if isinstance(versions, dict) and "hopscope" in versions else None
