"""Which runs are shorter than starting a cluster. Pure, but for looks at memory and store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.errors import HostMemoryError
from kernels.host import check_fits
from pipeline.config import AnalyzeConfig
from pipeline.metrics import tasks_of
from pipeline.model.search.tasks import Device, WidthKind
from pipeline.schedule.plan.costs import DEFAULTS, Costs
from pipeline.schedule.plan.measures import n_searches, seconds
from pipeline.store import Snapshot
from pipeline.store.alone import crashed_alone

CLUSTER_START_S = 1.0  # of one core; starting a cluster and ending it takes as long
# What a worker may need is bounded by Dask, which replaces it; this process has no such guard.
MOST_BYTES = 512 << 20
SPARE = 4  # this many times what a run needs must be free
# A graph, a sweep of it with all lanes, and results: bytes per router and per arc.
NODE_BYTES, ARC_BYTES = 80, 40
DISTANCE_S, DISTANCE_BYTES = 50e-9, 16  # a row of a hop matrix
CERTIFIED = 4.0  # a search with its certificate costs as much as this many without


@dataclass(frozen=True)
class Todo:
    """What a run has to measure, a row an AS.

    Attributes
    ----------
    n_nodes, n_arcs : (n_rows,) int64
    n_sources : (n_rows,) int64
        Ingresses to search from.
    widths : mapping of kind of task to (metrics, (n_rows,) bool)
        Which ASes each kind is to measure.
    """

    n_nodes: np.ndarray
    n_arcs: np.ndarray
    n_sources: np.ndarray
    widths: Mapping[WidthKind, tuple[tuple[str, ...], np.ndarray]]

    @property
    def is_used(self) -> np.ndarray:
        """(n_rows,) bool: graphs that are read."""
        used = self.n_sources > 0
        for _, rows in self.widths.values():
            used = used | rows
        return used


def may_be_short(config: AnalyzeConfig) -> bool:
    """Whether it is open where to measure: the options name no workers and no GPU.

    And no run of this store in its own process has crashed since every AS was measured.
    """
    named: tuple[Any, ...] = (config.scheduler, config.workers, config.partition)
    if config.device == "gpu" or any(option is not None for option in named):
        return False
    return not crashed_alone(config.store)


def is_short(config: AnalyzeConfig, todo: Todo, costs: Costs) -> bool:
    """Whether a run is to be measured in this process."""
    if not may_be_short(config) or work_s(config, todo, costs) >= CLUSTER_START_S:
        return False
    needed = work_bytes(config, todo)
    try:
        check_fits(SPARE * needed, "a run in this process")
    except HostMemoryError:
        return False
    return needed <= MOST_BYTES


def work_s(config: AnalyzeConfig, todo: Todo, costs: Costs, device: Device = "cpu") -> float:
    """Estimated seconds of all searches on one core, or one GPU."""
    factor = CERTIFIED if config.verify else 1.0
    arcs, sources = todo.n_arcs, todo.n_sources
    total = factor * float(costs.of(device).cheapest(arcs, sources, config.pack).sum())
    if config.distances:
        total += DISTANCE_S * float((sources * todo.n_nodes).sum())
        total += float((sources * costs.of(device).search(arcs)).sum())
    for kind, (metrics, rows) in todo.widths.items():
        searches = n_searches(kind, metrics, todo.n_nodes[rows])
        total += factor * float(seconds(costs, device, kind, arcs[rows], searches).sum())
    return total


def work_bytes(config: AnalyzeConfig, todo: Todo) -> int:
    """Most bytes that graphs, searches and hop matrices may need at once."""
    used = todo.is_used
    nodes, arcs = todo.n_nodes[used], todo.n_arcs[used]
    needed = NODE_BYTES * int(nodes.sum()) + ARC_BYTES * int(arcs.sum())
    if config.distances:
        needed += DISTANCE_BYTES * int((todo.n_sources * todo.n_nodes).max(initial=0))
    return needed


def is_short_at_most(config: AnalyzeConfig, snapshot: Snapshot) -> bool:
    """Whether a run would be short by the default costs, had no earlier run measured anything."""
    rows = snapshot.rows_of(config.asns)
    kinds = tasks_of(config.metrics)
    searched = kinds.pop("search", None) is not None
    every = np.ones(len(rows), bool)
    todo = Todo(
        snapshot.n_nodes[rows],
        snapshot.n_arcs[rows],
        snapshot.n_ingresses[rows] if searched else np.zeros(len(rows), np.int64),
        {kind: (metrics, every) for kind, metrics in kinds.items()},
    )
    return is_short(config, todo, DEFAULTS)
