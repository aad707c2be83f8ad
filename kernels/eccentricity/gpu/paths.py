"""Longest shortest paths on a GPU, once their lengths are known."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels.eccentricity.gpu.solver import DeviceSolver
from kernels.types import NODE


def longest_paths(solver: DeviceSolver, wanted: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A path in some components as long as their largest lower bound.

    Parameters
    ----------
    solver : DeviceSolver
    wanted : (n_components,) bool, on the device

    Returns
    -------
    (n_wanted,) int32 on the device, (n_wanted + 1,) int64, int32
        Components, ascending; offsets; nodes in the ids of the shard that was given.
    """
    bounds = solver.bounds
    most = solver.of_each(bounds.most)
    ends = first_where(solver, bounds.lower == most, wanted)
    level, _ = solver.levels_of(ends)
    tails = first_where(solver, level == most, wanted)
    path_ptr, path = bounds.paths(level, tails)
    return bounds.of(tails), path_ptr, solver.parts.named(path).get()


def first_where(solver: DeviceSolver, is_one: Any, wanted: Any) -> Any:
    """The first node of each wanted component where something holds, (n_wanted,) int32."""
    bounds = solver.bounds
    nodes = cp.flatnonzero(is_one & solver.of_each(wanted)).astype(NODE)
    if bounds.component is None:
        return nodes[:1]
    own = bounds.of(nodes)
    is_first = cp.ones(nodes.size, np.bool_)
    is_first[1:] = own[1:] != own[:-1]
    return nodes[is_first]
