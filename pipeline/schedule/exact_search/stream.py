"""Exact searches of large ASes: each search is a task, results tighten bounds as they arrive.

No barrier anywhere: several searches of an AS are in flight, and of several ASes at once; a
finished search tightens the bounds of its AS at once. Searches in flight that an answer no longer
needs run to their ends: most have begun by then (ADR 0017). Whatever the order of completion and
whatever fails, what is reported as exact is exact (``kernels.eccentricity.bounds.bounds``).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pipeline.model.search.exact import ExactJob, ExactResult, ExactTask
from pipeline.model.search.tasks import Outcome
from pipeline.schedule.exact_search.state import ExactOptions, ExactState
from pipeline.schedule.executor import Executor
from pipeline.schedule.plan.steps import has_room, task_s, window

THREADS_S = 2.0  # between checks of the number of workers


@dataclass(eq=False)
class ExactStream:
    """The jobs that are not answered, in their order, and what is in flight for all of them.

    Its methods are what ``drive`` asks for; ``use`` is to be called with every outcome of an
    ExactTask, and ``answers`` at first and after each.

    Parameters
    ----------
    cluster : Executor
        Open.
    jobs : sequence of ExactJob
        One per distinct graph, largest first: when the first has enough searches in flight, the
        next begins, so an AS that waits does not hold up others.
    options : ExactOptions
        The number of threads, and the run, are filled in.
    fall_back : bool
        Search on a core where a GPU has too little memory.
    """

    cluster: Executor
    jobs: Sequence[ExactJob]
    options: ExactOptions
    fall_back: bool
    _states: dict[int, ExactState] = field(default_factory=dict)  # by id of the job
    _open: dict[int, ExactState] = field(default_factory=dict)  # those without an answer
    _answers: list[ExactResult] = field(default_factory=list)
    _n_flying: int = 0  # tasks, of all jobs
    _look_again_at: float = float("-inf")

    def __post_init__(self) -> None:
        self.options = replace(self.options, run=uuid.uuid4().hex)
        self._look()
        for job in self.jobs:
            state = ExactState(job, self.options)
            self._states[id(job)] = self._open[id(job)] = state
            self._note_answer(state)

    @property
    def n_open(self) -> int:
        """Jobs without an answer."""
        return len(self._open)

    def next_task(self) -> ExactTask | None:
        """Task of the first AS that has one and room for it; if it has none, the next AS begins."""
        self._look()
        n_threads, costs = self.options.n_threads, self.options.costs
        thresholds = self.options.thresholds
        for state in self._open.values():
            job = state.job
            if not has_room(self._n_flying, job.n_nodes, n_threads, thresholds):
                return None  # those that follow are smaller, or not begun
            sizes = (job.n_nodes, job.n_arcs, n_threads)
            if state.n_flying < window(*sizes, costs, job.device, thresholds):
                state.options = self.options
                task = state.next_task()
                if task is not None:
                    self._n_flying += 1
                    return task
        return None

    def cost_of(self, task: ExactTask) -> float:
        """Estimated seconds of a task."""
        return task_s(task, self.options.costs)

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
        if n_threads not in (0, self.options.n_threads):
            self.options = replace(self.options, n_threads=n_threads)
