"""Which eccentricities are exact because no node that was not searched can be farther away.

Let z be a reference: a node from which all distances are known. IFECC (Li, Qiao, Qin, Chang, Zhang,
Lin: On scalable computation of graph eccentricities, SIGMOD 2022) searches nodes from the farthest
of z inwards: once all nodes farther than j from z were searched, e(v) <= max(l(v), d(v, z) + j),
where l(v) is a lower bound that no distance to a searched node exceeds.

Here only nodes count that can be farther from v than l(v), whatever order they are searched in.
Let U(t) be the nodes that were not searched and have an upper bound above t, and
J(z, t) = max d(z, u) over u in U(t), or -inf. Then, for every reference z,

    e(v) <= max(t, d(v, z) + J(z, t)),  t = l(v).

Proof: let u be farthest from v. If u was searched, e(v) = d(v, u) <= l(v). If not and e(v) > t,
then e(u) >= d(u, v) > t, so u is in U(t) and d(v, u) <= d(v, z) + d(z, u) <= d(v, z) + J(z, t).
Only searches that have come back count as searched, so it holds for any order and any failure.

Nodes that stand in the way are searched where they are fewer than the nodes this makes exact: all
of U(t) that are farther than j from z make exact every v with l(v) = t and d(v, z) <= t - j. Every
v takes the reference that is best for it, so it is the territory of no single one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit, types

from kernels.signatures import I32, OUT_I32, OUT_I64
from kernels.types import NODE

if TYPE_CHECKING:
    from kernels.eccentricity.driver import Answering

N_REFERENCES = 16  # hubs; of 4, 8, 16 and 32 the fastest on hierarchies, and as good as any on BA
MANY_OPEN = 2048  # nodes; for fewer, references cost more than sweeps
QUESTIONS = ("center", "periphery", "eccentricities")  # of many nodes
FIRST_SEARCHES = 1024  # two sweeps
LONGEST = 255  # hops of graphs: tables by level and bound are small, levels are bytes

LEVELS = types.Array(types.uint8, 2, "C", readonly=True)
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)


class Territories:
    """References of a graph in one piece, and which nodes were searched.

    Parameters
    ----------
    levels : (n_references, n_nodes) uint8
        Distances from each reference; at most LONGEST.

    Notes
    -----
    n_references + 1 bytes a node. ``close`` and ``choose`` are a pass over all nodes a reference.
    """

    def __init__(self, levels: np.ndarray):
        self.levels = np.ascontiguousarray(levels, np.uint8)
        self._deepest = int(self.levels.max(initial=0))
        self._is_searched = np.zeros(levels.shape[1], bool)

    def note(self, sources: np.ndarray) -> None:
        """Say that searches came back: ``lower`` is at least the distance to each of them."""
        self._is_searched[sources] = True

    def close(self, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Upper bounds of all nodes: those given, lowered by the rule above for ``nodes``."""
        lowered = upper.copy()
        lower_by(self.levels, self._is_searched, lower, upper, nodes, lowered)
        return lowered

    def choose(
        self, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray, n_most: int
    ) -> np.ndarray:
        """Nodes to search that make more others exact than they are; none if there are none.

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
        best = np.zeros(4, np.int64)
        bounds = (lower, upper, nodes, int(upper.max()), self._deepest)
        plan(self.levels, self._is_searched, *bounds, best)
        gain, z, t, j = best.tolist()
        if gain <= 0:
            return np.empty(0, NODE)
        level = self.levels[z]
        sources = np.flatnonzero(~self._is_searched & (upper > t) & (level > j)).astype(NODE)
        if len(sources) > n_most:
            order = np.argsort(-(level[sources].astype(np.int32) * 512 + upper[sources]))
            sources = sources[order[:n_most]]
        return sources


def in_the_way(answering: Answering, n_most: int) -> np.ndarray:
    """Close what can be closed; nodes that are worth a search because they are in the way.

    Only for QUESTIONS about a graph in one piece, without a limit, and once sweeps have made lower
    bounds tight.

    Returns
    -------
    (n_sources,) int32
        At most ``n_most``; perhaps none.
    """
    bounds, none = answering.bounds, np.empty(0, NODE)
    if answering.territories is None:
        if not _is_worth(answering):
            return none
        answering.territories = _territories(answering)
    if answering.territories is None:
        return none
    lowered = answering.territories.close(bounds.lower, bounds.upper, bounds.open_nodes())
    bounds.update(none, np.zeros_like(lowered), lowered)
    if bounds.done:
        return none
    return answering.territories.choose(bounds.lower, bounds.upper, bounds.open_nodes(), n_most)


def _is_worth(answering: Answering) -> bool:
    bounds = answering.bounds
    is_limited = answering.max_searches is not None or answering.max_each is not None
    if is_limited or not answering.strategy.territories or len(bounds.size) > 1:
        return False
    is_asked = bounds.question in QUESTIONS and bounds.n_searches >= FIRST_SEARCHES
    return is_asked and len(bounds.open_nodes()) > MANY_OPEN and bounds.most[0] <= LONGEST // 2


def _territories(answering: Answering) -> Territories | None:
    """Search the references; None if one of them is too far from others."""
    degree = answering.bounds.degree
    hubs = np.argpartition(-degree, N_REFERENCES - 1)[:N_REFERENCES].astype(NODE)
    levels = np.empty((N_REFERENCES, len(degree)), np.uint8)
    for i in range(N_REFERENCES):
        found = answering.searches.search(hubs[i : i + 1])
        answering.finish(found)
        if found.eccentricity[0] > LONGEST:
            return None
        levels[i] = found.upper - found.eccentricity[0]
    territories = Territories(levels)
    territories.note(np.concatenate(answering.sources))
    return territories


@njit([types.void(LEVELS, FLAGS, I32, I32, I32, OUT_I32)], cache=True, nogil=True)
def lower_by(levels, is_searched, lower, upper, nodes, lowered):
    """Lower the upper bounds of ``nodes`` by every reference."""
    highest = np.int64(0)
    for u in range(upper.size):
        if not is_searched[u]:
            highest = max(highest, np.int64(upper[u]))
    farthest = np.empty(highest + 2, np.int64)
    for z in range(levels.shape[0]):
        level = levels[z]
        farthest[:] = -1
        for u in range(upper.size):
            if not is_searched[u] and level[u] > farthest[upper[u]]:
                farthest[upper[u]] = level[u]
        for b in range(highest - 1, -1, -1):
            farthest[b] = max(farthest[b], farthest[b + 1])
        for v in nodes:
            t = np.int64(lower[v])
            above = farthest[min(t, highest) + 1]
            if above >= 0:
                t = max(t, np.int64(level[v]) + above)
            if t < lowered[v]:
                lowered[v] = t


@njit(
    [types.void(LEVELS, FLAGS, I32, I32, I32, *[types.int64] * 2, OUT_I64)], cache=True, nogil=True
)
def plan(levels, is_searched, lower, upper, nodes, highest, deepest, best):
    """The set U(t) beyond j of z that pays most: nodes made exact less those searched; z, t, j.

    ``highest``, ``deepest``: no upper bound and no level is larger.
    """
    for z in range(levels.shape[0]):
        level = levels[z]
        beyond = np.zeros((highest + 3, deepest + 2), np.int64)  # by upper bound and level
        within = np.zeros((highest + 1, deepest + 1), np.int64)  # open ones, by lower bound
        for u in range(upper.size):
            if not is_searched[u]:
                beyond[upper[u], level[u]] += 1
        for b in range(highest, -1, -1):
            for d in range(deepest, -1, -1):
                beyond[b, d] += beyond[b + 1, d] + beyond[b, d + 1] - beyond[b + 1, d + 1]
        for v in nodes:
            within[lower[v], level[v]] += 1
        for b in range(highest + 1):
            for d in range(1, deepest + 1):
                within[b, d] += within[b, d - 1]
            for j in range(min(b, deepest) + 1):
                cost = beyond[b + 1, j + 1]
                gain = within[b, min(b - j, deepest)] - cost
                if cost > 0 and gain > best[0]:
                    best[0], best[1], best[2], best[3] = gain, z, b, j
