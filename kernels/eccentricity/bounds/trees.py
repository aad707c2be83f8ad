"""Trees: two searches from the ends of a longest path give every eccentricity.

In a tree with weights of at least 0 all longest paths share their middle (Jordan: Sur les
assemblages de lignes, J. reine angew. Math. 70, 1869), and a node that is farthest from any other
is an end of one (Handler: Minimax location of a facility in an undirected tree graph,
Transportation Science 7, 1973). Let a be such an end and b a node farthest from a. Then no node is
farther from v than one of these two:

    e(v) = max(d(a, v), d(b, v))

so after searches from both, lower bounds are eccentricities. The first search leads to a, that of a
to b. A search from b that finds e(b) = d(a, b) proves that a is an end, whichever node it is: so
three searches are enough, and two if the first was from an end by chance.

A connected graph of n nodes is a tree if it has n - 1 links, each of two arcs. A loop or a parallel
link would be one more, and the tree be treated like other graphs.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import F64, I32, OUT_F64, OUT_I32, U8, U16
from kernels.types import NODE


class TreeEnds:
    """Leads searches to both ends of a longest path, in every component that is a tree.

    Parameters
    ----------
    component, degree : (n_nodes,) int32
    size : (n_components,) integers

    Attributes
    ----------
    is_left : (n_components,) bool
        Trees of more than two nodes whose ends have not both been searched.
    """

    def __init__(self, component: np.ndarray, degree: np.ndarray, size: np.ndarray):
        if len(size) == 1:
            n_arcs = np.array([degree.sum(dtype=np.int64)])
        else:
            n_arcs = np.bincount(component, degree, len(size)).astype(np.int64)
        self.is_left = (size > 2) & (n_arcs == 2 * (size.astype(np.int64) - 1))
        self._component = component
        self._next = np.full(len(size), -1, NODE)  # farthest from the node of ``_reach``
        self._reach = np.full(len(size), -1.0)  # largest eccentricity of a searched node

    def lead(self, sources: np.ndarray, state: np.ndarray | None = None) -> np.ndarray:
        """What to search instead of the sources to get to the ends.

        Parameters
        ----------
        sources : (n_sources,) int32
            At most one of each component.
        state : (n_nodes,) uint8 or None
            Only nodes where it is 0 are free.

        Returns
        -------
        (n_sources,) int32
            Nodes of the same components.
        """
        own = self._component[sources]
        ends = self._next[own]
        is_end = self.is_left[own] & (ends >= 0)
        if state is not None:
            is_end &= state[ends] == 0
        return np.where(is_end, ends, sources)

    def close(
        self,
        sources: np.ndarray,
        reach: np.ndarray,
        distance: np.ndarray,
        bounds: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> None:
        """Note searches, and take lower bounds for eccentricities where both ends are known.

        Parameters
        ----------
        sources, reach, distance
            As in ``_note``.
        bounds : (n_nodes,), (n_nodes,), (n_components,)
            Lower and upper bounds, and the smallest upper one of each component.
        """
        numbers = self._note(sources, reach, distance)
        if len(numbers):
            is_closed = np.zeros(len(self.is_left), np.uint8)
            is_closed[numbers] = 1
            close_marked(self._component, is_closed, *bounds)

    def part(
        self, nodes: np.ndarray, component: np.ndarray, numbers: np.ndarray
    ) -> TreeEnds | None:
        """The same of some components alone, or None if no tree of them is left.

        Parameters
        ----------
        nodes : (n_nodes,) int32
            All nodes of these components; node i of the part is nodes[i].
        component : (n_nodes,) int32
            Their components, renumbered.
        numbers : (n_components,) int64
            Components of the part, by their old numbers.
        """
        if not self.is_left[numbers].any():
            return None
        part = TreeEnds.__new__(TreeEnds)
        part.is_left, part._component = self.is_left[numbers], component
        part._reach, part._next = self._reach[numbers], np.full(len(numbers), -1, NODE)
        ends = np.flatnonzero(self._next[self._component[nodes]] == nodes)
        part._next[component[ends]] = ends
        return part

    def take_back(self, part: TreeEnds, nodes: np.ndarray, numbers: np.ndarray) -> None:
        """Replace what is known of the components of a part by what it knows now."""
        self.is_left[numbers], self._reach[numbers] = part.is_left, part._reach
        self._next[numbers] = np.where(part._next < 0, -1, nodes[part._next])

    def _note(self, sources: np.ndarray, reach: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """The components, (n,) int32, whose lower bounds are eccentricities from now on.

        Parameters
        ----------
        sources : (n_sources,) int32
            What was searched, at most one node of each component; its distances are lower bounds.
        reach : (n_sources,)
            Their eccentricities.
        distance : (n_nodes,)
            From the source of each node's component; or more than that by the same for all of them.
        """
        left = self.is_left[self._component[sources]]
        sources, reach = sources[left], reach[left]
        own = self._component[sources]
        found = own[(sources == self._next[own]) & (reach == self._reach[own])]
        self.is_left[found] = False
        moved = reach > self._reach[own]
        if moved.any():
            own = own[moved]
            self._reach[own] = reach[moved]
            self._next[own] = -1
            is_moved = np.zeros(len(self.is_left), np.uint8)
            is_moved[own] = 1
            find_farthest(self._component, distance, is_moved, self._next)
        return found


def ends_of_trees(component: np.ndarray, degree: np.ndarray, size: np.ndarray) -> TreeEnds | None:
    """``TreeEnds``, or None if no component is a tree that needs a search."""
    ends = TreeEnds(component, degree, size)
    return ends if ends.is_left.any() else None


@njit(
    [types.void(I32, U8, I32, OUT_I32, OUT_I32), types.void(I32, U8, F64, OUT_F64, OUT_F64)],
    cache=True,
    nogil=True,
)
def close_marked(component, is_closed, lower, upper, least):
    """Take the lower bounds of marked components for their eccentricities."""
    for v in range(component.size):
        c = component[v]
        if is_closed[c]:
            upper[v] = lower[v]
            least[c] = min(least[c], lower[v])


@njit([types.void(I32, kind, U8, OUT_I32) for kind in (U8, U16, I32, F64)], cache=True, nogil=True)
def find_farthest(component, distance, is_wanted, farthest):
    """The first node of largest distance in each wanted component; -1 on entry."""
    for v in range(component.size):
        c = component[v]
        if is_wanted[c] and (farthest[c] < 0 or distance[v] > distance[farthest[c]]):
            farthest[c] = v
