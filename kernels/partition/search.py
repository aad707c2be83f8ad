"""One breadth-first search over all parts of a graph: what every rank does, level by level.

It may start from several nodes at once, as from one of each component.

A level goes top-down or bottom-up [1]_, the same way on all ranks, since all decide by the same
numbers. Top-down, a rank follows the arcs of its own part of the frontier and sends each owner the
nodes that it found there; a node is sent at most once by each rank. Bottom-up, all ranks first get
the whole frontier, and each asks for its own open nodes whether a neighbour is in it. What is sent
is a bitmap of the owner's nodes or a list, whichever is smaller [2]_.

References
----------
.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
.. [2] F. Checconi, F. Petrini, "Traversing trillions of edges in real-time: graph exploration on
   large-scale parallel machines", IPDPS 2014.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from kernels.errors import GraphError
from kernels.partition.exchange import Collective
from kernels.partition.split import WORD, Part, Split

# Bottom-up while the frontier's arcs are more than an ALPHA-th of the arcs of open nodes, and its
# nodes more than a BETA-th of all.
ALPHA = 15
BETA = 64


class Steps(Protocol):
    """What one rank does on its own device.

    Maps have a bit for each node of the graph. What travels is the words of one rank's nodes, or a
    list of int32: how many nodes, then their numbers, with ``room`` for at least so many; for a
    bitmap ``room`` is None.
    """

    def start(self, sources: np.ndarray) -> None:
        """Forget the last search; ``sources``, new numbers, may be other ranks'."""
        ...

    def expand(self, n_front: int) -> None:
        """Find nodes top-down from the ``n_front`` own nodes of the frontier."""
        ...

    def found(self, rank: int, room: int | None) -> Any:
        """What was found of a rank's nodes."""
        ...

    def room(self, room: int | None) -> Any:
        """Where to put what another rank found of this one's nodes."""
        ...

    def take(self, received: list[Any]) -> None:
        """All have sent what they found; add it, and forget what was found of others' nodes."""
        ...

    def frontier(self, room: int | None) -> Any:
        """The rank's own part of the frontier."""
        ...

    def frontier_room(self, rank: int, room: int | None) -> Any:
        """Where to put another rank's part of it."""
        ...

    def take_frontier(self, received: list[Any]) -> None:
        """All parts have arrived."""
        ...

    def scan(self) -> None:
        """Find own nodes bottom-up."""
        ...

    def settle(self, depth: int) -> Any:
        """Own nodes that were found get a level; returns (nodes, their arcs), (2,) int64."""
        ...

    def levels(self) -> Any:
        """Levels of the rank's own nodes, (n_own,) int32."""
        ...


@dataclass(eq=False)
class PartResult:
    """What a rank knows after a search.

    Attributes
    ----------
    level : (n_own,) int32
        Hops from the nearest source of the rank's own nodes, in the order of its part, UNREACHED
        where no path leads; on the rank's device.
    eccentricity, n_reached : int
        Of the whole graph.
    n_bottom_up : int
        Levels that went bottom-up.
    sent_bytes : int
        By this rank, small numbers apart.
    waited_s : float
        This rank's time in exchanges, as the host sees it: the device's own work that was still
        in progress is part of it.
    """

    level: Any
    eccentricity: int
    n_reached: int
    n_bottom_up: int = 0
    sent_bytes: int = 0
    waited_s: float = 0.0


@dataclass(eq=False)
class _Rank:
    steps: Steps
    collective: Collective
    whole: Split
    result: PartResult = field(default_factory=lambda: PartResult(None, 0, 0))

    def gather(self, values: Any) -> np.ndarray:
        begin = time.perf_counter()
        every = self.collective.gather(values)
        self.result.waited_s += time.perf_counter() - begin
        return every

    def swap(self, outgoing: list[Any], incoming: list[Any]) -> None:
        begin = time.perf_counter()
        self.collective.swap(outgoing, incoming)
        self.result.waited_s += time.perf_counter() - begin
        self.result.sent_bytes += sum(each.nbytes for each in outgoing if each is not None)

    def n_words(self, rank: int) -> int:
        first = self.whole.first
        return int(first[rank + 1] - first[rank]) // WORD

    def top_down(self, n_front: int, arcs: list[int]) -> None:
        """Find nodes from the own part of the frontier, and hand each owner its own.

        A rank finds no more nodes than the frontier has arcs there (``arcs``), so all know the size
        of every message beforehand.
        """
        steps, own = self.steps, self.collective.rank
        steps.expand(n_front)
        outgoing: list[Any] = [None] * len(arcs)
        received: list[Any] = [None] * len(arcs)
        for rank, its_arcs in enumerate(arcs):
            if rank != own:
                outgoing[rank] = steps.found(rank, self.room(arcs[own], rank))
                received[rank] = steps.room(self.room(its_arcs, own))
        self.swap(outgoing, received)
        steps.take(received)

    def room(self, most: int, owner: int) -> int | None:
        """Room for a list of at most ``most`` nodes; None: a bitmap is no larger."""
        return most if most < self.n_words(owner) else None

    def bottom_up(self, frontier: list[int]) -> None:
        """Get the whole frontier, and ask for open nodes."""
        steps, own = self.steps, self.collective.rank
        rooms = [self.room(count, rank) for rank, count in enumerate(frontier)]
        mine = steps.frontier(rooms[own]) if len(rooms) > 1 else None
        received = [
            None if rank == own else steps.frontier_room(rank, room)
            for rank, room in enumerate(rooms)
        ]
        self.swap([None if rank == own else mine for rank in range(len(rooms))], received)
        steps.take_frontier(received)
        steps.scan()


def search(
    steps: Steps, part: Part, source: int | Sequence[int] | np.ndarray, collective: Collective
) -> PartResult:
    """Search the whole graph from one node or some; called by every rank with the same ones.

    Parameters
    ----------
    steps : Steps
        Of this rank's part; ``cpu.CpuSteps`` or ``gpu.GpuSteps``.
    part : Part
    source : int or sequence of int
        Nodes of the graph, by the graph's own numbers.
    collective : Collective

    Raises
    ------
    GraphError
        If a source is not a node of the graph.
    ExchangeError
        If another rank does not answer.
    """
    whole = part.split
    rank = _Rank(steps, collective, whole)
    steps.start(whole.renumber(checked_sources(source, whole)))
    counts = rank.gather(steps.settle(0))
    rank.result.n_reached = int(counts[:, 0].sum())
    open_arcs = whole.n_arcs - int(counts[:, 1].sum())
    depth, is_bottom_up = 0, False
    while counts[:, 0].any():
        depth += 1
        n_front, front_arcs = counts.sum(axis=0).tolist()
        is_wide = n_front * BETA > whole.n_nodes
        is_bottom_up = is_wide and (is_bottom_up or front_arcs * ALPHA > open_arcs)
        if is_bottom_up:
            rank.bottom_up(counts[:, 0].tolist())
            rank.result.n_bottom_up += 1
        else:
            rank.top_down(int(counts[collective.rank, 0]), counts[:, 1].tolist())
        counts = rank.gather(steps.settle(depth))
        open_arcs -= int(counts[:, 1].sum())
        rank.result.n_reached += int(counts[:, 0].sum())
    rank.result.eccentricity = max(0, depth - 1)
    rank.result.level = steps.levels()
    return rank.result


def checked_sources(sources: int | Sequence[int] | np.ndarray, whole: Split) -> np.ndarray:
    """(n,) int64; GraphError that names the first source that is not a node of the graph."""
    checked = np.atleast_1d(np.asarray(sources, np.int64))
    wrong = np.flatnonzero((checked < 0) | (checked >= whole.n_nodes))
    if len(wrong):
        raise GraphError(
            f"source {checked[wrong[0]]} is not a node; the graph has {whole.n_nodes} nodes"
        )
    return checked
