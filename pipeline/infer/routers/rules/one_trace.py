"""Two addresses of one trace are never on one router."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.rule import Rule, Rules
from pipeline.infer.traces.distinct import DEEPEST, DistinctPaths, Tree, addr_of

ONE_TRACE = Rule(
    "one-trace",
    "routers",
    "two addresses in one trace are two routers",
    "traces",
    source="APAR (Gunes and Sarac, ToN 2009)",
)


@njit(cache=True, nogil=True)
def _find_conflicts(code, depth, router, broken):
    """Mark routers with two addresses in one trace; ``router`` is -1 where it has only one."""
    above = np.empty(DEEPEST, np.int64)
    for node in range(len(code)):
        level, x = np.int64(depth[node]), addr_of(code[node])
        above[level] = x if x >= 0 and router[x] >= 0 else -1
        if above[level] < 0:
            continue
        for i in range(level):
            y = above[i]
            if y >= 0 and x != y and router[y] == router[x]:
                broken[router[x]] = True


def take_apart(paths: DistinctPaths, root: np.ndarray, parts: np.ndarray, rules: Rules) -> None:
    """Undo routers that have two addresses in one trace, in place.

    Parameters
    ----------
    paths : DistinctPaths
    root : (n_interfaces,) int64
        Smallest interface of each router.
    parts : (n_interfaces,) int64
        What they are taken apart to: the same of smaller routers.
    rules : Rules
    """
    if ONE_TRACE not in rules:
        return
    router = np.where(np.bincount(root, minlength=len(root))[root] > 1, root, -1)

    def step(broken: np.ndarray, tree: Tree) -> None:
        _find_conflicts(*tree, router, broken)

    broken = np.logical_or.reduce(paths.ask(lambda: np.zeros(len(root), np.bool_), step))
    undone = np.flatnonzero(broken[root])
    root[undone] = parts[undone]
