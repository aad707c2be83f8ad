"""Depth-first search of forests without a step per level: by a walk around each tree [1]_.

The walk passes every edge twice, once in each direction. What comes after an arc is known at once,
so its place in the walk follows by pointer jumping, in as many rounds as the number of arcs has
binary digits. The first of an edge's two arcs leads down. The walk takes the arcs of a node in
their order, but begins after the one to the parent; so times follow in a second step: places tell
sizes of subtrees, these by how much a child is found later than its parent, and these delays are
summed along the walk.

Functions take arrays of NumPy, or of CuPy: ``xp`` is the module that they belong to.

References
----------
.. [1] R. E. Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on
   Computing 14, 1985.
"""

from __future__ import annotations

from typing import Any

from kernels.types import NODE, OFFSET, UNREACHED

BYTES_PER_NODE, BYTES_PER_ARC = 60, 60  # of all arrays that are there at the same time
MOST_ARCS = 2**31 - 1  # places in a walk are int32


def search(
    xp: Any, indptr: Any, indices: Any, root: Any, source: int | None
) -> tuple[Any, Any, Any, Any]:
    """Discovery, finish, parent and order in a forest, as ``dfs`` defines them.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``cupy``.
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32
        Of a graph without a cycle, of at least one node and at most MOST_ARCS arcs.
    root : (n_nodes,) int32
        The smallest node of the node's tree; changed if there is a source.
    source : int or None
    """
    n_nodes = len(root)
    if source is not None:
        root[root == root[source]] = source
    nodes = xp.arange(n_nodes, dtype=NODE)
    discovery, size, parent = _times_of_trees(xp, indptr, indices, nodes, root)
    if source is None:  # one tree after another
        of_root = xp.where(root == nodes, 2 * size, 0)
        discovery += (xp.cumsum(of_root) - of_root)[root]
    finish = discovery + 2 * size - 1
    if source is not None:
        is_out = root != source
        for array in (discovery, finish, parent):
            array[is_out] = UNREACHED
        nodes = nodes[~is_out]
    return discovery, finish, parent, nodes[xp.argsort(discovery[nodes])]


def _times_of_trees(
    xp: Any, indptr: Any, indices: Any, nodes: Any, root: Any
) -> tuple[Any, Any, Any]:
    """Discovery, counted from 0 in each tree, nodes below and at each node, and parent."""
    n_nodes, n_arcs = len(nodes), len(indices)
    discovery, size = xp.zeros(n_nodes, OFFSET), xp.ones(n_nodes, OFFSET)
    parent = root.copy()
    if n_arcs == 0:
        return discovery, size, parent
    arcs = xp.arange(n_arcs, dtype=NODE)
    tails = (xp.searchsorted(indptr, arcs, side="right") - 1).astype(NODE)
    # The k-th arc in the order of heads, then of tails, is the k-th of all in reverse.
    back = xp.argsort(indices.astype(OFFSET) * n_nodes + tails).astype(NODE)
    left = _arcs_left(xp, indptr, indices, arcs, back, root[tails])
    goes_down = left > left[back]
    below = xp.where(goes_down, (left - left[back] + 1) >> 1, 0).astype(OFFSET)
    heads = indices[goes_down]
    parent[heads], size[heads] = tails[goes_down], below[goes_down]
    has_arcs = (root == nodes) & (indptr[1:] > indptr[:-1])
    n_of_root = xp.zeros(n_nodes, OFFSET)
    n_of_root[has_arcs] = left[indptr[:-1][has_arcs]].astype(OFFSET) + 1
    size[has_arcs] = (n_of_root[has_arcs] >> 1) + 1
    place = (xp.cumsum(n_of_root) - 1)[root[tails]] - left
    earlier = xp.cumsum(below) - below  # siblings that come first, and what is below them
    delay = 1 + 2 * (earlier - earlier[indptr[tails]])
    delays = xp.empty(n_arcs, OFFSET)
    delays[place] = xp.where(goes_down, delay, -delay[back])
    discovery[heads] = xp.cumsum(delays)[place[goes_down]]
    return discovery, size, parent


def _arcs_left(xp: Any, indptr: Any, indices: Any, arcs: Any, back: Any, root: Any) -> Any:
    """(n_arcs,) int32: how many arcs of the walk around its tree come after each; ``root`` too."""
    after = back + 1
    is_past = after == indptr[indices + 1]
    after[is_past] = indptr[indices[is_past]]
    is_last = after == indptr[root]
    after[is_last] = arcs[is_last]
    left = xp.where(is_last, 0, 1).astype(NODE)
    for _ in range(len(arcs).bit_length()):
        left += left[after]
        after = after[after]
    return left
