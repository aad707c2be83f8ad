"""Sentences of events."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from pipeline.compare.changes import (
    ADDED,
    CHANGED,
    GAINED,
    INPUT,
    JOINED,
    LONGER,
    LOST,
    LOUD,
    MERGED,
    MOST_MOVED,
    MOVED,
    NOT_BEFORE,
    PARTED,
    QUIET,
    REMOVED,
    RENUMBERED,
    SHIFTED,
    SHORTER,
    SLOWER,
    UNSEEN,
    make_changes,
)
from pipeline.compare.events import group_events
from pipeline.compare.links import ELSEWHERE, IN_NO_AS, NO_TARGET, NO_VANTAGE, NOT_SEEN
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
        assert text.startswith(f"1 link {where} became slower, most notably ")
        assert text.endswith(": from 2.5 to 32.5 ms (medians of 6 vantage points)")


def test_one_hop_is_one_hop():
    paths = make_changes(1, "paths", kind=SHORTER, asn=1, old=2.0, new=1.0)
    assert "from 2 to 1 hop (medians)" in text_of(paths)


def test_smoothed_medians_have_two_decimals_at_most():
    paths = make_changes(1, "paths", kind=LONGER, asn=1, old=7.0814523, new=8.0)
    assert "from 7.08 to 8 hops (medians)" in text_of(paths)


def test_one_router_answers_again_and_one_pair_crosses_it():
    loud = [make_changes(1, "router", kind=LOUD, asn=1, group=group, n_pairs=1) for group in (5, 6)]
    assert text_of(loud[0]).startswith("1 router of AS1 answers again: ")
    assert text_of(loud[0]).endswith("1 pair crosses it")
    assert " first" not in text_of(loud[0])
    assert text_of(concat(loud)).startswith("2 routers of AS1 answer again, ")
    assert " first; " in text_of(concat(loud))


@pytest.mark.parametrize(
    ("sizes", "n", "text"),
    [
        ((41.0, 1.0), 1, "AS1 stopped answering as a whole: 40 of 41 routers; "),
        ((1.0, 0.0), 1, "AS1 stopped answering as a whole: 1 router; "),
        ((9.0, 0.0), 6, "6 ASes, AS1 first, stopped answering as a whole; "),
        ((1.0, 41.0), 1, "AS1 answers again as a whole: 40 of 41 routers; "),
        ((0.0, 9.0), 6, "6 ASes, AS1 first, answer again as a whole; "),
    ],
)
def test_ases_that_are_silent_as_a_whole_are_counted_with_their_routers(sizes, n, text):
    kind = QUIET if sizes[0] > sizes[1] else LOUD
    said = {"kind": kind, "asn": np.arange(1, n + 1), "old": sizes[0], "new": sizes[1]}
    ases = make_changes(n, "AS", **said, n_pairs=1, n_silent=1)
    assert text_of(ases).startswith(text)
    assert "; 1 pair cross" in text_of(ases)
    assert "known" not in text_of(ases)


def test_what_an_event_explains_is_not_counted_as_what_happened():
    ingress = make_changes(1, "ingress", kind=UNSEEN, asn=1, other_asn=2, group=5)
    merged = make_changes(1, "router", kind=MERGED, asn=1, group=5)
    for kind, text in (
        (QUIET, "1 router of AS1 stopped answering: "),
        (LOUD, "1 router of AS1 answers again: "),
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
    unmapped = [make_changes(n, "router", kind=UNSEEN, asn=1, reason=IN_NO_AS) for n in (1, 2)]
    for n, verb, own in ((1, "router of one night is", unmapped[0]), (2, "routers", unmapped[1])):
        text = text_of(concat([inputs, own]))
        assert f": tables; {n} {verb}" in text
        assert text.endswith(" in no AS on the other, or may be")


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


PAIRS = {"n_pairs": 3, "n_traces": 90}  # of what says most
MORE = {"n_pairs": 4, "n_traces": 36}  # of what it explains, or of others like it
THREE = re.compile(r"\b3 pairs\b")
ADDRS = {"addr_high": 0, "addr_low": 0xFFFF00000001, "other_high": 0, "other_low": 0xFFFF00000002}


@pytest.mark.parametrize(
    ("what", "kind", "more"),
    [
        ("vantage point", LOST, {"vantage": 1}),
        ("vantage point", GAINED, {"vantage": 1}),
        ("targets", LOST, {"old": 9.0, "new": 2.0}),
        ("targets", GAINED, {"old": 2.0, "new": 9.0}),
        ("router", RENUMBERED, {}),
        ("AS", LOST, {"reason": NOT_SEEN}),
        ("AS", GAINED, {"reason": NOT_SEEN}),
        ("AS", QUIET, {"old": 5.0, "new": 0.0}),
        ("AS", LOUD, {"old": 0.0, "new": 5.0}),
        ("router", QUIET, {}),
        ("router", LOUD, {}),
        ("AS", PARTED, {"old": 1.0, "new": 2.0}),
        ("AS", JOINED, {"old": 2.0, "new": 1.0}),
        ("ingress", SHIFTED, {"other_asn": 2}),
        ("link", REMOVED, {"other_asn": 1}),
        ("link", ADDED, {"other_asn": 1}),
    ],
)
def test_a_sentence_has_the_pairs_of_what_it_names(what, kind, more):
    ends = {"asn": 1, "group": 5, "other_group": 6, **ADDRS} | more
    reason = {"vantage point": NO_VANTAGE, "targets": NO_TARGET}.get(what, ELSEWHERE)
    unseen = UNSEEN if kind in (LOST, REMOVED) else NOT_BEFORE
    named = make_changes(1, what, kind=kind, **ends, **PAIRS)
    joined = {"kind": unseen, "reason": reason, "vantage": 1, "other_asn": 1}
    explained = make_changes(1, "link", **ends | joined, **MORE)
    _, events = group_events(concat([explained, named]))
    assert (events.n_changes.tolist(), events.n_pairs.tolist()) == ([2], [4])
    assert THREE.search(text_of(concat([explained, named])))


def test_one_of_several_renumbered_routers_is_named_with_its_new_address_and_its_pairs():
    rows = [
        make_changes(1, "router", kind=RENUMBERED, asn=1, group=group, **ADDRS, **touched)
        for group, touched in ((5, MORE), (6, PAIRS))
    ]
    expected = (
        "2 routers of AS1 were renumbered, most notably 0.0.0.1, which is now 0.0.0.2: 3 pairs"
    )
    assert text_of(concat(rows)) == expected


def test_routers_that_went_the_other_way_are_counted_apart():
    owners = [(1, 2), (1, 2), (2, 1), (1, 2)]
    rows = [
        make_changes(1, "router", kind=MOVED, asn=old, other_asn=new, group=group)
        for group, (old, new) in enumerate(owners)
    ]
    assert text_of(concat(rows)) == "3 routers went from AS1 to AS2, and 1 back"


def test_a_width_is_said_to_be_of_its_as():
    links = [
        make_changes(1, "link", kind=REMOVED, asn=asn, other_asn=asn, group=end, other_group=9)
        for asn, end in ((1, 5), (2, 6))
    ]
    width = make_changes(1, "diameter", kind=CHANGED, asn=2, old=4.0, new=6.0)
    assert text_of(concat([*links, width])).endswith("; the diameter of AS2 went from 4 to 6 hops")


def test_longer_paths_are_those_over_all_links_of_the_event():
    cut = make_changes(1, "link", kind=REMOVED, asn=1, other_asn=1, group=5, **PAIRS)
    grouped, events = group_events(cut)
    hops = dict.fromkeys(("longer_by", "lower", "upper"), np.array([2.0]))
    table = events_table(replace(events, **hops), changes_table(grouped), {}, "router")
    expected = ": 3 pairs; paths over links of this event became 2 hops longer (median; 2 to 2)"
    assert table["text"][0].as_py().endswith(expected)


def test_pairs_that_left_several_ingresses_are_counted_in_all():
    rows = [
        make_changes(
            1, "traffic", kind=kind, asn=1, other_asn=2, group=n_pairs, old=0.5, new=0.0,
            n_pairs=n_pairs, n_traces=n_pairs, reason=MOST_MOVED
        )
        for kind, n_pairs in ((LOST, 9), (LOST, 8), (GAINED, 17))
    ]  # fmt: skip
    assert text_of(concat(rows)).endswith("whose share went from 50 % to 0 %: 17 pairs in all")


def test_a_very_long_name_is_shortened():
    quiet = make_changes(1, "router", kind=QUIET, asn=1, group=5)
    assert "W" * 300 not in text_of(quiet, names={1: "W" * 300})
    assert "AS1 (WWW" in text_of(quiet, names={1: "W" * 300})
    assert "AS1 (One)" in text_of(quiet, names={1: "One"})


def text_of(changes, kind: str = "router", names: dict[int, str] | None = None) -> str:
    grouped, events = group_events(changes)
    (text,) = events_table(events, changes_table(grouped), names or {}, kind)["text"].to_pylist()
    return text
