"""The LAN of an exchange point: found by its addresses, and what the election makes of them."""

from ipaddress import ip_network

import numpy as np
import pytest

from pipeline.infer import Registries
from pipeline.infer.owners.special import is_special
from pipeline.infer.routers.rules.exchange_lans import find_exchange_lans
from pipeline.infer.routers.subnet_mates import find_mates
from pipeline.infer.traces.links import count_links
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Spools
from pipeline.ingest.tables.exchanges import join_entries
from pipeline.ingest.tables.exchanges.entries import Entries
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import (
    PREFIXES,
    asn_of,
    infer,
    ingresses_of,
    links_of,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

# The router of each member has an address of the LAN, and 20.X.0.5 on its link to 20.X.0.6.
MEMBERS = (1, 2, 3, 4)
TABLE = PREFIXES + "2600:7::\t48\t7\n"
LANS = {"of an AS": "20.7.7.{}", "of nobody": "20.0.7.{}", "IPv6": "2600:7::{}"}


def lan_of(lan):
    return {asn: lan.format(1 + asn) for asn in MEMBERS}


def lines_of(lan):
    """From each member to each other one."""
    addr = lan_of(lan)
    return [
        f"20.{x}.0.10 20.{x}.0.5 {addr[y]} 20.{y}.0.6" for x in MEMBERS for y in MEMBERS if x != y
    ]


def found_on_lans(tmp_path, *lines):
    seen = [observe(tmp_path, traces(*lines))]
    addrs = merge_addresses(seen).addrs
    links = Spools(seen, addrs, 1).read(count_links())
    origin = prefix_table(tmp_path, TABLE).lookup(addrs)
    on_lan = find_exchange_lans(addrs, links, find_mates(addrs), origin, is_special(addrs))
    return {name for name, yes in zip(format_addrs(addrs), on_lan, strict=True) if yes}


@pytest.mark.parametrize("lan", LANS.values(), ids=LANS)
def test_a_lan_is_found_by_addresses_that_come_behind_one_and_would_be_mates(tmp_path, lan):
    lines = lines_of(lan)
    assert found_on_lans(tmp_path, *lines) == set(lan_of(lan).values())
    # One such pair alone is a router that answers by its way out.
    assert found_on_lans(tmp_path, *(line for line in lines if lan.format(5) not in line)) == set()


def test_a_block_of_many_links_is_no_lan_for_a_few_odd_ones(tmp_path):
    links = [
        f"20.{1 + i}.0.{5 + 4 * j} 20.7.7.{4 * j + 1 + i}" for j in range(2, 8) for i in range(2)
    ]
    assert found_on_lans(tmp_path, *lines_of(LANS["of an AS"])) != set()
    assert found_on_lans(tmp_path, *lines_of(LANS["of an AS"]), *links) == set()


def test_private_addresses_are_on_no_lan(tmp_path):
    assert found_on_lans(tmp_path, *lines_of("10.7.7.{}")) == set()


@pytest.mark.parametrize("lan", LANS.values(), ids=LANS)
def test_the_routers_on_a_lan_are_in_the_as_of_their_other_links(tmp_path, lan):
    table = prefix_table(tmp_path, TABLE)
    topology = infer(tmp_path, *lines_of(lan), borders="elected", prefixes=table)
    found, ingresses = asn_of(topology), ingresses_of(topology)
    assert topology.counts["exchange_point_addresses"] == len(MEMBERS)
    for asn, addr in lan_of(lan).items():
        assert found[addr] == asn
        assert ingresses[addr] == ([x for x in MEMBERS if x != asn], 3, 0, False)
        assert found[f"20.{asn}.0.5"] == asn
    assert len(ingresses) == len(MEMBERS)


def test_a_router_of_which_only_its_address_on_a_lan_was_seen_is_in_no_as(tmp_path):
    lan = LANS["of an AS"]
    lines = [*lines_of(lan), f"20.1.0.10 20.1.0.5 {lan.format(6)}"]
    found = asn_of(infer(tmp_path, *lines, borders="elected"))
    assert found[lan.format(6)] == NO_ASN
    assert found[lan.format(5)] == 4
    by_prefix = asn_of(infer(tmp_path, *lines))
    assert by_prefix[lan.format(6)] == 7


def test_members_of_a_lan_are_not_taken_for_one_router(tmp_path):
    # Addresses of AS 1 and AS 2 come before the same two others.
    topology = infer(tmp_path, *lines_of(LANS["of an AS"]), borders="elected")
    assert topology.counts["alias_conflicts"] == 0
    assert topology.counts["suspect_addresses"] == 0
    assert np.count_nonzero(topology.node_asn == 7) == 0


def registered(lan, members=()):
    """A registry of one LAN and some (address, AS) entries."""
    entries = Entries()
    entries.lans.append((ip_network(lan), "FIX", None))
    entries.members.extend((parse_addr(addr), asn, None) for addr, asn in members)
    return Registries(exchanges=join_entries(entries, ReadReport("")))


def owners(tmp_path, *lines, members=(), **options):
    registries = registered("20.7.7.0/24", members)
    options.setdefault("borders", "elected")
    return infer(tmp_path, *lines, registries=registries, **options)


@pytest.mark.parametrize("borders", ["elected", "prefix"])
def test_a_known_lan_is_in_no_as_that_announces_it(tmp_path, borders):
    line = "20.1.0.10 20.1.0.5 20.7.7.3 20.2.0.6 20.2.0.9"  # too little to recognise it
    assert asn_of(infer(tmp_path, line, borders=borders))["20.7.7.3"] == 7
    topology = owners(tmp_path, line, borders=borders)
    assert asn_of(topology)["20.7.7.3"] == (2 if borders == "elected" else NO_ASN)
    assert 7 not in topology.node_asn.tolist()
    assert (topology.mapped.n_addrs, topology.mapped.n_mapped, topology.mapped.n_in_as) == (5, 5, 4)


def test_a_known_lan_does_not_make_one_of_the_block_around_it(tmp_path):
    lines = lines_of("20.7.7.{}")
    infrastructure = "20.5.0.10 20.7.7.129 20.7.7.133"
    around = infer(tmp_path, *lines, infrastructure, borders="elected")
    assert around.counts["exchange_point_addresses"] == len(MEMBERS) + 2
    half = registered("20.7.7.0/25")
    topology = infer(tmp_path, *lines, infrastructure, borders="elected", registries=half)
    assert topology.counts["exchange_point_addresses"] == len(MEMBERS)
    assert asn_of(topology)["20.7.7.133"] == 7


LAST = "20.1.0.10 20.1.0.5 20.7.7.3"
ONE_LINK = f"{LAST} 20.2.0.6"
LINKS = [f"{LAST} 20.2.0.{i} 20.2.1.{i}" for i in (6, 10, 14)]
REGISTERED = {
    "nothing follows": ([LAST], [("20.7.7.3", 2)], 2),
    "one link of its own": ([ONE_LINK], [("20.7.7.3", 2)], 2),
    "an old entry": (LINKS, [("20.7.7.3", 3)], 2),
    "an old and a new entry": ([ONE_LINK], [("20.7.7.3", 8), ("20.7.7.3", 2)], 2),
    "an entry for another address": ([ONE_LINK], [("20.7.7.4", 3)], 2),
}


@pytest.mark.parametrize("case", REGISTERED)
def test_registered_members_are_evidence_not_truth(tmp_path, case):
    lines, members, expected = REGISTERED[case]
    both = [*lines, "20.1.0.10 20.1.0.14", "20.1.0.10 20.1.0.5 20.1.0.18"]
    assert asn_of(owners(tmp_path, *both, members=members))["20.7.7.3"] == expected


def test_a_trace_aimed_at_a_lan_is_aimed_at_no_as(tmp_path):
    line = "20.1.0.10 20.1.0.5 20.0.3.5 * * > 20.7.7.9"
    assert asn_of(infer(tmp_path, line, borders="elected"))["20.0.3.5"] == 7
    assert asn_of(owners(tmp_path, line))["20.0.3.5"] == NO_ASN


def test_a_router_that_answers_first_on_a_lan_is_not_at_the_end_of_traces(tmp_path):
    lines = ["* * 20.7.7.3 20.2.0.6 20.2.0.10", "20.1.0.10 20.1.0.5"]
    assert asn_of(owners(tmp_path, *lines))["20.7.7.3"] == 2


def entries_of(topology):
    """(neighbour AS, exchange point) of each ingress by its address."""
    table, names = topology.ingresses, nodes_of(topology)
    return {
        names[node]: list(
            zip(table.neighbor_asn[at].tolist(), table.neighbor_ixp[at].tolist(), strict=True)
        )
        for i, node in enumerate(table.node.tolist())
        for at in [slice(table.neighbor_ptr[i], table.neighbor_ptr[i + 1])]
    }


@pytest.mark.parametrize("lan", LANS.values(), ids=LANS)
def test_entries_by_a_recognised_lan_are_named_by_its_block(tmp_path, lan):
    table = prefix_table(tmp_path, TABLE)
    topology = infer(tmp_path, *lines_of(lan), borders="elected", prefixes=table)
    block = "2600:7::/64" if ":" in lan else lan.format("0/24")
    for asn, addr in lan_of(lan).items():
        assert entries_of(topology)[addr] == [(x, block) for x in MEMBERS if x != asn]


def test_entries_and_links_by_an_exchange_point_are_told_from_others(tmp_path):
    lines = [
        *["20.1.0.10 20.1.0.5 20.7.7.3 20.2.0.6 20.2.0.9"] * 2,
        "20.1.0.10 20.1.0.5 20.1.3.2 20.3.0.5 20.3.0.9",
        "20.1.0.10 20.1.0.5 * 20.7.7.4 20.4.0.6 20.4.0.9",
    ]
    topology = owners(tmp_path, *lines)
    assert entries_of(topology) == {
        "20.7.7.3": [(1, "FIX")],
        "20.3.0.5": [(1, "")],
        "20.7.7.4": [(1, "")],  # after a gap
    }
    by_lan = {
        pair
        for pair, yes in zip(links_of(topology), topology.link_columns["via_ixp"], strict=True)
        if yes
    }
    assert by_lan == {("20.1.0.5", "20.7.7.3")}


def test_without_a_search_for_lans_nothing_is_said_of_them(tmp_path):
    topology = infer(tmp_path, lines_of("20.7.7.{}")[0], borders="prefix")
    assert topology.ingresses.neighbor_ixp is None
    assert "via_ixp" not in topology.link_columns
    known = owners(tmp_path, ONE_LINK, borders="prefix")
    assert set(known.ingresses.neighbor_ixp.tolist()) == {""}  # LANs are in no AS
    assert known.link_columns["via_ixp"].sum() == 1
