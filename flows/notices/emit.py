"""An event of Prefect for a night in which something happened, on which automations can act."""

from __future__ import annotations

from prefect.events import emit_event

from flows.notices.notice import Notice
from flows.pages.inert import inert
from pipeline.terminal.lines import warn

CHANGED = "hopscope.night.changed"


def emit(notice: Notice) -> None:
    """Tell Prefect's server of the events that a notice holds; without any do nothing.

    All texts are inert, since automations put them into messages. Nothing that goes wrong here
    costs a night.
    """
    events = notice.facts["events"]
    if not events:
        return
    night = inert(notice.facts["snapshot"])
    try:
        emit_event(
            CHANGED,
            {"prefect.resource.id": f"hopscope.night.{night}", "prefect.resource.name": night},
            payload={
                "subject": notice.subject,
                "body": notice.body,
                "old": inert(notice.facts["old"]),
                "n_events": notice.facts["n_events"],
                "n_traces": max(event["n_traces"] for event in events),
                "kinds": sorted({event["kind"] for event in events}),
            },
        )
    except Exception as error:  # too large for the server, for instance
        warn(f"no event {CHANGED} went to Prefect: {type(error).__name__}")
