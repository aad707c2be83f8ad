"""Which graphs' widths share a task, on which device, in which order. Pure: numpy and model.

- ASes with one ``graph_hash`` are measured once, under the first of their rows; by weight each is
  measured, since the hash is of the structure alone.
- Neighbouring ASes form a shard until it is worth some tasks, or on a GPU until its memory is full;
  an AS that is worth that by itself is a task of its own.
- Largest first.
- Widths in hops of an AS of which each search is worth a task are found by exact searches
  (``steps``), searches of all workers at once; never with ``verify``, which checks what
  one task found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from pipeline.metrics import EVERY_NODE, WidthMetric, metrics_of, own_kernels
from pipeline.model.search.exact import ExactJob
from pipeline.model.search.tasks import DEVICES, Device, WidthKind, WidthTask
from pipeline.schedule.plan.costs import DEFAULTS, LANES, Costs
from pipeline.schedule.plan.steps import by_exact_search
from pipeline.schedule.thresholds import THRESHOLDS, PlanThresholds

NO_WEIGHTS = (
    "weighted metrics need a weight for each link (round-trip times of traces or BRITE lengths), "
    "and the snapshot has none"
)
ROUNDS = 40  # launches of a shard on a GPU, each at least as long as a search of no arcs
BY_WEIGHT = 10.0  # a search by weight costs this many in hops


@dataclass(frozen=True, eq=False)
class WidthPlan:
    """Tasks of one kind as columns, largest first; ``task(i)`` makes one when it is needed.

    Attributes
    ----------
    rows : (n_graphs,) int64
        Rows to be measured, ascending.
    start, stop : (n_tasks,) int64
        The rows of each task: rows[start[i]:stop[i]].
    device : (n_tasks,) int8
        Position in ("cpu", "gpu").
    cost_s : (n_tasks,) float64
        Estimate in seconds, for order and deadlines only.
    jobs : tuple of ExactJob
        Graphs that get an exact search and are in no task, largest first.
    owner : (n_rows,) int64
        For each requested row, the row whose task or job answers it.
    """

    kind: WidthKind
    snapshot: str
    metrics: tuple[str, ...]
    max_searches: int | None
    verify: bool
    rows: np.ndarray
    asn: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    device: np.ndarray
    cost_s: np.ndarray
    jobs: tuple[ExactJob, ...]
    owner: np.ndarray

    @property
    def n_tasks(self) -> int:
        return len(self.start)

    @property
    def n_units(self) -> int:
        """What progress counts: graphs to be measured by tasks."""
        return len(self.rows)

    @property
    def unit(self) -> str:
        return "widths"

    def task(self, i: int) -> WidthTask:
        """Task i of the order."""
        graphs = slice(int(self.start[i]), int(self.stop[i]))
        asn = self.asn[graphs]
        name = f"{self.kind}_AS{int(asn[0])}" + (f"_AS{int(asn[-1])}" if len(asn) > 1 else "")
        return WidthTask(
            kind=self.kind,
            snapshot=self.snapshot,
            rows=self.rows[graphs].copy(),
            metrics=self.metrics,
            device=DEVICES[self.device[i]],
            name=name,
            max_searches=self.max_searches,
            verify=self.verify,
        )


def plan_widths(
    kind: WidthKind,
    metrics: tuple[str, ...],
    rows: np.ndarray,
    asn: np.ndarray,
    n_nodes: np.ndarray,
    n_arcs: np.ndarray,
    graph_hash: Sequence[str],
    *,
    n_workers: int,
    devices: Sequence[Device] = ("cpu",),
    costs: Costs = DEFAULTS,
    snapshot: str = "",
    max_searches: int | None = None,
    verify: bool = False,
    pack: int | None = None,
    thresholds: PlanThresholds = THRESHOLDS,
) -> WidthPlan:
    """Cut the graphs of some ASes into tasks of one kind.

    Parameters
    ----------
    kind, metrics, max_searches, verify
        As in WidthTask.
    rows, asn, n_nodes, n_arcs : (n_rows,) int64
        AS rows requested, ascending, and what they are.
    graph_hash : n_rows str
    n_workers, devices, costs
        As for ``batches.plan``.
    pack : int or None
        Sources of one AS per task of an exact search; None: auto.
    thresholds : PlanThresholds
    """
    rows, asn = np.asarray(rows, np.int64), np.asarray(asn, np.int64)
    first = np.arange(len(rows))
    if kind != "weighted":
        seen: dict[str, int] = {}
        first = np.array([seen.setdefault(h, i) for i, h in enumerate(graph_hash)], np.int64)
    chosen = np.unique(first)
    nodes, arcs = (np.asarray(n, np.int64)[chosen] for n in (n_nodes, n_arcs))
    searches = n_searches(kind, metrics, nodes, thresholds)
    here_s, there_s = (seconds(costs, device, kind, arcs, searches) for device in DEVICES)
    on_gpu = _on_gpu(kind, here_s, there_s + costs.transfer(nodes, arcs), costs, devices)
    cost_s = np.where(on_gpu, there_s, here_s)
    is_job = np.zeros(len(chosen), bool)
    if kind == "widths" and not verify:
        is_job = _by_exact_search(nodes, arcs, on_gpu, n_workers, costs, pack, thresholds)
    asked = cast(tuple[WidthMetric, ...], metrics)  # of kind ``widths``, where there are jobs
    jobs = [
        ExactJob(
            int(rows[chosen[i]]),
            int(asn[chosen[i]]),
            int(nodes[i]),
            int(arcs[i]),
            snapshot,
            asked,
            DEVICES[int(on_gpu[i])],
        )
        for i in np.flatnonzero(is_job)[np.argsort(-cost_s[is_job], kind="stable")].tolist()
    ]
    kept = np.flatnonzero(~is_job)
    cost_s, on_gpu, arcs = cost_s[kept], on_gpu[kept], arcs[kept]
    start = _cut(cost_s, arcs, on_gpu, n_workers, costs, thresholds)
    task_s = np.add.reduceat(cost_s, start) if len(start) else np.empty(0)
    task_s = task_s + np.where(on_gpu[start], ROUNDS * costs.gpu.search_s, 0.0)
    order = np.argsort(-task_s, kind="stable")
    return WidthPlan(
        kind=kind,
        snapshot=snapshot,
        metrics=metrics,
        max_searches=max_searches,
        verify=verify,
        rows=rows[chosen[kept]],
        asn=asn[chosen[kept]],
        start=start[order],
        stop=np.append(start[1:], len(kept))[order],
        device=on_gpu[start][order].astype(np.int8),
        cost_s=task_s[order],
        jobs=tuple(jobs),
        owner=rows[first],
    )


def _by_exact_search(
    nodes: np.ndarray,
    arcs: np.ndarray,
    on_gpu: np.ndarray,
    n_workers: int,
    costs: Costs,
    pack: int | None,
    thresholds: PlanThresholds,
) -> np.ndarray:
    """Which graphs get an exact search: the only place where that is decided."""
    devices = [DEVICES[i] for i in on_gpu.astype(int).tolist()]
    graphs = zip(nodes.tolist(), arcs.tolist(), devices, strict=True)
    return np.array(
        [
            by_exact_search(n_nodes, n_arcs, n_workers, costs, pack, device, thresholds)
            for n_nodes, n_arcs, device in graphs
        ],
        bool,
    )


def n_searches(
    kind: WidthKind,
    metrics: Sequence[str],
    n_nodes: np.ndarray,
    thresholds: PlanThresholds = THRESHOLDS,
) -> np.ndarray:
    """About how many searches the answers about graphs of that many nodes cost; by hops."""
    costs = {metric.asks or metric.name: metric.searches for metric in metrics_of(kind)}
    if kind in own_kernels():
        each = costs[own_kernels()[kind].name]
    elif "eccentricities" in metrics:
        each = costs["eccentricities"]  # they give the rest
    else:
        each = sum(costs[metric] for metric in metrics)
    if each == EVERY_NODE:
        sources = np.where(n_nodes <= thresholds.max_exact, n_nodes, thresholds.n_sources)
        return 4.0 * np.ceil(sources / LANES)  # a sweep costs a few searches
    if kind != "weighted":
        return np.minimum(float(each), n_nodes)
    is_expensive = {"eccentricities", "center", "periphery"} & set(metrics)
    return BY_WEIGHT * np.minimum(n_nodes if is_expensive else float(each), n_nodes)


def seconds(
    costs: Costs, device: Device, kind: WidthKind, arcs: np.ndarray, searches: np.ndarray
) -> np.ndarray:
    """Seconds of each graph within a task; those searched one by one cost their launches too."""
    cost = costs.of(device)
    each_s = cost.search_s if kind == "weighted" or device == "cpu" else 0.0
    return searches * (each_s + cost.search_arc_s * (arcs + 64))


def _on_gpu(
    kind: WidthKind,
    here_s: np.ndarray,
    there_s: np.ndarray,
    costs: Costs,
    devices: Sequence[Device],
) -> np.ndarray:
    """Whether to use the GPU: all graphs there pay for its launches once together."""
    if len(set(devices)) == 1:
        return np.full(len(here_s), "gpu" in devices)
    wins = there_s < here_s
    if kind != "weighted" and (here_s - there_s)[wins].sum() < ROUNDS * costs.gpu.search_s:
        return np.zeros(len(here_s), bool)
    return wins


def _cut(
    cost_s: np.ndarray,
    arcs: np.ndarray,
    on_gpu: np.ndarray,
    n_workers: int,
    costs: Costs,
    thresholds: PlanThresholds,
) -> np.ndarray:
    """Where tasks begin: runs of one device, each about a fair share, no more arcs than fit."""
    if not len(cost_s):
        return np.empty(0, np.int64)
    fair_s = cost_s.sum() / (thresholds.shards_a_worker * n_workers)
    each_s = np.where(on_gpu, fair_s, fair_s / thresholds.shards_a_share)
    target_s = each_s.clip(thresholds.shard_tasks * costs.task_s)
    most = thresholds.shard_arcs(on_gpu)
    cut = np.append(True, np.diff(on_gpu.astype(np.int8)) != 0)
    alone = (cost_s >= target_s) | (arcs >= most)
    cut |= alone
    cut[1:] |= alone[:-1]
    for amount in (cost_s / target_s, arcs / most):
        before = np.floor(np.cumsum(amount) - amount)
        cut[1:] |= before[1:] != before[:-1]
    return np.flatnonzero(cut)
