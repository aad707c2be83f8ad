"""What the worker of one rank does: read its part, search with the others, return what it knows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.errors import CheckError
from kernels.host import n_threads
from kernels.partition import (
    Collective,
    ExchangeError,
    Part,
    Rank,
    Split,
    block_of,
    deal,
    gpu_collective,
    part_of,
)
from pipeline.errors import RetryableError, StoreError
from pipeline.metrics import WidthMetric
from pipeline.model.search.results import SearchResults
from pipeline.model.search.tasks import Device
from pipeline.schedule.gang.link import WorkerCollective
from pipeline.schedule.gang.progress import READ_S_BYTE
from pipeline.schedule.gang.widths import RankWidths, brought
from pipeline.schedule.transport.attempted import portable
from pipeline.schedule.work.errors import errors_of
from pipeline.schedule.work.resident import resident, snapshot_at
from pipeline.store import Snapshot

N_CHECKED = 4  # nodes of each list whose eccentricities are certified with ``verify``


class PeerError(RetryableError):
    """Another rank is the cause: this one can do nothing without it."""


@dataclass(frozen=True, eq=False)
class GangTask:
    """Searches and widths of one AS, by all ranks.

    Attributes
    ----------
    workers : tuple of str
        Addresses of the ranks' workers.
    gang : str
        Names this attempt.
    nccl : bytes or None
        What connects the ranks' GPUs.
    sources : (n_sources,) int32
        To search from; none: no searches.
    metrics : tuple of str
        Widths in hops that are requested; none: no widths.
    """

    name: str
    snapshot: str
    row: int
    device: Device
    workers: tuple[str, ...]
    gang: str
    nccl: bytes | None
    sources: np.ndarray
    metrics: tuple[WidthMetric, ...]
    max_searches: int | None
    verify: bool
    deadline_s: float


@dataclass(frozen=True, eq=False)
class RankEnd:
    """What one rank brings back.

    Attributes
    ----------
    started, ended : float
        Seconds since 1970.
    read_s : float
        Until its part was on the device.
    searches : SearchResults or None
        Rank 0 alone has them.
    widths : RankWidths or None
    n_arcs : int
        Of its part.
    """

    started: float
    ended: float
    read_s: float
    searches: SearchResults | None
    widths: RankWidths | None
    n_arcs: int


def ended(
    run: Callable[[GangTask, int], RankEnd], task: GangTask, rank: int
) -> RankEnd | BaseException:
    """Executed on a worker: what ``run`` returns or raises, which Dask would change on its way."""
    try:
        return run(task, rank)
    except Exception as error:  # every error of a rank is one of its gang at the client
        return portable(error)


def run_rank(task: GangTask, rank: int) -> RankEnd:
    """Executed on each worker of a gang at the same time.

    Raises
    ------
    PeerError
        Another rank failed, died or hangs.
    OutOfMemoryError, RetryableError, StoreError, PipelineError
        As ``errors.errors_of``; then the other ranks end too.
    """
    started = time.time()
    name = f"{task.name}, rank {rank} of {len(task.workers)}"
    with errors_of(name, task.device, task.snapshot), _ends_others(task, rank, name) as link:
        resident(task.device).drop_all()  # the part may need all of the memory
        begin = time.perf_counter()
        snapshot = snapshot_at(task.snapshot)
        n_bytes = 8 * int(snapshot.n_nodes[task.row]) + 4 * int(snapshot.n_arcs[task.row])
        link.deadline_s = task.deadline_s + READ_S_BYTE * n_bytes
        with contextlib.ExitStack() as stack:
            connecting = _Connecting(task, rank, link, stack)
            part = read_part(snapshot, task.row, rank, link, connecting.begin)
            collective = connecting.end()
            own = Rank(part, collective, task.device)
            link.gather(np.array([rank]))  # all have read
            link.deadline_s = task.deadline_s
            read_s = time.perf_counter() - begin
            searches = _searches(task, own, read_s) if len(task.sources) else None
            widths = own.widths(task.metrics, task.max_searches) if task.metrics else None
            if task.verify and widths is not None:
                _check_widths(own, widths)
            collective.gather(np.array([rank]))  # nobody needs this one any more
    kept = searches if rank == 0 else None
    known = None if widths is None else brought(widths, rank)
    return RankEnd(started, time.time(), read_s, kept, known, len(part.indices))


@contextlib.contextmanager
def _ends_others(task: GangTask, rank: int, name: str) -> Any:
    """A link to the other ranks, which end at once if this one fails."""
    try:
        link = WorkerCollective(task.gang, rank, task.workers, task.deadline_s)
    except ExchangeError as error:
        raise PeerError(f"{name}: {error}") from None
    try:
        yield link
    except ExchangeError as error:
        link.close(str(error))
        raise PeerError(f"{name}: {error}") from None
    except BaseException as error:
        link.close(f"{name} failed: {error}")
        raise
    finally:
        link.leave()


class _Connecting:
    """What ranks exchange through: the link itself, or NCCL on GPUs, connected beside reading.

    NCCL takes about a second, and waits for each rank forever: it begins once all are here.
    """

    def __init__(
        self, task: GangTask, rank: int, link: WorkerCollective, stack: contextlib.ExitStack
    ):
        self._task, self._rank, self._link, self._stack = task, rank, link, stack
        self._future: Future[Collective] | None = None

    def begin(self) -> None:
        """All ranks are here."""
        name = self._task.nccl
        if name is None:
            return
        pool = self._stack.enter_context(ThreadPoolExecutor(1, "nccl"))
        given = (len(self._task.workers), name, self._rank, self._task.deadline_s)
        future = self._future = pool.submit(gpu_collective, *given)

        def end(kind: Any, *_: object) -> None:
            if future.exception() is not None:  # waits: the others are connecting too
                return
            if kind is None:
                future.result().leave()
            else:
                future.result().close()

        self._stack.push(end)

    def end(self) -> Collective:
        """The part has been read."""
        if self._future is None:
            return self._link
        nccl = self._future.result()
        self._link.count(nccl)
        return nccl


def read_part(
    snapshot: Snapshot,
    row: int,
    rank: int,
    collective: Collective,
    all_here: Callable[[], object] = lambda: None,
) -> Part:
    """Read one rank's part of an AS from the store, and nothing else of its arcs.

    Ranks count the arcs of blocks of nodes together, each a share of them, and then are
    ``all_here``. Blocks are large, so that a part is a few long runs of rows.
    """
    n_nodes, n_ranks = int(snapshot.n_nodes[row]), collective.n_ranks
    block = block_of(n_nodes, n_ranks)
    n_blocks = -(-n_nodes // block)
    own = np.zeros(n_blocks, np.int64)
    some = slice(rank * n_blocks // n_ranks, (rank + 1) * n_blocks // n_ranks)
    if some.start < some.stop:
        degree = snapshot.degrees(row, some.start * block, min(n_nodes, some.stop * block))
        own[some] = np.add.reduceat(degree, np.arange(0, len(degree), block), dtype=np.int64)
    n_arcs = collective.gather(own).sum(axis=0)
    all_here()
    first_arc = np.concatenate([[0], np.cumsum(n_arcs)])
    if first_arc[-1] != snapshot.n_arcs[row]:
        raise StoreError(
            f"{snapshot.path}: the degrees of AS{snapshot.asn[row]} do not sum to its arcs"
        )

    def read(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        arcs = first_arc[first // block], first_arc[-(-last // block)]
        return snapshot.degrees(row, first, last), snapshot.heads(row, int(arcs[0]), int(arcs[1]))

    whole: Split = deal(n_nodes, block, n_arcs, n_ranks)
    return part_of(whole, rank, read, n_threads())


def _searches(task: GangTask, own: Rank, read_s: float) -> SearchResults:
    found = own.sweep(task.sources)
    if task.verify:
        for i, source in enumerate(task.sources.tolist()):
            again = own.certified(source)
            same = (again.eccentricity, again.n_reached)
            if same != (found.eccentricity[i], found.n_reached[i]):
                raise CheckError(f"source {source}: results and certified levels differ")
    return SearchResults(
        row=np.full(len(task.sources), task.row, np.int64),
        source=np.asarray(task.sources, np.int32),
        n_reached=found.n_reached,
        eccentricity=found.eccentricity,
        hop_ptr=found.hop_ptr,
        hop_counts=found.hop_counts,
        farthest_ptr=found.farthest_ptr,
        farthest=found.farthest,
        read_s=read_s,
    )


def _check_widths(own: Rank, widths: Any) -> None:
    """Certify the eccentricities of some nodes that attain radius and diameter."""
    c = widths.largest
    if not widths.exact[c]:
        return
    for is_member, value in (
        (widths.is_center, widths.radius_upper[c]),
        (widths.is_periphery, widths.diameter_lower[c]),
    ):
        if is_member is None:
            continue
        nodes = np.full(N_CHECKED, -1, np.int64)
        some = widths.nodes[is_member & (widths.component == c)][:N_CHECKED]
        nodes[: len(some)] = some
        every = np.unique(own.collective.gather(nodes))
        for node in every[every >= 0][:N_CHECKED].tolist():
            found = own.certified(node).eccentricity
            if found != value:
                raise CheckError(f"the eccentricity of node {node} is {found}, not {value}")
