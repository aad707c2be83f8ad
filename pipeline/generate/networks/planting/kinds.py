"""The kinds of plants, a row each."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.generate.networks.planting import answers, links, outages, tables, widths
from pipeline.generate.networks.planting.plant import FEW, FROM, MANY, SOME, Find, Kind


def _kind(
    needs: str,
    find: Find,
    events: str | tuple[str, ...],
    back: str | tuple[str, ...],
    nights: int = 1,
) -> Kind:
    events, back = ((each,) if isinstance(each, str) else each for each in (events, back))
    return Kind(needs, find, events, back, nights)


_SILENT, _AGAIN = "routers silent", "routers answer again"
_LOST, _GAINED = "routers lost", "routers gained"
_REMOVED = "links removed", "links added", _LOST, _GAINED  # pairs turn to links not seen before
_ADDED = "links added", "links removed", _GAINED, _LOST
_ALONE = "nights on which nothing else is planted"
_WIDE = f"{widths.LEAST} to {widths.MOST} routers in an AS, none of them silent, {FEW} pairs there"
_DEAD, _ALIVE = "hosts silent", "hosts answer again"

KINDS: Mapping[str, Kind] = {
    "transit-as-lost": _kind(
        f"{MANY} pairs through an AS without a vantage point",
        outages.transit_as_lost, "AS lost", "AS gained",
    ),
    "edge-as-lost": _kind(
        f"{FEW} pairs to such an AS that none pass through",
        outages.edge_as_lost, "AS lost", "AS gained",
    ),
    "half-as-lost": _kind(
        f"four crossed routers in an AS, {MANY} pairs across the half",
        outages.half_as_lost, (_LOST, "AS lost"), (_GAINED, "AS gained"),
    ),
    "adjacency-lost": _kind(
        f"{SOME} pairs of {FROM} vantage points between two ASes, each with another way",
        outages.adjacency_lost, "adjacency lost", "adjacency gained",
    ),
    "exchange-lost": _kind(
        f"an exchange point with {MANY} pairs over three links",
        outages.exchange_lost, "exchange lost", "exchange gained",
    ),
    "city-lost": _kind(
        f"a city with three crossed routers of two ASes, {MANY} pairs and no vantage point",
        outages.city_lost, "city lost", "city gained",
    ),
    "router-lost": _kind(
        f"{2 * SOME} pairs across a router that no customers are behind, and four in its AS",
        outages.router_lost,
        (_LOST, "adjacency lost", "load balancing lost", "links removed"),
        (_GAINED, "adjacency gained", "load balancing gained", "links added"),
    ),
    "link-cut": _kind(
        f"{SOME} pairs of {FROM} vantage points across a link inside an AS, {FEW} with another way",
        links.link_cut, ("links removed", _LOST), ("links added", _GAINED),
    ),
    "link-added": _kind(
        f"two routers of an AS that {SOME} pairs of {FROM} vantage points then cross in turn",
        links.link_added, ("links added", _GAINED), ("links removed", _LOST),
    ),
    "as-split": _kind(
        f"eight routers in an AS, and {SOME} pairs between its halves",
        outages.as_split, ("AS split in parts", _LOST), ("parts of an AS joined", _GAINED),
    ),
    "ingress-moved": _kind(
        f"{SOME} pairs of {FROM} vantage points over the only link between two ASes",
        links.ingress_moved, "ingress moved", "ingress moved",
    ),
    "adjacency-gained": _kind(
        f"two transit or regional ASes that {FROM} vantage points then cross in turn",
        links.adjacency_gained, "adjacency gained", "adjacency lost",
    ),
    "relationship-changed": _kind(
        f"two peers between whom no pair goes, and {FROM} vantage points that then do",
        links.relationship_changed, "adjacency gained", "adjacency lost",
    ),
    "diameter-grown": _kind(
        _WIDE, widths.diameter_grown, _REMOVED, _ADDED,
    ),
    "radius-grown": _kind(
        _WIDE, widths.radius_grown, _REMOVED, _ADDED,
    ),
    "link-slower": _kind(
        f"{SOME} pairs of eight vantage points across a link", links.link_slower, "links slower",
        "links faster",
    ),
    "link-slower-few": _kind(
        f"{SOME} pairs of three to five vantage points across a link", links.link_slower_few,
        "links slower", "links faster",
    ),
    "link-drifting": _kind(
        f"{SOME} pairs of eight vantage points across a link, three nights before it, five with it",
        links.link_drifting, "links slower", "links faster", 5,
    ),
    "detour": _kind(
        f"{SOME} pairs of {FROM} vantage points across a link inside an AS, with another way",
        links.detour, _REMOVED, _ADDED,
    ),
    "load-balancing": _kind(
        f"{2 * SOME} pairs of four vantage points across three routers of an AS",
        links.balancing, "load balancing gained", ("load balancing lost", _LOST),
    ),
    "mpls": _kind(
        f"a transit AS with two inner routers that {MANY} pairs cross",
        links.tunnel, "routers hidden", "routers shown",
    ),
    "router-renumbered": _kind(
        f"{2 * SOME} pairs across a router all of whose links are inside its AS",
        links.renumbered, "router renumbered", "router renumbered",
    ),
    "router-silent": _kind(
        f"{2 * SOME} pairs of four vantage points across a router", answers.router_silent,
        _SILENT, _AGAIN,
    ),
    "router-limited": _kind(
        f"{2 * SOME} pairs of four vantage points across a router", answers.router_limited,
        _SILENT, _AGAIN,
    ),
    "as-silent": _kind(
        f"{MANY} pairs of four vantage points through an AS without any",
        answers.as_silent, "AS silent", "AS answers again",
    ),
    "hosts-dead": _kind(
        "an AS with three networks of customers that answer", answers.hosts_dead, _DEAD, _ALIVE
    ),
    "hosts-of-prefix-dead": _kind(
        "an AS with four networks of customers that answer", answers.hosts_of_prefix_dead,
        _DEAD, _ALIVE,
    ),
    "two-hosts-dead": _kind(
        "an AS with three networks of customers that answer", answers.two_hosts_dead, _DEAD, _ALIVE
    ),
    "vantage-lost": _kind(
        "a vantage point", answers.vantage_lost, "vantage point lost", "vantage point gained"
    ),
    "targets-lost": _kind("three targets", answers.targets_lost, "targets lost", "targets gained"),
    "table-changed": _kind(
        _ALONE, tables.table_changed, "inputs changed", "inputs changed",
    ),
    "second-origin": _kind(
        f"an AS with a provider, and {_ALONE}", tables.second_origin, "inputs changed",
        "inputs changed",
    ),
    "sibling-gained": _kind(
        _ALONE, tables.sibling_gained, "inputs changed", "inputs changed",
    ),
}  # fmt: skip
