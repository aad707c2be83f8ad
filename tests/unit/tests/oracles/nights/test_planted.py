"""What is right for plants, and nights that are measured again."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from pipeline.generate.networks.planting.ways import Seen
from pipeline.generate.networks.tracing import Campaign
from tests.oracles.nights.internet import lose_replies, night_of, take_traces, traces_of
from tests.oracles.nights.planted import PLANTS


@pytest.fixture(scope="module")
def seen() -> Seen:
    return Seen(Campaign(night_of(3)))


@pytest.mark.parametrize("name", ["transit AS lost", "adjacency lost", "link cut", "city lost"])
def test_pairs_of_a_plant_are_those_that_go_otherwise(seen, name):
    plant = next(PLANTS[name](seen, Random(1)))
    assert len(plant.pairs)
    assert set(plant.pairs.tolist()) <= set(seen.touched(plant.alter).tolist())
    assert plant.kinds
    assert plant.back


def test_inference_alone_is_told_of_another_election(seen):
    plant = next(PLANTS["election changed"](seen, Random(1)))
    first = night_of(3)
    night = first.copy()
    plant.alter(night)
    assert set(night.owners.values()) < set(plant.asns)
    assert not first.owners
    assert not len(seen.ways.changed(seen._walk(Campaign(night).wires)))


def test_the_same_night_is_measured_again():
    one, other, third = (traces_of(night_of(3), luck) for luck in (5, 5, 6))
    assert np.array_equal(one.addr, other.addr)
    assert np.array_equal(one.rtt_ms, other.rtt_ms)
    assert one.n_traces == third.n_traces
    assert not np.array_equal(one.addr, third.addr)


def test_replies_are_lost_and_traces_stay():
    batch = traces_of(night_of(3), 5)
    less = lose_replies(batch, 0.1, np.random.default_rng(1))
    assert less.n_traces == batch.n_traces
    assert abs(less.n_replies / batch.n_replies - 0.9) < 0.01
    last = take_traces(less, np.array([less.n_traces - 1]))
    assert np.array_equal(last.ttl, less.ttl[less.reply_ptr[-2] :])
