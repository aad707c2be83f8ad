"""Nannies of our own clusters: they can be closed whatever became of their workers' processes."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.schedule.cluster.nanny import OwnNanny


class Process:
    """Stands for Dask's ``WorkerProcess`` in a state that its ``kill`` does not expect."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid

    async def kill(self, **_options: object) -> None:
        raise AssertionError


def kill(pid: int | None) -> None:
    nanny = OwnNanny.__new__(OwnNanny)
    nanny.process = Process(pid)
    asyncio.run(nanny.kill())


def test_a_process_that_never_came_to_be_needs_no_end():
    kill(None)


def test_of_one_that_runs_an_error_is_told():
    with pytest.raises(AssertionError):
        kill(7)
