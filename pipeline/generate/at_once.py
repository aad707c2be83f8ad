"""Waxman graphs whose routers are all there at the beginning: who draws whom, and until when.

A router is drawn, uniformly, and draws m others by their distance; and again, until each router has
a link. So many rounds, one after the other, would take turns for memory and for threads. The same
law, router by router: if each router draws at the times of a Poisson process of rate 1, all of them
independently, then the order in which they draw is that of routers drawn uniformly, one after the
other (the processes' superposition; Kingman: Poisson Processes, 1993). So each router draws how
often it does so in a span of time, and whom; rounds after the one that gives the last router its
link are left out again. How far that time is, is found in windows: a long one that nearly suffices,
then short ones until it does. Only in the last of them the times are needed, which are drawn
uniformly.

Routers draw in the order of the squares of the plane (``laws.nearness``), so one square's table
serves thousands of them; and a part of a window has a random stream of its own, so threads divide
the parts among them. Whom a router drew lies side by side, so a link that was drawn before, by the
one or by the other, is found in the lists of its two ends.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numba import njit

from kernels.cache import prefetch
from pipeline.generate.laws.nearness import (
    bound,
    bounds,
    entry_at,
    exp_negative,
    is_in,
    one_of_all,
    square_of,
    squares_of,
    taken,
)
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.borrowing import BORROWS
from pipeline.model.columns.ragged import offsets
from pipeline.model.random_words import draw, mix, start_stream, stream_start, unit, word_at

_COUNT_KEY = np.uint64(1 << 54)  # streams apart from those of places and bandwidths
_DRAW_KEY = np.uint64(1 << 55)
_TIME_KEY = np.uint64(1 << 56)
_NODES_AT_ONCE = 1 << 14  # that a thread links at a time
_DRAWS_AT_ONCE = 256  # whose routers are fetched into the cache together
_AHEAD = 16  # routers whose lists are fetched into the cache
_MOST_ROUNDS = 96  # of a router in a window; more have a chance below 2**-64
_SHORT = 0.5  # length of a later window: this share of 1 / (m + 1), or more,
_LONGER = 0.1  # so that it is no less than this share of the time that has passed
_LEFT_OUT = np.int32(-1)
_HASHES_OF_A_BUCKET = 1 << 16  # or half as many; their table takes 512 KiB at most
_BUCKETS_AT_ONCE = 8  # that a thread looks through
_SUSPECT_BITS = 19  # of hashes, that tell a link from others
_PATIENCE = 1 << 14  # refusals before all weights are summed


class _Window(NamedTuple):
    """Rounds of a span of time.

    Attributes
    ----------
    ptr : (n_nodes + 1,) int64
        Rounds of router i are ptr[i] .. ptr[i + 1] - 1.
    far : (n_rounds * m,) int32
        Whom each drew.
    """

    ptr: np.ndarray
    far: np.ndarray


def links_at_once(
    first: int, stop: int, plane: tuple, m: int, stream: np.uint64, n_threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Links of the graph of the routers first .. stop - 1.

    Parameters
    ----------
    first, stop : int
    plane : (n_nodes, 2) int32, int64, float
        Cells of all routers, side of the plane, decay of the law with distance.
    m : int
        Routers that one draws in a round.
    stream : uint64
        Keys the graph's random streams.
    n_threads : int or None
        None: one thread per core. The result is the same on any number.

    Returns
    -------
    near, far : (n_links,) int64
        Numbers from 0 on; near ascending. No loops, no duplicates.
    """
    n_nodes = stop - first
    if n_nodes < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    m = min(m, n_nodes - 1)
    squares = squares_of(plane[0], first, n_nodes, *plane[1:])
    given = (np.int64(first), np.int64(n_nodes), *plane, np.int64(m), squares)
    linked_in = np.zeros(n_nodes, np.uint8)  # number of the window that links each, from 1 on
    windows: list[_Window] = []
    span, passed = max(math.log(n_nodes), 1.0) / (m + 1), 0.0
    while not linked_in.all():
        with part(0.6 if windows else 0.0, 0.6):  # nearly all rounds are in the first window
            windows.append(_draw_window(len(windows), span, given, stream, linked_in, n_threads))
        passed += span
        span = max(_SHORT / (m + 1), _LONGER * passed)
    number = len(windows)
    start = np.uint64(stream_start(stream, _TIME_KEY + np.uint64(number)))
    _leave_out_later(np.uint8(number), start, *windows[-1], m, linked_in)
    with part(0.6, 1.0):
        return _joined(windows, m, n_threads)


def _draw_window(
    number: int,
    span: float,
    given: tuple,
    stream: np.uint64,
    linked_in: np.ndarray,
    n_threads: int | None,
) -> _Window:
    n_nodes, m = int(given[1]), int(given[5])
    ptr = np.zeros(n_nodes + 1, np.int64)
    cuts = list(itertools.pairwise([*range(0, n_nodes, _NODES_AT_ONCE), n_nodes]))
    start = np.uint64(stream_start(stream, _COUNT_KEY + np.uint64(number)))
    law = _poisson(span)
    call_each(_count_rounds, [(*cut, start, law, ptr) for cut in cuts], n_threads)
    # Who draws nobody waits to be drawn: few, and a bit each, which stays in a core's cache.
    waits = np.packbits((linked_in == 0) & (ptr[1:] == 0), bitorder="little")
    np.cumsum(ptr, out=ptr)
    far = np.empty(int(ptr[-1]) * m, np.int32)
    key = np.uint64(stream_start(stream, _DRAW_KEY + np.uint64(number)))
    own = (np.uint8(number + 1), key, *given, ptr, far, waits, linked_in)
    call_each(_draw_rounds, [(*cut, *own) for cut in cuts], n_threads)
    return _Window(ptr, far)


@njit(cache=True, nogil=True)
def _poisson(mean):
    """Chances of k or less, by arithmetic alone; (n,) float64."""
    chance, total = exp_negative(mean), 0.0
    at_most = np.ones(_MOST_ROUNDS)
    for k in range(_MOST_ROUNDS - 1):
        total += chance
        at_most[k] = min(total, 1.0)
        chance *= mean / (k + 1)
    return at_most


@njit(cache=True, nogil=True)
def _count_rounds(begin, end, start, at_most, ptr):
    """How often each router draws, at the place after its own."""
    for node in range(begin, end):
        share = unit(word_at(start, node))
        k = 0
        while share >= at_most[k]:
            k += 1
        ptr[node + 1] = k


@njit(cache=True, nogil=True)
def _draw_rounds(
    begin,
    end,
    number,
    key,
    first,
    n_nodes,
    cells,
    side,
    decay,
    m,
    squares,
    ptr,
    far,
    waits,
    linked_in,
):
    """What the routers at begin .. end - 1 of the squares draw in a window."""
    filed, least = squares[1], squares[2]
    n_squares = len(least)
    state = np.empty(1, np.uint64)
    start_stream(state, key, np.uint64(begin))
    room = _DRAWS_AT_ONCE + _MOST_ROUNDS * m
    # Of each draw: its router as filed, that of whom it draws, where that goes.
    own, drawn, place = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    own_square, square = np.empty(room, np.int32), np.empty(room, np.int32)
    nearest, bounds_of = np.empty(n_squares * n_squares), -1
    at = begin
    while at < end:
        n, since = 0, at
        while at < end and n < _DRAWS_AT_ONCE:
            prefetch(1, ptr, np.uintp(filed[min(at + 2 * _AHEAD, end - 1)] >> 32))
            entry = filed[at]
            node = entry >> 32
            of = square_of((entry >> 16) & 0xFFFF, entry & 0xFFFF, side, n_squares)
            for i in range(ptr[node] * m, ptr[node + 1] * m):
                own[n], own_square[n], place[n] = entry, of, i
                square[n], drawn[n] = entry_at(of, squares, (draw(state), draw(state)))
                prefetch(1, filed, np.uintp(drawn[n]))
                n += 1
            at += 1
        refused = 0
        while n > 0:
            # What is refused is drawn again, together.
            n_left = 0
            for i in range(n):
                entry, of = own[i], own_square[i]
                node = entry >> 32
                x, y = (entry >> 16) & 0xFFFF, entry & 0xFFFF
                if refused < _PATIENCE:
                    if of != bounds_of:
                        bounds(of, least, nearest)
                        bounds_of = of
                    other = taken(filed[drawn[i]], x, y, nearest[square[i]], n_nodes, decay, state)
                else:
                    other = one_of_all(node, 0, n_nodes, first, cells, decay, far[:0], state)
                if other >= 0 and other != node:
                    far[place[i]] = other
                    continue
                own[n_left], own_square[n_left], place[n_left] = entry, of, place[i]
                square[n_left], drawn[n_left] = entry_at(of, squares, (draw(state), draw(state)))
                prefetch(1, filed, np.uintp(drawn[n_left]))
                n_left += 1
            n = n_left
            refused += 1
        for i in range(since, at):
            entry = filed[i]
            node = entry >> 32
            if ptr[node] == ptr[node + 1]:
                continue
            if linked_in[node] == 0:
                linked_in[node] = number
            for here in range(ptr[node] * m, ptr[node + 1] * m, m):
                for j in range(here, here + m):
                    if is_in(far[here:j], far[j]):
                        far[j] = _another(
                            entry, here, j, first, n_nodes, cells, side, decay, squares, far, state
                        )
                    if waits[far[j] >> 3] >> np.uint8(far[j] & 7) & np.uint8(1):
                        linked_in[far[j]] = number


@njit(**BORROWS)
def _another(entry, begin, end, first, n_nodes, cells, side, decay, squares, far, state):
    """One more router for a round that drew far[begin:end] before."""
    node, x, y = entry >> 32, (entry >> 16) & 0xFFFF, entry & 0xFFFF
    of = square_of(x, y, side, len(squares[2]))
    for _ in range(_PATIENCE):
        square, at = entry_at(of, squares, (draw(state), draw(state)))
        nearest = bound(of, square, squares[2])
        other = taken(squares[1][at], x, y, nearest, n_nodes, decay, state)
        if other >= 0 and other != node and not is_in(far[begin:end], other):
            return other
    return one_of_all(node, 0, n_nodes, first, cells, decay, far[begin:end], state)


@njit(cache=True, nogil=True)
def _leave_out_later(number, start, ptr, far, m, linked_in):
    """Leave out what is drawn after the last of the routers that a window links has its link."""
    first_time = np.full(len(linked_in), np.inf)
    for node in range(len(linked_in)):
        for r in range(ptr[node], ptr[node + 1]):
            time = unit(word_at(start, r))
            if linked_in[node] == number:
                first_time[node] = min(first_time[node], time)
            for i in range(r * m, r * m + m):
                if linked_in[far[i]] == number:
                    first_time[far[i]] = min(first_time[far[i]], time)
    last, end = -1, 0.0
    for node in range(len(linked_in)):
        if linked_in[node] == number and first_time[node] >= end:
            last, end = node, first_time[node]
    for node in range(len(linked_in)):
        for r in range(ptr[node], ptr[node + 1]):
            time = unit(word_at(start, r))
            if time > end:
                far[r * m : r * m + m] = _LEFT_OUT
            elif time == end:  # that round ends with the link that was missing
                i = r * m
                while node != last and far[i] != last:
                    i += 1
                far[i + 1 : r * m + m] = _LEFT_OUT


def _joined(windows: list[_Window], m: int, n_threads: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Links of all windows, each once."""
    n_nodes = len(windows[0].ptr) - 1
    cuts = list(itertools.pairwise([*range(0, n_nodes, _NODES_AT_ONCE), n_nodes]))
    ptr, far = windows[0].ptr, windows[0].far
    if len(windows) > 1:
        ptr = np.sum([window.ptr for window in windows], axis=0)
        far = np.empty(int(ptr[-1]) * m, np.int32)
        at = ptr[:-1].copy()
        for window in windows:
            call_each(_append, [(*cut, *window, m, at, far) for cut in cuts], n_threads)
        windows.clear()
    is_suspect = _suspects(ptr, far, m, cuts, n_threads)
    n_kept = np.zeros(len(cuts) + 1, np.int64)
    call_each(
        _leave_out_repeated,
        [(*cut, ptr, far, m, is_suspect, n_kept[i + 1 : i + 2]) for i, cut in enumerate(cuts)],
        n_threads,
    )
    np.cumsum(n_kept, out=n_kept)
    near, kept = np.empty((2, int(n_kept[-1])), np.int64)
    call_each(
        _list_kept,
        [(*cut, ptr, far, m, n_kept[i], near, kept) for i, cut in enumerate(cuts)],
        n_threads,
    )
    return near, kept


def _suspects(
    ptr: np.ndarray, far: np.ndarray, m: int, cuts: list[tuple[int, int]], n_threads: int | None
) -> np.ndarray:
    """Which links may have been drawn twice, by the upper bits of their hashes; bool.

    Hardly any was: so few lists of routers, which lie anywhere in memory, need to be read. Hashes
    are filed by bucket first, so that a bucket's table fits into a core's cache.
    """
    bits = max(0, (len(far) // _HASHES_OF_A_BUCKET).bit_length())
    counts = np.zeros((len(cuts), 1 << bits), np.int64)
    call_each(
        _count_hashes,
        [(*cut, ptr, far, m, bits, counts[i]) for i, cut in enumerate(cuts)],
        n_threads,
    )
    bucket_ptr = offsets(counts.sum(axis=0))
    at = bucket_ptr[:-1] + np.cumsum(counts, axis=0) - counts
    hashes = np.empty(int(bucket_ptr[-1]), np.uint32)
    call_each(
        _file_hashes,
        [(*cut, ptr, far, m, bits, at[i], hashes) for i, cut in enumerate(cuts)],
        n_threads,
    )
    is_suspect = np.zeros(1 << _SUSPECT_BITS, np.bool_)
    buckets = list(itertools.pairwise([*range(0, 1 << bits, _BUCKETS_AT_ONCE), 1 << bits]))
    call_each(
        _find_equal, [(*some, bucket_ptr, bits, hashes, is_suspect) for some in buckets], n_threads
    )
    return is_suspect


@njit(**BORROWS)
def _append(begin, end, ptr, of_window, m, at, far):
    """Append the rounds of a window; ``at``: rounds that were before, which move on."""
    for node in range(begin, end):
        n = ptr[node + 1] - ptr[node]
        for i in range(n * m):
            far[at[node] * m + i] = of_window[ptr[node] * m + i]
        at[node] += n


@njit(**BORROWS)
def _hash(a, b):
    """Of a link, whichever of its ends is named first."""
    return mix((np.uint64(min(a, b)) << np.uint64(32)) | np.uint64(max(a, b)))


@njit(**BORROWS)
def _count_hashes(begin, end, ptr, far, m, bits, counts):
    """Links of some routers by the upper ``bits`` of their hashes."""
    for node in range(begin, end):
        for i in range(ptr[node] * m, ptr[node + 1] * m):
            if far[i] >= 0:
                counts[_hash(node, far[i]) >> np.uint64(32) >> np.uint64(32 - bits)] += 1


@njit(**BORROWS)
def _file_hashes(begin, end, ptr, far, m, bits, at, hashes):
    """File the 32 bits of hashes that follow the upper ones at ``at``, which moves on."""
    for node in range(begin, end):
        for i in range(ptr[node] * m, ptr[node + 1] * m):
            if far[i] >= 0:
                word = _hash(node, far[i])
                bucket = word >> np.uint64(32) >> np.uint64(32 - bits)
                hashes[at[bucket]] = np.uint32(word >> np.uint64(32 - bits))
                at[bucket] += 1


@njit(cache=True, nogil=True)
def _find_equal(begin, end, bucket_ptr, bits, hashes, is_suspect):
    """Mark hashes that a bucket holds twice."""
    largest = 1
    for bucket in range(begin, end):
        largest = max(largest, bucket_ptr[bucket + 1] - bucket_ptr[bucket])
    size = 2
    while size < 2 * largest:
        size *= 2
    table = np.empty(size, np.uint32)
    for bucket in range(begin, end):
        table[:] = 0
        for i in range(bucket_ptr[bucket], bucket_ptr[bucket + 1]):
            value = max(hashes[i], np.uint32(1))  # 0 is a free place
            at = np.int64(value) & (size - 1)
            while table[at] != 0 and table[at] != value:
                at = (at + 1) & (size - 1)
            if table[at] == value:
                word = (np.uint64(bucket) << np.uint64(32)) | np.uint64(hashes[i])
                is_suspect[word >> np.uint64(32 + bits - _SUSPECT_BITS)] = True
            table[at] = value


@njit(**BORROWS)
def _leave_out_repeated(begin, end, ptr, far, m, is_suspect, n_kept):
    """Leave out links that a router drew before, or that the other of a lesser number drew."""
    for node in range(begin, end):
        a, b = ptr[node] * m, ptr[node + 1] * m
        for i in range(a, b):
            other = far[i]
            if other < 0:
                continue
            n_kept[0] += 1
            if not is_suspect[_hash(node, other) >> np.uint64(64 - _SUSPECT_BITS)]:
                continue
            repeated = is_in(far[a:i], other)
            if not repeated and other < node:
                repeated = is_in(far[ptr[other] * m : ptr[other + 1] * m], node)
            if repeated:
                far[i] = _LEFT_OUT
                n_kept[0] -= 1


@njit(**BORROWS)
def _list_kept(begin, end, ptr, far, m, at, near, kept):
    for node in range(begin, end):
        for i in range(ptr[node] * m, ptr[node + 1] * m):
            if far[i] >= 0:
                near[at], kept[at] = node, far[i]
                at += 1
