"""All requests to a scheduler, each with a time limit for the answer.

Dask's own calls wait forever. A process that is stopped (or a machine that hangs) keeps its
connections open, so nothing ends them: a silent scheduler fails the run after ``answer_s`` times
``SILENT_LOOKS``, and results are fetched from each worker separately, so that a silent one holds
back only its own results.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from distributed import Client, Future

from pipeline.errors import RetryableError
from pipeline.schedule.transport.clock import Clock
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.remote.attempt import refuse_here

log = logging.getLogger(__name__)

SILENT_LOOKS = 3  # polls in a row without an answer; then the scheduler counts as gone
REPLACE_S = 30.0  # seconds for a nanny to end its worker; it kills what does not end in 4
GONE = "the scheduler is gone"
# States of tasks on a worker that a thread may still be working on; Dask ends no thread.
RUNNING = ("executing", "long-running", "cancelled", "resumed")


def _runs(facts: dict[str, Any]) -> bool:
    """Whether a worker ran something, cancelled or not, by what it reported last."""
    counts = facts.get("metrics", {}).get("task_counts")
    return counts is None or any(counts.get(state, 0) for state in RUNNING)


def ask(client: Client, call: Callable[[], Awaitable[Any]], timeout_s: float) -> Any:
    """Run a coroutine on the client's loop; TimeoutError after ``timeout_s``."""

    async def answer() -> Any:
        return await call()

    # ``Client.sync`` waits until what it cancels has ended, which may wait for a stopped worker.
    asked = asyncio.run_coroutine_threadsafe(answer(), client.loop.asyncio_loop)
    try:
        return asked.result(timeout_s)
    except TimeoutError:
        asked.cancel()
        raise


class _End(asyncio.Event):
    """Set by Dask's client when a future ends; it reports that once.

    It may hold the last reference to the future: the scheduler may forget that only at its end.
    """

    def __init__(self, future: Future, done: queue.SimpleQueue):
        super().__init__()
        self._future: Future | None = future
        self._done = done

    def set(self) -> None:
        """Called on the client's loop."""
        super().set()
        future, self._future = self._future, None
        if future is not None:
            self._done.put((future.key, None))


@dataclass(eq=False)
class Connection:
    """The last known state of a scheduler, and its results that are ready.

    Attributes
    ----------
    done : queue of (key, answer)
        ``answer`` is None when a task has ended, else what was fetched or why nothing was.
    threads : dict of worker address to int
    status : dict of worker address to str
        Dask's ("running", "paused", ...), or "silent": no heartbeat for ``silent_s``, or "mute": a
        result that could not be fetched and no heartbeat since.
    processing : dict of worker address to keys
    quiet : dict of worker address to float
        Seconds without a heartbeat, by ``clock``.
    free : frozenset of worker addresses
        Where nothing ran at the last heartbeat.
    clock : Clock
    gone : str
        Why the scheduler counts as gone; empty while it does not. Once gone it stays gone.
    """

    client: Client
    limits: Limits
    done: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    threads: dict[str, int] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    processing: dict[str, Any] = field(default_factory=dict)
    quiet: dict[str, float] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    clock: Clock = field(default_factory=Clock)
    gone: str = ""
    _looked_at: float = float("-inf")
    _n_silent: int = 0
    # Worker -> its own clock at its last heartbeat, and ours when that changed.
    _heard: dict[str, tuple[float, float]] = field(default_factory=dict)
    _nursed: set[str] = field(default_factory=set)  # workers that a nanny starts again
    _mute: dict[str, float] = field(default_factory=dict)  # fetching failed; heartbeat at that time

    @property
    def lost(self) -> bool:
        """Whether the scheduler has gone."""
        if not self.gone and self.client.status != "running":
            self.gone = GONE
        return bool(self.gone)

    @property
    def answers(self) -> bool:
        """Whether the last look was answered."""
        return not self._n_silent and not self.lost

    @property
    def silent(self) -> set[str]:
        """Workers without a heartbeat."""
        return {w for w, status in self.status.items() if status in ("silent", "mute")}

    def look(self, force: bool = False) -> bool:
        """Query workers and their tasks, at most every ``poll_s``; whether it was done now."""
        now = self.clock.now()
        if self.lost or (not force and now - self._looked_at < self.limits.poll_s):
            return False
        try:
            info, processing = ask(self.client, self._ask_state, self.limits.answer_s)
        except Exception as error:  # silent, or the connection broke
            self._looked_at = self.clock.now()
            self._n_silent += 1
            log.debug("the scheduler did not answer: %s", error)
            if self._n_silent >= SILENT_LOOKS and not self.lost:
                self.gone = (
                    f"the scheduler does not answer: {self._n_silent} requests of up to "
                    f"{self.limits.answer_s:.0f} s each"
                )
            return False
        self._n_silent = 0
        self._looked_at = now = self.clock.now()
        workers = info["workers"]
        self.threads = {worker: int(facts["nthreads"]) for worker, facts in workers.items()}
        self._nursed = {worker for worker, facts in workers.items() if facts.get("nanny")}
        self.processing = dict(processing)
        self._hear(workers, now)
        return True

    async def _ask_state(self) -> tuple[dict, dict]:
        scheduler = self.client.scheduler
        return await scheduler.identity(n_workers=-1), await scheduler.processing(workers=None)

    def _hear(self, workers: dict[str, dict], now: float) -> None:
        heard, status = {}, {}
        for worker, facts in workers.items():
            beat = float(facts.get("last_seen", 0.0))
            before = self._heard.get(worker, (beat, now))
            heard[worker] = before if before[0] == beat else (beat, now)
            if self._mute.get(worker) != beat:
                self._mute.pop(worker, None)
            if now - heard[worker][1] >= self.limits.silent_s:
                status[worker] = "silent"
            elif worker in self._mute:
                status[worker] = "mute"
            else:
                status[worker] = str(facts.get("status", "running"))
        self._heard, self.status = heard, status
        self.quiet = {worker: now - since for worker, (_, since) in heard.items()}
        self.free = frozenset(worker for worker, facts in workers.items() if not _runs(facts))

    def hold(self, n_tasks: float) -> None:
        """Let a worker thread hold that many tasks (rounded up), if the scheduler is ours."""
        scheduler = getattr(self.client.cluster, "scheduler", None)
        if scheduler is not None and hasattr(scheduler, "WORKER_SATURATION"):
            scheduler.WORKER_SATURATION = n_tasks

    def report_ends(self, futures: Sequence[Future]) -> None:
        """Put (key, None) in ``done`` when a task has ended in any way."""
        # Future.add_done_callback would wake another thread for each, and a coroutine that waits
        # for it costs a task of asyncio.
        for future in futures:
            end = future._state._event = _End(future, self.done)
            if future.status != "pending":  # it has ended just now, and found no event
                end.set()

    def release(self, futures: list[Future]) -> None:
        """Give up references to futures on the client's loop; empties the list.

        Given up here each of them would wake that loop.
        """
        if futures and self.client.status == "running":
            self.client.loop.add_callback(futures.clear)

    def begun(self, worker: str, keys: Sequence[tuple]) -> set[tuple] | None:
        """Which tasks a worker has begun; the rest will never begin there; None: no answer."""

        async def asked() -> dict[str, list]:
            more = {"workers": [worker], "on_error": "ignore"}
            return await self.client._run(refuse_here, list(keys), **more)

        try:
            answer = ask(self.client, asked, self.limits.answer_s)[worker]
        except Exception as error:
            log.debug("worker %s did not report its running tasks: %s", worker, error)
            return None
        return {tuple(key) for key in answer}

    def can_replace(self, worker: str) -> bool:
        """Whether the cluster is ours, so that the worker can be ended and replaced."""
        return self.client.cluster is not None and worker in self._nursed

    def replace(self, worker: str) -> None:
        """End a worker of ours; its nanny starts another."""

        async def ended() -> Any:
            return await self.client.scheduler.restart_workers(
                workers=[worker],
                timeout=REPLACE_S,
                wait_for_workers=False,
                on_error="return",
                client=self.client.id,
                stimulus_id=f"hopscope-replace-{time.time()}",
            )

        try:
            ask(self.client, ended, REPLACE_S + self.limits.answer_s)
        except Exception as error:
            log.warning("worker %s could not be stopped: %s", worker, error)

    def fetch(self, futures: Sequence[Future]) -> None:
        """Begin to fetch results that are ready; answers arrive in ``done``."""
        names = {future.key: str(future.key[0]).rpartition("-")[0] for future in futures}
        asyncio.run_coroutine_threadsafe(self._fetch(names), self.client.loop.asyncio_loop)

    async def _fetch(self, names: dict[Any, str]) -> None:
        try:
            asked = self.client.scheduler.who_has(keys=list(names))
            who_has = await asyncio.wait_for(asked, self.limits.fetch_s)
        except Exception as error:
            who_has = {}
            log.debug("the scheduler did not report where results are: %s", error)
        places: dict[str, dict[Any, str]] = {}
        for key, name in names.items():
            workers = [worker for worker in who_has.get(key, ()) if worker not in self._mute]
            places.setdefault((workers or [*who_has.get(key, ()), ""])[0], {})[key] = name
        await asyncio.gather(*(self._fetch_from(*place) for place in places.items()))

    async def _fetch_from(self, worker: str, names: dict[Any, str]) -> None:
        values: dict[Any, Any] = {}
        reason = f"was lost with worker {worker}" if worker else "was lost with its worker"
        try:
            # Twice: the second time only what is there.
            for _ in range(2 if worker else 0):
                asked = self.client.scheduler.gather(keys=list(names.keys() - values.keys()))
                answer = await asyncio.wait_for(asked, self.limits.fetch_s)
                if answer["status"] == "OK":
                    values = answer["data"]
                    break
                missing = set(answer["keys"])
                for key in missing:
                    self._report_lost(key, names.pop(key, ""), reason)
                if not names:
                    break
        except Exception as error:
            reason = f"could not be fetched from worker {worker} within {self.limits.fetch_s:.0f} s"
            if not isinstance(error, TimeoutError):
                reason = f"could not be fetched from worker {worker}: {error}"
            elif worker in self._heard:
                self._mute[worker] = self._heard[worker][0]
                self.status[worker] = "mute"
        for key, name in names.items():
            if key in values:
                self.done.put((key, values[key]))
            else:
                self._report_lost(key, name, reason)

    def _report_lost(self, key: Any, name: str, reason: str) -> None:
        self.done.put((key, RetryableError(f"{name}: its result {reason}")))

    def cancel(self, futures: Sequence[Future]) -> None:
        """Cancel tasks that are no longer needed, as far as possible."""
        try:
            if futures and not self.lost:
                self.client.sync(
                    self.client._cancel, list(futures), callback_timeout=self.limits.answer_s
                )
        except Exception as error:
            log.debug("could not be cancelled: %s", error)
        for future in futures:
            future.release()
