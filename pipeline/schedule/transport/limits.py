"""When to stop waiting for a task: limits, and deadlines that follow its size. Pure.

A task may take ``factor`` times what it is expected to take, and always ``least_s``. Estimates are
those of a quiet machine. So the largest ratio of what a task took to what it was expected to take,
the *slowdown* of this run, raises all deadlines: on a machine that is slow from the start, a task
that takes as long as one before it is never overdue. A task that was overdue may take ``patience``
times as long on its next attempt, since its estimate may have been wrong.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Seconds after which the driver stops waiting; ``factor`` and ``patience`` are ratios."""

    poll_s: float = 2.0  # between two looks at the scheduler
    no_worker_s: float = 60.0  # a nanny restarts a worker in 2 to 5 s
    paused_s: float = 60.0
    lost_s: float = 30.0
    task_s: float = 3600.0  # no deadline is later; that of tasks without an estimate
    least_s: float = 20.0  # no deadline is sooner: a kernel compiled, a disk that wakes up
    first_s: float = 60.0  # more for a worker's first task: GPU kernels take 20 s to compile
    factor: float = 20.0
    patience: float = 5.0
    answer_s: float = 20.0  # a scheduler answers in ms; a busy one in seconds
    fetch_s: float = 30.0  # a result is a few MB at most
    silent_s: float = 120.0  # between two heartbeats of a worker, otherwise every 1 to 5 s


PAUSE_FACTOR = 3.0  # a paused worker ends the task that it has begun


@dataclass
class Deadlines:
    """How long tasks may take, by their estimates and what others took in this run.

    Attributes
    ----------
    slowdown : float
        The largest ratio of the time that a task took to its estimate; at least 1.
    """

    limits: Limits
    slowdown: float = 1.0

    @property
    def _least_cost_s(self) -> float:
        """Estimates below this make no difference: that of a task which has ``least_s``."""
        return self.limits.least_s / self.limits.factor

    def note(self, cost_s: float | None, run_s: float, is_first: bool) -> None:
        """Note what a task took.

        Parameters
        ----------
        cost_s : float or None
            Estimated seconds; None: unknown.
        run_s : float
            Seconds on its worker.
        is_first : bool
            It was the first on its worker.
        """
        if cost_s is None:
            return
        least_cost_s = self._least_cost_s
        if is_first:  # its start does not count: the next task gets ``least_s`` in any case
            run_s -= self.limits.least_s - least_cost_s
        self.slowdown = max(self.slowdown, run_s / max(cost_s, least_cost_s))

    def task(self, cost_s: float | None, tries: int = 1, is_first: bool = False) -> float:
        """Seconds that a task may take.

        Parameters
        ----------
        cost_s : float or None
            Estimated seconds; None: unknown.
        tries : int
            Number of its attempts, with this one.
        is_first : bool
            Its worker has ended none so far.
        """
        limits = self.limits
        if cost_s is None:
            return limits.task_s
        expected_s = self.slowdown * max(cost_s, self._least_cost_s)
        seconds = limits.factor * expected_s * limits.patience ** (tries - 1)
        return min(limits.task_s, seconds + limits.first_s * is_first)

    def pause(self, cost_s: float | None) -> float:
        """Seconds that a worker which holds a task may be paused."""
        if cost_s is None:
            return self.limits.paused_s
        ended_s = PAUSE_FACTOR * self.slowdown * cost_s
        return min(self.task(cost_s), max(self.limits.paused_s, ended_s))

    def silence(self, cost_s: float | None) -> float:
        """Seconds that a worker which holds a task may go without a heartbeat."""
        return min(self.limits.silent_s, self.task(cost_s))
