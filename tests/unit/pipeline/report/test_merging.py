"""Widths of two runs as one: what either knows exactly, and of two intervals the tighter bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.report.merging import merge
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import bounds, cut_short, widths_of

AS = 10
PATH = MemorySnapshot({AS: [(v, v + 1) for v in range(8)]}, {AS: 9}, [])  # diameter 8, radius 4
BOTH = ("diameter", "radius")
MORE = (*BOTH, "center", "periphery")


def limited(metrics, diameter, radius, n_searches=5, snapshot=PATH):
    return cut_short(widths_of(snapshot, metrics), 0, diameter, radius, n_searches)


def merged(before, after, snapshot=PATH, kind="widths"):
    def run(widths, name):
        tasks = {"task": [name], "kind": [kind], "asns": [[AS]]}
        metrics = tuple("weighted_" * widths.is_weighted + name for name in widths.metrics)
        field = "weighted_widths" if widths.is_weighted else "widths"
        return measured(snapshot, metrics=metrics, tasks=tasks, **{field: widths})

    found = merge(snapshot, run(before, "first"), run(after, "second"))
    return found.widths or found.weighted_widths, found.tasks["task"]


def test_bounds_of_more_metrics_never_replace_exact_values():
    exact = widths_of(PATH, BOTH)
    for before, after in (
        (exact, limited(MORE, (7, 8), (4, 5))),
        (limited(MORE, (7, 8), (4, 5)), exact),
    ):
        widths, tasks = merged(before, after)
        assert bounds(widths) == ((8, 8), (4, 4))
        assert not widths.exact[0]  # center and periphery are not known
        assert widths.component_diameter.tolist() == [8]
        assert widths.component_radius.tolist() == [4]
        assert "first" in tasks or before is not exact


def test_of_two_intervals_the_tighter_bounds_are_kept():
    first, second = limited(MORE, (7, 9), (4, 5), 12), limited(MORE, (5, 1998), (2, 1000), 1)
    for before, after in ((first, second), (second, first)):
        widths, _ = merged(before, after)
        assert bounds(widths) == ((7, 9), (4, 5))
        assert widths.n_searches[0] == 12  # the other run contributed nothing
    widths, tasks = merged(limited(MORE, (7, 9), (2, 5), 12), limited(MORE, (5, 8), (3, -1), 30))
    assert bounds(widths) == ((7, 8), (3, 5))
    assert widths.n_searches[0] == 42
    assert tasks == ["first", "second"]


def test_a_later_run_that_finds_the_same_takes_the_place_of_the_earlier_one():
    cut = limited(MORE, (7, 9), (4, 5), 12)
    widths, tasks = merged(cut, cut)
    assert (bounds(widths), widths.n_searches[0], tasks) == (((7, 9), (4, 5)), 12, ["second"])


def test_bounds_that_meet_are_exact():
    widths, _ = merged(limited(BOTH, (8, 9), (4, 5)), limited(BOTH, (7, 8), (2, 4)))
    assert bounds(widths) == ((8, 8), (4, 4))
    assert widths.exact[0]
    assert widths.component_diameter.tolist() == [8]


def test_lists_of_an_earlier_run_stay():
    # The earlier run knew all but the diameter, the later one only bounds.
    every = widths_of(PATH, (*MORE, "eccentricities"))
    known = replace(
        every, exact=np.array([False]), diameter_lower=np.array([7]), diameter_upper=np.array([9])
    )
    widths, _ = merged(known, limited(every.metrics, (7, 8), (3, 5)))
    assert bounds(widths) == ((7, 8), (4, 4))
    for name in ("center", "periphery", "counts", "eccentricity"):
        assert getattr(widths, name).tolist() == getattr(every, name).tolist()


def test_the_longer_path_stays_where_an_ingress_raised_the_bound():
    short = replace(limited(BOTH, (8, 9), (4, 5)), path_ptr=np.array([0, 3]), path=np.arange(3))
    long = limited(BOTH, (7, 9), (4, 5))
    for before, after in ((short, long), (long, short)):
        assert merged(before, after)[0].path.tolist() == long.path.tolist()


def test_by_weight_sums_that_differ_in_the_last_digit_do_not_cross():
    def weight(u, v):
        return 1.0

    every = widths_of(PATH, BOTH, weight=weight)
    above = np.nextafter(8.0, 9.0)
    before = cut_short(every, 0, (above, 9.0), (3.0, 5.0), 3)
    after = cut_short(every, 0, (7.0, 8.0), (4.0, 6.0), 4)
    widths, _ = merged(before, after, kind="weighted")
    assert bounds(widths) == ((above, above), (4.0, 5.0))
