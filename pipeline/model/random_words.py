"""Random 64-bit words, mostly for compiled code: the same on every machine and in every version.

SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). A
stream is one uint64 in an array of length 1; streams of different keys are independent. Any word of
a stream can also be computed from its number, so that threads need not take turns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX1 = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX2 = np.uint64(0x94D0_49BB_1331_11EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_S11, _ONE = np.uint64(11), np.uint64(1)


def mix_words(words):
    """The finaliser: a bijection of uint64 that mixes all bits; of one word or an array."""
    words = (words ^ (words >> _S30)) * _MIX1
    words = (words ^ (words >> _S27)) * _MIX2
    return words ^ (words >> _S31)


mix = njit(cache=True, nogil=True)(mix_words)  # the same in compiled code, of one word


@njit(cache=True, nogil=True)
def stream_start(seed, key):
    """State at the start of the stream of (seed, key), all uint64."""
    return mix(mix(seed + GOLDEN) ^ (key + GOLDEN))


@njit(cache=True, nogil=True)
def start_stream(state, seed, key):
    """Start the stream of (seed, key), both uint64."""
    state[0] = stream_start(seed, key)


@njit(cache=True, nogil=True)
def word_at(start, number):
    """Word ``number`` (int64, from 0) of the stream that starts at ``start``; uint64."""
    return mix(start + (np.uint64(number) + _ONE) * GOLDEN)


@njit(cache=True, nogil=True)
def draw(state):
    """Next word, uint64."""
    state[0] += GOLDEN
    return mix(state[0])


@njit(cache=True, nogil=True)
def below(word, bound):
    """A word as a whole number in 0 .. bound - 1, int64; bound is int64 in 1 .. 2**32.

    The upper half of the word times the bound: its bias is below bound / 2**32.
    """
    return np.int64(((word >> _S32) * np.uint64(bound)) >> _S32)


@njit(cache=True, nogil=True)
def draw_below(state, bound):
    """Next whole number in 0 .. bound - 1 as int64; bound is int64 in 1 .. 2**32."""
    return below(draw(state), bound)


@njit(cache=True, nogil=True)
def unit(word):
    """A word as a float64 in [0, 1), a multiple of 2**-53."""
    return np.float64(word >> _S11) * 1.1102230246251565e-16


@njit(cache=True, nogil=True)
def draw_unit(state):
    """Next float64 in [0, 1), a multiple of 2**-53."""
    return unit(draw(state))
