"""Columns of addresses."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.model.addresses import is_private, naming_addrs, positions_of
from tests.addresses import parse_addrs
from tests.soak import examples

ADDR = st.tuples(st.integers(0, 3), st.integers(0, 5))


@settings(max_examples=examples(200), deadline=None)
@given(table=st.lists(ADDR, max_size=12, unique=True), addrs=st.lists(ADDR, max_size=12))
def test_positions_are_those_of_equal_addresses(table, addrs):
    columns = [np.array(each, np.uint64).reshape(-1, 2) for each in (table, addrs)]
    expected = [table.index(each) if each in table else -1 for each in addrs]
    assert positions_of(*columns).tolist() == expected


def test_private_addresses_are_those_of_their_ranges():
    inside = ["10.0.0.0", "10.255.255.255", "100.64.0.1", "100.127.255.255", "169.254.3.4"]
    inside += ["172.16.0.0", "172.31.255.255", "192.168.9.9", "fc00::", "fdff::1", "febf::1"]
    outside = ["9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.32.0.0"]
    outside += ["192.167.255.255", "192.169.0.0", "198.18.0.1", "fbff::1", "fe00::1", "fec0::1"]
    outside += ["::a00:1", "::1"]  # not IPv4-mapped
    assert is_private(parse_addrs(inside)).all()
    assert not is_private(parse_addrs(outside)).any()
    assert is_private(parse_addrs([])).shape == (0,)


def test_the_public_address_with_most_links_names_a_node_of_equal_ones_the_smallest():
    addrs = parse_addrs(["10.0.0.2", "20.0.0.9", "20.0.0.8", "10.0.0.1", "192.168.0.1"])
    node, position = naming_addrs(addrs, np.array([3, 3, 3, 5, 5]))
    assert (node.tolist(), position.tolist()) == ([3, 5], [2, 3])
    for n_links, expected in (([9, 1, 1, 1, 1], [2, 3]), ([9, 2, 1, 1, 2], [1, 4])):
        _, position = naming_addrs(addrs, np.array([3, 3, 3, 5, 5]), np.array(n_links))
        assert position.tolist() == expected
