"""Columns of addresses."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.model.addresses import positions_of
from tests.soak import examples

ADDR = st.tuples(st.integers(0, 3), st.integers(0, 5))


@settings(max_examples=examples(200), deadline=None)
@given(table=st.lists(ADDR, max_size=12, unique=True), addrs=st.lists(ADDR, max_size=12))
def test_positions_are_those_of_equal_addresses(table, addrs):
    columns = [np.array(each, np.uint64).reshape(-1, 2) for each in (table, addrs)]
    expected = [table.index(each) if each in table else -1 for each in addrs]
    assert positions_of(*columns).tolist() == expected
