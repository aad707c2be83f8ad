"""Messages between ranks wait for their receiver, and end with the gang."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest

from kernels.partition import ExchangeError
from pipeline.schedule.gang import link
from pipeline.schedule.gang.link import Inbox


@pytest.fixture
def gang(monkeypatch):
    monkeypatch.setattr(link, "_INBOXES", {})

    class Worker:
        handlers: dict = {}

    assert link.open_inbox("a", dask_worker=Worker())
    assert Worker.handlers == {link.HANDLER: link.deliver}
    return "a"


def deliver(*given, **named):
    return asyncio.run(link.deliver(*given, **named))


def soon():
    return time.monotonic() + 20


def test_a_message_may_come_before_it_is_wanted_and_is_taken_once(gang):
    assert deliver(gang, 1, 7, array=np.arange(3))
    inbox = link._INBOXES[gang]
    assert inbox.take(1, 7, soon()).tolist() == [0, 1, 2]
    with pytest.raises(TimeoutError):
        inbox.take(1, 7, time.monotonic() + 0.01)


def test_messages_are_kept_apart_by_sender_and_number():
    inbox = Inbox()
    for sender, number in ((1, 2), (2, 1), (1, 1)):
        inbox.put(sender, number, (sender, number))
    assert [inbox.take(1, 1, soon()), inbox.take(2, 1, soon())] == [(1, 1), (2, 1)]


def test_one_who_waits_learns_that_another_gave_up(gang):
    inbox, ends = link._INBOXES[gang], []

    def wait():
        with pytest.raises(ExchangeError, match="rank 2 gave up"):
            inbox.take(1, 1, soon())
        ends.append(True)

    thread = threading.Thread(target=wait)
    thread.start()
    assert deliver(gang, 2, 5, over="rank 2 gave up")
    thread.join(20)
    assert ends == [True]


def test_the_first_reason_is_kept(gang):
    deliver(gang, 2, 5, over="first")
    deliver(gang, 3, 5, over="second")
    with pytest.raises(ExchangeError, match="first"):
        link._INBOXES[gang].take(1, 1, soon())


def test_a_gang_that_is_over_takes_no_message(gang):
    assert link.close_inbox(gang, "over")
    assert not link.close_inbox(gang, "over")
    assert not deliver(gang, 1, 1, array=np.arange(3))
    assert link.n_open() == 0
