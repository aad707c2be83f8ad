"""Eccentricities proved exact because no unsearched node can be farther, on a GPU.

See ``reductions.references`` for the rule, its proof and its source. Counts are made on the device;
the host plans from them (some thousand numbers per reference).
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.memory import fits
from kernels.eccentricity.gpu.bounds import DeviceBounds, launch
from kernels.eccentricity.gpu.constants import MOST_HOPS, SEARCHED
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.eccentricity.reductions.references import N_REFERENCES, farthest_above, plan
from kernels.multi_source.gpu.sweeps import sweep_bytes
from kernels.types import NODE


class DeviceReferences:
    """References of a graph in one piece.

    Parameters
    ----------
    bounds : DeviceBounds
        Of one component; ``most`` is below MOST_HOPS.
    levels : (n_references, n_nodes) uint8
        Distances from each reference. On the device.

    Notes
    -----
    n_references bytes per node. ``close`` and ``choose`` are a pass over all nodes per reference.
    """

    def __init__(self, bounds: DeviceBounds, levels: Any):
        self.bounds, self.levels = bounds, levels
        self._chosen = (-1, -1, -1)  # as in ``plan``

    @staticmethod
    def fits(n_nodes: int, n_arcs: int) -> bool:
        """Whether there is memory for references besides a sweep, and for finding the hubs."""
        return fits((N_REFERENCES + 32) * n_nodes + sweep_bytes(n_nodes, n_arcs, 1, levels=True))

    def close(self, question: Question) -> None:
        """Lower upper bounds by the rule; extremes follow."""
        beyond, _ = self._counts(question)
        n_references, n_nodes = self.levels.shape
        above = cp.asarray(farthest_above(beyond))
        arrays = (self.levels, cp.int32(n_references), cp.int64(n_nodes), above)
        bounds = (self.bounds.lower, self.bounds.upper)
        launch("close", n_nodes, *arrays, cp.int32(above.shape[1]), *bounds)
        self.bounds.find_extremes()

    def choose(self, question: Question, n_most: int) -> Any:
        """Nodes to search, if there are any that are fewer than the nodes they make exact.

        Returns
        -------
        (n_sources,) int32
            Sorted; at most ``n_most``, the farthest from the reference. On the device.
        """
        z, t, j = self._chosen = plan(*self._counts(question))
        if z < 0:
            return cp.empty(0, NODE)
        level, upper = self.levels[z], self.bounds.upper
        is_far = (self.bounds.state != SEARCHED) & (upper > t) & (level > j)
        sources = cp.flatnonzero(is_far).astype(NODE)
        if sources.size > n_most:
            order = cp.argsort(-(level[sources].astype(np.int64) * 512 + upper[sources]))
            sources = cp.sort(sources[order[:n_most]])
        return sources

    def are_blocking(self, nodes: Any) -> Any:
        """Which of some nodes still block others as in ``choose``, (n,) bool."""
        z, t, j = self._chosen
        if z < 0:
            return cp.zeros(nodes.size, np.bool_)
        return (self.bounds.upper[nodes] > t) & (self.levels[z][nodes] > j)

    def _counts(self, question: Question) -> tuple[np.ndarray, np.ndarray]:
        """Nodes not searched and open nodes, as ``reductions.references.plan`` takes them."""
        n_references, n_nodes = self.levels.shape
        n_hops = int(self.bounds.most[0]) + 1
        if n_hops > MOST_HOPS:
            raise ValueError(f"{n_hops - 1} hops: reference nodes are for fewer than {MOST_HOPS}")
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
