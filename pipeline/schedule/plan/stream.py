"""Tasks of several plans as one stream, so that no kind of task waits for another."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from pipeline.model.search.tasks import DEVICES, Device


class Planned(Protocol):
    """Tasks as columns, largest first."""

    @property
    def device(self) -> np.ndarray:
        """(n_tasks,) position in DEVICES."""
        ...

    @property
    def cost_s(self) -> np.ndarray:
        """(n_tasks,) approximate seconds."""
        ...

    @property
    def n_units(self) -> int:
        """What progress counts."""
        ...

    @property
    def unit(self) -> str:
        """Its noun."""
        ...

    def task(self, i: int) -> Any:
        """Task i of the order."""
        ...


class Stream:
    """All tasks of some plans, the largest first.

    Parameters
    ----------
    plans : sequence of Planned
    n_large : int
        ASes answered by exact searches: progress counts these too.

    Attributes
    ----------
    n_tasks, n_units : int
    unit : str
        What progress counts, as text.
    longest_s, total_s : float
        Estimated seconds of the largest task, and of all.
    """

    def __init__(self, plans: Sequence[Planned], n_large: int = 0):
        self._plans = list(plans)
        size = np.array([len(plan.cost_s) for plan in plans], np.int64)
        cost_s = np.concatenate([np.empty(0), *(plan.cost_s for plan in plans)])
        order = np.argsort(-cost_s, kind="stable")
        self._plan = np.repeat(np.arange(len(plans)), size)[order]
        self._i = np.concatenate([np.empty(0, np.int64), *(np.arange(n) for n in size)])[order]
        devices = [np.empty(0, np.int8), *(plan.device for plan in plans)]
        self._device = np.concatenate(devices)[order]
        self.n_tasks = len(order)
        self.n_units = sum(plan.n_units for plan in plans) + n_large
        units = [plan.unit for plan in plans if plan.n_units] + ["widths"] * (n_large > 0)
        self.unit = " and ".join(dict.fromkeys(units))
        self._cost_s = cost_s[order]
        self.longest_s, self.total_s = float(cost_s.max(initial=0.0)), float(cost_s.sum())
        # In progress, by identity, in order: the task, its cost, and when it was handed out.
        self._handed: dict[int, tuple[Any, float, float]] = {}
        self._ended_s = 0.0  # expected cost of what has ended

    def __iter__(self) -> Iterator[Any]:
        return self._tasks(np.arange(self.n_tasks))

    def on(self, device: Device) -> Iterator[Any]:
        """Tasks for one device, in the order of all."""
        return self._tasks(np.flatnonzero(self._device == DEVICES.index(device)))

    def longer_than(self, seconds: float) -> list[tuple[Any, float]]:
        """Tasks that are expected to take longer, and how long; the longest first."""
        n_long = int(np.count_nonzero(self._cost_s > seconds))
        tasks = self._made(np.arange(n_long))
        return [(task, float(self._cost_s[i])) for i, task in enumerate(tasks)]

    def cost_of(self, task: Any) -> float | None:
        """Estimated seconds of a task that was handed out and has not ended; else None."""
        handed = self._handed.get(id(task))
        return None if handed is None else handed[1]

    def ended(self, task: Any) -> None:
        """A task has come back."""
        self._ended_s += self._handed.pop(id(task), (task, 0.0, 0.0))[1]

    def done_s(self, n_threads: int, now: float) -> float:
        """Expected cost of what has been done by ``now``, with the part of what is running.

        The oldest tasks that were handed out are taken to run, one per thread, each as far as the
        time since allows.
        """
        oldest = itertools.islice(self._handed.values(), max(1, n_threads))
        running_s = sum(min(cost_s, now - since) for _, cost_s, since in oldest)
        return min(self.total_s, self._ended_s + running_s)

    def _tasks(self, which: np.ndarray) -> Iterator[Any]:
        for task, cost_s in zip(self._made(which), self._cost_s[which].tolist(), strict=True):
            self._handed[id(task)] = (task, cost_s, time.monotonic())
            yield task

    def _made(self, which: np.ndarray) -> Iterator[Any]:
        at = zip(self._plan[which].tolist(), self._i[which].tolist(), strict=True)
        return (self._plans[plan].task(i) for plan, i in at)
