"""What changed between two nights, on traces written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.compare import Changes, Night, compare_nights
from pipeline.compare.changes import NOT_BEFORE, UNSEEN
from pipeline.compare.links import AS_TARGET, STILL
from pipeline.model.addresses import format_addr
from tests.unit.pipeline.compare.by_hand import ONE, TWO, night, told
from tests.unit.pipeline.infer.handmade import PREFIXES, alias_sets

A, B, C, D, E = (f"20.1.0.{i}" for i in range(1, 6))
TO, ELSEWHERE = "> 20.3.0.9", "> 20.3.0.8"
OLD = {ONE: [f"{A} {B} {C} {D} {TO}"]}
# The new night, and what it says of the link from B to C.
CASES = {
    "same": ({ONE: [f"{A} {B} {C} {D} {TO}"]}, None),
    "turned": ({ONE: [f"{A} {B} {E} {D} {TO}"]}, "removed"),
    "by another vantage point": ({TWO: [f"{A} {B} {E} {D} {TO}"]}, "not observable"),
    "to another target": ({ONE: [f"{A} {B} {E} {D} {ELSEWHERE}"]}, "not observable"),
    "silent": ({ONE: [f"{A} {B} * {D} {TO}"]}, "not observable"),
    "ends there": ({ONE: [f"{A} {B} {TO}"]}, "not observable"),
    "not there any more": ({ONE: [f"{A} {E} {D} {TO}"]}, "not observable"),
    "target behind it": ({ONE: [f"{A} {B} 20.3.0.9! {TO}"]}, "removed"),
    "target behind a silent one": ({ONE: [f"{A} {B} * 20.3.0.9! {TO}"]}, "not observable"),
    "crossed backwards": ({ONE: [f"{A} {C} {B} {D} {TO}"]}, None),
    "another one turned": ({ONE: [f"{A} {B} * {D} {TO}", f"{A} {B} {E} {TO}"]}, "removed"),
}


def changed(old: Night, new: Night) -> Changes:
    return compare_nights(old, new)[0]


@pytest.mark.parametrize(("lines", "kind"), CASES.values(), ids=CASES)
def test_a_link_is_removed_only_if_somebody_looked(tmp_path, lines, kind):
    old, new = night(tmp_path / "old", OLD), night(tmp_path / "new", lines)
    assert told(changed(old, new)).get((B, C)) == kind
    # The other way round a link that nobody could see before is not called new.
    back = {"removed": "added", "not observable": "not observable before", None: None}[kind]
    assert told(changed(new, old)).get((B, C)) == back


def test_a_link_that_still_leads_to_a_target_is_crossed(tmp_path):
    """It was said that no trace crosses its near router."""
    target = "20.3.0.1"
    hops = f"{A} {B} {target}! > {target}"
    lines = {ONE: [hops], TWO: [f"20.8.0.2 {D} {target} > 20.3.0.9"]}  # TWO shows a router
    turned = lines | {ONE: [hops, f"{A} {B} {target} 20.3.0.5 {ELSEWHERE}"]}
    fewer = {ONE: [hops, f"{A} {B} {E} 20.3.0.5 {ELSEWHERE}"]}
    for before, after, n_no_longer in ((lines, {ONE: [hops]}, 0), (turned, fewer, 1)):
        old, new = night(tmp_path / "old", before), night(tmp_path / "new", after)
        for one, other, kind in ((old, new, UNSEEN), (new, old, NOT_BEFORE)):
            changes, events = compare_nights(one, other)
            assert told(changes)[B, target] == kind
            of_link = (changes.what == "link") & (changes.reason == AS_TARGET)
            assert changes.n_as_target[of_link].tolist() == [1]
            assert changes.n_elsewhere[of_link].tolist() == [0]
            assert changes.n_turned[of_link].tolist() == [n_no_longer]
            assert events.kind[changes.event[of_link][0]].startswith("vantage point")


@pytest.mark.parametrize(("n_back", "ends"), [(1, (B, C)), (2, (C, B))])
def test_a_link_is_named_in_the_direction_of_most_traces(tmp_path, n_back, ends):
    """Of equal ones in that from the smaller address to the larger."""
    back = [f"{D} {C} {B} {A} > 20.3.1.{i}" for i in range(n_back)]
    old = night(tmp_path / "old", {ONE: [*OLD[ONE], *back]})
    new = night(tmp_path / "new", {ONE: [f"{A} {B} {E} {D} {TO}"]})
    assert [each for each in told(changed(old, new)) if {*each} == {B, C}] == [ends]


def test_merged_and_split_routers_change_no_link(tmp_path):
    lines = {ONE: [f"{A} {B} {D} {TO}", f"{A} {C} {E} {ELSEWHERE}"]}
    old = night(tmp_path / "old", lines)
    new = night(tmp_path / "new", lines, aliases=alias_sets((B, C)))
    merged, split = changed(old, new), changed(new, old)
    assert told(merged) == told(split) == {}
    assert told(merged, "router") == {(B, "::"): "merged"}
    assert told(split, "router") == {(B, "::"): "split"}
    routers = merged.what == "router"
    assert (merged.old[routers].tolist(), merged.new[routers].tolist()) == ([2.0], [1.0])


def test_another_prefix_table_is_told_from_another_owner(tmp_path):
    lines = {ONE: [f"{A} {B} 20.2.0.1 20.2.0.2 {TO}"]}
    table = PREFIXES.replace("20.2.0.0\t16\t2", "20.2.0.0\t16\t12")
    old, new = night(tmp_path / "old", lines), night(tmp_path / "new", lines, table)
    ends = {(B, "20.2.0.1"), ("20.2.0.1", "20.2.0.2")}
    changes = changed(old, new)
    assert told(changes) == dict.fromkeys(ends, "input changed")
    assert changes.reason[changes.what == "inputs"].tolist() == ["--ip2as"]
    new.inputs.update(old.inputs)
    changes = changed(old, new)
    assert told(changes) == dict.fromkeys(ends, "moved to another owner")
    owners = {
        (asn, other)
        for what, asn, other in zip(changes.what, changes.asn, changes.other_asn, strict=True)
        if what == "router"
    }
    assert owners == {(2, 12)}
    of_owner = changes.kind == "moved to another owner"
    for counts in (changes.n_traces, changes.n_pairs, changes.n_vantages):
        assert counts[of_owner].tolist() == [1] * 4  # two links, two routers: all of one trace


def test_without_traces_the_difference_is_told_as_such(tmp_path):
    old = night(tmp_path / "old", OLD)
    new = night(tmp_path / "new", {ONE: [f"{A} {B} {E} {D} {TO}"]}, observations=False)
    changes = changed(old, new)
    assert told(changes) == {
        (B, C): "removed", (C, D): "removed", (B, E): "added", (D, E): "added",
    }  # fmt: skip
    assert set(changes.reason[changes.what == "link"].tolist()) == {
        "by plain difference, without traces"
    }


def test_figures_that_changed_come_in_one_order(tmp_path):
    one = night(tmp_path, OLD)
    names = ("mean_hops", "p90_hops", "max_hops", "diameter", "radius", "only_old")
    figures = {name: np.full(len(one.asn), float(i)) for i, name in enumerate(names)}
    later = {name: figures[name] + 1 for name in reversed(names[:-1])}
    found = changed(replace(one, figures=figures), replace(one, figures=later))
    named = [what for what, kind in zip(found.what, found.kind, strict=True) if kind == "changed"]
    assert list(dict.fromkeys(named)) == list(names[:-1])


def test_a_link_that_pairs_still_cross_is_not_removed(tmp_path):
    """Inference leaves out links of classic traces that look rare, some on one night alone."""
    ways = [f"{A} {B} {C} {D} > 20.3.0.{i}" for i in (7, 8)]
    turned = [f"{A} {B} {E} {D} > 20.3.0.7", ways[1]]
    old, new = night(tmp_path / "old", {ONE: ways}), night(tmp_path / "new", {ONE: turned})
    name = np.array([format_addr(*each) for each in new.name_addr.tolist()])
    left_out = np.isin(name[new.low], (B, C)) & np.isin(name[new.high], (B, C))
    assert left_out.sum() == 1
    fewer = replace(new, low=new.low[~left_out], high=new.high[~left_out])
    for one, other, kind in ((old, fewer, UNSEEN), (fewer, old, NOT_BEFORE)):
        changes, _ = compare_nights(one, other)
        assert told(changes)[B, C] == kind
    assert changes.reason[changes.kind == NOT_BEFORE].tolist() == [STILL]
