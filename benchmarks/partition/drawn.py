"""Graphs whose links can be drawn one by one anywhere, and their parts, each made on its own GPU.

No rank ever holds the whole graph: each draws all links and keeps the arcs of its own nodes, a
range of them at a time. An RMAT graph is that of ``lib.graphs.rmat``, link by link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.partition.constants import ATTACHMENT, GRID, RMAT, SCRAMBLED
from kernels.partition import Part, Split
from kernels.partition.split import BLOCK, deal
from pipeline.model.random_words import stream_start

if TYPE_CHECKING:
    from kernels import CSRGraph

KEPT_AT_ONCE = 1 << 29  # arcs of a range, about: 4 GiB of keys, and as much again to sort them


@dataclass(frozen=True)
class Drawn:
    """A graph by its parameters.

    Attributes
    ----------
    name : str
        KIND:SIZE of the command line.
    kind : int
    shape : int
        Scale of RMAT, links of a new node, columns of a grid.
    n_nodes, n_links : int
        Loops and duplicates among the links are dropped.
    """

    name: str
    kind: int
    shape: int
    n_nodes: int
    n_links: int
    seed: int = 1

    @property
    def key(self) -> int:
        """Of the stream of random words."""
        return self.shape

    def arguments(self) -> tuple[Any, ...]:
        """For the kernels."""
        start = np.uint64(stream_start(np.uint64(self.seed), np.uint64(self.key)))
        kinds = np.int32(self.kind), start, np.int32(self.shape)
        return *kinds, np.int64(self.n_nodes), np.int64(self.n_links)


def graph_named(name: str, factor: int) -> Drawn:
    """``rmat:SCALE``, ``attachment:NODES`` or ``grid:SIDE``; ``factor`` links per node of RMAT.

    ``graph500:SCALE`` is the RMAT graph of other numbers of nodes.
    """
    kind, _, size_text = name.partition(":")
    size = int(size_text)
    if kind == "rmat":
        return Drawn(name, RMAT, size, 1 << size, factor << size)
    if kind == "graph500":
        return Drawn(name, SCRAMBLED, size, 1 << size, factor << size)
    if kind == "attachment":
        return Drawn(name, ATTACHMENT, 2, size, 2 * (size - 1))
    if kind == "grid":
        return Drawn(name, GRID, size, size * size, 2 * size * size)
    raise ValueError(f"{name!r}: give rmat:SCALE, attachment:NODES or grid:SIDE")


def host_graph(drawn: Drawn) -> CSRGraph:
    """The same kind of graph in host memory; RMAT the same graph."""
    from benchmarks.lib import graphs

    if drawn.kind == RMAT:
        return graphs.rmat(drawn.shape, drawn.n_links // drawn.n_nodes)
    if drawn.kind == ATTACHMENT:
        return graphs.attachment(drawn.n_nodes)
    return graphs.cut_grid(drawn.shape)


def split_of(drawn: Drawn, n_ranks: int) -> tuple[Split, np.ndarray]:
    """Deal the nodes, and the arcs of each block, duplicates included.

    The same on every rank, since each draws all links.
    """
    import cupy as cp

    from kernels._cuda.loader import load_kernel

    counts = cp.zeros(-(-drawn.n_nodes // BLOCK), np.int64)
    args = (*drawn.arguments(), np.int32(BLOCK), counts)
    load_kernel(__file__, "count_arcs")((4096,), (256,), args)
    n_arcs = counts.get()
    return deal(drawn.n_nodes, BLOCK, n_arcs, n_ranks), n_arcs


def drawn_part(
    drawn: Drawn,
    whole: Split,
    n_arcs: np.ndarray,
    rank: int,
    on_host: bool = False,
    at_once: int = KEPT_AT_ONCE,
) -> Part:
    """The rows of one rank, made and kept on the current GPU; ``on_host``: heads are kept there.

    ``at_once``: arcs of a range, each of which draws all links: 40 bytes each for a moment.
    """
    import cupy as cp

    from kernels._cuda.loader import load_kernel

    keep = load_kernel(__file__, "keep_arcs")
    place = np.empty(len(whole.order), np.int32)
    place[whole.order] = np.arange(len(whole.order), dtype=np.int32)
    place = cp.asarray(place)
    first, last = (int(each) for each in whole.first[rank : rank + 2])
    upto = np.append(0, np.cumsum(n_arcs[whole.own_blocks(rank)]))
    n_ranges = max(1, -(-int(upto[-1]) // (at_once * (4 if on_host else 1))))
    ends = np.searchsorted(upto, np.linspace(0, upto[-1], n_ranges + 1)[1:-1])
    cuts = first + BLOCK * np.concatenate([[0], ends, [len(upto) - 1]])
    most = max(int(n) for n in np.diff(upto[(cuts - first) // BLOCK]))
    room = cp.empty(most, np.uint64)
    # Room for all, links that are drawn twice too: of the largest graphs a card has no second one.
    degrees, n_made = [], 0
    indices: Any = (np if on_host else cp).empty(int(upto[-1]), np.int32)
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        n_kept = cp.zeros(1, np.int64)
        ends = (np.int64(low), np.int64(high), room, np.int64(room.size), n_kept)
        keep((4096,), (256,), (*drawn.arguments(), np.int32(BLOCK), place, *ends))
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
        made = keys.astype(np.uint32).view(np.int32)
        indices[n_made : n_made + keys.size] = made.get() if on_host else made
        del made
        n_made += keys.size
        del keys, tails
        cp.get_default_memory_pool().free_all_blocks()
    del room
    indptr = cp.zeros(last - first + 1, np.int64)
    indptr[1:] = cp.cumsum(cp.concatenate(degrees))
    cp.get_default_memory_pool().free_all_blocks()
    return Part(whole, rank, indptr, indices[:n_made])
