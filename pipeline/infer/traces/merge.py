"""Addresses of all spools to one numbering, by sorted address.

An id is a position in the sorted column of addresses: the same whatever the order of files, of
traces, or the number of reading processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.infer.traces.early import find_believed
from pipeline.infer.traces.observer import Observation
from pipeline.infer.traces.rules import LOOPED, ROUTER, TARGET
from pipeline.model.addresses import unique_addrs
from pipeline.model.columns.sorted_addrs import find_addrs

# Rows that wait before tables are folded together: 64 MB of addresses.
_FOLD_ROWS = 1 << 22


@dataclass(frozen=True, eq=False)
class ObservedAddresses:
    """All addresses that answered.

    Attributes
    ----------
    addrs : (n_addrs, 2) uint64, sorted
        Those that are a hop of some trace; a private one once for each of its places.
    never_hops : (n_others, 2) uint64, sorted, distinct
        The rest: outvoted at its TTL, in a loop, or early (``early``) and not believed.
    is_router : (n_addrs,) bool
        Answered as a router somewhere.
    is_target : (n_addrs,) bool
        Answered as the destination of a trace.
    is_vantage : (n_addrs,) bool
        Traces came from it.
    vantages : (n_vantages, 2) uint64, sorted, distinct
        All that traces came from, whether they answered or not.
    """

    addrs: np.ndarray
    never_hops: np.ndarray
    is_router: np.ndarray
    is_target: np.ndarray
    is_vantage: np.ndarray
    vantages: np.ndarray

    def take(self, address: np.ndarray) -> ObservedAddresses:
        """Those at some positions, ascending; one that is taken twice is two interfaces."""
        return replace(
            self,
            addrs=self.addrs[address],
            is_router=self.is_router[address],
            is_target=self.is_target[address],
            is_vantage=self.is_vantage[address],
        )


def merge_addresses(
    observations: Sequence[Observation], believe_early: bool = False
) -> ObservedAddresses:
    """Collect the addresses of all spools, and the roles in which each answered.

    ``believe_early``: as ``find_believed`` takes it.
    """
    addrs = _fold(lambda o: np.load(o.addrs), observations)
    vantages = _fold(lambda o: np.load(o.vantages), observations)
    vantages = vantages[vantages.any(axis=1)]  # zeros: where a trace came from is not known
    role = np.zeros(len(addrs), np.uint8)
    all_believed = find_believed(observations, believe_early)
    for observation, believed in zip(observations, all_believed, strict=True):
        known = np.load(observation.addrs)
        role[find_addrs(addrs, known)] |= np.load(observation.roles)
        if believed.any():
            shown = np.load(observation.early)[believed, 0]
            role[find_addrs(addrs, known[shown])] |= ROUTER
    role[(role & TARGET != 0) & (role & LOOPED != 0)] |= ROUTER
    is_hop = role & (ROUTER | TARGET) != 0
    never_hops, addrs, role = addrs[~is_hop], addrs[is_hop], role[is_hop]
    return ObservedAddresses(
        addrs,
        never_hops,
        is_router=role & ROUTER != 0,
        is_target=role & TARGET != 0,
        is_vantage=find_addrs(vantages, addrs) >= 0,
        vantages=vantages,
    )


def _fold(
    load: Callable[[Observation], np.ndarray], observations: Sequence[Observation]
) -> np.ndarray:
    known = np.empty((0, 2), np.uint64)
    waiting: list[np.ndarray] = []
    n_waiting = 0
    for observation in observations:
        waiting.append(load(observation))
        n_waiting += len(waiting[-1])
        if n_waiting >= max(_FOLD_ROWS, len(known)):
            known, waiting, n_waiting = unique_addrs([known, *waiting]), [], 0
    return unique_addrs([known, *waiting])
