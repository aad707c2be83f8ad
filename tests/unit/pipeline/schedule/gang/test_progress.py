"""A gang is quiet for as long as no rank is known to have exchanged anything."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pipeline.schedule.gang.progress import RankProgress, longest_s
from pipeline.schedule.plan.costs import DEFAULTS
from pipeline.schedule.transport.limits import Deadlines, Limits


class FakeClock:
    at = 0.0

    def now(self):
        return self.at


class FakeClient:
    """Answers with what ranks have done, or not at all."""

    def __init__(self):
        self.loop = self
        self.asyncio_loop = asyncio.new_event_loop()
        self.done, self.answers = {"a": 0, "b": 0}, True
        self.thread = threading.Thread(target=self.asyncio_loop.run_forever)
        self.thread.start()

    async def _run(self, call, gang, workers, on_error, wait):
        if not self.answers:
            await asyncio.sleep(60)
        return {worker: self.done[worker] for worker in workers}

    def close(self):
        self.asyncio_loop.call_soon_threadsafe(self.asyncio_loop.stop)
        self.thread.join()
        self.asyncio_loop.close()


@pytest.fixture
def client():
    made = FakeClient()
    yield made
    made.close()


def look(progress, clock, at):
    """What is known at a time, all answers having come."""
    clock.at = at
    progress.quiet_s()
    answer = progress._answer
    if answer is not None:
        answer.exception(timeout=20)
    return progress.quiet_s()


def test_ranks_that_exchange_are_not_quiet_and_those_that_hang_are(client):
    clock = FakeClock()
    progress = RankProgress(client, "g", ["a", "b"], Limits(poll_s=1.0, answer_s=5.0), clock)
    assert look(progress, clock, 2.0) == 0  # they answer: they have begun
    client.done["b"] = 3
    assert look(progress, clock, 10.0) == 0
    assert look(progress, clock, 25.0) == 15
    client.done["a"] = 1
    assert look(progress, clock, 40.0) == 0


def test_workers_that_do_not_answer_are_quiet(client):
    clock = FakeClock()
    progress = RankProgress(client, "g", ["a", "b"], Limits(poll_s=1.0, answer_s=0.1), clock)
    client.answers = False
    assert look(progress, clock, 30.0) == 30


def test_deadlines_follow_the_estimate():
    small = longest_s(1_000, 4_000, 1, False, "gpu", DEFAULTS)
    large = longest_s(10**9, 4 * 10**9, 100, True, "gpu", DEFAULTS)
    assert 0 < small < 1 < large
    assert longest_s(10**6, 10**7, 5, True, "cpu", DEFAULTS) > longest_s(
        10**6, 10**7, 5, False, "cpu", DEFAULTS
    )
    deadlines = Deadlines(Limits())
    assert deadlines.task(small, is_first=True) < deadlines.task(large, is_first=True)
