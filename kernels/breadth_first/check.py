"""Certificates of a BFS: accept exactly the right levels and parents, in one pass over the arcs.

They share no code with the searches, and use no assert statements, which ``python -O`` removes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, returns
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.stated import stated_array, stated_node, stated_one
from kernels.types import LEVEL, NODE, OFFSET, UNREACHED

if TYPE_CHECKING:
    from kernels.breadth_first import BFSResult

OK, BELOW, SOURCE, SECOND, LEAVES, CLIMBS, ORPHAN, BEYOND = range(8)
NO_LIMIT = np.iinfo(LEVEL).max


def check_bfs(found: BFSResult) -> None:
    """Raise CheckError unless all that a search found is right; on the host."""
    arrays = to_host(found.graph.indptr), to_host(found.graph.indices)
    level = stated_array("level", found.level, LEVEL, (found.graph.n_nodes,))
    check_levels(*arrays, found.source, level, found.target)
    if found.parent is not None:
        check_parents(*arrays, found.source, level, found.parent)
    counted = int(level.max()), int(np.count_nonzero(level != UNREACHED))
    eccentricity = stated_one("eccentricity", found.eccentricity, LEVEL)
    n_reached = stated_one("n_reached", found.n_reached, OFFSET)
    if (eccentricity, n_reached) != counted:
        raise CheckError(
            f"eccentricity {eccentricity} and {n_reached} nodes reached, not {counted}"
        )


def check_levels(
    indptr: Any, indices: Any, source: int, level: Any, target: int | None = None
) -> None:
    """Raise CheckError unless ``level`` is the hop distance from ``source``.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32
        Of a valid CSRGraph, on any device.
    source : int
    level : (n_nodes,) int32
        UNREACHED (-1) where no path leads.
    target : int or None
        Where the search stopped: only nodes no farther than this one have levels. A target
        without a level does not stop a search.

    Notes
    -----
    Three conditions suffice: the source alone has level 0; no arc leaves the reached set (before
    the level of the target) or rises by more than one level; each other reached node has a
    neighbour one level up.
    """
    level = stated_array("level", level, LEVEL, (len(indptr) - 1,))
    source, limit = stated_node("source", source, len(level)), NO_LIMIT
    if target is not None:
        target = stated_node("target", target, len(level))
        limit = NO_LIMIT if level[target] < 0 else int(level[target])
    code, u, v = _level_fault(to_host(indptr), to_host(indices), source, level, limit)
    if code == OK:
        return
    messages = {
        BELOW: f"node {u} has level {level[u]}",
        SOURCE: f"the source {u} has level {level[u]}, not 0",
        SECOND: f"node {u} has level 0 and is not the source {source}",
        LEAVES: f"the arc {u} -> {v} leaves the reached nodes",
        CLIMBS: f"the arc {u} -> {v} leads from level {level[u]} to {level[v]}",
        ORPHAN: f"node {u} at level {level[u]} has no neighbour one level up",
        BEYOND: f"node {u} at level {level[u]} is farther than the target",
    }
    raise CheckError(f"source {source}: {messages[code]}")


def check_parents(indptr: Any, indices: Any, source: int, level: Any, parent: Any) -> None:
    """Raise CheckError unless ``parent`` is the tree that ``bfs`` promises, given right levels.

    Parameters are as for ``check_levels``; parent : (n_nodes,) int32. Levels may be those of a
    search that stopped at a target.
    """
    level = stated_array("level", level, LEVEL, (len(indptr) - 1,))
    parent = stated_array("parent", parent, NODE, (len(indptr) - 1,))
    source = stated_node("source", source, len(parent))
    u = _parent_fault(to_host(indptr), to_host(indices), source, level, parent)
    if u >= 0:
        raise CheckError(
            f"source {source}: node {u} at level {level[u]} has parent {parent[u]}, which is not "
            "its smallest neighbour one level up"
        )


@njit([returns(3)(I64, I32, types.int64, I32, types.int64)], cache=True, nogil=True)
def _level_fault(indptr, indices, source, level, limit):
    if level[source] != 0:
        return SOURCE, source, 0
    for u in range(indptr.size - 1):
        if level[u] < UNREACHED:
            return BELOW, u, 0
        if level[u] == 0 and u != source:
            return SECOND, u, 0
        if level[u] > limit:
            return BEYOND, u, 0
        has_parent = level[u] <= 0
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if level[u] != UNREACHED and level[u] < limit and level[v] == UNREACHED:
                return LEAVES, u, v
            if level[u] != UNREACHED and level[v] > level[u] + 1:
                return CLIMBS, u, v
            if level[v] == level[u] - 1:
                has_parent = True
        if not has_parent:
            return ORPHAN, u, 0
    return OK, 0, 0


@njit([types.int64(I64, I32, types.int64, I32, I32)], cache=True, nogil=True)
def _parent_fault(indptr, indices, source, level, parent):
    for u in range(indptr.size - 1):
        expected = np.int64(UNREACHED)
        if u == source:
            expected = np.int64(source)
        elif level[u] > 0:
            for arc in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[arc])
                if level[v] == level[u] - 1 and (expected == UNREACHED or v < expected):
                    expected = v
        if parent[u] != expected:
            return u
    return -1
