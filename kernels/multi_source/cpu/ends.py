"""Lanes of a sweep that have ended: how far they reached, first nodes of their last level."""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels._cpu.lanes import lowest
from kernels.multi_source.cpu.sizes import LANES, WORDS
from kernels.types import N_FARTHEST

ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def has_ended(state, before, now):
    """Set the bits of lanes that found nothing on this level; whether there are any.

    ``before``, ``now``: (LANES,) int64, nodes found on the level before and on this one.
    """
    ended, eccentricity = state.ended, state.eccentricity
    for w in range(WORDS):
        ended[w] = 0
    for lane in range(LANES):
        if before[lane] > 0 and now[lane] == 0:
            ended[lane >> 6] |= ONE << np.uint64(lane & 63)
            eccentricity[lane] = state.depth - 1
    any_ended = False
    for w in range(WORDS):
        any_ended = any_ended or ended[w] != 0
    return any_ended


@njit(cache=True, nogil=True)
def _insert(farthest, row, node):
    """Keep the N_FARTHEST smallest nodes of a row in ascending order; -1 is an empty place."""
    last = N_FARTHEST - 1
    if farthest[row, last] >= 0 and farthest[row, last] <= node:
        return
    at = last
    while at > 0 and (farthest[row, at - 1] < 0 or farthest[row, at - 1] > node):
        farthest[row, at] = farthest[row, at - 1]
        at -= 1
    farthest[row, at] = node


@njit(cache=True, nogil=True)
def last_listed(scratch, begin, end):
    """The smallest nodes of ended lanes, from the list that was their frontier."""
    state, nodes, lanes = scratch.state[0], scratch.nodes, scratch.lanes
    ended, farthest = state.ended, state.farthest
    for i in range(begin, end):
        for w in range(WORDS):
            bits = lanes[i * WORDS + w] & ended[w]
            while bits != 0:
                _insert(farthest, 64 * w + np.int64(lowest(bits)), nodes[i])
                bits &= bits - ONE


@njit(cache=True, nogil=True)
def last_noted(scratch, side):
    """The same, from what the chunks of a bottom-up step noted."""
    state, chunks = scratch.state[0], scratch.chunks
    ended, farthest = state.ended, state.farthest
    for lane in range(LANES):
        if (ended[lane >> 6] >> np.uint64(lane & 63)) & ONE:
            k = 0
            for chunk in range(chunks.size):
                own = chunks[chunk]
                for i in range(own.n_first[side, lane]):
                    if k < N_FARTHEST:
                        farthest[lane, k] = own.first[side, lane, i]
                        k += 1
