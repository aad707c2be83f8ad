"""A made-up internetwork of ten ASes: routers, links, addresses and routes, drawn from a seed.

Pure: nothing is built here. Rules of the plan, chosen so that networks differ in what inference
depends on:

* inside an AS a ring with chords, or a tree with chords, with IGP costs 1 to 3 (so equal-cost
  paths exist); half of the links are /31, half /30;
* a link between two ASes takes its addresses from either AS;
* one AS holds a piece of its provider's prefix (only the longest match separates them);
* one link inside an AS has private addresses;
* between ASes the shortest AS path wins, then the nearest exit (hot potato).
"""

from __future__ import annotations

import collections
import heapq
import ipaddress
import random
from dataclasses import dataclass, field

SEED = 5398


@dataclass(frozen=True)
class AutonomousSystem:
    """One row of the table below; ``chords`` are links beyond ring or tree."""

    asn: int
    name: str
    prefix: ipaddress.IPv4Network
    n_routers: int
    shape: str  # "ring" or "tree"
    chords: int


def _as(asn: int, name: str, prefix: str, n_routers: int, shape: str, chords: int):
    return AutonomousSystem(asn, name, ipaddress.IPv4Network(prefix), n_routers, shape, chords)


# AS numbers are those of RFC 5398 (documentation), prefixes lie in 198.18.0.0/15 (RFC 2544).
ASES = (
    _as(64496, "Northlight Transit", "198.18.0.0/19", 13, "ring", 6),
    _as(64497, "Meridian Backbone", "198.18.64.0/19", 12, "ring", 4),
    _as(64499, "Harbour Exchange Carriers", "198.18.128.0/20", 10, "tree", 5),
    _as(64503, "Blue Fen Networks", "198.18.144.0/20", 9, "ring", 2),
    _as(64508, "Copperline Regional", "198.18.176.0/21", 8, "tree", 3),
    _as(64511, "Saltmarsh Telecom", "198.18.200.0/21", 8, "ring", 1),
    _as(65536, "Lindenhof University Network", "198.19.0.0/22", 7, "tree", 3),
    _as(65540, "Quarry Hosting", "198.19.64.0/22", 6, "ring", 1),
    _as(65545, "Tallow Street Internet", "198.18.84.0/22", 6, "tree", 2),  # inside 64497's
    _as(65551, "Farther Isles Cooperative", "198.19.240.0/23", 5, "tree", 1),
)

# (AS, AS, links between them, whose addresses those links take in turn: first or second AS)
PEERINGS = (
    (64496, 64497, 3, "121"),
    (64496, 64499, 2, "12"),
    (64497, 64499, 2, "21"),
    (64496, 64503, 2, "11"),
    (64497, 64508, 2, "22"),
    (64499, 64511, 2, "12"),
    (64499, 64503, 1, "2"),
    (64503, 64508, 1, "1"),
    (64508, 64511, 1, "2"),
    (64496, 65536, 1, "1"),
    (64503, 65536, 1, "2"),
    (64508, 65540, 2, "12"),
    (64511, 65540, 1, "1"),
    (64497, 65545, 2, "11"),
    (64511, 65551, 1, "2"),
    (65536, 65551, 1, "1"),
)
N_SILENT, N_RATE_LIMITED, N_OUTGOING_ADDRESS = 4, 8, 14
PRIVATE_LINK = ipaddress.IPv4Network("10.68.0.0/30")


@dataclass(frozen=True)
class Link:
    """Two routers and the addresses of the subnet between them."""

    u: str
    v: str
    u_addr: ipaddress.IPv4Address
    v_addr: ipaddress.IPv4Address
    subnet: ipaddress.IPv4Network
    numbered_from: int
    cost: int

    def other(self, router: str) -> str:
        return self.v if router == self.u else self.u

    def addr(self, router: str) -> ipaddress.IPv4Address:
        return self.u_addr if router == self.u else self.v_addr


@dataclass(frozen=True)
class Host:
    """A measuring host in a LAN behind one router."""

    asn: int
    gateway: str
    lan: ipaddress.IPv4Network
    addr: ipaddress.IPv4Address
    gateway_addr: ipaddress.IPv4Address


@dataclass(frozen=True)
class OddTarget:
    """A prefix that a router treats in a special way."""

    prefix: ipaddress.IPv4Network
    owner: str
    action: str  # "loop", "unreachable", "prohibit", "blackhole"


@dataclass
class Network:
    """The whole plan. Routers are named r1, r2, ...; hosts h0, h1, ..."""

    asn_of: dict[str, int] = field(default_factory=dict)
    loopback: dict[str, ipaddress.IPv4Address] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    odd: list[OddTarget] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    rate_limited: set[str] = field(default_factory=set)
    outgoing_address: set[str] = field(default_factory=set)
    # router -> list of (prefix, next-hop addresses); several next hops share the load
    routes: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)

    def links_of(self, router: str) -> list[Link]:
        return [link for link in self.links if router in (link.u, link.v)]

    def members(self, asn: int) -> list[str]:
        return [router for router, of in self.asn_of.items() if of == asn]

    def targets(self) -> list[str]:
        """Every public address of the network, then an unused one of each AS, then the odd ones."""
        known = {addr for link in self.links for addr in (link.u_addr, link.v_addr)}
        known |= set(self.loopback.values()) | {host.addr for host in self.hosts.values()}
        targets = [addr for addr in sorted(known) if addr not in PRIVATE_LINK]
        targets += [system.prefix[-2] for system in ASES]
        targets += [odd.prefix[7] for odd in self.odd]
        return [str(addr) for addr in targets]

    def truth(self) -> dict:
        """What ground_truth.json holds."""
        border = collections.defaultdict(set)
        for link in self.links:
            if self.asn_of[link.u] != self.asn_of[link.v]:
                border[self.asn_of[link.u]].add(link.u)
                border[self.asn_of[link.v]].add(link.v)
        return {
            "asn_of": self.asn_of,
            "loopback": {router: str(addr) for router, addr in self.loopback.items()},
            "links": [
                {
                    "u": link.u,
                    "v": link.v,
                    "u_addr": str(link.u_addr),
                    "v_addr": str(link.v_addr),
                    "u_asn": self.asn_of[link.u],
                    "v_asn": self.asn_of[link.v],
                    "numbered_from": link.numbered_from,
                }
                for link in self.links
            ],
            "hosts": {
                name: {
                    "asn": host.asn,
                    "gw": host.gateway,
                    "addr": str(host.addr),
                    "gw_addr": str(host.gateway_addr),
                    "lan": str(host.lan),
                }
                for name, host in self.hosts.items()
            },
            "border_routers": {
                str(system.asn): sorted(border[system.asn], key=_router_number) for system in ASES
            },
            "prefixes": {str(system.asn): str(system.prefix) for system in ASES},
            "silent": sorted(self.silent, key=_router_number),
            "rate_limited": sorted(self.rate_limited, key=_router_number),
            "replies_with_outgoing_address": sorted(self.outgoing_address, key=_router_number),
            "odd_destinations": {
                str(odd.prefix): f"{odd.action} at {odd.owner}" for odd in self.odd
            },
        }


def plan_network(seed: int = SEED) -> Network:
    """Draw the network; the same seed gives the same network.

    Parameters
    ----------
    seed : int
        Of Python's generator (its sequence is the same in all versions for the calls used).

    Returns
    -------
    Network
        Connected, each AS connected inside, with the routes of every router.
    """
    rnd = random.Random(seed)
    network = Network()
    subnets = {system.asn: _subnets(system.prefix, rnd) for system in ASES}
    for system in ASES:
        _draw_inside(network, system, subnets[system.asn], rnd)
    for first, second, n_links, numbered in PEERINGS:
        ends = {asn: rnd.sample(network.members(asn), n_links) for asn in (first, second)}
        for u, v, side in zip(ends[first], ends[second], numbered, strict=True):
            asn = first if side == "1" else second
            # Either end may hold the lower address.
            u, v = (u, v) if rnd.random() < 0.5 else (v, u)
            network.links.append(_link(u, v, next(subnets[asn]), asn, 1))
    for i, system in enumerate(ASES):
        gateway = rnd.choice(network.members(system.asn))
        lan = list(system.prefix.subnets(new_prefix=29))[-3]
        network.hosts[f"h{i}"] = Host(system.asn, gateway, lan, lan[2], lan[1])
    routers = list(network.asn_of)
    network.silent = set(rnd.sample(routers, N_SILENT))
    solver = [router for router in routers if router not in network.silent]
    network.rate_limited = set(rnd.sample(solver, N_RATE_LIMITED))
    network.outgoing_address = set(rnd.sample(solver, N_OUTGOING_ADDRESS))
    for system, action in zip(
        (ASES[2], ASES[3], ASES[4], ASES[5]),
        ("loop", "unreachable", "prohibit", "blackhole"),
        strict=True,
    ):
        prefix = list(system.prefix.subnets(new_prefix=26))[-4]
        network.odd.append(OddTarget(prefix, rnd.choice(network.members(system.asn)), action))
    _route(network)
    return network


def _router_number(router: str) -> int:
    return int(router[1:])


def _subnets(prefix: ipaddress.IPv4Network, rnd: random.Random):
    """Hand out /30 and /31 subnets from the second eighth of a prefix, in any order of the two."""
    free = int(prefix.network_address) + prefix.num_addresses // 8
    while True:
        length = rnd.choice((30, 31))
        size = 1 << (32 - length)
        free = (free + size - 1) // size * size
        yield ipaddress.IPv4Network((free, length))
        free += size


def _link(u: str, v: str, subnet: ipaddress.IPv4Network, numbered_from: int, cost: int) -> Link:
    first = 0 if subnet.prefixlen == 31 else 1
    return Link(u, v, subnet[first], subnet[first + 1], subnet, numbered_from, cost)


def _draw_inside(network: Network, system: AutonomousSystem, subnets, rnd: random.Random) -> None:
    """Routers of one AS, their loopbacks and the links between them."""
    first = len(network.asn_of) + 1
    names = [f"r{first + i}" for i in range(system.n_routers)]
    for i, name in enumerate(names):
        network.asn_of[name] = system.asn
        network.loopback[name] = system.prefix[i + 1]
    n = len(names)
    if system.shape == "ring":
        pairs = {(i, (i + 1) % n) for i in range(n)}
    else:
        pairs = {(rnd.randrange(i), i) for i in range(1, n)}
    linked = {frozenset(pair) for pair in pairs}
    while len(linked) < len(pairs) + system.chords:
        linked.add(frozenset(rnd.sample(range(n), 2)))
    for i, pair in enumerate(sorted(sorted(pair) for pair in linked)):
        u, v = rnd.sample([names[k] for k in pair], 2)
        private = system is ASES[0] and i == 3
        subnet = PRIVATE_LINK if private else next(subnets)
        network.links.append(_link(u, v, subnet, system.asn, rnd.choice((1, 1, 2, 3))))


def _distances(network: Network, asn: int, owners: list[str]) -> dict[str, int]:
    """IGP cost from each router of an AS to its nearest owner (Dijkstra)."""
    distance = dict.fromkeys(owners, 0)
    queue = [(0, owner) for owner in owners]
    while queue:
        d, router = heapq.heappop(queue)
        if d > distance[router]:
            continue
        for link in network.links_of(router):
            neighbor = link.other(router)
            if network.asn_of[neighbor] == asn and d + link.cost < distance.get(neighbor, 1 << 30):
                distance[neighbor] = d + link.cost
                heapq.heappush(queue, (distance[neighbor], neighbor))
    return distance


def _route_inside(network: Network, asn: int, prefix: str, owners: list[str]) -> None:
    """Send a prefix to its nearest owner over all equal-cost paths."""
    distance = _distances(network, asn, owners)
    for router in network.members(asn):
        if router in owners:
            continue
        hops = [
            str(link.addr(link.other(router)))
            for link in network.links_of(router)
            if network.asn_of[link.other(router)] == asn
            and distance[link.other(router)] + link.cost == distance[router]
        ]
        network.routes[router].append((prefix, sorted(hops)))


def _route(network: Network) -> None:
    """Fill ``network.routes``: inside each AS by cost, between ASes by path length, then exit."""
    network.routes = {router: [] for router in network.asn_of}
    neighbors = collections.defaultdict(set)
    for link in network.links:
        pair = {network.asn_of[link.u], network.asn_of[link.v]}
        for asn in pair:
            neighbors[asn] |= pair - {asn}
    for system in ASES:
        asn = system.asn
        for router in network.members(asn):
            _route_inside(network, asn, f"{network.loopback[router]}/32", [router])
        for link in network.links:
            ends = [end for end in (link.u, link.v) if network.asn_of[end] == asn]
            if link.numbered_from == asn and ends:
                _route_inside(network, asn, str(link.subnet), ends)
        for host in network.hosts.values():
            if host.asn == asn:
                _route_inside(network, asn, str(host.lan), [host.gateway])
        for odd in network.odd:
            if network.asn_of[odd.owner] == asn:
                _route_inside(network, asn, str(odd.prefix), [odd.owner])
    for system in ASES:
        hops = _as_hops(neighbors, system.asn)
        for asn in hops:
            if asn != system.asn:
                closer = {near for near in neighbors[asn] if hops[near] == hops[asn] - 1}
                _route_outside(network, asn, str(system.prefix), closer)


def _as_hops(neighbors: dict[int, set[int]], asn: int) -> dict[int, int]:
    """AS path length from every AS to one."""
    hops, queue = {asn: 0}, collections.deque([asn])
    while queue:
        here = queue.popleft()
        for near in sorted(neighbors[here]):
            if near not in hops:
                hops[near] = hops[here] + 1
                queue.append(near)
    return hops


def _route_outside(network: Network, asn: int, prefix: str, closer: set[int]) -> None:
    """Send a prefix of another AS to the nearest router with a link to one of ``closer``."""
    exits = {
        router: [
            str(link.addr(link.other(router)))
            for link in network.links_of(router)
            if network.asn_of[link.other(router)] in closer
        ]
        for router in network.members(asn)
    }
    owners = [router for router, hops in exits.items() if hops]
    for router in owners:
        network.routes[router].append((prefix, exits[router][:1]))
    _route_inside(network, asn, prefix, owners)
