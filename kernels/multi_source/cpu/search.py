"""Searches from many sources on the cores of the host: method, threads, memory.

A sweep carries up to 128 sources (``sweep``); single searches (``breadth_first.cpu``) take
one source each. A graph is swept unless its sources are few or the sweep finds it long; then its
sources are searched one by one. Large graphs are searched one after another, all threads at
work on each: on ranges of nodes of a sweep, or on sources. Small graphs of a shard go to threads in
runs of neighbours, and each run is one compiled call.
"""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np

from kernels._cpu.threads import Team, n_threads
from kernels.breadth_first import search_scratch
from kernels.multi_source.cpu import graphs as cpu_graphs
from kernels.multi_source.cpu.costs import is_stretched
from kernels.multi_source.cpu.single import search_singly
from kernels.multi_source.cpu.sizes import LANES
from kernels.multi_source.cpu.state import sweep_scratch
from kernels.multi_source.cpu.sweeps import LARGE, Found, Raw, Sweeps

MAX_SINGLE = cpu_graphs.MAX_SINGLE
RUNS_EACH = 8  # runs of small graphs per thread: they end together though costs are estimates

Way = Literal["auto", "sweep", "single"]


def search_graph(
    indptr: np.ndarray,
    indices: np.ndarray,
    sources: np.ndarray,
    levels: bool,
    way: Way = "auto",
) -> tuple[Raw, np.ndarray | None]:
    """Searches of one graph, and levels (n_sources, n_nodes) if requested.

    ``way`` forces one of the two, for benchmarks and tests.
    """
    found = Found(len(sources))
    n_nodes = len(indptr) - 1
    if not len(sources):
        return found.raw(), np.empty((0, n_nodes), np.uint8) if levels else None
    with Team(n_threads()) as team:
        level = _search(indptr, indices, 0, n_nodes, sources, levels, way, team, found, 0)
    return found.raw(), level


def search_shard(
    indptr: np.ndarray,
    indices: np.ndarray,
    node_ptr: np.ndarray,
    source_ptr: np.ndarray,
    sources: np.ndarray,
) -> Raw:
    """Searches of every graph of a shard from its own sources (local ids)."""
    found = Found(len(sources))
    n_sources, n_nodes = np.diff(source_ptr), np.diff(node_ptr)
    sizes = n_nodes + np.diff(indptr[node_ptr])
    with Team(n_threads()) as team:
        is_large = (sizes >= LARGE) & (n_sources > 0) & (team.size > 1)
        for graph in np.flatnonzero(is_large).tolist():
            first, last = int(source_ptr[graph]), int(source_ptr[graph + 1])
            base, count = int(node_ptr[graph]), int(n_nodes[graph])
            own = sources[first:last]
            _search(indptr, indices, base, count, own, False, "auto", team, found, first)

        def run(graphs: tuple[int, int]) -> None:
            first, last = graphs
            most = int(n_nodes[first:last].max())
            scratch = (*sweep_scratch(most, 1), *search_scratch(most))
            found.hop_counts[int(source_ptr[first])] = cpu_graphs.search_graphs(
                indptr,
                indices,
                node_ptr,
                source_ptr,
                sources,
                first,
                last,
                *scratch,
                found.eccentricity,
                found.n_reached,
                found.farthest,
            )

        cost = np.where(is_large, 0, sizes * np.ceil(n_sources / LANES) + 100 * n_sources)
        team.run(run, _runs_of(cost, is_large | (n_sources == 0), RUNS_EACH * team.size))
    return found.raw()


def _runs_of(cost: np.ndarray, left_out: np.ndarray, n_runs: int) -> list[tuple[int, int]]:
    """Runs of graphs (first, one past the last) of similar cost, without those left out."""
    if not len(cost):
        return []
    ends = np.cumsum(cost)
    run = np.minimum(ends * n_runs // max(1.0, float(ends[-1])), n_runs - 1)
    changes = np.flatnonzero((np.diff(run) > 0) | (np.diff(left_out) != 0)) + 1
    borders = [0, *changes.tolist(), len(cost)]
    return [(a, b) for a, b in itertools.pairwise(borders) if not left_out[a]]


def _search(
    indptr: np.ndarray,
    indices: np.ndarray,
    base: int,
    n_nodes: int,
    sources: np.ndarray,
    levels: bool,
    way: Way,
    team: Team,
    found: Found,
    row: int,
) -> np.ndarray | None:
    """Fill rows from ``row`` on with the searches of one graph by all threads; levels or None."""
    is_many = way == "auto" and len(sources) > MAX_SINGLE
    if way == "sweep" or (is_many and not is_stretched(indptr, indices, base, n_nodes, sources)):
        sweeps = Sweeps(indptr, indices, base, n_nodes, sources, levels, team, way == "auto")
        if sweeps.run(found, row):
            return sweeps.levels_of_all()
        del sweeps  # its memory, before the searches take theirs
    return search_singly(indptr, indices, base, n_nodes, sources, levels, team, found, row)
