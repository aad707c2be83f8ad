"""Times of nightly runs: refused before a server starts, and told as they are."""

import pytest

from flows.runs.schedules import check_times, when
from pipeline.errors import UsageError


@pytest.mark.parametrize(
    ("cron", "zone", "said"),
    [
        ("61 2 * * *", None, "--cron '61 2"),
        ("every night", None, "--cron 'every night'"),
        (None, "Mars/Base", "--timezone Mars/Base: takes a time zone"),
    ],
)
def test_a_wrong_time_is_refused(cron, zone, said):
    with pytest.raises(UsageError, match=said):
        check_times(cron, zone)


def test_right_times_are_taken():
    for cron, zone in ((None, None), ("15 2 * * *", None), ("*/5 * * * MON", "Europe/Amsterdam")):
        check_times(cron, zone)


def nightly(*schedules: dict, paused: bool = False, active: bool = True) -> dict:
    return {"paused": paused, "schedules": [{"active": active, "schedule": s} for s in schedules]}


NIGHT = {"cron": "15 2 * * *", "timezone": "UTC"}
OFTEN = {"cron": "*/5 * * * *", "timezone": "Asia/Tokyo"}


@pytest.mark.parametrize(
    ("there", "is_pool_paused", "said"),
    [
        (nightly(NIGHT), False, "Runs every night at 02:15 UTC."),
        (
            nightly(OFTEN, {"interval": 60.0}),
            False,
            "Runs by the schedule '*/5 * * * *', Asia/Tokyo; by a schedule of your own.",
        ),
        (nightly(NIGHT, paused=True), False, "nightly/nightly is paused (its schedule: every"),
        (nightly(NIGHT), True, "No run starts: the work pool is paused"),
        (nightly(NIGHT, active=False), False, "no schedule of nightly/nightly is active"),
        (nightly(), False, "no schedule of nightly/nightly is active"),
    ],
)
def test_what_is_told_is_what_the_server_will_do(there, is_pool_paused, said):
    assert said in when(there, is_pool_paused)
