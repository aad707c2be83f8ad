"""Sentences of events."""

from __future__ import annotations

import pytest

from pipeline.compare.changes import (
    CHANGED,
    INPUT,
    LONGER,
    LOUD,
    MERGED,
    MOVED,
    QUIET,
    REMOVED,
    RENUMBERED,
    SHORTER,
    SLOWER,
    UNSEEN,
    make_changes,
)
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
    (text,) = events_table(events, changes_table(grouped), {}, "router")["text"].to_pylist()
    assert text.endswith("; its diameter went from 4 to 6 hops; its radius went from 2 to 1 hop")
    assert text.startswith("1 link in AS1 changed")
    grouped, events = group_events(concat([*cut[1:], *widths]))
    (text,) = events_table(events, changes_table(grouped), {}, "router")["text"].to_pylist()
    assert "diameter" not in text


def test_links_that_join_an_event_are_not_said_to_be_in_its_first_as():
    links = [
        make_changes(1, "link", kind=REMOVED, asn=asn, other_asn=other, group=end, other_group=9)
        for asn, other, end in ((1, 1, 5), (2, 2, 6), (3, 4, 7))
    ]
    assert text_of(concat(links)).startswith("3 links in AS1 and 3 other ASes changed, ")
    assert text_of(concat(links[:2])).startswith("2 links in AS1 and 1 other AS changed, ")
    assert text_of(links[2]).startswith("1 link between AS3 and AS4 changed, ")


def test_a_slower_link_between_ases_is_not_said_to_be_in_the_first():
    values = {"old": 2.5, "new": 32.5, "n_vantages": 6}
    for other, where in ((1, "in AS1"), (2, "between AS1 and AS2")):
        link = make_changes(1, "link", kind=SLOWER, asn=1, other_asn=other, group=5, **values)
        text = text_of(link)
        assert text.startswith(f"1 link {where} became slower, above all ")
        assert text.endswith(": from 2.5 to 32.5 ms (medians of 6 vantage points)")


def test_one_hop_is_one_hop():
    paths = make_changes(1, "paths", kind=SHORTER, asn=1, old=2.0, new=1.0)
    assert "from 2 to 1 hop (medians)" in text_of(paths)


def test_smoothed_medians_have_two_decimals_at_most():
    paths = make_changes(1, "paths", kind=LONGER, asn=1, old=7.0814523, new=8.0)
    assert "from 7.08 to 8 hops (medians)" in text_of(paths)


def test_one_router_answers_again_and_one_pair_crosses_it():
    loud = [make_changes(1, "router", kind=LOUD, asn=1, group=group, n_pairs=1) for group in (5, 6)]
    assert text_of(loud[0]).startswith("1 router of AS1 answers again, ")
    assert text_of(loud[0]).endswith("1 pair crosses it")
    assert text_of(concat(loud)).startswith("2 routers of AS1 answer again, ")


def test_what_an_event_explains_is_not_counted_as_what_happened():
    ingress = make_changes(1, "ingress", kind=UNSEEN, asn=1, other_asn=2, group=5)
    merged = make_changes(1, "router", kind=MERGED, asn=1, group=5)
    for kind, text in (
        (QUIET, "1 router of AS1 stopped answering, "),
        (LOUD, "1 router of AS1 answers again, "),
        (RENUMBERED, "A router of AS1 was renumbered: 0.0.0.1 is now 0.0.0.2; "),
    ):
        addrs = {
            "addr_high": 0,
            "addr_low": 0xFFFF00000000 + 1,
            "other_high": 0,
            "other_low": 0xFFFF00000000 + 2,
        }
        router = make_changes(1, "router", kind=kind, asn=1, group=5, other_group=6, **addrs)
        assert text_of(concat([ingress, router, merged])).startswith(text)
    inputs = make_changes(1, "inputs", kind=INPUT, reason="tables")
    routers = make_changes(2, "router", kind=INPUT, asn=1, other_asn=2)
    assert "; 2 routers and 0 links have other owners" in text_of(concat([inputs, routers]))
    assert text_of(inputs).endswith(": tables")


@pytest.mark.parametrize(
    ("kind", "one", "three"),
    [
        ("router", "1 router", "3 routers"),
        ("interface", "1 interface", "3 interfaces"),
        ("mixed", "1 node", "3 nodes"),
    ],
)
def test_nodes_are_called_what_they_are_on_both_nights(kind, one, three):
    quiet = make_changes(1, "router", kind=QUIET, asn=1, group=5)
    assert text_of(quiet, kind).startswith(f"{one} of AS1 stopped answering")
    moved = [
        make_changes(1, "router", kind=MOVED, asn=1, other_asn=2, group=group)
        for group in (5, 6, 7)
    ]
    assert text_of(concat(moved), kind) == f"{three} went from AS1 to AS2"


def test_a_very_long_name_is_shortened():
    quiet = make_changes(1, "router", kind=QUIET, asn=1, group=5)
    assert "W" * 300 not in text_of(quiet, names={1: "W" * 300})
    assert "AS1 (WWW" in text_of(quiet, names={1: "W" * 300})
    assert "AS1 (One)" in text_of(quiet, names={1: "One"})


def text_of(changes, kind: str = "router", names: dict[int, str] | None = None) -> str:
    grouped, events = group_events(changes)
    (text,) = events_table(events, changes_table(grouped), names or {}, kind)["text"].to_pylist()
    return text
