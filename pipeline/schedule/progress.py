"""Progress of a run while it searches: the share done, and long tasks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.metrics import cheaper
from pipeline.model.progress import MOST_SHARE, Progress, ProgressCallback
from pipeline.model.words import number, rough_duration
from pipeline.schedule.plan.stream import Stream

log = logging.getLogger(__name__)

PROGRESS_S = 0.1  # at most this often
LONG_RUN_S = 60.0  # expected; for a shorter run no estimate is shown
LONG_TASK_S = 600.0  # expected; reported before it begins
N_NAMED = 3  # such tasks


class RunProgress:
    """Progress of one run.

    Parameters
    ----------
    progress : callable
    stream : Stream
        Tasks of the run, whose times are estimated; exact searches are counted separately.
    n_threads : int
        Threads that work on it.
    where : str
        "on 2 workers, ..." or "in ...", for people.
    counts : callable
        The numbers of the run so far.
    n_open : callable
        ASes whose exact searches have not found an answer yet.
    """

    def __init__(
        self,
        progress: ProgressCallback,
        stream: Stream,
        n_threads: int,
        where: str,
        counts: Callable[[], Mapping[str, int]] = dict,
        n_open: Callable[[], int] = int,
    ):
        self._progress, self._stream, self._n_threads = progress, stream, max(1, n_threads)
        self._where, self._counts, self._n_open = where, counts, n_open
        self._expected_s = max(stream.total_s / self._n_threads, stream.longest_s)
        self._n_ended = self._n_exact = 0
        self._n_units = 0
        self._share = 0.0  # of the expected work, done
        self._last = ""  # the task that ended last
        self._reported = 0.0

    def begin(self) -> None:
        """Report where the run searches, how long it may take, and which tasks take long."""
        expected = ""
        if self._is_long:
            apart = " without exact searches" if self._n_open() else ""
            expected = f", expected to take about {rough_duration(self._expected_s)}{apart}"
        self._report(0, self._where.removeprefix("on ") + expected)
        long = self._stream.longer_than(LONG_TASK_S)
        for task, cost_s in long[:N_NAMED]:
            helps = cheaper(task.kind) or "--pack 1 divides it among workers"
            log.warning(
                "%s is one task of about %s; to shorten it: %s",
                task.name,
                rough_duration(cost_s),
                helps,
            )
        if len(long) > N_NAMED:
            n_more = len(long) - N_NAMED
            tasks = number(n_more, "more task")
            log.warning("%s of over 10 min%s", tasks, "" if n_more == 1 else " each")

    def ended(self, task: Any, n_units: int, is_exact: bool) -> None:
        """A task has come back; ``n_units`` of the run's are done by now."""
        self._last, self._n_units = task.name, n_units
        if is_exact:
            self._n_exact += 1
        else:
            self._n_ended += 1
            self._stream.ended(task)
        self.beat()

    def beat(self) -> None:
        """Called as time passes: show progress now and then."""
        now = time.monotonic()
        if now - self._reported >= PROGRESS_S and (self._last or self._is_long):
            self._reported = now
            if not self._is_long:
                self._report(self._n_units, self._done(), self._share_by(now))
                return
            self._share_by(now)
            expected = (
                f"{100 * self._share:.0f} % of about {rough_duration(self._expected_s)} expected"
            )
            self._report(self._n_units, f"{self._done()}; {expected}", self._share)

    def end(self) -> None:
        """Report the totals."""
        n_tasks = number(self._n_ended + self._n_exact, "task")
        self._report(self._n_units, f"{n_tasks} {self._where}")

    def _share_by(self, now: float) -> float | None:
        """Share of the expected work that is done; it never falls. None: nothing was expected."""
        if not self._stream.total_s:
            return None
        done_s = self._stream.done_s(self._n_threads, now)
        # Tasks that run may take longer than expected.
        most = 1.0 if self._n_units >= self._stream.n_units else MOST_SHARE
        self._share = max(self._share, min(done_s / self._stream.total_s, most))
        return self._share

    @property
    def _is_long(self) -> bool:
        return self._expected_s >= LONG_RUN_S

    def _done(self) -> str:
        # Tasks that were split for lack of memory end as more than were planned.
        n_tasks = max(self._stream.n_tasks, self._n_ended)
        done = f"{self._n_ended:,} of {number(n_tasks, 'task')}"
        if self._n_exact:
            done += f", {number(self._n_exact, 'exact search')}"
        return f"{self._last}, {done}" if self._last else done

    def _report(self, done: int, detail: str, share: float | None = None) -> None:
        n_units, unit = self._stream.n_units, self._stream.unit
        is_timed, counts = not self._n_open(), self._counts()
        self._progress(Progress("search", done, n_units, unit, detail, share, is_timed, counts))
