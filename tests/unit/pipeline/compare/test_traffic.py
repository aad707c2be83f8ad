"""Traffic that enters an AS by another ingress: told, and not taken for what chance does."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline.compare import Changes, compare_nights, rerouted
from pipeline.report.tables.changes import changes_table, events_table
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night
from tests.unit.pipeline.infer.handmade import PREFIXES

GATES = {ONE: "20.7.1.1", TWO: "20.8.1.1", THREE: "20.6.1.1"}
# Into AS 2, from AS 3, 4 and 5, behind the router that all three follow.
BY = {3: "20.3.0.1 20.2.0.1", 4: "20.4.0.1 20.2.0.2", 5: "20.5.0.1 20.2.0.3"}
MOVED = "traffic moved"


def lines(entered: dict[str, list[int]], inside: str = "20.2.0.9") -> dict[str, list[str]]:
    """Traces to hosts in AS 2, of each vantage point by the neighbours given, and to these."""
    found = {}
    for vantage, neighbors in entered.items():
        start = f"{GATES[vantage]} 20.1.0.1"
        found[vantage] = [f"{start} 20.{asn}.0.1 20.{asn}.0.2 > 20.{asn}.9.1" for asn in BY]
        for host, asn in enumerate(neighbors):
            found[vantage].append(f"{start} {BY[asn]} {inside} > 20.2.9.{host}")
    return found


def all_by(*neighbors: int, vantages=(ONE, TWO, THREE)) -> dict[str, list[int]]:
    return {vantage: list(neighbors) for vantage in vantages}


def compared(folder: Path, old, new) -> tuple[Changes, list[dict]]:
    changes, events = compare_nights(night(folder / "old", old), night(folder / "new", new))
    return changes, events_table(events, changes_table(changes), {}, "router").to_pylist()


def test_one_of_two_upstream_links_that_is_cut_is_told_by_where_its_traffic_went(tmp_path):
    both, one = lines(all_by(3, 3, 3, 4, 4, 4)), lines(all_by(4, 4, 4, 4, 4, 4))
    changes, (event,) = compared(tmp_path / "cut", both, one)
    assert (event["kind"], event["asn"], event["n_pairs"], event["n_vantages"]) == (MOVED, 2, 9, 3)
    assert event["text"] == (
        "Traffic enters AS2 at 20.2.0.2 from AS4 instead of at 20.2.0.1 from AS3, "
        "whose share went from 50 % to 0 %: 9 pairs"
    )
    assert (changes.event == 0).all()  # the links, the ingress and the neighbour that none sees
    changes, (event,) = compared(tmp_path / "restored", one, both)
    assert event["text"] == (
        "Traffic enters AS2 at 20.2.0.1 from AS3 instead of at 20.2.0.2 from AS4, "
        "whose share went from 100 % to 50 %: 9 pairs"
    )
    assert (changes.event == 0).all()


def test_all_traffic_of_an_as_may_come_from_another_neighbour(tmp_path):
    _, (event,) = compared(tmp_path, lines(all_by(3, 3, 3)), lines(all_by(5, 5, 5)))
    assert (event["kind"], event["asn"], event["n_pairs"]) == (MOVED, 2, 9)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (all_by(3, 3, 3, 4, 4, 4), all_by(3, 3, 4, 4, 4, 4)),  # a few pairs
        (all_by(3, 4), all_by(4, 4)),
        (all_by(*[3] * 9, vantages=(ONE, TWO)), all_by(*[4] * 9, vantages=(ONE, TWO))),
        (all_by(3, 3, 3, 4, 4, 4), all_by(4, 4, 4, 3, 3, 3)),  # as many come as leave
        (all_by(3, 3, 3) | {ONE: [4, 4, 4]}, {ONE: [4, 4, 4]}),  # vantage points lost
    ],
    ids=["few pairs", "fewer than seven", "two vantage points", "exchanged", "not measured"],
)
def test_what_says_little_of_an_ingress_is_not_told(tmp_path, old, new):
    changes, events = compared(tmp_path, lines(old), lines(new))
    assert MOVED not in [event["kind"] for event in events]
    assert "traffic" not in changes.what.tolist()


def test_balanced_flows_are_not_told(tmp_path):
    rng = np.random.default_rng(5)
    nights = [
        night(
            tmp_path / str(i),
            lines({vantage: rng.choice([3, 4, 5], 60).tolist() for vantage in GATES}),
        )
        for i in range(6)
    ]
    for old, new in pairwise(nights):
        assert len(compare_nights(old, new)[1]) == 0


def test_a_border_router_of_another_owner_moves_no_traffic(tmp_path):
    entered = all_by(3, 3, 3, 3)
    old = night(tmp_path / "old", lines(entered))
    table = PREFIXES + "20.2.0.1\t32\t3\n"
    new = night(tmp_path / "new", lines(entered, inside="20.2.0.8"), table)
    changes, _ = compare_nights(old, new)
    assert "traffic" not in changes.what.tolist()


def test_a_part_of_many_pairs_that_differ_is_weighed_with_as_even_a_part_of_the_others(
    tmp_path, monkeypatch
):
    old = night(tmp_path / "old", lines(all_by(*[3] * 24)))
    new = night(tmp_path / "new", lines(all_by(*[4] * 16, *[3] * 8)))
    monkeypatch.setattr(rerouted, "_MAX_ROUTES", 20)
    changes, _ = compare_nights(old, new)
    lost = (changes.what == "traffic") & (changes.kind == "lost")
    assert changes.old[lost].tolist() == [1.0]
    assert changes.new[lost].tolist() == [pytest.approx(1 / 3, abs=0.05)]


def test_a_removed_link_that_traffic_took_says_where_that_enters_now(tmp_path):
    new = {  # the last router of AS 3 is crossed, and leads to AS 4
        vantage: [line.replace("20.4.0.1 20.2.0.2", "20.3.0.1 20.4.0.1 20.2.0.2") for line in own]
        for vantage, own in lines(all_by(4, 4, 4)).items()
    }
    changes, events = compared(tmp_path, lines(all_by(3, 3, 3)), new)
    (event,) = [each for each in events if each["kind"] == "links removed"]
    assert event["text"].startswith("3 links between AS3 and AS2 ")
    assert "; traffic enters AS2 at 20.2.0.2 from AS4 instead of at 20.2.0.1" in event["text"]
    assert len({*changes.event[changes.what == "traffic"].tolist()}) == 1
