from types import SimpleNamespace

import pytest

from pipeline.schedule.transport import clock as module
from pipeline.schedule.transport.clock import MOST_GAP_S, Clock


def test_time_in_which_nobody_read_the_clock_hardly_counts(monkeypatch):
    there = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: there.now))
    clock = Clock()
    first = clock.now()
    passed = []
    for gap in (2, MOST_GAP_S, 500, 3):
        there.now += gap
        passed.append(clock.now() - first)
    assert passed == pytest.approx([2, 2 + MOST_GAP_S, 2 + 2 * MOST_GAP_S, 5 + 2 * MOST_GAP_S])
