"""Bitmaps of nodes."""

import numpy as np
from numba import njit

from kernels._cpu.bits import add, is_in


@njit
def _held(nodes, n_nodes):
    bits = np.zeros((n_nodes + 63) // 64, np.uint64)
    for node in nodes:
        add(bits, node)
    return [node for node in range(n_nodes) if is_in(bits, node)], bits


def test_a_bitmap_has_what_was_put_into_it_across_words():
    nodes = np.array([0, 63, 64, 127, 128, 64])
    held, bits = _held(nodes, 130)
    assert held == [0, 63, 64, 127, 128]
    assert bits.tolist() == [1 | 1 << 63, 1 | 1 << 63, 1]
