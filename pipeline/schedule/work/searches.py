"""A worker's part of a search task: resident graph -> kernel -> small results."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels import CSRGraph, Shard, msbfs
from kernels.csr import mover, to_host
from kernels.errors import CheckError
from kernels.multi_source import msbfs_shard
from kernels.types import N_FARTHEST
from pipeline.collect.distances import join_distances, write_distances
from pipeline.errors import PipelineError, RetryableError, is_no_room, remedy_for, said_by_system
from pipeline.model.search.results import SearchResults
from pipeline.model.search.tasks import SearchTask
from pipeline.schedule.work.errors import errors_of
from pipeline.schedule.work.resident import read_shard, resident_graph, snapshot_at

LEVEL_BYTES = 1 << 28  # levels held at once where all of them are wanted (one byte per node)


def run_search(task: SearchTask) -> SearchResults:
    """Run the searches of one task on this worker.

    Raises
    ------
    OutOfMemoryError
        The device had too little memory; a smaller task may fit.
    RetryableError
        The snapshot or the distances could not be read or written just now, or not here; the
        device is missing on this worker or cannot run the kernels.
    StoreError, PipelineError
        The snapshot is broken; a search failed, or its certificate refuses it.
    """
    with errors_of(task.name, task.device, task.snapshot):
        results = _search(task)
        if task.verify or task.distances_dir:
            _use_levels(task, results)
    return results


def _search(task: SearchTask) -> SearchResults:
    started = time.perf_counter()
    if len(task.rows) == 1:
        row = int(task.rows[0])
        graph = resident_graph(task.snapshot, row, task.device)
        read_s = time.perf_counter() - started
        results = search_graph(graph, row, task.sources)
    else:
        shard = read_shard(task.snapshot, task.rows, task.device)
        read_s = time.perf_counter() - started
        results = _sweep(shard, task.rows, task.sources, task.source_ptr)
    return replace(results, read_s=read_s)


def search_graph(graph: CSRGraph, row: int, sources: np.ndarray) -> SearchResults:
    """What a search or a pack computes once its graph is there; calibration measures this.

    Parameters
    ----------
    graph : CSRGraph
        Runs on ``graph.device``.
    row : int
        AS row under which the results are reported.
    sources : (n_sources,) int32
    """
    if len(sources) == 1 and graph.device == "gpu":
        return _one_search_there(graph, row, int(sources[0]))
    # As a shard of one graph: hop counts come back ragged, so that long graphs stay small.
    source_ptr = np.array([0, len(sources)], np.int64)
    return _sweep(as_shard(graph), np.array([row], np.int64), sources, source_ptr)


def _sweep(
    shard: Shard, rows: np.ndarray, sources: np.ndarray, source_ptr: np.ndarray
) -> SearchResults:
    found = msbfs_shard(shard, sources, source_ptr)
    return SearchResults(
        row=np.repeat(rows, np.diff(source_ptr)),
        source=sources,
        n_reached=found.n_reached,
        eccentricity=found.eccentricity,
        hop_ptr=found.hop_ptr,
        hop_counts=found.hop_counts,
        farthest_ptr=found.farthest_ptr,
        farthest=found.farthest,
    )


def _one_search_there(graph: CSRGraph, row: int, source: int) -> SearchResults:
    """On a GPU levels stay there; ``msbfs`` of one source brings back what we need of them."""
    found = msbfs(graph, np.array([source]))
    farthest = found.farthest[0][found.farthest[0] >= 0]
    return SearchResults(
        row=np.array([row], np.int64),
        source=np.array([source], np.int32),
        n_reached=found.n_reached,
        eccentricity=found.eccentricity,
        hop_ptr=np.array([0, found.hop_counts.shape[1]], np.int64),
        hop_counts=found.hop_counts[0],
        farthest_ptr=np.array([0, len(farthest)], np.int64),
        farthest=farthest,
    )


def as_shard(graph: CSRGraph) -> Shard:
    """A shard of one graph, where the graph is; nothing but two offsets is copied."""
    node_ptr = mover(graph.device)(np.array([0, graph.n_nodes], np.int64))
    return Shard(graph.indptr, graph.indices, node_ptr, trusted=True)


def _use_levels(task: SearchTask, results: SearchResults) -> None:
    """Search again with every level: check them, write them, or both."""
    for i, row in enumerate(task.rows.tolist()):
        first, last = int(task.source_ptr[i]), int(task.source_ptr[i + 1])
        graph = resident_graph(task.snapshot, row, task.device)
        blocks = _blocks(graph, task.sources[first:last])
        if task.verify:
            host = resident_graph(task.snapshot, row, "cpu")
            blocks = _checked(host, blocks, results, first)
        if task.distances_dir:
            with _no_second_try_without_room(task.name, task.distances_dir):
                write_distances(_distances_path(task, row, first), blocks)
        else:
            for _ in blocks:
                pass


def _blocks(graph: CSRGraph, sources: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    step = max(1, LEVEL_BYTES // max(1, graph.n_nodes))
    for at in range(0, len(sources), step):
        some = sources[at : at + step]
        yield some, to_host(msbfs(graph, some, levels=True).level)


def _checked(
    graph: CSRGraph,
    blocks: Iterator[tuple[np.ndarray, np.ndarray]],
    results: SearchResults,
    at: int,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pass blocks on once each level is certified and the results are what the levels say."""
    from kernels.certificates import check_levels  # compiled: not for the client

    for sources, levels in blocks:
        for source, narrow in zip(sources.tolist(), levels, strict=True):
            level = narrow.astype(np.int32)
            level[narrow == np.iinfo(narrow.dtype).max] = -1
            check_levels(graph.indptr, graph.indices, source, level)
            hop_counts = np.bincount(level[level >= 0])
            farthest = np.flatnonzero(level == len(hop_counts) - 1)[:N_FARTHEST]
            found = slice(int(results.hop_ptr[at]), int(results.hop_ptr[at + 1]))
            last = slice(int(results.farthest_ptr[at]), int(results.farthest_ptr[at + 1]))
            if not (
                np.array_equal(hop_counts, results.hop_counts[found])
                and np.array_equal(farthest, results.farthest[last])
                and results.eccentricity[at] == len(hop_counts) - 1
                and results.n_reached[at] == hop_counts.sum()
            ):
                raise CheckError(f"source {source}: results and certified levels differ")
            at += 1
        yield sources, levels


@contextlib.contextmanager
def _no_second_try_without_room(name: str, folder: str) -> Iterator[None]:
    """A full disk stays full for the next attempt, and each attempt costs the search again."""
    try:
        yield
    except OSError as error:
        if not is_no_room(error):
            raise
        reason = f"no room for its distances in {folder}: {said_by_system(error)}"
        remedy = remedy_for(error, "free some space, or give another --out")
        raise PipelineError(f"{name}: {reason}; {remedy}") from None


def _distances_path(task: SearchTask, row: int, first: int) -> Path:
    """The AS's own file if this task has all of it, otherwise a part that is joined later."""
    folder = Path(task.distances_dir)
    if task.whole:
        return folder / f"{int(snapshot_at(task.snapshot).asn[row])}.parquet"
    return parts_folder(folder) / f"{row}-{task.sources[first]}.parquet"


def parts_folder(distances_dir: Path) -> Path:
    """Folder of the parts until they are joined."""
    return distances_dir / ".parts"


@dataclass(frozen=True, eq=False)
class JoinTask:
    """Make the distances file of one AS out of parts.

    Attributes
    ----------
    parts : tuple of str
        Files of the AS's graph, each with sources of its own.
    sources : (n,) int32 or None
        Those of the AS; None: all of the graph's.
    """

    name: str
    row: int
    path: str
    parts: tuple[str, ...]
    sources: Any = None
    device: str = "cpu"


def run_join(task: JoinTask) -> int:
    """Join parts into one file; the number of parts."""
    try:
        with _no_second_try_without_room(task.name, str(Path(task.path).parent)):
            join_distances(Path(task.path), [Path(part) for part in task.parts], task.sources)
    except OSError as error:
        raise RetryableError(f"{task.name}: {error}") from error
    return len(task.parts)
