"""An event of Prefect for a night with news or old data, on which automations can act."""

from __future__ import annotations

from prefect.context import FlowRunContext, SyncClientContext
from prefect.events import Event, RelatedResource, Resource
from prefect.exceptions import EventTooLarge
from prefect.settings import get_current_settings

from flows.notices.notice import Notice
from flows.pages.inert import inert
from pipeline.terminal.lines import warn

CHANGED = "hopscope.night.changed"


def emit(notice: Notice) -> None:
    """Send Prefect's server the events that a notice holds, and whether its data are old, if any.

    It has the event when this returns. All texts are inert, since automations put them into
    messages. Nothing that goes wrong here costs a night.
    """
    events = notice.facts["events"]
    if not events and not notice.facts["old_data"]:
        return
    night = inert(notice.facts["snapshot"])
    try:
        _send(
            Event(
                event=CHANGED,
                resource=Resource(
                    {
                        "prefect.resource.id": f"hopscope.night.{night}",
                        "prefect.resource.name": night,
                    }
                ),
                related=_related(),
                payload={
                    "subject": notice.subject,
                    "body": notice.body,
                    "old": inert(notice.facts["old"]),
                    "n_events": notice.facts["n_events"],
                    "n_traces": max((event["n_traces"] for event in events), default=0),
                    "kinds": sorted({event["kind"] for event in events}),
                    "old_data": inert(notice.facts["old_data"]),
                },
            )
        )
    except Exception as error:  # too large for the server, for instance
        warn(f"event {CHANGED} could not be sent to Prefect: {type(error).__name__}")


def _send(event: Event) -> None:
    """Post an event, and try again while the server is busy or starts again.

    Prefect's own queue of events sends later, from a thread, and only logs what it loses: what it
    had for a server that is gone, or whose run it could not look up. A server drops an event that
    it has had before.
    """
    most = get_current_settings().server.events.maximum_size_bytes
    if event.size_bytes > most:  # the server would only log it
        raise EventTooLarge(event.size_bytes, most)
    with SyncClientContext.get_or_create() as context:  # the client of the run
        context.client.request("POST", "/events", json=[event.model_dump(mode="json")])


def _related() -> list[RelatedResource]:
    """The run, its flow and its deployment, by which automations may choose events."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None or context.flow is None:
        return []
    run, flow = context.flow_run, context.flow
    labels = [
        {"role": "flow-run", "id": f"prefect.flow-run.{run.id}", "name": run.name},
        {"role": "flow", "id": f"prefect.flow.{run.flow_id}", "name": flow.name},
    ]
    if run.deployment_id is not None:
        labels.append({"role": "deployment", "id": f"prefect.deployment.{run.deployment_id}"})
    return [
        RelatedResource({f"prefect.resource.{key}": value for key, value in each.items()})
        for each in labels
    ]
