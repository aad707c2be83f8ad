"""Distinct paths: which addresses traces passed one after the other, each path once, as trees.

Most traces go where others went, or begin as they did. So what depends on the addresses of a trace
alone, as whether two are in one trace, is asked of these trees in place of the traces: a node is a
hop, below the hop before it. A tree is read in one direction, each node before all below it, by
keeping the hops above (``depth`` says how many).

Each thread grows trees of its own, so a path may be in several. One that is large goes to disk, and
another is begun: memory does not grow with traces.

What traces were aimed at is kept beside, where their paths end, for destinations in announced
space, known by 31 bits of a hash. Of very many only some are looked at, always the same ones, so
that memory is bounded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numba import njit

from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import CUT, DESTINATION, is_repeated
from pipeline.infer.traces.spool import Traces, scratch_faults
from pipeline.model.random_words import mix

State = TypeVar("State")

# Flags of a node, below its address: its TTL follows that of the hop before; it is the own reply of
# the destination; a trace ends there.
FOLLOWS, OWN, END = 1, 2, 4
SHIFT = 3
DEEPEST = 256  # hops of a trace, and one

_MOST_NODES = 1 << 24  # of one tree: 0.4 GB while it grows
_FIRST_NODES = 1 << 12
_CHUNK = 1 << 16  # nodes whose paths are written out at a time
_MOST_TRACES = 1 << 23  # beyond, every second destination is looked at, every fourth ...
_SPARSER = 16  # so many times fewer where next hops are compared
_FOLD_ROWS = 1 << 21
_NUMBER = np.uint64(0x7FFF_FFFF)


@njit(cache=True, nogil=True, inline="always")
def addr_of(code):
    """Id of the address of a node; -1: a destination that is no router."""
    return np.int64(code >> SHIFT) - 1


@njit(cache=True, nogil=True)
def _slot_of(parent, code, slots, before, own):
    """Slot of the node below ``before`` with a code, or the empty one where it belongs."""
    mask = len(slots) - 1
    word = mix((np.uint64(before + 1) << np.uint64(32)) ^ np.uint64(own))
    slot = np.int64(word & np.uint64(mask))
    while slots[slot] >= 0 and (parent[slots[slot]] != before or code[slots[slot]] != own):
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _fill(parent, code, n_nodes, slots):
    for node in range(n_nodes):
        slots[_slot_of(parent, code, slots, parent[node], code[node])] = node


@njit(cache=True, nogil=True)
def _grow(hop_ptr, flags, ttl, ids, are_gaps, parent, code, is_end, n_nodes, slots, leaf):
    """Add some traces to a tree, and note the node at which each ends; how many nodes there are."""
    above = np.empty(DEEPEST, np.int32)  # nodes of the trace before, which often begins like this
    codes = np.empty(DEEPEST, np.uint32)
    n_above = 0
    for trace in range(len(hop_ptr) - 1):
        start, end = hop_ptr[trace], hop_ptr[trace + 1]
        node, is_same = np.int32(-1), True
        for row in range(start, end):
            level = row - start
            own = np.uint32(ids[row] + 1) << np.uint32(SHIFT)
            follows = row > start and ttl[row] == ttl[row - 1] + 1
            if follows and not (are_gaps and is_repeated(ttl, ids, row, end)):
                own |= np.uint32(FOLLOWS)
            if row + 1 == end and flags[trace] == DESTINATION:
                own |= np.uint32(OWN)
            is_same = is_same and level < n_above and codes[level] == own
            if is_same:
                node = above[level]
                continue
            slot = _slot_of(parent, code, slots, node, own)
            if slots[slot] < 0:
                slots[slot] = n_nodes
                parent[n_nodes], code[n_nodes], is_end[n_nodes] = node, own, False
                n_nodes += 1
            node = slots[slot]
            above[level], codes[level] = node, own
        n_above = end - start
        leaf[trace] = node
        if node >= 0:
            is_end[node] = True
    return n_nodes


@njit(cache=True, nogil=True)
def _order(parent, code, is_end):
    """Position of each node, and codes and depths by position: each before all below it."""
    n = len(parent)
    size = np.ones(n, np.int32)
    for node in range(n - 1, -1, -1):
        if parent[node] >= 0:
            size[parent[node]] += size[node]
    position, free = np.empty(n, np.int32), np.empty(n, np.int32)
    codes, depths = np.empty(n, np.uint32), np.empty(n, np.uint8)
    first_free = 0
    for node in range(n):
        before = parent[node]
        if before < 0:
            at, depth = first_free, 0
            first_free += size[node]
        else:
            at, depth = free[before], depths[position[before]] + 1
            free[before] += size[node]
        position[node], free[node] = at, at + 1
        codes[at], depths[at] = code[node], depth
        if is_end[node]:
            codes[at] |= np.uint32(END)
    return position, codes, depths


@njit(cache=True, nogil=True)
def _last_hops(code, depth, leaf):
    """By row of ``leaf``, ascending: the last address but the destination's reply; gap before it.

    -1 where there is none.
    """
    last, before_gap = np.full(len(leaf), -1, np.int32), np.zeros(len(leaf), np.bool_)
    above = np.empty(DEEPEST, np.uint32)
    row = 0
    for node in range(len(code)):
        at = np.int64(depth[node])
        above[at] = code[node]
        while row < len(leaf) and leaf[row] == node:
            if not code[node] & OWN:
                last[row] = addr_of(code[node])
            elif at:
                last[row] = addr_of(above[at - 1])
                before_gap[row] = not code[node] & FOLLOWS
            row += 1
    return last, before_gap


@njit(cache=True, nogil=True)
def _write_out(code, depth, above, hop_ptr, ids):
    """Paths that end at some nodes of a tree, whole; ``above`` is kept from node to node."""
    n_paths, n_hops = 0, np.int64(0)
    for node in range(len(code)):
        at = np.int64(depth[node])
        above[at] = addr_of(code[node])
        if code[node] & END:
            for level in range(at + 1):
                ids[n_hops + level] = above[level]
            n_hops += at + 1
            n_paths += 1
            hop_ptr[n_paths] = n_hops


class Tree(NamedTuple):
    """Distinct paths; each node before all that are below it.

    Attributes
    ----------
    code : (n_nodes,) uint32
        Address (``addr_of``) and flags of a hop.
    depth : (n_nodes,) uint8
        Hops before it.
    """

    code: np.ndarray
    depth: np.ndarray

    def whole_paths(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All paths, some at a time: (hop_ptr (n_paths + 1,) int64, ids (n_hops,) int32)."""
        above = np.empty(DEEPEST, np.int32)
        for start in range(0, len(self.code), _CHUNK):
            code, depth = self.code[start : start + _CHUNK], self.depth[start : start + _CHUNK]
            ends = code & END != 0
            n_paths, n_before = int(np.count_nonzero(ends)), int(depth[ends].sum(dtype=np.int64))
            hop_ptr = np.zeros(n_paths + 1, np.int64)
            ids = np.empty(n_before + n_paths, np.int32)
            _write_out(code, depth, above, hop_ptr, ids)
            yield hop_ptr, ids


class AimedPaths(NamedTuple):
    """Where paths of one tree end, and what they were aimed at; ``node`` ascends.

    Attributes
    ----------
    node : (n_rows,) int32
        At which the path ends.
    number : (n_rows,) int64
        Of the destination.
    asn : (n_rows,) int64
        AS of the destination by prefix.
    is_cut : (n_rows,) bool
    n_traces : (n_rows,) int64
    is_sparse : (n_rows,) bool
        One of the fewer destinations that are looked at where next hops are compared.
    last : (n_rows,) int32
        Last address before the destination's own reply; -1 for none.
    before_gap : (n_rows,) bool
        An unanswered hop lies between it and that reply.
    """

    node: np.ndarray
    number: np.ndarray
    asn: np.ndarray
    is_cut: np.ndarray
    n_traces: np.ndarray
    is_sparse: np.ndarray
    last: np.ndarray
    before_gap: np.ndarray

    def take(self, rows: np.ndarray) -> AimedPaths:
        """Some rows."""
        return AimedPaths(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class DistinctPaths:
    """All distinct paths.

    Attributes
    ----------
    trees : list of (Tree, AimedPaths)
    workers : int
        Threads that read them.
    """

    trees: list[tuple[Tree, AimedPaths]]
    workers: int = 1

    def ask(self, start: Callable[[], State], step: Callable[[State, Tree], None]) -> list[State]:
        """Feed every tree to ``step``; the state of each thread, which ``start`` makes."""
        return self.ask_aimed(start, lambda state, tree, _: step(state, tree))

    def ask_aimed(
        self, start: Callable[[], State], step: Callable[[State, Tree, AimedPaths], None]
    ) -> list[State]:
        """The same, with what the paths were aimed at."""

        def work(worker: int) -> State:
            state = start()
            for tree, aimed in self.trees[worker :: self.workers]:
                step(state, tree, aimed)
            return state

        if self.workers == 1:
            return [work(0)]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, range(self.workers)))


class _Rows(NamedTuple):
    """Traces that end at a node, aimed at one destination: ``place`` is twice the node, and 1 more
    for those cut short; ``word``: hash of the destination.
    """

    place: np.ndarray
    word: np.ndarray
    asn: np.ndarray
    n_traces: np.ndarray

    @classmethod
    def fold(cls, parts: list[_Rows]) -> _Rows:
        """Equal rows of some parts added up, in order."""
        place, word, asn, n_traces = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((word, place))
        place, word = place[order], word[order]
        first = np.ones(len(order), bool)
        first[1:] = (place[1:] != place[:-1]) | (word[1:] != word[:-1])
        starts = np.flatnonzero(first)
        n_traces = np.add.reduceat(n_traces[order], starts) if len(starts) else n_traces
        return cls(place[starts], word[starts], asn[order[starts]], n_traces)


_NO_ROWS = _Rows(
    np.empty(0, np.int32), np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int32)
)


@njit(cache=True, nogil=True)
def _hash(aimed_at):
    """(n_traces,) uint64: hash of each destination."""
    result = np.empty(len(aimed_at), np.uint64)
    for i in range(len(aimed_at)):
        result[i] = mix(mix(aimed_at[i, 0]) ^ aimed_at[i, 1])
    return result


def _is_looked_at(word: np.ndarray, n_traces: int) -> np.ndarray:
    """(n,) bool: which destinations are, by their hashes."""
    mask = np.uint64((1 << max(0, (n_traces - 1) // _MOST_TRACES).bit_length()) - 1)
    return (word >> np.uint64(31)) & mask == 0


class _Growing:
    """Trees of one thread while they grow."""

    def __init__(self, n_traces: int, scratch: Path | None, are_gaps: bool) -> None:
        self._n_traces, self._scratch, self._are_gaps = n_traces, scratch, are_gaps
        self._done: list[tuple[Tree, AimedPaths]] = []
        self._begin()

    def _begin(self) -> None:
        self._n_nodes = 0
        self._parent = np.empty(_FIRST_NODES, np.int32)
        self._code = np.empty(_FIRST_NODES, np.uint32)
        self._is_end = np.empty(_FIRST_NODES, np.bool_)
        self._slots = np.full(2 * _FIRST_NODES, -1, np.int32)
        self._rows = [_NO_ROWS]
        self._n_waiting = 0

    def _reserve(self, n_more: int) -> None:
        n_nodes = len(self._parent)
        while n_nodes < self._n_nodes + n_more:
            n_nodes *= 2
        if n_nodes > len(self._parent):
            self._parent, self._code, self._is_end = (
                np.concatenate([column, np.empty(n_nodes - len(column), column.dtype)])
                for column in (self._parent, self._code, self._is_end)
            )
            self._slots = np.full(2 * n_nodes, -1, np.int32)
            _fill(self._parent, self._code, self._n_nodes, self._slots)

    def add(self, traces: Traces) -> np.ndarray:
        """(n_traces,) int32: the node at which each ends; -1 for one without hops."""
        if self._n_nodes and self._n_nodes + len(traces.ids) > _MOST_NODES:
            tree, aimed = self._end()
            self._done.append((self._to_disk(tree), aimed))
            self._begin()
        self._reserve(len(traces.ids))
        leaf = np.empty(len(traces.flags), np.int32)
        self._n_nodes = _grow(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            self._are_gaps,
            self._parent,
            self._code,
            self._is_end,
            self._n_nodes,
            self._slots,
            leaf,
        )
        return leaf

    def aim(self, leaf: np.ndarray, word: np.ndarray, asn: np.ndarray, is_cut: np.ndarray) -> None:
        """Note what some of these traces were aimed at."""
        place = (leaf << 1) | is_cut
        self._rows.append(_Rows(place, word, asn, np.ones(len(word), np.int32)))
        self._n_waiting += len(word)
        if self._n_waiting > _FOLD_ROWS:
            self._rows, self._n_waiting = [_Rows.fold(self._rows)], 0

    def _end(self) -> tuple[Tree, AimedPaths]:
        n = self._n_nodes
        position, code, depth = _order(self._parent[:n], self._code[:n], self._is_end[:n])
        rows = _Rows.fold(self._rows)
        node = position[rows.place >> 1]
        order = np.argsort(node, kind="stable")
        node, word = node[order], rows.word[order]
        return Tree(code, depth), AimedPaths(
            node,
            (word & _NUMBER).astype(np.int64),
            rows.asn[order],
            (rows.place[order] & 1).astype(bool),
            rows.n_traces[order].astype(np.int64),
            _is_looked_at(word, _SPARSER * self._n_traces),
            *_last_hops(code, depth, node),
        )

    def _to_disk(self, tree: Tree) -> Tree:
        """The same, in a file that the system reads as needed; it is deleted with the spools."""
        columns = []
        folder = self._scratch or Path(tempfile.gettempdir())
        for column in tree:
            with (
                scratch_faults(folder),
                tempfile.NamedTemporaryFile(prefix="tree-", dir=folder, delete=False) as file,
            ):
                file.write(column.data)
                file.flush()
                columns.append(np.asarray(np.memmap(file.name, column.dtype, "r")))
        return Tree(*columns)

    def end(self) -> list[tuple[Tree, AimedPaths]]:
        """All trees of this thread."""
        return [*self._done, self._end()]


def find_distinct_paths(
    asn_of: Callable[[np.ndarray], np.ndarray],
    n_traces: int,
    workers: int,
    scratch: Path | None,
    *,
    are_gaps: bool = True,
) -> Finding[_Growing, DistinctPaths]:
    """Find the distinct paths of all traces.

    Parameters
    ----------
    asn_of : callable
        (n, 2) uint64 destinations -> (n,) int64 AS by prefix; ``NO_ASN`` for none.
    n_traces : int
        Of all observations.
    workers : int
        Threads that read the paths later.
    scratch : Path or None
        Folder for large trees. None: the system's.
    are_gaps : bool
        The first of two equal hops does not follow the hop before it.
    """

    def step(growing: _Growing, batch: Batch) -> None:
        leaf = growing.add(batch.traces)
        word = _hash(batch.destinations)
        seen = np.flatnonzero((leaf >= 0) & _is_looked_at(word, n_traces))
        asn = asn_of(batch.destinations[seen])
        seen, asn = seen[asn >= 0], asn[asn >= 0]
        growing.aim(leaf[seen], word[seen], asn, batch.traces.flags[seen] == CUT)

    def end(threads: list[_Growing]) -> DistinctPaths:
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(_Growing.end, threads))
        return DistinctPaths([tree for trees in parts for tree in trees], workers)

    return Finding(lambda: _Growing(n_traces, scratch, are_gaps), step, end)
