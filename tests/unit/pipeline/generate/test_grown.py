"""Ends of links to be moved: those of random routers, whatever their degree."""

import numpy as np

from pipeline.generate.grown import _DRAWS, _end_to_move


def test_an_end_is_that_of_a_random_router_also_beside_one_of_thousands_of_links():
    n_leaves, n_drawn = 3000, 30_000
    ends = np.zeros(2 * n_leaves, np.int32)  # a star: router 0 and its leaves
    ends[1::2] = np.arange(1, n_leaves + 1)
    degree = np.bincount(ends).astype(np.int32)
    draws, counts = np.zeros((3, _DRAWS), np.int64), np.zeros(4, np.int64)
    joined, table = np.full(n_leaves + 1, -1, np.int32), np.full(64, -1, np.int64)
    given = (np.uint64(7), 1, len(ends), draws, counts, ends, degree, joined, table)
    drawn = np.bincount([ends[_end_to_move(*given)] for _ in range(n_drawn)], minlength=1)
    assert 0 < drawn[0] < 40  # 10 on average
    assert drawn[1:].std() < 1.2 * np.sqrt(n_drawn / n_leaves)  # Poisson's, were they independent
    assert drawn[1:].max() < 40
