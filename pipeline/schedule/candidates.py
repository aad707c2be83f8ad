"""Widths of large ASes by candidates: each search is a task, results tighten bounds as they come.

No barrier anywhere: several candidates of an AS are in flight, and of several ASes at once; a
finished search tightens the bounds of its AS at once, and what has become useless and has not
started is withdrawn. Whatever the order of completion and whatever fails, what is told as exact
is exact (``kernels.eccentricity.bounds``).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from pipeline.config import Schedule
from pipeline.model.candidates import CandidateAnswer, CandidateJob
from pipeline.model.tasks import Device, Outcome
from pipeline.schedule.cluster import Cluster
from pipeline.schedule.costs import DEFAULTS, Costs
from pipeline.schedule.watch import Limits


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
    return n_workers > 1 and float(costs.of(device).search(n_arcs)) > 10 * costs.task_s


def answer_by_candidates(
    cluster: Cluster,
    jobs: Sequence[CandidateJob],
    *,
    costs: Costs = DEFAULTS,
    pack: int | None = None,
    max_searches: int | None = None,
    limits: Limits = Limits(),  # noqa: B008
    schedule: Schedule = "free",
    fall_back: bool = False,
    told: Callable[[Outcome], None] = lambda outcome: None,
) -> Generator[CandidateAnswer, None, None]:
    """Answer some ASes, all in one stream of tasks.

    Parameters
    ----------
    cluster : Cluster
        Open.
    jobs : sequence of CandidateJob
        One a distinct graph, largest first: where the first has as many candidates in flight as
        is good for it, the next begins, so an AS that waits stops no other.
    costs : Costs
        What decides how many candidates are in flight and how many a task carries.
    pack : int or None
        Candidates a task carries; None: one, or as many as share a sweep where that is cheaper.
    max_searches : int or None
        Of each AS, over all its components; what it does not suffice for is told as an interval.
    limits : Limits
        When to stop waiting for a task.
    schedule : str
        ``free``; ``barrier`` and ``striding`` to compare.
    fall_back : bool
        Search on a core where a GPU has too little memory.
    told : callable
        Called with every outcome, of whichever job, as it comes: for ``tasks.parquet`` and
        progress. ``outcome.task`` is a CandidateTask (``name``, ``rows``, ``kind``, ``device``
        and ``n_sources`` are as SearchTask's), ``outcome.result`` has ``read_s``;
        ``outcome.withdrawn``: it never started and has no result.

    Yields
    ------
    CandidateAnswer
        One a job, as soon as it is known, in no fixed order. Jobs that fail are told too: as
        intervals that are not exact, with the reason.
    """
    raise NotImplementedError
