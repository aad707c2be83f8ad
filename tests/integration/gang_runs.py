"""Substitutes for ``run_rank`` on workers of ``test_gangs``: dying, stopping, without memory."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass, fields
from functools import partial
from unittest import mock

from kernels.errors import HostMemoryError
from kernels.partition import Rank
from pipeline.schedule.gang.rank import RankEnd, run_rank
from tests.integration.exact_search_runs import first


def _at_sweep(task, rank, act):
    """Rank 1 acts in the middle of its work."""
    if rank != 1:
        return run_rank(task, rank)
    sweep = Rank.sweep

    def acting(self, sources):
        act()
        return sweep(self, sources)

    with mock.patch.object(Rank, "sweep", acting):
        return run_rank(task, rank)


def _signalled(folder, number):
    if first(folder, "signalled"):
        os.kill(os.getpid(), number)


def run_killed(task, rank, folder):
    return _at_sweep(task, rank, partial(_signalled, folder, signal.SIGKILL))


def run_stopped(task, rank, folder):
    return _at_sweep(task, rank, partial(_signalled, folder, signal.SIGSTOP))


def run_hanging(task, rank, folder):
    """All ranks of the first gang hang, outside any exchange; their workers answer."""
    if first(folder, f"hangs-{rank}"):
        threading.Event().wait(300)
    return run_rank(task, rank)


@dataclass(frozen=True, eq=False)
class _StopsWhenFetched(RankEnd):
    """What a rank found; its worker stops while it is sent to the client."""

    folder: str

    def __reduce__(self):
        _signalled(self.folder, signal.SIGSTOP)
        return RankEnd, tuple(getattr(self, each.name) for each in fields(RankEnd))


def run_stopped_with_its_result(task, rank, folder):
    end = run_rank(task, rank)
    if rank != 1:
        return end
    found = {each.name: getattr(end, each.name) for each in fields(RankEnd)}
    return _StopsWhenFetched(**found, folder=folder)


def _no_memory():
    raise HostMemoryError("a sweep needs 8,000,000 bytes; 5 are free")


def run_without_memory(task, rank):
    return _at_sweep(task, rank, _no_memory)


def held():
    """Threads and open files of a worker, and its gangs."""
    from pipeline.schedule.gang.link import n_open

    return [*(len(os.listdir(f"/proc/self/{each}")) for each in ("task", "fd")), n_open()]
