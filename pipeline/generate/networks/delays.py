"""Where routers are, and how long packets take: propagation by distance, and queues.

Places are points in a plane whose unit is a millisecond of propagation one way.
"""

from __future__ import annotations

import math
from random import Random

from pipeline.generate.networks.network import Link, Network

_HOP_MS = 0.02  # forwarding, beside propagation
_SPREAD_MS = {"tier1": 25.0, "transit": 10.0, "regional": 2.0, "stub": 0.5, "cloud": 20.0}
_WORLD_MS = 40.0
_DEGREES_A_MS = 0.8  # 89 km, of 200 that light goes in fibre
_NEW_MS = 1.0  # over a link of a router that was added later
REPLY_MS = 0.3  # mean; a reply is made by a slow processor
QUEUED, QUEUE_MS = 0.05, 5.0  # share of replies that wait in a queue, and how long in the mean


class Delays:
    """Delays of a network; drawn by a seed of their own, so that they change nothing else."""

    def __init__(self, network: Network) -> None:
        random = Random(f"{network.plan.seed} places")
        tier = network.ases.tier
        self._place: list[tuple[float, float]] = [(0.0, 0.0)] * len(network.asn_of)
        placed: set[int] = set()
        for asn in tier:  # above first: an AS is near the router that it buys from
            routers = network.routers[asn]
            above = [
                link.other(router)
                for router in routers
                for link in network.links_of[router]
                if link.other(router) in placed
            ]
            if above:
                x, y = self._place[above[0]]
            else:
                x, y = random.uniform(0, _WORLD_MS), random.uniform(0, _WORLD_MS)
            for router in routers:
                spread = _SPREAD_MS[tier[asn]]
                self._place[router] = x + random.gauss(0, spread), y + random.gauss(0, spread)
                placed.add(router)
        self._one_way: dict[Link, float] = {}

    def of(self, link: Link) -> float:
        """Milliseconds over a link, one way."""
        if max(link.ends) >= len(self._place):
            return _NEW_MS
        if link not in self._one_way:
            ends = (self._place[router] for router in link.ends)
            self._one_way[link] = math.dist(*ends) + _HOP_MS
        return self._one_way[link]

    def degrees(self, router: int) -> tuple[float, float]:
        """Latitude and longitude of a router, as far from others as packets can have come."""
        x, y = self._place[router]
        latitude = max(-85.0, min(85.0, _DEGREES_A_MS * (y - _WORLD_MS / 2)))
        return latitude, (_DEGREES_A_MS * (x - _WORLD_MS / 2) + 180) % 360 - 180

    def city(self, router: int) -> str:
        """A name for the place of a router: the same for those near one another."""
        x, y = self._place[router]
        number = (int(x // 8) * 31 + int(y // 8) * 17) % (26**3)
        return "".join(chr(97 + number // 26**power % 26) for power in (2, 1, 0))
