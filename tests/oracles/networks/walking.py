"""Ways of packets in plain Python: there, as traceroute counts hops, and back."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Literal

from pipeline.generate.networks.arrays import initial_ttl
from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Block, Link, Network, Vantage
from tests.oracles.networks.routing import Routes

_MOST_HOPS = 60


@dataclass(frozen=True)
class Step:
    """A router on a way, the address that the packet came in by, milliseconds up to there."""

    router: int
    addr: str
    ms: float


@dataclass(frozen=True)
class Way:
    """Routers that use up a TTL, in turn, and how it ends: delivered, no route, or never."""

    steps: tuple[Step, ...]
    end: Literal["gateway", "no route", "endless"]


def choose(links: list[Link], flow: str, router: int) -> Link:
    """One of several equal links, the same for all packets of a flow."""
    if len(links) == 1:
        return links[0]
    return links[zlib.crc32(f"{flow}@{router}".encode()) % len(links)]


class Walks:
    """Ways through a network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._routes = Routes(network)
        self._delays = Delays(network)
        self._back: dict[int, tuple[int, float]] = {}  # of routers, to the last vantage point
        self._back_to = ""

    @property
    def delays(self) -> Delays:
        return self._delays

    def there(self, vantage: Vantage, block: Block, flow: str) -> Way:
        """From a vantage point to a block.

        A router of a tunnel does not use up a TTL. With ultimate-hop popping the last one does not
        either, and the next router answers twice; so it does after one that forwards a TTL of 0.
        """
        network, answers = self._network, self._network.answers
        router, addr, ms = vantage.gateway, vantage.gateway_addr, self._delay_of_host(vantage)
        steps: list[Step] = []
        twice = False
        for _ in range(_MOST_HOPS):
            steps += [Step(router, addr, ms)] * (2 if twice else 1)
            twice = False
            links = self._routes.links_toward(router, block.asn, block.gateways)
            if not links:
                return Way(tuple(steps), "gateway" if links is None else "no route")
            link = choose(links, flow, router)
            ms += self._delays.of(link)
            at, asn = link.other(router), network.asn_of[router]
            if asn in answers.tunnels and network.asn_of[at] == asn:
                while further := self._routes.links_toward(at, block.asn, block.gateways):
                    follow = choose(further, flow, at)
                    if network.asn_of[follow.other(at)] != asn:
                        break
                    link, ms = follow, ms + self._delays.of(follow)
                    at = link.other(at)
                if asn in answers.ultimate_hop and further:
                    link, ms = follow, ms + self._delays.of(follow)
                    at, twice = link.other(at), True
            if at in answers.zero_ttl and not twice:
                further = self._routes.links_toward(at, block.asn, block.gateways)
                if further:
                    link = choose(further, flow, at)
                    ms += self._delays.of(link)
                    at, twice = link.other(at), True
            router, addr = at, link.addr(at)
        return Way(tuple(steps), "endless")

    def back(self, router: int, vantage: Vantage) -> tuple[int, float]:
        """TTL that is left of a reply when it arrives, and milliseconds that it took.

        Where a tunnel starts, a TTL of its own of 255 counts its routers; where it ends, the
        smaller of the two stays. So what started with 255 has counted them, what started with 64
        has not (Y. Vanaubel et al., "Through the wormhole: tracking invisible MPLS tunnels", IMC
        2017).
        """
        if vantage.name != self._back_to:
            self._back, self._back_to = {}, vantage.name
        if router not in self._back:
            self._back[router] = self._walk_back(router, vantage)
        return self._back[router]

    def _walk_back(self, router: int, vantage: Vantage) -> tuple[int, float]:
        network = self._network
        ttl, inside, ms = initial_ttl(router), 255, self._delay_of_host(vantage)
        flow = f"back{vantage.addr}"
        at = router
        for _ in range(_MOST_HOPS):
            links = self._routes.links_toward(at, vantage.asn, (vantage.gateway,))
            if not links:
                break
            link = choose(links, flow, at)
            ms += self._delays.of(link)
            here, at = at, link.other(at)
            asn = network.asn_of[here]
            if asn in network.answers.tunnels and network.asn_of[at] == asn:
                inside -= 1
            else:
                ttl, inside = min(ttl, inside) - 1, 255
        return min(ttl, inside), ms

    def outgoing(self, router: int, vantage: Vantage) -> str | None:
        """Address of the interface by which a router sends a reply; None: there is no way back."""
        links = self._routes.links_toward(router, vantage.asn, (vantage.gateway,))
        if links is None:
            return vantage.gateway_addr
        return choose(links, f"back{vantage.addr}", router).addr(router) if links else None

    def _delay_of_host(self, vantage: Vantage) -> float:
        return 0.1 + zlib.crc32(vantage.addr.encode()) % 100 / 50
