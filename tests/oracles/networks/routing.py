"""Routes, computed on demand: Gao-Rexford between ASes, hot potato, equal-cost paths inside.

L. Gao and J. Rexford, "Stable Internet routing without global coordination", SIGMETRICS 2000:
routes of customers before those of peers before those of providers, then the shortest; an AS tells
peers and providers of its customers' routes alone.
"""

from __future__ import annotations

import heapq
from array import array
from collections import defaultdict

from tests.oracles.networks.network import Link, Network

_FAR = 1 << 30


class Routes:
    """Where packets go next, of a network; what was computed is kept.

    Of ten thousand ASes there are a hundred million pairs: sets of next ASes are numbered, and the
    number of each AS's set is kept for each destination.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._place_of = {asn: at for at, asn in enumerate(network.ases.tier)}
        self._sets: list[frozenset[int]] = [frozenset()]
        self._number_of = {self._sets[0]: 0}
        self._distances: dict[int, dict[int, int]] = {}
        self._next_sets: dict[int, array[int]] = {}
        self._next_links: dict[tuple[int, object], list[Link] | None] = {}
        self._exits: dict[tuple[int, int], dict[int, Link]] = {}

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
        nexts = self._next_set(here, asn)
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

    def _next_set(self, asn: int, destination: int) -> int:
        """Number of the set of ASes that an AS sends packets for another to; 0: none."""
        if destination not in self._next_sets:
            of_each = array("i", bytes(4 * len(self._place_of)))
            for one, nexts in self._spread(destination).items():
                of_each[self._place_of[one]] = self._number(nexts)
            self._next_sets[destination] = of_each
        return self._next_sets[destination][self._place_of[asn]]

    def _number(self, nexts: frozenset[int]) -> int:
        number = self._number_of.setdefault(nexts, len(self._sets))
        if number == len(self._sets):
            self._sets.append(nexts)
        return number

    def _spread(self, destination: int) -> dict[int, frozenset[int]]:
        """ASes that each AS sends packets for one to, all equally good."""
        ases = self._network.ases
        if not self._network.plan.policy:
            return self._spread_evenly(destination)
        best: dict[int, tuple[int, set[int]]] = {destination: (0, set())}
        level, length = [destination], 0
        while level:  # up: customers' routes
            length += 1
            found: dict[int, set[int]] = defaultdict(set)
            for asn in level:
                for above in ases.providers[asn]:
                    if above not in best:
                        found[above].add(asn)
            best.update({asn: (length, nexts) for asn, nexts in found.items()})
            level = list(found)
        own = dict(best)  # what may be told to everybody
        across: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for asn, (length, _) in own.items():
            for peer in ases.peers[asn]:
                if peer not in own:
                    across[peer][length + 1].add(asn)
        for asn, by_length in across.items():
            shortest = min(by_length)
            best[asn] = shortest, by_length[shortest]
        fixed = set(best)  # an AS with such a route takes none of its providers
        queue = [(length, asn) for asn, (length, _) in best.items()]
        heapq.heapify(queue)
        done: set[int] = set()
        while queue:  # down
            length, asn = heapq.heappop(queue)
            if asn in done:
                continue
            done.add(asn)
            for below in ases.customers[asn]:
                if below in fixed:
                    continue
                if below not in best or length + 1 < best[below][0]:
                    best[below] = length + 1, {asn}
                    heapq.heappush(queue, (length + 1, below))
                elif best[below][0] == length + 1:
                    best[below][1].add(asn)
        return {asn: frozenset(nexts) for asn, (_, nexts) in best.items()}

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

    def _exits_of(self, asn: int, numbered: int) -> dict[int, Link]:
        """Routers of an AS with a link to one of a set, and the first such link of each."""
        key = (asn, numbered)
        if key not in self._exits:
            network, nexts = self._network, self._sets[numbered]
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
