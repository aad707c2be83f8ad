"""Numbers that plans and the code that executes them share: one value, passed in."""

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
        Of a search for eccentricities whose searches are tasks: when it turns to sweeps.
    many_results, min_workers : float, int
        An exact search pays if one search takes as long as the client needs for this many results
        (it is one thread), and if at least this many workers share the searches: one task needs
        fewer. On two cores one task was faster in every measurement, on four no longer.
    many_lanes_bytes : int
        Memory for the tables of a full sweep, 128 bytes per node; larger graphs get narrow sweeps.
    min_lanes : int
        Sources that a part of an AS has at least: a sweep of fewer costs nearly what one of that
        many costs.
    sweep_gain : float
        How many times sooner sweeps must finish an AS: below it, single searches, which finish one
        by one and balance better.
    thread_window, min_window : int
        Tasks in flight for each worker thread: one runs, one is on its way; and in all at least:
        those that no worker holds wait at the scheduler for a free worker.
    many_window, small_nodes : int
        Minimum window for ASes of up to small_nodes nodes, whose tasks are short.
    shard_arcs_cpu, shard_arcs_gpu : int
        Most arcs of a shard. On a core 16 MB of indices, a sweep of some 0.2 s. On a GPU the ASes
        of a shard are swept together: 0.5 GB of host memory while they are read.
    shard_sources_cpu, shard_sources_gpu : int
        Most sources of a shard: results of a few MB, and of some 30.
    shards_a_worker : int
        Shards for each worker, so that they balance; more only if each is worth a task.
    shard_tasks : int
        A shard may be worth this many tasks: beyond it the task's own cost is under 5 %.
    shards_a_share : int
        Shards of widths on a core for each that a fair share would make: their costs are rough
        estimates, so small ones balance.
    max_exact, n_sources : int
        Largest graph, in nodes, all nodes of which are sources of an effective diameter; sources
        of a larger one.
    """

    steps: Thresholds = CLUSTER
    many_results: float = 4.0
    min_workers: int = 4
    many_lanes_bytes: int = 512 << 20
    min_lanes: int = 32
    sweep_gain: float = 2.0
    thread_window: int = 2
    min_window: int = 16
    many_window: int = 64
    small_nodes: int = 100_000
    shard_arcs_cpu: int = 4_000_000
    shard_arcs_gpu: int = 64_000_000
    shard_sources_cpu: int = 16_384
    shard_sources_gpu: int = 262_144
    shards_a_worker: int = 4
    shard_tasks: int = 20
    shards_a_share: int = 4
    max_exact: int = MAX_EXACT
    n_sources: int = N_SOURCES

    def shard_arcs(self, on_gpu: Any) -> Any:
        """The most arcs that a shard may have; of one shard, or of an array of them."""
        return np.where(on_gpu, self.shard_arcs_gpu, self.shard_arcs_cpu)

    def shard_sources(self, on_gpu: bool) -> int:
        """The most sources that a shard may have."""
        return self.shard_sources_gpu if on_gpu else self.shard_sources_cpu


THRESHOLDS = PlanThresholds()
