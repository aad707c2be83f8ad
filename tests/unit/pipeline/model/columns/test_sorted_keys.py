"""Keys are placed where NumPy's search places them."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.model.columns.keys import position_of
from pipeline.model.columns.sorted_keys import places_of_keys

LARGEST = np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("low", "high", "n"),
    [(0, 50, 40), (-(1 << 40), 1 << 40, 3000), (0, 1 << 62, 2), (-LARGEST, LARGEST, 100)],
)
def test_as_by_halving(low, high, n):
    rng = np.random.default_rng(1)
    table = np.sort(rng.integers(low, high, n))
    keys = np.concatenate([rng.integers(low, high, 5000), table, table + 1, [-LARGEST, LARGEST]])
    assert np.array_equal(places_of_keys(table, keys), np.searchsorted(table, keys))
    at = position_of(table, keys)
    assert np.array_equal(at >= 0, np.isin(keys, table))
    assert np.array_equal(table[at[at >= 0]], keys[at >= 0])


def test_other_types_and_tables_without_a_range():
    keys = np.arange(-5, 5000)
    for table in (np.empty(0, np.int64), np.array([7]), np.full(4, 7), np.array([1, 7], np.uint32)):
        assert np.array_equal(places_of_keys(table, keys), np.searchsorted(table, keys))
    small = keys.astype(np.int32)
    assert np.array_equal(places_of_keys(np.array([1, 7]), small), np.searchsorted([1, 7], keys))
