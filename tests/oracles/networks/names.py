"""Host names as operators give them: interface, router, city, domain of the numbering AS.

Some are stale: an address was used for another router, or another neighbor, before.
"""

from __future__ import annotations

from random import Random

from tests.oracles.networks.delays import Delays
from tests.oracles.networks.network import Network


def name_interfaces(network: Network, delays: Delays) -> dict[str, tuple[str, bool]]:
    """Name of each named address, and whether it is stale; drawn by a seed of their own."""
    plan = network.plan
    random = Random(f"{plan.seed} names")
    naming = {asn for asn in network.ases.tier if random.random() < plan.named}
    names: dict[str, tuple[str, bool]] = {}
    seen: dict[int, list[str]] = {}
    for at, link in enumerate(network.links):
        by = link.numbered_by
        for router in link.ends:
            addr, asn = link.addr(router), network.asn_of[router]
            if by not in naming or addr.startswith("10."):
                continue
            if asn == by:
                name = f"et-{at % 8}-0-{at % 4}.r{router % 90}.{delays.city(router)}.as{by}.net"
            else:
                name = f"as{asn}-{delays.city(router)}-{at % 90}.customers.as{by}.net"
            stale = bool(seen.get(by)) and random.random() < plan.stale_names
            seen.setdefault(by, []).append(name)
            names[addr] = (random.choice(seen[by][:-1]) if stale else name, stale)
    return names
