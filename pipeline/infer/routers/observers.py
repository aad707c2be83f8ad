"""Observers: from where an address was seen, as the first address of the traces that show it.

A router that answers with the address by which it sends the answer shows one address to one
observer, whichever way packets came in. So what different observers saw may be one router, and what
one observer saw is one by that habit or several routers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.distinct import OWN, DistinctPaths, Tree, addr_of
from pipeline.model.columns.keys import split_key
from pipeline.model.columns.ragged import offsets, positions_of_rows

_CHUNK = 1 << 18  # nodes between which the table may grow


@njit(cache=True, nogil=True)
def _observe(code, depth, first, keys, counts):
    """Record (address, first address of the trace); first address then, and how many are new."""
    n_new = 0
    for node in range(len(code)):
        x = addr_of(code[node])
        if depth[node] == 0:
            first = x
        if x < 0 or code[node] & OWN:
            continue
        key = (x << 32) | first
        slot = slot_of(keys, key)
        if keys[slot] != key:
            keys[slot] = key
            counts[slot, 0] = 1
            n_new += 1
    return first, n_new


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


@dataclass(frozen=True, eq=False)
class Observers:
    """From where each address was seen.

    Attributes
    ----------
    ptr : (n_interfaces + 1,) int64
    observer : (n_pairs,) int64
        First addresses of traces, ascending for each address.
    """

    ptr: np.ndarray
    observer: np.ndarray

    def see_two(self, ptr: np.ndarray, addresses: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Whether one observer saw two addresses of a row.

        Parameters
        ----------
        ptr : (n_rows + 1,) int64
        addresses : (n_addresses,) int64
            Addresses of each row.
        label : (n_addresses,) int64
            Two addresses of one row count as one if these are equal.

        Returns
        -------
        (n_rows,) bool
        """
        result = np.zeros(len(ptr) - 1, bool)
        _seen_twice(ptr, addresses, label, self.ptr, self.observer, result)
        return result

    def see_both(self, root: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether one observer saw both routers of a pair.

        Parameters
        ----------
        root : (n_interfaces,) int64
            Smallest interface of each router.
        one, other : (n_pairs,) int64
            Two routers of each pair, by their smallest interfaces.

        Returns
        -------
        (n_pairs,) bool
        """
        members = np.argsort(root, kind="stable")
        all_ptr = offsets(np.bincount(root, minlength=len(root)))
        ptr, at = positions_of_rows(all_ptr, np.column_stack([one, other]).ravel())
        return self.see_two(ptr[::2], members[at], root[members[at]])


def find_observers(paths: DistinctPaths, n: int) -> Observers:
    """From where each of ``n`` addresses was seen."""

    def step(table: PairCounter, tree: Tree) -> None:
        first = -1
        for start in range(0, len(tree.code), _CHUNK):
            code, depth = tree.code[start : start + _CHUNK], tree.depth[start : start + _CHUNK]
            table.reserve(len(code))
            first, n_new = _observe(code, depth, first, table.keys, table.counts)
            table.n_used += n_new

    keys, _ = add_up([table.rows() for table in paths.ask(lambda: PairCounter(1), step)])
    address, observer = split_key(keys)
    return Observers(offsets(np.bincount(address, minlength=n)), observer)
