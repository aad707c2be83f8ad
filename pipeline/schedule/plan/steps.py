"""When an AS gets an exact search; how many sources a task has, how many are in flight. Pure."""

from __future__ import annotations

import math
from dataclasses import replace

from kernels.eccentricity import CORE, GPU, Facts, Step, choose_step
from pipeline.model.search.exact import ExactJob, ExactTask
from pipeline.model.search.tasks import Device
from pipeline.schedule.plan.costs import DEFAULTS, LANES, Costs
from pipeline.schedule.thresholds import THRESHOLDS, PlanThresholds

# What the client does with one result, seconds per node: receive it (two bytes per node), merge it,
# find which nodes still matter, choose the next. Measured: 4 to 6 ns on short graphs without the
# network, 31 on a grid of two-byte bounds (docs/scheduling.md).
RESULT_NODE_S = 8e-9
MOST_LANES: dict[Device, int] = {"cpu": CORE.many_lanes, "gpu": GPU.many_lanes}  # of a component
_NO_SWEEP = (0.0, math.inf)  # prices
# What tasks do around their searches, in searches: components and pendant trees; a certificate.
AROUND = {"opening": 20, "path": 5}


def by_exact_search(
    n_nodes: int,
    n_arcs: int,
    n_workers: int,
    costs: Costs = DEFAULTS,
    pack: int | None = None,
    device: Device = "cpu",
    thresholds: PlanThresholds = THRESHOLDS,
) -> bool:
    """Whether an AS gets an exact search, with tasks of one or a few sources, or one task.

    Parameters
    ----------
    n_nodes, n_arcs : int
    n_workers : int
        Tasks that can run at once.
    costs : Costs
    pack : int or None
        Sources per task, if the user sets it: then always an exact search.
    device : str
        Where it would be searched.
    thresholds : PlanThresholds
    """
    if pack is not None:
        return True
    search_s = float(costs.of(device).search(n_arcs))
    is_long = search_s >= thresholds.many_results * result_s(n_nodes, costs)
    return n_workers >= thresholds.min_workers and is_long


def task_s(task: ExactTask, costs: Costs) -> float:
    """Estimated seconds of one task on its worker, its sources one by one."""
    n_searches = AROUND.get(task.kind, 0) + task.n_sources
    return n_searches * float(costs.of(task.device).search(task.job.n_arcs))


def result_s(n_nodes: int, costs: Costs) -> float:
    """Seconds of the client for one result, including those of the task."""
    return costs.task_s + RESULT_NODE_S * n_nodes


def window(
    n_nodes: int,
    n_arcs: int,
    n_threads: int,
    costs: Costs,
    device: Device,
    thresholds: PlanThresholds = THRESHOLDS,
) -> int:
    """Tasks of one AS to keep in flight: sources chosen early are chosen by older bounds.

    Some for each worker thread, but no more than the client can merge while they are searched: the
    results of the others would wait there, two bytes per node each.
    """
    search_s = float(costs.of(device).search(n_arcs))
    merged = 2 + int(search_s / result_s(n_nodes, costs))
    return max(2, thresholds.thread_window * min(n_threads, merged))


def has_room(
    n_flying: int, n_nodes: int, n_threads: int, thresholds: PlanThresholds = THRESHOLDS
) -> bool:
    """Whether a further task of an AS of that many nodes may go out; ``n_flying``: of all ASes."""
    enough = thresholds.thread_window * n_threads
    is_small = n_nodes <= thresholds.small_nodes
    return n_flying < (max(thresholds.many_window, enough) if is_small else enough)


def next_search(
    job: ExactJob,
    now: Facts,
    n_threads: int,
    costs: Costs,
    pack: int | None = None,
    thresholds: PlanThresholds = THRESHOLDS,
) -> tuple[Step, int]:
    """The next step, and the number of sources of one component in its task.

    Parameters
    ----------
    job : ExactJob
    now : Facts
        What is known of one question; searches that have come back.
    n_threads : int
        Tasks that run at once: sources are divided among them.
    costs : Costs
    pack : int or None
        As the user set it.
    thresholds : PlanThresholds

    Returns
    -------
    str, int
        ``far`` or ``alternate`` and 1, or ``sweep`` and more.
    """
    if pack is not None and pack > 1:
        return "sweep", min(pack, MOST_LANES[job.device])
    n_each, prices = 1, _NO_SWEEP
    if pack is None:
        n_each, prices = _next_sweep(job, now, n_threads, costs, thresholds)
    step = choose_step(replace(now, prices=prices), thresholds.steps)
    return step, n_each if step == "sweep" else 1


def _next_sweep(
    job: ExactJob, now: Facts, n_threads: int, costs: Costs, thresholds: PlanThresholds
) -> tuple[int, tuple[float, float]]:
    """Sources of a sweep, and their costs one by one and by the sweep, in seconds."""
    cost, merge_s = costs.of(job.device), result_s(job.n_nodes, costs)
    n_each = now.n_pending // max(1, n_threads)
    many = MOST_LANES[job.device]
    is_many = n_each >= many and 128 * job.n_nodes <= thresholds.many_lanes_bytes
    n_each = many if is_many else min(thresholds.steps.few_lanes, n_each)
    if n_each <= 1:
        return 1, _NO_SWEEP
    # Costs are those of short graphs, and of a sweep of LANES; of more lanes the tables grow.
    longer = thresholds.steps.longer(now.longest)
    sweep_s = float(cost.sweep(job.n_arcs)) * max(1.0, n_each / LANES) * longer
    one_by_one_s = n_each * (float(cost.search(job.n_arcs)) + merge_s)
    return n_each, (one_by_one_s, sweep_s + merge_s)
