"""What finished searches imply for all nodes; on one core."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, OUT_I32

KINDS = (types.uint8, types.uint16, types.int32)  # the narrowest that holds twice an eccentricity


@njit([types.void(I32, I32, types.int64, I32, OUT_I32)], cache=True, nogil=True)
def eccentricities_of(queue, ends, n_levels, component, eccentricity):
    """The last level on which each component has nodes; -1 on entry."""
    begin = np.int64(0)
    for depth in range(n_levels):
        for i in range(begin, ends[depth]):
            eccentricity[component[queue[i]]] = depth
        begin = ends[depth]


@njit(
    [
        types.void(
            types.Array(kind, 1, "C", readonly=True), I32, I32, types.int64, kind[::1], kind[::1]
        )
        for kind in KINDS
    ],
    cache=True,
    nogil=True,
)
def imply(level, component, eccentricity, none, lower, upper):
    """Bounds by levels of one search per component; ``none`` is the level of unreached nodes."""
    if eccentricity.size == 1 and eccentricity[0] >= 0:
        only = np.int32(eccentricity[0])
        for v in range(level.size):
            hops = np.int32(level[v])
            lower[v] = max(hops, only - hops)
            upper[v] = only + hops
        return
    for v in range(level.size):
        if level[v] == none:
            lower[v], upper[v] = 0, none
            continue
        e = np.int64(eccentricity[component[v]])
        d = np.int64(level[v])
        lower[v] = max(d, e - d)
        upper[v] = e + d
