"""Shares that are right in several networks, counted by hand."""

import pytest

from tests.oracles.truth.calibration import Rated, calibrate, rows_of


def test_the_standard_error_is_that_of_the_spread_between_networks():
    networks = [[Rated("ingress", 0.5, 10, 10)], [Rated("ingress", 0.5, 30, 20)], []]
    (found,) = calibrate(networks)
    assert (found.rated.n, found.rated.right) == (40, 30)
    # 10 - 7.5, 20 - 22.5 and 0 more than three in four: square sum 12.5, times 3 / 2, of 40.
    assert found.error == pytest.approx((12.5 * 3 / 2) ** 0.5 / 40)
    assert found.measured == "0.750 ± 0.108"


def test_one_network_shows_no_spread():
    (found,) = calibrate([[Rated("ingress", 0.5, 10, 7)]])
    assert found.error is None
    assert rows_of([found])[0][2:] == ["10", "0.500", "0.700", "+0.200"]


def test_classes_are_apart_and_in_order():
    networks = [
        [Rated("candidate", 0.1, 5, 1), Rated("ingress", 0.5, 2, 1), Rated("ingress", 0.9, 1, 1)],
        [Rated("ingress", 0.5, 4, 3)],
    ]
    found = [(one.rated.what, one.rated.stated, one.rated.n) for one in calibrate(networks)]
    assert found == [("ingress", 0.9, 1), ("ingress", 0.5, 6), ("candidate", 0.1, 5)]
