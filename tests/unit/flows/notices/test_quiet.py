"""When notices wait for the end of quiet hours."""

from __future__ import annotations

import datetime

import pytest

from flows.notices import quiet
from flows.notices.notice import Notice
from flows.notices.quiet import is_held, quiet_until, wakes
from pipeline.config import NotifyConfig


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text + "+00:00")


@pytest.mark.parametrize(
    ("hours", "zone", "now", "until"),
    [
        (None, "UTC", "2026-11-29T03:00", None),
        ("22:00-07:00", "UTC", "2026-11-29T03:00", "2026-11-29T07:00"),
        ("22:00-07:00", "UTC", "2026-11-29T23:30", "2026-11-30T07:00"),
        ("22:00-07:00", "UTC", "2026-11-29T07:00", None),
        ("22:00-07:00", "UTC", "2026-11-29T22:00", "2026-11-30T07:00"),
        ("12:00-13:00", "UTC", "2026-11-29T12:30", "2026-11-29T13:00"),
        ("12:00-13:00", "UTC", "2026-11-29T13:00", None),
        ("22:00-07:00", "Europe/Amsterdam", "2026-11-29T21:30", "2026-11-30T06:00"),
        # The night in which clocks are set back there: 07:00 is 06:00 UTC afterwards.
        ("22:00-07:00", "Europe/Amsterdam", "2026-10-24T22:30", "2026-10-25T06:00"),
    ],
)
def test_quiet_hours_end_on_the_clock_of_their_zone(hours, zone, now, until):
    config = NotifyConfig(notify_quiet=hours, notify_timezone=zone)
    assert quiet_until(config, at(now)) == (until and at(until))


def test_only_events_that_are_large_enough_wake():
    notice = Notice("s", "b", {"events": [{"n_traces": 900}, {"n_traces": 5}]})
    assert [wakes(notice, NotifyConfig(notify_wake=n)) for n in (None, 900, 901)] == [0, 1, 0]


def test_outside_a_deployment_nothing_waits(monkeypatch):
    monkeypatch.setattr(quiet, "run_deployment", None)
    notice = Notice("s", "b", {"events": [], "snapshot": "", "run": "r"})
    assert not is_held(notice, NotifyConfig(notify_quiet="00:00-23:59"))
