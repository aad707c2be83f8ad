"""Effective diameter: hops within which 90 % of all connected pairs of nodes lie.

Let g(h) be the share of ordered pairs (u, v), u and v distinct and joined by a path, that are at
most h hops apart; g(0) = 0. Between whole numbers g is interpolated linearly, and the effective
diameter is the least number D with g(D) = 0.9 (Leskovec, Kleinberg, Faloutsos: Graphs over time:
densification laws, shrinking diameters and possible explanations, KDD 2005). Pairs of all
components count, not only those of the largest. A node and itself are not a pair here. SNAP counts
such pairs, at 0 hops, so its figure is a little lower: where n nodes are connected, it is ours for
0.9 - 0.1 / (n - 1) in place of 0.9.

*Estimates.* From k of n nodes as sources, drawn without replacement, all n equally likely. With
C_i(h) the nodes at 1 to h hops of source i and N_i all that it reaches, the estimate solves
sum C_i(D) = 0.9 sum N_i: a ratio of means. Its standard error is that of the delta method. The
residuals z_i = C_i(D) - 0.9 N_i add up to 0, the sum grows by f = sum C_i(h) - sum C_i(h - 1) per
hop around D, so D varies as sum z_i / f does:

    error^2 = (1 - k / n) k / (k - 1) sum z_i^2 / f^2

Sources are put into at most N_GROUPS groups at random, as they are drawn, and z_i are the groups'
sums and k (except in k / n) the number of groups, so that no table of k rows is needed for long
graphs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from kernels.arguments import check_graph, whole_number
from kernels.csr import Shard, to_host
from kernels.distance_distribution.counts import count_pairs, counts_by_source
from kernels.errors import GraphError
from kernels.types import NODE

__all__ = ["MAX_EXACT", "N_SOURCES", "ShardEffectiveDiameters", "effective_diameters"]

MAX_EXACT = 200_000  # nodes: some 20 s of a core where searches are short, minutes where long
N_SOURCES = 1024
N_GROUPS = 128
WIDE = 256  # sources of an estimate at once


@dataclass(frozen=True, eq=False)
class ShardEffectiveDiameters:
    """Effective diameters of the graphs of a shard, one row per graph; on the host.

    Attributes
    ----------
    value : (n_graphs,) float64
        Hops; NaN: no two nodes are joined (of an estimate: no source reached any).
    is_estimated : (n_graphs,) bool
        Whether from some sources only.
    error : (n_graphs,) float64
        Standard error of an estimate, hops; 0 if all pairs were counted, NaN if the value is.
    n_searches : (n_graphs,) int64
        Sources searched: all nodes, or those of the estimate.
    """

    value: np.ndarray
    is_estimated: np.ndarray
    error: np.ndarray
    n_searches: np.ndarray


def effective_diameters(
    shard: Shard,
    percentile: float = 0.9,
    seed: int = 1,
    max_exact: int = MAX_EXACT,
    n_sources: int = N_SOURCES,
) -> ShardEffectiveDiameters:
    """Find the effective diameter of every graph of a shard.

    Parameters
    ----------
    shard : Shard
        Runs on ``shard.device``.
    percentile : float
        Share of the pairs, above 0 and at most 1. With 1 it is the diameter, of all components.
    seed : int
        Seed of the sources of estimates. The same for each graph, so that a result does not depend
        on the other graphs.
    max_exact : int
        Largest graph, in nodes, whose pairs are all counted.
    n_sources : int
        Sources of an estimate, 2 or more; a graph of no more nodes is never estimated.

    Returns
    -------
    ShardEffectiveDiameters
        Exact ones are the same to the bit on any device, whatever other graphs the shard has.

    Raises
    ------
    GraphError
        If ``percentile``, ``seed`` or ``n_sources`` is out of range, or not a number.
    DeviceError
        If the shard is on a GPU and kernels cannot be built or have no memory there.
    HostMemoryError
        If it is on the host and there is too little free, with the numbers.

    Notes
    -----
    Exact: O(n_nodes * n_arcs) of each graph at worst, in sweeps of 512 sources on cores, 149 bytes
    per node of the largest graph and thread. The smallest graphs cost little more than their arcs.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> effective_diameters(Shard(*path, np.array([0, 3]))).value
    array([1.7])
    """
    check_graph(shard, Shard)
    is_real = isinstance(percentile, Real) and not isinstance(percentile, bool)
    if not is_real or not 0 < percentile <= 1:
        raise GraphError(f"percentile {percentile!r} is not a share above 0 and at most 1")
    seed, max_exact = whole_number("seed", seed, 0), whole_number("max_exact", max_exact)
    n_sources = whole_number("n_sources", n_sources)
    if n_sources < 2:
        raise GraphError(f"{n_sources} sources give no error estimate; give at least 2")
    n_nodes = np.diff(to_host(shard.node_ptr))
    is_estimated = (n_nodes > max_exact) & (n_nodes > n_sources)
    found = count_pairs(shard, ~is_estimated)
    value = _percentiles(found.level_ptr, found.counts, percentile)
    error = np.where(np.isnan(value), np.nan, 0.0)
    for i in np.flatnonzero(is_estimated).tolist():
        rng = np.random.default_rng(seed)
        sources = rng.choice(int(n_nodes[i]), n_sources, replace=False).astype(NODE)
        groups = _groups_of(shard, i, sources)
        value[i], error[i] = _estimate(groups, percentile, n_sources / int(n_nodes[i]))
    return ShardEffectiveDiameters(
        value, is_estimated, error, np.where(is_estimated, n_sources, n_nodes)
    )


def _percentiles(level_ptr: np.ndarray, counts: np.ndarray, percentile: float) -> np.ndarray:
    """Percentile of every graph by itself, in whole numbers up to the interpolation."""
    n_levels = np.diff(level_ptr)
    value = np.full(len(n_levels), np.nan)
    joined = n_levels > 1  # graphs with an edge
    pairs = counts[np.repeat(joined, n_levels)]
    n_levels = n_levels[joined]
    if not len(n_levels):
        return value
    first = np.cumsum(n_levels) - n_levels
    pairs[first] = 0  # pairs of a node with itself
    within = np.cumsum(pairs)
    within -= np.repeat(within[first], n_levels)  # graphs before it
    wanted = percentile * within[first + n_levels - 1]
    # Levels with too few pairs: their number is the hop count, since there are no pairs at 0.
    hops = np.add.reduceat(within < np.repeat(wanted, n_levels), first, dtype=np.int64)
    at = first + hops
    value[joined] = hops - 1 + (wanted - within[at - 1]) / pairs[at]
    return value


def _groups_of(shard: Shard, i: int, sources: np.ndarray) -> np.ndarray:
    """(n_groups, n_levels) float64: nodes at each number of hops, added up by group of sources."""
    n_groups = min(N_GROUPS, len(sources))
    group = np.arange(len(sources)) * n_groups // len(sources)
    total, first = np.zeros((n_groups, 1)), 0
    for counts in counts_by_source(shard.graph(i), sources, WIDE):
        n_more = counts.shape[1] - total.shape[1]
        if n_more > 0:
            total = np.pad(total, ((0, 0), (0, n_more)))
        np.add.at(total[:, : counts.shape[1]], group[first : first + len(counts)], counts)
        first += len(counts)
    return total


def _estimate(groups: np.ndarray, percentile: float, share: float) -> tuple[float, float]:
    """Value and standard error, from counts by group of sources; ``share`` of nodes searched."""
    within = np.cumsum(groups[:, 1:], axis=1)
    total = within.sum(axis=0)
    if not len(total) or total[-1] == 0:
        return math.nan, math.nan
    at = int(np.searchsorted(total, percentile * total[-1]))  # within at + 1 hops, not within at
    before = within[:, at - 1] if at else np.zeros(len(groups))
    rise = within[:, at] - before
    part = (percentile * total[-1] - before.sum()) / rise.sum()
    residual = before + part * rise - percentile * within[:, -1]
    n = len(groups)
    variance = (1 - share) * n / (n - 1) * float(residual @ residual) / float(rise.sum()) ** 2
    return float(at + part), math.sqrt(variance)
