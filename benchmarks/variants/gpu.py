"""Launches the kernels of ``variants.cu``; the one place that needs a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from benchmarks.variants.choices import Lists, Mapping, Variant
from kernels import CSRGraph
from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels._cuda.launch import (
    BLOCK,
    cooperative_grid,
    grid_for,
    on_device_of,
)
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.breadth_first import node_of
from kernels.errors import DeviceError
from kernels.types import LEVEL, NODE, OFFSET, UNREACHED

# hybrid: mean length of the lists of a frontier from which a warp shares each: half of it is busy.
WARP_FROM = 16
POINTER_ALIGNMENT = 4  # nodes, 16 bytes: as malloc on a device aligns
CONTROL = 14  # int32 words of struct Control
LAST = 1  # of them: the last level that has nodes
N_FOUND, FOUND_PLACES = slice(2, 6), slice(6, 14)


@dataclass(frozen=True, eq=False)
class Placed:
    """A graph as one kind of lists; ``struct Graph`` of ``variants.cu``."""

    graph: CSRGraph
    lists: Lists
    where: Any  # (n_nodes + 1,) int64 offsets; pointers: (n_nodes,) uint64 addresses
    what: Any  # int32, lists one after another, padded by -1; pointers: (n_nodes,) int32 lengths
    places: Any = None  # pointers: int32, the lists

    @property
    def n_bytes(self) -> int:
        """Of all arrays."""
        arrays = (self.where, self.what, self.places)
        return sum(int(array.nbytes) for array in arrays if array is not None)


def place(graph: CSRGraph, lists: Lists, seed: int = 1) -> Placed:
    """Put a graph's lists where a kind of them wants them.

    Parameters
    ----------
    graph : CSRGraph
        On a GPU.
    lists : str
        ``offsets``: as they are. ``padded``: each begins at a multiple of 32 places. ``pointers``:
        in random order, as memory allocated list by list is after a while, aligned to 16 bytes.
    seed : int
        Seed of that order.

    Raises
    ------
    DeviceError
        If the graph does not lie on a GPU; DeviceMemoryError if it has too little memory.
    """
    if graph.device != "gpu":
        raise DeviceError("variants run on a GPU; give graph.to('gpu')")
    n_nodes = graph.n_nodes
    if lists == "offsets" or n_nodes == 0:  # nothing to place, and no node to search from
        return Placed(graph, lists, graph.indptr, graph.indices)
    with on_device_of(graph.indptr):
        degree = cp.diff(graph.indptr)
        unit = WARP if lists == "padded" else POINTER_ALIGNMENT
        size = -(-degree // unit) * unit
        n_places = int(size.sum())
        check_fits(4 * n_places + 40 * n_nodes, f"lists ({lists}) of {n_nodes} nodes")
        if lists == "padded":
            start = cp.zeros(n_nodes + 1, OFFSET)
            start[1:] = cp.cumsum(size)
            return Placed(graph, lists, start, _copied(graph, start, n_places))
        order = cp.asarray(np.random.default_rng(seed).permutation(n_nodes))
        start = cp.empty(n_nodes, OFFSET)
        start[order] = cp.cumsum(size[order]) - size[order]
        places = _copied(graph, start, n_places)
        addresses = (start * NODE.itemsize + places.data.ptr).astype(np.uint64)
        return Placed(graph, lists, addresses, degree.astype(np.int32), places)


def _copied(graph: CSRGraph, start: Any, n_places: int) -> Any:
    """The arcs of each node from ``start`` on, -1 elsewhere."""
    places = cp.full(n_places, UNREACHED, NODE)
    arguments = (graph.indptr, graph.indices, cp.int64(graph.n_nodes), start, places)
    grid = grid_for(WARP * graph.n_nodes)
    load_kernel(__file__, "variant_place")((grid,), (BLOCK,), arguments)
    return places


def search(
    variant: Variant, placed: Placed, source: int, warp_from: int = WARP_FROM
) -> tuple[Any, int]:
    """Search breadth-first from one node.

    Parameters
    ----------
    variant : Variant
    placed : Placed
        The graph as ``variant.lists``.
    source : int
    warp_from : int
        hybrid: mean entries of a list of the frontier from which warps share lists.

    Returns
    -------
    (n_nodes,) int32, int
        Levels on the GPU, hops, -1 where unreached; the source's eccentricity.

    Raises
    ------
    GraphError
        If ``source`` is not a node.
    ValueError
        If the lists are of another kind.
    """
    source = node_of(placed.graph, source, "source")
    if placed.lists != variant.lists:
        raise ValueError(f"{variant.name}: the lists given are {placed.lists}")
    n_nodes = placed.graph.n_nodes
    with on_device_of(placed.where):
        level, control = cp.empty(n_nodes, LEVEL), cp.empty(CONTROL, np.int32)
        start = load_kernel(__file__, "variant_start")
        start(
            (grid_for(n_nodes),),
            (BLOCK,),
            (cp.int64(n_nodes), cp.int32(source), level, control),
        )
        run = _wait if variant.is_busy_wait else _launch_levels
        graph = (placed.where, placed.what, cp.int64(n_nodes))
        return level, run(variant, graph, level, control, warp_from)


def _wait(variant: Variant, graph: tuple, level: Any, control: Any, warp_from: int) -> int:
    """One launch for all levels."""
    kernel = load_kernel(__file__, variant.kernel(variant.mapping), cooperative=True)
    n_warps = level.size if variant.mapping != "thread" else -(-level.size // WARP)
    arguments = (*graph, cp.int64(warp_from), level, control)
    kernel((cooperative_grid(kernel, n_warps),), (COOPERATIVE_BLOCK,), arguments)
    return int(control.get()[LAST])  # the one synchronisation


def _launch_levels(variant: Variant, graph: tuple, level: Any, control: Any, warp_from: int) -> int:
    """One launch per level."""
    launch = {name: _launcher(variant, name, level.size) for name in ("thread", "warp")}
    # As variant_start says: the source's list is not known to be short.
    mapping: Mapping = "warp" if variant.mapping == "hybrid" else variant.mapping
    depth = 0
    while True:
        depth += 1
        launch[mapping]((*graph, cp.int32(depth), level, control))
        host = control.get()  # the one synchronisation of each level
        if host[LAST] < depth:
            return depth - 1
        if variant.mapping == "hybrid":
            nodes = int(host[N_FOUND][depth % 4])
            places = int(host[FOUND_PLACES].view(np.int64)[depth % 4])
            mapping = "warp" if places >= warp_from * nodes else "thread"


def _launcher(variant: Variant, mapping: Mapping, n_nodes: int) -> Callable[[tuple], None]:
    kernel = load_kernel(__file__, variant.kernel(mapping))
    grid = grid_for(n_nodes * (WARP if mapping == "warp" else 1))
    return lambda arguments: kernel((grid,), (BLOCK,), arguments)
