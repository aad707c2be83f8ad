"""What notices say of a night."""

from __future__ import annotations

import json
from dataclasses import replace

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


def test_a_notice_is_three_sentences_and_links():
    pages = {7: "http://127.0.0.1:8080/reports/2026-11-21/as/7.html"}
    events = [EVENTS[0] | {"asn": 7}, EVENTS[1] | {"asn": 8, "other_asn": 7}]
    outcome = replace(
        NIGHT,
        status="partial",
        events=events,
        warnings=["[cut](http://evil.example) short"] * 3,
        as_page=lambda asn: pages.get(asn, ""),
    )
    notice = make_notice(outcome, NotifyConfig())
    assert notice.subject == (
        "hopscope, night 2026-11-21: 2 events since 2026-11-20; something was left out"
    )
    said, *links = notice.body.splitlines()
    assert (
        "fell into 2 parts (900 traces). Also: 1 link in AS2 changed (50 traces); 5 other" in said
    )
    assert said.endswith("short (and 2 more).")
    assert links == [
        "Changes: http://127.0.0.1:8080/reports/2026-11-21/changes.html",
        "Report: http://127.0.0.1:8080/reports/2026-11-21/index.html",
        f"AS7: {pages[7]}",
    ]
    assert "<b>" not in notice.body  # the text is shown, and begins no markup
    assert "](" not in notice.body
    assert "Evil" in notice.body
    assert json.loads(json.dumps(notice.facts))["events"][0]["text"] == EVENTS[0]["text"]


@pytest.mark.parametrize("status", ["partial", "failed"])
def test_nights_that_did_not_do_all_are_told_without_any_event(status):
    warnings = [f"file {i}: [cut](http://evil.example) short" for i in range(25)]
    outcome = NightOutcome(status, "calm-owl", "something was left out", warnings, "now")
    notice = make_notice(outcome, NotifyConfig(notify_first=0))
    said = {"partial": "something was left out", "failed": "failed"}[status]
    assert notice.subject == f"hopscope, night now: {said}"
    assert notice.body.startswith("something was left out; file 0: ")
    assert notice.body.endswith("(and 24 more).")
    assert "](" not in notice.body
    assert (notice.facts["status"], notice.facts["n_warnings"]) == (status, 25)
    assert len(notice.facts["warnings"]) == 20


def test_old_data_is_told_of_a_night_on_which_nothing_happened():
    old = NightOutcome("complete", "calm-owl", "report", (), "now", old_data="3 days old")
    notice = make_notice(old, NotifyConfig())
    assert (notice.subject, notice.body) == ("hopscope, night now: old data", "3 days old.")
    assert notice.facts["old_data"] == "3 days old"


def test_what_was_told_on_an_earlier_night_is_not_told_again():
    known = replace(NIGHT, events=EVENTS[:1], earlier=[EVENTS[:1]])
    assert make_notice(known, NotifyConfig()) is None
    assert make_notice(known, NotifyConfig(notify_again=0)).facts["n_known_events"] == 0


def test_a_quiet_night_is_not_told():
    quiet = NightOutcome("complete", "calm-owl", "report", (), "2026-11-21", "2026-11-20")
    assert make_notice(quiet, NotifyConfig()) is None
