"""Who answers no more, and what is no longer measured, while packets go as before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

import numpy as np

from pipeline.generate.networks.night import Night
from pipeline.generate.networks.planting.plant import FROM, MANY, SOME, Plant, shuffled
from pipeline.generate.networks.planting.ways import Seen
from pipeline.model.addresses import format_addr

RARELY = 0.12  # of its probes a limited router answers


def hosts_dead(seen: Seen, random: Random) -> Iterator[Plant]:
    """No target of an AS answers any more; its routers do."""
    yield from _hosts(seen, random, "hosts-dead", n_dead=3, whole=True)


def hosts_of_prefix_dead(seen: Seen, random: Random) -> Iterator[Plant]:
    """Three neighbouring networks of customers of an AS do not answer any more; others do."""
    yield from _hosts(seen, random, "hosts-of-prefix-dead", n_dead=3, whole=False)


def two_hosts_dead(seen: Seen, random: Random) -> Iterator[Plant]:
    """Two neighbouring networks of customers of an AS do not answer any more; others do."""
    yield from _hosts(seen, random, "two-hosts-dead", n_dead=2, whole=False)


def _hosts(seen: Seen, random: Random, kind: str, *, n_dead: int, whole: bool) -> Iterator[Plant]:
    net = seen.network
    of_as: dict[int, list[int]] = defaultdict(list)
    for at, block in enumerate(net.blocks):
        if block.answers:
            of_as[block.asn].append(at)
    for asn in shuffled(random, seen.ases):
        own = of_as[asn]
        if len(own) < n_dead + (not whole) or not any(map(seen.answers, net.routers[asn])):
            continue
        chosen = own if whole else own[:n_dead]
        if not all(seen.answers(g) for at in own for g in net.blocks[at].gateways):
            continue

        def alter(night: Night, chosen: list[int] = chosen) -> None:
            for at in chosen:
                night.network.blocks[at].answers = False
                night.network.blocks[at].dead = True

        prefixes = [net.blocks[at].prefix for at in chosen]
        pairs = seen.pairs_into(set(prefixes))
        if not len(pairs):  # of many, not all are looked at
            continue
        yield Plant(kind, pairs, alter, frozenset({asn}), hosts=tuple(map(str, prefixes)))


def router_silent(seen: Seen, random: Random) -> Iterator[Plant]:
    """A router does not answer any more."""
    yield from _answers_less(seen, random, "router-silent", 0.0)


def router_limited(seen: Seen, random: Random) -> Iterator[Plant]:
    """A router answers one probe in eight."""
    yield from _answers_less(seen, random, "router-limited", RARELY)


def _answers_less(seen: Seen, random: Random, kind: str, share: float) -> Iterator[Plant]:
    net, ways = seen.network, seen.ways
    pair = ways.pairs()
    for router in shuffled(random, seen.routers):
        pairs = seen.routers[router]
        if len(pairs) < 2 * SOME or router in net.answers.outgoing | net.answers.loopback:
            continue
        at = np.flatnonzero(ways.router == router)
        at = at[np.append(True, np.diff(pair[at]) > 0)]  # where each pair meets it first
        at = at[(at > ways.ptr[pair[at]]) & (at < ways.ptr[pair[at] + 1] - 1)]
        around = [seen.able[ways.router[at + step]] for step in (-1, 0, 1)]
        behind = pair[at[np.logical_and.reduce(around)]]
        if len(behind) < 2 * SOME or seen.n_vantages(behind) <= FROM:
            continue

        def alter(night: Night, router: int = router) -> None:
            night.rare[router] = share

        yield Plant(kind, pairs, alter, frozenset({net.asn_of[router]}), (router,))


def as_silent(seen: Seen, random: Random) -> Iterator[Plant]:
    """No router of an AS answers any more, but packets pass."""
    for asn in shuffled(random, seen.transit):
        through = seen.transit[asn]
        if len(through) < MANY or seen.n_vantages(through) <= FROM or asn in seen.homes():
            continue

        def alter(night: Night, asn: int = asn) -> None:
            night.rare.update(dict.fromkeys(night.network.routers[asn], 0.0))

        own = tuple(seen.network.routers[asn])
        yield Plant("as-silent", seen.ases[asn], alter, frozenset({asn}), own)


def vantage_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """A vantage point does not measure."""
    number = random.choice(range(len(seen.network.vantages)))
    vantage = seen.network.vantages[number]

    def alter(night: Night) -> None:
        night.gone.add(number)

    pairs = np.flatnonzero(seen.vantage == number)
    yield Plant("vantage-lost", pairs, alter, frozenset({vantage.asn}), hosts=(vantage.name,))


def targets_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """A third of the targets are not measured."""
    addr = seen.campaign.targets.addr
    rows = sorted(range(len(addr)), key=lambda row: format_addr(*map(int, addr[row])))
    chosen = random.sample(rows, len(rows) // 3)

    def alter(night: Night) -> None:
        night.left_out.update(chosen)

    is_chosen = np.zeros(len(addr), bool)
    is_chosen[chosen] = True
    yield Plant("targets-lost", np.flatnonzero(is_chosen[seen.target]), alter)
