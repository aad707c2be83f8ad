"""Sweeps whose results stay on the GPU: bit planes of levels, and eccentricities.

The kernels are those of ``search``; only the number of levels is copied to the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK
from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import fits
from kernels.csr import Shard
from kernels.multi_source.gpu.constants import AT_DEPTH, AT_IS_ENDED, CONTROL
from kernels.multi_source.gpu.footprint import N_PLANES, gpu_state_bytes, unit_shift
from kernels.multi_source.gpu.levels import with_room
from kernels.multi_source.gpu.search import (
    COUNT_CELLS,
    MORE_ROWS,
    NEVER,
    ROWS,
    TOP_DOWN_FACTOR,
    TOP_DOWN_MIN,
    cut,
)


@dataclass(frozen=True, eq=False)
class Swept:
    """A sweep that has ended; arrays on the device.

    Attributes
    ----------
    n_words : int
        64-bit words of lanes per node.
    seen : (n_nodes, n_words) uint64
        Lanes that reached the node.
    planes : (n_planes, n_nodes, n_words) uint64 or None
        Bit k of the level of (node, lane) is bit lane of planes[k, node].
    slot_ptr : (n_graphs + 1,) int32
        The slots of graph g, lane by lane, begin at slot_ptr[g].
    eccentricity : (n_slots,) int32
        Hops, of the source of each slot.
    depth : int
        The largest of them.
    """

    n_words: int
    seen: Any
    planes: Any
    slot_ptr: Any
    eccentricity: Any
    depth: int


class DeviceSweeps:
    """Sweeps of one shard, one after another; what depends on the shard alone is kept.

    Parameters
    ----------
    shard : Shard
        On the current GPU; no graph without nodes.
    """

    def __init__(self, shard: Shard):
        self.shard = shard
        self._chunks: dict[int, tuple[int, int, Any]] = {}

    def sweep(self, sources: Any, slot_ptr: Any, n_words: int, levels: bool) -> Swept:
        """Search from some nodes of every graph.

        Parameters
        ----------
        sources : (n_slots,) int32, on the device
            Nodes of the shard, those of one graph together, graph after graph.
        slot_ptr : (n_graphs + 1,) int32, on the device
            Where those of each graph begin; at most ``64 * n_words`` of each.
        levels : bool
            Keep the planes.

        Raises
        ------
        ValueError
            If one graph has more sources than lanes. (Those of many are known on the device alone.)
        """
        shard, n_slots = self.shard, sources.size
        n_nodes, n_arcs = shard.n_nodes, shard.n_arcs
        is_graph = shard.n_graphs == 1
        if is_graph and n_slots > 64 * n_words:
            raise ValueError(f"{n_slots} sources are more than the {64 * n_words} lanes of a sweep")
        name = f"msbfs_{'graph' if is_graph else 'shard'}_{n_words}"
        kernel = load_kernel(__file__, name, cooperative=True)
        chunk_size, n_chunks, chunk_ptr = self._chunks_for(kernel, n_words)
        grid = cut(kernel, n_nodes, 1, cp.cuda.Device().id)[0]
        n_bytes = gpu_state_bytes(
            n_nodes, n_arcs, n_words, shard.n_graphs, None if is_graph else n_chunks
        )
        state = cp.empty(n_bytes, np.uint8)
        planes = cp.zeros((N_PLANES, n_nodes, n_words), np.uint64) if levels else None
        control = cp.zeros(CONTROL, np.int32)
        eccentricity = cp.zeros(n_slots, np.int32)
        n_rows, first_depth = 2 + max(16, min(ROWS, COUNT_CELLS // n_slots)), 1
        table = cp.empty((n_rows, n_slots), np.int32)
        tables: tuple[Any, ...] = ()
        if not is_graph:
            slot_graph = cp.searchsorted(slot_ptr, cp.arange(n_slots), side="right") - 1
            tables = (np.int32(shard.n_graphs), shard.node_ptr, chunk_ptr, slot_ptr)
            tables += (slot_graph.astype(np.int32),)
        factor = np.int64(TOP_DOWN_FACTOR if n_nodes >= TOP_DOWN_MIN else NEVER)
        while True:
            if planes is not None:
                planes = with_room(planes, first_depth)
                n_rows = min(n_rows, (1 << len(planes)) - first_depth + 2)
            kernel(
                (grid,),
                (COOPERATIVE_BLOCK,),
                (
                    shard.indptr,
                    shard.indices,
                    np.int64(n_nodes),
                    np.int64(n_arcs),
                    np.int32(n_chunks),
                    np.int32(chunk_size),
                    *tables,
                    sources,
                    np.int32(n_slots),
                    table,
                    np.int32(n_rows),
                    np.int32(first_depth),
                    np.uintp(0),
                    np.uintp(0) if planes is None else planes,
                    *((factor,) if is_graph else ()),
                    np.int32(unit_shift(n_nodes)),
                    control,
                    state,
                ),
            )
            host = control.get()  # the one synchronisation
            depth, is_ended = int(host[AT_DEPTH]), bool(host[AT_IS_ENDED])
            load_kernel(__file__, "msbfs_eccentricities")(
                (grid_for(n_slots),),
                (BLOCK,),
                (
                    table,
                    np.int64(n_slots),
                    np.int32(depth - first_depth + 3),
                    np.int32(first_depth),
                    eccentricity,
                ),
            )
            if is_ended:
                break
            last_two = table[depth - first_depth + 1 : depth - first_depth + 3].copy()
            first_depth = depth + 1
            n_rows = 2 + max(16, min(MORE_ROWS, COUNT_CELLS // n_slots))
            table = cp.empty((n_rows, n_slots), np.int32)
            table[:2] = last_two
        seen = state[: 8 * n_nodes * n_words].view(np.uint64).reshape(n_nodes, n_words)
        return Swept(n_words, seen, planes, slot_ptr, eccentricity, depth - 1)

    def n_words(self, n_lanes: int, most: int, levels: bool) -> int:
        """Words per node of the widest sweep, up to ``most``, that is useful and fits in memory."""
        n_words = 1 if n_lanes <= 64 else 2 if n_lanes <= 128 else most
        n_nodes, n_arcs = self.shard.n_nodes, self.shard.n_arcs
        while n_words > 1 and not fits(sweep_bytes(n_nodes, n_arcs, n_words, levels)):
            n_words //= 2
        return n_words

    def _chunks_for(self, kernel: Any, n_words: int) -> tuple[int, int, Any]:
        """Nodes of a chunk, chunks, and where those of each graph begin."""
        if n_words not in self._chunks:
            size = cut(kernel, self.shard.n_nodes, 1, cp.cuda.Device().id)[1]
            chunk_ptr = cp.zeros(self.shard.n_graphs + 1, np.int32)
            n_chunks = (cp.diff(self.shard.node_ptr) + (size - 1)) // size
            chunk_ptr[1:] = cp.cumsum(n_chunks, dtype=np.int32)
            self._chunks[n_words] = size, int(chunk_ptr[-1]), chunk_ptr
        return self._chunks[n_words]


def sweep_bytes(n_nodes: int, n_arcs: int, n_words: int, levels: bool) -> int:
    """About what a sweep allocates, without what grows with its sources."""
    state = gpu_state_bytes(n_nodes, n_arcs, n_words)
    return state + (8 * N_PLANES * n_nodes * n_words if levels else 0)
