"""Host names as operators give them: interface, router, city, domain of the numbering AS.

Some are stale: an address was used for another router, or another neighbor, before.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random

from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Network


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


def rules_of_names(network: Network, names: dict[str, tuple[str, bool]]) -> Iterator[str]:
    """Rules that read ASes from these names, a domain each, as lines of Hoiho's JSON.

    Each was counted on the names of its domain, stale ones among them; who learns them from owners
    that were inferred counts nearly that. As Hoiho does, it calls a rule good that is right in four
    of five names and says three ASes, promising that is right in half of them and says two.
    """
    asn_of = {
        link.addr(router): network.asn_of[router] for link in network.links for router in link.ends
    }
    said: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for addr, (name, _) in names.items():
        by = int(name.rpartition(".as")[2].removesuffix(".net"))
        customer = re.match(r"as(\d+)-", name)
        asn = int(customer[1]) if customer else by
        said[by].append((asn, asn == asn_of[addr]))
    for by, each in said.items():
        right = sum(is_right for _, is_right in each)
        ppv, n_ases = right / len(each), len({asn for asn, is_right in each if is_right})
        kind = "poor"
        if ppv >= 0.5 and n_ases >= 2:
            kind = "good" if ppv >= 0.8 and n_ases >= 3 else "promising"
        domain = rf"\.as{by}\.net$"
        yield json.dumps(
            {
                "domain": f"as{by}.net",
                "re": [
                    rf"^as(\d+)-[^-]+-\d+\.customers{domain}",
                    rf"^[^\.]+\.r\d+\.[^\.]+\.as({by})\.net$",
                ],
                "score": {
                    "ppv": f"{ppv:.3f}",
                    "asn": n_ases,
                    "tp": right,
                    "fp": len(each) - right,
                    "ip": 0,
                    "fnu": 0,
                    "class": kind,
                    "matches": len(each),
                },
            }
        )
