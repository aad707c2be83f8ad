"""Figures over the nights as drawings."""

from __future__ import annotations

import re

from pipeline.report.nights.history import axis_of, history

NIGHTS = ["2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22"]


def points(drawing: str) -> list[tuple[float, float]]:
    found = re.findall(r'<circle cx="([\d.]+)%" cy="([\d.]+)"', drawing)
    return [(float(x), float(y)) for x, y in found]


def test_larger_values_stand_higher_and_the_last_is_on_the_right():
    drawing = history([1.0, 3.0, 2.0, 3.0], NIGHTS, "mean hops", ".2f")
    (x, y) = zip(*points(drawing), strict=True)
    assert [round(each) for each in x] == [1, 34, 66, 99]  # where the dates begin and end
    assert y[0] > y[2] > y[1] == y[3]
    assert "from 1.00 to 3.00, last 3.00" in drawing
    assert "<title>2026-11-20: 3.00</title>" in drawing


def test_a_night_without_the_figure_has_no_point():
    drawing = history([1, None, 1, None], NIGHTS, "ASes", ",d")
    assert [x for x, _ in points(drawing)] == [1, 66.333]
    assert drawing.count("M") == 2
    assert "last 1" in drawing


def test_a_small_step_is_no_cliff_and_an_axis_begins_at_zero_where_that_is_near():
    drawing = history([202.0, 201.0], NIGHTS[:2], "routers", ".0f")
    (_, high), (_, low) = points(drawing)
    assert 0 < low - high < 2  # pixels of 48
    assert ">axis from 151<" not in drawing
    assert re.search(r">axis from 152<", drawing)
    assert ">axis from 0<" in history([5.0, 2.0], NIGHTS[:2], "routers", ".0f")
    assert axis_of([0.0, 0.0]) == (0.0, 1.0)
    assert axis_of([-1.5, 3.0]) == (-1.5, 3.0)
    assert axis_of([-3.0, -1.0]) == (-3.0, 0.0)


def test_nights_stand_where_their_days_are_and_missing_ones_leave_a_gap():
    drawing = history([1, 1, 1, 1], NIGHTS, "ASes", ",d", [0.0, 1.0, 2.0, 10.0])
    assert [round(x, 1) for x, _ in points(drawing)] == [1, 10.8, 20.6, 99]
    assert re.findall("[ML]", drawing.split('<path d="')[1].split('"')[0]) == ["M", "L", "L", "M"]


def test_one_value_is_no_history():
    assert history([None, 4, None, None], NIGHTS, "ASes", ",d") == ""
    assert history([], [], "ASes", ",d") == ""


def test_names_and_words_are_escaped():
    drawing = history([1, 2], ["<b>", '"x"'], "<i>", ",d")
    assert "<b>" not in drawing
    assert "<i>" not in drawing
    assert '"x"' not in drawing
