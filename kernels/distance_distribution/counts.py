"""Pairs of nodes by the hops between them, of every graph of a shard.

On cores by sweeps that keep nothing but these counts (``cpu``); on a GPU by ``msbfs`` and
``msbfs_shard``, some lanes of every graph at a time, so that counts by source never pile up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernels._cpu.memory import check_fits
from kernels._cpu.threads import Team, n_threads
from kernels.arguments import check_graph, row
from kernels.csr import CSRGraph, Shard, to_host
from kernels.errors import GraphError
from kernels.multi_source import ShardResult, msbfs, msbfs_shard
from kernels.types import NODE, OFFSET

ITEMS_EACH = 16  # runs of sweeps per thread: they end together though costs are estimates
LARGE = 1 << 13  # nodes from which a graph has a GPU to itself: its own sweeps fill it
WINDOW = 128  # sources of a small graph at once: the width of a sweep of a shard
WIDE = 2048  # sources of a large graph at once, while its levels are few
COUNTS = 1 << 24  # hop counts that are in memory at once, of a graph of many levels


@dataclass(frozen=True, eq=False)
class PairCounts:
    """counts[level_ptr[i] + h]: pairs (source, node) at h hops in graph i, over all its nodes.

    ``level_ptr`` (n_graphs + 1,) and ``counts`` (level_ptr[-1],) are int64, on the host. A node is
    a pair with itself, at 0 hops; two nodes are two pairs. A graph without nodes has no levels.
    """

    level_ptr: np.ndarray
    counts: np.ndarray


def count_pairs(shard: Shard, chosen: np.ndarray) -> PairCounts:
    """Pairs of the chosen graphs, (n_graphs,) bool; the others have no levels.

    O(n_nodes * n_arcs) of each graph at worst, for 512 sources at a time on cores. GraphError
    unless ``chosen`` says True or False of each graph.
    """
    check_graph(shard, Shard)
    chosen = row("chosen", to_host(chosen))
    if chosen.shape != (shard.n_graphs,) or (chosen.dtype != np.bool_ and chosen.size):
        what = f"shape {chosen.shape} and dtype {chosen.dtype}"
        raise GraphError(f"chosen has {what}; it must be ({shard.n_graphs},) of True and False")
    found = _Merged(shard.n_graphs)
    chosen = chosen.astype(bool) & (np.diff(to_host(shard.node_ptr)) > 0)
    if shard.device == "cpu":
        _sweep(shard, np.flatnonzero(chosen), found)
    else:
        _search(shard, chosen, found)
    return found.counts()


class _Merged:
    """Counts of graphs that arrive in parts, for some sources each."""

    def __init__(self, n_graphs: int):
        self._n_graphs = n_graphs
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, graphs: np.ndarray, n_levels: np.ndarray, counts: np.ndarray) -> None:
        """Add counts of the first levels of some graphs (none twice), end to end. By any thread."""
        self._parts.append((graphs, n_levels, counts))

    def counts(self) -> PairCounts:
        most = np.zeros(self._n_graphs, np.int64)
        for graphs, n_levels, _ in self._parts:
            most[graphs] = np.maximum(most[graphs], n_levels)
        level_ptr = np.zeros(self._n_graphs + 1, np.int64)
        np.cumsum(most, out=level_ptr[1:])
        total = np.zeros(level_ptr[-1], np.int64)
        for graphs, n_levels, counts in self._parts:
            begin = np.cumsum(n_levels) - n_levels
            total[np.arange(len(counts)) + np.repeat(level_ptr[graphs] - begin, n_levels)] += counts
        return PairCounts(level_ptr, total)


def _sweep(shard: Shard, graphs: np.ndarray, found: _Merged) -> None:
    """Sweeps on cores, given to threads in runs of similar cost."""
    from kernels._cpu import near_steps
    from kernels.distance_distribution import cpu as pair_sweep

    if not len(graphs):
        return
    n_nodes = np.diff(shard.node_ptr)[graphs]
    n_arcs = np.diff(shard.indptr[shard.node_ptr])[graphs]
    group_ptr = np.zeros(len(graphs) + 1, np.int64)
    np.cumsum(-(-n_nodes // near_steps.LANES), out=group_ptr[1:])
    arrays = (shard.indptr, shard.indices, shard.node_ptr, graphs)
    with Team(n_threads()) as team:
        what = f"a count of the pairs of a graph of {n_nodes.max()} nodes by {team.size} threads"
        check_fits(team.size * int(n_nodes.max()) * pair_sweep.NODE_BYTES, what)
        order = np.empty(shard.n_nodes, NODE)
        near_steps.place_sources(*arrays, order)

        def run(groups: tuple[int, int]) -> None:
            first = int(np.searchsorted(group_ptr, groups[0], side="right")) - 1
            last = int(np.searchsorted(group_ptr, groups[1]))
            n_levels = np.zeros(len(graphs), np.int64)
            most = int(n_nodes[first:last].max())
            scratch = (near_steps.rows_of(most), np.empty(most, np.int64))
            counts = pair_sweep.count_pairs(*arrays, group_ptr, *groups, order, *scratch, n_levels)
            found.add(graphs[first:last], n_levels[first:last], counts)

        costs = np.repeat(n_nodes + n_arcs, np.diff(group_ptr))
        team.run(run, runs_of(costs, ITEMS_EACH * team.size))


def runs_of(costs: np.ndarray, n_runs: int) -> list[tuple[int, int]]:
    """At most ``n_runs`` runs (first, one past the last) of similar cost."""
    ends = np.cumsum(costs)
    borders = np.searchsorted(ends, ends[-1] * np.arange(1, n_runs) // n_runs)
    borders = np.unique([0, *borders.tolist(), len(costs)]).tolist()
    return list(itertools.pairwise(borders))


def _search(shard: Shard, chosen: np.ndarray, found: _Merged) -> None:
    """Searches on the shard's device: large graphs one by one, all others together."""
    n_nodes = np.diff(to_host(shard.node_ptr))
    is_alone = chosen & ((n_nodes >= LARGE) | (shard.n_graphs == 1))
    for i in np.flatnonzero(is_alone).tolist():
        for counts in counts_by_source(shard.graph(i), np.arange(n_nodes[i], dtype=NODE), WIDE):
            total = counts.sum(axis=0)
            found.add(np.array([i]), np.array([len(total)]), total)
    _search_together(shard, np.flatnonzero(chosen & ~is_alone), found)


def _search_together(shard: Shard, graphs: np.ndarray, found: _Merged) -> None:
    """Sources of all of some graphs, WINDOW of each at a time."""
    for names, n_sources, _, by_source in searched_together(shard, graphs):
        _add_sources(by_source.hop_ptr, by_source.hop_counts, names, n_sources, found)


def searched_together(
    shard: Shard, graphs: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, int, ShardResult]]:
    """Search from sources first .. first + WINDOW - 1 of every graph at a time, lane by lane.

    Yields which graphs are searched, (n,), how many sources of each, (n,), the first of them, a
    node of its graph, and what ``msbfs_shard`` says of them.
    """
    parts, names, first = shard, np.arange(shard.n_graphs), 0
    left = graphs
    while len(left):
        n_nodes = np.diff(to_host(parts.node_ptr))
        if 2 * int(n_nodes[np.searchsorted(names, left)].sum()) < parts.n_nodes:
            parts, names = chosen_graphs(parts, np.searchsorted(names, left)), left
            n_nodes = np.diff(to_host(parts.node_ptr))
        n_sources = np.where(np.isin(names, left), np.clip(n_nodes - first, 0, WINDOW), 0)
        source_ptr = np.zeros(len(names) + 1, np.int64)
        np.cumsum(n_sources, out=source_ptr[1:])
        sources = np.arange(source_ptr[-1]) + np.repeat(first - source_ptr[:-1], n_sources)
        yield names, n_sources, first, msbfs_shard(parts, sources, source_ptr)
        first += WINDOW
        left = names[(n_nodes > first) & (n_sources > 0)]


def _add_sources(
    hop_ptr: np.ndarray,
    hop_counts: np.ndarray,
    names: np.ndarray,
    n_sources: np.ndarray,
    found: _Merged,
) -> None:
    """Add up the rows of each graph's sources, which lie graph after graph."""
    n_levels = np.diff(hop_ptr)
    row = np.repeat(np.arange(len(names)), n_sources)
    most = np.zeros(len(names), np.int64)
    np.maximum.at(most, row, n_levels)
    begin = np.cumsum(most) - most
    place = np.arange(len(hop_counts)) + np.repeat(begin[row] - hop_ptr[:-1], n_levels)
    counts = np.zeros(most.sum(), np.int64)
    np.add.at(counts, place, hop_counts)
    has = most > 0
    found.add(names[has], most[has], counts)


def counts_by_source(graph: CSRGraph, sources: np.ndarray, wide: int) -> Iterator[np.ndarray]:
    """``hop_counts`` of ``msbfs`` in blocks of rows, at most ``wide``, fewer on long graphs."""
    first, step = 0, min(64, wide)
    while first < len(sources):
        counts = msbfs(graph, sources[first : first + step]).hop_counts
        yield counts
        first += len(counts)
        step = max(16, min(wide, COUNTS // counts.shape[1]))


def chosen_graphs(shard: Shard, graphs: np.ndarray) -> Shard:
    """The shard of some of its graphs, ascending; on the same device."""
    node_ptr = to_host(shard.node_ptr)
    indptr, indices = to_host(shard.indptr), to_host(shard.indices)
    n_nodes = np.diff(node_ptr)[graphs]
    new_ptr = np.zeros(len(graphs) + 1, OFFSET)
    np.cumsum(n_nodes, out=new_ptr[1:])
    moved = np.repeat(node_ptr[graphs] - new_ptr[:-1], n_nodes)
    nodes = np.arange(new_ptr[-1]) + moved
    degree = indptr[nodes + 1] - indptr[nodes]
    new_indptr = np.zeros(len(nodes) + 1, OFFSET)
    np.cumsum(degree, out=new_indptr[1:])
    arcs = np.arange(new_indptr[-1]) + np.repeat(indptr[nodes] - new_indptr[:-1], degree)
    new_indices = (indices[arcs] - np.repeat(moved, degree)).astype(NODE)
    return Shard(new_indptr, new_indices, new_ptr, trusted=True).to(shard.device)
