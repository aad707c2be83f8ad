"""What workers run in ``bench_schedule`` besides the product's own searches; importable by them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from benchmarks.baselines import bfs_two_kernel
from benchmarks.lib.graphs import attachment
from kernels import Shard, msbfs
from kernels.csr import mover
from kernels.eccentricity.results import ShardWidths
from pipeline.model.search.exact import ExactTask
from pipeline.model.search.results import SearchResults
from pipeline.model.search.tasks import SearchTask
from pipeline.schedule.work.resident import resident_graph
from pipeline.schedule.work.searches import run_search

LONG_S = 20e-3  # seconds that a search is worth where schedules are to be compared


def search_long(task: SearchTask, n_repeats: int) -> SearchResults:
    """The searches of a task again and again: what a larger graph would take.

    A number of times, not a duration: a slowed worker takes longer.
    """
    for _ in range(n_repeats - 1):
        run_search(task)
    return run_search(task)


def search_two_kernel(task: SearchTask) -> SearchResults:
    """One search as first published: two kernels per level, the host in between.

    Hop counts are left out: the original computes levels, and these stay on the GPU.
    """
    graph = resident_graph(task.snapshot, int(task.rows[0]), task.device)
    found = bfs_two_kernel(graph, int(task.sources[0]))
    none = np.zeros(2, np.int64)
    return SearchResults(
        row=task.rows,
        source=task.sources,
        n_reached=np.array([found.n_reached], np.int64),
        eccentricity=np.array([found.eccentricity], np.int32),
        hop_ptr=none,
        hop_counts=np.empty(0, np.int64),
        farthest_ptr=none,
        farthest=np.empty(0, np.int32),
    )


def answer_whole(task: ExactTask) -> ShardWidths:
    """All questions about one graph inside one task, to compare exact searches with."""
    from kernels.eccentricity.shard import widths

    graph = resident_graph(task.job.snapshot, task.job.row, task.device)
    node_ptr = mover(graph.device)(np.array([0, graph.n_nodes], np.int64))
    shard = Shard(graph.indptr, graph.indices, node_ptr, trusted=True)
    return widths(shard, task.job.metrics)


def disturb() -> None:
    """Keep the GPU busy until killed; says ``ready`` once it does."""
    graph = attachment(1_000_000).to("gpu")
    sources = np.arange(100)
    msbfs(graph, sources)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        msbfs(graph, sources)


if __name__ == "__main__":
    disturb()
