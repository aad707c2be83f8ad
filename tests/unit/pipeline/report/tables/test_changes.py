"""Sentences of events."""

from __future__ import annotations

from pipeline.compare.changes import CHANGED, REMOVED, make_changes
from pipeline.compare.events import group_events
from pipeline.model.columns import concat
from pipeline.report.tables.changes import changes_table, events_table


def test_an_event_tells_what_became_of_the_widths_that_it_explains():
    cut = [
        make_changes(1, "link", kind=REMOVED, asn=asn, other_asn=asn, group=asn, other_group=9)
        for asn in (1, 2)
    ]
    widths = [
        make_changes(1, "diameter", kind=CHANGED, asn=1, old=4.0, new=6.0),
        make_changes(1, "radius", kind=CHANGED, asn=1, old=2.0, new=1.0),
    ]
    grouped, events = group_events(concat([*cut[:1], *widths]))
    (text,) = events_table(events, changes_table(grouped), {})["text"].to_pylist()
    assert text.endswith("; its diameter went from 4 to 6 hops; its radius went from 2 to 1 hop")
    assert text.startswith("1 link in AS1 changed")
    grouped, events = group_events(concat([*cut[1:], *widths]))
    (text,) = events_table(events, changes_table(grouped), {})["text"].to_pylist()
    assert "diameter" not in text
