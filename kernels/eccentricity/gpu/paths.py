"""Longest shortest paths on a GPU, once their lengths are known."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels.eccentricity.gpu.solver import Answering
from kernels.types import NODE


def longest_paths(answering: Answering, wanted: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A path in some components as long as their largest lower bound.

    Parameters
    ----------
    answering : Answering
    wanted : (n_components,) bool, on the device

    Returns
    -------
    (n_wanted,) int32 on the device, (n_wanted + 1,) int64, int32
        Components, ascending; offsets; nodes in the ids of the shard that was given.
    """
    bounds = answering.bounds
    most = answering.of_each(bounds.most)
    ends = first_where(answering, bounds.lower == most, wanted)
    level, _ = answering.levels_of(ends)
    tails = first_where(answering, level == most, wanted)
    path_ptr, path = bounds.paths(level, tails)
    return bounds.of(tails), path_ptr, answering.parts.named(path).get()


def first_where(answering: Answering, is_one: Any, wanted: Any) -> Any:
    """The first node of each wanted component where something holds, (n_wanted,) int32."""
    bounds = answering.bounds
    nodes = cp.flatnonzero(is_one & answering.of_each(wanted)).astype(NODE)
    if bounds.component is None:
        return nodes[:1]
    own = bounds.of(nodes)
    is_first = cp.ones(nodes.size, np.bool_)
    is_first[1:] = own[1:] != own[:-1]
    return nodes[is_first]
