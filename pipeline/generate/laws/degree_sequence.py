"""Degrees of a graph: drawn within two bounds, both attained, and such that a graph has them.

A sequence of degrees is graphic, that is, some graph without loops and parallel links has it, if
and only if its sum is even and for each k the k largest degrees add up to no more than
k (k - 1) + sum over the others of min(degree, k) (Erdos, Gallai 1960; checked in one pass: Ivanyi,
Lucz et al. 2011). A graphic sequence without zeros that adds up to 2 (n - 1) or more is that of a
connected graph.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.model.random_words import draw_below, start_stream
from pipeline.model.words import number

_KEY = np.uint64(1 << 46)  # a stream apart from those of links and places
_SEARCHED_WHOLE = 100  # nodes up to which every sum of degrees is tried before a refusal
_TRIES = 6  # narrower and narrower ranges, before nearly equal degrees


def draw_degrees(n_nodes: int, least: int, most: int, connected: bool, seed: int) -> np.ndarray:
    """Degrees of ``n_nodes`` nodes, the smallest ``least``, the largest ``most``.

    Uniform between the bounds if that is graphic; else within a narrower range, down to nearly
    equal degrees besides the two at the bounds.

    Returns
    -------
    (n_nodes,) int32

    Raises
    ------
    UsageError
        If no graph, or with ``connected`` no connected one, has such degrees; says why.
    """
    check_bounds(n_nodes, least, most, connected)
    state = np.empty(1, np.uint64)
    start_stream(state, np.uint64(seed), _KEY)
    for degrees in _candidates(n_nodes, least, most, state):
        total = int(degrees.sum(dtype=np.int64))
        if connected and total < 2 * (n_nodes - 1):
            continue
        if is_graphic(degrees):
            _shuffle(degrees, state)
            return degrees
    raise UsageError(
        f"no {'connected ' if connected else ''}graph of {number(n_nodes, 'node')} has degrees "
        f"from {least} to {most}, both attained: no such sequence fulfils the condition of Erdos "
        "and Gallai; give bounds that are closer to each other"
    )


def check_bounds(n_nodes: int, least: int, most: int, connected: bool) -> None:
    """Raise UsageError, with the reason, for bounds that no sequence can fulfil."""
    if n_nodes < 1:
        raise UsageError(f"{n_nodes} routers: give 1 or more")
    if not 0 <= least <= most:
        raise UsageError(f"degrees from {least} to {most}: give 0 <= smallest <= largest")
    if most >= n_nodes:
        raise UsageError(
            f"a router cannot have {number(most, 'neighbour')} among "
            f"{number(n_nodes, 'router')}: give a largest degree of {n_nodes - 1} or less"
        )
    if least == most and n_nodes * most % 2:
        raise UsageError(
            f"no graph of {n_nodes:,} nodes has degree {most} at each: the sum of degrees is odd; "
            "give another number of routers or another degree"
        )
    if least == 0 and most == n_nodes - 1 and n_nodes > 1:
        raise UsageError(
            f"a router with {number(most, 'neighbour')} is linked to all others, so none has 0: "
            "give a smallest degree of 1, or a smaller largest one"
        )
    if connected and n_nodes > 1 and (least == 0 or (most == 1 and n_nodes > 2)):
        raise UsageError(
            f"no connected graph of {n_nodes:,} nodes has degrees from {least} to {most}: give a "
            "smallest degree of 1 and a largest of 2 or more"
        )


def _candidates(n: int, least: int, most: int, state: np.ndarray) -> Iterator[np.ndarray]:
    """Sequences with both bounds and an even sum, the most varied first."""
    if least == most:
        yield np.full(n, most, np.int32)
        return
    middle = (least + most) // 2
    half = most - middle
    for _ in range(_TRIES):
        degrees = np.empty(n, np.int32)
        degrees[:2] = least, most
        _draw(degrees[2:], max(least, middle - half), min(most, middle + half), state)
        if int(degrees.sum(dtype=np.int64)) % 2 and n > 2:
            degrees[2] += 1 if degrees[2] < most else -1
        if int(degrees.sum(dtype=np.int64)) % 2 == 0:
            yield degrees
        half //= 2
    first, last = least + most + (n - 2) * least, least + most + (n - 2) * most
    totals = [first + (n - 2) * (value - least) for value in (middle, least + 1, least, middle + 1)]
    totals += [2 * (n - 1)]
    if n <= _SEARCHED_WHOLE:
        totals += list(range(first, last + 1))
    for total in totals:
        for even in (total, total + 1):
            if even % 2 == 0 and first <= even <= last:
                yield _nearly_equal(n, least, most, even)


def _nearly_equal(n: int, least: int, most: int, total: int) -> np.ndarray:
    """Both bounds once, and the rest of the sum spread evenly: what is graphic most easily."""
    degrees = np.empty(n, np.int32)
    degrees[:2] = least, most
    if n > 2:
        each, more = divmod(total - least - most, n - 2)
        degrees[2:] = each
        degrees[2 : 2 + more] += 1
    return degrees


def is_graphic(degrees: np.ndarray) -> bool:
    """Whether some graph without loops and parallel links has these degrees, none negative."""
    if int(degrees.sum(dtype=np.int64)) % 2:
        return False
    return bool(_fulfils(np.sort(degrees)[::-1].astype(np.int64)))


@njit(cache=True, nogil=True)
def _fulfils(degrees):
    """The condition of Erdos and Gallai; degrees descend."""
    n = len(degrees)
    largest, room, rest, w = 0, 0, 0, n
    for k in range(1, n + 1):
        largest += degrees[k - 1]
        room += w - 1
        while w > k and degrees[w - 1] <= k:
            rest += degrees[w - 1]
            room -= k
            w -= 1
        if largest > room + rest:
            return False
        if w == k:
            return True
    return True


@njit(cache=True, nogil=True)
def _draw(degrees, low, high, state):
    for i in range(len(degrees)):
        degrees[i] = low + draw_below(state, high - low + 1)


@njit(cache=True, nogil=True)
def _shuffle(degrees, state):
    for i in range(len(degrees) - 1, 0, -1):
        j = draw_below(state, i + 1)
        degrees[i], degrees[j] = degrees[j], degrees[i]
