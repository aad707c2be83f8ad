"""Shares of a network that become others on a date: answers, tunnels, numbers, origins."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_network
from random import Random
from typing import Any, NamedTuple

from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import Night, replace_link
from pipeline.generate.networks.plan import changed_plan
from pipeline.generate.networks.planting.plant import Plant
from pipeline.generate.networks.planting.ways import Pairs, Seen, joined


class _Share(NamedTuple):
    """A share of routers, ASes or blocks, and what becomes of those that join and leave it.

    ``of``: all, of a network; ``have``: those that are in it; ``put``: alters a network;
    ``barred``: those that cannot join it; ``events``: what comparing calls it where some join,
    ``back``: where some leave.
    """

    of: Callable[[Network], Iterable[int]]
    have: Callable[[Network], set[int]]
    put: Callable[[Network, set[int], set[int]], None]
    holds: str
    events: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    barred: Callable[[Network], set[int]] = lambda net: set()


def _answering(
    name: str, of: Callable[[Network], Iterable[int]], holds: str, **more: Any
) -> _Share:
    """A share whose members are a set of ``Answers``."""

    def put(network: Network, joining: set[int], leaving: set[int]) -> None:
        members: set[int] = getattr(network.answers, name)
        members |= joining
        members -= leaving

    return _Share(of, lambda net: getattr(net.answers, name), put, holds, **more)


def _routers(name: str, other: str = "", **more: Any) -> _Share:
    """Of all routers; ``other``: a share with which it has no member in common."""
    if other:
        more["barred"] = lambda net: getattr(net.answers, other)
    return _answering(name, lambda net: range(len(net.asn_of)), "routers", **more)


def _ases(name: str, *tiers: str, **more: Any) -> _Share:
    return _answering(name, lambda net: net.ases.of(*tiers), "ASes", **more)


def _blocks(name: str, of: Callable[[Network, int], bool], **more: Any) -> _Share:
    """Networks of customers, by what is so of a block."""

    def put(network: Network, joining: set[int], leaving: set[int]) -> None:
        for at in joining | leaving:
            setattr(network.blocks[at], name, at in joining)

    return _Share(
        lambda net: (at for at in range(len(net.blocks)) if of(net, at)),
        lambda net: {at for at, block in enumerate(net.blocks) if getattr(block, name)},
        put,
        "blocks",
        **more,
    )


def _is_dead(net: Network, at: int) -> bool:
    return not net.blocks[at].answers


def _hide_numbers(network: Network, joining: set[int], leaving: set[int]) -> None:
    """Number the inner links of some ASes from private space, those of others from public."""
    for asn in sorted(joining | leaving):
        is_private = asn in joining
        network.numbering.make_private(asn, is_private)
        own = dict.fromkeys(link for r in network.routers[asn] for link in network.links_of[r])
        for link in own:
            if link.kind == "inner":
                addrs = network.numbering.link(asn, is_private)
                replace_link(network, link, dataclasses.replace(link, addrs=addrs))


def _originate(network: Network, joining: set[int], leaving: set[int]) -> None:
    """Let a provider originate the prefixes of some stubs, too."""
    for asn in sorted(joining | leaving):
        text = str(asn)
        if asn in joining:
            text = f"{asn}_{network.ases.providers[asn][0]}"
            network.unusual_origins[asn] = text
        else:
            network.unusual_origins.pop(asn, None)
        block = network.numbering.prefix[asn]
        network.origins = [(net, text if net == block else by) for net, by in network.origins]


def _withhold(network: Network, joining: set[int], leaving: set[int]) -> None:
    """Announce no longer what the routers of some ASes are numbered from, or announce it."""
    for asn in sorted(joining | leaving):
        whole, inner = network.numbering.prefix[asn], network.numbering.infrastructure[asn]
        if asn in joining:
            network.numbering.unannounced.append(asn)
            rest = whole.address_exclude(inner)  # type: ignore[arg-type]
            parts = [ip_network(str(part)) for part in rest]
            kept = [row for row in network.origins if row[0] != whole]
            network.origins = kept + [(part, str(asn)) for part in parts]
        else:
            network.numbering.unannounced.remove(asn)
            network.origins.append((inner, str(asn)))


def _can_withhold(net: Network) -> Iterable[int]:
    numbering = net.numbering
    for asn in net.ases.of("transit", "regional"):
        inner, whole = numbering.infrastructure[asn], numbering.prefix[asn]
        if inner.subnet_of(whole) or asn in numbering.unannounced:  # type: ignore[arg-type]
            yield asn


def _multi_origin(net: Network) -> set[int]:
    return {asn for asn, text in net.unusual_origins.items() if "_" in text}


_HIDDEN: dict[str, Any] = {"events": ("routers hidden",), "back": ("routers shown",)}
_SILENT: dict[str, Any] = {"events": ("routers silent",), "back": ("routers answer again",)}

SHARES: Mapping[str, _Share] = {
    "silent": _routers("silent", "limited", **_SILENT),
    "limited": _routers("limited", "silent", **_SILENT),
    "outgoing": _routers("outgoing", "loopback"),
    "loopback": _routers("loopback", "outgoing"),
    "zero_ttl": _routers("zero_ttl"),
    "tunnels": _ases("tunnels", "tier1", "transit", "cloud", **_HIDDEN),
    "ultimate_hop": _answering("ultimate_hop", lambda net: net.answers.tunnels, "ASes"),
    "rewriting": _ases("rewriting", "stub"),
    "carrier_nat": _ases("carrier_nat", "stub", "regional"),
    "firewalled": _ases("firewalled", "stub", barred=lambda net: net.answers.only_border),
    "only_border": _answering(
        "only_border",
        lambda net: (asn for asn in net.ases.of("stub") if asn not in net.answers.firewalled),
        "ASes",
    ),
    "hosts_answer": _blocks(
        "answers",
        lambda net, at: not net.answers.is_shut(net.blocks[at].asn),
        events=("hosts answer again",),
        back=("hosts silent",),
    ),
    "zombies": _blocks("zombie", _is_dead),
    "loops": _blocks(
        "loops", lambda net, at: _is_dead(net, at) and net.ases.tier[net.blocks[at].asn] == "stub"
    ),
    "private_inside": _Share(
        lambda net: (
            () if net.plan.ipv6 else [a for a in net.ases.tier if net.ases.tier[a] != "stub"]
        ),
        lambda net: net.numbering.private,
        _hide_numbers,
        "ASes",
    ),
    "multi_origin": _Share(
        lambda net: (a for a in net.ases.of("stub") if a not in net.numbering.aggregate),
        _multi_origin,
        _originate,
        "ASes",
        events=("inputs changed",),
        back=("inputs changed",),
    ),
    "unannounced": _Share(
        _can_withhold,
        lambda net: set(net.numbering.unannounced),
        _withhold,
        "ASes",
        events=("inputs changed",),
        back=("inputs changed",),
    ),
}


def plant_share(seen: Seen, random: Random, word: str) -> Plant:
    """The plant by which a share becomes another; as few as possible join or leave it.

    Parameters
    ----------
    word : str
        ``NAME=VALUE`` of a share of the plan.

    Raises
    ------
    ValueError
        If it is no share that can be planted, the value is none, or it is so already.
    """
    name, _, text = word.partition("=")
    if name not in SHARES:
        raise ValueError(f"{name!r} is drawn for all nights; planted can be {', '.join(SHARES)}")
    net, share = seen.network, SHARES[name]
    value: float = getattr(changed_plan(net.plan, [f"{name}={text}"]), name)
    everybody, have = sorted(share.of(net)), share.have(net)
    inside = sorted(have.intersection(everybody))
    wanted = round(value * len(everybody))
    joining: set[int] = set()
    leaving: set[int] = set()
    if wanted > len(inside):
        barred = have | share.barred(net)
        others = [each for each in everybody if each not in barred]
        joining = set(random.sample(others, min(wanted - len(inside), len(others))))
    else:
        leaving = set(random.sample(inside, len(inside) - wanted))
    changed = sorted(joining | leaving)
    if not changed:
        raise ValueError(
            f"{word}: nothing changes, {len(inside)} of {len(everybody)} {share.holds} are so"
        )

    def alter(night: Night) -> None:
        share.put(night.network, joining, leaving)

    routers, asns, hosts = _about(net, share.holds, changed)
    pairs = _pairs(seen, share.holds, changed)
    return Plant(
        name, pairs, alter, routers=routers, beside=asns, hosts=hosts, is_less=bool(leaving)
    )


def _about(
    net: Network, holds: str, changed: list[int]
) -> tuple[tuple[int, ...], frozenset[int], tuple[str, ...]]:
    """Routers, ASes and networks of customers that join or leave a share."""
    if holds == "routers":
        return tuple(changed), frozenset(), ()
    if holds == "ASes":
        return (), frozenset(changed), ()
    return (), frozenset(), tuple(str(net.blocks[at].prefix) for at in changed)


def _pairs(seen: Seen, holds: str, changed: list[int]) -> Pairs:
    """Pairs that cross them, or whose target is there."""
    if holds == "blocks":
        prefixes = {seen.network.blocks[at].prefix for at in changed}
        return seen.pairs_into(prefixes)
    crossed = seen.routers if holds == "routers" else seen.ases
    return joined(crossed[each] for each in changed if each in crossed)
