"""Passes over the spools: every block is read once, by one of a few threads.

Kernels release the GIL, so threads are enough. What each thread gathers is added up at the end
in a way that does not depend on which thread saw which block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline.infer.traces.early import find_believed
from pipeline.infer.traces.observer import Observation
from pipeline.infer.traces.spool import (
    FURTHER,
    Block,
    Traces,
    read_block,
    read_destinations,
    read_vantages,
    scratch_faults,
)
from pipeline.model.columns.sorted_addrs import find_addrs

State = TypeVar("State")
_NOT_BELIEVED = -2  # id of an early reply that shows nothing


class Spools:
    """The traces of all observations, with common ids in place of each spool's own numbers.

    Parameters
    ----------
    observations : sequence of Observation
    addrs : (n, 2) uint64, sorted, distinct
        An id is a position here; -1 stands for an address that is not here.
    workers : int
        Threads that read and count.

    Raises
    ------
    StoreError
        If scratch files cannot be written or read: numberings are stored next to the spools, 4
        bytes per address, and are deleted with them.
    """

    def __init__(
        self, observations: Sequence[Observation], addrs: np.ndarray, workers: int
    ) -> None:
        self._observations = [o for o in observations if o.n_traces]
        self.workers = max(1, workers)
        # Found once, not in every pass: on disk, so that memory does not grow with files.
        self._numberings: list[Path] = []
        all_believed = find_believed(self._observations)
        for observation, believed in zip(self._observations, all_believed, strict=True):
            folder = observation.addrs.parent
            known = find_addrs(addrs, np.load(observation.addrs))
            if len(believed):  # ids -1 - i are the last ones, backwards
                early = known[np.load(observation.early)[::-1, 0]]
                known = np.append(known, np.where(believed[::-1], early, _NOT_BELIEVED))
            with (
                scratch_faults(folder),
                tempfile.NamedTemporaryFile(prefix="numbering-", dir=folder, delete=False) as file,
            ):
                file.write(known.astype(np.int32).tobytes())
            self._numberings.append(Path(file.name))

    def _blocks(self, worker: int) -> Iterator[tuple[Observation, Block, Traces]]:
        """Every ``workers``-th block, so that one large spool is shared too."""
        at = 0
        for observation, path in zip(self._observations, self._numberings, strict=True):
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
                    yield observation, block, traces
                at += 1

    def run(self, start: Callable[[], State], step: Callable[[State, Traces], None]) -> list[State]:
        """Feed every block to ``step``; returns the state of each thread.

        Parameters
        ----------
        start : callable
            Makes the state of one thread.
        step : callable
            Adds one block to a state. With the addresses of routers only, id -1 is a
            destination that is not a router: always the last hop of its trace.
        """

        return self._run(start, lambda state, _observation, _block, traces: step(state, traces))

    def run_with_destinations(
        self, start: Callable[[], State], step: Callable[[State, Traces, np.ndarray], None]
    ) -> list[State]:
        """The same, with the (n_traces, 2) uint64 addresses that the traces were aimed at."""

        def read_and_step(
            state: State, observation: Observation, block: Block, traces: Traces
        ) -> None:
            with scratch_faults(observation.spool.parent):
                destinations = read_destinations(observation.spool, block)
            step(state, traces, destinations)

        return self._run(start, read_and_step)

    def run_with_vantages(
        self,
        start: Callable[[], State],
        step: Callable[[State, Traces, np.ndarray], None],
        describe: Callable[[np.ndarray], np.ndarray],
    ) -> list[State]:
        """The same, with what is known of the vantage point of each trace, (n_traces,) int64.

        Parameters
        ----------
        start, step : callable
            As for ``run``; ``step`` takes what is known as well.
        describe : callable
            (n, 2) uint64 addresses -> (n,) int64, none of it ``FURTHER``. That stands for a further
            path of a measurement, which begins where it leaves another one.
        """
        vantages = self._vantages(describe)

        def read_and_step(
            state: State, observation: Observation, block: Block, traces: Traces
        ) -> None:
            step(state, traces, vantages(observation, block))

        return self._run(start, read_and_step)

    def run_with_ends(
        self,
        start: Callable[[], State],
        step: Callable[[State, Traces, np.ndarray, np.ndarray], None],
        describe: Callable[[np.ndarray], np.ndarray],
    ) -> list[State]:
        """The same, with both: what is known of vantage points, and (n_traces, 2) destinations."""
        vantages = self._vantages(describe)

        def read_and_step(
            state: State, observation: Observation, block: Block, traces: Traces
        ) -> None:
            with scratch_faults(observation.spool.parent):
                destinations = read_destinations(observation.spool, block)
            step(state, traces, vantages(observation, block), destinations)

        return self._run(start, read_and_step)

    def _vantages(
        self, describe: Callable[[np.ndarray], np.ndarray]
    ) -> Callable[[Observation, Block], np.ndarray]:
        """What is known of the vantage point of each trace of a block."""
        known: dict[Path, np.ndarray] = {}
        for observation in self._observations:
            with scratch_faults(observation.vantages.parent):
                known[observation.vantages] = describe(np.load(observation.vantages))

        def of_block(observation: Observation, block: Block) -> np.ndarray:
            with scratch_faults(observation.spool.parent):
                number = read_vantages(observation.spool, block)
            of_trace = known[observation.vantages][np.maximum(number, 0)]
            return np.where(number == FURTHER, FURTHER, of_trace)

        return of_block

    def _run(
        self, start: Callable[[], State], step: Callable[[State, Observation, Block, Traces], None]
    ) -> list[State]:
        def work(worker: int) -> State:
            state = start()
            for observation, block, traces in self._blocks(worker):
                step(state, observation, block, traces)
            return state

        if self.workers == 1:
            return [work(0)]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, range(self.workers)))
