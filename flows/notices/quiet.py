"""Quiet hours: when a notice may be sent, and how it waits.

A notice that waits is a scheduled run of the deployment ``notify/notify``: it is on Prefect's pages
until then, can be cancelled there, and outlives processes and machines.
"""

from __future__ import annotations

import dataclasses
import datetime
import zoneinfo
from typing import Any

from prefect.context import FlowRunContext
from prefect.deployments import run_deployment

from flows.notices.notice import Notice
from pipeline.config import NotifyConfig
from pipeline.config.values import hours_of
from pipeline.terminal.lines import warn

DEPLOYMENT = "notify/notify"


def quiet_until(config: NotifyConfig, now: datetime.datetime) -> datetime.datetime | None:
    """When the quiet hours end in which ``now``, with its time zone, lies; None: in none."""
    if config.notify_quiet is None:
        return None
    begin, end = hours_of(config.notify_quiet)
    here = now.astimezone(zoneinfo.ZoneInfo(config.notify_timezone))
    time = here.time()
    is_inside = begin <= time < end if begin < end else time >= begin or time < end
    if not is_inside:
        return None
    day = here.date() + datetime.timedelta(days=int(time >= end))
    return datetime.datetime.combine(day, end, here.tzinfo).astimezone(datetime.UTC)


def wakes(notice: Notice, config: NotifyConfig) -> bool:
    """Whether a notice does not wait."""
    least = config.notify_wake
    return least is not None and any(each["n_traces"] >= least for each in notice.facts["events"])


def is_held(notice: Notice, config: NotifyConfig) -> bool:
    """Let a notice wait for the end of quiet hours, if it is to; whether it waits.

    Only runs of a deployment have a worker that sends it later.
    """
    until = quiet_until(config, datetime.datetime.now(datetime.UTC))
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if until is None or wakes(notice, config) or run is None or run.deployment_id is None:
        return False
    try:
        options: dict[str, Any] = {"notify": list(config.notify)}
        if config.notify_command is not None:
            options["notify_command"] = str(config.notify_command)
        run_deployment(
            DEPLOYMENT,
            parameters={"notice": dataclasses.asdict(notice), "options": options},
            scheduled_time=until,
            flow_run_name=f"notice of {notice.facts['snapshot'] or notice.facts['run']}",
            timeout=0,
            as_subflow=False,
        )
    except Exception as error:  # no such deployment, a busy server: better now than never
        warn(f"the notice does not wait for {until:%H:%M} UTC: {type(error).__name__}")
        return False
    return True
