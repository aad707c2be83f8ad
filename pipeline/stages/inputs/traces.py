"""Reading of many trace files at once: one process per file, which returns aggregates, not traces.

Runs below ``ingest``. Everything a reading process sends back is small: an Observation names
spool files in the scratch folder, a ReadReport counts.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kernels.host import n_cores
from pipeline.errors import FormatError, said_by_system
from pipeline.infer import Observation, Observer
from pipeline.infer.traces.observer import compile_kernels
from pipeline.ingest import hash_file, open_reader, warm_up
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.measured.traces import TraceBatch
from pipeline.processes.children import children_end_on_error
from pipeline.processes.stopping import end_with_parent
from pipeline.stages.inputs.resumed import folder_name, keep, kept
from pipeline.stages.inputs.vantage import Words, lend_source, told

# Input below which this process reads alone: a second one takes 2 to 3 s to start, in which this
# one reads some 30 MB of compressed warts.
SPREAD_BYTES = 32 << 20
POLL_S = 0.3  # how often progress is requested while processes read

TRACES, BYTES = range(2)  # places of what is counted while files are read
_n_read: Any = None  # traces and bytes read by this process's pool; set by _start_process


class HowFar(NamedTuple):
    """How much of the files is read; ``n_bytes`` of ``all_bytes``, as stored."""

    n_files: int
    n_traces: int
    n_bytes: int
    all_bytes: int

    @property
    def share(self) -> float | None:
        return min(1.0, self.n_bytes / self.all_bytes) if self.all_bytes else None


@dataclass(frozen=True)
class ReadFile:
    """Outcome of one trace file."""

    report: ReadReport
    observation: Observation | None
    is_kept: bool = False  # it had been read by an earlier run, which was killed


def _start_process(counter: Any, parent: int) -> None:
    global _n_read
    _n_read = counter
    end_with_parent(parent, signal.SIGKILL)


def _count(n_traces: int, n_bytes: int) -> None:
    if _n_read is not None:
        with _n_read.get_lock():
            _n_read[TRACES] += n_traces
            _n_read[BYTES] += n_bytes


def read_traces(
    path: Path,
    format: str,
    scratch: Path,
    vantage: Words | None = None,
    count: Callable[[int, int], None] = _count,
) -> ReadFile:
    """Read one file to the end and observe its traces.

    A file that turns out broken keeps what was read before; its report says ``partial``, or
    ``rejected`` if that is nothing. Traces that name no source are from ``vantage``. ``count`` is
    called with traces and stored bytes since the last call.
    """
    report = ReadReport(printable_path(path), format)
    observer = Observer(scratch)
    counted = 0
    for batch in _batches(path, format, report):
        if vantage is not None:
            lend_source(batch, vantage, report)
        observer.add(batch)  # not caught: a full scratch disk is not a fault of this file
        count(batch.n_measurements, report.size_bytes - counted)
        counted = report.size_bytes
    count(0, report.size_bytes - counted)
    if vantage is not None:
        told(report)
    observation = observer.close()
    keep(scratch, report, observation)
    return ReadFile(report, observation)


def _batches(path: Path, format: str, report: ReadReport) -> Iterator[TraceBatch]:
    """Batches of one file; an early end is recorded in the report."""
    try:
        for batch in open_reader(path, report, format)[1]:
            assert isinstance(batch, TraceBatch)  # FORMATS says that this format yields them
            yield batch
    except FormatError as error:
        report.refuse(error, partly=report.n_records > 0)
    except OSError as error:
        report.refuse(f"cannot be read: {said_by_system(error)}", partly=report.n_records > 0)


def read_all_traces(
    files: Sequence[tuple[Path, str]],
    scratch: Path,
    workers: int | None,
    on_progress: Callable[[HowFar], None],
    vantages: Sequence[Words | None] = (),
) -> list[ReadFile]:
    """Read trace files in parallel; results are in the order of ``files``.

    Parameters
    ----------
    files : sequence of (path, format)
    scratch : Path
        Folder for spool files. What a folder named by ``folder_name`` holds there of a file that
        has been read to its end is used; the file is not read again.
    workers : int or None
        Reading processes; None: one per core, or none besides this one for a small input.
    on_progress : callable
        Called now and then, and after each file.
    vantages : sequence of Words or None
        Of each file: the source of traces that name none; empty: of no file.
    """
    vantages = vantages or [None] * len(files)
    folders = [
        scratch / folder_name(*file, vantage) for file, vantage in zip(files, vantages, strict=True)
    ]
    read = _kept(files, folders)
    left = [i for i in range(len(files)) if i not in read]
    for i in left:
        folders[i].mkdir()
    sizes = [_size_bytes(path) for path, _ in files]
    n_kept = sum(file.report.n_records for file in read.values())
    bytes_kept = sum(sizes[i] for i in read)

    def tell(n_traces: int, n_bytes: int) -> None:
        on_progress(HowFar(len(read), n_kept + n_traces, bytes_kept + n_bytes, sum(sizes)))

    if read:
        tell(0, 0)
    n_workers = min(len(left), workers or n_cores())
    if n_workers <= 1 or (workers is None and sum(sizes[i] for i in left) < SPREAD_BYTES):
        _read_here({i: (*files[i], folders[i], vantages[i]) for i in left}, read, tell)
        return [read[i] for i in range(len(files))]
    # Once, here: numba's cache has no lock, so processes must not compile at the same time.
    warm_up({format for _, format in files})
    compile_kernels()
    # Not fork: the caller may hold threads (a flow engine, a Dask client).
    context = multiprocessing.get_context("spawn")
    counter = context.Array("q", 2)

    def read_side_by_side(which: list[int], n: int) -> list[int]:
        """Read some files; those whose process died are returned."""
        died = []
        with (
            ProcessPoolExecutor(
                n, mp_context=context, initializer=_start_process, initargs=(counter, os.getpid())
            ) as pool,
            children_end_on_error(),
        ):
            futures = {
                pool.submit(read_traces, *files[i], folders[i], vantages[i]): i for i in which
            }
            pending = set(futures)
            while pending:
                done, pending = wait(pending, timeout=POLL_S, return_when="FIRST_COMPLETED")
                for future in done:
                    try:
                        read[futures[future]] = future.result()
                    except BrokenProcessPool:
                        died.append(futures[future])
                tell(*counter[:])
        return sorted(died)

    # One dead process (killed for memory, say) takes the pool's other files with it: each is
    # read again, alone, and only a file that kills its process twice is given up.
    for i in read_side_by_side(left, n_workers):
        shutil.rmtree(folders[i])
        folders[i].mkdir()
        if read_side_by_side([i], 1):
            path, format = files[i]
            report = ReadReport(printable_path(path), format)
            report.refuse("the process that read it died twice; is there enough memory?")
            hash_file(path, report)
            read[i] = ReadFile(report, None)
    return [read[i] for i in range(len(files))]


def _kept(files: Sequence[tuple[Path, str]], folders: Sequence[Path]) -> dict[int, ReadFile]:
    """Files that an earlier run had read, by position; what else it left of these is removed."""
    read = {}
    for i, ((path, _), folder) in enumerate(zip(files, folders, strict=True)):
        if (found := kept(folder, path)) is not None:
            read[i] = ReadFile(*found, is_kept=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return read


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # its reader reports why it cannot be read
        return 0


def _read_here(
    files: Mapping[int, tuple[Path, str, Path, Words | None]],
    read: dict[int, ReadFile],
    tell: Callable[[int, int], None],
) -> None:
    """Read files one after another into ``read``: path, format, folder and vantage by position.

    ``tell`` is called with the traces and the bytes read so far.
    """
    so_far = [0] * 2  # traces and bytes

    def count(n_traces: int, n_bytes: int) -> None:
        so_far[TRACES] += n_traces
        so_far[BYTES] += n_bytes
        tell(*so_far)

    for i, (path, format, folder, vantage) in files.items():
        read[i] = read_traces(path, format, folder, vantage, count)
        tell(*so_far)
