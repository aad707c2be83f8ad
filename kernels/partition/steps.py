"""What one rank does on its own device in a search from one node or some; see ``search``."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Steps(Protocol):
    """Steps of one rank; ``cpu.CpuSteps`` or ``gpu.GpuSteps``.

    Maps have a bit for each node of the graph. What travels is the words of one rank's nodes, or a
    list of int32: how many nodes, then their numbers, with ``room`` for at least that number; for a
    bitmap ``room`` is None. Messages are those of ``message``.

    Attributes
    ----------
    small : int
        Most arcs of a small frontier.
    every : (n_ranks, k) int64
        Where the messages of all ranks are put.
    """

    small: int
    every: Any

    def start(self, sources: np.ndarray) -> None:
        """Forget the last search; ``sources``, new numbers, may be other ranks'."""
        ...

    def settle(self, depth: int) -> Any:
        """Own nodes that were found get a level, and are the frontier; returns a message.

        If it has at most ``small`` arcs, it is expanded too, and the message lists what was found
        of others' nodes.
        """
        ...

    def take_small(self) -> None:
        """All frontiers are small, and ``every`` is filled: add what others found."""
        ...

    def forget(self) -> None:
        """Forget what was found of others' nodes."""
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

    def frontier(self, room: int | None, begin: int = 0) -> Any:
        """The rank's own part of the frontier, of its words from ``begin`` on."""
        ...

    def frontier_room(self, rank: int, room: int | None, begin: int = 0) -> Any:
        """Where to put another rank's part of it."""
        ...

    def take_frontier(self, received: list[Any], earlier: list[Any] | None) -> None:
        """All parts have arrived; ``earlier``: the first halves of their words."""
        ...

    def scan(self, begin: int = 0, end: int | None = None) -> None:
        """Find own nodes of some words bottom-up, and hubs of any."""
        ...

    def found_half(self) -> Any:
        """What was found in the first half of the rank's own words, a bitmap."""
        ...

    def half_room(self, rank: int) -> Any:
        """Where to put the same of another rank, until it is taken."""
        ...

    def levels(self) -> Any:
        """Hand over the levels of own nodes, (n_own,) int32; ``start`` makes new ones."""
        ...

    def synchronize(self) -> None:
        """Wait until the device is done."""
        ...


def half_of(n_words: int) -> int:
    """Words of the first half of a rank's; 128 bytes are not divided."""
    return n_words // 2 // 32 * 32
