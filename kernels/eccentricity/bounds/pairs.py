"""Pairs of nodes that may be farther apart than the largest lower bound of their component."""

from __future__ import annotations

import numpy as np

from kernels.eccentricity.bounds import steps
from kernels.types import NODE


class RemainingPairs:
    """The pairs that are left of some components, all others being known to be near.

    Attributes
    ----------
    nodes : (2, n_pairs) int32
    apart : (n_pairs,) int32
        Upper bounds of their distances, hops.
    """

    def __init__(self) -> None:
        self.nodes, self.apart = np.empty((2, 0), NODE), np.empty(0, np.int32)

    def replace(
        self, component: np.ndarray, number: int, nodes: np.ndarray, apart: np.ndarray
    ) -> None:
        """Set the pairs of one component; ``component`` gives that of each node."""
        kept = component[self.nodes[0]] != number
        self.nodes = np.concatenate([self.nodes[:, kept], nodes], axis=1).astype(NODE)
        self.apart = np.concatenate([self.apart[kept], apart]).astype(np.int32)

    def drop_near(
        self, component: np.ndarray, upper: np.ndarray, most: np.ndarray, level: np.ndarray | None
    ) -> None:
        """Drop pairs that bounds, or the balls around centres, show to be near by now.

        Parameters
        ----------
        component, upper : (n_nodes,) int32
            Component of each node, and upper bound of its eccentricity.
        most : (n_components,) int32
            Largest lower bound of each.
        level : (n_nodes,) int32 or None
            From the centre of each component; None: there are no centres.
        """
        longest = most[component[self.nodes[0]]]
        left = self.apart > longest
        if level is not None:
            left &= (2 * level[self.nodes].astype(np.int64) > longest).any(axis=0)
        left &= (upper[self.nodes] > longest).all(axis=0)
        self.nodes, self.apart = self.nodes[:, left], self.apart[left]

    def cover(self, state: np.ndarray, n_most: int) -> np.ndarray:
        """Free nodes of the pairs: the one in most pairs first, then in most of the rest.

        Pairs with a node in flight wait for it. ``state``: (n_nodes,) uint8, as in ``steps``.
        """
        flying = state[self.nodes] == steps.IN_FLIGHT
        ends, pairs = np.unique(self.nodes[:, ~flying.any(axis=0)], return_inverse=True)
        pairs = pairs.reshape(2, -1).astype(np.int32)
        chosen = np.empty(min(len(ends), n_most), np.int32)
        n = steps.cover(pairs[0], pairs[1], np.zeros(len(ends), np.int64), chosen)
        return ends[chosen[:n]]
