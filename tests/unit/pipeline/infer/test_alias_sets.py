"""How the nodes of an alias file merge."""

from pipeline.infer import infer_topology
from tests.unit.pipeline.infer.handmade import (
    VANTAGE,
    alias_sets,
    asn_of,
    infer,
    ingresses_of,
    links_of,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
X, Y = "20.2.0.10", "20.2.0.20"


def test_interfaces_merge_into_routers_named_by_their_smallest_address(tmp_path):
    table = alias_sets((B, D, "20.1.9.9"))
    topology = infer(tmp_path, f"{A} {B} {C}", f"{A} {D} {C}", f"{B} {D}", aliases=table)
    assert topology.kind == "router"
    assert nodes_of(topology) == [A, B, C]
    assert links_of(topology) == {(A, B): 2, (B, C): 2}
    assert topology.counts["links_within_a_router"] == 1


def test_a_public_address_names_a_router_that_has_one_and_ids_follow_the_smallest(tmp_path):
    sets = alias_sets(("10.0.0.9", X, Y), ("10.0.0.7", "192.168.0.1"))
    topology = infer(tmp_path, f"{A} 10.0.0.9 10.0.0.7 {B}", f"{Y} {X} 192.168.0.1", aliases=sets)
    assert nodes_of(topology) == ["10.0.0.7", X, A, B]
    assert topology.addr_node[0] == 0
    assert links_of(topology) == {("10.0.0.7", X): 2, (X, A): 1, ("10.0.0.7", B): 1}


def test_without_aliases_an_interface_is_a_node(tmp_path):
    assert infer(tmp_path, f"{A} {B}").kind == "interface"


def test_nodes_are_interfaces_where_the_alias_file_merges_none_of_them(tmp_path):
    table = alias_sets((B, "20.1.9.9"), ("20.1.8.8", "20.1.8.9"))
    topology = infer(tmp_path, f"{A} {B} {C}", aliases=table)
    assert topology.kind == "interface"
    assert topology.counts["merged_addresses"] == 0


def test_rtts_of_all_interfaces_of_a_link_are_pooled(tmp_path):
    table = alias_sets((B, D))
    lines = [f"{A}/1 {B}/3", f"{A}/1 {D}/9", f"{A}/1 {D}/5"]  # 1, 4, 2
    assert infer(tmp_path, *lines, aliases=table).weight.tolist() == [2.0]


def test_a_router_by_prefix_is_in_the_as_of_most_of_its_interfaces(tmp_path):
    table = alias_sets((X, Y, B, "10.0.0.1"), (C, "20.2.0.99"))
    lines = [f"{A} {B}", f"{A} {X}", f"{A} {Y}", f"10.0.0.1 {C}", "20.2.0.99"]
    topology = infer(tmp_path, *lines, aliases=table)
    assert asn_of(topology) == {A: 1, C: 1, B: 2}
    assert ingresses_of(topology)[B] == ([1], 3, 0, False)


def test_the_election_gives_an_alias_set_one_as(tmp_path):
    table = alias_sets((X, B, C))
    seen = observe(tmp_path, traces(f"{A} {X}", f"{A} {B} {D}", f"{D} {C}"))
    topology = infer_topology(
        [seen], prefixes=prefix_table(tmp_path), aliases=table, borders="elected"
    )
    assert asn_of(topology) == {A: 1, B: 1, D: 1}


def test_a_destination_is_a_router_if_another_interface_of_its_router_answered_as_one(tmp_path):
    table = alias_sets((C, D))
    lines = [f"{A} {B} {D}! > {D}", f"{X} {C} {A}"]
    topology = infer(tmp_path, *lines, aliases=table)
    assert links_of(topology) == {(A, C): 1, (B, C): 1, (C, X): 1, (A, B): 1}
    assert topology.counts["destinations_left_out"] == 0
    assert topology.counts["destinations_taken_for_routers"] == 1


def test_a_router_whose_interfaces_all_answered_as_destinations_only_is_left_out(tmp_path):
    table = alias_sets((C, D))
    topology = infer(tmp_path, f"{A} {B} {D}! > {D}", f"{A} {B} {C}! > {C}", aliases=table)
    assert links_of(topology) == {(A, B): 2}


def test_a_vantage_is_no_router_by_its_alias_set(tmp_path):
    table = alias_sets((C, VANTAGE))
    lines = [f"{A} {B} {VANTAGE}! > {VANTAGE}", f"{X} {C} {A}"]
    topology = infer(tmp_path, *lines, aliases=table)
    assert VANTAGE not in nodes_of(topology)
    assert (B, C) not in links_of(topology)
