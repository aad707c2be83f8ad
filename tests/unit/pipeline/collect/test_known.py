"""What arrived is on disk soon after, however it arrives; the clock is the test's."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.collect import known
from pipeline.collect.known import KEEP_S, known_results
from pipeline.model.columns import take
from pipeline.schedule.run import measure
from pipeline.schedule.transport.limits import Limits
from tests.integration.measured import config_for, make_snapshot

LOSS_S = 10.0  # of work, at most
WRITING_S = 1.0


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(known, "monotonic", clock)
    return clock


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("known") / "store")


@pytest.fixture(scope="module")
def results(snapshot, tmp_path_factory):
    """Each search of AS70, as a task of its own would bring it."""
    config = config_for(snapshot, tmp_path_factory.mktemp("out"), asns=(70,))
    found = measure(snapshot, config).results
    return [take(found, np.array([i])) for i in range(len(found.row))]


def n_durable(snapshot, store):
    found = known_results(snapshot, store, (70,), ("hops",)).found("search")
    return 0 if found is None else len(found.row)


def test_a_beat_writes_what_has_waited_long_enough(snapshot, results, clock, tmp_path):
    kept = known_results(snapshot, tmp_path, (70,), ("hops",))
    kept.add("search", results[0])
    clock.now += KEEP_S - 0.01
    kept.add("search", results[1])
    kept.beat()
    assert n_durable(snapshot, tmp_path) == 0
    clock.now += 0.01
    kept.beat()
    assert n_durable(snapshot, tmp_path) == 2
    kept.add("search", results[2])  # waits again
    clock.now += KEEP_S - 0.01
    kept.beat()
    assert n_durable(snapshot, tmp_path) == 2


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_older_than_ten_seconds_before_it_is_durable(
    snapshot, results, clock, tmp_path, seed
):
    """Beats come within ``Limits.poll_s`` of one another, results at any time between."""
    rng = np.random.default_rng(seed)
    kept = known_results(snapshot, tmp_path, (70,), ("hops",))
    arrived = []
    for result in results[:40]:
        waits_s = rng.choice([0.0, 0.3, Limits.poll_s, 5 * Limits.poll_s])
        while waits_s > 0:
            step_s = min(waits_s, Limits.poll_s)
            clock.now, waits_s = clock.now + step_s, waits_s - step_s
            least = sum(at <= clock.now - (LOSS_S - WRITING_S) for at in arrived)
            assert n_durable(snapshot, tmp_path) >= least
            kept.beat()
        kept.add("search", result)
        arrived.append(clock.now)
    assert 0 < n_durable(snapshot, tmp_path) < len(arrived)
    kept.flush()
    assert n_durable(snapshot, tmp_path) == len(arrived)
