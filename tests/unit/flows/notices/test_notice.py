"""What notices say of a night."""

from __future__ import annotations

import json

import pytest

from flows.notices.notice import NightOutcome, make_notice
from pipeline.config import NotifyConfig

EVENTS = [
    {"event": 0, "n_traces": 900, "text": "AS1 (<b>Evil</b>) fell into 2 parts"},
    {"event": 1, "n_traces": 50, "text": "1 link in AS2 changed"},
    {"event": 2, "n_traces": 3, "text": "a router of AS3"},
]
NIGHT = NightOutcome(
    "complete",
    "calm-owl",
    "report of 2026-11-21",
    (),
    "2026-11-21",
    "2026-11-20",
    EVENTS,
    7,
    "http://127.0.0.1:8080/reports/2026-11-21/index.html",
    "http://127.0.0.1:8080/reports/2026-11-21/changes.html",
)


@pytest.mark.parametrize(
    ("config", "reported"),
    [
        (NotifyConfig(), [0, 1, 2]),
        (NotifyConfig(notify_first=1), [0]),
        (NotifyConfig(notify_traces=50), [0, 1]),
        (NotifyConfig(notify_first=0), None),
        (NotifyConfig(notify_traces=901), None),
    ],
)
def test_events_of_a_rank_and_size_are_reported(config, reported):
    notice = make_notice(NIGHT, config)
    assert (notice and [event["event"] for event in notice.facts["events"]]) == reported


def test_a_notice_of_events_names_nights_links_and_how_many_more():
    notice = make_notice(NIGHT, NotifyConfig(notify_first=2))
    assert notice.subject == "hopscope, night 2026-11-21: 2 events since 2026-11-20"
    assert notice.body.splitlines()[1:] == [
        "2. 1 link in AS2 changed (50 traces)",
        "7 events in all",
        "Changes: http://127.0.0.1:8080/reports/2026-11-21/changes.html",
        "Report: http://127.0.0.1:8080/reports/2026-11-21/index.html",
    ]
    assert "<b>" not in notice.body  # the text is shown, and begins no markup
    assert "Evil" in notice.body
    assert json.loads(json.dumps(notice.facts))["events"][0]["text"] == EVENTS[0]["text"]


@pytest.mark.parametrize("status", ["partial", "failed"])
def test_nights_that_did_not_do_all_are_told_without_any_event(status):
    warnings = [f"file {i}: [cut](http://evil.example) short" for i in range(25)]
    outcome = NightOutcome(status, "calm-owl", "something was left out", warnings, "now")
    notice = make_notice(outcome, NotifyConfig(notify_first=0))
    said = {"partial": "something was left out", "failed": "failed"}[status]
    assert notice.subject == f"hopscope, night now: {said}"
    lines = notice.body.splitlines()
    assert lines[0] == "something was left out"
    assert len([line for line in lines if line.startswith("Left out: ")]) == 20
    assert lines[-1] == "and 5 more warnings"
    assert "](" not in notice.body
    assert (notice.facts["status"], notice.facts["n_warnings"]) == (status, 25)


def test_one_warning_more_than_are_listed_is_one():
    outcome = NightOutcome(
        "partial", "calm-owl", "left out", [f"file {i}" for i in range(21)], "now"
    )
    assert make_notice(outcome, NotifyConfig()).body.splitlines()[-1] == "and 1 more warning"


def test_a_quiet_night_is_not_told():
    quiet = NightOutcome("complete", "calm-owl", "report", (), "2026-11-21", "2026-11-20")
    assert make_notice(quiet, NotifyConfig()) is None
