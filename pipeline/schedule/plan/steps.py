"""When an AS is answered by candidates, how many a task carries, how many are in flight. Pure."""

from __future__ import annotations

from kernels.eccentricity import FEW, HOPS_EACH, N_FIRST, SWEEP_GROWTH, SWEEP_HOPS
from pipeline.model.search.exact import ExactJob
from pipeline.model.search.tasks import Device
from pipeline.schedule.plan.costs import DEFAULTS, LANES, Costs

# What the client does with one result, seconds a node: take it off the network (two bytes a node),
# merge it, look which nodes still matter, choose the next. Measured: 4 to 6 ns on short graphs
# without the network, 31 on a grid of two-byte bounds (docs/scheduling.md).
RESULT_NODE_S = 8e-9
# A candidate is worth a task where a search takes as long as so many results take the client, which
# is one thread, and where more workers share the searches than one task saves by the reductions
# that only it has: on two cores that was first in all that was measured, on four no more.
MANY_RESULTS, MIN_WORKERS = 4.0, 4
FEW_LANES = 64  # candidates of one component that a sweep carries where there are not many more
MANY_LANES_BYTES = 512 << 20  # most lanes hold 128 bytes a node; beyond this, few
MOST_LANES = {"cpu": 512, "gpu": 256}  # and at all
THREAD_WINDOW = 2  # tasks in flight for each worker thread: one runs, one is on its way
MANY_WINDOW, SMALL_NODES = 64, 100_000  # so many tasks of smaller ASes: these are short


def by_candidates(
    n_nodes: int,
    n_arcs: int,
    n_workers: int,
    costs: Costs = DEFAULTS,
    pack: int | None = None,
    device: Device = "cpu",
) -> bool:
    """Whether an AS is answered by tasks of a candidate or a few each, or whole inside one task.

    Parameters
    ----------
    n_nodes, n_arcs : int
    n_workers : int
        Tasks that can run at once.
    costs : Costs
    pack : int or None
        Candidates a task carries, if the user says so: then always by candidates.
    device : str
        Where it would be searched.
    """
    if pack is not None:
        return True
    search_s = float(costs.of(device).search(n_arcs))
    return n_workers >= MIN_WORKERS and search_s >= MANY_RESULTS * result_s(n_nodes, costs)


def result_s(n_nodes: int, costs: Costs) -> float:
    """Seconds that one result takes the client, the task's own included."""
    return costs.task_s + RESULT_NODE_S * n_nodes


def window(n_nodes: int, n_arcs: int, n_threads: int, costs: Costs, device: Device) -> int:
    """Tasks of one AS to keep in flight: what is chosen early is chosen by older bounds.

    Two for each worker thread, but no more than the client can merge while they are searched: the
    results of the others would wait there, two bytes a node each.
    """
    search_s = float(costs.of(device).search(n_arcs))
    merged = 2 + int(search_s / result_s(n_nodes, costs))
    return max(2, min(THREAD_WINDOW * n_threads, THREAD_WINDOW * merged))


def has_room(n_flying: int, n_nodes: int, n_threads: int) -> bool:
    """Whether a further task of an AS of so many nodes may go out; ``n_flying``: of all ASes."""
    enough = THREAD_WINDOW * n_threads
    return n_flying < (max(MANY_WINDOW, enough) if n_nodes <= SMALL_NODES else enough)


def lanes(
    job: ExactJob,
    n_candidates: int,
    n_searches: int,
    longest: int,
    n_threads: int,
    costs: Costs,
    pack: int | None = None,
) -> int:
    """Candidates of one component that the next task carries.

    Parameters
    ----------
    job : ExactJob
    n_candidates : int
        That still have to be searched or bounded.
    n_searches : int
        That have come back.
    longest : int
        Largest lower bound, hops.
    n_threads : int
        Tasks that run at once: candidates are shared out among them.
    costs : Costs
    pack : int or None
        What the user says.
    """
    if pack is not None:
        return max(1, min(pack, MOST_LANES[job.device]))
    # As the solver of one task: on long graphs few searches mostly suffice.
    if n_searches < max(N_FIRST, longest // HOPS_EACH) or n_candidates <= FEW:
        return 1
    cost, told_s = costs.of(job.device), result_s(job.n_nodes, costs)
    # Costs are those of short graphs; a sweep of longer ones costs more.
    longer = max(1.0, (longest / SWEEP_HOPS) ** SWEEP_GROWTH)
    each = n_candidates // max(1, n_threads)
    many = MOST_LANES[job.device]
    is_many = each >= many and 128 * job.n_nodes <= MANY_LANES_BYTES
    each = many if is_many else min(FEW_LANES, each)
    # The cost is that of a sweep of LANES; of more lanes the tables grow.
    sweep_s = float(cost.sweep(job.n_arcs)) * max(1.0, each / LANES) * longer
    one_by_one_s = each * (float(cost.search(job.n_arcs)) + told_s)
    return each if one_by_one_s > sweep_s + told_s else 1
