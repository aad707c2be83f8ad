"""What a run has left to measure, and its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.collect.known import Known
from pipeline.collect.width_collector import WidthCollector
from pipeline.config import AnalyzeConfig
from pipeline.model.search.tasks import WidthKind, WidthResults
from pipeline.schedule.executor import Executor
from pipeline.schedule.gang.phase import owner_of_graph
from pipeline.schedule.in_process.short import Todo, is_short, work_s
from pipeline.schedule.plan.batches import Plan, plan
from pipeline.schedule.plan.costs import (
    ONE_CARD_BYTES,
    READ_ARC_S,
    Costs,
    card_bytes,
    gpus_worth,
)
from pipeline.schedule.plan.measures import NO_WEIGHTS, WidthPlan, plan_widths
from pipeline.store import Snapshot


class Planning:
    """Plans of one run.

    Parameters
    ----------
    snapshot, config, known
        Of the run.
    rows : (n_rows,) int64
        Requested AS rows, ascending.
    costs : Costs
    folder : Path or None
        Of hop matrices.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        config: AnalyzeConfig,
        known: Known,
        rows: np.ndarray,
        costs: Costs,
        folder: Path | None,
    ):
        self._snapshot, self._config, self._known, self._rows = snapshot, config, known, rows
        self._costs, self._folder = costs, folder

    def unknown(self, source_ptr: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and nodes of the sources that are not known."""
        is_unknown = ~self._known.is_searched(source_ptr, sources)
        before = np.append(0, np.cumsum(is_unknown, dtype=np.int64))
        return before[source_ptr], sources[is_unknown]

    def is_short(
        self, source_ptr: np.ndarray, sources: np.ndarray, kinds: dict[WidthKind, tuple[str, ...]]
    ) -> bool:
        """Whether what is not known is to be measured in this process."""
        return is_short(self._config, self._todo(source_ptr, sources, kinds), self._costs)

    def n_gpus(
        self,
        source_ptr: np.ndarray,
        sources: np.ndarray,
        kinds: dict[WidthKind, tuple[str, ...]],
        n_there: int,
    ) -> tuple[int, float]:
        """How many of the GPUs that are there shorten the run, and its seconds on one of them."""
        todo = self._todo(source_ptr, sources, kinds)
        nodes, arcs = todo.n_nodes[todo.is_used], todo.n_arcs[todo.is_used]
        work = work_s(self._config, todo, self._costs, "gpu") + READ_ARC_S * float(arcs.sum())
        if card_bytes(int(nodes.max(initial=0)), int(arcs.max(initial=0))) > ONE_CARD_BYTES:
            return n_there, work  # it may have to be divided over them
        return gpus_worth(work, n_there), work

    def _todo(
        self, source_ptr: np.ndarray, sources: np.ndarray, kinds: dict[WidthKind, tuple[str, ...]]
    ) -> Todo:
        """What is not known."""
        snapshot, rows = self._snapshot, self._rows
        widths = {
            kind: (metrics, ~self._known.is_measured(kind))
            for kind, metrics in kinds.items()
            if self._is_possible(kind)
        }
        return Todo(
            n_nodes=snapshot.n_nodes[rows],
            n_arcs=snapshot.n_arcs[rows],
            n_sources=np.diff(self.unknown(source_ptr, sources)[0]),
            widths=widths,
        )

    def searches(self, executor: Executor, source_ptr: np.ndarray, sources: np.ndarray) -> Plan:
        """Searches from sources of each row."""
        snapshot, config = self._snapshot, self._config
        return plan(
            **self._graphs(self._rows),
            source_ptr=source_ptr,
            sources=sources,
            n_workers=max(1, sum(executor.n_threads().values())),
            devices=executor.devices,
            pack=config.pack,
            costs=self._costs,
            snapshot=snapshot.address,
            distances_dir=str(self._folder) if self._folder else "",
            verify=config.verify,
        )

    def widths(
        self, executor: Executor, kind: WidthKind, metrics: tuple[str, ...], in_parts: np.ndarray
    ) -> tuple[WidthPlan, WidthCollector]:
        """Tasks of one kind, and a collector that has what is known.

        ASes that cannot have widths of this kind have failed in it at once. ``in_parts``: (n_rows,)
        bool, ASes whose widths in hops gangs find.
        """
        snapshot, config, rows = self._snapshot, self._config, self._rows
        is_possible = self._is_possible(kind)
        is_unknown = ~self._known.is_measured(kind)
        planned = rows[is_unknown] if is_possible else rows[:0]
        of_gangs = in_parts[is_unknown]
        if kind == "widths" and is_possible:
            planned = planned[~of_gangs]
        tasks = plan_widths(
            kind,
            metrics,
            **self._graphs(planned),
            n_workers=max(1, sum(executor.n_threads().values())),
            devices=executor.devices,
            costs=self._costs,
            snapshot=snapshot.address,
            max_searches=config.max_searches,
            verify=config.verify,
            pack=config.pack,
        )
        owner = self._known.owner(kind).copy()
        if kind == "widths" and is_possible:
            at = np.flatnonzero(is_unknown)
            owner[at[~of_gangs]] = tasks.owner
            owner[at[of_gangs]] = owner_of_graph(snapshot, rows[at[of_gangs]])
        elif is_possible:
            owner[is_unknown] = tasks.owner
        collector = width_collector(kind, metrics, owner, self._known)
        if not is_possible:
            collector.fail(rows, NO_WEIGHTS)
        return tasks, collector

    def _is_possible(self, kind: WidthKind) -> bool:
        return kind != "weighted" or bool(self._snapshot.manifest["has_weights"])

    def _graphs(self, rows: np.ndarray) -> dict[str, Any]:
        """Rows, and the properties of their graphs that plans need."""
        snapshot = self._snapshot
        return {
            "rows": rows,
            "asn": snapshot.asn[rows],
            "n_nodes": snapshot.n_nodes[rows],
            "n_arcs": snapshot.n_arcs[rows],
            "graph_hash": [snapshot.graph_hash[row] for row in rows.tolist()],
        }


def width_collector(
    kind: WidthKind, metrics: tuple[str, ...], owner: np.ndarray, known: Known
) -> WidthCollector:
    """A collector that has what is known."""
    collector = WidthCollector(kind, metrics, owner)
    if (found := known.found(kind)) is not None:
        collector.add(WidthResults(found, {}, 0))
    return collector


def counts_of(searches: Plan, widths: Sequence[WidthPlan]) -> dict:
    """Numbers of tasks by kind, for report.json."""
    kinds = np.bincount(searches.kind, minlength=3).tolist()
    counts = {
        "n_tasks": searches.n_tasks,
        "n_search_tasks": kinds[0],
        "n_pack_tasks": kinds[1],
        "n_shard_tasks": kinds[2],
        "n_searches": searches.n_sources,
    }
    counts |= {f"n_{tasks.kind}_tasks": tasks.n_tasks for tasks in widths}
    return counts | {"n_by_candidates": sum(len(tasks.jobs) for tasks in widths)}
