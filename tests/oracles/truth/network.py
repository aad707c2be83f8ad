"""Networks as they were built: routers, their ASes and addresses, links."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from pipeline.errors import FormatError

TRUTH = "ground_truth.json"


@dataclass(frozen=True)
class Truth:
    """A network as it was built."""

    asn_of: dict[str, int]  # of routers
    router_of: dict[str, str]  # address -> router
    links: frozenset[frozenset[str]]  # between routers
    neighbor_asns: dict[str, set[int]]  # of border routers: the ASes that they have links to
    n_exchanges: int = 0
    plan: str = ""  # name and seed of the plan that it was built from

    @property
    def border_routers(self) -> set[str]:
        return set(self.neighbor_asns)


def plain_text(addr: str) -> str:
    """An address in its one spelling."""
    return str(ipaddress.ip_address(addr))


def load_truth(folder: Path) -> Truth:
    """Read ``ground_truth.json`` of a laboratory, in either of the two spellings of its links.

    Raises
    ------
    FormatError
        If it is not JSON, or not a network.
    """
    path = folder / TRUTH
    data = read_json(path)
    try:
        return _network(data)
    except KeyError as error:
        raise FormatError(path, "", f"is not a network: {error} is missing") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise FormatError(path, "", f"is not a network: {error}") from error


def read_json(path: Path) -> Any:
    """The value that a file holds; FormatError if it is not JSON."""
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise FormatError(path, "", f"not JSON: {error}") from error


def _network(data: dict[str, Any]) -> Truth:
    hosts = data.get("hosts", {})
    router_of: dict[str, str] = {}
    links = set()
    for link in data["links"]:
        one, other = ("u", "v") if "u" in link else ("a", "b")
        for end in (one, other):
            for suffix in ("_addr", "_addr6"):
                if end + suffix in link and link[end] not in hosts:
                    router_of[plain_text(link[end + suffix])] = link[end]
        if link[one] not in hosts and link[other] not in hosts:
            links.add(frozenset((link[one], link[other])))
    for key in ("loopback", "loopback6"):
        router_of.update({plain_text(addr): router for router, addr in data.get(key, {}).items()})
    router_of.update(
        {plain_text(host["gw_addr"]): host["gw"] for host in hosts.values() if "gw_addr" in host}
    )
    exchanges = data.get("ixps", [])
    for exchange in exchanges:
        router_of.update({plain_text(addr): router for router, addr in exchange["members"].items()})
    asn_of = {router: asn for router, asn in data["asn_of"].items() if router not in hosts}
    neighbor_asns: dict[str, set[int]] = {}
    for here, there in (pair for link in links for pair in permutations(link)):
        if asn_of[here] != asn_of[there]:
            neighbor_asns.setdefault(here, set()).add(asn_of[there])
    plan = data.get("plan", {})
    name = f"{plan['name']}, seed {plan['seed']}" if plan else ""
    return Truth(asn_of, router_of, frozenset(links), neighbor_asns, len(exchanges), name)
