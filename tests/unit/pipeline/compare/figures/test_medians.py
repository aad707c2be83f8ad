"""Intervals of shares and medians, and links that became slower by them."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.compare import compare_nights
from pipeline.compare.figures.medians import medians, wilson
from tests.unit.pipeline.compare.by_hand import night


def test_wilson_intervals_are_those_of_the_textbook():
    # Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 29 of 29.
    lower, upper = wilson(np.array([81, 15, 0, 29]), np.array([263, 148, 20, 29]))
    assert lower.round(4).tolist() == [0.2553, 0.0624, 0.0, 0.8830]
    assert upper.round(4).tolist() == [0.3662, 0.1605, 0.1611, 1.0]
    assert [bound.tolist() for bound in wilson(np.array([0]), np.array([0]))] == [[0.0], [1.0]]


def test_wilson_intervals_are_of_shares():
    n = np.arange(1, 2000)
    assert wilson(0 * n, n)[0].tolist() == [0.0] * len(n)  # for 5 rounding leaves -3e-17
    assert wilson(n, n)[1].tolist() == [1.0] * len(n)


def test_medians_of_rows_and_their_order_statistics():
    row = np.array([0] * 11 + [2] * 2)
    values = np.array([*range(10, -1, -1), 5, 6], float)
    median, lower, upper = medians(row, values, 3)
    assert median.tolist()[::2] == [5.0, 5.5]
    assert (lower[0], upper[0]) == (2.0, 8.0)
    assert (lower[2], upper[2]) == (5.0, 6.0)
    assert np.isnan([median[1], lower[1], upper[1]]).all()


@pytest.mark.parametrize(
    ("n_vantages", "slower_by", "kind"),
    [(3, 5.0, "slower"), (2, 5.0, None), (3, 0.5, None), (3, -5.0, "faster")],
)
def test_a_link_is_slower_by_the_votes_of_three_vantage_points(
    tmp_path, n_vantages, slower_by, kind
):
    def lines(added: float) -> dict[str, list[str]]:
        return {
            f"20.7.0.{i}": [f"20.1.0.1/{i} 20.1.0.2/{i + 10 + added + i / 8} > 20.3.0.9"]
            for i in range(1, n_vantages + 1)
        }

    old, new = night(tmp_path / "old", lines(0.0)), night(tmp_path / "new", lines(slower_by))
    changes, events = compare_nights(old, new)
    assert changes.kind.tolist() == ([] if kind is None else [kind])
    assert len(events) == (kind is not None)  # from each by about as much
    if kind is not None:
        assert changes.new[0] - changes.old[0] == pytest.approx(slower_by)


def test_a_change_is_told_by_the_median_of_changes_not_by_that_of_values(tmp_path):
    # The medians of both nights, 15.5 and 13 ms, would say that it is faster by half as much.
    def lines(*added: float) -> dict[str, list[str]]:
        return {
            f"20.7.0.{i}": [f"20.1.0.1/{i} 20.1.0.2/{i + each} > 20.3.0.9"]
            for i, each in enumerate(added, 1)
        }

    before = (60.0, 20.0, 16.0, 15.0, 14.0, 13.0)
    after = (50.0, 15.0, 11.0, 10.0, 19.9, 8.0)
    old, new = night(tmp_path / "old", lines(*before)), night(tmp_path / "new", lines(*after))
    changes, _ = compare_nights(old, new)
    assert changes.kind.tolist() == ["faster"]
    assert (changes.old[0], changes.new[0]) == pytest.approx((15.5, 10.5))


def test_a_slower_link_comes_with_the_traces_and_pairs_that_cross_it(tmp_path):
    def lines(added: float) -> dict[str, list[str]]:
        hops = f"20.1.0.1/1 20.1.0.2/{11 + added}"
        return {
            f"20.7.0.{i}": [f"{hops} > 20.3.0.9", f"{hops} > 20.3.0.8", f"{hops} > 20.3.0.8"]
            for i in range(1, 9)
        }

    old, new = night(tmp_path / "old", lines(0.0)), night(tmp_path / "new", lines(5.0))
    changes, events = compare_nights(old, new)
    assert events.kind.tolist() == ["links slower"]
    counts = (changes.n_traces[0], changes.n_pairs[0], changes.n_vantages[0])
    assert counts == (24, 16, 8)
    assert events.n_traces.tolist() == [24]  # else no notice says it
