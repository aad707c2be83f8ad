"""Addresses that vouch by themselves: which may, where many routers are odd."""

import numpy as np
import pytest

from pipeline.infer.routers.groups import Groups
from pipeline.infer.routers.rules.single_voucher import may_be_odd, single_vouchers
from pipeline.model.columns.ragged import offsets


@pytest.mark.parametrize(("n_odd", "is_often"), [(1, False), (2, True), (10, True)])
def test_a_router_of_one_address_may_be_odd_where_a_fifth_of_the_others_are(n_odd, is_often):
    group = np.repeat(np.arange(0, 20, 2), 2)  # ten of two addresses
    group = np.append(group, [20, 21])
    is_odd = np.zeros(22, bool)
    is_odd[group[: 2 * n_odd]] = True
    is_odd[21] = True  # it counts for nothing: nobody can see of such a one whether it is odd
    found = may_be_odd(is_odd, group)
    assert np.flatnonzero(found).tolist() == ([20, 21] if is_often else [])


def test_where_no_router_shows_several_addresses_none_is_taken_for_odd():
    assert not may_be_odd(np.ones(3, bool), np.arange(3)).any()


@pytest.mark.parametrize("mate", [-1, 1])
@pytest.mark.parametrize("is_unknown", [False, True])
def test_a_router_that_may_be_odd_vouches_if_the_mate_is_seen(mate, is_unknown):
    """Address 0 has the sides 1 and 2, each a router so far."""
    none, no = np.full(3, -1), np.zeros(3, bool)
    side_ptr, sides = offsets(np.array([2, 0, 0])), np.array([1, 2])
    groups = Groups(np.array([0, 1, 1]), no, none, 0, side_ptr, sides)
    mates, unknown = none.copy(), no.copy()
    mates[0], unknown[0] = mate, is_unknown
    found = single_vouchers(np.arange(3), groups, no, unknown, side_ptr, sides, mates)
    assert found.tolist() == ([] if is_unknown and mate < 0 else [0])
