"""What comes and goes over nights is counted."""

from __future__ import annotations

import pytest

from pipeline.compare.events import EVENT_KINDS
from pipeline.compare.flapping import FLAPS, N_NIGHTS, TAKES_BACK, Turn, count_turns

LOST, GAINED = Turn("adjacency lost", 1, 2), Turn("adjacency gained", 2, 1)


@pytest.mark.parametrize(
    ("earlier", "n"),
    [
        ([], 1),
        ([[]], 1),
        ([[GAINED]], 2),
        ([[GAINED], [LOST]], 3),
        ([[], [GAINED], [], [LOST], []], 3),
        ([[LOST], [GAINED]], 1),  # lost twice is no turn of each other
        ([[GAINED], [GAINED], [LOST]], 2),
        ([[Turn("adjacency gained", 1, 3)], [Turn("AS gained", 1, 2)]], 1),
        ([[]] * (N_NIGHTS - 2) + [[GAINED], [LOST]], 2),  # the last is too long ago
    ],
)
def test_turns_of_one_thing_take_each_other_back(earlier, n):
    assert count_turns([LOST], earlier) == [n]


def test_exchange_points_are_told_apart_by_name():
    one, other = (Turn("exchange gained", None, None, frozenset({n})) for n in ("IX1", "IX2"))
    lost = Turn("exchange lost", None, None, one.names)
    assert count_turns([lost], [[other]]) == [1]
    assert count_turns([lost], [[other, one]]) == [2]


def test_links_of_an_as_are_the_same_if_events_share_one():
    removed = Turn("links removed", 1, 1, frozenset({"a b", "b c"}))
    added = [Turn("links added", 1, 1, frozenset(names)) for names in ({"a d"}, {"b c", "a d"})]
    assert count_turns([removed], [added[:1]]) == [1]
    assert count_turns([removed], [added[1:]]) == [2]
    assert count_turns([removed], [added[1:], added[:1], [removed]]) == [3]


def test_an_as_that_pairs_go_around_by_others_each_time_is_the_same_one():
    nights = [[Turn("AS gained", 1, None)], [Turn("AS lost", 1, 4)]]
    assert count_turns([Turn("AS lost", 1, 5)], nights) == [3]
    assert count_turns([Turn("AS lost", 4, 1)], nights) == [1]


def test_what_moves_to_and_fro_is_counted_too():
    moved = Turn("ingress moved", 5, 6)
    assert count_turns([moved], [[moved], [moved]]) == [3]


def test_kinds_are_those_of_events():
    assert set(TAKES_BACK) < set(EVENT_KINDS)
    assert FLAPS in EVENT_KINDS
