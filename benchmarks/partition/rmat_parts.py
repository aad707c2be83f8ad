"""Parts of an RMAT graph, each made on its own GPU: the graph of ``lib.graphs.rmat``, link by link.

No rank ever holds the whole graph: each draws all links and keeps the arcs of its own nodes, a
range of them at a time.
"""

from __future__ import annotations

import cupy as cp
import numpy as np

from kernels._cuda.loader import load_kernel
from kernels.partition import Part, Split
from kernels.partition.split import BLOCK, deal
from pipeline.model.random_words import stream_start

KEPT_AT_ONCE = 1 << 29  # arcs of a range, about


def rmat_split(scale: int, factor: int, n_ranks: int, seed: int = 1) -> tuple[Split, np.ndarray]:
    """Deal the nodes, and the arcs of each block, doubles included.

    The same on every rank, since each draws all links.
    """
    n_nodes, n_links = 1 << scale, factor << scale
    counts = cp.zeros(-(-n_nodes // BLOCK), np.int64)
    start = cp.uint64(stream_start(np.uint64(seed), np.uint64(scale)))
    args = (start, cp.int32(scale), cp.int64(n_links), cp.int32(BLOCK), counts)
    load_kernel(__file__, "count_arcs")((4096,), (256,), args)
    n_arcs = counts.get()
    return deal(n_nodes, BLOCK, n_arcs, n_ranks), n_arcs


def rmat_part(
    whole: Split, n_arcs: np.ndarray, scale: int, factor: int, rank: int, seed: int = 1
) -> Part:
    """The rows of one rank, made and kept on the current GPU."""
    keep = load_kernel(__file__, "keep_arcs")
    start = cp.uint64(stream_start(np.uint64(seed), np.uint64(scale)))
    place = np.empty(len(whole.order), np.int32)
    place[whole.order] = np.arange(len(whole.order), dtype=np.int32)
    place = cp.asarray(place)
    first, last = (int(each) for each in whole.first[rank : rank + 2])
    n_links = factor << scale
    upto = np.append(0, np.cumsum(n_arcs[whole.own_blocks(rank)]))
    n_ranges = -(-int(upto[-1]) // KEPT_AT_ONCE)
    ends = np.searchsorted(upto, np.linspace(0, upto[-1], n_ranges + 1)[1:-1])
    cuts = first + BLOCK * np.concatenate([[0], ends, [len(upto) - 1]])
    most = max(int(n) for n in np.diff(upto[(cuts - first) // BLOCK]))
    room = cp.empty(most, np.uint64)
    degrees, heads = [], []
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        n_kept = cp.zeros(1, np.int64)
        arguments = (start, cp.int32(scale), cp.int64(n_links), cp.int32(BLOCK), place)
        ends = (cp.int64(low), cp.int64(high), room, cp.int64(room.size), n_kept)
        keep((4096,), (256,), (*arguments, *ends))
        if int(n_kept[0]) > room.size:
            raise MemoryError(f"{int(n_kept[0])} arcs of a range; there is room for {room.size}")
        keys = room[: int(n_kept[0])]
        keys.sort()
        is_first = cp.ones(keys.size, bool)
        is_first[1:] = keys[1:] != keys[:-1]
        keys = keys[is_first]
        del is_first
        tails = (keys >> cp.uint64(32)).astype(np.int64)
        degrees.append(cp.bincount(tails - low, minlength=high - low).astype(np.int64))
        heads.append(keys.astype(np.uint32).view(np.int32))
        del keys, tails
        cp.get_default_memory_pool().free_all_blocks()
    del room
    indptr = cp.zeros(last - first + 1, np.int64)
    indptr[1:] = cp.cumsum(cp.concatenate(degrees))
    indices = heads[0] if len(heads) == 1 else cp.concatenate(heads)
    del heads
    cp.get_default_memory_pool().free_all_blocks()
    return Part(whole, rank, indptr, indices)
