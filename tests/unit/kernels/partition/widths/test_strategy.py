"""When a graph in parts is swept: after enough searches of few components, and not each time."""

from __future__ import annotations

import pytest

from kernels.partition.widths.strategy import RANKS, PartThresholds, is_sweep_next


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((1, 16, 2, 17), True),
        ((4, 16, 2, 17), True),
        ((5, 16, 2, 17), False),  # a search of five components closes five sources
        ((1, 15, 2, 17), False),  # one of the first searches
        ((1, 16, 1, 17), False),  # one node is left
        ((1, 16, 2, 20), False),  # every fourth step is a search
    ],
)
def test_a_sweep_is_next_where_searches_close_little(facts, expected):
    assert is_sweep_next(*facts, RANKS) is expected


def test_thresholds_decide():
    at_once = PartThresholds(n_first=0, each_single=2, few_components=9)
    assert is_sweep_next(9, 0, 2, 1, at_once)
    assert not is_sweep_next(9, 0, 2, 2, at_once)
