"""Searches from up to 64 nodes at once over the parts of a graph: bit l of a word is search l.

As in ``search``, a level goes top-down or bottom-up, the same way on all ranks. What travels is the
words of a rank's nodes, or a list of those that are not zero, whichever is smaller; a level whose
frontier is small takes one exchange.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.multi_source.rows import SourceRows
from kernels.partition.exchange import Collective
from kernels.partition.search import checked_sources
from kernels.partition.split import Part
from kernels.partition.sweep.steps import LANES, N_COUNTS, SweepSteps
from kernels.types import N_FARTHEST

__all__ = ["LANES", "SweepResult", "SweepSteps", "sweep"]

# Bottom-up once the frontier has more than an ALPHA-th of all arcs: a node then asks its neighbours
# until it has all that it lacks, mostly a few of them. As long as it has more than a BETA-th: most
# nodes lack nothing by then.
ALPHA, BETA = 8, 20


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(SourceRows):
    """Outcome of some searches; the same on all ranks.

    Attributes
    ----------
    sent_bytes : int
        By this rank.
    n_exchanges : int
    """

    sent_bytes: int = 0
    n_exchanges: int = 0


def sweep(
    steps: SweepSteps, part: Part, sources: Sequence[int] | np.ndarray, collective: Collective
) -> SweepResult:
    """Search from each of some nodes; called by every rank with the same sources.

    Parameters
    ----------
    steps : SweepSteps
        Of this rank's part; ``cpu.CpuSweepSteps`` or ``gpu.GpuSweepSteps``. Afterwards
        ``steps.deepest`` has the last level at which the last 64 searches found each own node.
    part : Part
    sources : (n_sources,) integers
        Nodes by the graph's own numbers, any number of them, repeated ones allowed.
    collective : Collective

    Raises
    ------
    GraphError
        If a source is not a node of the graph.
    ExchangeError
        If another rank does not answer.
    """
    numbers = part.split.renumber(checked_sources(sources, part.split))
    counts, farthest, done = [], [], _Exchange(steps, part, collective)
    for at in range(0, len(numbers), LANES):
        levels, last = _sweep(steps, part, numbers[at : at + LANES], done)
        counts += [column[column > 0] for column in levels.T]
        farthest += last
    hop_ptr, farthest_ptr = (_offsets(rows) for rows in (counts, farthest))
    return SweepResult(
        hop_ptr,
        np.concatenate([np.empty(0, np.int64), *counts]),
        (np.diff(hop_ptr) - 1).astype(np.int32),
        np.array([row.sum() for row in counts], np.int64),
        farthest_ptr,
        np.concatenate([np.empty(0, np.int32), *farthest]).astype(np.int32),
        done.sent_bytes,
        done.n_exchanges,
    )


def _offsets(rows: list[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)


def _sweep(
    steps: SweepSteps, part: Part, numbers: np.ndarray, exchange: _Exchange
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Nodes by level and lane, (n_levels, n_lanes); farthest nodes by lane."""
    steps.start(numbers)
    counts = exchange.settle(0)
    by_level, depth, is_bottom_up = [], 0, False
    while counts[:, 0].any():
        by_level.append(counts[:, 2 : 2 + len(numbers)].sum(axis=0))
        steps.keep(_mask(by_level[-1] > 0))
        depth += 1
        frontier, arcs = counts[:, :2].T.tolist()
        is_bottom_up = sum(arcs) * (BETA if is_bottom_up else ALPHA) > part.split.n_arcs
        if max(arcs) <= steps.small:
            steps.take_small()
        elif is_bottom_up:
            exchange.pull(frontier, arcs)
        else:
            exchange.push(frontier, arcs)
        counts = exchange.settle(depth)
    steps.keep(0)
    found = exchange.gather(steps.farthest(len(numbers)).ravel())
    each = found.reshape(len(found), len(numbers), N_FARTHEST).transpose(1, 0, 2)
    last = [np.sort(row[row >= 0])[:N_FARTHEST] for row in each.reshape(len(numbers), -1)]
    return np.array(by_level), last


def _mask(lanes: np.ndarray) -> int:
    """The word whose bits are the lanes that are set."""
    return int(sum(1 << lane for lane in np.flatnonzero(lanes).tolist()))


class _Exchange:
    """Levels of one rank, with what they send."""

    def __init__(self, steps: SweepSteps, part: Part, collective: Collective):
        self._steps, self._collective = steps, collective
        self._size = np.diff(part.split.first).tolist()  # of each rank, with padding
        self.sent_bytes = self.n_exchanges = 0

    def settle(self, depth: int) -> np.ndarray:
        """Counts of each rank's part of the frontier, (n_ranks, N_COUNTS)."""
        steps, message = self._steps, self._steps.settle(depth)
        self.n_exchanges += 1
        if self._collective.n_ranks > 1:
            self.sent_bytes += message.nbytes
        return self._collective.share(message, steps.every, N_COUNTS)

    def gather(self, values: np.ndarray) -> np.ndarray:
        self.n_exchanges += 1
        return self._collective.gather(values)

    def push(self, frontier: list[int], arcs: list[int]) -> None:
        """Hand each owner what was found of its nodes, at most as many as there were arcs."""
        steps, own = self._steps, self._collective.rank
        steps.push(frontier[own])
        outgoing: list[Any] = [None] * len(arcs)
        received: list[Any] = [None] * len(arcs)
        for rank, its_arcs in enumerate(arcs):
            if rank != own:
                outgoing[rank] = steps.found(rank, self._room(arcs[own], rank))
                received[rank] = steps.room(own, self._room(its_arcs, own))
        self._swap(outgoing, received)
        steps.take(received)

    def pull(self, frontier: list[int], arcs: list[int]) -> None:
        """Get the whole frontier, and ask neighbours for what is missing."""
        steps, own = self._steps, self._collective.rank
        if arcs[own] <= steps.small:
            steps.forget()
        rooms = [self._room(count, rank) for rank, count in enumerate(frontier)]
        mine = steps.frontier(rooms[own]) if len(rooms) > 1 else None
        outgoing = [None if rank == own else mine for rank in range(len(rooms))]
        received = [
            None if rank == own else steps.frontier_room(rank, room)
            for rank, room in enumerate(rooms)
        ]
        self._swap(outgoing, received)
        steps.take_frontier(received)
        steps.pull()

    def _swap(self, outgoing: list[Any], received: list[Any]) -> None:
        self._collective.swap(outgoing, received)
        self.n_exchanges += 1
        self.sent_bytes += sum(each.nbytes for each in outgoing if each is not None)

    def _room(self, most: int, owner: int) -> int | None:
        """Entries of a list of at most ``most`` nodes; None: all words are no larger."""
        return most if 1 + 3 * most < 2 * self._size[owner] else None
