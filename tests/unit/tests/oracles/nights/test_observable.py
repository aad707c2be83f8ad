"""Which plants nobody can notice: where another one on the same night took its traces away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.nights.network import Plan, make_network
from tests.oracles.nights.observable import unobservable
from tests.oracles.nights.plants import (
    Expected,
    Night,
    crossed,
    first_night,
    limit_rate,
    lose_targets,
    renumber,
    without,
)

SEEDS = (3, 4)


@pytest.fixture(scope="module")
def night() -> Night:
    return first_night(make_network(Plan(seed=3, n_ases=6, n_vantages=6)))


def hidden(before: Night, after: Night, event: Expected) -> set[int]:
    return unobservable(before, after, [("planted", event)], SEEDS)


@pytest.mark.parametrize("plant", [renumber, limit_rate])
def test_a_router_that_no_pair_crosses_any_more_is_not_counted(night, plant):
    rng = np.random.default_rng(5)
    planted, event = plant(night, set(), rng, crossed(night.net))
    assert hidden(night, planted, event) == set()
    around = {(event.router, v) for v in night.net.neighbors[event.router]}
    assert hidden(night, replace(planted, net=without(planted.net, around)), event) == {0}
    few, _ = lose_targets(planted, set(), rng, crossed(night.net))
    enough = hidden(night, few, replace(event, n_pairs=event.n_pairs // 4))
    assert (enough, hidden(night, few, replace(event, n_pairs=10_000))) == (set(), {0})


def test_a_width_that_no_trace_shows_is_not_counted(night):
    event = Expected("links removed", frozenset({100}), width="diameter", by_hops=2)
    assert hidden(night, night, event) == {0}
