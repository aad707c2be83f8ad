"""Numbers that plans and what executes them share: one value, handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.distance_distribution import MAX_EXACT, N_SOURCES
from kernels.eccentricity import CLUSTER, Thresholds


@dataclass(frozen=True)
class PlanThresholds:
    """What plans compare with; results never depend on it, only the time does.

    Attributes
    ----------
    steps : Thresholds
        Of a search for eccentricities whose searches are tasks: when it goes on to sweeps.
    many_results, min_workers : float, int
        A search is worth a task where a search takes as long as so many results take the
        client, which is one thread, and where more workers share the searches than one task saves
        by the reductions that only it has: on two cores that was first in all that was measured,
        on four no more.
    many_lanes_bytes : int
        Most lanes hold 128 bytes a node; where that is more, a sweep carries few.
    thread_window : int
        Tasks in flight for each worker thread: one runs, one is on its way.
    many_window, small_nodes : int
        So many tasks of ASes of no more nodes at least: these are short.
    shard_arcs_cpu, shard_arcs_gpu : int
        Of a shard. On a core 16 MB of indices, a sweep of some 0.2 s. On a GPU the ASes of a shard
        are swept together: 0.5 GB of host memory while they are read.
    shards_a_worker : int
        So that shards still balance; more only where each is worth a task.
    shard_tasks : int
        A shard is worth as many tasks: beyond it the task's own cost is under 5 %.
    max_exact, n_sources : int
        Largest graph, in nodes, all nodes of which are sources of an effective diameter; sources
        of a larger one.
    """

    steps: Thresholds = CLUSTER
    many_results: float = 4.0
    min_workers: int = 4
    many_lanes_bytes: int = 512 << 20
    thread_window: int = 2
    many_window: int = 64
    small_nodes: int = 100_000
    shard_arcs_cpu: int = 4_000_000
    shard_arcs_gpu: int = 64_000_000
    shards_a_worker: int = 4
    shard_tasks: int = 20
    max_exact: int = MAX_EXACT
    n_sources: int = N_SOURCES

    def shard_arcs(self, on_gpu: Any) -> Any:
        """Most arcs of a shard, of one or of an array of them."""
        return np.where(on_gpu, self.shard_arcs_gpu, self.shard_arcs_cpu)


THRESHOLDS = PlanThresholds()
