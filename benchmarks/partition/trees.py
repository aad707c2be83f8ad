"""Trees of searches over the parts of a drawn graph on GPUs, one rank each, as Graph500 has them.

A rank's rows ascend, so the parent of a node is its smallest neighbour one level up by new numbers,
as of ``bfs`` on one GPU; how levels of others come to a rank for it is two bits a node.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from typing import Any

import cupy as cp
import numpy as np

from benchmarks.partition import drawn as room
from benchmarks.partition.drawn import Drawn, drawn_part, split_of
from kernels._cuda.constants import WARP
from kernels._cuda.launch import BLOCK as THREADS
from kernels._cuda.launch import grid_for
from kernels._cuda.loader import load_kernel
from kernels.breadth_first import gpu as breadth_first
from kernels.breadth_first.footprint import max_segments
from kernels.partition import Collective, Part, Split, search
from kernels.partition.check import every_level
from kernels.partition.gpu import GpuSteps
from kernels.partition.split import BLOCK


class Parents:
    """Parents of own nodes, from levels."""

    def __init__(self, part: Part, collective: Collective):
        self._part, self._collective = part, collective
        self._thirds = cp.empty(int(part.split.first[-1]) // 4, np.uint8)
        n = max_segments(part.indices.size)
        segments = cp.zeros(2 * n + 1, np.int32)
        self._n, self._hubs = n, (segments[:n], segments[n : 2 * n], segments[2 * n :])

    def __call__(self, root: int, level: Any) -> Any:
        """(n_own,) int32 by new numbers, -1: none; ``root`` by its new number."""
        part, rank = self._part, self._part.rank
        first, n_own = part.split.first, part.indptr.size - 1
        thirds = [self._thirds[first[r] // 4 : first[r + 1] // 4] for r in range(len(first) - 1)]
        own = thirds[rank]
        _launch("bfs_thirds", own.size, cp.int64(n_own), level, own)
        others: list[Any] = [each.view(np.uint32) for each in thirds]
        outgoing: list[Any] = [others[rank]] * len(others)
        others[rank] = outgoing[rank] = None
        self._collective.swap(outgoing, others)
        parent = cp.empty(n_own, np.int32)
        self._hubs[2].fill(0)
        numbers = (cp.int64(n_own), cp.int32(root))
        rows = (part.indptr, part.indices)
        arrays = (level, self._thirds, parent)
        _launch("bfs_parents", n_own, *rows, *numbers, *arrays, *self._hubs)
        if self._n:
            _launch("bfs_hub_parents", WARP * self._n, *rows, *arrays, *self._hubs)
        if first[rank] <= root < first[rank + 1]:
            parent[root - int(first[rank])] = root
        return parent


def _launch(name: str, n_threads: int, *args: Any) -> None:
    if n_threads:
        load_kernel(breadth_first.__file__, name)((grid_for(n_threads),), (THREADS,), args)


class Checker:
    """Validates trees of one graph on the current GPU, with others a share of the links each."""

    def __init__(self, drawn: Drawn, order: np.ndarray, collective: Collective | None = None):
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        self._drawn, self._place, self._collective = drawn, cp.asarray(place), collective
        rank, n_ranks = (collective.rank, collective.n_ranks) if collective else (0, 1)
        self._links = [drawn.n_links * r // n_ranks for r in (rank, rank + 1)]

    def n_links(self, root: int, parent: Any, level: Any) -> int:
        """Links of the list in the component; AssertionError unless the tree is right.

        All by new numbers, and of all nodes.
        """
        n = self._drawn.n_nodes
        own = cp.full(n, -1, np.int32)
        own[root] = 0
        if int(parent[root]) != root:
            raise AssertionError(f"root {root} has the parent {int(parent[root])}")
        step, depth, n_reached = load_kernel(room.__file__, "next_levels"), 0, 1
        while True:
            depth += 1
            n_found = cp.zeros(1, np.uint64)
            step((4096,), (256,), (np.int64(n), parent, own, np.int32(depth), n_found))
            if not int(n_found[0]):
                break
            n_reached += int(n_found[0])
        if n_reached != int(cp.count_nonzero(parent >= 0)):
            raise AssertionError(f"root {root}: parents of some nodes do not lead to the root")
        if not bool((own == level).all()):
            raise AssertionError(f"root {root}: levels are not those of the tree")
        del own
        is_link, counts = cp.zeros(-(-n // 32), np.uint32), cp.zeros(2, np.uint64)
        *graph, _ = self._drawn.arguments()
        links = [np.int64(each) for each in self._links]
        args = (np.int32(BLOCK), self._place, parent, level, is_link, counts[:1], counts[1:])
        load_kernel(room.__file__, "check_links")((4096,), (256,), (*graph, *links, *args))
        wrong, inside = self._sums(counts, is_link)
        if wrong:
            raise AssertionError(
                f"root {root}: {wrong} links join nodes that are not a level apart"
            )
        seen = int(sum(int(cp.count_nonzero(is_link & np.uint32(1 << k))) for k in range(32)))
        if seen != n_reached - 1:
            raise AssertionError(f"root {root}: {n_reached - 1 - seen} parents are not linked")
        return inside

    def _sums(self, counts: Any, is_link: Any) -> tuple[int, int]:
        """Of all ranks; what links they have seen is put together too."""
        if self._collective is None:
            wrong, inside = (int(each) for each in counts.get())
            return wrong, inside
        ranks, own = range(self._collective.n_ranks), self._collective.rank
        theirs = [None if r == own else cp.empty_like(is_link) for r in ranks]
        self._collective.swap([None if r == own else is_link for r in ranks], theirs)
        every = self._collective.gather(counts.view(np.int64))
        for each in theirs:
            if each is not None:
                is_link |= each
        wrong, inside = every.sum(axis=0).tolist()
        return wrong, inside


def roots_of(drawn: Drawn, whole: Split, has_links: Any, n_roots: int) -> list[int]:
    """Different random nodes with links, by the graph's own numbers.

    ``has_links``: of (n,) int32 new numbers (n,) bool on the host.
    """
    tried = np.random.default_rng(2).permutation(min(drawn.n_nodes, 64 * n_roots))
    tried = (tried * (drawn.n_nodes // len(tried))).astype(np.int64)
    roots: list[int] = tried[has_links(whole.renumber(tried))][:n_roots].tolist()
    return roots


def searched(
    drawn: Drawn, collective: Collective, n_roots: int, is_checked: bool, at_once: int
) -> dict[str, Any]:
    """What one rank finds; called by all."""
    rank, wait = collective.rank, cp.cuda.Device().synchronize
    started = time.perf_counter()

    def say(what: str) -> None:
        if rank == 0:
            print(f"{time.perf_counter() - started:7.1f} s: {what}", file=sys.stderr, flush=True)

    say(f"{collective.n_ranks} GPUs are connected")
    collective.gather(np.zeros(1, np.int64))
    begin = time.perf_counter()
    whole, n_arcs = split_of(drawn, collective.n_ranks)
    part = drawn_part(drawn, whole, n_arcs, rank, at_once=at_once)
    wait()
    n_held = int(collective.gather(np.array([part.indices.size], np.int64)).sum())
    construction_s = time.perf_counter() - begin
    say(f"{n_held} arcs are in {collective.n_ranks} parts")
    steps = GpuSteps(part)
    part, parents = steps.part, Parents(steps.part, collective)
    checker = Checker(drawn, whole.order, collective)

    def has_links(numbers: np.ndarray) -> np.ndarray:
        first, last = whole.first[rank : rank + 2]
        is_own = (numbers >= first) & (numbers < last)
        found = np.zeros(len(numbers), np.int64)
        degree = cp.diff(part.indptr)[cp.asarray(numbers[is_own] - int(first))]
        found[is_own] = (degree > 0).get()
        return collective.gather(found).any(axis=0)

    roots = roots_of(drawn, whole, has_links, n_roots)
    numbers = whole.renumber(np.array(roots)).tolist()
    rows, checked_s = [], 0.0
    for i, (root, number) in enumerate([(roots[0], numbers[0]), *zip(roots, numbers, strict=True)]):
        collective.gather(np.zeros(1, np.int64))
        begin = time.perf_counter()
        found = search(steps, part, root, collective)
        wait()
        level_s = time.perf_counter() - begin
        parent = parents(number, found.level)
        wait()
        tree_s = time.perf_counter() - begin
        begin = time.perf_counter()
        n_links = 0
        if is_checked and i:
            tree = every_level(part, parent, collective)
            level = every_level(part, found.level, collective)
            n_links = checker.n_links(number, tree, level)
            del tree, level
        checked_s += time.perf_counter() - begin
        rows.append((tree_s, level_s, n_links, found.n_reached))
        if i % 8 == 0:
            say(f"{i} of {len(roots)} roots, the last in {1e3 * tree_s:.1f} ms")
        del found, parent
    return {
        "rows": rows[1:],  # the first one compiled
        "n_arcs": n_held,
        "graph_bytes": part.indptr.nbytes + part.indices.nbytes,
        "construction_s": construction_s,
        "validation_s": checked_s,
        "pool_bytes": cp.get_default_memory_pool().total_bytes(),
    }


def on_gpus(
    drawn: Drawn, n_ranks: int, n_roots: int, is_checked: bool, at_once: int
) -> list[dict[str, Any]]:
    """What each rank, a process with a GPU of its own, finds."""
    from kernels.partition.exchange.nccl import unique_name

    context, name = multiprocessing.get_context("spawn"), unique_name()
    pipes, ranks = [], []
    for rank in range(n_ranks):
        ours, theirs = context.Pipe(duplex=False)
        asked = (n_roots, is_checked, at_once)
        args = (drawn, n_ranks, rank, name, asked, theirs)
        ranks.append(context.Process(target=_process, args=args))
        ranks[-1].start()
        theirs.close()
        pipes.append(ours)
    ends = [pipe.recv() for pipe in pipes]
    for each in ranks:
        each.join()
    return ends


def _process(
    drawn: Drawn, n_ranks: int, rank: int, name: bytes, asked: tuple[int, bool, int], pipe: Any
) -> None:
    from kernels.partition.exchange.nccl import NcclCollective

    cp.cuda.Device(rank).use()
    pipe.send(searched(drawn, NcclCollective(n_ranks, name, rank), *asked))
