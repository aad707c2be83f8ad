"""What pairs no longer cross, the largest cause first, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.report.tables.changes import changes_table, events_table
from tests.oracles.nights.internet import own_otherwise
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night

VANTAGES = (ONE, TWO, THREE)
IN, OUT = "20.1.0.1 20.1.0.2", "20.3.0.1"  # AS1, and AS3 behind AS2
BY_TWO, BY_FOUR = "20.2.0.1 20.2.0.2", "20.4.0.1 20.4.0.2 20.4.0.3"


def lines(*ways: str, vantages=VANTAGES) -> dict[str, list[str]]:
    """Traces to eight hosts, by one way after the other in turn."""
    return {
        v: [f"{ways[i % len(ways)]} 20.3.1.{i}! > 20.3.1.{i}" for i in range(1, 9)]
        for v in vantages
    }


def said(tmp_path, old, new) -> tuple[list[str], list[str]]:
    """Kinds and sentences of events, in their order."""
    changes, events = compare_nights(night(tmp_path / "old", old), night(tmp_path / "new", new))
    texts = events_table(events, changes_table(changes), {}, "router").column("text").to_pylist()
    return events.kind.tolist(), texts


WHOLE, AROUND = lines(f"{IN} {BY_TWO} {OUT}"), lines(f"{IN} {BY_FOUR} {OUT}")


@pytest.mark.parametrize(
    ("old", "new", "kind", "text"),
    [
        (WHOLE, AROUND, "AS lost", "AS2 is no longer seen: 24 pairs that crossed it no longer do"),
        (AROUND, WHOLE, "AS gained", "AS2 is newly seen: 24 pairs cross it"),
    ],
)
def test_an_as_that_all_go_around_is_one_event_with_where_they_go(tmp_path, old, new, kind, text):
    """Ways become longer where something is lost, so the AS they go by then has none."""
    kinds, (said_of_it,) = said(tmp_path, old, new)
    assert kinds == [kind]
    assert said_of_it.startswith(text)
    assert "24 " in said_of_it
    assert "most often by AS4" in said_of_it


def test_ways_that_end_where_an_as_is_lost_are_no_other_ways(tmp_path):
    """Of hosts that never answered; a way that shows another router is another one."""
    hosts = [f"> 20.3.1.{i}" for i in range(1, 9)]
    silent = {v: [f"{IN} {BY_TWO} {OUT} {host}" for host in hosts] for v in VANTAGES}
    ways = [f"{IN} {BY_FOUR}"] * 2 + [IN] * 6
    ends = {v: [f"{way} {host}" for way, host in zip(ways, hosts, strict=True)] for v in VANTAGES}
    kinds, (text,) = said(tmp_path / "lost", silent, ends)
    assert kinds == ["AS lost"]
    assert "; 6 go another way now, most often by AS4, 18 end sooner now" in text
    kinds, (text,) = said(tmp_path / "gained", ends, silent)
    assert kinds == ["AS gained"]
    assert "; 6 went another way before, most often by AS4, 18 ended sooner before" in text


def test_links_cut_between_two_ases_are_an_adjacency_while_both_are_seen(tmp_path):
    both = f"{IN} 20.2.0.1 20.4.0.1"  # AS2 is passed to AS4, and is left by another link to AS3
    old = lines(f"{IN} 20.2.0.1 {OUT}", f"{both} {OUT}")
    kinds, texts = said(tmp_path, old, lines(f"{both} {OUT}"))
    assert kinds == ["adjacency lost"]
    assert texts[0].startswith("Links between AS2 and AS3 are no longer crossed: 12 pairs")


def test_what_few_pairs_crossed_may_be_unseen_by_chance(tmp_path):
    old = {v: [*own[:-1], WHOLE[v][-1]] for v, own in AROUND.items()}
    assert "AS lost" not in said(tmp_path, old, AROUND)[0]


def test_routers_that_mpls_hides_are_not_links_removed(tmp_path):
    """Between the same two routers, and for more than one pair of them."""
    ways = [f"20.1.0.1 20.2.0.{a} {{}} 20.2.0.{b} {OUT}" for a, b in ((1, 3), (2, 4))]
    inside = ("20.2.0.11 20.2.0.12", "20.2.0.13 20.2.0.12")
    shown = lines(*(way.format(routers) for way, routers in zip(ways, inside, strict=True)))
    hidden = lines(*(way.format("").replace("  ", " ") for way in ways))
    kinds, texts = said(tmp_path / "hidden", shown, hidden)
    assert kinds == ["routers hidden"]
    assert texts[0].startswith("3 routers inside AS2 no longer show between the same routers")
    assert said(tmp_path / "shown", hidden, shown)[0] == ["routers shown"]


A, B = (f"{IN} 20.2.0.1 {router} 20.2.0.9 {OUT}" for router in ("20.2.0.2", "20.2.0.3"))


def test_flows_that_a_new_router_beside_another_takes_over_are_balanced(tmp_path):
    kinds, texts = said(tmp_path / "1", lines(A), lines(A, B))
    assert kinds == ["load balancing gained"]
    assert texts[0].endswith("24 pairs")
    assert said(tmp_path / "2", lines(A, B), lines(A))[0] == ["load balancing lost"]


def test_a_new_router_on_another_way_is_not_balanced_with_one(tmp_path):
    """It is not between the same two."""
    other = f"{IN} 20.2.0.1 20.2.0.3 20.2.0.7 20.2.0.8 {OUT}"
    assert "load balancing gained" not in said(tmp_path, lines(A), lines(A, other))[0]


def test_flows_that_take_turns_show_no_new_neighbour_where_an_owner_changed(tmp_path):
    """One of two balanced routers counts in AS4 on the newer night, and other pairs cross it."""
    by_four = {ONE: [f"{IN} 20.4.0.1 20.4.1.{i}! > 20.4.1.{i}" for i in range(1, 4)]}
    nights = []
    for name, ways in (("old", (A, B)), ("new", (B, A))):
        own = lines(*ways)
        own[ONE] = own[ONE] + by_four[ONE]
        nights.append(night(tmp_path / name, own))
    moved = own_otherwise(nights[1], {"20.2.0.2": 4})
    assert 4 in moved.asn
    _, events = compare_nights(nights[0], moved)
    assert not {"adjacency gained", "traffic moved", "AS gained"} & set(events.kind)


def test_a_link_that_pairs_of_several_others_come_to_was_added(tmp_path):
    """Though their ways became longer: the routers it joins were crossed before, too."""
    at = [f"{IN} 20.2.0.1 20.2.0.{i} 20.2.0.9 {OUT}" for i in (2, 3)]
    by = f"{IN} 20.2.0.1 20.2.0.5 20.2.0.6 20.2.0.9 {OUT}"
    others = [
        f"{IN} 20.2.0.{i} 20.2.1.{10 * i + j}! > 20.2.1.{10 * i + j}"
        for i in (2, 3, 5, 6)
        for j in range(3)
    ]
    old, new = lines(*at), lines(by)
    for own in (old, new):
        for vantage in VANTAGES:
            own[vantage] = own[vantage] + others
    kinds, _ = said(tmp_path, old, new)
    assert kinds[0] == "links added"
