"""The report of a run as a folder that is published as a whole.

Everything is written into a folder next to the final one, which then takes its place in one step:
by exchanging the two names where the system can (Linux), else by two renames with a moment
between them. Readers see the old report or the new one. Hop matrices, which workers wrote beside
the final folder during this run, become ``distances/`` in the same step.
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import __version__
from pipeline.collect.schema import TASKS
from pipeline.errors import UsageError, remedy_for, said_by_system
from pipeline.model.measured.mapped import mapped_of
from pipeline.model.measured.origins import Origins, origins_of
from pipeline.model.search.results import Measurement
from pipeline.model.words import GPU_PACKAGES, PACKAGES, node_words
from pipeline.report.compared import COMPARISON, compared_before
from pipeline.report.folder import carry_over, earlier_report
from pipeline.report.names import ASES, REPORT
from pipeline.report.nights.as_histories import write_histories
from pipeline.report.pages.changes_page import link_changes
from pipeline.report.pages.html import newest_report, write_pages
from pipeline.report.pages.provenance import Provenance
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.swapping import swap, sync
from pipeline.report.tables.largest import largest_ases
from pipeline.report.tables.nodes.node_files import write_node_files
from pipeline.report.tables.summarise import OfSnapshot, Summary, summarise
from pipeline.store import check_name
from pipeline.store.versions.held import WRITING, held_folder, release_folder

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ReportSummary:
    """Where a report is, and its summary.

    Attributes
    ----------
    path : Path
        Folder of the report; ``index`` is its first page, or report.json where it has no pages.
    files : dict of str to Path
        ``ases``, ``ingresses``, ``exits``, ``as_links``, ``tasks``, ``rejects``, ``report``.
    totals : dict
        Sums over all ASes: n_ases, n_nodes, n_edges, n_ingresses, mean_hops, max_hops, ...
    table : list of tuple
        The largest ASes, most routers first, in the order of ``table_columns``; None where
        there is no figure.
    n_pages, wall_s
        Pages of ASes; seconds that writing took.
    node_kind : str
        What a node is: ``interface``, ``router``, ``as``, ``mixed``.
    notes : list of str
        Notes on the snapshot besides its figures, one line each.
    synthetic : list of dict
        Sources that were not measured, as in report.json.
    left_out : str
        A line if the comparison with another night is not kept; empty: it is, or there is none.
    """

    path: Path
    index: Path
    files: dict[str, Path]
    totals: dict
    table: list[tuple]
    n_pages: int
    wall_s: float
    table_columns: tuple[str, ...]
    node_kind: str
    notes: list[str] = field(default_factory=list)
    synthetic: list[dict] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left_out: str = ""


def write_reports(
    snapshot,
    measurement: Measurement,
    out: Path,
    *,
    options: dict,
    warnings: list[str],
    started: float,
    pages: bool = True,
    runs: Sequence[dict] = (),
    processes: int | None = None,
    on_progress: Callable[[int], None] = lambda n_pages: None,
    check: Callable[[], None] = lambda: None,
    versions: Mapping[str, str] = MappingProxyType({}),
    known: Callable[[], OfSnapshot | None] = lambda: None,
) -> ReportSummary:
    """Write everything under ``out/<snapshot>/``; a report of ours that is there is replaced.

    Files that users put into it are kept, and a comparison of the same versions of both nights.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    measurement : Measurement
        Of this snapshot.
    out : Path
        Folder of reports; made where it is missing.
    options : dict
        Options of the run, for ``report.json``.
    warnings : list of str
        One line each; shown on the index.
    started : float
        Start of the run, seconds since 1970 UTC.
    pages : bool
        Write the HTML pages too; if an earlier report of this version of the snapshot has some,
        they are always written.
    runs : sequence of dict
        For ``report.json``: which runs measured what, the last one last.
    processes, on_progress
        As for ``write_pages``.
    check
        Called when all is written; an error of it leaves the report that is there.
    versions : mapping of str to str
        Of other nights, as far as they are known, by name.
    known
        What ``of_snapshot`` made while searches ran; None: nothing was.

    Raises
    ------
    UsageError
        If the folder cannot be written, or there is something in it that is not a report of ours.
    """
    begun = time.time()
    final = Path(out) / check_name(snapshot.name)
    earlier = earlier_report(final)
    is_kept = _is_of_version(earlier, snapshot.version)
    before = None if earlier is None else str(earlier.get("snapshot_version"))
    left_out = compared_before(final, before).left_out(
        snapshot.version, versions, options.get("store", "DIR"), final.parent
    )
    stay_behind = COMPARISON if left_out else ()
    pages = pages or (is_kept and (final / "index.html").exists())
    try:
        with held_folder(final.parent, WRITING) as held:
            aside = held / final.name
            aside.mkdir()
            times = (started, begun)
            shown = newest_report(final.parent) if pages else None
            summary, n_pages = _write_all(
                snapshot,
                measurement,
                aside,
                options,
                warnings,
                times,
                pages,
                runs,
                shown,
                (processes, on_progress),
                known(),
            )
            asns = summary.ases["asn"].to_pylist()
            made = Path(measurement.distances_dir) if measurement.distances_dir else None
            if made is not None and made.is_dir():
                _take_in(made, aside / "distances", asns)
            if is_kept and (final / "distances").is_dir():  # of other ASes, or of an earlier run
                _take_in(final / "distances", aside / "distances", asns)
            earlier_report(final)  # someone may have put something there in the meantime
            carry_over(final, aside, stay_behind)
            link_changes(aside, snapshot.version)
            if pages:
                write_histories(final.parent, final.name, aside)
            check()
            swap(aside, final)
            carry_over(aside, final, stay_behind)  # and what was put there since
            if made is not None:
                release_folder(made)
    except OSError as error:
        remedy = remedy_for(error, "give --out a folder that can be written and has room")
        raise UsageError(f"{error.filename or final}: {said_by_system(error)}; {remedy}") from error
    names = {
        "ases": ASES,
        "ingresses": "ingresses.parquet",
        "exits": "exits.parquet",
        "as_links": "as_links.parquet",
        "tasks": "tasks.parquet",
        "rejects": "rejects.jsonl",
        "report": REPORT,
    }
    counts = snapshot.manifest.get("counts") or {}
    origins = _reported_origins(snapshot, summary)
    columns, rows = largest_ases(summary, node_words(origins.kind).nouns)
    return ReportSummary(
        path=final,
        index=final / ("index.html" if pages else names["report"]),
        files={key: final / name for key, name in names.items()},
        totals=summary.totals,
        table=rows,
        table_columns=columns,
        n_pages=n_pages,
        wall_s=time.time() - begun,
        node_kind=origins.kind,
        notes=[note for note in (mapped_of(counts), *origins.notes()) if note],
        synthetic=origins.facts(),
        warnings=list(warnings),
        left_out=left_out,
    )


def _reported_origins(snapshot, summary: Summary) -> Origins:
    return origins_of(snapshot.manifest, snapshot.asn).among(summary.ases["asn"].to_numpy())


def _write_all(
    snapshot,
    measurement: Measurement,
    folder: Path,
    options: dict,
    warnings: list[str],
    times: tuple[float, float],
    pages: bool,
    runs: Sequence[dict],
    earlier: Path | None,
    writing: tuple[int | None, Callable[[int], None]],
    known: OfSnapshot | None,
) -> tuple[Summary, int]:
    started, begun = times
    processes, on_progress = writing
    summary = summarise(snapshot, measurement, known)
    tables = {
        "ases": summary.ases,
        "ingresses": summary.ingresses,
        "tasks": task_table(measurement.tasks),
        "exits": summary.exits,
        "as_links": summary.as_links,
    }
    _write_tables({folder / f"{name}.parquet": table for name, table in tables.items()})
    rows = np.asarray(measurement.rows, np.int64)
    n_node_files = write_node_files(snapshot, rows, summary.widths, folder / "nodes")
    rejects = getattr(snapshot, "rejects_path", None)
    if rejects is not None and Path(rejects).exists():
        shutil.copyfile(rejects, folder / "rejects.jsonl")
    else:
        (folder / "rejects.jsonl").touch()
    n_pages, counted = 0, {}
    if pages:
        written = write_pages(
            summary,
            describe_run(snapshot, summary, version=__version__, written=begun),
            folder,
            manifest=snapshot.manifest,
            warnings=warnings,
            busy_share=measurement.busy_share,
            earlier=earlier,
            processes=processes,
            on_progress=on_progress,
            provenance=Provenance(
                options,
                runs,
                measurement.metrics,
                _versions(),
                snapshot.manifest.get("inputs") or [],
            ),
        )
        n_pages, counted["n_pages_kept"] = written.n_pages, written.n_linked
    manifest = snapshot.manifest
    ended = time.time()
    report = {
        "schema_version": SCHEMA_VERSION,
        "snapshot": snapshot.name,
        "snapshot_version": snapshot.version,
        "node_kind": manifest.get("kind"),
        "synthetic": _reported_origins(snapshot, summary).facts(),
        "totals": summary.totals | ({"n_node_files": n_node_files} if n_node_files else {}),
        "warnings": warnings,
        "times": {
            "started": started,
            "report_started": begun,
            "ended": ended,
            "wall_s": ended - started,
            "report_wall_s": ended - begun,
        },
        "options": options,
        "metrics": list(measurement.metrics),
        "runs": list(runs),
        "reused": measurement.reused() | counted,
        "ingest_options": manifest.get("options") or {},
        "counts": manifest.get("counts") or {},
        "inputs": manifest.get("inputs") or [],
        "cluster": measurement.cluster,
        "busy_share": measurement.busy_share,
        "versions": _versions(),
    }
    text = json.dumps(_plain(report), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")
    for path in folder.iterdir():
        if path.is_file():  # pages and node files are too many to wait for: a rerun makes them
            sync(path)
    sync(folder)
    return summary, n_pages


def _write_tables(tables: dict[Path, pa.Table]) -> None:
    """Write tables side by side: compressing and waiting for the disk leave other threads alone."""

    def write(path: Path) -> None:
        pq.write_table(tables[path], path, compression="zstd")
        sync(path)

    with ThreadPoolExecutor(len(tables)) as pool:
        list(pool.map(write, tables))  # raises what one of them raises


def _is_of_version(report: dict | None, version: str) -> bool:
    """Whether a report is there, and of this version of its snapshot."""
    return report is not None and report.get("snapshot_version") == version


def task_table(tasks: dict) -> pa.Table:
    """Columns of ``tasks.parquet``, in its schema; a column that is missing is null."""
    n_tasks = len(next(iter(tasks.values()), ()))
    columns = [
        pa.array(tasks[field.name], field.type)
        if field.name in tasks
        else pa.nulls(n_tasks, field.type)
        for field in TASKS
    ]
    return pa.table(columns, schema=TASKS)


def _versions() -> dict[str, str]:
    found = {"hopscope": __version__, "python": platform.python_version()}
    for package in (*PACKAGES, *GPU_PACKAGES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found


def _plain(value):
    """Value for strict JSON: NaN and infinities become null, texts encodable."""
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    return str(value).encode("utf-8", "replace").decode()


def _take_in(made: Path, folder: Path, asns: list[int]) -> None:
    """Link hop matrices into the new report, where it has none of that AS yet."""
    folder.mkdir(exist_ok=True)
    for asn in asns:
        path = made / f"{asn:d}.parquet"
        if path.exists() and not (folder / path.name).exists():
            try:
                os.link(path, folder / path.name)
            except OSError:  # a file system without hard links
                shutil.copyfile(path, folder / path.name)
