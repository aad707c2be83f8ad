"""Two addresses of one trace are never on one router."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.rule import Rule, Rules
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.spool import Traces

ONE_TRACE = Rule(
    "one-trace",
    "routers",
    "two addresses of one trace are two routers",
    "traces",
    source="APAR (Gunes and Sarac, ToN 2009)",
)


@njit(cache=True, nogil=True)
def _find_conflicts(hop_ptr, ids, router, broken):
    """Mark routers with two addresses in one trace; ``router`` is -1 where it has only one."""
    for trace in range(len(hop_ptr) - 1):
        for row in range(hop_ptr[trace], hop_ptr[trace + 1]):
            x = np.int64(ids[row])
            if x < 0 or router[x] < 0:
                continue
            for other in range(hop_ptr[trace], row):
                y = np.int64(ids[other])
                if y >= 0 and x != y and router[y] == router[x]:
                    broken[router[x]] = True


def take_apart(spools: Spools, root: np.ndarray, parts: np.ndarray, rules: Rules) -> None:
    """Undo routers that have two addresses in one trace, in place; one pass over the spools.

    Parameters
    ----------
    spools : Spools
    root : (n_interfaces,) int64
        Smallest interface of each router.
    parts : (n_interfaces,) int64
        What they are taken apart to: the same of smaller routers.
    rules : Rules
    """
    if ONE_TRACE not in rules:
        return
    router = np.where(np.bincount(root, minlength=len(root))[root] > 1, root, -1)

    def step(broken: np.ndarray, traces: Traces) -> None:
        _find_conflicts(traces.hop_ptr, traces.ids, router, broken)

    broken = np.logical_or.reduce(spools.run(lambda: np.zeros(len(root), np.bool_), step))
    undone = np.flatnonzero(broken[root])
    root[undone] = parts[undone]
