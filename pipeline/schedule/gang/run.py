"""Gangs from the client: one rank a worker, all at once, watched until the last has ended.

A gang has all its workers for itself: nothing else is in flight meanwhile. A rank that dies, stops
or fails ends the others at once, or by their deadline; then the AS is tried again on the workers
that are left.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from typing import Any

from distributed import Future

from kernels.partition import DEADLINE_S, gpu_name
from pipeline.errors import ClusterLostError, OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.search.tasks import Attempt, Outcome
from pipeline.schedule.cluster.executors import DaskExecutor
from pipeline.schedule.gang.link import close_inbox, open_inbox
from pipeline.schedule.gang.progress import RankProgress
from pipeline.schedule.gang.rank import GangTask, PeerError, RankEnd, ended, run_rank
from pipeline.schedule.gang.result import outcomes_of
from pipeline.schedule.transport.limits import Deadlines, Limits
from pipeline.schedule.transport.remote.connection import Connection, ask

log = logging.getLogger(__name__)

ATTEMPTS = 3
LOOK_S = 0.05  # seconds between two looks at the ranks
GRACE_S = 10.0  # seconds for the other ranks to end once they know that one failed
REPLACED_S = 30.0  # seconds for a worker that was ended to be there again


@dataclass(frozen=True, eq=False)
class GangJob:
    """One AS that goes over several workers.

    Attributes
    ----------
    task : GangTask
        Without workers and names, which each attempt has of its own.
    asn, n_ranks : int
    reason : str
        Why it goes over several.
    cost_s : float or None
        Estimate of all of its work on one device; None: unknown.
    """

    task: GangTask
    asn: int
    n_ranks: int
    reason: str
    cost_s: float | None = None


@dataclass(eq=False)
class Gangs:
    """Runs gangs one after another.

    Parameters
    ----------
    cluster : DaskExecutor
    deadline_s : float
        For one exchange between ranks.
    limits : Limits
        When a worker counts as silent.

    Attributes
    ----------
    report : list of dict
        For report.json: what each gang did.
    """

    cluster: DaskExecutor
    deadline_s: float = DEADLINE_S
    limits: Limits = field(default_factory=Limits)
    report: list[dict[str, Any]] = field(default_factory=list)
    _given_up: set[str] = field(default_factory=set)  # workers
    _deadlines: Deadlines = field(init=False)

    def __post_init__(self) -> None:
        self._deadlines = Deadlines(self.limits)

    def run(self, job: GangJob) -> Iterator[Outcome]:
        """The outcomes of an AS: its searches, its widths."""
        submitted, ends, workers = time.time(), [], list[str]()
        tried: list[Attempt] = []
        error: PipelineError | None = None
        n_ranks = job.n_ranks
        for number in range(1, ATTEMPTS + 1):
            workers = self._workers(job, n_ranks)
            if not workers:
                error = error or ClusterLostError(f"{job.task.name}: no worker is left")
                break
            begun = time.time()
            try:
                ends, error = self._try(job, workers[:n_ranks], number), None
                self._deadlines.note(job.cost_s, time.time() - begun, is_first=True)
                break
            except PipelineError as failure:
                error = failure
            tried.append(Attempt(number, begun, error))
            if not isinstance(error, RetryableError):
                break
            if isinstance(error, OutOfMemoryError):
                if n_ranks >= len(workers):  # nowhere to go with a part of it
                    break
                n_ranks = len(workers)
        failed = tuple(tried if error is None else tried[:-1])
        for attempt in failed:
            log.warning("%s; it was tried again", attempt.error)
        attempts = len(failed) + 1
        self._note(job, ends, attempts, error, time.time() - submitted)
        yield from outcomes_of(job.task, ends, attempts, submitted, failed, error, workers)

    def _workers(self, job: GangJob, n_ranks: int) -> list[str]:
        """Workers that may have a rank; on a cluster of our own, those that are started again too.

        They are waited for, for ``REPLACED_S`` at most.
        """
        end = time.monotonic() + REPLACED_S
        while True:
            workers = self._there(job)
            is_over = not self.cluster.own or time.monotonic() > end
            if len(workers) >= n_ranks or is_over:
                return workers
            time.sleep(LOOK_S)

    def _there(self, job: GangJob) -> list[str]:
        """Those there now, passed by the checks; one that joined in this run too."""
        cluster = self.cluster
        there = set(cluster.n_threads()) - self._given_up
        if job.task.device == "gpu" or not cluster.own:
            cluster.meet(there)
            there &= cluster.facts.keys()
        if job.task.device == "gpu":
            there = {worker for worker in there if cluster.facts[worker]["gpu"]}
        return sorted(there)

    def _try(self, job: GangJob, workers: Sequence[str], number: int) -> list[RankEnd]:
        """One attempt; raises the cause if a rank failed."""
        client = self.cluster.client
        gang = uuid.uuid4().hex
        nccl = gpu_name() if job.task.device == "gpu" else None
        task = replace(
            job.task, workers=tuple(workers), gang=gang, nccl=nccl, deadline_s=self.deadline_s
        )
        try:
            self._prepare(task)
            futures = [
                client.submit(
                    ended,
                    run_rank,
                    task,
                    rank,
                    key=(f"{task.name}-{gang[:8]}", rank, number),
                    workers=[worker],
                    allow_other_workers=False,
                    retries=0,
                    pure=False,
                )
                for rank, worker in enumerate(workers)
            ]
            quiet_s = self._deadlines.task(job.cost_s, number, is_first=True)
            return self._watch(task, futures, quiet_s)
        finally:
            self._tell(task, "the run has ended this gang")

    def _prepare(self, task: GangTask) -> None:
        """Let every worker know of the gang before a rank sends to it."""

        async def opened() -> dict[str, Any]:
            return await self.cluster.client._run(
                open_inbox, task.gang, workers=list(task.workers), on_error="return"
            )

        try:
            answers = ask(self.cluster.client, opened, self.limits.answer_s)
        except Exception as error:
            # Which of them is silent is not known: look at heartbeats.
            self._drop_silent(task.workers)
            raise RetryableError(f"{task.name}: its workers do not answer: {error!r}") from None
        for worker in task.workers:
            if answers.get(worker) is not True:
                self._given_up.add(worker)
                why = answers.get(worker, "no answer")
                raise RetryableError(f"{task.name}: worker {worker} cannot take part: {why}")

    def _drop_silent(self, workers: Sequence[str]) -> None:
        """Give up workers that do not answer one by one."""
        client = self.cluster.client
        for worker in workers:

            async def alive(worker: str = worker) -> Any:
                return await client._run(_here, workers=[worker], on_error="return")

            try:
                ask(client, alive, self.limits.answer_s)
            except Exception:
                self._given_up.add(worker)

    def _tell(self, task: GangTask, reason: str) -> None:
        """End what still waits, and forget the gang, on all workers that answer."""

        async def closed() -> Any:
            asked = self.cluster.client._run(
                close_inbox, task.gang, reason, workers=list(task.workers), on_error="ignore"
            )
            return await asyncio.wait_for(asked, self.limits.answer_s)

        try:
            ask(self.cluster.client, closed, self.limits.answer_s)
        except Exception as error:
            log.debug("%s: not all workers answered: %s", task.name, error)

    def _watch(self, task: GangTask, futures: Sequence[Future], quiet_s: float) -> list[RankEnd]:
        """Wait until all ranks have ended; give up those that do not once one has failed.

        Or once no rank has done anything for ``quiet_s``: then all of them hang.
        """
        connection = Connection(self.cluster.client, self.limits)
        progress = RankProgress(self.cluster.client, task.gang, task.workers, self.limits)
        ends: dict[int, RankEnd | BaseException] = {}
        reason, over = "", float("inf")
        try:
            while len(ends) < len(futures) and time.monotonic() < over:
                time.sleep(LOOK_S)
                for rank, future in enumerate(futures):
                    if rank not in ends and future.done():
                        ends[rank] = self._end_of(task, rank, future, connection)
                if connection.look() and not reason:
                    reason = _missing(task, ends, connection)
                if progress.quiet_s() > quiet_s and not reason:
                    reason = f"no rank exchanged anything with the others for {quiet_s:.0f} s"
                if connection.lost:
                    raise ClusterLostError(f"{task.name}: {connection.gone}")
                failed = any(isinstance(end, BaseException) for end in ends.values())
                if (failed or reason) and over == float("inf"):
                    over = time.monotonic() + GRACE_S
                    self._tell(task, reason or "another rank failed")
            self._check(task, ends, reason, connection)
            return [end for _, end in sorted(ends.items()) if isinstance(end, RankEnd)]
        finally:
            connection.cancel(futures)

    def _end_of(
        self, task: GangTask, rank: int, future: Future, connection: Connection
    ) -> RankEnd | BaseException:
        """What a rank that has ended brought back; fetched as long as its worker responds."""
        worker = task.workers[rank]
        where = f"{task.name}: rank {rank} on worker {worker}"
        if future.status != "finished":  # Dask's own errors alone
            return RetryableError(f"{where} was lost: the worker died")

        async def fetched() -> Any:
            return await future

        loop = self.cluster.client.loop.asyncio_loop
        fetching = asyncio.run_coroutine_threadsafe(fetched(), loop)
        end, why = time.monotonic() + self.limits.task_s, ""
        while not why:
            # Dask waits for minutes for a worker that stopped with a result.
            if not wait([fetching], self.limits.poll_s).done:
                connection.look()
                is_gone = worker in connection.silent or worker not in connection.threads
                if is_gone or connection.lost or time.monotonic() > end:
                    fetching.cancel()
                    self._give_up(worker, connection)
                    why = "its worker does not answer"
                continue
            try:
                return fetching.result()
            except Exception as error:
                why = repr(error)
        return RetryableError(f"{where}: what it found was lost: {why}")

    def _check(
        self,
        task: GangTask,
        ends: dict[int, RankEnd | BaseException],
        reason: str,
        connection: Connection,
    ) -> None:
        """Raise the cause if a rank failed or has not ended; the latter's worker is given up."""
        stuck = [worker for rank, worker in enumerate(task.workers) if rank not in ends]
        for worker in stuck:
            self._give_up(worker, connection)
        errors = [end for end in ends.values() if isinstance(end, BaseException)]
        causes = [error for error in errors if not isinstance(error, PeerError)]
        if causes:
            cause = causes[0]
            raise (
                cause
                if isinstance(cause, PipelineError)
                else PipelineError(f"{task.name}: {cause!r}")
            )
        if stuck:
            where = ", ".join(stuck)
            raise RetryableError(f"{task.name}: {reason or f'no answer of the rank on {where}'}")
        if errors:
            raise RetryableError(str(errors[0]))

    def _give_up(self, worker: str, connection: Connection) -> None:
        """Stop using a worker; one of ours is ended and replaced."""
        self._given_up.add(worker)
        if not connection.lost and connection.can_replace(worker):
            connection.replace(worker)

    def _note(
        self,
        job: GangJob,
        ends: Sequence[RankEnd],
        attempts: int,
        error: BaseException | None,
        seconds: float,
    ) -> None:
        self.report.append(
            {
                "asn": job.asn,
                "n_ranks": len(ends) or job.n_ranks,
                "why": job.reason,
                "attempts": attempts,
                "seconds": round(seconds, 3),
                "read_s": round(max((end.read_s for end in ends), default=0.0), 3),
                "n_arcs": [end.n_arcs for end in ends],
                "failed": str(error) if error is not None else "",
            }
        )


def _here() -> bool:
    """Executed on a worker that may be silent."""
    return True


def _missing(
    task: GangTask, ends: dict[int, RankEnd | BaseException], connection: Connection
) -> str:
    """Why a rank that has not ended cannot end; empty if none is known."""
    for rank, worker in enumerate(task.workers):
        if rank in ends:
            continue
        if worker not in connection.threads:
            return f"worker {worker} of rank {rank} died"
        if worker in connection.silent:
            return f"worker {worker} of rank {rank} does not answer"
    return ""
