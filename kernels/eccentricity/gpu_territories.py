"""Which eccentricities are exact because nothing that was not searched is farther, on a GPU.

The rule, its proof and what it comes from are in ``territories``. Counts are made on the device; of
them, some thousand numbers a reference, the host plans.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.memory import fits
from kernels.eccentricity.bounds import QUESTIONS, Question
from kernels.eccentricity.gpu_bounds import DeviceBounds, launch
from kernels.eccentricity.territories import N_REFERENCES
from kernels.types import NODE

MOST_HOPS = 64  # of graphs, as in the .cuh file
SEARCHED = 1  # state of nodes that gave bounds to all others


class DeviceTerritories:
    """References of a graph in one piece.

    Parameters
    ----------
    bounds : DeviceBounds
        Of one component; ``most`` is below MOST_HOPS.
    levels : (n_references, n_nodes) uint8
        Distances from each reference. On the device.

    Notes
    -----
    n_references bytes a node. ``close`` and ``choose`` are a pass over all nodes a reference.
    """

    def __init__(self, bounds: DeviceBounds, levels: Any):
        self.bounds, self.levels = bounds, levels

    @staticmethod
    def fits(n_nodes: int) -> bool:
        """Whether there is memory for the references of so many nodes."""
        return fits((N_REFERENCES + 8) * n_nodes)

    def close(self, question: Question) -> None:
        """Lower upper bounds by the rule; extremes follow."""
        beyond, _ = self._counts(question)
        n_references, n_nodes = self.levels.shape
        n_hops = beyond.shape[2]
        hops = np.arange(n_hops)
        above = np.where(beyond[:, 1:] > 0, hops, -1).max(axis=2)  # of upper bounds above t
        above = np.maximum.accumulate(above[:, ::-1], axis=1)[:, ::-1]
        arrays = (cp.int32(n_references), cp.int64(n_nodes), cp.asarray(above.astype(np.int32)))
        bounds = (self.bounds.lower, self.bounds.upper)
        launch("close", n_nodes, self.levels, *arrays, cp.int32(n_hops), *bounds)
        self.bounds.find_extremes()

    def choose(self, question: Question, n_most: int) -> Any:
        """Nodes to search that make more others exact than they are; none if there are none.

        Returns
        -------
        (n_sources,) int32
            Sorted; at most ``n_most``, the farthest from the reference. On the device.
        """
        beyond, within = self._counts(question)
        z, t, j = plan(beyond, within)
        if z < 0:
            return cp.empty(0, NODE)
        level, upper = self.levels[z], self.bounds.upper
        is_far = (self.bounds.state != SEARCHED) & (upper > t) & (level > j)
        sources = cp.flatnonzero(is_far).astype(NODE)
        if sources.size > n_most:
            order = cp.argsort(-(level[sources].astype(np.int64) * 512 + upper[sources]))
            sources = cp.sort(sources[order[:n_most]])
        return sources

    def _counts(self, question: Question) -> tuple[np.ndarray, np.ndarray]:
        """Nodes not searched by upper bound and level, open ones by lower bound and level."""
        n_references, n_nodes = self.levels.shape
        n_hops = int(self.bounds.most[0]) + 1
        beyond = cp.zeros((n_references, n_hops + 1, n_hops), np.int32)
        within = cp.zeros((n_references, n_hops, n_hops), np.int32)
        bounds = self.bounds
        launch(
            "territories",
            n_nodes,
            cp.int32(QUESTIONS.index(question)),
            self.levels,
            cp.int32(n_references),
            cp.int64(n_nodes),
            bounds.lower,
            bounds.upper,
            bounds.most,
            bounds.least,
            bounds.state,
            cp.int32(n_hops),
            beyond,
            within,
        )
        return beyond.get(), within.get()


def plan(beyond: np.ndarray, within: np.ndarray) -> tuple[int, int, int]:
    """The set of nodes beyond j of z, with upper bounds above t, that pays most.

    Parameters
    ----------
    beyond : (n_references, n_hops + 1, n_hops) integers
        Nodes that were not searched, by upper bound and level.
    within : (n_references, n_hops, n_hops) integers
        Open ones by lower bound and level.

    Returns
    -------
    int, int, int
        z, t, j; -1 where none makes more nodes exact than it has.
    """
    n_references, _, n_hops = beyond.shape
    far = beyond[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
    cost = np.zeros((n_references, n_hops, n_hops), np.int64)  # [z, t, j]
    cost[:, :, :-1] = far[:, 1:, 1:]
    near = within.cumsum(axis=2)
    t, j = np.arange(n_hops)[:, None], np.arange(n_hops)[None, :]
    gain = near[:, t, np.maximum(t - j, 0)] - cost
    gain[(cost <= 0) | (j > t)] = 0
    best = int(np.argmax(gain))
    if gain.flat[best] <= 0:
        return -1, -1, -1
    z, at, beyond_j = np.unravel_index(best, gain.shape)
    return int(z), int(at), int(beyond_j)
