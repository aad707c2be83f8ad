"""What pairs no longer cross, the largest cause first, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.report.tables.changes import changes_table, events_table
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
    assert "most by AS4" in said_of_it


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
