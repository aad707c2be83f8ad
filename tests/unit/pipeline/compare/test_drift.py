"""What drifts is reported once; noise and steps are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.compare.drift import DRIFTED, N_NIGHTS, find_drifts
from tests.soak import examples


def told(values, what="routers"):
    """Nights, counted from 0, on which the figure of one AS drifts, of all nights up to each."""
    nights = np.array(values, float)[:, None]
    found = {}
    for last in range(len(nights)):
        (changes,) = (
            find_drifts(np.array([7]), {what: nights[: last + 1]}) or [()]
            if (last >= N_NIGHTS)
            else [()]
        )
        for row in range(len(changes)):
            assert (changes.kind[row], changes.asn[row]) == (DRIFTED, 7)
            found[last] = (float(changes.old[row]), float(changes.new[row]))
    return found


def test_a_slow_drift_is_told_once_with_the_median_of_seven_nights():
    values = [200 - 6 * night for night in range(20)]
    # The median of seven nights is four nights ago: 24 of 200 and fewer is a tenth at once.
    assert told(values) == {7: (182.0, 158.0)}
    values = [200] * 5 + [200 - 6 * night for night in range(12)]
    assert list(told(values)) == [9]


def test_a_drift_with_nights_between_its_steps_is_one_too():
    assert len(told([100 - 6 * (night // 2) for night in range(20)])) == 1
    assert len(told([100 - 7 * (night // 3) for night in range(30)])) == 1


@pytest.mark.parametrize(
    "values",
    [
        [100] * 20,
        [100] * 8 + [50] * 12,  # a step: the night before shows it
        [100, 104, 98, 103, 97, 105, 99, 95, 90, 101],
        [100 - night for night in range(8)],  # less than a tenth
        [20, 19.5, 19, 18.5, 18, 17.5, 17, 16.5],  # fewer than five
    ],
)
def test_steps_noise_and_small_changes_are_none(values):
    assert told(values) == {}


def test_hops_may_drift_by_less_than_one():
    assert list(told([3.0 + 0.1 * night for night in range(9)], "mean_hops")) == [7]


def test_an_unknown_night_is_no_drift():
    assert told([200, 190, np.nan, 170, 160, 150, 140, 130]) == {}


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(20), deadline=None)
def test_random_nights_hardly_drift(seed):
    rng = np.random.default_rng(seed)
    nights = rng.poisson(100, (N_NIGHTS + 1, 20_000)).astype(float)
    (found,) = find_drifts(np.arange(20_000), {"routers": nights})
    assert len(found) <= 5  # 2 in 8! are in order, fewer by a tenth
