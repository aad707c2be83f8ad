"""Traffic that enters an AS by another ingress: told, and not taken for what chance does."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline.compare import Changes, compare_nights, rerouted
from pipeline.compare.changes import MOST_MOVED, OTHER_END
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
    kind = "adjacency lost"
    assert (event["kind"], event["asn"], event["n_pairs"], event["n_vantages"]) == (kind, 2, 9, 3)
    assert event["text"] == (
        "Links between AS2 and AS3 are no longer crossed: 9 pairs crossed them; 9 go another way "
        "now; traffic enters AS2 at 20.2.0.2 from AS4 instead of at 20.2.0.1 from AS3, "
        "whose share went from 50 % to 0 %: 9 pairs"
    )
    assert (changes.event == 0).all()  # the links, the ingress and the neighbour that none sees
    changes, (event,) = compared(tmp_path / "restored", one, both)
    assert event["text"] == (
        "Links between AS2 and AS3 are newly crossed: 9 pairs cross them; "
        "a part of the traffic enters AS2 at 20.2.0.1 from AS3, whose share went from 0 % to 50 %, "
        "and no longer at 20.2.0.2 from AS4: 9 pairs"
    )
    assert (changes.event == 0).all()


def test_all_traffic_of_an_as_may_come_from_another_neighbour(tmp_path):
    _, (event,) = compared(tmp_path, lines(all_by(3, 3, 3)), lines(all_by(5, 5, 5)))
    assert (event["kind"], event["asn"], event["n_pairs"]) == ("adjacency lost", 2, 9)


@pytest.mark.parametrize(("n_pairs", "is_told"), [(6, False), (7, True)])
def test_traffic_of_seven_pairs_is_more_than_chance_moves(tmp_path, n_pairs, is_told):
    """All moved: so do most of all, at 99 %."""
    at = [(ONE, TWO, THREE)[i % 3] for i in range(n_pairs)]
    old, new = ({v: [asn] * at.count(v) for v in (ONE, TWO, THREE)} for asn in (3, 4))
    changes, _ = compared(tmp_path, lines(old), lines(new))
    assert ("traffic" in changes.what) == is_told


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


def flows(share: float, times: int, seed: int) -> dict[str, list[str]]:
    """Traces of each pair over a balancer that sends this share of them by AS 3, others by AS 4."""
    rng = np.random.default_rng(seed)
    found = lines(all_by())
    for vantage, own in found.items():
        for host in range(40):
            by = [BY[3 if x < share else 4] for x in rng.random(times)]
            own += [f"{GATES[vantage]} 20.1.0.1 {b} 20.2.0.9 > 20.2.9.{host}" for b in by]
    return found


@pytest.mark.parametrize("times", [(4, 4), (4, 1), (1, 4), (2, 1), (8, 2)])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_uneven_balanced_flows_are_not_told_however_many_traces_there_are(tmp_path, share, times):
    old, new = (flows(share, n, seed) for seed, n in enumerate(times))
    changes, events = compared(tmp_path, old, new)
    assert MOVED not in [event["kind"] for event in events]
    assert "traffic" not in changes.what.tolist()


def test_a_method_that_was_not_used_again_moves_no_traffic(tmp_path):
    by_one, by_other = lines(all_by(*[3] * 8)), lines(all_by(*[4] * 8))
    both = {vantage: by_one[vantage] + by_other[vantage][3:] for vantage in GATES}
    for old, new in ((both, by_other), (by_other, both), (both, by_one)):
        changes, _ = compared(tmp_path / str(len(list(tmp_path.iterdir()))), old, new)
        assert "traffic" not in changes.what.tolist()


def test_several_ingresses_are_counted_in_the_sentence(tmp_path):
    old, new = lines(all_by(*[3] * 12)), lines(all_by(*[4] * 6, *[5] * 6))
    _, (event,) = compared(tmp_path / "parted", old, new)
    assert event["n_pairs"] == 36
    assert event["text"] == (
        "Links between AS2 and AS3 are no longer crossed: 36 pairs crossed them; 36 go another way "
        "now; traffic enters AS2 at 20.2.0.2 from AS4 and at 1 other ingress instead of at "
        "20.2.0.1 from AS3, whose share went from 100 % to 0 %: 36 pairs"
    )
    _, (event,) = compared(tmp_path / "joined", new, old)
    assert event["n_pairs"] == 36
    assert "; traffic enters AS2 at 20.2.0.1 from AS3 instead of at 1 other" in event["text"]
    assert event["text"].endswith(", whose share went from 50 % to 0 %: 36 pairs in all")


def test_an_ingress_that_keeps_most_of_its_traffic_lost_a_part(tmp_path):
    old, new = lines(all_by(*[3] * 40)), lines(all_by(*[3] * 36, *[5] * 4))
    _, (event,) = compared(tmp_path, old, new)
    assert event["text"] == (
        "Links between AS2 and AS5 are newly crossed: 12 pairs cross them; "
        "a part of the traffic enters AS2 at 20.2.0.3 from AS5, whose share went from 0 % to 10 %, "
        "and no longer at 20.2.0.1 from AS3: 12 pairs"
    )


def test_an_ingress_that_loses_most_and_gains_others_is_in_the_sentence(tmp_path):
    old = lines(all_by(*[3] * 60, *[3] * 10, *[5] * 30))
    new = lines(all_by(*[4] * 60, *[3] * 10, *[3] * 30))
    changes, events = compared(tmp_path, old, new)
    assert any("traffic enters AS2 at 20.2.0.2 from AS4" in event["text"] for event in events)
    reasons = changes.reason[changes.what == "traffic"].tolist()
    assert sorted(reasons) == sorted([MOST_MOVED] * 3 + [OTHER_END])


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


def test_one_pair_that_stays_is_a_part_of_what_enters(tmp_path):
    old, new = lines(all_by(3, 3, 3, 5)), lines(all_by(4, 4, 4, 5))
    _, (event,) = compared(tmp_path, old, new)
    assert "20.2.0.1 from AS3, whose share went from 75 % to 0 %" in event["text"]


def test_a_removed_link_that_traffic_took_says_where_that_enters_now(tmp_path):
    new = {  # the last router of AS 3 is crossed, and leads to AS 4
        vantage: [line.replace("20.4.0.1 20.2.0.2", "20.3.0.1 20.4.0.1 20.2.0.2") for line in own]
        for vantage, own in lines(all_by(4, 4, 4)).items()
    }
    changes, events = compared(tmp_path, lines(all_by(3, 3, 3)), new)
    (event,) = [each for each in events if each["kind"] == "adjacency lost"]
    assert event["text"].startswith("Links between AS2 and AS3 ")
    assert "; traffic enters AS2 at 20.2.0.2 from AS4 instead of at 20.2.0.1" in event["text"]
    assert len({*changes.event[changes.what == "traffic"].tolist()}) == 1
