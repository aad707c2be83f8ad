"""Which pairs of routers have a neighbour in common, and which may be one."""

import numpy as np

from pipeline.infer.routers.neighbors import have_common, in_one_as
from pipeline.model.topology import NO_ASN

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


def test_only_pairs_of_one_known_as_outside_alias_sets_may_be_one():
    owner = np.array([7, 7, 8, NO_ASN, NO_ASN, 7])
    alias = np.array([-1, -1, -1, -1, -1, 5])
    one, other = np.array([0, 0, 3, 0, 5]), np.array([1, 2, 4, 5, 0])
    assert in_one_as(owner, alias, one, other).tolist() == [True, False, False, False, False]
