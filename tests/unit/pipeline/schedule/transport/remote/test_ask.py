"""A request to a scheduler ends by its time limit, whatever its coroutine does."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from pipeline.schedule.transport.remote.connection import ask


@pytest.fixture
def client():
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield SimpleNamespace(loop=SimpleNamespace(asyncio_loop=loop))
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_an_answer_and_an_error_come_back(client):
    async def answered():
        return 7

    async def failed():
        raise ValueError("no")

    assert ask(client, answered, 10.0) == 7
    with pytest.raises(ValueError, match="no"):
        ask(client, failed, 10.0)


def test_a_coroutine_that_does_not_end_when_it_is_cancelled_is_not_waited_for(client):
    may_end, was_cancelled = asyncio.Event(), threading.Event()

    async def stubborn():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            was_cancelled.set()
            await may_end.wait()

    with pytest.raises(TimeoutError):
        ask(client, stubborn, 0.05)
    assert was_cancelled.wait(10)
    client.loop.asyncio_loop.call_soon_threadsafe(may_end.set)
