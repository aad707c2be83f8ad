"""What a worker does for widths: read graphs, ask kernels, send columns back."""

from __future__ import annotations

import importlib
import time
from dataclasses import replace
from typing import cast

import numpy as np

from kernels import CSRGraph, GraphError, Shard, weighted_widths
from kernels.csr import to_host
from kernels.exact_search import ShardWidths, widths
from kernels.host import n_threads
from pipeline.metrics import WidthMetric, own_kernels
from pipeline.model.columns import concat, empty
from pipeline.model.columns.ragged import side_by_side
from pipeline.model.search.results import Figures, Widths
from pipeline.model.search.tasks import WidthResults, WidthTask
from pipeline.schedule.plan.measures import NO_WEIGHTS
from pipeline.schedule.work.errors import errors_of
from pipeline.schedule.work.measure_checks import check_weighted_widths, check_widths
from pipeline.schedule.work.measure_columns import widths_of_shard
from pipeline.schedule.work.resident import read_shard, resident_graph, snapshot_at
from pipeline.schedule.work.searches import as_shard


def run_widths(task: WidthTask) -> WidthResults:
    """Run one task on this worker; raises what ``errors.errors_of`` raises.

    An AS with a fault in its own data is reported in ``failed``, the others are done.
    """
    with errors_of(task.name, task.device, task.snapshot):
        if task.kind == "weighted":
            return _weighted(task)
        return _widths(task) if task.kind == "widths" else _figures(task)


def _widths(task: WidthTask) -> WidthResults:
    started = time.perf_counter()
    shard = _shard(task)
    read_s = time.perf_counter() - started
    asked = _asked(task)
    found = widths(shard, asked, task.max_searches)
    node_ptr = to_host(shard.node_ptr)
    columns = widths_of_shard(found, node_ptr, task.rows, asked, read_s=read_s)
    if task.verify:
        check_widths(_shard(replace(task, device="cpu")), columns)
    return WidthResults(columns, {}, int(columns.n_searches.sum()), read_s)


def _shard(task: WidthTask) -> Shard:
    """The graphs of a task; one by itself is kept for the next task that needs it."""
    if len(task.rows) > 1:
        return read_shard(task.snapshot, task.rows, task.device)
    return as_shard(resident_graph(task.snapshot, int(task.rows[0]), task.device))


def _figures(task: WidthTask) -> WidthResults:
    """Results of the kernel of one metric for each graph."""
    started = time.perf_counter()
    shard = _shard(task)
    read_s = time.perf_counter() - started
    metric = own_kernels()[task.kind]
    module, _, name = metric.kernel.partition(":")
    found = getattr(importlib.import_module(module), name)(shard)
    columns = {
        column.name: np.asarray(getattr(found, column.source or column.name), column.dtype)
        for column in metric.columns_in("ases")
    }
    of_nodes = [getattr(found, c.source or c.name) for c in metric.columns_in("nodes")]
    values = side_by_side(to_host(shard.node_ptr), of_nodes)
    figures = Figures(task.kind, np.asarray(task.rows, np.int64), columns, *values, read_s)
    return WidthResults(figures, {}, figures.n_searches, read_s)


def _asked(task: WidthTask) -> tuple[WidthMetric, ...]:
    """Questions of kinds ``widths`` and ``weighted``; kernels refuse unknown ones."""
    return cast(tuple[WidthMetric, ...], task.metrics)


def _weighted(task: WidthTask) -> WidthResults:
    """Graph after graph: sources are searched separately in each."""
    asked = _asked(task)
    pieces = [empty(Widths, metrics=asked, is_weighted=True)]
    failed: dict[int, str] = {}
    read_s = 0.0
    for row in task.rows.tolist():
        started = time.perf_counter()
        graph = snapshot_at(task.snapshot).graph(row, weights=True, n_threads=n_threads())
        reason = _fault(graph)
        if reason:
            failed[row] = reason
            continue
        there = graph.to(task.device)
        read_s += time.perf_counter() - started
        try:
            found: ShardWidths = weighted_widths(there, asked, task.max_searches)
        except GraphError as error:
            failed[row] = f"its weighted widths cannot be measured: {error}"
            continue
        node_ptr = np.array([0, graph.n_nodes], np.int64)
        rows = np.array([row], np.int64)
        piece = widths_of_shard(found, node_ptr, rows, asked, is_weighted=True)
        if task.verify:
            check_weighted_widths(graph, piece)
        pieces.append(piece)
    columns = replace(concat(pieces), read_s=read_s)
    return WidthResults(columns, failed, int(columns.n_searches.sum()), read_s)


def _fault(graph: CSRGraph) -> str:
    """Why a graph has no weighted widths; "" if it has."""
    if graph.weights is None:
        return NO_WEIGHTS
    n_missing = int(np.isnan(graph.weights).sum()) // 2
    if n_missing:
        return (
            "weighted metrics need a weight for each link; links without one: "
            f"{n_missing} of {graph.n_edges}"
        )
    return ""


def smaller_widths(task: WidthTask, fall_back: bool = False) -> list[WidthTask]:
    """Two tasks that need less memory than this one together; none if it is one graph.

    With ``fall_back`` one graph on a GPU goes to a core.
    """
    if len(task.rows) > 1:
        middle = len(task.rows) // 2
        return [replace(task, rows=task.rows[:middle]), replace(task, rows=task.rows[middle:])]
    if fall_back and task.device == "gpu":
        return [replace(task, device="cpu")]
    return []
