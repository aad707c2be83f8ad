"""Exact searches of some ASes with nothing else running, for benchmarks and tests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

from pipeline.model.choices import Schedule
from pipeline.model.search.exact import ExactJob, ExactResult, ExactTask
from pipeline.model.search.tasks import Outcome
from pipeline.schedule.exact_search.state import ExactOptions
from pipeline.schedule.exact_search.stream import ExactStream
from pipeline.schedule.exact_search.tasks import run_exact
from pipeline.schedule.executor import Executor
from pipeline.schedule.plan.costs import DEFAULTS, Costs
from pipeline.schedule.transport.drive import SCHEDULES
from pipeline.schedule.transport.limits import Limits

ANY = 1 << 20  # tasks that ``drive`` may hold: each AS has its own window


def search_exactly(
    cluster: Executor,
    jobs: Sequence[ExactJob],
    *,
    costs: Costs = DEFAULTS,
    pack: int | None = None,
    max_searches: int | None = None,
    limits: Limits = Limits(),  # noqa: B008
    schedule: Schedule = "free",
    fall_back: bool = False,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    run: Callable[[ExactTask], Any] = run_exact,
) -> Generator[ExactResult, None, None]:
    """Answer some ASes, all in one stream of tasks.

    Parameters
    ----------
    cluster : Executor
        Open.
    jobs : sequence of ExactJob
        One per distinct graph, largest first: when the first has enough searches in flight, the
        next begins, so an AS that waits does not hold up others.
    costs : Costs
        They decide how many searches are in flight and how many sources a task has.
    pack : int or None
        Sources per task; None: one, or those of a whole sweep if that is cheaper.
    max_searches : int or None
        In each component of an AS; a value that needs more is reported as an interval.
    limits : Limits
        When to stop waiting for a task.
    schedule : str
        ``free``; ``barrier`` and ``striding`` to compare.
    fall_back : bool
        Search on a core where a GPU has too little memory.
    on_outcome : callable
        Called with every outcome, of any job, as it arrives: for ``tasks.parquet`` and
        progress. ``outcome.task`` is an ExactTask (``name``, ``rows``, ``kind``, ``device``
        and ``n_sources`` are as SearchTask's), ``outcome.result`` has ``read_s``.
    run : callable
        Executed on a worker with each task; tests and benchmarks wrap it.

    Yields
    ------
    ExactResult
        One per job, as soon as it is known, in no fixed order. Jobs that fail are reported too: as
        intervals that are not exact, with the reason.
    """
    options = ExactOptions(costs, pack=pack, max_searches=max_searches)
    stream = ExactStream(cluster, jobs, options, fall_back)
    yield from stream.answers()  # of graphs without nodes
    more: dict[str, Any] = {}
    if schedule == "free":
        more = {"window": ANY}
    outcomes = SCHEDULES[schedule](
        cluster.client,
        run,
        stream.next_task,
        name=lambda task: task.name,
        smaller=stream.smaller,
        limits=limits,
        allowed=cluster.allowed,
        cost=stream.cost_of,
        **more,
    )
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            on_outcome(outcome)
            stream.use(outcome)
            yield from stream.answers()
