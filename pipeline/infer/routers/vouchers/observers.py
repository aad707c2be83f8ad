"""Observers: from where an address was seen, as the first address of the traces that show it.

A router that answers with the address by which it sends the answer shows one address to one
observer, whichever way packets came in. So what different observers saw may be one router, and what
one observer saw is one by that habit or several routers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.traces.counting import PairCounter, add_up, slot_of, split_key
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import Traces
from pipeline.model.columns.ragged import offsets


@njit(cache=True, nogil=True)
def _observe(hop_ptr, flags, ids, watched, keys, counts):
    """Record (address, first address of the trace) of watched addresses; how many are new."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        first, end = hop_ptr[trace], hop_ptr[trace + 1]
        if flags[trace] == DESTINATION:
            end -= 1
        for row in range(first, end):
            x = np.int64(ids[row])
            if x < 0 or not watched[x]:
                continue
            key = (x << 32) | np.int64(ids[first])
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot] = key
                counts[slot, 0] = 1
                n_new += 1
    return n_new


@njit(cache=True, nogil=True)
def _seen_twice(ptr, addresses, label, seen_ptr, observers, result):
    seen_for = np.full(len(seen_ptr) - 1, -1, np.int64)  # by observer: the row, and a label in it
    seen_as = np.empty(len(seen_ptr) - 1, np.int64)
    for row in range(len(ptr) - 1):
        for i in range(ptr[row], ptr[row + 1]):
            x = addresses[i]
            for at in range(seen_ptr[x], seen_ptr[x + 1]):
                observer = observers[at]
                if seen_for[observer] != row:
                    seen_for[observer], seen_as[observer] = row, label[i]
                elif seen_as[observer] != label[i]:
                    result[row] = True


def seen_by_one(
    spools: Spools, ptr: np.ndarray, addresses: np.ndarray, label: np.ndarray, n: int
) -> np.ndarray:
    """Whether one observer saw two addresses of a row; one pass over the spools.

    Parameters
    ----------
    spools : Spools
    ptr : (n_rows + 1,) int64
    addresses : (n_addresses,) int64
        Addresses of each row.
    label : (n_addresses,) int64
        Two addresses of one row count as one if these are equal.
    n : int
        Interfaces.

    Returns
    -------
    (n_rows,) bool
    """
    watched = np.zeros(n, bool)
    watched[addresses] = True

    def step(table: PairCounter, traces: Traces) -> None:
        table.reserve(len(traces.ids))
        table.n_used += _observe(
            traces.hop_ptr, traces.flags, traces.ids, watched, table.keys, table.counts
        )

    keys, _ = add_up([table.rows() for table in spools.run(lambda: PairCounter(1), step)])
    address, observers = split_key(keys)
    result = np.zeros(len(ptr) - 1, bool)
    seen_ptr = offsets(np.bincount(address, minlength=n))
    _seen_twice(ptr, addresses, label, seen_ptr, observers, result)
    return result
