"""An AS that comes and goes is one event with a count, from its third turn on."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from flows.notices.chosen import choose
from pipeline.compare.changes import ADDED, LOUD, QUIET, REMOVED, make_changes
from pipeline.compare.events import group_events
from pipeline.config import NotifyConfig
from pipeline.report.comparison import write_comparison
from pipeline.stages.compare import compare_with_night_before
from pipeline.stages.nights.flapping import turns_up_to
from tests.unit.pipeline.compare.by_hand import ONE, write_night
from tests.unit.pipeline.compare.test_outages import AROUND, VANTAGES, WHOLE
from tests.unit.pipeline.stages.test_compare import report

NIGHTS = (WHOLE, AROUND, WHOLE, AROUND, WHOLE)


def test_an_as_that_comes_and_goes_is_told_with_a_count(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    told = []
    for i, lines in enumerate(NIGHTS):
        name = f"2026-11-{10 + i}"
        write_night(store, name, lines, newest_s=1000.0 * i)
        report(store, out, name)
        if compare_with_night_before(store, out, name).summary:
            (event,) = pq.read_table(out / name / "events.parquet").to_pylist()
            told.append(event)
    turns = ["AS lost", "AS gained", "AS lost", "AS gained"]
    assert [event["turn"] for event in told] == turns
    assert [event["kind"] for event in told] == [*turns[:2], "flapping", "flapping"]
    assert [event["n_turns"] for event in told] == [1, 2, 3, 4]
    assert told[3]["text"].startswith("Turn 4 within 7 nights: AS2 is newly seen")
    assert "Turn 4 within 7 nights" in (out / "2026-11-14" / "changes.html").read_text()
    nights = [[event] for event in told]
    config = NotifyConfig()
    news = [len(choose(own, nights[:at], config).events) for at, own in enumerate(nights)]
    assert news == [1, 1, 1, 0]  # that it flaps is news once
    lost, gained = (NotifyConfig(notify_kind=(kind,)) for kind in turns[:2])
    assert choose(nights[2], (), lost).events == nights[2]
    assert choose(nights[2], (), gained).events == []


def test_vantage_points_of_one_as_that_are_lost_one_after_the_other_do_not_flap(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    in_seven = [f"20.7.0.{i}" for i in range(1, 5)]
    told = []
    for i, (one, other) in enumerate(((0, 1), (1, 2), (2, 3), (2, 1), (2, 3))):
        name = f"2026-11-{10 + i}"
        lines = dict.fromkeys((*VANTAGES[1:], in_seven[one], in_seven[other]), WHOLE[ONE])
        write_night(store, name, lines, newest_s=1000.0 * i)
        report(store, out, name)
        if compare_with_night_before(store, out, name).summary:
            told += pq.read_table(out / name / "events.parquet").to_pylist()
    flaps = [event for event in told if event["kind"] == "flapping"]
    texts = sorted(event["text"].split(" in AS7")[0] for event in flaps)
    turn = "Turn 3 within 7 nights: Vantage point"
    assert texts == [f"{turn} 20.7.0.2", f"{turn} 20.7.0.4"]


@pytest.mark.parametrize(
    ("what", "one", "other"), [("link", REMOVED, ADDED), ("router", QUIET, LOUD)]
)
@pytest.mark.parametrize(("near", "n_turns"), [((9, 9, 9), 3), ((7, 8, 9), 1), ((9, 7, 9), 1)])
def test_links_and_routers_of_one_as_flap_each_by_itself(tmp_path, what, one, other, near, n_turns):
    n = None
    for i, (kind, word) in enumerate(zip((one, other, one), near, strict=True)):
        ends = {"addr_low": 0xFFFF14020000 + word, "group": word}
        if what == "link":
            ends |= {"other_asn": 2, "other_low": 0xFFFF14020001, "other_group": 1}
        row = make_changes(1, what, kind=kind, asn=2, n_traces=5, n_turned=5, **ends)
        changes, events = group_events(row, told=np.full(1, -1))
        n = turns_up_to(tmp_path, f"2026-11-{10 + i}", changes, events)
        write_comparison(tmp_path, f"2026-11-{10 + i}", f"2026-11-{11 + i}", changes, events, {})
    assert n == [n_turns]
