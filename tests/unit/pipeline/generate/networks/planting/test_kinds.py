"""Every kind finds a place, says what it touches, and alters what it says and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from pipeline.generate.networks.ases import CUSTOMER, PEER
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import Night, addresses_of, links_between
from pipeline.generate.networks.planting.kinds import KINDS
from pipeline.generate.networks.planting.plant import FROM, MANY, SOME, Plant
from pipeline.generate.networks.planting.ways import Seen
from pipeline.generate.networks.planting.widths import GROWTH, widths_of
from pipeline.generate.networks.tracing import Campaign
from tests.oracles.nights.internet import PLAN


@pytest.fixture(scope="module")
def seen() -> Seen:
    return Seen(Campaign(Network(replace(PLAN, seed=4))))


@pytest.fixture(scope="module")
def planted(seen: Seen) -> Callable[[str], tuple[Plant, Night]]:
    known: dict[str, tuple[Plant, Night]] = {}

    def plant(kind: str) -> tuple[Plant, Night]:
        if kind not in known:
            found = next(KINDS[kind].find(seen, Random(1)))
            known[kind] = found, seen.altered(found.alter)
        return known[kind]

    return plant


def gone(seen: Seen, night: Night) -> list:
    return [link for link in seen.network.links if link not in set(night.network.links)]


def new(seen: Seen, night: Night) -> list:
    return [link for link in night.network.links if link not in set(seen.network.links)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hosts-of-prefix-dead"])
def test_a_place_is_found_and_the_same_each_time(kind: str, seen: Seen, planted) -> None:
    plant, night = planted(kind)
    assert plant.kind == kind
    assert KINDS[kind].needs
    assert len(plant.pairs) > 0
    assert np.array_equal(plant.pairs, np.unique(plant.pairs))
    again = next(KINDS[kind].find(seen, Random(1)))
    assert (again.asns, again.routers, again.place) == (plant.asns, plant.routers, plant.place)
    assert seen.campaign.night.network is seen.network
    assert night.network is not seen.network


@pytest.mark.parametrize("kind", ["transit-as-lost", "edge-as-lost"])
def test_an_as_without_neighbours(kind: str, seen: Seen, planted) -> None:
    plant, night = planted(kind)
    (asn,) = plant.asns
    left = [link for router in seen.network.routers[asn] for link in night.network.links_of[router]]
    assert all(link.kind == "inner" for link in left)
    ases = night.network.ases
    assert not ases.providers[asn] + ases.customers[asn] + ases.peers[asn]
    assert all({asn} & {seen.network.asn_of[r] for r in link.ends} for link in gone(seen, night))
    assert not new(seen, night)


@pytest.mark.parametrize("kind", ["half-as-lost", "router-lost", "city-lost"])
def test_routers_that_fail(kind: str, seen: Seen, planted) -> None:
    plant, night = planted(kind)
    assert not any(night.network.links_of[router] for router in plant.routers)
    assert all(set(plant.routers) & set(link.ends) for link in gone(seen, night))
    ways = seen.ways_if(plant.alter)
    if kind != "city-lost":  # others of the AS are left
        assert not set(plant.routers) & {v.gateway for v in seen.network.vantages}
        assert plant.asns == {seen.network.asn_of[router] for router in plant.routers}
    else:
        cities = {seen.campaign.delays.city(router) for router in plant.routers}
        assert cities == {plant.place}
        assert len(plant.beside) >= 2
    before = np.isin(seen.ways.router, plant.routers).sum()
    assert np.isin(ways.router, plant.routers).sum() < before / 2


@pytest.mark.parametrize(
    ("kind", "n_gone", "n_new"),
    [("link-cut", 1, 0), ("link-added", 0, 1), ("adjacency-gained", 0, 1), ("ingress-moved", 1, 1),
     ("detour", 1, 1), ("load-balancing", 0, 2)],
)  # fmt: skip
def test_links_that_come_and_go(kind: str, n_gone: int, n_new: int, seen: Seen, planted) -> None:
    plant, night = planted(kind)
    lost, found = gone(seen, night), new(seen, night)
    assert (len(lost), len(found)) == (n_gone, n_new)
    for link in [*lost, *found]:
        assert plant.asns <= {night.network.asn_of[router] for router in link.ends}
    if kind == "link-added":
        assert set(found[0].ends) == set(plant.routers)
    if kind == "detour":
        assert found[0].ends == lost[0].ends
        assert found[0].addrs == lost[0].addrs
        assert not len(seen.ways_if(plant.alter).crossing(*plant.routers))
    if kind == "load-balancing":
        one, middle, end = plant.routers
        ways = seen.ways_if(plant.alter)
        beside = len(seen.network.asn_of)  # the new router
        through = np.unique(ways.pairs()[ways.router == beside])
        assert 0 < len(through) < len(seen.both_ways(one, middle))
        assert {end, one} <= {r for link in found for r in link.ends}


def test_borders_exchanges_and_halves(seen: Seen, planted) -> None:
    plant, night = planted("adjacency-lost")
    assert not links_between(night.network, *plant.asns)
    assert night.network.ases.between(*plant.asns) is None
    assert seen.ways_if(plant.alter).has_route(plant.pairs).all()
    plant, night = planted("exchange-lost")
    assert {link.exchange for link in gone(seen, night)} == {plant.place}
    assert not any(link.exchange == plant.place for link in night.network.links)
    plant, night = planted("as-split")
    own = [link for router in plant.routers for link in night.network.links_of[router]]
    inner = [link for link in own if link.kind == "inner"]
    assert all(set(link.ends) <= set(plant.routers) for link in inner)


def test_answers_that_are_missing(seen: Seen, planted) -> None:
    for kind, share in (("router-silent", 0.0), ("router-limited", 0.12)):
        plant, night = planted(kind)
        assert night.rare == {plant.routers[0]: share}
    plant, night = planted("as-silent")
    (asn,) = plant.asns
    assert night.rare == dict.fromkeys(seen.network.routers[asn], 0.0)
    plant, night = planted("hosts-dead")
    own = [block for block in night.network.blocks if block.asn in plant.asns]
    assert not any(block.answers for block in own)
    dead = {str(block.prefix) for block in own if block.dead}
    assert dead == set(plant.hosts)
    answers = Campaign(night).targets.answers
    assert not answers[seen.target[plant.pairs]].any()
    assert seen.campaign.targets.answers[seen.target[plant.pairs]].all()
    assert not gone(seen, night)


def test_what_is_not_measured_or_announced(seen: Seen, planted) -> None:
    plant, night = planted("vantage-lost")
    (gone_host,) = night.gone
    assert seen.network.vantages[gone_host].name == plant.hosts[0]
    assert Campaign(night).n_of(gone_host) == 0
    plant, night = planted("targets-lost")
    lost = seen.campaign.n_traces - Campaign(night).n_traces
    assert lost == len(plant.pairs) > 0.3 * seen.n_pairs
    plant, night = planted("table-changed")
    assert len(night.network.origins) == len(seen.network.origins) + 1
    assert str(night.network.origins[-1][0]) == plant.hosts[0]
    assert plant.is_everywhere
    plant, night = planted("second-origin")
    (row,) = set(night.network.origins) - set(seen.network.origins)
    asn, other = map(int, row[1].split("_"))
    assert {asn, other} == plant.beside
    assert other in seen.network.ases.providers[asn]
    assert (row[0], str(asn)) in seen.network.origins
    plant, night = planted("sibling-gained")
    assert night.network.ases.are_siblings(*plant.beside)
    assert not seen.network.ases.are_siblings(*plant.beside)


@pytest.mark.parametrize("figure", ["diameter", "radius"])
def test_ases_that_become_wider(figure: str, seen: Seen, planted) -> None:
    plant, night = planted(f"{figure}-grown")
    (asn,) = plant.asns
    before, after = (
        widths_of(
            {
                router: {link.other(router) for link in net.links_of[router]} & {*net.routers[asn]}
                for router in net.routers[asn]
            }
        )
        for net in (seen.network, night.network)
    )
    assert after[figure] == before[figure] + GROWTH
    crossed, then = plant.figures[figure]
    assert then >= crossed + GROWTH
    assert all(set(link.ends) <= set(plant.routers) for link in gone(seen, night))
    assert not new(seen, night)


def test_a_peer_that_becomes_a_customer(seen: Seen, planted) -> None:
    plant, night = planted("relationship-changed")
    before, after = seen.network.ases, night.network.ases
    (pair,) = after.relationship.items() - before.relationship.items()
    assert (set(pair[0]), pair[1]) == (plant.asns, CUSTOMER)
    assert before.between(*plant.asns) == PEER
    assert after.providers[pair[0][1]] == [*before.providers[pair[0][1]], pair[0][0]]
    kinds = {link.kind for link in links_between(night.network, *plant.asns)}
    assert kinds <= {"customer", "exchange"}
    assert {link.addrs for link in night.network.links} == {
        link.addrs for link in seen.network.links
    }


def test_widths_are_those_of_the_largest_part() -> None:
    line = {0: {1}, 1: {0, 2}, 2: {1, 3}, 3: {2, 4}, 4: {3}}
    assert widths_of(line) == {"diameter": 4, "radius": 2}
    assert widths_of(line | {8: {9}, 9: {8}}) == {"diameter": 4, "radius": 2}
    assert widths_of({}) == {"diameter": 0, "radius": 0}


def test_delays_tunnels_and_numbers(seen: Seen, planted) -> None:
    for kind, least, most in (("link-slower", 8, 99), ("link-slower-few", FROM, 5)):
        plant, night = planted(kind)
        (addrs,) = night.slow
        assert addrs == seen.link(*plant.routers).addrs
        assert least <= seen.n_vantages(seen.links[plant.routers]) <= most
        slower = Campaign(night).wires.delay - seen.campaign.wires.delay
        assert np.flatnonzero(slower > 7.9).tolist() == [
            seen.network.links.index(seen.link(*plant.routers))
        ]
    drift, _ = planted("link-drifting")
    night = Night(seen.network, turn=3).copy()
    drift.alter(night)
    assert night.slow == {seen.link(*drift.routers).addrs: 0.75}
    plant, night = planted("mpls")
    (asn,) = night.network.answers.tunnels - seen.network.answers.tunnels
    assert plant.asns == {asn}
    inner = np.isin(seen.ways.router, plant.routers).sum()
    after = seen.ways_if(plant.alter)
    assert np.isin(after.router, plant.routers).sum() < inner - MANY
    plant, night = planted("router-renumbered")
    (router,) = plant.routers
    before, now = addresses_of(seen.network, router), addresses_of(night.network, router)
    assert len(before) == len(now)
    assert not before & now
    assert len(seen.touched(plant.alter)) == 0
    assert len(plant.pairs) >= 2 * SOME
