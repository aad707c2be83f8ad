"""When nightly runs start by themselves: checked, and in words."""

from __future__ import annotations

import re
from typing import Any

from pipeline.errors import UsageError

_DAILY = re.compile(r"(\d+) (\d+) \* \* \*")


def check_times(cron: str | None, timezone: str | None) -> None:
    """Refuse a wrong time of nightly runs before a server starts, which would refuse it then.

    Raises
    ------
    UsageError
        If it is no cron expression, or no time zone.
    """
    if cron is None and timezone is None:
        return
    from prefect.client.schemas.schedules import CronSchedule  # a second

    try:
        CronSchedule(cron=cron or "0 0 * * *", timezone=timezone or "UTC")
    except ValueError as error:
        is_of_zone = "timezone" in str(error).splitlines()[1:2]
        wrong = f"--timezone {timezone}" if is_of_zone else f"--cron {cron!r}"
        takes = "a time zone like Europe/Amsterdam" if is_of_zone else "like '15 2 * * *'"
        raise UsageError(f"{wrong}: takes {takes}") from None


def when(nightly: dict[str, Any] | None, is_pool_paused: bool) -> str:
    """What to say of when the nightly run starts by itself, or of why it does not.

    Parameters
    ----------
    nightly : dict or None
        The deployment, as the server gives it.
    is_pool_paused : bool
        Whether the pool of its worker is.
    """
    if nightly is None:
        return ""
    active = [each["schedule"] for each in nightly["schedules"] if each["active"]]
    said = [_in_words(schedule) for schedule in active]
    if not said:
        return "No run starts by itself: no schedule of nightly/nightly is active."
    times = "; ".join(said)
    if is_pool_paused:
        return f"No run starts: the work pool is paused (its schedule: {times})."
    if nightly["paused"]:
        return f"No run starts by itself: nightly/nightly is paused (its schedule: {times})."
    return f"Runs {times}."


def _in_words(schedule: dict[str, Any]) -> str:
    zone = schedule.get("timezone") or "UTC"
    cron = schedule.get("cron")
    if cron is None:
        return "by a schedule of your own"
    if daily := _DAILY.fullmatch(cron):
        return f"every night at {int(daily[2]):02}:{int(daily[1]):02} {zone}"
    return f"by the schedule {cron!r}, {zone}"
