"""Links inside given alias sets: counted for sets that traces contradict, and for no others."""

from __future__ import annotations

from pipeline.infer.routers.swallowed import find_swallowed
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.measured.swallowed import SwallowedLinks
from tests.addresses import parse_addrs
from tests.unit.pipeline.infer.handmade import alias_sets, infer

A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
X, Y = "20.2.0.10", "20.2.0.20"


def swallowed(tmp_path, *lines, sets):
    topology = infer(tmp_path, *lines, aliases=alias_sets(*sets))
    assert topology.counts["links_within_alias_sets"] == topology.swallowed.n_links
    return topology.swallowed


def test_links_of_all_sets_count_once_and_the_largest_set_is_named(tmp_path):
    lines = [f"{A} {B} {C} {X} {Y}", f"{C} {B} {A} {D} {X}"]
    sets = [(A, B, C, "20.1.9.9"), (X, Y), (D, "20.2.9.9")]
    # A-B and B-C in both directions, X-Y
    assert swallowed(tmp_path, *lines, sets=sets) == SwallowedLinks(3, 2, A, 4)


def test_sets_that_traces_do_not_contradict_swallow_nothing(tmp_path):
    lines = [f"{A} {B} {X}", f"{A} {C} {Y}", f"{A} * {D}"]
    assert swallowed(tmp_path, *lines, sets=[(B, C), (X, Y), (A, D)]).n_links == 0


def test_a_reply_of_the_destination_is_no_link_inside_its_router(tmp_path):
    lines = [f"{A} {B} {C}! > {C}", f"{X} {C} {A}"]
    assert swallowed(tmp_path, *lines, sets=[(B, C)]).n_links == 0


def test_merged_routers_are_not_given_sets(tmp_path):
    topology = infer(tmp_path, f"{A} {B} {C}", routers="inferred", borders="elected")
    assert topology.swallowed is None
    assert topology.counts["links_within_alias_sets"] == 0


def test_addresses_in_no_set_are_no_set(tmp_path):
    seen = infer(tmp_path, f"{A} {B}")
    links = DirectedLinks(seen.near, seen.far, *[seen.near + 1] * 7, seen.near < 0)
    none = seen.addr_node * 0 - 1
    aliases = alias_sets((X, Y))
    assert find_swallowed(parse_addrs([A, B]), links, none, aliases) == SwallowedLinks(0)
