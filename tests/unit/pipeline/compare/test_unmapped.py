"""Routers that another prefix table puts into no AS: not called silent, their links not gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.compare import compare_nights
from pipeline.compare.links import IN_NO_AS
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night, told
from tests.unit.pipeline.infer.handmade import PREFIXES, alias_sets

A, B, D, TWIN = "20.1.0.1", "20.2.0.5", "20.3.0.13", "20.2.0.9"
WITHOUT_2 = PREFIXES.replace("20.2.0.0\t16\t2\n", "")
WITHOUT_5 = PREFIXES.replace("20.5.0.0\t16\t5\n", "")


def ways(by=B, twin=TWIN):
    lines = {ONE: [], TWO: [], THREE: []}
    for i in range(1, 13):
        lines[(ONE, TWO, THREE)[i % 3]] += [
            f"{A} {by} {D} > 20.4.0.{i}",
            f"{A} 20.1.0.2 {twin} > 20.4.1.{i}",
        ]
    return lines


def of_routers(changes):
    found = {addr: kind for (addr, _), kind in told(changes, "router").items()}
    return found.get(B)


def compared(tmp_path, lines, table, *, kept, twin=TWIN):
    """Kind of B, and all changes; ``kept``: snapshots know what answers and is in no AS."""
    old, new = night(tmp_path / "old", ways(twin=twin)), night(tmp_path / "new", lines, table)
    if not kept:
        old, new = replace(old, unmapped=None), replace(new, unmapped=None)
    return compare_nights(old, new)


@pytest.mark.parametrize("kept", [True, False])
def test_a_router_in_no_as_is_not_silent_and_its_links_are_not_removed(tmp_path, kept):
    changes, events = compared(tmp_path, ways(), WITHOUT_2, kept=kept)
    assert of_routers(changes) == "not observable"
    links = changes.what == "link"
    assert links.any()
    assert set(changes.kind[links]) == {"not observable"}
    assert set(changes.reason[links]) == {IN_NO_AS}
    assert events.kind.tolist() == ["inputs changed"]
    assert events.n_traces[0] > 0
    ases = changes.what == "AS"
    assert (changes.asn[ases].tolist(), changes.event[ases].tolist()) == ([2], [0])


def test_the_same_holds_the_other_way_round(tmp_path):
    old, new = night(tmp_path / "old", ways(), WITHOUT_2), night(tmp_path / "new", ways())
    changes, events = compare_nights(old, new)
    assert of_routers(changes) == "not observable before"
    assert "added" not in changes.kind
    assert events.kind.tolist() == ["inputs changed"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_link_to_a_router_that_is_in_another_as_may_be_removed(tmp_path, kept):
    """Both nights show the router, so it is in an AS on both."""
    table = PREFIXES.replace("20.2.0.0\t16\t2", "20.2.0.0\t16\t12")
    lines = {
        vantage: [way.replace(f"20.1.0.2 {TWIN}", f"20.1.0.2 20.1.0.6 {TWIN}") for way in own]
        for vantage, own in ways().items()
    }
    changes, _ = compared(tmp_path, lines, table, kept=kept)
    assert told(changes)["20.1.0.2", TWIN] == "removed"
    assert told(changes, "router")[TWIN, "::"] == "input changed"


@pytest.mark.parametrize("kept", [True, False])
def test_a_silent_router_is_told_where_the_table_has_its_prefix(tmp_path, kept):
    changes, events = compared(tmp_path, ways("*"), WITHOUT_5, kept=kept)
    assert of_routers(changes) == "silent"
    assert "routers silent" in events.kind


@pytest.mark.parametrize(("kept", "kind"), [(True, "silent"), (False, "not observable")])
def test_without_what_was_kept_a_block_must_be_seen(tmp_path, kept, kind):
    twin = "20.2.7.9"  # in the same AS, and in another /24
    changes, _ = compared(tmp_path, ways("*", twin), WITHOUT_5, kept=kept, twin=twin)
    assert of_routers(changes) == kind


def test_a_router_of_which_one_address_is_in_no_as_is_not_silent(tmp_path):
    aliases = alias_sets((B, "20.3.0.5"))  # the other one is seen, on both nights
    lines = ways()
    for own in lines.values():
        own.append(f"{A} 20.3.0.5 {D} > 20.4.9.1")
    old = night(tmp_path / "old", lines, aliases=aliases)
    new = night(tmp_path / "new", lines, WITHOUT_2)
    changes, events = compare_nights(old, new)
    assert "silent" not in changes.kind
    assert events.kind.tolist() == ["inputs changed"]


def test_what_answers_in_no_as_is_kept_with_the_snapshot(tmp_path):
    found = night(tmp_path, ways(), WITHOUT_2).unmapped
    low = np.uint64(0xFFFF_0000_0000) + np.array([0x14020005, 0x14020009], np.uint64)
    assert found.tolist() == np.column_stack([np.zeros(2, np.uint64), low]).tolist()
    assert len(night(tmp_path / "all", ways()).unmapped) == 0
    assert night(tmp_path / "none", ways(), observations=False).unmapped is None
