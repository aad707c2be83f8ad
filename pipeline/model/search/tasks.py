"""Tasks for workers, and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from pipeline.model.search.results import Figures, Widths

Device = Literal["cpu", "gpu"]
DEVICES: tuple[Device, ...] = get_args(Device)
TaskKind = Literal["search", "pack", "shard"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
ExactKind = Literal["opening", "candidate", "path"]
# Kind of a task as it ran -> the kind that metrics name, where several kinds answer them.
ANSWERS = dict.fromkeys(TASK_KINDS, "search") | dict.fromkeys(
    ("widths", *get_args(ExactKind)), "widths"
)
WidthKind = str  # widths, weighted, or that of a metric with its own kernel


@dataclass(frozen=True, eq=False)
class SearchTask:
    """Searches from some ingresses of one AS (``search``: one; ``pack``: several) or of several
    neighbouring ASes (``shard``). Small: the worker reads the graphs from the store itself.

    Attributes
    ----------
    snapshot : str
        Directory of the snapshot's files, visible to the workers.
    rows : (n_graphs,) int64
        AS rows of the snapshot, ascending.
    source_ptr : (n_graphs + 1,) int64; sources : (n_sources,) int32
        Local node ids; graph i is searched from sources[source_ptr[i]:source_ptr[i + 1]].
    device : str
        ``cpu`` or ``gpu``.
    """

    kind: TaskKind
    snapshot: str
    rows: np.ndarray
    source_ptr: np.ndarray
    sources: np.ndarray
    device: Device
    name: str  # for the dashboard: ``bfs_AS3356``, ``shard_AS1_AS99``
    distances_dir: str = ""  # where the worker writes full hop matrices; "" means none
    verify: bool = False  # check each search by its certificate
    whole: bool = True  # every source of these rows is here, and no other row shares a graph

    @property
    def n_sources(self) -> int:
        return len(self.sources)


@dataclass(frozen=True, eq=False)
class WidthTask:
    """Widths of the graphs of some neighbouring ASes, or of one large AS.

    Attributes
    ----------
    kind : str
        ``widths`` in hops, ``weighted`` by weight, or that of a metric with its own kernel.
    snapshot : str
        Directory of the snapshot's files, visible to the workers.
    rows : (n_graphs,) int64
        AS rows of the snapshot, ascending.
    metrics : tuple of str
        What is requested: of WIDTH_METRICS, or the one metric of a kernel.
    device : str
        ``cpu`` or ``gpu``.
    max_searches : int or None
        Limit of sources in each component; values not exact by then are intervals.
    """

    kind: WidthKind
    snapshot: str
    rows: np.ndarray
    metrics: tuple[str, ...]
    device: Device
    name: str  # for the dashboard: ``widths_AS3356``, ``widths_AS1_AS99``
    max_searches: int | None = None
    verify: bool = False  # check values by independent searches


@dataclass(frozen=True, eq=False)
class WidthResults:
    """Results of a WidthTask, as a worker returns them.

    Attributes
    ----------
    found : Widths or Figures
        A row for each of the task's rows that did not fail.
    failed : dict of int to str
        AS row -> why it has no widths.
    n_searches : int
    read_s : float
        Seconds that the task waited for its graphs on the device that searches.
    """

    found: Widths | Figures
    failed: dict[int, str]
    n_searches: int
    read_s: float = 0.0


@dataclass(frozen=True)
class TaskRun:
    """Where and when an attempt ran; times are seconds since 1970 UTC."""

    worker: str
    device: str
    started: float
    ended: float


@dataclass(frozen=True)
class Attempt:
    """One attempt that did not end its task: it was tried again, or split into smaller ones."""

    number: int  # 1, 2, ...
    submitted: float  # seconds since 1970 UTC
    error: BaseException
    run: TaskRun | None = None  # None where the worker died


@dataclass(frozen=True)
class Outcome:
    """One task, finished for good: a result or the error of its last attempt."""

    task: Any
    attempts: int
    submitted: float
    result: Any = None
    run: TaskRun | None = None
    error: BaseException | None = None
    failed: tuple[Attempt, ...] = ()  # earlier attempts, those of a larger task before a split too
