"""Ranges of the widths of whole ASes: around what was measured, and wider where less is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.tables.width import likely
from pipeline.report.tables.width.likely import LINES

HOPS = st.integers(0, 60)


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.setattr(likely, "LINES", {"diameter": ((0.0, 0.5, 0.0), (2.0, 0.5, 0.5))})


def range_of(lower: int, upper: int, n: int) -> tuple[int, int]:
    low, high = likely.likely("diameter", *(np.array([one]) for one in (lower, upper, n)))
    return int(low[0]), int(high[0])


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize(
    ("lower", "upper", "n", "ends"),
    [
        (0, 0, 1, (0, 2)),
        (4, 4, 4, (2, 4)),
        (4, 4, 16, (2, 5)),
        (9, 9, 16, (5, 7)),  # 4.5 to 7.5, to the nearest hop
        (4, 9, 16, (2, 7)),  # of bounds, from the one to the other
    ],
)
def test_the_lines_are_read_at_the_width_and_the_size(lower, upper, n, ends):
    assert range_of(lower, upper, n) == ends


@given(HOPS, HOPS, st.integers(1, 1000))
def test_a_range_has_two_ends_in_order_and_grows_with_what_is_not_known(one, other, n):
    lower, upper = sorted((one, other))
    for name in LINES:
        columns = (np.array([x]) for x in (lower, upper, n))
        low, high = likely.likely(name, *columns)
        assert 0 <= low[0] <= high[0]
        at_lower = likely.likely(name, *(np.array([x]) for x in (lower, lower, n)))
        assert low == at_lower[0]
        assert high >= at_lower[1]
