"""Shortest paths on one GPU: launches the kernels of ``shortest_paths.cu``."""

from __future__ import annotations

import itertools
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels._cuda.launch import cooperative_grid, on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.shortest_paths.constants import (
    AT_FARTHEST,
    AT_IS_INVALID,
    AT_N_REACHED,
    CONTROL,
)
from kernels.shortest_paths.footprint import gpu_bytes, parents_bytes, scratch_words, tree_words
from kernels.types import NODE, UNREACHED

# The threshold rises by this many mean weights, divided by the mean degree, at first: on long
# graphs it grows. More means fewer steps, and more arcs relaxed twice. With the 32 of Davidson et
# al. attachment graphs of 6.8 million nodes relax three times as many nodes.
RISE = 6.0
# At first, with a target: a search cannot end before the threshold has passed it.
TARGET_RISE = 2.0


def sssp(
    indptr: Any,
    indices: Any,
    weights: Any,
    sources: np.ndarray,
    target: int = UNREACHED,
    rise: float | None = None,
) -> tuple[Any, float, int, bool]:
    """Distances to the nearest source, the largest, nodes reached; whether weights are valid.

    ``sources`` are distinct, on the host. Nodes farther than the target, if there is one and a path
    leads there, have inf.
    """
    if rise is None:
        rise = RISE if target < 0 else TARGET_RISE
    with on_device_of(indptr):
        search = load_kernel(__file__, "sssp_search", cooperative=True)
        n_nodes, n_arcs = indptr.size - 1, indices.size
        what = f"a search by weight of {n_nodes} nodes and {n_arcs} arcs"
        check_fits(gpu_bytes(n_nodes, n_arcs), what)
        distance = cp.empty(n_nodes, np.float64)
        scratch, pieces = _scratch(scratch_words(n_nodes, n_arcs))
        sizes = (cp.int64(n_nodes), cp.int64(n_arcs))
        search(
            (cooperative_grid(search, -(-n_nodes // WARP)),),
            (COOPERATIVE_BLOCK,),
            (
                indptr,
                indices,
                weights,
                *sizes,
                cp.asarray(sources, NODE),
                cp.int64(len(sources)),
                cp.int32(target),
                cp.float64(rise),
                distance,
                *pieces,
                scratch,
            ),
        )
        control = scratch[:CONTROL].get()  # the one synchronisation
        farthest = float(control[AT_FARTHEST : AT_FARTHEST + 2].view(np.float64)[0])
        is_valid = bool(control[AT_IS_INVALID] == 0)
        return distance, farthest, int(control[AT_N_REACHED]), is_valid


def parents(indptr: Any, indices: Any, weights: Any, source: int, distance: Any) -> Any:
    """The tree of shortest paths that ``sssp`` describes, from right distances."""
    with on_device_of(indptr):
        tree = load_kernel(__file__, "sssp_parents", cooperative=True)
        n_nodes = indptr.size - 1
        check_fits(parents_bytes(n_nodes), f"a tree of shortest paths of {n_nodes} nodes")
        parent = cp.empty(n_nodes, NODE)
        scratch, pieces = _scratch(tree_words(n_nodes))
        numbers = (cp.int64(n_nodes), cp.int32(source))
        tree(
            (cooperative_grid(tree, -(-n_nodes // WARP)),),
            (COOPERATIVE_BLOCK,),
            (indptr, indices, weights, *numbers, distance, parent, *pieces, scratch),
        )
        return parent


def _scratch(words: list[int]) -> tuple[Any, list[Any]]:
    """One array, its first words (the control) zero, and where its other pieces begin."""
    scratch = cp.empty(sum(words), np.int32)
    scratch.data.memset_async(0, 4 * words[0])
    return scratch, [scratch[place:] for place in list(itertools.accumulate(words))[:-1]]
