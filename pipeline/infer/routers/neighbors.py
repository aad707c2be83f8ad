"""Routers right behind others, or right before them; pairs of those that may be one."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.routers.groups import watched_pairs
from pipeline.model.columns.keys import distinct_keys, split_key
from pipeline.model.columns.ragged import offsets, positions_of_rows
from pipeline.model.topology import NO_ASN

_MOST = 9  # routers at one thing: more are no evidence


@njit(cache=True, nogil=True)
def _meet(ptr, ids, one, other):
    """(n_pairs,) bool: two ascending rows have a value in common."""
    result = np.zeros(len(one), np.bool_)
    for i in range(len(one)):
        at, end = ptr[one[i]], ptr[one[i] + 1]
        to, stop = ptr[other[i]], ptr[other[i] + 1]
        while at < end and to < stop:
            if ids[at] == ids[to]:
                result[i] = True
                break
            if ids[at] < ids[to]:
                at += 1
            else:
                to += 1
    return result


def have_common(
    near: np.ndarray, far: np.ndarray, one: np.ndarray, other: np.ndarray, n: int
) -> np.ndarray:
    """Whether some router follows both of a pair; with ``near`` and ``far`` changed, precedes both.

    Parameters
    ----------
    near, far : (n_links,) int64
        Routers at the ends of links, those of a link within a router left out.
    one, other : (n_pairs,) int64
    n : int
        Routers are below this.

    Returns
    -------
    (n_pairs,) bool
    """
    near, far = split_key(distinct_keys((near << 32) | far))
    return _meet(np.searchsorted(near, np.arange(n + 1)), far, one, other)


def pairs_at(thing: np.ndarray, router: np.ndarray) -> np.ndarray:
    """Keys of the pairs of routers at each thing, if there are few: a row for each pair and thing.

    Parameters
    ----------
    thing, router : (n,) int64
        An address that the router is before, or a destination, or anything else it is at.
    """
    thing, router = split_key(distinct_keys((thing << 32) | router))
    _, n_routers = np.unique(thing, return_counts=True)
    ptr, at = positions_of_rows(offsets(n_routers), np.flatnonzero(n_routers <= _MOST))
    return watched_pairs(ptr, router[at])[0]


def in_one_as(
    owner: np.ndarray, alias: np.ndarray, one: np.ndarray, other: np.ndarray
) -> np.ndarray:
    """Whether both of a pair are in one AS, and neither is in a given alias set.

    Parameters
    ----------
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    one, other : (n_pairs,) int64

    Returns
    -------
    (n_pairs,) bool
    """
    within = (owner[one] == owner[other]) & (owner[one] != NO_ASN)
    return within & (alias[one] < 0) & (alias[other] < 0)
