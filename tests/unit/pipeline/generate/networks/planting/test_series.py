"""Nights differ by chance and by what is planted, and the truth says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.generate.networks.network import Link, Network
from pipeline.generate.networks.night import link_between
from pipeline.generate.networks.plan import make_plan
from pipeline.generate.networks.planting.orders import parse_order
from pipeline.generate.networks.planting.series import Series, date_of
from pipeline.generate.networks.tracing import Campaign

NETWORK = Network(make_plan("plain", 8, ("exchange_members=0.4", "blocks=2,3,4,4,5")))


def series(plants: Sequence[str] = (), n_nights: int = 5) -> Series:
    return Series(NETWORK, None, n_nights, [parse_order(text, n_nights) for text in plants])


def measured(campaign: Campaign) -> tuple[np.ndarray, np.ndarray]:
    """Addresses and delays of all replies, on one thread."""
    parts = list(campaign.run(lambda part: part, 1))
    n = [part.traces.hop_ptr[sum(map(len, part.rows.values()))] for part in parts]
    addr = np.concatenate([part.traces.addr[:k, 1] for part, k in zip(parts, n, strict=True)])
    return addr, np.concatenate([p.traces.rtt_us[:k] for p, k in zip(parts, n, strict=True)])


def test_nights_without_plants_differ_by_chance_alone() -> None:
    one, two = (series().campaign(n) for n in (1, 2))
    assert one.network is two.network is NETWORK
    alone = Campaign(NETWORK)
    (addrs, delays), (others, later), (same, at_once) = map(measured, (one, two, alone))
    assert np.array_equal(addrs, same)
    assert np.array_equal(delays, at_once)
    assert len(set(addrs.tolist()) ^ set(others.tolist())) < 0.02 * len(set(addrs.tolist()))
    assert not np.array_equal(addrs, others)  # limited routers
    assert (two.start_s - one.start_s, date_of(1), date_of(2)) == (
        86400,
        "2026-09-21",
        "2026-09-22",
    )
    assert len(later)
    assert series().truth()["plants"] == []


def test_plants_come_stay_and_are_taken_back() -> None:
    made = series(("link-cut@2", "exchange-lost@3-4", "silent=0.3@4"))
    networks = [made.campaign(n).network for n in range(1, 6)]
    cut, exchange, silent = made.planted
    link = cut.facts["links_gone"][0]
    addrs = link["u_addr"], link["v_addr"]
    assert [addrs in [each.addrs for each in net.links] for net in networks] == [True] + [False] * 4
    joined = [any(each.exchange for each in net.links) for net in networks]
    assert joined == [True, True, False, False, True]
    shares = [len(net.answers.silent) / len(net.asn_of) for net in networks]
    assert [round(share, 2) for share in shares] == [0.05, 0.05, 0.05, 0.3, 0.3]
    truth = made.truth()
    assert [night["begun"] for night in truth["nights"]] == [[], [0], [1], [2], []]
    assert [night["taken_back"] for night in truth["nights"]] == [[], [], [], [], [1]]
    facts = truth["plants"][1]
    assert (facts["first_date"], facts["last_date"]) == ("2026-09-23", "2026-09-24")
    assert (facts["place"], facts["stays"]) == ("ix0", False)
    assert (facts["events"], facts["events_by_night"]) == (["exchange lost"], 3)
    assert len(facts["links_gone"]) == sum(bool(each.exchange) for each in NETWORK.links)
    assert 0 < facts["n_pairs"] <= facts["n_pairs_looked_at"] == facts["n_pairs_of_a_night"]
    assert len(silent.facts["routers"]) == len(networks[3].answers.silent) - len(
        NETWORK.answers.silent
    )
    asns = cut.plant.asns
    assert not asns & exchange.plant.beside
    assert series(("link-cut@2",)).truth()["plants"][0] == truth["plants"][0]


def test_a_share_that_falls_is_the_reverse_of_one_that_rises() -> None:
    more, less = (series((text,)).planted[0].facts for text in ("silent=0.3@2-3", "silent=0@2-3"))
    assert (more["says"], less["says"]) == ("silent=0.3.", "silent=0.")
    assert more["events"] == less["events_when_taken_back"] == ["routers silent"]
    assert less["events"] == more["events_when_taken_back"] == ["routers answer again"]


def test_what_comes_slowly_is_told_after_some_nights() -> None:
    made = series(("link-drifting@4",), 9)
    link = NETWORK.links.index(made_link(made))
    delays = [made.campaign(n).wires.delay[link] for n in range(1, 10)]
    assert [round(ms - delays[0], 2) for ms in delays[2:6]] == [0.0, 0.25, 0.5, 0.75]
    facts = made.planted[0].facts
    assert (facts["events"], facts["events_by_night"]) == (["links slower"], 8)
    for text, n_nights in (("link-drifting@3", 9), ("link-drifting@4", 7)):
        assert series((text,), n_nights).planted[0].facts["events"] == []


def made_link(made: Series) -> Link:
    """The link of a series' first plant."""
    return link_between(NETWORK, *made.planted[0].plant.routers)


def test_the_same_kind_finds_another_place() -> None:
    made = series(("router-silent@2", "router-silent@2", "router-silent@3"))
    assert len({each.plant.routers for each in made.planted}) == 3
    assert len(made.campaign(3).night.rare) == 3
    assert len(made.campaign(2).night.rare) == 2


@pytest.mark.parametrize(
    ("plants", "message"),
    [
        (("load-balancing@2", "table-changed@2"), "table-changed@2: every place that was found"),
        (("exchange-lost@2", "exchange-lost@2"), "exchange-lost@2: every place that was found"),
        (("mpls@2", "tunnels=1.0@2"), "tunnels=1.0@2: it touches what is planted by mpls@2"),
    ],
)
def test_what_does_not_go_together(plants: Sequence[str], message: str) -> None:
    with pytest.raises(ValueError, match="planted") as error:
        series(plants)
    assert message in str(error.value)


def test_what_finds_no_place_says_what_it_needs() -> None:
    network = Network(make_plan("plain", 8, ("n_vantage_points=1",)))
    with pytest.raises(ValueError, match=r"link-cut@2: there is no place for it.*needs 15 pairs"):
        Series(network, None, 2, [parse_order("link-cut@2", 2)])
    with pytest.raises(ValueError, match="needs an exchange point"):
        Series(network, None, 2, [parse_order("exchange-lost@2", 2)])


@pytest.mark.parametrize(
    "what", ["router-silent", "router-renumbered", "as-silent", "edge-as-lost"]
)
def test_a_place_does_not_depend_on_where_other_kinds_were_looked_for(what: str) -> None:
    later = f"{what}@9"
    (alone,) = series((later,), 9).planted
    others = series(("half-as-lost@2-2", "ingress-moved@4-4", "hosts-dead@6-6", later), 9).planted
    assert others[-1].facts == alone.facts
