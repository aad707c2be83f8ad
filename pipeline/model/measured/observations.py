"""What each vantage point saw: the paths of its traces, as a tree of steps.

Traces of one vantage point share most of their path, so each shared beginning is
stored once: a step leads from one router to the next, and knows the step before it. A path ends at
a step, from which all of it can be walked back. Nothing is lost by it: which pairs of vantage point
and target crossed a router or a link, and what came next, can still be found exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, empty

FIRST = -1  # ``before`` and ``near`` of the first step of a path


@dataclass(frozen=True, eq=False)
class Vantages:
    """Where traces came from, sorted by address.

    Attributes
    ----------
    addr_high, addr_low : (n_vantages,) uint64
    asn : (n_vantages,) int64
        AS by prefix, ``NO_ASN`` for none.
    """

    addr_high: Annotated[np.ndarray, Flat(np.uint64)]
    addr_low: Annotated[np.ndarray, Flat(np.uint64)]
    asn: Annotated[np.ndarray, Flat(np.int64)]

    def __len__(self) -> int:
        return len(self.asn)


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps from router to router, one row for each beginning of a path that a vantage point saw.

    Attributes
    ----------
    vantage : (n_steps,) int32
    before : (n_steps,) int32
        Row of the step before, less than its own; ``FIRST`` for a vantage point's first router.
    near, far : (n_steps,) int32
        Nodes; ``near`` is the ``far`` of the step before, or ``FIRST``.
    across_gap : (n_steps,) bool
        Hops between the two did not answer, or are in no AS: no link.
    n_traces : (n_steps,) int32
        Traces whose path begins so.
    rtt_ms : (n_steps,) float32
        Lowest RTT of ``far`` in these traces; NaN without any.
    """

    vantage: Annotated[np.ndarray, Flat(np.int32)]
    before: Annotated[np.ndarray, Flat(np.int32)]
    near: Annotated[np.ndarray, Flat(np.int32)]
    far: Annotated[np.ndarray, Flat(np.int32)]
    across_gap: Annotated[np.ndarray, Flat(np.bool_)]
    n_traces: Annotated[np.ndarray, Flat(np.int32)]
    rtt_ms: Annotated[np.ndarray, Flat(np.float32)]

    def __len__(self) -> int:
        return len(self.far)


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths from vantage points to targets, sorted by vantage point, target and last step.

    Attributes
    ----------
    vantage : (n_paths,) int32
    target_high, target_low : (n_paths,) uint64
        Address that the traces were aimed at.
    step : (n_paths,) int32
        Row of the last step; ``FIRST`` where no router answered.
    n_traces : (n_paths,) int32
        Traces that showed this path to this target.
    n_hops : (n_paths,) uint8
        TTL at which the target answered (the lowest), or else of the last answer (the highest).
    rtt_ms : (n_paths,) float32
        Lowest RTT of the target; NaN where it did not answer.
    reached : (n_paths,) bool
        The target answered.
    direct : (n_paths,) bool
        It did right behind the last router, or is that router.
    """

    vantage: Annotated[np.ndarray, Flat(np.int32)]
    target_high: Annotated[np.ndarray, Flat(np.uint64)]
    target_low: Annotated[np.ndarray, Flat(np.uint64)]
    step: Annotated[np.ndarray, Flat(np.int32)]
    n_traces: Annotated[np.ndarray, Flat(np.int32)]
    n_hops: Annotated[np.ndarray, Flat(np.uint8)]
    rtt_ms: Annotated[np.ndarray, Flat(np.float32)]
    reached: Annotated[np.ndarray, Flat(np.bool_)]
    direct: Annotated[np.ndarray, Flat(np.bool_)]

    def __len__(self) -> int:
        return len(self.vantage)


@dataclass(frozen=True, eq=False)
class Observations:
    """All vantage points of a night, their steps and their paths."""

    vantages: Vantages
    steps: Steps
    paths: Paths

    @classmethod
    def none(cls) -> Observations:
        """Of no traces."""
        return cls(empty(Vantages), empty(Steps), empty(Paths))
