"""The networks on which nights are judged, and what traceroute would say of them.

Random ASes, routers and links; routes by fewest AS hops, then nearest egress; equal-cost paths by
a hash of the destination. Routers answer with the address that packets came in by, or with the
one that answers go out by, or not at all, or sometimes. What is drawn, and how links are
numbered, is all given by ``Plan``.

Other networks are those of ``tests.oracles.networks``. These stay, since what docs/changes.md says
about nights was counted on them, and since a network that was altered is traced again in
milliseconds.
"""

from __future__ import annotations

import ipaddress
import itertools
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from pipeline.model.addresses import V4_PREFIX
from pipeline.model.measured.traces import KIND_ECHO_REPLY, KIND_TIME_EXCEEDED, TraceBatch

BASE = int(ipaddress.ip_address("20.0.0.0"))  # public space
AS_BITS = 14  # each AS has a /18
MOST_HOPS = 30
HOST = -1  # in the place of a router


@dataclass(frozen=True)
class Plan:
    """What a network looks like; shares are of all routers."""

    seed: int = 0
    n_ases: int = 12
    routers_per_as: int = 14
    links_per_router: int = 2  # that each new router of an AS brings
    links_per_as: int = 2  # inter-AS links that each new AS brings
    numbered: str = "min"  # whose addresses an inter-AS link has: min, max, random, larger
    slash31: bool = False
    silent: float = 0.05
    limited: float = 0.10  # answer half of the time
    outgoing: float = 0.20  # answer with the address toward the prober
    n_vantages: int = 12
    target_share: float = 1.0  # of all addresses, that each vantage traces to


@dataclass
class Network:
    """Truth: routers, links and addresses, as numbers."""

    plan: Plan
    asn: list[int] = field(default_factory=list)
    neighbors: list[list[int]] = field(default_factory=list)
    addr: dict[tuple[int, int], int] = field(default_factory=dict)  # (router, neighbour) -> addr
    owner: dict[int, int] = field(default_factory=dict)  # addr -> router
    loopback: list[int] = field(default_factory=list)
    gateways: list[tuple[int, int]] = field(default_factory=list)  # (router, host address)
    silent: set[int] = field(default_factory=set)
    limited: set[int] = field(default_factory=set)
    outgoing: set[int] = field(default_factory=set)

    @property
    def links(self) -> set[tuple[int, int]]:
        return {(u, v) for u, near in enumerate(self.neighbors) for v in near if u < v}

    @property
    def border_routers(self) -> set[int]:
        return {
            u
            for u, near in enumerate(self.neighbors)
            if any(self.asn[v] != self.asn[u] for v in near)
        }


def _attach(rng: np.random.Generator, n: int, m: int) -> list[tuple[int, int]]:
    """Preferential attachment: edges of a graph of n nodes, m by each new one."""
    edges, ends = [], [0]
    for new in range(1, n):
        chosen: set[int] = set()
        while len(chosen) < min(m, new):
            chosen.add(int(ends[rng.integers(len(ends))]))
        for old in sorted(chosen):
            edges.append((old, new))
            ends += [old, new]
    return edges


def make_network(plan: Plan) -> Network:
    """Draw a network by its plan."""
    rng = np.random.default_rng(plan.seed)
    net = Network(plan)
    sizes = rng.integers(
        max(2, plan.routers_per_as // 2), plan.routers_per_as * 3 // 2 + 1, plan.n_ases
    )
    members: list[list[int]] = []
    for a, size in enumerate(sizes.tolist()):
        first = len(net.asn)
        members.append(list(range(first, first + size)))
        net.asn += [100 + a] * size
        net.neighbors += [[] for _ in range(size)]
    edges = []
    for group in members:
        edges += [(group[u], group[v]) for u, v in _attach(rng, len(group), plan.links_per_router)]
    taken = set(edges)
    for one, other in _attach(rng, plan.n_ases, plan.links_per_as):
        for _ in range(int(rng.integers(1, 3))):  # one or two places where two ASes meet
            u, v = int(rng.choice(members[one])), int(rng.choice(members[other]))
            if (u, v) not in taken:
                taken.add((u, v))
                edges.append((u, v))
    used = [0] * plan.n_ases
    step = 2 if plan.slash31 else 4
    for i in rng.permutation(len(edges)).tolist():
        u, v = edges[i]
        a, b = net.asn[u] - 100, net.asn[v] - 100
        numbered = {
            "min": min(a, b),
            "max": max(a, b),
            "random": a if rng.random() < 0.5 else b,
            "larger": a if (sizes[a], -a) > (sizes[b], -b) else b,
        }[plan.numbered]
        at = BASE + (numbered << AS_BITS) + used[numbered]
        used[numbered] += step
        first, second = (at, at + 1) if plan.slash31 else (at + 1, at + 2)
        if rng.random() < 0.5:
            first, second = second, first
        for x, y, address in ((u, v, first), (v, u, second)):
            net.addr[x, y] = address
            net.owner[address] = x
            net.neighbors[x].append(y)
    for u, asn in enumerate(net.asn):
        address = BASE + ((asn - 100) << AS_BITS) + (3 << (AS_BITS - 2)) + u - members[asn - 100][0]
        net.loopback.append(address)
        net.owner[address] = u
    for a in rng.permutation(plan.n_ases)[: plan.n_vantages].tolist():
        gateway = int(rng.choice(members[a]))
        at = BASE + (a << AS_BITS) + (15 << (AS_BITS - 4))
        net.owner[at + 1] = gateway
        net.gateways.append((gateway, at + 2))
    order = rng.permutation(len(net.asn)).tolist()
    cut = [round(len(order) * share) for share in (plan.silent, plan.limited)]
    net.silent = set(order[: cut[0]])
    net.limited = set(order[cut[0] : cut[0] + cut[1]])
    net.outgoing = set(rng.permutation(len(net.asn))[: round(len(order) * plan.outgoing)].tolist())
    return net


class _Routes:
    """Next hop of every router toward every router, through the AS that announces an address."""

    def __init__(self, net: Network) -> None:
        self.net = net
        self._inside: dict[tuple[int, int], dict[int, int]] = {}
        self._egress: dict[tuple[int, int], tuple[dict[int, int], dict[int, int]]] = {}
        self._best: dict[tuple[int, int, int], list[int]] = {}
        as_neighbors: dict[int, set[int]] = {asn: set() for asn in net.asn}
        for u, v in net.links:
            if net.asn[u] != net.asn[v]:
                as_neighbors[net.asn[u]].add(net.asn[v])
                as_neighbors[net.asn[v]].add(net.asn[u])
        self._next_as: dict[tuple[int, int], int] = {}
        for target in as_neighbors:
            hops = {target: 0}
            queue = deque([target])
            while queue:
                x = queue.popleft()
                for y in sorted(as_neighbors[x]):
                    if y not in hops:
                        hops[y] = hops[x] + 1
                        queue.append(y)
            for asn, near in as_neighbors.items():
                if asn != target and asn in hops:
                    best = [y for y in near if hops.get(y, 1 << 30) == hops[asn] - 1]
                    self._next_as[asn, target] = min(best)

    def _distances(self, sources: tuple[int, ...], asn: int) -> dict[int, int]:
        net = self.net
        hops = dict.fromkeys(sources, 0)
        queue = deque(sources)
        while queue:
            x = queue.popleft()
            for y in net.neighbors[x]:
                if y not in hops and net.asn[y] == asn:
                    hops[y] = hops[x] + 1
                    queue.append(y)
        return hops

    def next_hop(self, here: int, owners: tuple[int, ...], asn: int, flow: int) -> int | None:
        """Router after ``here`` toward an address that ``asn`` announces, one of ``owners``."""
        net = self.net
        if net.asn[here] == asn:
            key = (owners[0], owners[-1])
            if key not in self._inside:
                own = tuple(o for o in owners if net.asn[o] == asn)
                self._inside[key] = self._distances(own, asn)
            hops = self._inside[key]
            best = self._nearer(here, hops)
        else:
            toward = self._next_as.get((net.asn[here], asn))
            if toward is None:
                return None
            pair = (net.asn[here], toward)
            if pair not in self._egress:
                ways = {
                    u: min(v for v in net.neighbors[u] if net.asn[v] == toward)
                    for u, other in enumerate(net.asn)
                    if other == pair[0] and any(net.asn[v] == toward for v in net.neighbors[u])
                }
                self._egress[pair] = (self._distances(tuple(ways), pair[0]), ways)
            hops, ways = self._egress[pair]
            if here in ways:
                return ways[here]
            if (here, *pair) not in self._best:
                self._best[here, *pair] = self._nearer(here, hops)
            best = self._best[here, *pair]
        return best[flow * 2654435761 % 4294967291 % len(best)] if best else None

    def _nearer(self, here: int, hops: dict[int, int]) -> list[int]:
        """Neighbours in the same AS that are a hop nearer."""
        net = self.net
        if here not in hops:
            return []
        return [
            v
            for v in net.neighbors[here]
            if net.asn[v] == net.asn[here] and hops.get(v, 1 << 30) == hops[here] - 1
        ]

    def walks(self, gateways: list[int], target: int, owners: tuple[int, ...]) -> list[list[int]]:
        """Routers on the way from each gateway to the first of the owners of an address."""
        announced = 100 + ((target - BASE) >> AS_BITS)
        onward: dict[int, int | None] = dict.fromkeys(owners, owners[0])  # over a connected link
        found = []
        for gateway in gateways:
            routers, here = [gateway], gateway
            while here != owners[0] and len(routers) < MOST_HOPS:
                if here not in onward:
                    onward[here] = self.next_hop(here, owners, announced, target)
                if (after := onward[here]) is None:
                    break
                here = after
                routers.append(here)
            found.append(routers)
        return found


@dataclass(frozen=True)
class _Walks:
    """Where packets go, whoever answers: pairs of a host that measures and a target, in order.

    One row a hop: the router, the addresses that packets came in by and that answers go out by,
    and whether it is the target that answers.
    """

    host: np.ndarray
    target: np.ndarray
    ptr: np.ndarray  # (n_pairs + 1,), rows of each pair
    ttl: np.ndarray
    router: np.ndarray
    entered: np.ndarray
    left: np.ndarray
    is_target: np.ndarray


@lru_cache(maxsize=4)
def _walks(asn, neighbors, addr, owner, loopback, gateways) -> _Walks:
    """Those of a network that has these parts, as tuples: once for all its seeds and nights."""
    net = Network(Plan(), asn, neighbors, dict(addr), dict(owner), loopback, gateways)
    routes = _Routes(net)
    firsts, numbers = [gateway for gateway, _ in gateways], [host for _, host in gateways]
    owners = {number: (net.owner[number],) for number in loopback}
    owners |= {number: ends for ends, number in net.addr.items()}
    owners |= {host: (gateway,) for gateway, host in gateways}
    ways = {target: routes.walks(firsts, target, owners[target]) for target in sorted(owners)}
    pairs, walks = [], []
    for turn, host in enumerate(numbers):
        for target, found in ways.items():
            if target != host:
                arrives = found[turn][-1] == owners[target][0]
                pairs.append((turn, target, arrives))
                walks.append(found[turn] + [HOST] * (arrives and target in numbers))
    ptr = np.cumsum([0, *map(len, walks)])
    router = np.array(list(itertools.chain(*walks)), np.int64)
    turn, target, arrives = np.array(pairs, np.int64).reshape(-1, 3).T
    is_target = np.zeros(len(router), bool)
    is_target[ptr[1:][arrives > 0] - 1] = True
    length = np.diff(ptr)
    of_target, of_host = np.repeat(target, length), np.repeat(np.array(numbers)[turn], length)
    entered, left = _addresses(net, routes, router, np.repeat(turn, length))
    first = np.zeros(len(router), bool)
    first[ptr[:-1]] = True
    near = np.repeat(np.array(firsts)[turn], length) == router
    return _Walks(
        np.array(numbers)[turn],
        target,
        ptr,
        np.arange(len(router)) - np.repeat(ptr[:-1], length) + 1,
        router,
        np.where(is_target, of_target, np.where(first, of_host - 1, entered)),
        np.where(is_target, of_target, np.where(near, of_host - 1, left)),
        is_target,
    )


def _addresses(net, routes: _Routes, router: np.ndarray, turn: np.ndarray):
    """By which packets come from the row before, and by which answers to a host go out."""
    n_routers = len(net.asn)
    of_link = np.zeros((n_routers + 1, n_routers + 1), np.int64)
    of_link[tuple(np.array(list(net.addr)).T)] = list(net.addr.values())
    back = np.zeros((n_routers + 1, len(net.gateways)), np.int64)
    for u, i in {*zip(router.tolist(), turn.tolist(), strict=True)}:
        gateway, host = net.gateways[i]
        if u not in (HOST, gateway):
            way = routes.next_hop(u, (gateway,), net.asn[gateway], host)
            back[u, i] = net.loopback[u] if way is None else net.addr[u, way]
    return of_link[router, np.roll(router, 1)], back[router, turn]


def measure(net: Network) -> TraceBatch:
    """Traceroutes from every vantage to its share of all addresses, ICMP, one reply per hop."""
    rng = np.random.default_rng(net.plan.seed + 1)
    near = tuple(map(tuple, net.neighbors))
    known = tuple(net.addr.items()), tuple(net.owner.items()), tuple(net.loopback)
    walks = _walks(tuple(net.asn), near, *known, tuple(net.gateways))
    silent, limited, outgoing = (
        np.isin(walks.router, list(group)) & ~walks.is_target
        for group in (net.silent, net.limited, net.outgoing)
    )
    unsure = np.flatnonzero(limited)
    bounds = itertools.pairwise(np.searchsorted(unsure, walks.ptr).tolist())
    luck, taken = np.zeros(len(limited)), np.zeros(len(walks.host), bool)
    for pair, (start, end) in enumerate(bounds):
        if rng.random() < net.plan.target_share:
            taken[pair] = True
            luck[unsure[start:end]] = rng.random(end - start)
    answers = ~silent & (luck < 0.5) & np.repeat(taken, np.diff(walks.ptr))
    ptr = np.append(0, np.cumsum(answers))[walks.ptr]
    ttl = walks.ttl[answers]
    rtt_ms = ttl.astype(np.float32) + rng.random(len(ttl), np.float32)
    return TraceBatch(
        _column(walks.host[taken]),
        _column(walks.target[taken]),
        np.zeros(taken.sum()),
        np.append(0, np.cumsum(np.diff(ptr)[taken])),
        ttl.astype(np.uint8),
        _column(np.where(outgoing, walks.left, walks.entered)[answers]),
        rtt_ms,
        np.where(walks.is_target, KIND_ECHO_REPLY, KIND_TIME_EXCEEDED)[answers].astype(np.uint8),
    )


def _column(numbers: np.ndarray) -> np.ndarray:
    low = numbers.astype(np.uint64) | V4_PREFIX
    return np.column_stack([np.zeros(len(low), np.uint64), low])


def pfx2as_lines(net: Network) -> str:
    """The prefix table of a network, as a CAIDA file has it."""
    return "".join(
        f"{ipaddress.ip_address(BASE + (a << AS_BITS))}\t{32 - AS_BITS}\t{100 + a}\n"
        for a in range(net.plan.n_ases)
    )
