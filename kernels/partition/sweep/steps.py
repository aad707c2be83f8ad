"""What one rank does in a sweep, apart from three compiled steps; NumPy or CuPy arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kernels.partition.exchange.message import items
from kernels.partition.split import Part
from kernels.partition.sweep.constants import HEAD
from kernels.types import LEVEL, NODE, UNREACHED

LANES = 64
SMALL = 1312  # arcs: a message is 16 KiB then
N_COUNTS = 2 + LANES  # nodes of a frontier, their arcs, nodes of each lane
LANE = np.dtype(np.uint64)
_HALF = np.dtype(np.uint32)  # messages have items of four bytes


class SweepSteps(ABC):
    """One rank's words, one per node of the graph in each of four arrays.

    What travels is the words of one rank's nodes as uint32, or a list of int32: how many nodes,
    then for each its number and the two halves of its word. A message, as those of
    ``exchange.message``, has N_COUNTS counts, how many nodes are listed, and from HEAD on such
    entries.

    Parameters
    ----------
    part : Part
        Its arrays are on the device.
    xp : module
        NumPy or CuPy.
    small : int
        Most arcs of a frontier that is expanded at once.

    Attributes
    ----------
    deepest : (n_own,) int32
        The last level at which a node was found by any lane; UNREACHED.
    """

    def __init__(self, part: Part, xp: Any, small: int = SMALL):
        self.part, self.xp, self.small = part, xp, small
        self.edge = part.split.first.tolist()
        rank = part.rank
        self.own = slice(self.edge[rank], self.edge[rank + 1])
        self.seen, self.found_words, self.front, self.before = (
            xp.zeros(self.edge[-1], LANE) for _ in range(4)
        )
        n_own = len(part.indptr) - 1
        self.last = xp.zeros(n_own, LANE)
        self.deepest = xp.empty(n_own, LEVEL)
        self.alive = 0
        length = HEAD + items(3 * small) // 2
        self.message = xp.zeros(length, np.int64)
        self.every = xp.zeros((part.split.n_ranks, length), np.int64)

    def start(self, numbers: np.ndarray) -> None:
        """Forget the last sweep; lane i starts from the node numbers[i], perhaps another rank's."""
        for array in (self.seen, self.found_words, self.last):
            array.fill(0)
        self.deepest.fill(UNREACHED)
        self.alive = (1 << len(numbers)) - 1
        is_own = (numbers >= self.own.start) & (numbers < self.own.stop)
        lanes = np.flatnonzero(is_own)
        nodes, place = np.unique(numbers[lanes], return_inverse=True)
        words = np.zeros(len(nodes), LANE)
        np.bitwise_or.at(words, place, LANE.type(1) << lanes.astype(LANE))
        if len(nodes):
            self.found_words[self.xp.asarray(nodes)] = self.xp.asarray(words)

    @abstractmethod
    def push(self, n_front: int) -> None:
        """Find nodes top-down from the ``n_front`` own nodes of the frontier."""

    @abstractmethod
    def pull(self) -> None:
        """Find own nodes bottom-up."""

    @abstractmethod
    def settle(self, depth: int) -> Any:
        """What was found of own nodes is the frontier, in ``front``; returns a message, int64.

        The own part of the last one is in ``before`` until the next call.

        If the frontier has at most ``small`` arcs, it is expanded too, and the message lists what
        was found of others' nodes.
        """

    @abstractmethod
    def take_small(self) -> None:
        """All frontiers are small, and ``every`` has the messages: add what others found."""

    def forget(self) -> None:
        """Forget what was found of others' nodes."""
        self.found_words[: self.own.start].fill(0)
        self.found_words[self.own.stop :].fill(0)

    def keep(self, alive: int) -> None:
        """Lanes without a bit in ``alive`` found nothing now: their last frontier is ``before``."""
        ended, self.alive = self.alive & ~alive, alive
        if ended:
            self.keep_last(ended)

    def keep_last(self, ended: int) -> None:
        """Add to ``last`` what some lanes have in ``before``."""
        self.last |= self.before[self.own] & LANE.type(ended)

    def found(self, rank: int, room: int | None) -> Any:
        """What was found of a rank's nodes."""
        return self._message(self.found_words, rank, room)

    def frontier(self, room: int | None) -> Any:
        """The rank's own part of the frontier."""
        return self._message(self.front, self.part.rank, room)

    def room(self, rank: int, room: int | None) -> Any:
        """Where to put a message about the nodes of ``rank``."""
        if room is not None:
            return self.xp.empty(items(1 + 3 * room), NODE)
        return self.xp.empty(2 * (self.edge[rank + 1] - self.edge[rank]), _HALF)

    def frontier_room(self, rank: int, room: int | None) -> Any:
        """Where to put another rank's part of the frontier."""
        if room is None:
            return self.front[self.edge[rank] : self.edge[rank + 1]].view(_HALF)
        return self.room(rank, room)

    def take(self, received: list[Any]) -> None:
        """Add what others found of own nodes, and forget what was found of theirs."""
        own, seen, found = self.own, self.seen, self.found_words
        for each in received:
            if each is None:
                continue
            if each.dtype == NODE:
                at, words = self._entries(each)
            else:
                at, words = own, each.view(LANE)
            new = words & ~seen[at]
            seen[at] |= new
            found[at] |= new
        self.forget()

    def take_frontier(self, received: list[Any]) -> None:
        """All parts of the frontier have arrived."""
        for rank, each in enumerate(received):
            if each is None:
                continue
            theirs = slice(self.edge[rank], self.edge[rank + 1])
            if each.dtype == NODE:
                self.front[theirs].fill(0)
                at, words = self._entries(each)
                self.front[at] = words
            self.seen[theirs] |= self.front[theirs]

    def farthest(self, n_lanes: int) -> Any:
        """The first N_FARTHEST own nodes of the last level of each lane, else -1.

        Returns
        -------
        (n_lanes, N_FARTHEST) int64
            By the graph's own numbers: own nodes ascend by them too.
        """
        found = self.farthest_places(n_lanes).astype(np.int64)
        is_any = found >= 0
        found[is_any] = self.part.split.original(self.own.start + found[is_any])
        return found

    @abstractmethod
    def farthest_places(self, n_lanes: int) -> np.ndarray:
        """The same by places among own nodes."""

    def _message(self, array: Any, rank: int, room: int | None) -> Any:
        words = array[self.edge[rank] : self.edge[rank + 1]]
        if room is None:
            return words.view(_HALF)
        nodes = self.xp.flatnonzero(words)
        listed = self.xp.zeros(items(1 + 3 * room), NODE)
        listed[0] = len(nodes)
        entries = listed[1 : 1 + 3 * len(nodes)].reshape(-1, 3)
        entries[:, 0] = nodes + self.edge[rank]
        entries[:, 1:] = words[nodes].view(NODE).reshape(-1, 2)
        return listed

    def _entries(self, listed: Any) -> tuple[Any, Any]:
        """Nodes of a list, and their words."""
        entries = listed[1 : 1 + 3 * int(listed[0])].reshape(-1, 3)
        return entries[:, 0], self.xp.ascontiguousarray(entries[:, 1:]).view(LANE).ravel()
