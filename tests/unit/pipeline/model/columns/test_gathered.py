"""Rows of a column that are taken where they are read."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.model.columns.gathered import Gathered


@pytest.mark.parametrize(
    "column", [np.arange(10) * 0.5, np.array(list("abcdefghij")), np.arange(10, dtype=np.int16)]
)
def test_rows_are_those_of_an_array(column):
    rows = np.random.default_rng(1).integers(0, 10, 40).astype(np.int32)
    gathered, wanted = Gathered(column, rows), column[rows]
    assert (len(gathered), gathered.dtype, gathered.itemsize) == (40, wanted.dtype, wanted.itemsize)
    assert gathered[7] == wanted[7]
    assert gathered.tolist() == wanted.tolist()
    for which in (slice(3, 30), slice(0, 0), wanted == wanted[0], np.array([5, 5, 0])):
        assert gathered[which].dtype == column.dtype
        assert gathered[which].tolist() == wanted[which].tolist()
