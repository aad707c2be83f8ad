"""One breadth-first search over all parts of a graph: what every rank does, level by level.

It may start from several nodes at once, as from one of each component.

A level goes top-down or bottom-up [1]_, the same way on all ranks, since all decide by the same
numbers. Top-down, a rank follows the arcs of its own part of the frontier and sends each owner the
nodes that it found there; a node is sent at most once by each rank. Bottom-up, all ranks first get
the whole frontier, and each asks for its own open nodes whether a neighbour is in it. What is sent
is a bitmap of the owner's nodes or a list, whichever is smaller [2]_.

At every level each rank tells all others the size of its part of the frontier. While that is small,
on the first and last levels and throughout a long graph, it has expanded it already, and tells what
it found too: a level is one exchange then, two otherwise (``message``). A rank alone could not do
the first levels sooner: it has no rows but its own, so each level of it would take two exchanges,
one to ask for rows and one to get them.

Where a frontier that is sent as a bitmap grows, the next level goes bottom-up mostly. Then the
first half of a rank's words is on its way to the others while it looks through the second one.

References
----------
.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
.. [2] F. Checconi, F. Petrini, "Traversing trillions of edges in real-time: graph exploration on
   large-scale parallel machines", IPDPS 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.arguments import as_index, integer_row
from kernels.csr import to_host
from kernels.errors import GraphError
from kernels.partition.exchange import Collective
from kernels.partition.exchange.message import N_COUNTS
from kernels.partition.profile import Profile
from kernels.partition.split import WORD, Part, Split
from kernels.partition.steps import Steps, half_of
from kernels.words import number

# Bottom-up while the frontier's arcs are more than an ALPHA-th of the arcs of open nodes, and its
# nodes more than a BETA-th of all; as in the search on one GPU.
ALPHA = 8
BETA = 256
# Words are sent early if a rank gets at least this many bytes by it: at 300 GB/s they take 14 us, a
# second launch takes 5 to 10.
EARLY_BYTES = 4 << 20


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
    n_small, n_bottom_up : int
        Levels that took one exchange, and that went bottom-up.
    n_early : int
        Levels at which half of the frontier had arrived early.
    n_exchanges : int
    sent_bytes : int
        By this rank.
    """

    level: Any
    eccentricity: int
    n_reached: int
    n_small: int = 0
    n_bottom_up: int = 0
    n_early: int = 0
    n_exchanges: int = 0
    sent_bytes: int = 0


@dataclass(eq=False)
class _Rank:
    steps: Steps
    collective: Collective
    whole: Split
    profile: Profile | None
    early_bytes: int
    result: PartResult = field(default_factory=lambda: PartResult(None, 0, 0))
    halves: list[Any] | None = None  # of the others' frontiers, that have arrived

    def exchange(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the collective, and count it."""
        self.result.n_exchanges += 1
        if self.profile is None:
            return call(*arguments)
        self.steps.synchronize()
        self.profile.lap("computed_s")
        self.collective.gather(np.zeros(1, np.int64))
        self.profile.lap("waited_s")
        value = call(*arguments)
        self.steps.synchronize()
        self.profile.lap("sent_s")
        return value

    def settle(self, depth: int) -> tuple[list[int], list[int]]:
        """Nodes of each rank's part of the frontier, and their arcs."""
        message = self.steps.settle(depth)
        counts: np.ndarray = self.exchange(
            self.collective.share, message, self.steps.every, N_COUNTS
        )
        if self.collective.n_ranks > 1:
            self.result.sent_bytes += message.nbytes
        nodes, arcs = counts.T.tolist()
        self.result.n_reached += sum(nodes)
        return nodes, arcs

    def swap(self, outgoing: list[Any], incoming: list[Any]) -> None:
        self.exchange(self.collective.swap, outgoing, incoming)
        self.count_bytes(outgoing)

    def count_bytes(self, outgoing: list[Any]) -> None:
        self.result.sent_bytes += sum(each.nbytes for each in outgoing if each is not None)

    def n_words(self, rank: int) -> int:
        first = self.whole.first
        return int(first[rank + 1] - first[rank]) // WORD

    def room(self, most: int, owner: int) -> int | None:
        """Room for a list of at most ``most`` nodes; None: a bitmap is no larger."""
        return most if most < self.n_words(owner) else None

    def to_others(self, array: Any) -> list[Any]:
        """The same to each other rank."""
        own = self.collective.rank
        return [None if rank == own else array for rank in range(self.collective.n_ranks)]

    def small(self) -> None:
        """Everything has been expanded, and what was found has arrived with the counts."""
        self.steps.take_small()
        self.halves = None
        self.result.n_small += 1

    def top_down(self, n_front: int, arcs: list[int]) -> None:
        """Find nodes from this rank's part of the frontier, and hand each owner its nodes.

        A rank finds no more nodes than the frontier has arcs there (``arcs``), so all know the size
        of every message beforehand.
        """
        steps, own = self.steps, self.collective.rank
        self.halves = None
        steps.expand(n_front)
        outgoing: list[Any] = [None] * len(arcs)
        received: list[Any] = [None] * len(arcs)
        for rank, its_arcs in enumerate(arcs):
            if rank != own:
                outgoing[rank] = steps.found(rank, self.room(arcs[own], rank))
                received[rank] = steps.room(self.room(its_arcs, own))
        self.swap(outgoing, received)
        steps.take(received)

    def bottom_up(self, frontier: list[int], arcs: list[int], is_growing: bool) -> None:
        """Get the whole frontier, and ask for open nodes."""
        steps, own = self.steps, self.collective.rank
        if arcs[own] <= steps.small:
            steps.forget()
        if len(frontier) > 1:
            rooms = [self.room(count, rank) for rank, count in enumerate(frontier)]
            begins = [0] * len(rooms)
            if self.halves is not None:
                rooms = [None] * len(rooms)
                begins = [half_of(self.n_words(rank)) for rank in range(len(rooms))]
                self.result.n_early += 1
            received = [
                None if rank == own else steps.frontier_room(rank, rooms[rank], begins[rank])
                for rank in range(len(rooms))
            ]
            self.swap(self.to_others(steps.frontier(rooms[own], begins[own])), received)
            steps.take_frontier(received, self.halves)
        self.scan(is_growing)
        self.result.n_bottom_up += 1

    def scan(self, is_growing: bool) -> None:
        """Find own nodes; the first half is sent early where it is worth it."""
        steps, own, ranks = self.steps, self.collective.rank, range(self.collective.n_ranks)
        least = min(sum(half_of(self.n_words(r)) for r in ranks if r != rank) for rank in ranks)
        if not is_growing or 4 * least < self.early_bytes or least == 0:
            self.halves = None
            steps.scan()
            return
        middle = half_of(self.n_words(own))
        self.halves = [None if rank == own else steps.half_room(rank) for rank in ranks]
        steps.scan(0, middle)
        outgoing = self.to_others(steps.found_half())
        self.exchange(self.collective.begin, outgoing, self.halves)
        self.count_bytes(outgoing)
        steps.scan(middle, None)
        if self.profile is not None:
            steps.synchronize()
            self.profile.lap("computed_s")
        self.collective.end()
        if self.profile is not None:
            steps.synchronize()
            after_s = self.profile.lap("sent_s")
            self.profile.overlapped_s += max(0.0, self.collective.span_s() - after_s)


def search(
    steps: Steps,
    part: Part,
    source: int | Sequence[int] | np.ndarray,
    collective: Collective,
    profile: Profile | None = None,
    early_bytes: int = EARLY_BYTES,
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
    profile : Profile or None
        To be added to; slower. On all ranks or on none.
    early_bytes : int
        Half of a frontier is sent while the other half is still being found if each rank gets at
        least that much so.

    Raises
    ------
    GraphError
        If a source is not a node of the graph.
    ExchangeError
        If another rank does not answer.
    """
    whole = part.split
    rank = _Rank(steps, collective, whole, profile, early_bytes)
    if profile is not None:
        profile.begin()
    steps.start(whole.renumber(checked_sources(source, whole)))
    nodes, arcs = rank.settle(0)
    open_arcs = whole.n_arcs - sum(arcs)
    depth, is_bottom_up, n_before = 0, False, 0
    while (n_front := sum(nodes)) > 0:
        depth += 1
        is_wide = n_front * BETA > whole.n_nodes
        is_bottom_up = is_wide and (is_bottom_up or sum(arcs) * ALPHA > open_arcs)
        if max(arcs) <= steps.small:
            rank.small()
        elif is_bottom_up:
            rank.bottom_up(nodes, arcs, n_front > n_before)
        else:
            rank.top_down(nodes[collective.rank], arcs)
        n_before = n_front
        nodes, arcs = rank.settle(depth)
        open_arcs -= sum(arcs)
    rank.result.eccentricity = max(0, depth - 1)
    rank.result.level = steps.levels()
    if profile is not None:
        steps.synchronize()
        profile.lap("computed_s")
        profile.n_exchanges += rank.result.n_exchanges
    return rank.result


def checked_sources(sources: int | Sequence[int] | np.ndarray, whole: Split) -> np.ndarray:
    """(n,) int64; GraphError that names the first source that is not a node of the graph."""
    one = as_index(sources)
    checked = integer_row("sources", to_host(sources)) if one is None else np.array([one])
    wrong = np.flatnonzero((checked < 0) | (checked >= whole.n_nodes))
    if len(wrong):
        held = number(whole.n_nodes, "node")
        raise GraphError(f"source {checked[wrong[0]]} is not a node; the graph has {held}")
    return checked.astype(np.int64)
