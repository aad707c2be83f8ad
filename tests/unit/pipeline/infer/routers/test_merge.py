"""Routers from traces alone: each rule and what forbids it, by hand; and a simulated network."""

from __future__ import annotations

import pytest

from tests.oracles.truth.scores import infer_lab, score
from tests.oracles.truth.sources import drawn
from tests.unit.pipeline.infer.handmade import (
    alias_sets,
    infer,
    links_of,
    node_of_addr,
    nodes_of,
)


def merged(scratch, *lines, **options):
    """Nodes by their smallest addresses, and how many addresses were merged."""
    options = {"borders": "elected", "routers": "inferred", **options}
    topology = infer(scratch, *lines, **options)
    assert topology.kind == ("interface" if not topology.counts["merged_addresses"] else "router")
    return nodes_of(topology), topology.counts["inferred_aliases"]


# Two interfaces of one router, 20.1.1.1 and 20.1.2.1, before 20.1.3.1; different observers.
ONE_VOUCHER = ("20.1.91.1 20.1.1.1 20.1.3.1", "20.1.92.1 20.1.2.1 20.1.3.1")
TWO_VOUCHERS = (*ONE_VOUCHER, "20.1.91.1 20.1.1.1 20.1.4.1", "20.1.92.1 20.1.2.1 20.1.4.1")


def test_two_routers_vouch_for_two_addresses(tmp_path):
    names, n_aliases = merged(tmp_path, *TWO_VOUCHERS)
    assert n_aliases == 1
    assert "20.1.1.1" in names
    assert "20.1.2.1" not in names


def test_two_vouchers_need_no_different_observers(tmp_path):
    lines = [line.replace("20.1.92.1", "20.1.91.1") for line in TWO_VOUCHERS]
    assert merged(tmp_path, *lines)[1] == 1
    lines = [line.replace("20.1.92.1", "20.1.91.1") for line in ONE_VOUCHER]
    assert merged(tmp_path, *lines)[1] == 0


def test_what_may_be_one_odd_router_does_not_vouch_twice(tmp_path):
    lines = [
        f"20.1.9{observer}.1 20.1.{side}.1 20.1.{observer + 2}.1"
        for observer in (1, 2)
        for side in (1, 2)
    ]
    assert merged(tmp_path, *lines)[1] == 0
    assert merged(tmp_path, *lines, "20.1.91.1 20.1.1.1 20.1.4.1")[1] == 1


def test_one_credible_address_vouches_too(tmp_path):
    assert merged(tmp_path, *ONE_VOUCHER)[1] == 1


def test_what_sends_packets_for_the_same_destinations_two_ways_is_divided(tmp_path):
    ways = [
        *(f"20.1.91.1 20.1.1.1 20.1.60.{aim}! > 20.1.60.{aim}" for aim in (1, 2)),
        *(f"20.1.92.1 20.1.2.1 20.1.8.1 20.1.8.5 > 20.1.60.{aim}" for aim in (1, 2)),
    ]
    assert merged(tmp_path, *ONE_VOUCHER, *ways)[1] == 0
    assert merged(tmp_path, *ONE_VOUCHER, *ways[:2])[1] == 1
    assert merged(tmp_path, *ONE_VOUCHER, *ways, without=["diverging-next-hops"])[1] == 1


def test_two_addresses_of_one_trace_are_never_one_router(tmp_path):
    both = "20.1.91.1 20.1.1.1 20.1.5.1 20.1.2.1"
    assert "20.1.2.1" in merged(tmp_path, *TWO_VOUCHERS, both)[0]
    other = "20.1.91.1 20.1.1.1 20.1.5.1 20.1.6.1"
    assert "20.1.2.1" not in merged(tmp_path, *TWO_VOUCHERS, other)[0]


# 10.0.0.1 instead of 20.1.1.1.
PRIVATE = [line.replace("20.1.1.1", "10.0.0.1") for line in TWO_VOUCHERS]


def test_a_private_address_is_merged_in_the_as_that_uses_it(tmp_path):
    topology = infer(tmp_path, *PRIVATE, borders="elected", routers="inferred")
    node = node_of_addr(topology)
    assert node["10.0.0.1"] == node["20.1.2.1"]
    assert topology.node_asn[node["10.0.0.1"]] == 1


@pytest.mark.parametrize(
    "line",
    ["20.2.91.1 10.0.0.1 20.2.3.1", "20.1.91.1 10.0.0.1 20.1.5.1 20.1.2.1"],
    ids=["used-in-two-ases", "one-trace"],
)
def test_a_private_address_of_several_routers_is_not_merged(tmp_path, line):
    node = node_of_addr(infer(tmp_path, *PRIVATE, line, borders="elected", routers="inferred"))
    assert node["10.0.0.1"] != node["20.1.2.1"]


def test_a_router_with_two_addresses_right_behind_one_does_not_vouch_alone(tmp_path):
    aliases = alias_sets(["20.1.3.1", "20.1.5.1"])
    other = "20.1.91.1 20.1.{}.1 20.1.5.1"
    assert merged(tmp_path, *ONE_VOUCHER, other.format(7), aliases=aliases)[1] == 1
    assert merged(tmp_path, *ONE_VOUCHER, other.format(1), aliases=aliases)[1] == 0


@pytest.mark.parametrize(("behind", "n_aliases"), [("20.1.1.1", 1), ("20.1.6.1", 2)])
def test_nor_does_a_gateway_with_two_addresses_right_behind_one(tmp_path, behind, n_aliases):
    lines = [
        f"20.1.91.1 {behind} 20.1.5.1 20.1.9.9! > 20.1.9.9",
        "20.1.92.1 20.1.2.1 20.1.3.1 20.1.9.9! > 20.1.9.9",
    ]
    names, found = merged(tmp_path, *ONE_VOUCHER, *lines)
    assert "20.1.5.1" not in names  # the gateway has it, and 20.1.3.1
    assert found == n_aliases


def test_one_address_alone_does_not_join_two_routers_of_several_addresses(tmp_path):
    second = [
        line.replace("20.1.1.1", "20.1.5.1").replace("20.1.2.1", "20.1.6.1")
        for line in TWO_VOUCHERS
    ]
    second = [line.replace("20.1.3.1", "20.1.7.1") for line in second]
    second = [line.replace("20.1.4.1", "20.1.8.1").replace("20.1.9", "20.1.8") for line in second]
    joint = ["20.1.91.1 20.1.1.1 20.1.10.1", "20.1.81.1 20.1.5.1 20.1.10.1"]
    assert merged(tmp_path, *TWO_VOUCHERS, *second, *joint)[1] == 2
    again = [line.replace("20.1.10.1", "20.1.11.1") for line in joint]
    assert merged(tmp_path, *TWO_VOUCHERS, *second, *joint, *again)[1] == 3


@pytest.mark.parametrize(("beyond", "n_aliases"), [("20.1.4.1", 2), ("20.1.7.1", 1)])
def test_a_doubtful_side_leads_only_where_the_router_leads(tmp_path, beyond, n_aliases):
    others = ("mate-and-predecessor", "common-successors", "two-weak-signs")
    # 20.1.1.1 is the mate of 20.1.1.2, and one router with 20.1.2.1 by two vouchers.
    lines = (
        "20.1.91.1 20.1.1.1 20.1.1.2",
        "20.1.93.1 20.1.5.1 20.1.1.2",
        f"20.1.93.1 20.1.5.1 {beyond}",
    )
    assert merged(tmp_path, *TWO_VOUCHERS, *lines, without=others)[1] == n_aliases


@pytest.mark.parametrize(("shown", "n_aliases"), [("20.1.1.2", 3), ("20.1.7.1", 2)])
def test_a_router_that_shows_two_addresses_behind_one_router_is_odd(tmp_path, shown, n_aliases):
    # 20.1.1.2 and 20.1.7.1 are the gateway of one host, 20.1.5.1 and 20.1.6.1 that of another, and
    # 20.1.1.1 is the mate of 20.1.1.2.
    lines = (
        "20.1.91.1 20.1.1.1 20.1.1.2 20.1.99.1! > 20.1.99.1",
        "20.1.92.1 20.1.5.1 20.1.1.2 20.1.99.1! > 20.1.99.1",
        f"20.1.93.1 20.1.6.1 {shown} 20.1.99.1! > 20.1.99.1",
        "20.1.94.1 20.1.8.1 20.1.7.1 20.1.99.1! > 20.1.99.1",
        "20.1.92.1 20.1.5.1 20.1.98.1! > 20.1.98.1",
        "20.1.93.1 20.1.6.1 20.1.98.1! > 20.1.98.1",
    )
    assert merged(tmp_path, *lines, without=["two-weak-signs"])[1] == n_aliases


def test_a_given_alias_set_is_a_router_as_it_is_given(tmp_path):
    aliases = alias_sets(["20.1.1.1", "20.1.60.1"])
    names, n_aliases = merged(
        tmp_path, *TWO_VOUCHERS, "20.1.94.1 20.1.60.1 20.1.61.1", aliases=aliases
    )
    assert n_aliases == 0
    assert {"20.1.1.1", "20.1.2.1"} <= set(names)
    assert "20.1.60.1" not in names


def test_nothing_is_merged_without_a_reason_or_a_request(tmp_path):
    assert merged(tmp_path, "20.1.1.1 20.1.3.1", "20.1.2.1 20.1.4.1")[1] == 0
    topology = infer(tmp_path, *TWO_VOUCHERS, borders="elected", routers="interfaces")
    assert topology.kind == "interface"
    assert topology.addr_node.tolist() == list(range(topology.n_nodes))


def test_other_addresses_of_a_node_are_kept(tmp_path):
    topology = infer(tmp_path, *TWO_VOUCHERS, borders="elected", routers="inferred")
    node = node_of_addr(topology)
    assert node["20.1.2.1"] == node["20.1.1.1"] == nodes_of(topology).index("20.1.1.1")
    assert links_of(topology)["20.1.1.1", "20.1.3.1"] == 2


@pytest.fixture(scope="module")
def networks():
    """Scores of networks with inferred routers, and topologies of interfaces and of these."""
    found = []
    for seed in range(4):
        fields = (f"outgoing={(0.05, 0.2)[seed % 2]}", f"slash31={int(seed > 1)}")
        with drawn("brite", seed, *fields, "n_vantage_points=7").open(together=True) as lab:
            one, other = (infer_lab(lab, routers=of) for of in ("interfaces", "inferred"))
            found.append((score(other, lab.truth, lab.observations, lab.visible), one, other))
    return found


def test_inferred_routers_of_simulated_networks_are_right(networks):
    scores = [one for one, _, _ in networks]
    n_right = sum(one.alias_pairs_right for one in scores)
    assert n_right >= 0.99 * sum(one.alias_pairs for one in scores)
    n_found = sum(one.alias_pairs_found for one in scores)
    assert n_found >= 0.75 * sum(one.alias_pairs_visible for one in scores)  # 1,018 of 1,290


def test_inferred_routers_have_only_links_that_traces_show(networks):
    for _, interfaces, topology in networks:
        node = node_of_addr(topology)
        names = nodes_of(interfaces)
        shown = {
            tuple(sorted((node[names[one]], node[names[other]])))
            for one, other in zip(interfaces.near.tolist(), interfaces.far.tolist(), strict=True)
        }
        assert all(one != other for one, other in shown)  # else one trace shows both in sequence
        answering = ~topology.node_columns["silent"][topology.far]
        near, far = topology.near[answering], topology.far[answering]
        assert set(zip(near.tolist(), far.tolist(), strict=True)) == shown
