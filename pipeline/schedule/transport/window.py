"""How many tasks to keep in flight. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.thresholds import THRESHOLDS, PlanThresholds

# Between the end of a task and the start of the one sent for it lie four streams that Dask flushes
# in batches: worker to scheduler every 2 ms, to the client 2, back 10, to the worker 5. Where tasks
# are shorter, more of them are on their way: seconds of work, and tasks at most.
ROUND_TRIP_S = 40e-3
MAX_THREAD_WINDOW, MAX_WINDOW = 32, 256
SHORT_TASK_S = 10e-3  # seconds; of tasks shorter than that a worker thread holds more
FEW = 1.1  # tasks that a thread holds otherwise, rounded up: Dask's default
HELD_S, MAX_HELD = 20e-3, 32.0  # seconds of short tasks that a thread holds, and tasks at most
N_RECENT = 16  # tasks whose mean time decides


@dataclass(eq=False)
class Window:
    """Tasks to keep in flight, by how long the last ones took."""

    thresholds: PlanThresholds = THRESHOLDS
    _recent_s: deque[float] = field(default_factory=lambda: deque(maxlen=N_RECENT))

    def note(self, run: TaskRun) -> None:
        """An attempt has ended."""
        self._recent_s.append(run.ended - run.started)

    @property
    def mean_s(self) -> float:
        """Mean time of the last tasks; that of a long task until one has ended."""
        if not self._recent_s:
            return ROUND_TRIP_S
        return sum(self._recent_s) / len(self._recent_s)

    @property
    def n_held(self) -> float:
        """Tasks that a worker thread should hold: more if they are short.

        A scheduler writes to a worker every 5 ms only, and hears of what has ended every 2 to 10:
        the worker idles where all that it holds end sooner. If tasks are long, more of them would
        wait behind one while other workers are free.
        """
        if self.mean_s >= SHORT_TASK_S:
            return FEW
        return min(MAX_HELD, HELD_S / max(self.mean_s, 1e-6))

    def n_tasks(self, n_threads: int) -> int:
        """Tasks to keep in flight for that many worker threads."""
        n_threads = max(1, n_threads)
        enough = max(self.thresholds.min_window, self.thresholds.thread_window * n_threads)
        more = n_threads * min(MAX_THREAD_WINDOW, ROUND_TRIP_S / max(self.mean_s, 1e-6))
        return max(enough, min(MAX_WINDOW, int(more)))
