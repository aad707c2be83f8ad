"""Eccentricities proved exact because no unsearched node can be farther away.

Let z be a reference: a node from which all distances are known. IFECC (Li, Qiao, Qin, Chang, Zhang,
Lin: On scalable computation of graph eccentricities, SIGMOD 2022) searches nodes from the farthest
of z inwards: once all nodes farther than j from z were searched, e(v) <= max(l(v), d(v, z) + j),
where l(v) is a lower bound that no distance to a searched node exceeds.

Here only nodes that can be farther from v than l(v) count, in whatever order they are searched.
Let U(t) be the nodes that were not searched and have an upper bound above t, and
J(z, t) = max d(z, u) over u in U(t), or -inf. Then, for every reference z,

    e(v) <= max(t, d(v, z) + J(z, t)),  t = l(v).

Proof: let u be farthest from v. If u was searched, e(v) = d(v, u) <= l(v). If not and e(v) > t,
then e(u) >= d(u, v) > t, so u is in U(t) and d(v, u) <= d(v, z) + d(z, u) <= d(v, z) + J(z, t).
Only searches that have come back count as searched, so it holds for any order and any failure.

Blocking nodes are searched if they are fewer than the nodes that this makes exact: all
of U(t) that are farther than j from z make exact every v with l(v) = t and d(v, z) <= t - j. Every
v takes the reference that is best for it, so nodes are not divided among references.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, OUT_I32
from kernels.types import NODE

N_REFERENCES = 16  # hubs; of 4, 8, 16 and 32 the fastest on hierarchies, and as good as any on BA
MANY_OPEN = 2048  # nodes; for fewer, references cost more than sweeps
FIRST_SEARCHES = 1024  # two sweeps
PASS_NS = 10  # per node and reference, of ``close`` and ``choose`` together
LONGEST = 255  # hops of graphs: tables by level and bound are small, levels are bytes

LEVELS = types.Array(types.uint8, 2, "C", readonly=True)
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
TABLE = types.Array(types.int32, 2, "C", readonly=True)
TABLES = types.Array(types.int32, 3, "C")


class ReferenceNodes:
    """References of a graph in one piece, and which nodes were searched.

    Parameters
    ----------
    levels : (n_references, n_nodes) uint8
        Distances from each reference; at most LONGEST.

    Notes
    -----
    n_references + 1 bytes per node. ``close`` and ``choose`` are one pass over all nodes per
    reference.
    """

    def __init__(self, levels: np.ndarray):
        self.levels = np.ascontiguousarray(levels, np.uint8)
        self._deepest = int(self.levels.max(initial=0))
        self._is_searched = np.zeros(levels.shape[1], bool)

    def note(self, sources: np.ndarray) -> None:
        """Note finished searches: ``lower`` is at least the distance to each of them."""
        self._is_searched[sources] = True

    def close(self, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Upper bounds of all nodes: those given, lowered by the rule above for ``nodes``."""
        lowered = upper.copy()
        beyond, _ = self._counts(lower, upper, nodes)
        lower_by(self.levels, farthest_above(beyond), lower, nodes, lowered)
        return lowered

    def choose(
        self, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray, n_most: int
    ) -> np.ndarray:
        """Nodes to search, if there are any that are fewer than the nodes they make exact.

        Parameters
        ----------
        lower, upper : (n_nodes,) int32
        nodes : (n_open,) int32
            Those whose bounds differ.
        n_most : int

        Returns
        -------
        (n_sources,) int32
            At most ``n_most``, the farthest from the reference first.
        """
        z, t, j = plan(*self._counts(lower, upper, nodes))
        if z < 0:
            return np.empty(0, NODE)
        level = self.levels[z]
        sources = np.flatnonzero(~self._is_searched & (upper > t) & (level > j)).astype(NODE)
        if len(sources) > n_most:
            order = np.argsort(-(level[sources].astype(np.int32) * 512 + upper[sources]))
            sources = sources[order[:n_most]]
        return sources

    def _counts(
        self, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nodes not searched and open nodes, as ``plan`` takes them."""
        n_hops = max(int(lower.max()), self._deepest) + 1
        beyond = np.zeros((len(self.levels), n_hops + 1, n_hops), np.int32)
        within = np.zeros((len(self.levels), n_hops, n_hops), np.int32)
        count(self.levels, self._is_searched, lower, upper, nodes, beyond, within)
        return beyond, within


def farthest_above(beyond: np.ndarray) -> np.ndarray:
    """Largest distance from each reference to an unsearched node that has a bound above t.

    Parameters
    ----------
    beyond : (n_references, n_hops + 1, n_hops) integers
        See ``plan``.

    Returns
    -------
    (n_references, n_hops) int32
        For each t; -1 where there is none.
    """
    farthest = np.where(beyond[:, 1:] > 0, np.arange(beyond.shape[2]), -1).max(axis=2)
    above = np.maximum.accumulate(farthest[:, ::-1], axis=1)[:, ::-1]
    return np.ascontiguousarray(above, np.int32)


def plan(beyond: np.ndarray, within: np.ndarray) -> tuple[int, int, int]:
    """The nodes beyond j of a reference z, with upper bounds above t, whose search pays most.

    It pays by the nodes that it makes exact, less those searched.

    Parameters
    ----------
    beyond : (n_references, n_hops + 1, n_hops) integers
        Nodes that were not searched, by upper bound, the last for all larger ones, and by level.
    within : (n_references, n_hops, n_hops) integers
        Nodes whose bounds differ, by lower bound and level.

    Returns
    -------
    int, int, int
        z, t, j; -1 where nothing pays.
    """
    n_references, _, n_hops = beyond.shape
    far = beyond[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
    cost = np.zeros((n_references, n_hops, n_hops), np.int64)  # [z, t, j]
    cost[:, :, :-1] = far[:, 1:, 1:]
    t, j = np.arange(n_hops)[:, None], np.arange(n_hops)[None, :]
    gain = within.cumsum(axis=2)[:, t, np.maximum(t - j, 0)] - cost
    gain[(cost <= 0) | (j > t)] = 0
    best = int(np.argmax(gain))
    if gain.flat[best] <= 0:
        return -1, -1, -1
    z, at, beyond_j = np.unravel_index(best, gain.shape)
    return int(z), int(at), int(beyond_j)


def pass_ns(n_nodes: int, n_open: int) -> float:
    """Cost of one search for blocking nodes."""
    return PASS_NS * N_REFERENCES * (n_nodes + n_open)


@njit([types.void(LEVELS, TABLE, I32, I32, OUT_I32)], cache=True, nogil=True)
def lower_by(levels, above, lower, nodes, lowered):
    """Lower the upper bounds of ``nodes`` by every reference; ``above``: ``farthest_above``."""
    for z in range(levels.shape[0]):
        level = levels[z]
        for v in nodes:
            t = np.int64(lower[v])
            far = np.int64(above[z, t])
            if far >= 0:
                t = max(t, np.int64(level[v]) + far)
            if t < lowered[v]:
                lowered[v] = t


@njit([types.void(LEVELS, FLAGS, I32, I32, I32, *[TABLES] * 2)], cache=True, nogil=True)
def count(levels, is_searched, lower, upper, nodes, beyond, within):
    """Fill the tables of ``plan``, zero on entry."""
    last = beyond.shape[1] - 1
    for z in range(levels.shape[0]):
        level, far, near = levels[z], beyond[z], within[z]
        for u in range(upper.size):
            if not is_searched[u]:
                far[min(np.int64(upper[u]), last), level[u]] += 1
        for v in nodes:
            near[lower[v], level[v]] += 1
