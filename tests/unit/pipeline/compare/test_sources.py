"""To which vantage point that did not measure a link belongs that is no longer seen."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.compare.changes import GAINED, LOST, NOT_BEFORE, UNSEEN
from pipeline.compare.links import NOT_CROSSED
from pipeline.model.addresses import format_addr
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night

KEPT = "20.5.0.1"
BORDER, INSIDE = "20.1.0.1", "20.1.0.2"


def lines(*vantages: str) -> dict[str, list[str]]:
    """Each vantage point has two routers of its own, two of them share a third."""
    gates = {ONE: "20.7.1.{}", TWO: "20.8.1.{}", THREE: "20.6.1.{}", KEPT: "20.5.1.{}"}
    out = {}
    for i, vantage in enumerate((ONE, TWO, THREE, KEPT)):
        own = f"{gates[vantage].format(1)} {gates[vantage].format(2)}"
        targets = range(1, 4 + i)  # so that the last has most pairs
        out[vantage] = [f"{own} {BORDER} {INSIDE} > 20.3.0.{j}" for j in targets]
    shared = f"{BORDER} 20.1.0.7 20.1.0.8"
    out[ONE] += [f"{shared} > 20.3.1.{j}" for j in range(3)]
    out[TWO] += [f"{shared} > 20.3.1.0"]
    return {vantage: out[vantage] for vantage in vantages}


@pytest.mark.parametrize("kind", [LOST, GAINED])
def test_each_link_is_of_the_event_of_the_vantage_point_that_saw_it(tmp_path, kind):
    whole = night(tmp_path / "whole", lines(ONE, TWO, THREE, KEPT))
    less = night(tmp_path / "less", lines(KEPT))
    changes, events = compare_nights(*((whole, less) if kind == LOST else (less, whole)))
    of_vantage = {
        format_addr(high, low): event
        for what, high, low, event in zip(
            changes.what, changes.addr_high, changes.addr_low, changes.event, strict=True
        )
        if what == "vantage point"
    }
    assert {*of_vantage} == {ONE, TWO, THREE}
    assert len({*of_vantage.values()}) == len(events) == 3
    links = {
        format_addr(high, low): event
        for what, high, low, event in zip(
            changes.what, changes.addr_high, changes.addr_low, changes.event, strict=True
        )
        if what == "link"
    }
    for vantage, gate in ((ONE, "20.7.1.1"), (TWO, "20.8.1.1"), (THREE, "20.6.1.1")):
        assert links[gate] == of_vantage[vantage]
    assert links["20.1.0.7"] == of_vantage[ONE]  # which crossed it to more targets


def test_traces_from_nobody_knows_where_are_compared_with_none(tmp_path):
    """They would be one vantage point, whose evidence tells what became of a link."""
    unknown = "::"
    old = {ONE: [f"{BORDER} {INSIDE} > 20.3.0.1"], unknown: [f"{BORDER} 20.1.0.7 > 20.3.0.2"]}
    new = {ONE: [f"{BORDER} {INSIDE} > 20.3.0.1"], unknown: [f"{BORDER} 20.1.0.8 > 20.3.0.2"]}
    one, other = night(tmp_path / "one", old), night(tmp_path / "other", new)
    assert one.observations is not None
    assert len(one.observations.vantages) == 1
    changes, events = compare_nights(one, other)
    links = changes.what == "link"
    assert set(changes.kind[links]) == {UNSEEN, NOT_BEFORE}
    assert not (changes.what == "vantage point").any()
    assert set(changes.reason[links]) == {NOT_CROSSED}
    assert not len(events)


def test_a_night_from_nowhere_or_through_no_as_is_compared(tmp_path):
    whole = night(tmp_path / "whole", lines(ONE, KEPT))
    nowhere = night(tmp_path / "nowhere", {"::": lines(ONE)[ONE]})
    no_as = night(
        tmp_path / "no_as", {ONE: ["* 20.0.0.1 > 20.3.0.1"], TWO: ["20.1.0.1 > 20.3.0.1"]}
    )
    for one in (whole, nowhere, no_as):
        for other in (whole, nowhere, no_as):
            changes, _ = compare_nights(one, other)
            assert (len(changes) == 0) == (one is other)


@pytest.mark.parametrize(("n_lost", "kinds"), [(5, []), (6, ["targets lost"])])
def test_more_than_a_twentieth_of_the_targets_is_an_event(tmp_path, n_lost, kinds):
    old, new = (
        night(tmp_path / f"{n}", {ONE: [f"{BORDER} {INSIDE} > 20.3.0.{i}" for i in range(n)]})
        for n in (100, 100 - n_lost)
    )
    assert compare_nights(old, new)[1].kind.tolist() == kinds
