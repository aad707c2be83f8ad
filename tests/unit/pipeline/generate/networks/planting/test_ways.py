"""Ways are those of the walk in plain Python, and crossings follow from them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import Night, remove_links
from pipeline.generate.networks.plan import make_plan
from pipeline.generate.networks.planting import ways
from pipeline.generate.networks.planting.ways import Crossed, Seen, common, is_in, joined
from pipeline.generate.networks.tracing import Campaign
from tests.oracles.networks.walking import Walks

SMALL = ("n_tier1=3", "n_transit=4", "n_regional=5", "n_stub=12", "n_vantage_points=4")
ENDS = ("gateway", "no route", "endless")


@pytest.fixture(scope="module", params=["realistic", "ecmp", "mpls_ultimate", "zero_ttl"])
def seen(request: pytest.FixtureRequest) -> Seen:
    return Seen(Campaign(Network(make_plan(request.param, 4, (*SMALL, "targets=hosts")))))


def plain_ways(seen: Seen, network: Network) -> list[tuple[list[int], int]]:
    walks = Walks(network)
    found = []
    for pair in range(seen.n_looked_at):
        block = seen.campaign.blocks[seen.campaign.targets.block[seen.target[pair]]]
        vantage = network.vantages[seen.vantage[pair]]
        way = walks.there(vantage, block, f"{vantage.addr}>{block.target}")
        found.append(([step.router for step in way.steps], ENDS.index(way.end)))
    return found


def test_ways_are_those_of_the_walk_in_plain_python(seen: Seen) -> None:
    plain = plain_ways(seen, seen.network)
    assert [(seen.ways.of(i), int(seen.ways.ending[i])) for i in range(len(plain))] == plain
    assert seen.n_looked_at == seen.n_pairs == len(plain) > 100


def test_ways_once_links_are_gone_are_those_of_the_altered_network(seen: Seen) -> None:
    link = max(seen.links, key=lambda ends: len(seen.links[ends]))

    def alter(night: Night) -> None:
        net = night.network
        remove_links(
            net, [each for each in net.links_of[link[0]] if each.other(link[0]) == link[1]]
        )

    after, plain = seen.ways_if(alter), plain_ways(seen, seen.altered(alter).network)
    assert [(after.of(i), int(after.ending[i])) for i in range(len(plain))] == plain
    changed = [i for i, way in enumerate(plain_ways(seen, seen.network)) if way != plain[i]]
    assert seen.touched(alter).tolist() == changed
    assert set(seen.links[link].tolist()) <= set(changed)
    routed = [i for i, (_, end) in enumerate(plain) if end != 1]
    assert np.flatnonzero(after.has_route(np.arange(len(plain)))).tolist() == routed


def test_crossings_are_those_of_the_ways(seen: Seen) -> None:
    net = seen.network
    routers, links, ases, transit, borders = ({} for _ in range(5))
    for pair in range(seen.n_looked_at):
        way = seen.ways.of(pair)
        asns = [net.asn_of[r] for r in way if seen.answers(r)]
        for router in way:
            routers.setdefault(router, set()).add(pair)
        for asn in asns:
            ases.setdefault(asn, set()).add(pair)
            if asn not in (asns[0], asns[-1]):
                transit.setdefault(asn, set()).add(pair)
        for one, other in pairwise(way):
            if one != other and seen.answers(one) and seen.answers(other):
                links.setdefault((one, other), set()).add(pair)
                a, b = sorted((net.asn_of[one], net.asn_of[other]))
                if a != b:
                    borders.setdefault((a, b), set()).add(pair)
    for found, wanted in (
        (seen.routers, routers), (seen.links, links), (seen.ases, ases),
        (seen.transit, transit), (seen.borders, borders),
    ):  # fmt: skip
        assert {key: set(pairs.tolist()) for key, pairs in found.items()} == wanted
    assert list(seen.ases) == list(ases)  # in the order in which they are met
    one, other = next(iter(links))
    both = links[one, other] | links.get((other, one), set())
    assert set(seen.both_ways(one, other).tolist()) == both
    assert seen.n_vantages(np.array(sorted(both))) == len({seen.vantage[p] for p in both})


def test_of_many_pairs_some_are_looked_at(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "LOOKED_AT", seen.n_pairs // 3)
    few = Seen(seen.campaign)
    assert few.n_pairs == seen.n_pairs
    assert seen.n_pairs // 4 - 4 <= few.n_looked_at <= seen.n_pairs // 3
    where = {(v, t): i for i, (v, t) in enumerate(zip(seen.vantage, seen.target, strict=True))}
    for pair in range(few.n_looked_at):
        same = where[few.vantage[pair], few.target[pair]]
        assert few.ways.of(pair) == seen.ways.of(same)


def test_of_many_ases_pairs_to_some_are_looked_at(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "TOWARD", 5)
    few = Seen(seen.campaign)
    asn = seen.campaign.targets.asn
    toward = np.unique(asn[few.target])
    assert 3 <= len(toward) <= 5 < len(np.unique(asn))
    where = {(v, t): i for i, (v, t) in enumerate(zip(seen.vantage, seen.target, strict=True))}
    assert few.n_looked_at == np.isin(asn[seen.target], toward).sum()
    for pair in range(few.n_looked_at):
        same = where[few.vantage[pair], few.target[pair]]
        assert few.ways.of(pair) == seen.ways.of(same)


def test_sets_of_pairs() -> None:
    one, other = np.array([1, 3, 5]), np.array([3, 4, 5, 9])
    assert joined((one, other)).tolist() == [1, 3, 4, 5, 9]
    assert common(one, other).tolist() == [3, 5]
    assert is_in(np.array([9, 2, 3]), one).tolist() == [False, False, True]
    crossed = Crossed(np.array([7, 2, 7, 7]), np.array([0, 0, 4, 0]), str)
    assert {key: pairs.tolist() for key, pairs in crossed.items()} == {"7": [0, 4], "2": [0]}
    assert (crossed.most(np.array([0, 4])), len(crossed["8"])) == (2, 0)
    assert Crossed(np.empty(0, int), np.empty(0, int), int).most(one) == 0
