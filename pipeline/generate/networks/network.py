"""A network: routers, links, exchange points, how routers answer, customers and vantage points."""

from __future__ import annotations

import copy
from collections import defaultdict
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network
from random import Random
from typing import Literal

from pipeline.generate.networks.ases import CUSTOMER, PEER, Ases, attach, draw_ases
from pipeline.generate.networks.numbering import Net, Numbering
from pipeline.generate.networks.plan import Plan

LinkKind = Literal["inner", "customer", "peer", "exchange"]


@dataclass(frozen=True, eq=False)
class Link:
    """A link between two routers; ``numbered_by``: the AS, or that of the exchange point."""

    ends: tuple[int, int]
    addrs: tuple[str, str]
    cost: int
    kind: LinkKind
    numbered_by: int
    exchange: str = ""

    def other(self, router: int) -> int:
        return self.ends[1] if router == self.ends[0] else self.ends[0]

    def addr(self, router: int) -> str:
        return self.addrs[0] if router == self.ends[0] else self.addrs[1]


@dataclass(eq=False)
class Exchange:
    """An exchange point; ``members``: router to its address on the LAN."""

    name: str
    asn: int
    lan: Net
    announced: str
    members: dict[int, str]
    announced_by: int | None = None


@dataclass(eq=False)
class Block:
    """Customers behind one gateway, or several where it is anycast; ``target``: what is traced.

    ``router``: whose address the target is; None: it is a host's. ``dead``: no host answers.
    """

    prefix: Net
    asn: int
    gateways: tuple[int, ...]
    answers: bool
    target: str
    zombie: bool
    loops: bool
    router: int | None = None
    dead: bool = False


@dataclass(frozen=True)
class Vantage:
    """A host that measures, in a customer's block."""

    name: str
    asn: int
    gateway: int
    addr: str
    gateway_addr: str
    lan: str


@dataclass(eq=False)
class Answers:
    """Routers and ASes that answer in unusual ways."""

    silent: set[int] = field(default_factory=set)
    limited: set[int] = field(default_factory=set)
    outgoing: set[int] = field(default_factory=set)
    loopback: set[int] = field(default_factory=set)
    zero_ttl: set[int] = field(default_factory=set)
    tunnels: set[int] = field(default_factory=set)  # ASes from here on
    ultimate_hop: set[int] = field(default_factory=set)
    rewriting: set[int] = field(default_factory=set)
    carrier_nat: set[int] = field(default_factory=set)
    firewalled: set[int] = field(default_factory=set)
    only_border: set[int] = field(default_factory=set)

    def is_shut(self, asn: int) -> bool:
        """Whether nothing behind the border of an AS answers."""
        return asn in self.firewalled or asn in self.only_border

    def copy(self) -> Answers:
        """The same, to be altered."""
        return Answers(*(set(each) for each in vars(self).values()))


class Network:
    """A network as its plan and seed draw it.

    Routers are numbers from 0 on. ``places``: routers of each AS to which other ASes and customers
    are connected; all but the inner ones of diamonds.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._random = random = Random(plan.seed)
        self.ases: Ases = draw_ases(plan, random)
        self.numbering = Numbering(plan, random, self.ases)
        self.asn_of: list[int] = []
        self.loopback: list[str] = []
        self.routers: dict[int, list[int]] = defaultdict(list)
        self.places: dict[int, list[int]] = {}
        self.links: list[Link] = []
        self.links_of: dict[int, list[Link]] = defaultdict(list)
        self.exchanges: list[Exchange] = []
        for asn in self.ases.tier:
            self._draw_inside(asn)
        self._join_ases()
        for at, share in enumerate(plan.exchange_members):
            self._draw_exchange(at, share)
        self.answers = self._draw_answers()
        self.blocks = [block for asn in self.ases.tier for block in self._draw_blocks(asn)]
        self.vantages = self._draw_vantages()
        self.origins: list[tuple[Net, str]] = []  # of the prefix table: AS, or several
        self.unusual_origins: dict[int, str] = {}
        self._draw_origins()

    def copy(self) -> Network:
        """The same network, to be altered; the links themselves are shared, and never change."""
        other = copy.copy(self)
        other._random = Random()
        other._random.setstate(self._random.getstate())
        other.ases = self.ases.copy()
        other.numbering = self.numbering.copy(other._random)
        other.asn_of, other.loopback = list(self.asn_of), list(self.loopback)
        other.routers = defaultdict(list, {asn: list(own) for asn, own in self.routers.items()})
        other.links = list(self.links)
        other.links_of = defaultdict(list, {at: list(own) for at, own in self.links_of.items()})
        other.answers = self.answers.copy()
        other.blocks = [replace(block) for block in self.blocks]
        other.origins = list(self.origins)
        other.unusual_origins = dict(self.unusual_origins)
        return other

    def add_router(self, asn: int) -> int:
        """A new router of an AS, without links; its number."""
        router = len(self.asn_of)
        self.asn_of.append(asn)
        self.loopback.append(self.numbering.router(asn, len(self.routers[asn])))
        self.routers[asn].append(router)
        return router

    def _add_link(
        self, one: int, other: int, asn: int, kind: LinkKind, cost: int = 1, private: bool = False
    ) -> None:
        link = Link((one, other), self.numbering.link(asn, private), cost, kind, asn)
        self.connect(link)

    def connect(self, link: Link) -> None:
        """Add a link."""
        self.links.append(link)
        for router in link.ends:
            self.links_of[router].append(link)

    def _draw_inside(self, asn: int) -> None:
        """Routers of an AS and the links between them: a ring with chords, or a tree."""
        plan, random, tier = self.plan, self._random, self.ases.tier[asn]
        least, most = getattr(plan, tier)
        n = random.randint(least, most)
        if tier == "stub" and random.random() < plan.single_router:
            n = 1
        if plan.diamonds and tier in ("tier1", "transit"):
            self._draw_diamonds(asn, min(n, 5 if tier == "transit" else 7))
            return
        routers = [self.add_router(asn) for _ in range(n)]
        self.places[asn] = routers
        pairs = {(min(at, (at + 1) % n), max(at, (at + 1) % n)) for at in range(n)}
        pairs = {(one, other) for one, other in pairs if one != other}
        if tier in ("regional", "stub") and random.random() < 0.5:
            pairs = {(random.randrange(at), at) for at in range(1, n)}
        if plan.attachment:
            pairs = set(attach(random, n, plan.attachment))
        elif n > 4:
            while len(pairs) < n * 1.4:
                one, other = sorted(random.sample(range(n), 2))
                pairs.add((one, other))
        numbered_by = asn if tier == "stub" else self.ases.owner[asn]
        private = asn in self.numbering.private
        for one, other in sorted(pairs):
            cost = 1 if plan.attachment else random.choice((1, 1, 2, 3))
            by = asn if private else numbered_by
            self._add_link(routers[one], routers[other], by, "inner", cost, private)

    def _draw_diamonds(self, asn: int, n: int) -> None:
        """A ring of routers with parallel ways of equal cost between neighbors."""
        routers = self.places[asn] = [self.add_router(asn) for _ in range(n)]
        for at in range(n if n > 2 else n - 1):
            here, there = routers[at], routers[(at + 1) % n]
            for branch in range(self._random.choice(self.plan.diamonds)):
                one = self.add_router(asn)
                if branch % 3 == 2 and self.plan.uneven:
                    two = self.add_router(asn)
                    for ends in ((here, one), (one, two), (two, there)):
                        self._add_link(*ends, asn, "inner", 2)
                else:
                    for ends in ((here, one), (one, there)):
                        self._add_link(*ends, asn, "inner", 3)

    def _join_ases(self) -> None:
        """Links for each relationship, between routers drawn at random."""
        plan, random, ases = self.plan, self._random, self.ases
        for (one, other), kind in list(ases.relationship.items()):
            n = 1 + (random.random() < plan.second_link and len(self.routers[one]) > 1)
            has_cloud = "cloud" in (ases.tier[one], ases.tier[other])
            if ases.are_siblings(one, other) or (
                has_cloud and kind == PEER and random.random() < 0.4
            ):
                n = 2
            used: set[int] = set()
            for _ in range(n):
                here, there = random.choice(self.places[one]), random.choice(self.places[other])
                if here in used:
                    continue
                used.add(here)
                if kind == CUSTOMER:
                    by = one if random.random() < plan.from_provider else other
                    by = one if other in self.numbering.aggregate else by
                else:
                    pair = min(one, other), max(one, other)
                    by = (
                        random.choice((one, other))
                        if plan.from_peer == "either"
                        else pair[plan.from_peer == "higher"]
                    )
                self._add_link(here, there, by, "customer" if kind == CUSTOMER else "peer")

    def _draw_joining(self, share: float) -> list[int]:
        """Members of an exchange point: a share of the ASes, or of pairs that peer already."""
        random, ases = self._random, self.ases
        if self.plan.relationships == "measured":
            # Drawn one by one, hardly two of them would be peers.
            pairs = [
                pair
                for pair, kind in ases.relationship.items()
                if kind == PEER
                and "tier1" not in (ases.tier[pair[0]], ases.tier[pair[1]])
                and random.random() < share
            ]
            random.shuffle(pairs)
            return list(dict.fromkeys(asn for pair in pairs for asn in pair))
        of_stubs = share * (0.7 if share > 0.9 else 0.25)
        joining = [
            asn
            for asn, tier in ases.tier.items()
            if tier != "tier1" and random.random() < (of_stubs if tier == "stub" else share)
        ]
        random.shuffle(joining)
        return joining

    def _draw_exchange(self, number: int, share: float) -> None:
        plan, random, ases = self.plan, self._random, self.ases
        joining = self._draw_joining(share)
        lan = self.numbering.exchange(len(joining))
        room = min(lan.num_addresses - 10, 900)
        members = {
            random.choice(self.places[asn]): str(lan.network_address + 2 + at)
            for at, asn in enumerate(joining[:room])
        }
        announced = plan.exchange_announced[number % len(plan.exchange_announced)]
        exchange = Exchange(f"ix{number}", ases.spare[number], lan, announced, members)
        routers = sorted(members)
        if announced == "member" and routers:
            exchange.announced_by = self.asn_of[routers[0]]
        for at, one in enumerate(routers):
            for other in routers[:at]:
                here, there = self.asn_of[one], self.asn_of[other]
                if ases.between(here, there) is None and random.random() < plan.exchange_peering:
                    ases.relate(here, there, PEER)
                if ases.between(here, there) == PEER:
                    addrs = (members[one], members[other])
                    link = Link((one, other), addrs, 1, "exchange", exchange.asn, exchange.name)
                    self.connect(link)
        self.exchanges.append(exchange)

    def _draw_answers(self) -> Answers:
        plan, random, tier = self.plan, self._random, self.ases.tier
        routers = list(range(len(self.asn_of)))

        def draw(*shares: float) -> list[set[int]]:
            """Disjoint sets of routers."""
            random.shuffle(routers)
            at, found = 0, []
            for share in shares:
                end = at + round(len(routers) * share)
                found.append(set(routers[at:end]))
                at = end
            return found

        def draw_ases(share: float, asns: list[int]) -> set[int]:
            return {asn for asn in asns if random.random() < share}

        silent, limited = draw(plan.silent, plan.limited)
        outgoing, loopback = draw(plan.outgoing, plan.loopback)
        (zero_ttl,) = draw(plan.zero_ttl)
        large = [asn for asn in tier if tier[asn] in ("tier1", "transit", "cloud")]
        tunnels = draw_ases(plan.tunnels, large)
        return Answers(
            silent,
            limited,
            outgoing,
            loopback,
            zero_ttl,
            tunnels,
            draw_ases(plan.ultimate_hop, sorted(tunnels)),
            draw_ases(plan.rewriting, self.ases.of("stub")),
            draw_ases(plan.carrier_nat, self.ases.of("stub", "regional")),
            *self._draw_shut(),
        )

    def _draw_shut(self) -> tuple[set[int], set[int]]:
        """Stubs of which nothing answers, and of which the border alone does.

        What is drawn changes nothing else.
        """
        random = Random(f"{self.plan.seed} firewalls")
        firewalled, only_border = set(), set()
        for asn in self.ases.of("stub"):
            if random.random() < self.plan.firewalled:
                firewalled.add(asn)
            elif random.random() < self.plan.only_border:
                only_border.add(asn)
        return firewalled, only_border

    def _draw_blocks(self, asn: int) -> list[Block]:
        plan, random, tier = self.plan, self._random, self.ases.tier[asn]
        numbers = dict(
            zip(("stub", "regional", "transit", "tier1", "cloud"), plan.blocks, strict=True)
        )
        drawn = []
        for _ in range(numbers[tier]):
            small = asn in self.numbering.aggregate
            numbering = self.numbering
            prefix = numbering.stub_customers(asn) if small else numbering.customers(asn)
            gateways: tuple[int, ...] = (random.choice(self.places[asn]),)
            answers = random.random() < plan.hosts_answer and not self.answers.is_shut(asn)
            if tier == "cloud" and plan.anycast and random.random() < 0.5:
                places = self.places[asn]
                gateways = tuple(random.sample(places, min(6, len(places))))
            host = 1 if answers else random.randrange(10, 60)
            zombie = not answers and random.random() < plan.zombies
            loops = not answers and tier == "stub" and random.random() < plan.loops
            target = str(prefix.network_address + host)
            drawn.append(Block(prefix, asn, gateways, answers, target, zombie, loops))
        return drawn

    def blocks_of_routers(self) -> list[Block]:
        """One for each address of a router that is announced, in the order of addresses."""
        own: list[tuple[str, int, int, tuple[int, ...]]] = [
            (addr, router, self.asn_of[router], (router,))
            for router, addr in enumerate(self.loopback)
        ]
        for link in self.links:
            by = link.numbered_by
            near = tuple(router for router in link.ends if self.asn_of[router] == by)
            if near and by not in self.numbering.private and by not in self.numbering.unannounced:
                own += [(link.addr(router), router, by, near) for router in link.ends]
        return [
            Block(ip_network(addr), asn, gateways, True, addr, False, False, router)
            for addr, router, asn, gateways in sorted(own, key=lambda one: ip_address(one[0]))
        ]

    def _draw_vantages(self) -> list[Vantage]:
        """One vantage point in each of some ASes; several in a cloud."""
        plan, random, tier = self.plan, self._random, self.ases.tier
        at_edge = [b for b in self.blocks if tier[b.asn] in ("stub", "regional", "transit")]
        at_edge = [b for b in at_edge if not self.answers.is_shut(b.asn)]
        open_blocks = at_edge
        if plan.vantage_in_cloud:
            in_clouds = [b for b in self.blocks if tier[b.asn] == "cloud" and len(b.gateways) == 1]
            n = min(plan.n_vantage_points, len(at_edge))
            open_blocks = in_clouds + random.sample(at_edge, n)
        random.shuffle(open_blocks)
        chosen: list[Vantage] = []
        seen: set[int] = set()
        for block in open_blocks:
            if len(chosen) == plan.n_vantage_points:
                break
            if block.asn in seen and tier[block.asn] != "cloud":
                continue
            seen.add(block.asn)
            first = block.prefix.network_address
            name = f"h{len(chosen)}"
            addrs = str(first + 2), str(first + 5)
            chosen.append(Vantage(name, block.asn, block.gateways[0], *addrs, str(block.prefix)))
        return chosen

    def _draw_origins(self) -> None:
        """The prefix table: mostly the AS that holds a prefix, as RouteViews shows it."""
        plan, random, ases, numbering = self.plan, self._random, self.ases, self.numbering
        for asn, tier in ases.tier.items():
            if asn in numbering.aggregate:
                continue
            text = str(asn)
            if tier == "stub" and random.random() < plan.multi_origin:
                other = random.choice(ases.providers[asn])
                text = f"{other}_{asn}" if random.random() < 0.5 else f"{asn}_{other}"
                self.unusual_origins[asn] = text
            if random.random() < plan.stale_origins:
                text = str(random.choice([other for other in ases.tier if other != asn]))
                self.unusual_origins[asn] = f"stale {text}"
            self.origins.append((numbering.prefix[asn], text))
            if plan.siblings_announce and ases.owner[asn] != asn:
                self.origins.append((_second_half(numbering.prefix[asn]), str(ases.owner[asn])))
        between = ases.of("transit", "regional")
        for asn in random.sample(between, min(len(between), plan.leaked)):
            by = random.choice(ases.customers[asn] + ases.peers[asn] + ases.providers[asn])
            block = numbering.infrastructure[asn]
            length = max(block.prefixlen, 24 if numbering.version == 4 else 48)
            part: Net = ip_network((block.network_address, length))
            self.origins.append((part, str(by)))
            self.unusual_origins[asn] = f"leaked to {by}"
        for exchange in self.exchanges:
            by_asn = {"ixp": exchange.asn, "member": exchange.announced_by}
            if (origin := by_asn.get(exchange.announced)) is not None:
                self.origins.append((exchange.lan, str(origin)))
        self.origins = [row for origin in self.origins for row in self._share(*origin)]

    def _share(self, net: Net, text: str) -> list[tuple[Net, str]]:
        """Rows of a prefix with its origin; of some, they or their second half have two.

        Real tables have such prefixes: a provider, an AS of the same owner or a stranger announces
        a prefix too, or a part of it. What is drawn changes nothing else.
        """
        random = Random(f"{self.plan.seed} second origin of {net}")
        if not text.isdecimal() or random.random() >= self.plan.second_origins:
            return [(net, text)]
        own, ases = int(text), self.ases
        near = ases.providers[own] + ases.peers[own] + ases.customers[own] or list(ases.tier)
        stranger = 4_200_000_000 + random.randrange(1000)  # announces nothing else
        other = random.choice((random.choice(near), random.choice(list(ases.tier)), stranger))
        both = "_".join(map(str, random.sample((own, other), 2)))
        if other == own:
            return [(net, text)]
        if random.random() < 0.5:
            return [(net, both)]
        return [(net, text), (_second_half(net), both)]


def _second_half(net: Net) -> Net:
    first = net.network_address + net.num_addresses // 2
    return ip_network((first, net.prefixlen + 1))
