"""Exact searches of large ASes: each search is a task, results tighten bounds as they arrive.

No barrier anywhere: several searches of an AS are in flight, and of several ASes at once; a
finished search tightens the bounds of its AS at once, and what has become useless and has not
started is withdrawn. Whatever the order of completion and whatever fails, what is reported as exact
is exact (``kernels.eccentricity.bounds.bounds``).
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.model.choices import Schedule
from pipeline.model.search.exact import ExactJob, ExactResult, ExactTask
from pipeline.model.search.tasks import Outcome
from pipeline.schedule.exact_search.state import Choice, ExactState
from pipeline.schedule.exact_search.tasks import run_exact
from pipeline.schedule.place import Place
from pipeline.schedule.plan.costs import DEFAULTS, Costs
from pipeline.schedule.plan.steps import by_exact_search, has_room, task_s, window
from pipeline.schedule.transport.drive import SCHEDULES
from pipeline.schedule.transport.limits import Limits

__all__ = ["ExactStream", "by_exact_search", "search_exactly"]

THREADS_S = 2.0  # between checks of the number of workers
_ANY = 1 << 20  # tasks that ``drive`` may hold: each AS has its own window


def search_exactly(
    cluster: Place,
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
    cluster : Place
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
        and ``n_sources`` are as SearchTask's), ``outcome.result`` has ``read_s``;
        ``outcome.withdrawn``: it never started and has no result.
    run : callable
        Executed on a worker with each task; tests and benchmarks wrap it.

    Yields
    ------
    ExactResult
        One per job, as soon as it is known, in no fixed order. Jobs that fail are reported too: as
        intervals that are not exact, with the reason.
    """
    choice = Choice(costs, pack=pack, max_searches=max_searches)
    stream = ExactStream(cluster, jobs, choice, fall_back)
    yield from stream.answers()  # of graphs without nodes
    more: dict[str, Any] = {}
    if schedule == "free":
        more = {"window": _ANY, "useless": stream.useless}
    outcomes = SCHEDULES[schedule](
        cluster.client,
        run,
        stream.next_task,
        name=_name_of,
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


def _name_of(task: ExactTask) -> str:
    return task.name


@dataclass(eq=False)
class ExactStream:
    """The jobs that are not answered, in their order, and what is in flight for all of them.

    Its methods are what ``drive`` asks for; ``use`` is to be called with every outcome of an
    ExactTask, and ``answers`` at first and after each.

    Parameters
    ----------
    cluster, jobs, fall_back
        As for ``search_exactly``.
    choice : Choice
        The number of threads, and the run, are filled in.
    """

    cluster: Place
    jobs: Sequence[ExactJob]
    choice: Choice
    fall_back: bool
    _states: dict[int, ExactState] = field(default_factory=dict)  # by id of the job
    _open: dict[int, ExactState] = field(default_factory=dict)  # those without an answer
    _answers: list[ExactResult] = field(default_factory=list)
    _n_flying: int = 0  # tasks, of all jobs
    _look_again_at: float = float("-inf")

    def __post_init__(self) -> None:
        self.choice = replace(self.choice, run=uuid.uuid4().hex)
        self._look()
        for job in self.jobs:
            state = ExactState(job, self.choice)
            self._states[id(job)] = self._open[id(job)] = state
            self._note_answer(state)

    def next_task(self) -> ExactTask | None:
        """Task of the first AS that has one and room for it; if it has none, the next AS begins."""
        self._look()
        n_threads, costs = self.choice.n_threads, self.choice.costs
        thresholds = self.choice.thresholds
        for state in self._open.values():
            job = state.job
            if not has_room(self._n_flying, job.n_nodes, n_threads, thresholds):
                return None  # those that follow are smaller, or not begun
            sizes = (job.n_nodes, job.n_arcs, n_threads)
            if state.n_flying < window(*sizes, costs, job.device, thresholds):
                state.choice = self.choice
                task = state.next_task()
                if task is not None:
                    self._n_flying += 1
                    return task
        return None

    def cost_of(self, task: ExactTask) -> float:
        """Estimated seconds of a task."""
        return task_s(task, self.choice.costs)

    def use(self, outcome: Outcome) -> None:
        """Take the outcome of a task."""
        self._n_flying -= 1
        state = self._states[id(outcome.task.job)]
        state.use(outcome)
        self._note_answer(state)

    def answers(self) -> list[ExactResult]:
        """Results of jobs answered since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def _note_answer(self, state: ExactState) -> None:
        if state.answer is not None and self._open.pop(id(state.job), None) is not None:
            self._answers.append(state.answer)
            state.answer = None  # it may be large, and running tasks keep the state

    def useless(self, tasks: Iterable[Any]) -> list[ExactTask]:
        """Exact tasks that are no longer needed, from tasks in flight of any kind."""
        by_job = defaultdict(list)
        for task in tasks:
            if isinstance(task, ExactTask):
                by_job[id(task.job)].append(task)
        found: list[ExactTask] = []
        for job, own in by_job.items():
            found += self._states[job].useless(own)
        return found

    def smaller(self, task: ExactTask) -> list[ExactTask]:
        """Halves of a pack; on a core what a GPU has no room for."""
        parts = []
        if task.kind == "candidate" and task.n_sources > 1:
            middle = task.n_sources // 2
            parts = [replace(task, sources=task.sources[:middle])]
            parts.append(replace(task, sources=task.sources[middle:]))
            parts = [replace(part, alone=task.alone or part.n_sources == 1) for part in parts]
        elif self.fall_back and task.device == "gpu":
            parts = [replace(task, device="cpu")]
        self._states[id(task.job)].cut(task, parts)
        self._n_flying += max(0, len(parts) - 1)
        return parts

    def _look(self) -> None:
        """Update the number of tasks that can run at once; workers may come and go.

        One that takes long to answer is asked less often: asking holds up all else, and it is for
        ``drive`` to find that a scheduler is gone.
        """
        began = time.monotonic()
        if began < self._look_again_at:
            return
        n_threads = sum(self.cluster.n_threads().values())
        ended = time.monotonic()
        self._look_again_at = ended + max(THREADS_S, 4 * (ended - began))
        if n_threads not in (0, self.choice.n_threads):
            self.choice = replace(self.choice, n_threads=n_threads)
