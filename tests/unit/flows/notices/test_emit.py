"""Events of Prefect for nights in which something happened."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading

import prefect
import pytest
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_SERVER_EVENTS_MAXIMUM_SIZE_BYTES,
    temporary_settings,
)

from flows.notices import emit as module
from flows.notices.emit import CHANGED, emit
from flows.notices.notice import NightOutcome, make_notice
from pipeline.config import NotifyConfig

EVENTS = [
    {"event": 0, "kind": "link removed", "n_traces": 900, "text": "AS1 [Evil](http://evil)"},
    {"event": 1, "kind": "ingress moved", "n_traces": 50, "text": "AS2"},
]
NIGHT = NightOutcome(
    "complete", "calm-owl", "report", (), "<b>now", "2026-11-20", EVENTS, n_events=7
)


@pytest.fixture
def emitted(monkeypatch):
    found = []
    monkeypatch.setattr(module, "_send", found.append)
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
    partial = NightOutcome("partial", "calm-owl", "left out", ("cut",), "now", "", EVENTS, 2)
    emit(make_notice(partial, NotifyConfig(notify_traces=901)))
    emit(make_notice(NightOutcome("failed", "calm-owl", "no input"), NotifyConfig()))
    assert emitted == []


class Server(http.server.BaseHTTPRequestHandler):
    """Takes events in, once it is no longer busy."""

    busy: int
    got: list[dict]

    def do_GET(self):  # what Prefect's client looks up first
        is_version = self.path.endswith("/admin/version")
        self.answer(200 if is_version else 404, json.dumps(prefect.__version__).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.got or not self.busy:
            self.got += json.loads(body)
            return self.answer(204)
        type(self).busy -= 1
        return self.answer(503)

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def prefect_that_is(busy: int):
    """The settings of a server that answers 503 as often as said, and the events that it got."""
    handler = type("Handler", (Server,), {"busy": busy, "got": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/api"
            with temporary_settings({PREFECT_API_URL: url}):
                yield handler.got
        finally:
            server.shutdown()


def test_each_server_has_the_event_once_emit_returns_even_if_it_was_busy():
    """Servers follow one another in a process: what is sent goes to the one of now."""
    for busy in (0, 2):
        with prefect_that_is(busy) as got:
            emit(make_notice(NIGHT, NotifyConfig()))
            assert [event["event"] for event in got] == [CHANGED]


def test_an_event_that_a_server_would_drop_is_not_sent_and_said(capfd):
    small = {PREFECT_SERVER_EVENTS_MAXIMUM_SIZE_BYTES: 200}
    with prefect_that_is(busy=0) as got, temporary_settings(small):
        emit(make_notice(NIGHT, NotifyConfig()))
    assert got == []
    assert f"event {CHANGED} could not be sent to Prefect: EventTooLarge" in capfd.readouterr().err


def test_what_goes_wrong_costs_no_night(monkeypatch, capfd):
    def too_large(*_, **__):
        raise ValueError("1.5 MB at most: secret")

    monkeypatch.setattr(module, "_send", too_large)
    emit(make_notice(NIGHT, NotifyConfig()))
    said = capfd.readouterr().err
    assert f"event {CHANGED} could not be sent to Prefect: ValueError" in said
    assert "secret" not in said
