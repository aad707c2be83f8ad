"""Widths of whole ASes: measured and true ones, lines through them, and kinds left out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.truth.fit_widths import (
    Widths,
    fit,
    leave_out,
    measure,
    quantile,
    source_of,
    weigh,
    widths,
)
from tests.oracles.truth.sources import drawn

PATH = {1: [2], 2: [1, 3], 3: [2, 4], 4: [3], 8: [9], 9: [8]}


def network(family: str, n: int, shift: int = 0) -> Widths:
    measured = np.arange(n) % 7
    both = {"diameter": measured, "radius": measured // 2}
    true = {name: each + shift for name, each in both.items()}
    return Widths(family, np.arange(n) % 9 + 1, both, true)


def test_widths_are_those_of_the_largest_component():
    assert widths(PATH, [1, 2, 3, 4, 7, 8, 9]) == (3, 2)
    assert widths({}, [5]) == (0, 0)


def test_a_line_has_its_share_of_values_below_it():
    x, y = np.ones((100, 1)), np.arange(100.0)
    for share in (0.05, 0.5, 0.95):
        (at,) = quantile(x, y, np.ones(100), share)
        assert np.count_nonzero(y < at) == pytest.approx(100 * share, abs=1)


def test_each_kind_and_each_size_weighs_as_much():
    weight = weigh([network("one", 9), network("two", 90)])
    assert weight[:9].sum() == pytest.approx(weight[9:].sum()) == pytest.approx(3)


def test_what_is_fitted_holds_nine_of_ten_of_a_kind_that_was_left_out():
    rows = leave_out([network("one", 60), network("two", 60), network("three", 60, 1)])
    assert {row["family"] for row in rows} == {"one", "two", "three"}
    assert all(row["held"] >= 0.9 for row in rows if row["family"] != "three")
    assert all(row["equal"] == 0 for row in rows if row["family"] == "three")


def test_lines_are_written_as_they_are_read():
    lines = fit([network("one", 60)])
    namespace: dict = {}
    exec(source_of(lines), namespace)
    assert namespace["LINES"] == lines


def test_ases_of_a_network_are_measured_against_the_truth():
    found = measure(drawn("plain", 3, "n_regional=4", "n_stub=9", "n_vantage_points=3"))
    assert len(found.n_nodes) > 10
    for name in ("diameter", "radius"):
        assert len(found.measured[name]) == len(found.true[name]) == len(found.n_nodes)
    assert (found.true["radius"] <= found.true["diameter"]).all()
    assert (found.measured["diameter"] < found.n_nodes).all()
