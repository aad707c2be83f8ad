"""Sets of nodes as bitmaps, one bit per node in words of 64.

``near_steps`` writes the same by hand: that helpers cost it nothing is not shown.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SIX, LOW, ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@njit(inline="always")
def is_in(bits, node):
    """Whether a bitmap has a node."""
    # Unsigned: for signed integers numba would allow for indices from the end.
    return (bits[np.uint64(node) >> SIX] >> (np.uint64(node) & LOW)) & ONE != 0


@njit(inline="always")
def add(bits, node):
    """Put a node into a bitmap."""
    bits[np.uint64(node) >> SIX] |= ONE << (np.uint64(node) & LOW)
