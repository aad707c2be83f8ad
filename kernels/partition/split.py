"""Which nodes of a graph each rank owns, and a rank's own part of the arcs. Pure.

Blocks of consecutive nodes are dealt to ranks, each to the one with the least work so far, the
largest block first (R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math.
1969). So ranks own equal shares of the arcs, hubs that lie next to one another are spread, and
nodes keep their neighbours of the same block. Nodes get new numbers: rank after rank, block after
block; a rank's nodes are then one run, which begins at a whole word of a bitmap.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels._cpu.threads import Team
from kernels.arguments import integer_row, one_of, whole_number
from kernels.csr import MAX_NODES, to_host
from kernels.errors import GraphError
from kernels.types import NODE, OFFSET

WORD = 32  # nodes per word of a bitmap
# Nodes of a block: slices of bitmaps then begin at 128 bytes, as wide copies on GPUs ask for.
BLOCK = 1024
BLOCKS_EACH = 64  # per rank at least, unless blocks would be smaller than a word
NODE_WORK = 2  # a node costs as much as this many arcs: its offsets, level and bits

Read = Callable[[int, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Split:
    """Which blocks of nodes each rank owns.

    Attributes
    ----------
    n_nodes : int
        Of the whole graph.
    block : int
        Nodes of a block; the last one of the graph may have fewer.
    order : (n_blocks,) int64
        Blocks of the graph, rank after rank.
    starts : (n_ranks + 1,) int64
        Places in ``order`` where the blocks of each rank begin.
    n_arcs : int
        Of the whole graph, perhaps roughly: directions of a search depend on it, no level does.
    """

    n_nodes: int
    block: int
    order: np.ndarray
    starts: np.ndarray
    n_arcs: int

    @property
    def n_ranks(self) -> int:
        return len(self.starts) - 1

    @property
    def first(self) -> np.ndarray:
        """(n_ranks + 1,) int64: new numbers with which the nodes of each rank begin."""
        return self.starts * self.block

    def renumber(self, nodes: np.ndarray) -> np.ndarray:
        """New numbers of nodes, (n,) int32."""
        blocks, places = np.divmod(nodes, self.block)
        return self._place[blocks] * NODE.type(self.block) + places.astype(NODE)

    @functools.cached_property
    def _place(self) -> np.ndarray:
        """(n_blocks,) int32: where each block of the graph is in ``order``."""
        place = np.empty(len(self.order), NODE)
        place[self.order] = np.arange(len(self.order), dtype=NODE)
        return place

    def original(self, numbers: np.ndarray) -> np.ndarray:
        """Nodes of the graph by their new numbers, (n,) int64; not less than n_nodes: padding."""
        return self.order[numbers // self.block] * self.block + numbers % self.block

    def n_own(self, rank: int) -> int:
        """Nodes of one rank; the rest of its last block, if that is cut short, is padding."""
        blocks = self.own_blocks(rank)
        if not len(blocks):
            return 0
        return len(blocks) * self.block - max(0, (int(blocks[-1]) + 1) * self.block - self.n_nodes)

    def owner(self, number: int) -> int:
        """The rank that owns a node, by its new number."""
        return int(np.searchsorted(self.first, number, side="right")) - 1

    def own(self, numbers: np.ndarray, rank: int) -> np.ndarray:
        """Those of some new numbers that a rank owns."""
        first, last = self.first[rank : rank + 2]
        return numbers[(numbers >= first) & (numbers < last)]

    def own_blocks(self, rank: int) -> np.ndarray:
        """Blocks of one rank, in the order of its nodes."""
        rank = one_of("rank", rank, self.n_ranks, "rank", "split")
        return self.order[self.starts[rank] : self.starts[rank + 1]]


@dataclass(frozen=True, eq=False)
class Part:
    """What one rank holds of a graph; arrays on its device.

    Attributes
    ----------
    split : Split
    rank : int
    indptr : (n_own + 1,) int64
        Rows of the rank's nodes by their new numbers, which begin with ``split.first[rank]``.
    indices : (n_own_arcs,) int32
        New numbers of neighbours, those of any rank.
    """

    split: Split
    rank: int
    indptr: np.ndarray
    indices: np.ndarray


def split(indptr: np.ndarray, n_ranks: int, block: int | None = None) -> Split:
    """Deal the nodes of a graph to ranks, equal work to each.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64
        On the host.
    n_ranks : int
    block : int or None
        Nodes per block, a multiple of WORD; None: BLOCK, or less for small graphs.

    Raises
    ------
    GraphError
        If there are no ranks, no nodes, or too many nodes for int32 after rounding up to blocks;
        if ``block`` is not a multiple of WORD.
    """
    indptr = integer_row("indptr", to_host(indptr))
    n_nodes, n_ranks = len(indptr) - 1, whole_number("n_ranks", n_ranks)
    if n_ranks < 1 or n_nodes < 1:
        raise GraphError(f"{n_nodes} nodes cannot be split over {n_ranks} ranks")
    if block is None:
        room = n_nodes // (BLOCKS_EACH * n_ranks)
        block = max(WORD, min(BLOCK, room // WORD * WORD))
    block = _checked_block(block)
    n_blocks = -(-n_nodes // block)
    if n_blocks * block > MAX_NODES:
        raise GraphError(f"{n_nodes} nodes in blocks of {block} are more than {MAX_NODES}")
    edges = np.minimum(np.arange(n_blocks + 1) * block, n_nodes)
    return deal(n_nodes, block, np.diff(indptr[edges]), n_ranks)


def block_of(n_nodes: int, n_ranks: int) -> int:
    """The largest block that still balances: where parts are read from files, few long runs."""
    least = n_nodes // (BLOCKS_EACH * n_ranks)
    whole = BLOCK if least >= BLOCK else WORD
    return max(WORD, least // whole * whole)


def deal(n_nodes: int, block: int, n_arcs: np.ndarray, n_ranks: int) -> Split:
    """As ``split``, by the arcs of each block of nodes, (n_blocks,) int64."""
    block, n_blocks = _checked_block(block), len(n_arcs)
    work = n_arcs + NODE_WORK * np.diff(np.minimum(np.arange(n_blocks + 1) * block, n_nodes))
    owner = np.empty(n_blocks, np.int64)
    loads = [(0, rank) for rank in range(n_ranks)]
    for each in np.argsort(-work, kind="stable").tolist():
        load, rank = loads[0]
        owner[each] = rank
        heapq.heapreplace(loads, (load + int(work[each]), rank))
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(n_ranks + 1))
    return Split(n_nodes, block, order, starts.astype(OFFSET), int(n_arcs.sum()))


def _checked_block(block: int) -> int:
    """GraphError unless ranks begin at whole words then; others would share one and lose nodes."""
    block = whole_number("block", block, WORD)
    if block % WORD:
        raise GraphError(f"block is {block}; it must be a multiple of {WORD}")
    return block


def part_of(whole: Split, rank: int, read: Read, n_threads: int = 1) -> Part:
    """The rows of one rank, read run by run.

    Parameters
    ----------
    whole : Split
    rank : int
    read : callable
        ``read(first, last)`` gives the rows of nodes first .. last - 1 of the graph as (degree
        (last - first,), indices (n,) int32). Never called for what the rank does not own.
    n_threads : int
        How many may call it at the same time.
    """
    blocks = whole.own_blocks(rank)
    n_own = len(blocks) * whole.block
    degree = np.zeros(n_own, OFFSET)

    def heads_of(run: np.ndarray) -> np.ndarray:
        """New numbers of what the nodes of a run lead to; their degrees are kept."""
        begin = int(blocks[run[0]]) * whole.block
        end = min(whole.n_nodes, (int(blocks[run[-1]]) + 1) * whole.block)
        its_degree, its_heads = read(begin, end)
        at = int(run[0]) * whole.block
        degree[at : at + end - begin] = its_degree
        return whole.renumber(its_heads)

    cuts = np.flatnonzero(np.diff(blocks) != 1) + 1
    runs = np.split(np.arange(len(blocks)), cuts) if len(blocks) else []
    with Team(n_threads) as team:
        heads = team.map(heads_of, runs)
    indptr = np.zeros(n_own + 1, OFFSET)
    np.cumsum(degree, out=indptr[1:])
    indices = np.concatenate(heads) if heads else np.empty(0, NODE)
    return Part(whole, rank, indptr, indices)


def rows_of(indptr: np.ndarray, indices: np.ndarray) -> Read:
    """``read`` of ``part_of`` for a graph in host memory."""

    def read(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        return np.diff(indptr[first : last + 1]), indices[indptr[first] : indptr[last]]

    return read
