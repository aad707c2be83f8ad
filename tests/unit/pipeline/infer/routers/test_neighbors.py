"""Which pairs of routers have a neighbour in common."""

import numpy as np

from pipeline.infer.routers.neighbors import have_common

NEAR, FAR = np.array([0, 1, 1, 2, 0]), np.array([4, 5, 4, 5, 4])


def test_pairs_with_a_common_successor():
    one, other = np.array([0, 1, 0, 0]), np.array([1, 2, 2, 3])
    assert have_common(NEAR, FAR, one, other, 6).tolist() == [True, True, False, False]


def test_changed_ends_tell_of_common_predecessors():
    assert have_common(FAR, NEAR, np.array([4, 4]), np.array([5, 3]), 6).tolist() == [True, False]


def test_without_links_or_pairs_nothing_is_common():
    none = np.empty(0, np.int64)
    assert have_common(none, none, np.array([0]), np.array([1]), 2).tolist() == [False]
    assert have_common(NEAR, FAR, none, none, 6).tolist() == []
