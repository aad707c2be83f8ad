"""One night of a network: the network as it is then, and what else differs from other nights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pipeline.generate.networks.ases import CUSTOMER
from pipeline.generate.networks.network import Link, LinkKind, Network


@dataclass(eq=False)
class Night:
    """A network, and what its vantage points measure.

    Attributes
    ----------
    network : Network
    number : int
        Nights since the first one; each has other random numbers.
    turn : int
        Which of its own nights this is to what alters it now, from 1 on.
    slow : dict of addresses of a link to milliseconds
        By which it is slower, one way.
    rare : dict of router to share
        Of its answers that are given.
    gone : set of int
        Vantage points that do not measure, by their numbers.
    left_out : set of int
        Targets that are not measured: rows of ``Targets``.
    """

    network: Network
    number: int = 0
    turn: int = 1
    slow: dict[tuple[str, str], float] = field(default_factory=dict)
    rare: dict[int, float] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    left_out: set[int] = field(default_factory=set)

    def copy(self) -> Night:
        """The same, to be altered."""
        return replace(
            self,
            network=self.network.copy(),
            slow=dict(self.slow),
            rare=dict(self.rare),
            gone=set(self.gone),
            left_out=set(self.left_out),
        )


def addresses_of(network: Network, router: int) -> set[str]:
    """All addresses that a router may answer with."""
    own = {link.addr(router) for link in network.links_of[router]} | {network.loopback[router]}
    return own | {each.gateway_addr for each in network.vantages if each.gateway == router}


def links_between(network: Network, one: int, other: int) -> list[Link]:
    """Links between two ASes."""
    return [
        link
        for router in network.routers[one]
        for link in network.links_of[router]
        if network.asn_of[link.other(router)] == other
    ]


def link_between(network: Network, one: int, other: int) -> Link:
    """The first link between two routers; LookupError if there is none."""
    for link in network.links_of[one]:
        if link.other(one) == other:
            return link
    raise LookupError(f"no link between r{one} and r{other}")


def leaves(network: Network, link: Link) -> bool:
    """Whether a link joins two ASes."""
    one, other = link.ends
    return network.asn_of[one] != network.asn_of[other]


def remove_links(network: Network, links: Iterable[Link]) -> None:
    """Take links away; ASes without any link between them are neighbours no more."""
    gone = dict.fromkeys(links)
    network.links = [link for link in network.links if link not in gone]
    for router in {router for link in gone for router in link.ends}:
        network.links_of[router] = [link for link in network.links_of[router] if link not in gone]
    pairs = {tuple(sorted(network.asn_of[router] for router in link.ends)) for link in gone}
    for one, other in pairs:
        if one != other and not links_between(network, one, other):
            _forget(network, one, other)


def _forget(network: Network, one: int, other: int) -> None:
    """Two ASes are neighbours no more."""
    ases = network.ases
    for a, b in ((one, other), (other, one)):
        ases.relationship.pop((a, b), None)
        for near in (ases.providers, ases.customers, ases.peers):
            if b in near[a]:
                near[a].remove(b)


def sell(network: Network, provider: int, customer: int) -> None:
    """Make a peer a customer, over the links that there are."""
    _forget(network, provider, customer)
    network.ases.relate(provider, customer, CUSTOMER)
    for link in links_between(network, provider, customer):
        if link.kind == "peer":
            replace_link(network, link, replace(link, kind="customer"))


def add_link(
    network: Network,
    one: int,
    other: int,
    cost: int = 1,
    *,
    kind: LinkKind | None = None,
    relationship: int | None = None,
) -> Link:
    """A new link, numbered from unused space of its first AS.

    ``relationship``: what the other AS becomes to the first, unless they have links already.
    """
    a, b = network.asn_of[one], network.asn_of[other]
    if a != b and relationship is not None:
        network.ases.relate(a, b, relationship)
    if kind is None:
        kind = "inner" if a == b else "customer" if relationship == CUSTOMER else "peer"
    link = Link((one, other), network.numbering.link(a, False), cost, kind, a)
    network.connect(link)
    return link


def replace_link(network: Network, old: Link, new: Link) -> None:
    """Put a link in the place of another between the same routers."""
    network.links[network.links.index(old)] = new
    for router in old.ends:
        own = network.links_of[router]
        own[own.index(old)] = new
