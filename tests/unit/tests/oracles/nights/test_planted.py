"""Plants change what they say they change, and nothing where they find no place."""

from __future__ import annotations

from random import Random

import pytest

from tests.oracles.nights.internet import Night, links_between, remove_links
from tests.oracles.nights.planted import PLANTS, Seen, touched, ways_of


@pytest.fixture(scope="module")
def seen() -> Seen:
    return Seen.of(Night.of_seed(3))


def test_ases_without_links_are_neighbours_no_more(seen):
    night = Night.of_seed(3)
    one, other = next(iter(seen.borders))
    remove_links(night.net, links_between(night.net, one, other))
    assert night.net.ases.between(one, other) is None
    assert not links_between(night.net, one, other)
    assert seen.net.ases.between(one, other) is not None


@pytest.mark.parametrize("name", ["transit AS lost", "adjacency lost", "link cut", "city lost"])
def test_pairs_of_a_plant_are_those_that_go_otherwise(seen, name):
    plant = next(PLANTS[name](seen, Random(1)))
    changed = touched(seen, plant.alter)
    assert plant.pairs
    assert plant.pairs <= changed
    night = Night.of_seed(3)
    plant.alter(night)
    ways = ways_of(night)
    assert all(ways[pair] == way for pair, way in seen.ways.items() if pair not in changed)


def test_the_same_night_is_measured_again(seen):
    one, other = (Night.of_seed(3).traces(luck=5) for _ in range(2))
    assert one == other
    assert one != Night.of_seed(3).traces(luck=6)
