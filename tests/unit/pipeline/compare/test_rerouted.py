"""By how much the ways of pairs became longer, on traces written by hand."""

from __future__ import annotations

from pipeline.compare import compare_nights
from pipeline.compare.changes import LONGER
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night

A, B, C, D, E, F = (f"20.1.0.{i}" for i in (1, 5, 9, 13, 17, 21))


def answered(*ways: str) -> dict[str, list[str]]:
    """A trace by each way, to a host that answers, from three vantage points in turn."""
    lines: dict[str, list[str]] = {ONE: [], TWO: [], THREE: []}
    for i, way in enumerate(ways):
        lines[(ONE, TWO, THREE)[i % 3]].append(f"{way} 20.3.0.{i}! > 20.3.0.{i}")
    return lines


def test_pairs_of_every_link_of_an_event_say_how_much_longer_their_ways_became(tmp_path):
    """One pair in three crossed the first lost link, two the last one, by number of routers."""
    old = night(tmp_path / "old", answered(*[f"{A} {B} {D}"] * 3, *[f"{A} {C} {D}"] * 6))
    new = night(
        tmp_path / "new", answered(*[f"{A} {B} {E} {D}"] * 3, *[f"{A} {C} {E} {F} {D}"] * 6)
    )
    _, events = compare_nights(old, new)
    (event,) = (events.kind == "links removed").nonzero()[0]
    assert events.longer_by[event] == 2


def test_longer_paths_to_an_as_are_given_by_their_medians(tmp_path):
    """Of three lengths; the interval of the median begins below it."""
    longer = [" ".join([E, F, C][:n]) for n in (1, 1, 1, 2, 2, 2, 2, 3, 3)]
    old = night(tmp_path / "old", answered(*[f"{A} {B} {D}"] * 9))
    new = night(tmp_path / "new", answered(*[f"{A} {B} {more} {D}" for more in longer]))
    changes, _ = compare_nights(old, new)
    (row,) = (changes.kind == LONGER).nonzero()[0]
    assert (changes.old[row], changes.new[row]) == (4, 6)
