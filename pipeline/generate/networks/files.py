"""A network's files: the truth, and what a researcher would have beside the traces."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.names import name_interfaces, rules_of_names
from pipeline.generate.networks.network import Link, Network
from pipeline.model.choices import TRUTH

_REGISTERED = 0.9  # members of exchange points that PeeringDB has
_WRONG = 1 / 30  # of these, with the address of another
_DATES = {"created": "2026-01-01", "updated": "2026-01-01", "status": "ok"}


def _name(router: int) -> str:
    return f"r{router}"


def _is_private(addr: str) -> bool:
    return addr.startswith("10.")


def truth_of(network: Network) -> dict[str, Any]:
    """The network as it is, in the form of the laboratories."""
    answers, ases, numbering = network.answers, network.ases, network.numbering
    links = [link_facts(network, link) for link in network.links]
    borders: dict[int, set[int]] = defaultdict(set)
    for link in network.links:
        one, other = (network.asn_of[router] for router in link.ends)
        if one != other:
            borders[one].add(link.ends[0])
            borders[other].add(link.ends[1])

    def routers(chosen: set[int]) -> list[str]:
        return [_name(router) for router in sorted(chosen)]

    hosts = {
        vantage.name: {
            "asn": vantage.asn,
            "gw": _name(vantage.gateway),
            "addr": vantage.addr,
            "gw_addr": vantage.gateway_addr,
            "lan": vantage.lan,
        }
        for vantage in network.vantages
    }
    return {
        "asn_of": {_name(router): asn for router, asn in enumerate(network.asn_of)},
        "loopback": {_name(router): addr for router, addr in enumerate(network.loopback)},
        "links": links,
        "hosts": hosts,
        "vantage_points": list(hosts),
        "border_routers": {str(asn): routers(borders[asn]) for asn in ases.tier},
        "prefixes": {str(asn): str(block) for asn, block in numbering.prefix.items()},
        "infrastructure": {str(asn): str(net) for asn, net in numbering.infrastructure.items()},
        "tier": {str(asn): tier for asn, tier in ases.tier.items()},
        "relationships": [[*pair, kind] for pair, kind in ases.relationship.items()],
        "organisations": {str(asn): owner for asn, owner in ases.owner.items()},
        "ixps": [
            {
                "name": exchange.name,
                "asn": exchange.asn,
                "lan": str(exchange.lan),
                "announced": exchange.announced,
                "announced_by": exchange.announced_by,
                "members": {_name(router): addr for router, addr in exchange.members.items()},
            }
            for exchange in network.exchanges
        ],
        "silent": routers(answers.silent),
        "rate_limited": routers(answers.limited),
        "replies_with_outgoing_address": routers(answers.outgoing),
        "replies_with_loopback": routers(answers.loopback),
        "zero_ttl": routers(answers.zero_ttl),
        "tunnelled": sorted(answers.tunnels),
        "tunnelled_ultimate_hop": sorted(answers.ultimate_hop),
        "rewriting": sorted(answers.rewriting),
        "firewalled": sorted(answers.firewalled),
        "only_border": sorted(answers.only_border),
        "carrier_nat": sorted(answers.carrier_nat),
        "private_inside": sorted(numbering.private),
        "unannounced_infrastructure": numbering.unannounced,
        "provider_aggregate": {str(asn): by for asn, by in numbering.aggregate.items()},
        "unusual_origins": {str(asn): text for asn, text in network.unusual_origins.items()},
        "plan": asdict(network.plan),
    }


def link_facts(network: Network, link: Link) -> dict[str, Any]:
    """What is true of a link."""
    one, other = link.ends
    found: dict[str, Any] = {
        "u": _name(one),
        "v": _name(other),
        "u_asn": network.asn_of[one],
        "v_asn": network.asn_of[other],
        "numbered_from": link.numbered_by,
        "kind": link.kind,
    }
    # Private numbers that several networks use name no router.
    if not (_is_private(link.addrs[0]) and network.plan.private_is_shared):
        found |= {"u_addr": link.addrs[0], "v_addr": link.addrs[1]}
    if link.exchange:
        found["ixp"] = link.exchange
    return found


def write_files(
    network: Network, delays: Delays, folder: Path, drawn: Network | None = None
) -> None:
    """All files but the traces, by the names that laboratories have.

    ``drawn``: the network before it was altered, if it was: relationships, host names and places
    were gathered then, and tell nothing of what was altered.
    """
    drawn = network if drawn is None else drawn
    truth = truth_of(network)
    (folder / TRUTH).write_text(json.dumps(truth))
    (folder / "lab.pfx2as").write_text(
        "".join(
            f"{net.network_address}\t{net.prefixlen}\t{text}\n" for net, text in network.origins
        )
    )
    targets = sorted({block.target for block in network.blocks})
    (folder / "targets.txt").write_text("".join(f"{target}\n" for target in targets))
    (folder / "lab.as-rel.txt").write_text(
        "# provider|customer|-1, peer|peer|0\n"
        + "".join(f"{a}|{b}|{kind}\n" for (a, b), kind in drawn.ases.relationship.items())
    )
    (folder / "lab.as2org.txt").write_text(
        "# asn organisation\n"
        + "".join(f"{asn} org{owner}\n" for asn, owner in network.ases.owner.items())
    )
    (folder / "lab.ixp.txt").write_text(
        "# prefix ixp-name ixp-asn\n"
        + "".join(f"{ix.lan} {ix.name} {ix.asn}\n" for ix in network.exchanges)
    )
    (folder / "lab.peeringdb.json").write_text(json.dumps(_peeringdb(network)))
    (folder / "lab.delegated").write_text(_delegations(network))
    (folder / "lab.aliases.nodes").write_text(_alias_sets(network))
    names = name_interfaces(drawn, delays)
    (folder / "lab.names.tsv").write_text(
        "".join(f"{addr}\t{name}\n" for addr, (name, _) in names.items())
    )
    rules = rules_of_names(drawn, names)
    (folder / "lab.name-rules.jsonl").write_text("".join(f"{rule}\n" for rule in rules))
    stale = [addr for addr, (_, is_stale) in names.items() if is_stale]
    (folder / "stale_names.json").write_text(json.dumps(stale))
    (folder / "lab.locations.csv").write_text(_places(drawn, delays))


def _places(network: Network, delays: Delays) -> str:
    """Latitude, longitude and city of addresses; those that several routers have are left out."""
    lines = ["address,latitude,longitude,city"]
    for router, addrs in enumerate(_addresses(network)):
        latitude, longitude = delays.degrees(router)
        city = delays.city(router)
        lines += [f"{addr},{latitude:.4f},{longitude:.4f},{city}" for addr in addrs]
    return "\n".join(lines) + "\n"


def _peeringdb(network: Network) -> dict[str, Any]:
    """A dump as PeeringDB's API gives it: most members, a few with an old address."""
    random = Random(network.plan.seed + 3)
    exchanges = list(enumerate(network.exchanges, 1))
    key, none = ("ipaddr6", "ipaddr4") if network.plan.ipv6 else ("ipaddr4", "ipaddr6")
    members = []
    for number, exchange in exchanges:
        addrs = list(exchange.members.values())
        for at, (router, addr) in enumerate(exchange.members.items()):
            if random.random() >= _REGISTERED:
                continue
            asn = network.asn_of[router]
            given = addr if random.random() >= _WRONG else random.choice(addrs)
            row: dict[str, Any] = {
                "id": 1000 * number + at,
                "net_id": asn,
                "asn": asn,
                "ix_id": number,
                "ixlan_id": number,
            }
            members.append(_DATES | row | {"name": exchange.name, key: given, none: None})
    protocol = "IPv6" if network.plan.ipv6 else "IPv4"
    return {
        "ix": {"data": [_DATES | {"id": n, "org_id": n, "name": ix.name} for n, ix in exchanges]},
        "ixlan": {
            "data": [_DATES | {"id": n, "ix_id": n, "rs_asn": ix.asn} for n, ix in exchanges]
        },
        "ixpfx": {
            "data": [
                _DATES | {"id": n, "ixlan_id": n, "prefix": str(ix.lan), "protocol": protocol}
                for n, ix in exchanges
            ]
        },
        "netixlan": {"data": members},
    }


def _delegations(network: Network) -> str:
    """Extended delegations as an RIR publishes them; one holder's blocks share the last field."""
    numbering, owner = network.numbering, network.ases.owner
    family = "ipv6" if network.plan.ipv6 else "ipv4"

    def line(net: Any, holder: str) -> str:
        size = net.prefixlen if network.plan.ipv6 else net.num_addresses
        return f"lab|ZZ|{family}|{net.network_address}|{size}|20200101|allocated|{holder}\n"

    text = "2|lab|20261122|0|19830101|20261122|+0000\n"
    for asn in network.ases.tier:
        holder = f"org{owner[asn]}"
        text += f"lab|ZZ|asn|{asn}|1|20200101|allocated|{holder}\n"
        if asn not in numbering.aggregate:
            text += line(numbering.prefix[asn], holder)
        if asn in numbering.unannounced:
            text += line(numbering.infrastructure[asn], holder)
    return text + "".join(line(ix.lan, ix.name) for ix in network.exchanges)


def _alias_sets(network: Network) -> str:
    """True alias sets as an ITDK nodes file; numbers that several routers have are left out."""
    return "# true alias sets, ITDK nodes format\n" + "".join(
        f"node N{router + 1}:  {' '.join(each)}\n"
        for router, each in enumerate(_addresses(network))
    )


def _addresses(network: Network) -> list[dict[str, None]]:
    """Addresses of each router, in the order of its links, but for those that several have."""
    addrs: list[dict[str, None]] = [{addr: None} for addr in network.loopback]
    for link in network.links:
        for router in link.ends:
            if not (_is_private(link.addr(router)) and network.plan.private_is_shared):
                addrs[router][link.addr(router)] = None
    for exchange in network.exchanges:
        for router, addr in exchange.members.items():
            addrs[router][addr] = None
    for vantage in network.vantages:
        addrs[vantage.gateway][vantage.gateway_addr] = None
    return addrs
