"""Events of Prefect for nights in which something happened."""

from __future__ import annotations

import prefect.events
import pytest

from flows.notices import emit as module
from flows.notices.emit import CHANGED, emit
from flows.notices.notice import Outcome, make_notice
from pipeline.config import NotifyConfig

EVENTS = [
    {"event": 0, "kind": "link removed", "n_traces": 900, "text": "AS1 [Evil](http://evil)"},
    {"event": 1, "kind": "ingress moved", "n_traces": 50, "text": "AS2"},
]
NIGHT = Outcome("complete", "calm-owl", "report", (), "<b>now", "2026-11-20", EVENTS, n_events=7)


@pytest.fixture
def emitted(monkeypatch):
    found = []
    monkeypatch.setattr(
        module,
        "emit_event",
        lambda name, resource, payload: found.append(
            prefect.events.Event(event=name, resource=resource, payload=payload)
        ),
    )
    return found


def test_events_beyond_the_bound_are_one_event_of_the_night(emitted):
    emit(make_notice(NIGHT, NotifyConfig()))
    (event,) = emitted
    assert event.event == CHANGED
    assert event.resource.id.startswith("hopscope.night.")
    assert event.payload["n_traces"] == 900
    assert event.payload["n_events"] == 7
    assert event.payload["kinds"] == ["ingress moved", "link removed"]
    # No markup of others begins in what automations put into messages.
    assert "](" not in event.payload["body"]
    assert all("<b>" not in str(value) for value in (event.resource.id, *event.payload.values()))


def test_a_night_below_the_bound_or_without_events_is_none(emitted):
    partial = Outcome("partial", "calm-owl", "left out", ("cut",), "now", "", EVENTS, 2)
    emit(make_notice(partial, NotifyConfig(notify_traces=901)))
    emit(make_notice(Outcome("failed", "calm-owl", "no input"), NotifyConfig()))
    assert emitted == []


def test_what_goes_wrong_costs_no_night(monkeypatch, capfd):
    def too_large(*_, **__):
        raise ValueError("1.5 MB at most: secret")

    monkeypatch.setattr(module, "emit_event", too_large)
    emit(make_notice(NIGHT, NotifyConfig()))
    said = capfd.readouterr().err
    assert f"no event {CHANGED} went to Prefect: ValueError" in said
    assert "secret" not in said
