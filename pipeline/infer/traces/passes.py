"""Passes over the spools: every block is read once, by one of a few threads, for several questions.

A question (``Finding``) says what it keeps of each block; those that are ready together are asked
in one pass. Kernels release the GIL, so threads are enough. What each thread gathers is added up at
the end in a way that does not depend on which thread saw which block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import numpy as np

from pipeline.infer.rule import Rule
from pipeline.infer.traces.early import find_believed
from pipeline.infer.traces.observer import Observation
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import (
    FURTHER,
    Block,
    Traces,
    read_block,
    read_destinations,
    read_starts,
    read_vantages,
    scratch_faults,
)
from pipeline.model.addresses import unique_addrs
from pipeline.model.columns.sorted_addrs import find_addrs
from pipeline.model.measured.traces import KIND_UNREACHABLE, LABELLED

State = TypeVar("State")
Found = TypeVar("Found")
One = TypeVar("One")
Two = TypeVar("Two")
Three = TypeVar("Three")
Four = TypeVar("Four")
Five = TypeVar("Five")
_NOT_BELIEVED = -2  # id of an early reply that shows nothing
MIDDLEBOXES = Rule(
    "middleboxes",
    "gaps",
    "an address that refuses what it let pass, or answers at three TTLs in a row, is one hop",
    "kinds of replies, addresses that answer at several TTLs in a row",
)


def find_again(traces: Traces) -> np.ndarray:
    """(n_hops,) bool: hops that are the one before them once more.

    A router that has sent time exceeded refuses packets that come further (*destination
    unreachable*), as a gateway does whose host is gone, or a middlebox answers whatever the TTL is.
    The destination's own last reply is none of these.
    """
    same = np.zeros(len(traces.ids), bool)
    same[1:] = (traces.ids[1:] == traces.ids[:-1]) & (traces.ids[1:] >= 0)
    same[1:] &= traces.ttl[1:] == traces.ttl[:-1] + 1
    starts, ends = traces.hop_ptr[:-1], traces.hop_ptr[1:]
    some = ends > starts
    same[starts[some]] = False
    if not same.any():
        return same
    own = np.zeros(len(same), bool)
    own[ends[some] - 1] = traces.flags[some] == DESTINATION
    # Where an MPLS tunnel ends, or a TTL of 0 is forwarded, there are two equal hops, never three.
    third = np.zeros(len(same), bool)
    third[1:] = same[1:] & same[:-1]
    again = third.copy()
    again[:-1] |= third[1:]
    again |= same & (traces.kind & ~np.uint8(LABELLED) == KIND_UNREACHABLE)
    return again & ~own


@dataclass(frozen=True)
class Batch:
    """The traces of one block, and what they were aimed at and came from.

    Attributes
    ----------
    traces : Traces
        With ids of ``Spools``. With the addresses of routers only, id -1 is a destination that is
        not a router: always the last hop of its trace.
    """

    traces: Traces
    _spool: Path
    _block: Block
    _vantages: np.ndarray
    source: int = 0  # position of its observation

    @cached_property
    def destinations(self) -> np.ndarray:
        """(n_traces, 2) uint64: the addresses that the traces were aimed at."""
        with scratch_faults(self._spool.parent):
            return read_destinations(self._spool, self._block)

    @cached_property
    def _vantage(self) -> np.ndarray:
        with scratch_faults(self._spool.parent):
            number = read_vantages(self._spool, self._block)
        return np.where(number <= FURTHER, FURTHER, self._vantages[np.maximum(number, 0)])

    @cached_property
    def starts(self) -> np.ndarray:
        """(n_traces,) uint32: seconds since 1970 UTC, 0 unknown."""
        with scratch_faults(self._spool.parent):
            return read_starts(self._spool, self._block)

    @cached_property
    def seen_from(self) -> tuple[np.ndarray, np.ndarray]:
        """Vantage point of each trace, by ``Spools.vantages``, and which are further paths.

        Two (n_traces,) columns: int64, bool.
        """
        with scratch_faults(self._spool.parent):
            number = read_vantages(self._spool, self._block)
        is_further = number <= FURTHER
        return self._vantages[np.where(is_further, FURTHER - number, number)], is_further

    def of_vantage(self, known: np.ndarray) -> np.ndarray:
        """What is known of the vantage point of each trace, (n_traces,) int64.

        ``FURTHER`` stands for a further path of a measurement, which begins where it leaves another
        one.

        Parameters
        ----------
        known : (n_vantages,) int64
            By ``Spools.vantages``, none of it ``FURTHER``.
        """
        number = self._vantage
        return np.where(number == FURTHER, FURTHER, known[np.maximum(number, 0)])


@dataclass(frozen=True)
class Finding(Generic[State, Found]):
    """A question to all traces.

    Attributes
    ----------
    start : callable
        Makes the state of one thread.
    step : callable
        Adds one block to a state.
    end : callable
        The answer, from the states of all threads.
    """

    start: Callable[[], State]
    step: Callable[[State, Batch], None]
    end: Callable[[list[State]], Found]


class Spools:
    """The traces of all observations, with common ids in place of each spool's own numbers.

    Parameters
    ----------
    observations : sequence of Observation
    addrs : (n, 2) uint64, sorted, distinct
        An id is a position here; -1 stands for an address that is not here.
    workers : int
        Threads that read and count.
    are_boxes : bool
        ``MIDDLEBOXES`` is in force.
    believe_early : bool
        As ``find_believed`` takes it.

    Attributes
    ----------
    workers : int
    vantages : (n_vantages, 2) uint64, sorted, distinct
        Where traces came from; zeros: not known.

    Raises
    ------
    StoreError
        If scratch files cannot be written or read: numberings are stored next to the spools, 4
        bytes per address, and are deleted with them.
    """

    def __init__(
        self,
        observations: Sequence[Observation],
        addrs: np.ndarray,
        workers: int,
        *,
        are_boxes: bool = False,
        believe_early: bool = False,
    ) -> None:
        self._sources = [i for i, o in enumerate(observations) if o.n_traces]
        self._observations = [observations[i] for i in self._sources]
        self.workers = max(1, workers)
        self._are_boxes = are_boxes
        # Found once, not in every pass: on disk, so that memory does not grow with files.
        self._numberings: list[Path] = []
        all_vantages = []
        all_believed = find_believed(self._observations, believe_early)
        for observation, believed in zip(self._observations, all_believed, strict=True):
            folder = observation.addrs.parent
            known = find_addrs(addrs, np.load(observation.addrs))
            if len(believed):  # ids -1 - i are the last ones, backwards
                early = known[np.load(observation.early)[::-1, 0]]
                known = np.append(known, np.where(believed[::-1], early, _NOT_BELIEVED))
            self._numberings.append(_save_numbering(known, folder))
            with scratch_faults(folder):
                all_vantages.append(np.load(observation.vantages))
        self._place: Callable[[Batch], Traces] | None = None
        self._renumbered: np.ndarray | None = None
        self.vantages = unique_addrs(all_vantages)
        self._vantages = [find_addrs(self.vantages, vantages) for vantages in all_vantages]

    def _copy(self) -> Spools:
        copied = Spools([], np.empty((0, 2), np.uint64), self.workers)
        copied._observations, copied._numberings = self._observations, self._numberings
        copied._sources = self._sources
        copied.vantages, copied._vantages = self.vantages, self._vantages
        copied._place, copied._renumbered = self._place, self._renumbered
        copied._are_boxes = self._are_boxes
        return copied

    def split(self, place: Callable[[Batch], Traces]) -> Spools:
        """The same traces with ids that ``place`` gives their hops."""
        copied = self._copy()
        copied._place = place
        return copied

    def restrict(self, kept: np.ndarray) -> Spools:
        """The same traces with some of the ids, (n,) bool, in the numbering of those."""
        new_id = np.where(kept, np.cumsum(kept) - 1, -1)
        restricted = self._copy()
        if self._place is not None:
            restricted._renumbered = new_id.astype(np.int32)
            return restricted
        restricted._numberings = []
        for path in self._numberings:
            with scratch_faults(path.parent):
                known = np.fromfile(path, np.int32)
            known = np.where(known >= 0, new_id[np.maximum(known, 0)], known)
            restricted._numberings.append(_save_numbering(known, path.parent))
        return restricted

    def _batches(self, worker: int) -> Iterator[Batch]:
        """Every ``workers``-th block, so that one large spool is shared too."""
        at = 0
        for observation, path, vantages, source in zip(
            self._observations, self._numberings, self._vantages, self._sources, strict=True
        ):
            numbering: np.ndarray | None = None
            for block in observation.blocks:
                if at % self.workers == worker:
                    with scratch_faults(path.parent):
                        if numbering is None:
                            # Not np.load: threads may not parse its header at once. In
                            # CPython 3.11 they share a counter, and one of them fails.
                            numbering = np.fromfile(path, np.int32)
                        traces = read_block(observation.spool, block)
                    if block.n_hops:
                        traces = replace(traces, ids=numbering[traces.ids])
                        traces = traces.without(traces.ids == _NOT_BELIEVED)
                        if self._are_boxes:
                            traces = traces.without(find_again(traces))
                    batch = Batch(traces, observation.spool, block, vantages, source)
                    if self._place is not None and block.n_hops:
                        ids = self._place(batch).ids
                        if self._renumbered is not None:
                            ids = np.where(ids >= 0, self._renumbered[ids], ids)
                        batch = replace(batch, traces=replace(traces, ids=ids))
                    yield batch
                at += 1

    @overload
    def read(self, finding: Finding[Any, Found], /) -> Found: ...
    @overload
    def read(self, one: Finding[Any, One], two: Finding[Any, Two], /) -> tuple[One, Two]: ...
    @overload
    def read(
        self, one: Finding[Any, One], two: Finding[Any, Two], three: Finding[Any, Three], /
    ) -> tuple[One, Two, Three]: ...
    @overload
    def read(
        self,
        one: Finding[Any, One],
        two: Finding[Any, Two],
        three: Finding[Any, Three],
        four: Finding[Any, Four],
        /,
    ) -> tuple[One, Two, Three, Four]: ...
    @overload
    def read(
        self,
        one: Finding[Any, One],
        two: Finding[Any, Two],
        three: Finding[Any, Three],
        four: Finding[Any, Four],
        five: Finding[Any, Five],
        /,
    ) -> tuple[One, Two, Three, Four, Five]: ...
    def read(self, *findings: Finding[Any, Any]) -> Any:
        """Ask some questions in one pass: the answer, or a tuple of the answers to several."""

        def work(worker: int) -> list[Any]:
            states = [finding.start() for finding in findings]
            for batch in self._batches(worker):
                for finding, state in zip(findings, states, strict=True):
                    finding.step(state, batch)
            return states

        threads = [work(0)] if self.workers == 1 else self._in_threads(work)
        answers = tuple(
            finding.end(list(states))
            for finding, states in zip(findings, zip(*threads, strict=True), strict=True)
        )
        return answers[0] if len(answers) == 1 else answers

    def _in_threads(self, work: Callable[[int], list[Any]]) -> list[list[Any]]:
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, range(self.workers)))


def _save_numbering(ids: np.ndarray, folder: Path) -> Path:
    with (
        scratch_faults(folder),
        tempfile.NamedTemporaryFile(prefix="numbering-", dir=folder, delete=False) as file,
    ):
        file.write(ids.astype(np.int32).tobytes())
    return Path(file.name)
