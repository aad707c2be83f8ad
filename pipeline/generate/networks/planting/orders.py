"""What can be planted, and from which night to which, as it is written on a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Kinds of plants, and what they say.
PLANTS: Mapping[str, str] = {
    "transit-as-lost": "An AS that others pass through loses all its neighbours.",
    "edge-as-lost": "An AS that only its own targets are in loses all its neighbours.",
    "half-as-lost": "Half of the routers of an AS fail.",
    "adjacency-lost": "All links between two ASes are cut; both are reached another way.",
    "exchange-lost": "An exchange point forwards nothing any more.",
    "city-lost": "All routers in a city fail.",
    "router-lost": "A router fails; its AS has others.",
    "link-cut": "A link inside an AS is cut, and both its ends are reached by others.",
    "link-added": "A link inside an AS is added, and pairs use it.",
    "as-split": "The links between two halves of an AS are cut.",
    "ingress-moved": "The only link from a neighbour into an AS ends at another router of the AS.",
    "adjacency-gained": "Two ASes become peers.",
    "relationship-changed": "An AS becomes the provider of a peer, over links that none crossed.",
    "diameter-grown": "Links inside an AS are cut, and its diameter is two hops more.",
    "radius-grown": "Links inside an AS are cut, and its radius is two hops more.",
    "link-slower": "A link takes 8 ms more, from at least eight vantage points.",
    "link-slower-few": "A link takes 8 ms more, from three to five vantage points.",
    "link-drifting": "A link takes 0.25 ms more each night, from at least eight vantage points.",
    "detour": "The cost of a link inside an AS rises: packets go around it, and it is still there.",
    "load-balancing": "A router gets a second one beside it, over which half of the flows go.",
    "mpls": "MPLS hides the inner routers of an AS.",
    "router-renumbered": "A router gets other addresses on all its links, and keeps none.",
    "router-silent": "A router does not answer any more.",
    "router-limited": "A router answers one probe in eight.",
    "as-silent": "No router of an AS answers any more, but packets pass.",
    "hosts-dead": "No target of an AS answers any more; its routers do.",
    "hosts-of-prefix-dead": "Three neighbouring networks of an AS's customers answer no more.",
    "two-hosts-dead": "Two neighbouring networks of an AS's customers answer no more.",
    "vantage-lost": "A vantage point does not measure.",
    "targets-lost": "A third of the targets are not measured.",
    "table-changed": "Half of the block of an AS's routers is announced by a stranger.",
    "second-origin": "The prefix of an AS is announced by a provider of it, too.",
    "sibling-gained": "An AS comes to the organisation of a neighbour.",
}
# Shares of a plan that can become others on a night.
PLANTED_SHARES = (
    *("silent", "limited", "outgoing", "loopback", "zero_ttl", "tunnels", "ultimate_hop"),
    *("rewriting", "carrier_nat", "firewalled", "only_border", "hosts_answer", "zombies", "loops"),
    *("private_inside", "multi_origin", "unannounced"),
)


@dataclass(frozen=True)
class Order:
    """What is to be planted from one night to another, counted from 1, and whether it stays."""

    text: str
    what: str  # a kind, or ``name=value`` of a share
    first: int
    last: int
    stays: bool

    @property
    def turns(self) -> set[int]:
        """Nights that differ by it from the night before."""
        return {self.first} if self.stays else {self.first, self.last + 1}


def parse_order(text: str, n_nights: int) -> Order:
    """An order as it is written: ``what@first``, or ``what@first-last``, then it is taken back.

    Raises
    ------
    ValueError
        If it is written otherwise, or there is no such kind, share or night.
    """
    found = re.fullmatch(r"([^@]+)@(\d+)(?:-(\d+))?", text)
    if not found:
        raise ValueError(f"{text!r} is not KIND@NIGHT, KIND@FIRST-LAST or NAME=VALUE@NIGHT")
    what, first = found[1], int(found[2])
    last = int(found[3] or n_nights)
    if "=" not in what and what not in PLANTS:
        raise ValueError(f"{text}: there is no such kind; kinds are {', '.join(PLANTS)}")
    if "=" in what and (name := what.partition("=")[0]) not in PLANTED_SHARES:
        raise ValueError(
            f"{text}: {name!r} cannot be planted on a night; shares that can are "
            f"{', '.join(PLANTED_SHARES)}"
        )
    if n_nights < 2:
        raise ValueError(f"{text}: a change needs a night before it: give --nights 2 or more")
    if not 2 <= first <= last <= n_nights:
        raise ValueError(f"{text}: nights with a plant are 2 to {n_nights}, the first before it")
    return Order(text, what, first, last, found[3] is None or last == n_nights)
