"""Nights of one network, one after another, with what is planted on each, and the truth of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.files import link_facts
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import Night
from pipeline.generate.networks.planting.kinds import KINDS
from pipeline.generate.networks.planting.orders import PLANTS, Order
from pipeline.generate.networks.planting.plant import Plant
from pipeline.generate.networks.planting.shares import SHARES, plant_share
from pipeline.generate.networks.planting.ways import Seen, common
from pipeline.generate.networks.tracing import A_DAY, START, Campaign

_TRIES = 25  # places of a kind that are looked at
_OVERLAP = 0.25  # of the pairs of the smaller of two plants of a night


@dataclass(frozen=True)
class Planted:
    """An order, the plant that fulfils it, and what the network says of it."""

    order: Order
    plant: Plant
    facts: dict[str, Any]


class Series:
    """Nights of a network with plants.

    Parameters
    ----------
    network : Network
    n_traces : int or None
        Of each night, as ``Campaign`` takes them.
    n_nights : int
    orders : sequence of Order

    Raises
    ------
    ValueError
        If something finds no place.
    """

    def __init__(
        self, network: Network, n_traces: int | None, n_nights: int, orders: Sequence[Order] = ()
    ) -> None:
        self.network, self._n_traces, self.n_nights = network, n_traces, n_nights
        self.delays = Delays(network)
        self.planted: list[Planted] = []
        if not orders:
            return
        seen = Seen(Campaign(network, n_traces, delays=self.delays))
        chosen: list[tuple[Order, Plant]] = []
        for order in orders:
            chosen.append((order, _choose(seen, order, chosen)))
        self.planted = [
            Planted(order, plant, _facts(seen, order, plant)) for order, plant in chosen
        ]

    def campaign(self, number: int) -> Campaign:
        """What is measured on a night, counted from 1."""
        night = Night(self.network, number - 1)
        own = [each for each in self.planted if each.order.first <= number <= each.order.last]
        if own:
            night = night.copy()
        for each in own:
            night.turn = number - each.order.first + 1
            each.plant.alter(night)
        return Campaign(night, self._n_traces, delays=self.delays)

    def truth(self) -> dict[str, Any]:
        """What was planted, for a file of JSON."""
        nights = range(1, self.n_nights + 1)
        return {
            "nights": [
                {
                    "night": n,
                    "date": date_of(n),
                    "begun": [i for i, each in enumerate(self.planted) if each.order.first == n],
                    "taken_back": [
                        i
                        for i, each in enumerate(self.planted)
                        if n in each.order.turns and each.order.first != n
                    ],
                }
                for n in nights
            ],
            "plants": [each.facts for each in self.planted],
        }


def date_of(number: int) -> str:
    """Date of a night, counted from 1."""
    return datetime.fromtimestamp(START + A_DAY * (number - 1), UTC).date().isoformat()


def _choose(seen: Seen, order: Order, others: Sequence[tuple[Order, Plant]]) -> Plant:
    """A place that is apart from what else is planted; ValueError if there is none."""
    before = sum(order.what == other.what for other, _ in others)
    random = Random(f"{seen.network.plan.seed} {order.what} {before}")
    if "=" in order.what:
        plant = plant_share(seen, random, order.what)
        other = _touched(order, plant, others)
        if other is None:
            return plant
        raise ValueError(f"{order.text}: it touches what is planted by {other.text}")
    kind, n_places = KINDS[order.what], 0
    for _, plant in zip(range(_TRIES), kind.find(seen, random), strict=False):
        n_places += 1
        if _touched(order, plant, others) is None:
            return plant
    if n_places:
        raise ValueError(
            f"{order.text}: every place that was found touches what else is planted on its nights;"
            " give another night, or more ASes"
        )
    raise ValueError(
        f"{order.text}: there is no place for it in this network, which needs {kind.needs}"
    )


def _touched(order: Order, plant: Plant, others: Sequence[tuple[Order, Plant]]) -> Order | None:
    """The first of others, there on its nights or next to them, that a plant is not apart from."""
    for other, theirs in others:
        is_same_turn = bool(order.turns & other.turns)
        if is_same_turn and (plant.is_everywhere or theirs.is_everywhere):
            return other
        if order.first > other.last + 1 or other.first > order.last + 1:
            continue
        if (plant.asns | plant.beside) & (theirs.asns | theirs.beside):
            return other
        fewer = min(len(plant.pairs), len(theirs.pairs))
        if is_same_turn and len(common(plant.pairs, theirs.pairs)) > _OVERLAP * fewer:
            return other
    return None


def _facts(seen: Seen, order: Order, plant: Plant) -> dict[str, Any]:
    """What is true of a plant: where it is, what comes and goes, how many pairs it touches."""
    net, night = seen.network, seen.altered(plant.alter)
    kind = KINDS.get(order.what)
    share = SHARES.get(plant.kind)
    before, after = dict.fromkeys(net.links), dict.fromkeys(night.network.links)
    named = kind or share
    assert named is not None
    events, back = (named.back, named.events) if plant.is_less else (named.events, named.back)
    nights = kind.nights if kind else 1
    if nights > 1 and (order.first <= 3 or order.last < order.first + nights - 1):
        events = ()
    return {
        "kind": plant.kind,
        "says": PLANTS[order.what] if kind else f"{order.what}.",
        "first_night": order.first,
        "last_night": order.last,
        "stays": order.stays,
        "first_date": date_of(order.first),
        "last_date": date_of(order.last),
        "events": list(events),
        "events_by_night": order.first + nights - 1,
        "events_when_taken_back": list(back),
        "ases": sorted(plant.asns),
        "ases_beside": sorted(plant.beside),
        "routers": [f"r{router}" for router in plant.routers],
        "place": plant.place,
        "hosts": list(plant.hosts),
        "figures": {name: list(both) for name, both in plant.figures.items()},
        "links_gone": [link_facts(net, link) for link in before if link not in after],
        "links_new": [link_facts(night.network, link) for link in after if link not in before],
        "routers_new": [
            f"r{router}" for router in range(len(net.asn_of), len(night.network.asn_of))
        ],
        "n_pairs": len(plant.pairs),
        "n_pairs_looked_at": seen.n_looked_at,
        "n_pairs_of_a_night": seen.n_pairs,
        "n_vantage_points": seen.n_vantages(plant.pairs),
    }
