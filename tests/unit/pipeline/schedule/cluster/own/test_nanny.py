"""Nannies of our own clusters: they can be closed whatever became of their workers' processes."""

from __future__ import annotations

import asyncio

import pytest
from distributed import Status

from pipeline.schedule.cluster.own.nanny import OwnNanny


class Process:
    """Stands for Dask's ``WorkerProcess`` in a state that its ``kill`` does not expect."""

    status = Status.failed

    def __init__(self, pid: int | None) -> None:
        self.pid = pid

    async def kill(self, **_options: object) -> None:
        raise AssertionError


class Unnoticed(Process):
    """One that runs, but whose start waits for a message that another start has taken."""

    status = Status.starting

    async def kill(self, **_options: object) -> None:
        if self.status == Status.starting:
            await self.running.wait()
        self.status = Status.stopped


def kill(pid: int | None) -> None:
    nanny = OwnNanny.__new__(OwnNanny)
    nanny.process = Process(pid)
    asyncio.run(nanny.kill())


def test_a_process_that_never_came_to_be_needs_no_end():
    kill(None)


def test_of_one_that_runs_an_error_is_told():
    with pytest.raises(AssertionError):
        kill(7)


def test_a_start_that_waits_without_end_is_not_waited_for():
    async def close() -> Status:
        nanny = OwnNanny.__new__(OwnNanny)
        nanny.process = Unnoticed(7)
        nanny.process.running = asyncio.Event()
        await asyncio.wait_for(nanny.kill(timeout=0.05), 60)
        return nanny.process.status

    assert asyncio.run(close()) == Status.stopped


def test_a_start_that_ends_in_time_is_waited_for():
    async def close() -> Status:
        nanny = OwnNanny.__new__(OwnNanny)
        nanny.process = process = Unnoticed(7)
        process.running = asyncio.Event()

        def begin() -> None:
            process.status = Status.failed
            process.running.set()

        asyncio.get_running_loop().call_later(0.05, begin)
        await asyncio.wait_for(nanny.kill(timeout=60), 30)
        return process.status

    assert asyncio.run(close()) == Status.stopped
