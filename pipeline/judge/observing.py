"""Traces that show what can be found: those of files, or those that a snapshot keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pipeline.errors import FormatError
from pipeline.infer import Observation, Observer
from pipeline.ingest import FORMATS, open_reader
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.measured.traces import CLASSIC_TRACE, PART_FURTHER, TraceBatch
from pipeline.store.traces import StoredTraces


def measurements_of(folder: Path) -> Iterator[Path]:
    """Every measurement in a folder, in one of its formats.

    Files that are the same in two formats (``x.warts.gz``, ``x.json.gz``) are read once.
    """
    seen = set()
    for path in sorted(folder.iterdir(), key=lambda path: (".warts" not in path.name, path.name)):
        report = ReadReport(str(path))
        stem = path.name.split(".warts")[0].split(".json")[0]
        try:
            form, _ = open_reader(path, report)
        except FormatError:
            continue  # the truth, the prefix table, another tool's output
        if form is not FORMATS.get(report.format, form) or form.kind != "traces" or stem in seen:
            continue
        seen.add(stem)
        yield path


Told = Callable[[int, str, int], None]  # files that were read, the next one, traces in all


def observe_files(
    paths: Sequence[Path], scratch: Path, told: Told = lambda *_: None
) -> tuple[Observation, list[ReadReport]]:
    """Observe all traces of some files.

    Returns
    -------
    Observation
        Its scratch files are in ``scratch``.
    list of ReadReport
        One for each file; of one that is cut short or damaged what comes before the fault is used.

    Raises
    ------
    FormatError
        If a file holds no traces.
    """
    observer, reports, n_traces = Observer(scratch), [], 0
    for done, path in enumerate(paths):
        told(done, path.name, n_traces)
        report = ReadReport(printable_path(path))
        reports.append(report)
        form, batches = open_reader(path, report)
        if form.kind != "traces":
            raise FormatError(path, "", f"is a {form.kind}, not traces")
        try:
            for batch in batches:
                assert isinstance(batch, TraceBatch)  # FORMATS says that this format yields them
                observer.add(batch)
                n_traces += batch.n_traces
                told(done, path.name, n_traces)
        except FormatError as error:
            report.refuse(error, partly=report.n_records > 0)
    told(len(paths), "", n_traces)
    return observer.close(), reports


def observe_kept(stored: StoredTraces, scratch: Path) -> Observation:
    """Observe the traces that a snapshot keeps."""
    observer = Observer(scratch)
    vantages = np.concatenate([stored.vantages, np.zeros((1, 2), np.uint64)])  # -1: not known
    for rows in stored.groups():
        part = np.where(rows.further, PART_FURTHER, 0) | np.where(rows.classic, CLASSIC_TRACE, 0)
        observer.add(
            TraceBatch(
                vantages[rows.vantage],
                np.stack([rows.target_high, rows.target_low], axis=1),
                rows.start_s.astype(np.float64),
                rows.hop_ptr,
                rows.ttl,
                stored.addrs_of(rows),
                rows.rtt_ms,
                rows.kind,
                part.astype(np.uint8),
            )
        )
    return observer.close()
