"""What differs along routes that changed: routers in place of others, silent ones, entries.

A **place** is a router on a route, with the router before it and the one after it. Where the same
pair has the same two on the other night, but another router or a gap between them, that router took
its place, or it was silent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pipeline.compare.routes import MIX, Routes
from pipeline.model.columns import Flat, take
from pipeline.model.columns.keys import common_rows, packed_keys
from pipeline.model.columns.ragged import row_of_value, run_starts

_ENDS = 2  # in place of the router after the last; 1: before the first


@dataclass(frozen=True, eq=False)
class Places:
    """Places on routes: ``key`` stands for the pair and the routers around it, (n,) columns.

    ``group``: the router, or -1 for a gap; ``before``: the router before it, or -1.
    """

    key: Annotated[np.ndarray, Flat(np.uint64)]
    group: Annotated[np.ndarray, Flat(np.int64)]
    before: Annotated[np.ndarray, Flat(np.int64)]
    pair: Annotated[np.ndarray, Flat(np.int64)]


def places_of(routes: Routes, direct: np.ndarray) -> Places:
    """Every place of some routes that is seen whole: between direct neighbours.

    Parameters
    ----------
    routes : Routes
    direct : (n_pairs,) bool
        The target answered right behind the last router; other routes end in a gap.
    """
    pair = row_of_value(routes.ptr)
    first, last = _ends(routes)
    shifted = routes.group.astype(np.uint64) + np.uint64(3)
    near = np.where(first, -1, np.roll(routes.group, 1))
    before = np.where(first, np.uint64(1), np.roll(shifted, 1))
    after = np.where(last, np.uint64(_ENDS), np.roll(shifted, -1))
    follows = np.roll(routes.direct, -1) | last
    whole = (routes.direct | first) & follows & (~last | direct[pair])
    gap = ~routes.direct & ~first
    ends = last & ~direct[pair]
    key = np.concatenate(
        [
            _mix(pair[whole], before[whole], after[whole]),
            _mix(pair[gap], before[gap], shifted[gap]),
            _mix(pair[ends], shifted[ends], np.full(int(ends.sum()), _ENDS, np.uint64)),
        ]
    )
    group = np.concatenate([routes.group[whole], np.full(int(gap.sum()) + int(ends.sum()), -1)])
    return Places(
        key,
        group,
        np.concatenate([near[whole], near[gap], routes.group[ends]]),
        np.concatenate([pair[whole], pair[gap], pair[ends]]),
    )


def same_places(old: Places, new: Places) -> tuple[Places, Places]:
    """Places that routes of both nights have, in the same order."""
    at_old, at_new = common_rows(old.key, new.key)
    return take(old, at_old), take(new, at_new)


@dataclass(frozen=True, eq=False)
class Swaps:
    """Routers behind the same router on routes of the same pair; (n,) columns.

    ``before``: that router, or -1. ``differs``: what follows them answered on both nights, and is
    another router. ``came_alike``: the routers before are the same. ``after``: the router that
    follows on both nights, or -1.
    """

    old: np.ndarray
    new: np.ndarray
    before: np.ndarray
    pair: np.ndarray
    differs: np.ndarray
    came_alike: np.ndarray
    after: np.ndarray


def find_swaps(old: Routes, new: Routes, direct: tuple[np.ndarray, np.ndarray]) -> Swaps:
    """Which routers took the place of others; ``direct``: as for ``places_of``, on each night."""
    key, at, after = _behind(old, direct[0])
    other, now, then = _behind(new, direct[1])
    i, j = common_rows(key, other)
    one, two = old.group[at[i]], new.group[now[j]]
    # A target may be a router on one night and a host on the other: an end says nothing.
    differs = (after[i] != then[j]) & (after[i] > _ENDS) & (then[j] > _ENDS)
    which = one != two
    pair = row_of_value(old.ptr)[at[i]]
    first, _ = _ends(old)
    before = np.where(first[at[i]], -1, np.roll(old.group, 1)[at[i]])
    alike = _came(old)[at[i]] == _came(new)[now[j]]
    same = (after[i] == then[j]) & (after[i] > _ENDS)
    follows = np.where(same, after[i].astype(np.int64) - 3, -1)
    columns = (one, two, before, pair, differs, alike, follows)
    return Swaps(*(column[which] for column in columns))


def _came(routes: Routes) -> np.ndarray:
    """(n_hops,) uint64: the same for hops behind the same routers with the same gaps between."""
    start = routes.ptr[row_of_value(routes.ptr)]
    place = np.arange(len(routes.group)) - start
    own = _mix(place, routes.group.astype(np.uint64), routes.direct.astype(np.uint64))
    passed = np.append(np.uint64(0), np.cumsum(own))
    return passed[:-1] - passed[start]


def _behind(routes: Routes, direct: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pair and router before, position, and what follows (0: nothing that answered) of hops."""
    pair = row_of_value(routes.ptr)
    first, last = _ends(routes)
    shifted = routes.group.astype(np.uint64) + np.uint64(3)
    before = np.where(first, np.uint64(1), np.roll(shifted, 1))
    after = np.where(np.roll(routes.direct, -1) & ~last, np.roll(shifted, -1), np.uint64(0))
    after[last & direct[pair]] = _ENDS
    at = np.flatnonzero(routes.direct | first)
    return _mix(pair[at], before[at], np.zeros(len(at), np.uint64)), at, after[at]


def _ends(routes: Routes) -> tuple[np.ndarray, np.ndarray]:
    """(n_hops,) bool each: the first and the last hops of routes."""
    first, last = np.zeros(len(routes.group), bool), np.zeros(len(routes.group), bool)
    some = np.diff(routes.ptr) > 0
    first[routes.ptr[:-1][some]] = last[routes.ptr[1:][some] - 1] = True
    return first, last


def _mix(pair: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    x = pair.astype(np.uint64) * MIX  # else small numbers would meet
    for part in (before, after):
        x = (x ^ part) * MIX
        x ^= x >> np.uint64(29)
    return x


@dataclass(frozen=True, eq=False)
class Entries:
    """Hops by which routes enter an AS from another one, (n,) int64 columns; ``hop``: its row."""

    pair: Annotated[np.ndarray, Flat(np.int64)]
    asn: Annotated[np.ndarray, Flat(np.int64)]
    neighbor: Annotated[np.ndarray, Flat(np.int64)]
    group: Annotated[np.ndarray, Flat(np.int64)]
    before: Annotated[np.ndarray, Flat(np.int64)]  # group of the router in the neighbour
    hop: Annotated[np.ndarray, Flat(np.int64)]


def entries_of(routes: Routes) -> Entries:
    """Direct entries of some routes."""
    at = np.flatnonzero(routes.direct)
    at = at[routes.asn[at] != routes.asn[at - 1]]
    return Entries(
        row_of_value(routes.ptr)[at],
        routes.asn[at],
        routes.asn[at - 1],
        routes.group[at],
        routes.group[at - 1],
        at,
    )


def tally(*columns: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Distinct rows and how often each occurs."""
    keys = packed_keys(*columns)
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    starts = run_starts(*(key[order] for key in keys))
    return [column[order][starts] for column in columns], np.diff(starts, append=len(order))
