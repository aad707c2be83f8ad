"""Which searches share a task, on which device, in which order. Pure: numpy and model only.

Rules (``docs/scheduling.md`` gives the reasons and the measurements):

- ASes with one ``graph_hash`` are searched once, from the union of their sources, under the first
  of their rows.
- ``pack=1``: one task per (AS, ingress). ``pack=K``: K ingresses of one AS per task.
- ``pack=None`` (auto): one search per task if a search takes at least as long as the overhead of a
  task, unless sweeps finish the AS ``sweep_gain`` times sooner; else up to 128 searches of one AS
  per task, since they share one sweep; and ASes whose searches all together cost less than a task
  travel with their neighbours as a shard, on a GPU all that cost less than a shard's share.
- A task goes to the GPU if all searches of its graphs, including the transfer, are faster there
  than on a core, by ``Costs``.
- Largest first, so that the last tasks are small and every worker ends at about the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.model.columns.keys import ordered_keys, split_key
from pipeline.model.columns.ragged import offsets, take_rows
from pipeline.model.search.tasks import DEVICES, TASK_KINDS, Device, SearchTask, TaskKind
from pipeline.schedule.plan.costs import DEFAULTS, LANES, Costs
from pipeline.schedule.thresholds import THRESHOLDS, PlanThresholds


@dataclass(frozen=True, eq=False)
class Plan:
    """Tasks as columns, largest first; ``task(i)`` makes one when it is needed.

    Attributes
    ----------
    kind, device : (n_tasks,) int8
        Position in TASK_KINDS and DEVICES.
    graph_start, graph_stop, source_start, source_stop : (n_tasks,) int64
        Which graphs and which of their sources.
    cost_s : (n_tasks,) float64
        Estimate in seconds, for order and deadlines only.
    row, asn : (n_graphs,) int64
        Row that stands for its graph, and its AS; ascending within a shard.
    source_ptr : (n_graphs + 1,) int64; sources : int32
        Distinct sources of each graph, ascending.
    owner : (n_rows,) int64
        For each requested row, the row whose searches answer it.
    whole : (n_tasks,) bool
        The task holds every source of its rows, and no other row shares their graphs.
    """

    kind: np.ndarray
    device: np.ndarray
    graph_start: np.ndarray
    graph_stop: np.ndarray
    source_start: np.ndarray
    source_stop: np.ndarray
    cost_s: np.ndarray
    whole: np.ndarray
    row: np.ndarray
    asn: np.ndarray
    source_ptr: np.ndarray
    sources: np.ndarray
    owner: np.ndarray
    snapshot: str = ""
    distances_dir: str = ""
    verify: bool = False

    @property
    def n_tasks(self) -> int:
        return len(self.kind)

    @property
    def n_sources(self) -> int:
        return len(self.sources)

    @property
    def n_units(self) -> int:
        """What progress counts: searches."""
        return len(self.sources)

    @property
    def unit(self) -> str:
        return "searches"

    def task(self, i: int) -> SearchTask:
        """Task i of the order."""
        graphs = slice(int(self.graph_start[i]), int(self.graph_stop[i]))
        first, last = int(self.source_start[i]), int(self.source_stop[i])
        ptr = self.source_ptr[graphs.start : graphs.stop + 1]
        kind = TASK_KINDS[self.kind[i]]
        return SearchTask(
            kind=kind,
            snapshot=self.snapshot,
            rows=self.row[graphs].copy(),
            source_ptr=np.clip(ptr, first, last) - first,
            sources=self.sources[first:last].copy(),
            device=DEVICES[self.device[i]],
            name=task_name(kind, self.asn[graphs]),
            distances_dir=self.distances_dir,
            verify=self.verify,
            whole=bool(self.whole[i]),
        )

    def __iter__(self) -> Iterator[SearchTask]:
        return (self.task(i) for i in range(self.n_tasks))

    def on(self, device: Device) -> Iterator[SearchTask]:
        """Tasks for one device, in the common order."""
        at = np.flatnonzero(self.device == DEVICES.index(device))
        return (self.task(i) for i in at.tolist())


def task_name(kind: TaskKind, asn: np.ndarray) -> str:
    """Name that dashboards show completely: no hyphen, since Dask cuts names at hyphens."""
    if kind == "shard":
        return f"shard_AS{int(asn[0])}_AS{int(asn[-1])}"
    return f"{'bfs' if kind == 'search' else 'msbfs'}_AS{int(asn[0])}"


def plan(
    rows: np.ndarray,
    asn: np.ndarray,
    n_nodes: np.ndarray,
    n_arcs: np.ndarray,
    graph_hash: Sequence[str],
    source_ptr: np.ndarray,
    sources: np.ndarray,
    *,
    n_workers: int,
    devices: Sequence[Device] = ("cpu",),
    pack: int | None = None,
    costs: Costs = DEFAULTS,
    snapshot: str = "",
    distances_dir: str = "",
    verify: bool = False,
    thresholds: PlanThresholds = THRESHOLDS,
) -> Plan:
    """Cut the searches of some ASes into tasks.

    Parameters
    ----------
    rows, asn, n_nodes, n_arcs : (n_rows,) int64
        AS rows requested, ascending, and what they are.
    graph_hash : n_rows str
    source_ptr : (n_rows + 1,) int64; sources : int32
        Local node ids to search from; a row without any gets no task.
    n_workers : int
        Tasks that can run at once.
    devices : sequence
        What may be used: ("cpu",), ("gpu",) or both.
    pack : int or None
        Ingresses of one AS per task; None: auto.
    costs : Costs
        What searches and tasks take on this machine.
    thresholds : PlanThresholds

    Returns
    -------
    Plan
    """
    graphs = _merge(rows, graph_hash, source_ptr, sources)
    first, sharers, ptr, merged, owner = graphs
    nodes, arcs = np.asarray(n_nodes)[first], np.asarray(n_arcs)[first]
    n_sources = np.diff(ptr)
    gpu = _on_gpu(costs.gpu_wins(nodes, arcs, n_sources, pack), devices)
    search_s, sweep_s = costs.search(gpu, arcs), costs.sweep(gpu, arcs)
    if pack is None:
        alone, lanes = _alone(n_sources, search_s, sweep_s, n_workers, costs.task_s, thresholds)
        all_s = np.where(n_sources == 1, search_s, -(-n_sources // LANES) * sweep_s)
        # On a GPU sweeps of small graphs cost their launch: it pays to share expensive ones too.
        worth_s = np.where(gpu, _shard_s(all_s[gpu], n_workers, costs, thresholds), costs.task_s)
        small = ~alone & (all_s < worth_s) & (arcs <= thresholds.shard_arcs(gpu))
        per_task = np.where(alone, 1, lanes)
    else:
        small = np.zeros(len(first), bool)
        per_task = np.full(len(first), max(1, pack))
    # Small graphs first, so that a shard is one run of graphs and one run of sources. On a GPU
    # those with about the same number of sweeps together: a sweep costs its whole shard.
    rounds = _rounds(n_sources) if "gpu" in devices else np.zeros(len(first), np.int64)
    order = np.lexsort((np.where(small, rounds, 0), ~small))
    rounds = rounds[order]
    first, sharers, nodes, arcs = first[order], sharers[order], nodes[order], arcs[order]
    ptr, merged = take_rows(ptr, merged, order)
    gpu, search_s, per_task = gpu[order], search_s[order], per_task[order]
    n_small = int(small.sum())
    parts = [
        _shards(nodes, arcs, ptr, rounds[:n_small], n_workers, devices, costs, gpu, thresholds),
        _parts(ptr, n_small, per_task, gpu, search_s, arcs, costs),
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    kind, on_gpu, graph_start, graph_stop, source_start, source_stop, cost_s = columns
    by_cost = np.argsort(-cost_s, kind="stable")
    shared = np.concatenate([[0], np.cumsum(sharers > 1)])
    whole = (shared[graph_stop] == shared[graph_start]) & (
        source_stop - source_start == ptr[graph_stop] - ptr[graph_start]
    )
    return Plan(
        kind=kind[by_cost].astype(np.int8),
        device=on_gpu[by_cost].astype(np.int8),
        graph_start=graph_start[by_cost],
        graph_stop=graph_stop[by_cost],
        source_start=source_start[by_cost],
        source_stop=source_stop[by_cost],
        cost_s=cost_s[by_cost],
        whole=whole[by_cost],
        row=np.asarray(rows)[first],
        asn=np.asarray(asn)[first],
        source_ptr=ptr,
        sources=merged,
        owner=owner,
        snapshot=snapshot,
        distances_dir=distances_dir,
        verify=verify,
    )


def smaller(task: SearchTask, fall_back: bool = False) -> list[SearchTask]:
    """Two tasks that need less memory than this one together; none if it is one search.

    A shard is halved by graphs, then a pack by sources. With ``fall_back`` a single search on a
    GPU becomes one on the CPU.
    """
    if len(task.rows) > 1:
        middle = len(task.rows) // 2
        cut = int(task.source_ptr[middle])
        bounds = [(0, middle, 0, cut), (middle, len(task.rows), cut, task.n_sources)]
    elif task.n_sources > 1:
        cut = task.n_sources // 2
        bounds = [(0, 1, 0, cut), (0, 1, cut, task.n_sources)]
    elif fall_back and task.device == "gpu":
        return [replace(task, device="cpu")]
    else:
        return []
    halves = []
    for first, last, begin, end in bounds:
        ptr = np.clip(task.source_ptr[first : last + 1], begin, end) - begin
        kind: TaskKind = task.kind
        if last - first == 1:
            kind = "search" if end - begin == 1 else "pack"
        halves.append(
            replace(
                task,
                kind=kind,
                rows=task.rows[first:last],
                source_ptr=ptr,
                sources=task.sources[begin:end],
                whole=task.whole and len(task.rows) > 1,
            )
        )
    return [half for half in halves if half.n_sources]


def _merge(
    rows: np.ndarray, graph_hash: Sequence[str], source_ptr: np.ndarray, sources: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One graph per hash: position of its first row, rows that share it, union of their sources."""
    rows = np.asarray(rows, np.int64)
    if len(rows) == 0:
        none = np.empty(0, np.int64)
        return none, none, np.zeros(1, np.int64), np.empty(0, np.int32), none
    first_with: dict[str, int] = {}
    owner_position = np.array([first_with.setdefault(h, i) for i, h in enumerate(graph_hash)])
    graph_of = np.repeat(owner_position, np.diff(source_ptr))
    graph, source = split_key(np.unique(ordered_keys(graph_of, sources)))
    searched, n_sources = np.unique(graph, return_counts=True)
    ptr = offsets(n_sources)
    has_sources = np.diff(source_ptr) > 0
    sharers = np.bincount(owner_position[has_sources], minlength=len(rows))[searched]
    return searched, sharers, ptr, source.astype(np.int32), rows[owner_position]


def _on_gpu(wins: np.ndarray, devices: Sequence[Device]) -> np.ndarray:
    """Whether the GPU is faster, if there is a choice."""
    if len(set(devices)) > 1:
        return wins
    return np.full(len(wins), "gpu" in devices)


def _alone(
    n_sources: np.ndarray,
    search_s: np.ndarray,
    sweep_s: np.ndarray,
    n_workers: int,
    task_s: float,
    thresholds: PlanThresholds,
) -> tuple[np.ndarray, np.ndarray]:
    """Which ASes are searched one source per task, and how many a task carries in the others.

    Full sweeps of even size; fewer lanes where one AS is so large a share of the work that
    workers would be idle.
    """
    n_parts = -(-n_sources // LANES)
    total_s = float((n_parts * sweep_s).sum()) or 1.0
    # Number of workers for this AS, by its share of the work.
    own = np.maximum(1, np.ceil(n_parts * sweep_s / total_s * n_workers)).astype(np.int64)
    worth = (sweep_s / task_s).astype(np.int64)  # no part may cost less than its task
    n_parts = np.maximum(
        n_parts, np.minimum.reduce([own, worth, n_sources // thresholds.min_lanes])
    )
    one_by_one_s = -(-n_sources // own) * (search_s + task_s)
    swept_s = -(-n_parts // own) * (sweep_s + task_s)
    alone = (search_s >= task_s) & (one_by_one_s < thresholds.sweep_gain * swept_s)
    return alone, -(-n_sources // np.maximum(n_parts, 1))


def _rounds(n_sources: np.ndarray) -> np.ndarray:
    """0 for one sweep, 1 for two, 2 for up to four, 3 for up to eight, ..."""
    return np.ceil(np.log2(np.maximum(-(-n_sources // LANES), 1))).astype(np.int64)


def _shard_s(all_s: np.ndarray, n_workers: int, costs: Costs, thresholds: PlanThresholds) -> float:
    """Seconds that a shard should take where all ASes together take ``all_s``."""
    even_s = all_s.sum() / (thresholds.shards_a_worker * n_workers)
    return float(np.clip(even_s, costs.task_s, thresholds.shard_tasks * costs.task_s))


def _shards(nodes, arcs, ptr, rounds, n_workers, devices, costs, gpu, thresholds):
    """Runs of small graphs of equal numbers of rounds, cut by estimated time, arcs and sources."""
    n_small = len(rounds)
    nodes, arcs, n_sources = nodes[:n_small], arcs[:n_small], np.diff(ptr[: n_small + 1])
    if n_small == 0:
        return (*(np.empty(0, np.int64) for _ in range(6)), np.empty(0))
    # Within a shard an AS costs its arcs for each sweep it takes part in; no fixed cost on a core,
    # the sweep's own, once for all of them, on a GPU.
    n_sweeps = -(-n_sources // LANES)
    swept_arcs = (arcs + 64) * n_sweeps
    there = costs.gpu.sweep_arc_s * swept_arcs
    here = costs.cpu.sweep_arc_s * swept_arcs
    way = costs.transfer(nodes, arcs)
    all_there = costs.gpu.sweep_s * n_sweeps.max() + float((there + way).sum())
    device_of_all = _on_gpu(np.array([all_there < here.sum()]), devices)[0]
    cost = there if device_of_all else here
    target_s = _shard_s(cost, n_workers, costs, thresholds)
    most_arcs = thresholds.shard_arcs(device_of_all)
    most_sources = thresholds.shard_sources(bool(device_of_all))
    cut = np.append(True, np.diff(rounds) > 0)
    for amount, limit in ((cost, target_s), (arcs, most_arcs), (n_sources, most_sources)):
        before = (np.cumsum(amount) - amount) // limit
        cut[1:] |= before[1:] != before[:-1]
    start = np.flatnonzero(cut)
    stop = np.append(start[1:], n_small)
    fixed_s = costs.gpu.sweep_s * np.maximum.reduceat(n_sweeps, start)
    there_s = fixed_s + np.add.reduceat(there, start)
    here_s = np.add.reduceat(here, start)
    on_gpu = _on_gpu(there_s + np.add.reduceat(way, start) < here_s, devices)
    on_gpu = np.where(stop - start == 1, gpu[start], on_gpu)  # it is not a shard
    kind = np.where(stop - start > 1, 2, np.where(n_sources[start] > 1, 1, 0))
    cost_s = np.where(on_gpu, there_s, here_s)
    return kind, on_gpu.astype(np.int64), start, stop, ptr[start], ptr[stop], cost_s


def _parts(ptr, n_small, per_task, gpu, search_s, arcs, costs):
    """Searches and packs of the graphs that are in no shard."""
    graph = np.arange(n_small, len(ptr) - 1)
    n_sources, per_task = np.diff(ptr)[graph], per_task[graph]
    n_parts = -(-n_sources // per_task)
    graph = np.repeat(graph, n_parts)
    part = np.arange(len(graph)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    start = ptr[graph] + part * np.repeat(per_task, n_parts)
    stop = np.minimum(start + np.repeat(per_task, n_parts), ptr[graph + 1])
    size = stop - start
    on_gpu = gpu[graph]
    packed = costs.sweep(on_gpu, arcs[graph], size)
    cost_s = np.where(size == 1, search_s[graph], packed)
    kind = np.where(size == 1, 0, 1)
    return kind, on_gpu.astype(np.int64), graph, graph + 1, start, stop, cost_s
