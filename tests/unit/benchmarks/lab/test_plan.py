"""The committed lab is what its plan says, and the plan is a sound network."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path

import pytest

from benchmarks.lab.plan import ASES, PRIVATE_LINK, Network, plan_network

SAMPLES = Path(__file__).parents[4] / "data" / "samples" / "lab"


@pytest.fixture(scope="module")
def network() -> Network:
    return plan_network()


def test_committed_truth_is_what_the_plan_draws(network):
    assert json.loads((SAMPLES / "ground_truth.json").read_text()) == network.truth()


def test_no_address_is_given_twice_and_all_lie_in_the_benchmark_range(network):
    addrs = [addr for link in network.links for addr in (link.u_addr, link.v_addr)]
    addrs += list(network.loopback.values())
    addrs += [addr for host in network.hosts.values() for addr in (host.addr, host.gateway_addr)]
    assert len(set(addrs)) == len(addrs)
    inside = ipaddress.ip_network("198.18.0.0/15")
    assert all(addr in inside or addr in PRIVATE_LINK for addr in addrs)


def test_longest_match_gives_each_link_address_the_as_that_numbered_it(network):
    for link in network.links:
        if link.subnet == PRIVATE_LINK:
            continue
        matches = [system for system in ASES if link.u_addr in system.prefix]
        assert max(matches, key=lambda s: s.prefix.prefixlen).asn == link.numbered_from
        assert link.numbered_from in {network.asn_of[link.u], network.asn_of[link.v]}


def test_every_router_has_a_way_to_every_public_address(network):
    owner = {addr: router for router, addr in network.loopback.items()}
    for link in network.links:
        owner |= {link.u_addr: link.u, link.v_addr: link.v}
    interface = {str(addr): router for addr, router in owner.items()}
    tables = {
        router: [(ipaddress.ip_network(prefix), hops) for prefix, hops in routes]
        for router, routes in network.routes.items()
    }
    connected = {
        router: [(link.subnet, link.other(router)) for link in network.links_of(router)]
        for router in network.asn_of
    }
    for addr in list(owner)[::7]:
        if addr in PRIVATE_LINK:
            continue
        for start in network.asn_of:
            router, n_hops = start, 0
            while router != owner[addr]:
                local = [neighbor for subnet, neighbor in connected[router] if addr in subnet]
                matches = [entry for entry in tables[router] if addr in entry[0]]
                router = (
                    local[0]
                    if local
                    else interface[max(matches, key=lambda e: e[0].prefixlen)[1][-1]]
                )
                n_hops += 1
                assert n_hops < len(network.asn_of), (start, addr)


def test_samples_name_no_machine(network):
    for path in SAMPLES.glob("*.json"):
        assert "/" not in "".join(json.loads(path.read_text()))
