"""Where a run may write: a report replaces a whole folder, so nothing else may be there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config import AnalyzeConfig, CompareConfig, IngestConfig
from pipeline.errors import StoreError, UsageError
from pipeline.metrics import METRICS
from pipeline.places import url_of
from pipeline.report.earlier import measured_metrics
from pipeline.report.folder import current_report, earlier_report
from pipeline.report.names import ASES
from pipeline.report.nights import NIGHTS_PAGE
from pipeline.report.published import bring_reports
from pipeline.schedule.cluster.address import check_cluster
from pipeline.stages.run_metrics import NAME as METRICS_FILE
from pipeline.store import Snapshot, check_name
from pipeline.store.pointers import read_pointer
from pipeline.store.references import FOLDER as REFERENCES
from pipeline.store.results.table import RESULTS
from pipeline.store.versions.mirrored import refresh_pointers
from pipeline.store.versions.names import POINTERS, VERSIONS

_FOLDERS = (POINTERS, VERSIONS, REFERENCES, RESULTS)  # of a store, and hidden ones


def check_run(ingest: IngestConfig, analyze: AnalyzeConfig) -> None:
    """Check what a run will read and write before it begins.

    Raises
    ------
    UsageError
        If ``out`` is, holds or lies in the store or an input, or cannot be written, if something
        other than a report of ours is where the report must be, or a fuller one of another version
        of the snapshot, or a file of all nights has its name; or as ``check_cluster``.
    """
    check_cluster(analyze)
    _check_distances(analyze)
    bring_reports(analyze.out)
    _check_apart(analyze.out, ingest.store, [*ingest.inputs, *ingest.tables])
    _check_writable(analyze.out)
    if ingest.snapshot is not None:
        _check_fuller(analyze, _folder_of(analyze.out, ingest.snapshot), None)


def check_out(config: AnalyzeConfig, snapshot: Snapshot) -> None:
    """Check the place of the report of a snapshot; the inputs are those of its manifest.

    Raises
    ------
    UsageError
        As ``check_run`` and ``check_not_replaced`` do.
    """
    check_cluster(config)
    _check_distances(config)
    _check_apart(config.out, config.store, _known_inputs(snapshot.manifest))
    _check_writable(config.out)
    folder = _folder_of(config.out, snapshot.name)
    check_not_replaced(config, snapshot)
    _check_fuller(config, folder, snapshot)


def check_not_replaced(config: AnalyzeConfig, snapshot: Snapshot) -> None:
    """Keep the report of the version that a name has now from one of an earlier version.

    Both may be measured at the same time, so the one that is ready last is not always the later.

    Raises
    ------
    UsageError
        If the report that is there is of the version to which the name points, and this is another.
    StoreError
        If the reports are at a URL that cannot be read.
    """
    name = snapshot.name
    there = (current_report(config.out, name) or {}).get("snapshot_version")
    if there in (None, snapshot.version) or there != _version_of(config.store, name):
        return
    raise UsageError(
        f"{config.out / name}: holds the report of version {there} of this snapshot, and the "
        f"report of {snapshot.version} does not take its place: a later ingest has replaced it; "
        "give each run a --snapshot of its own"
    )


def _version_of(store: Path, name: str) -> str:
    """The version to which a name points; empty where that is unknown, or no snapshot has it."""
    with contextlib.suppress(StoreError):
        refresh_pointers(store, name)
        return read_pointer(store / POINTERS / f"{name}.json").version
    return ""


def check_comparison(config: CompareConfig, old: Snapshot, new: Snapshot) -> None:
    """Check the place of a comparison.

    Raises
    ------
    UsageError
        If ``out`` is, holds or lies in the store or an input of the two snapshots, or cannot be
        written, or if something other than a report or a comparison of ours is where the files
        must be.
    """
    inputs = [*_known_inputs(old.manifest), *_known_inputs(new.manifest)]
    _check_apart(config.out, config.store, inputs)
    _check_writable(config.out)
    earlier_report(_folder_of(config.out, new.name), "a comparison")


def check_file(out: Path, such_as: str, option: str = "--out") -> None:
    """Check where a single file is to be written, before time goes into what it is to hold.

    Parameters
    ----------
    out : Path
    such_as : str
        A file that could be given, for the message.
    option : str
        By which it is given.

    Raises
    ------
    UsageError
        If it is a folder, cannot be in one, or lies where a store has files of its own.
    """
    check_link(out, option)
    if out.is_dir():
        raise UsageError(f"{option} {out} is a folder: give a file, such as {such_as}")
    parent = next(each for each in out.absolute().parents if each.exists())
    if not parent.is_dir():
        raise UsageError(f"{option} {out}: {parent} is not a folder")
    real = Path(os.path.realpath(out))
    for folder in real.parents[1:]:
        if all((folder / each).is_dir() for each in (POINTERS, VERSIONS)):
            own = real.relative_to(folder).parts[0]
            if own in _FOLDERS or own.startswith("."):
                raise UsageError(
                    f"{option} {out}: lies in {own} of the store {folder}, and may be one of its "
                    "files; give another place"
                )


def check_link(out: Path, option: str = "--out") -> None:
    """Raise UsageError if a place is, or lies behind, a link to what does not exist.

    It seems not to be there, and cannot be made: neither as a file nor as a folder.
    """
    for each in (out, *out.parents):
        if each.is_symlink() and not each.exists():
            of = "" if each == out else f" {each}"
            raise UsageError(
                f"{option} {out}:{of} is a link to {os.readlink(each)}, which does not exist; "
                "give another place, or remove the link"
            )


def _folder_of(out: Path, name: str) -> Path:
    """Folder of the report of a snapshot, unless a file of ours has its name."""
    if check_name(name) in (NIGHTS_PAGE, METRICS_FILE):
        raise UsageError(
            f"{out / name}: is a file of all nights, so no report can be there; ingest the "
            "snapshot under another name (--snapshot)"
        )
    return out / name


def _check_writable(out: Path) -> None:
    """Hours of searches must not end at a folder that takes no report."""
    check_link(out)
    there = out.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise UsageError(
            f"--out {out}: {there} is not a folder; give one, or a path where one can be created"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"--out {out}: {there} cannot be written; give a folder that can")


def _check_distances(config: AnalyzeConfig) -> None:
    """Workers write hop matrices themselves, where the report will be."""
    if config.distances and config.scheduler is not None and url_of(config.out) is not None:
        raise UsageError(
            "--distances with --scheduler needs a folder that all workers see: "
            f"give --out a folder instead of {url_of(config.out)}"
        )


def _check_fuller(config: AnalyzeConfig, folder: Path, snapshot: Snapshot | None) -> None:
    """Refuse to replace a report of another version by one of fewer ASes or metrics.

    ``snapshot``: None where it is yet to be written.
    """
    report = earlier_report(folder)
    if report is None or (snapshot and report.get("snapshot_version") == snapshot.version):
        return
    there = measured_metrics(report)
    lost, todo = [], []
    if metrics := [metric for metric in there if metric not in config.metrics]:
        lost.append(f"without {', '.join(metrics)}")
        all_metrics = ",".join(m for m in METRICS if m in (*there, *config.metrics))
        todo.append(f"give --metrics {all_metrics}")
    everything = snapshot is not None and set(snapshot.asn.tolist()) <= set(config.asns)
    is_part = bool(config.asns) and not everything
    if left_out := sorted(set(_asns(folder)) - set(config.asns)) if is_part else []:
        others = " and others" if len(left_out) > 1 else ""
        lost.append(f"without {len(left_out):,} of its ASes (AS{left_out[0]}{others})")
        todo.append("leave --asn out")
    if lost:
        raise UsageError(
            f"{folder}: holds the report of another version of this snapshot, and this run would "
            f"replace it {' and '.join(lost)}; {' and '.join(todo)}, or give --out another folder"
        )


def _asns(folder: Path) -> list[int]:
    """ASes of a report."""
    try:
        return pq.read_table(folder / ASES, columns=["asn"])["asn"].to_pylist()
    except (OSError, KeyError, pa.ArrowException):
        return []  # broken: nothing of it can be lost


def _known_inputs(manifest: Mapping[str, Any]) -> list[Path]:
    """Files that a snapshot was made from and that still exist."""
    # As they were given, relative to the folder in which the ingest ran.
    ran_in = Path(str((manifest.get("options") or {}).get("ran_in") or ""))
    paths = [ran_in / str(entry["path"]) for entry in manifest["inputs"] if entry.get("path")]
    return [path for path in paths if os.path.lexists(path)]


def _check_apart(out: Path, store: Path, inputs: Iterable[Path]) -> None:
    found = [("store", store, True)]
    beside: dict[Path, Path] = {}  # folder of files -> the first of them: a night has thousands
    for path in inputs:
        real = Path(os.path.realpath(path))
        if real.is_dir():
            found.append(("input", path, True))
        else:
            beside.setdefault(real.parent, path)
    found += [("input", path, False) for path in beside.values()]
    for what, path, is_folder in found:
        holds, lies_in = _is_within(path, out), is_folder and _is_within(out, path)
        if holds or lies_in:
            how = "is" if holds and lies_in else "holds" if holds else "lies in"
            raise UsageError(
                f"--out {out}: {how} the {what} {path}, which a report might overwrite; give a "
                "folder outside the store and the inputs"
            )


def _is_within(path: Path, folder: Path) -> bool:
    """Whether ``path`` is ``folder`` or lies below it, links followed; neither needs to exist."""
    real, wanted = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return any(above == wanted or _is_same(above, wanted) for above in (real, *real.parents))


def _is_same(first: Path, second: Path) -> bool:
    """Whether two names stand for one folder, as on a file system that ignores case."""
    try:
        return first.samefile(second)
    except OSError:
        return False
