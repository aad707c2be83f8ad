"""Routes in plain Python: Gao-Rexford between ASes, hot potato, equal-cost paths inside.

L. Gao and J. Rexford, "Stable Internet routing without global coordination", SIGMETRICS 2000:
routes of customers before those of peers before those of providers, then the shortest; an AS tells
peers and providers of its customers' routes alone.
"""

from __future__ import annotations

import heapq
from array import array

from pipeline.generate.networks.network import Link, Network

_FAR = 1 << 30
_OF_CUSTOMER, _OF_PEER, _OF_PROVIDER = 1, 2, 3  # by whose route an AS reaches another


class Routes:
    """Where packets go next, of a network; what was computed is kept.

    Of ten thousand ASes there are a hundred million pairs, so two numbers are kept of each: how
    long the route is, and whose.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        ases = network.ases
        self._ases = list(ases.tier)
        self._place_of = {asn: at for at, asn in enumerate(self._ases)}

        def places(near: dict[int, list[int]]) -> list[list[int]]:
            return [[self._place_of[other] for other in near[asn]] for asn in self._ases]

        self._above, self._below = places(ases.providers), places(ases.customers)
        self._beside = places(ases.peers)
        self._spreads: dict[int, tuple[array[int], bytearray]] = {}
        self._even: dict[int, dict[int, frozenset[int]]] = {}
        self._next_ases: dict[tuple[int, int], frozenset[int]] = {}
        self._same: dict[frozenset[int], frozenset[int]] = {}
        self._distances: dict[int, dict[int, int]] = {}
        self._next_links: dict[tuple[int, object], list[Link] | None] = {}
        self._exits: dict[tuple[int, frozenset[int]], dict[int, Link]] = {}

    def links_toward(self, router: int, asn: int, gateways: tuple[int, ...]) -> list[Link] | None:
        """Links over which a router sends packets for customers of an AS behind some gateways.

        Returns
        -------
        list of Link or None
            Of equal cost; empty: no route; None: the router delivers them itself.
        """
        here = self._network.asn_of[router]
        if here == asn:
            if router in gateways:
                return None
            key: tuple[int, object] = (router, gateways)
            if key not in self._next_links:
                gateway = min(gateways, key=lambda g: (self._distance(g).get(router, _FAR), g))
                self._next_links[key] = self._inside(router, gateway)
            return self._next_links[key]
        nexts = self.next_ases(here, asn)
        if not nexts:
            return []
        key = (router, nexts)
        if key not in self._next_links:
            exits = self._exits_of(here, nexts)
            found: list[Link] = []
            if exits:
                nearest = min(exits, key=lambda e: (self._distance(e).get(router, _FAR), e))
                is_exit = nearest == router
                found = [exits[nearest]] if is_exit else self._inside(router, nearest)
            self._next_links[key] = found
        return self._next_links[key]

    def next_ases(self, asn: int, destination: int) -> frozenset[int]:
        """ASes that an AS sends packets for another to, all equally good; empty: no route."""
        key = (asn, destination)
        if key not in self._next_ases:
            found = self._find_next(asn, destination)
            self._next_ases[key] = self._same.setdefault(found, found)
        return self._next_ases[key]

    def _find_next(self, asn: int, destination: int) -> frozenset[int]:
        if not self._network.plan.policy:
            if destination not in self._even:
                self._even[destination] = self._spread_evenly(destination)
            return self._even[destination].get(asn, frozenset())
        if destination not in self._spreads:
            self._spreads[destination] = self._spread(self._place_of[destination])
        length, route = self._spreads[destination]
        here = self._place_of[asn]
        if not route[here]:
            return frozenset()
        near = (self._below, self._beside, self._above)[route[here] - 1][here]
        of_customers = route[here] != _OF_PROVIDER  # that of the next AS, too
        return frozenset(
            self._ases[other]
            for other in near
            if length[other] + 1 == length[here]
            and (route[other] == _OF_CUSTOMER if of_customers else route[other])
        )

    def _spread(self, destination: int) -> tuple[array[int], bytearray]:
        """Length and kind of the route of every AS to one, both by place; kind 0: none."""
        n = len(self._ases)
        length, route = array("h", [-1]) * n, bytearray(n)
        length[destination], route[destination] = 0, _OF_CUSTOMER
        level, own = [destination], [destination]  # own: may be told to everybody
        while level:  # up
            found = []
            for at in level:
                for above in self._above[at]:
                    if not route[above]:
                        length[above], route[above] = length[at] + 1, _OF_CUSTOMER
                        found.append(above)
            own += found
            level = found
        fixed = own.copy()  # an AS with such a route takes none of its providers
        for at in own:
            for peer in self._beside[at]:
                if route[peer] != _OF_CUSTOMER:
                    if not route[peer]:
                        route[peer] = _OF_PEER
                        fixed.append(peer)
                    elif length[at] + 1 >= length[peer]:
                        continue
                    length[peer] = length[at] + 1
        by_length: list[list[int]] = [[] for _ in range(max(length[at] for at in fixed) + 2)]
        for at in fixed:
            by_length[length[at]].append(at)
        for far, level in enumerate(by_length):  # down, the nearest first
            for at in level:
                for below in self._below[at]:
                    if not route[below]:
                        length[below], route[below] = far + 1, _OF_PROVIDER
                        by_length[far + 1].append(below)
            if level and len(by_length) == far + 2:
                by_length.append([])
        return length, route

    def _spread_evenly(self, destination: int) -> dict[int, frozenset[int]]:
        """By the fewest ASes, whatever their relationships; of several, the lowest number."""
        ases = self._network.ases
        best: dict[int, frozenset[int]] = {destination: frozenset()}
        level = [destination]
        while level:
            found: dict[int, int] = {}
            for asn in sorted(level):
                for near in ases.providers[asn] + ases.peers[asn] + ases.customers[asn]:
                    if near not in best:
                        found.setdefault(near, asn)
            best.update({asn: frozenset((after,)) for asn, after in found.items()})
            level = list(found)
        return best

    def _exits_of(self, asn: int, nexts: frozenset[int]) -> dict[int, Link]:
        """Routers of an AS with a link to one of others, and the first such link of each."""
        key = (asn, nexts)
        if key not in self._exits:
            network = self._network
            self._exits[key] = exits = {}
            for router in network.routers[asn]:
                for link in network.links_of[router]:
                    if network.asn_of[link.other(router)] in nexts:
                        exits.setdefault(router, link)
        return self._exits[key]

    def _inside(self, router: int, end: int) -> list[Link]:
        """Links of a router on shortest ways to another one of its AS."""
        distance = self._distance(end)
        left = distance.get(router, _FAR)
        return [
            link
            for link in self._network.links_of[router]
            if link.kind == "inner" and distance.get(link.other(router), _FAR) + link.cost == left
        ]

    def _distance(self, end: int) -> dict[int, int]:
        """Cost from each router of an AS to one of them."""
        if end not in self._distances:
            distance = {end: 0}
            queue = [(0, end)]
            while queue:
                far, router = heapq.heappop(queue)
                if far > distance[router]:
                    continue
                for link in self._network.links_of[router]:
                    other = link.other(router)
                    if link.kind == "inner" and far + link.cost < distance.get(other, _FAR):
                        distance[other] = far + link.cost
                        heapq.heappush(queue, (far + link.cost, other))
            self._distances[end] = distance
        return self._distances[end]
