"""What pairs no longer cross, the largest cause first, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.report.tables.changes import changes_table, events_table
from tests.oracles.nights.internet import own_otherwise
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night
from tests.unit.pipeline.infer.handmade import alias_sets

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


def test_routers_that_one_link_goes_around_are_not_hidden(tmp_path):
    """Of all pairs that skip them the same two now follow one another: a link joins these."""
    far = lines(f"{IN} 20.2.0.1 20.2.0.2 20.2.0.3 20.2.0.4 {OUT}")
    near = lines(f"{IN} 20.2.0.1 20.2.0.4 {OUT}")
    others = [
        f"{IN} 20.2.0.1 20.2.0.2 20.2.0.3 20.2.1.{i}! > 20.2.1.{i}"  # see them on both nights
        for i in range(3)
    ]
    for own in (far, near):
        for vantage in VANTAGES:
            own[vantage] = own[vantage] + others
    assert said(tmp_path / "1", far, near)[0] == ["links added", "paths shorter"]
    assert said(tmp_path / "2", near, far)[0] == ["links removed", "paths longer"]


def test_an_ingress_that_moved_inwards_hides_no_router(tmp_path):
    """Its old one is skipped between a router of the neighbour and the new one."""
    old = lines(f"{IN} 20.2.0.1 20.2.0.2 20.2.0.3 20.2.0.4 {OUT}")
    new = lines(f"{IN} 20.2.0.3 20.2.0.4 {OUT}")
    assert said(tmp_path, old, new)[0][0] == "ingress moved"


def test_all_pairs_that_lack_hidden_routers_are_counted(tmp_path):
    """Also those that came to another router before, and do not show the same one on both sides."""
    inside = {
        v: [
            f"20.1.0.1 20.2.0.{a} 20.2.0.5 20.2.0.6 20.2.0.{b} {OUT} 20.3.{a}.{i}! > 20.3.{a}.{i}"
            for i in range(1, 5)
            for a, b in ((1, 3), (2, 4))
        ]
        for v in VANTAGES
    }
    hidden = {v: [line.replace("20.2.0.5 20.2.0.6 ", "") for line in inside[v]] for v in VANTAGES}
    to_inside = [f"20.1.0.1 20.2.0.1 20.2.0.5 > 20.9.1.{i}" for i in range(1, 5)]
    ends = [f"20.1.0.1 20.2.0.1 > 20.9.1.{i}" for i in range(1, 5)]
    for v in VANTAGES:
        inside[v] = inside[v] + to_inside
        hidden[v] = hidden[v] + ends
    kinds, (text,) = said(tmp_path, inside, hidden)
    assert kinds == ["routers hidden"]
    assert "36 pairs" in text


def test_an_adjacency_is_gained_though_its_router_had_another_owner(tmp_path):
    """Which explains links that both nights show, and no new one."""
    old = lines(f"{IN} 20.4.0.1 20.2.0.1 {OUT}")
    new = lines(f"{IN} 20.2.0.1 {OUT}")
    of_two = {v: [f"{IN} 20.4.0.1 20.2.0.9 20.2.1.1! > 20.2.1.1"] for v in VANTAGES}
    nights = [
        night(tmp_path / name, {v: own[v] + of_two[v] for v in VANTAGES})
        for name, own in (("old", old), ("new", new))
    ]
    for before in (nights[0], own_otherwise(nights[0], {"20.2.0.1": 3})):
        changes, events = compare_nights(before, nights[1])
        first = events.first[events.kind == "adjacency gained"]
        assert {(int(changes.asn[row]), int(changes.other_asn[row])) for row in first} == {(1, 2)}


def test_gaps_through_which_pairs_go_around_do_not_keep_an_adjacency(tmp_path):
    """They come by other routers than before, and may cross another AS in between."""
    by, around = f"{IN} 20.2.0.1 20.2.0.2 20.3.0.1", f"{IN} 20.4.0.1 20.4.0.2 20.3.0.1"
    unseen = f"{IN} 20.2.0.1 20.2.0.7 * 20.3.0.1"
    others = [f"{IN} 20.2.0.1 20.2.0.2 20.2.1.{i}! > 20.2.1.{i}" for i in range(3)]
    others += [f"{around} 20.3.2.{i}! > 20.3.2.{i}" for i in range(3)]
    both = []
    for ways in ([by] * 12, [around] * 9 + [unseen] * 3):
        own = [f"{way} 20.3.1.{i}! > 20.3.1.{i}" for i, way in enumerate(ways, start=1)]
        both.append(dict.fromkeys(VANTAGES, own + others))
    kinds, texts = said(tmp_path, *both)
    assert kinds[0] == "adjacency lost"
    assert texts[0].startswith("Links between AS2 and AS3 are no longer crossed: 27 pairs")


def test_an_adjacency_that_most_pairs_pass_unanswered_is_not_lost(tmp_path):
    """Of few others it is unknown where they go, since their targets do not answer either."""
    lost = "adjacency lost"
    way = f"{IN} 20.2.0.1 20.3.0.1"
    old = {
        v: [f"{way} 20.4.0.{i}! > 20.4.0.{i}" for i in range(1, 13)]
        + [f"{way} > 20.3.1.{i}" for i in range(1, 5)]
        for v in VANTAGES
    }
    new = {
        v: [line.replace("20.3.0.1 20.4", "* 20.4").replace(" 20.3.0.1", "") for line in old[v]]
        for v in VANTAGES
    }
    assert lost not in said(tmp_path, old, new)[0]


def test_a_router_of_several_addresses_is_lost_and_not_a_link_to_it(tmp_path):
    """Though the router behind it is still seen: no link takes two addresses of a router."""
    old = lines(f"{IN} 20.2.0.1 20.2.0.5 20.2.0.9 {OUT}", f"{IN} 20.2.0.2 20.2.0.6 20.2.0.9 {OUT}")
    new = lines(f"{IN} 20.2.0.1 20.2.0.3 20.2.0.9 {OUT}", f"{IN} 20.2.0.2 20.2.0.4 20.2.0.9 {OUT}")
    others = [f"{IN} 20.2.0.{i} 20.2.0.{j} 20.2.1.{i}! > 20.2.1.{i}" for i, j in ((1, 3), (2, 4))]
    both = []
    for name, own in (("old", old), ("new", new)):
        ways = {v: own[v] + others for v in VANTAGES}
        sets = alias_sets(("20.2.0.5", "20.2.0.6"))
        both.append(night(tmp_path / name, ways, aliases=sets, routers="inferred"))
    kinds = compare_nights(*both)[1].kind.tolist()
    assert kinds == ["routers lost"]


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
