"""Traces that a snapshot keeps, as they were cleaned: what stands behind links and ingresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, Offsets, Ragged, take
from pipeline.model.columns.ragged import run_starts

TARGET_ITSELF = -1  # in place of an interface: the address that the trace was aimed at


@dataclass(frozen=True, eq=False)
class TraceRows:
    """Some traces, sorted by vantage point, target and start.

    Attributes
    ----------
    vantage : (n_traces,) int32
        Row of ``Vantages``; -1 unknown.
    target_high, target_low : (n_traces,) uint64
        Address that the trace was aimed at.
    start_s : (n_traces,) uint32
        Seconds since 1970 UTC; 0 unknown.
    input : (n_traces,) int32
        Position of its file among the inputs.
    reached : (n_traces,) bool
        The last hop is the target's own reply.
    further : (n_traces,) bool
        A further path of a measurement of several paths: it begins where it leaves another one.
    classic : (n_traces,) bool
        By a method that changes the flow from probe to probe, as far as its format says.
    hop_ptr : (n_traces + 1,) int64
    ttl : (n_hops,) uint8
        Ascending within a trace; a TTL that did not answer has no hop.
    interface : (n_hops,) int32
        Row of ``KeptTraces.addr``, or ``TARGET_ITSELF``.
    rtt_ms : (n_hops,) float32
        The lowest of this address at this TTL; NaN unknown.
    kind : (n_hops,) uint8
        KIND_* of ``pipeline.model.measured.traces``, with ``LABELLED``.
    """

    vantage: Annotated[np.ndarray, Flat(np.int32)]
    target_high: Annotated[np.ndarray, Flat(np.uint64)]
    target_low: Annotated[np.ndarray, Flat(np.uint64)]
    start_s: Annotated[np.ndarray, Flat(np.uint32)]
    input: Annotated[np.ndarray, Flat(np.int32)]
    reached: Annotated[np.ndarray, Flat(np.bool_)]
    further: Annotated[np.ndarray, Flat(np.bool_)]
    classic: Annotated[np.ndarray, Flat(np.bool_)]
    hop_ptr: Annotated[np.ndarray, Offsets()]
    ttl: Annotated[np.ndarray, Ragged("hop_ptr", np.uint8)]
    interface: Annotated[np.ndarray, Ragged("hop_ptr", np.int32)]
    rtt_ms: Annotated[np.ndarray, Ragged("hop_ptr", np.float32)]
    kind: Annotated[np.ndarray, Ragged("hop_ptr", np.uint8)]

    def __len__(self) -> int:
        return len(self.vantage)


@dataclass(frozen=True, eq=False)
class KeptTraces:
    """Traces that are kept, and the interfaces that they show.

    Attributes
    ----------
    n_traces : int
        Measurements that were read.
    addr : (n_interfaces, 2) uint64
        Ascending; a private address may be on several nodes.
    node : (n_interfaces,) int32
        Node; -1 in no AS.
    parts : sequence of callables
        Each returns some rows, in ascending order from one part to the next: several where all
        traces are kept, so that one at a time is in memory.
    rank : (n_traces,) uint8 or None
        Of the rows of the only part: which go first where not all are stored, lowest first. None:
        all traces are kept.
    """

    n_traces: int
    addr: np.ndarray
    node: np.ndarray
    parts: Sequence[Callable[[], TraceRows]]
    rank: np.ndarray | None

    def first(self, n: int) -> KeptTraces:
        """The same with some of the rows, those of the lowest ranks, in their order."""
        if self.rank is None or n >= len(self.rank):
            return self
        from pipeline.model.random_words import mix_words  # imports numba

        # Within a rank by chance that does not depend on when it is drawn: places are sorted by
        # vantage point and target, and none of these should be left out as a whole.
        by_chance = mix_words(np.arange(len(self.rank), dtype=np.uint64))
        own = np.sort(np.lexsort((by_chance, self.rank))[:n])
        rows = take(self.parts[0](), own)
        return replace(self, parts=[lambda: rows], rank=self.rank[own])

    def count(self) -> int:
        """Measurements of which a path is kept: several paths may be of one."""
        if self.rank is None:
            return self.n_traces
        rows = self.parts[0]()
        columns = (rows.vantage, rows.target_high, rows.target_low, rows.start_s, rows.input)
        order = np.lexsort(columns[::-1])
        starts = run_starts(*(column[order] for column in columns))
        if not len(starts):
            return 0
        own = np.add.reduceat(~rows.further[order], starts)
        return int(np.maximum(own, 1).sum())
