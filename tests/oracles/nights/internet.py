"""Nights of the networks of ``tests.oracles.networks``, altered and measured again.

Routes follow relationships between ASes, packets go back another way than they came, load is
balanced over paths of equal cost by flow, routers answer with several addresses. A night is such a
network, drawn by its seed and then altered, and what its vantage points measure of it.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pipeline.compare import Night as Compared
from pipeline.generate.networks.ases import CUSTOMER
from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Block, Link, Network, Vantage
from pipeline.generate.networks.plan import Plan
from pipeline.graphs import build_graphs
from pipeline.infer import Observer, infer_topology
from pipeline.ingest.tables import read_exchanges, read_prefixes
from pipeline.model.addresses import V4_PREFIX, format_addr
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.observations import FIRST
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    CLASSIC_TRACE,
    KIND_ECHO_REPLY,
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
    TraceBatch,
)
from pipeline.model.tables.registries import Registries
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import open_snapshot, write_snapshot
from tests.oracles.networks.measuring import (
    ECHO_REPLY,
    TIME_EXCEEDED,
    UNREACHABLE,
    Prober,
)
from tests.oracles.networks.walking import Walks, Way
from tests.tables import table_of_files

PARIS, CLASSIC = "icmp-echo-paris", "udp"
PLAN = Plan(
    name="nights",
    n_tier1=4,
    n_transit=9,
    n_regional=16,
    n_stub=50,
    regional=(3, 6),
    exchange_members=(0.4,),
    exchange_announced=("none",),
    diamonds=(),
    silent=0.04,
    limited=0.08,
    n_vantage_points=12,
    blocks=(2, 3, 4, 4, 5),
    hosts_answer=0.5,
)
_KINDS = {
    TIME_EXCEEDED: KIND_TIME_EXCEEDED,
    UNREACHABLE: KIND_UNREACHABLE,
    ECHO_REPLY: KIND_ECHO_REPLY,
}
Trace = dict[str, Any]


class _Slowed(Delays):
    """Delays of the network as it was, with some links slower; ``slow``: by their addresses."""

    def __init__(self, network: Network, slow: dict[tuple[str, str], float]) -> None:
        super().__init__(network)
        self._slow = slow

    def of(self, link: Link) -> float:
        near = self._place[link.ends[0]] if link.ends[0] < len(self._place) else None
        if near is None or link.ends[1] >= len(self._place):  # a router that was added
            return 1.0 + self._slow.get(link.addrs, 0.0)
        return super().of(link) + self._slow.get(link.addrs, 0.0)


class _Rehashed(Walks):
    """Ways of which some flows take others each night, as where source ports are drawn afresh."""

    def __init__(self, network: Network, luck: int, share: float) -> None:
        super().__init__(network)
        self._luck, self._share = luck, share

    def there(self, vantage: Vantage, block: Block, flow: str) -> Way:
        pair = flow.split("#")[0]
        if Random(f"{pair} fresh").random() < self._share:  # the same pairs every night
            flow = f"{flow}~{Random(f'{self._luck} {flow}').getrandbits(64)}"
        return super().there(vantage, block, flow)


class _Measuring(Prober):
    """A prober with other random numbers each night, and the delays of the unaltered network."""

    def __init__(self, network: Network, delays: Delays, luck: int, fresh: float) -> None:
        super().__init__(network)
        self._random = Random(luck)
        if fresh:
            self.walks = _Rehashed(network, luck, fresh)
        self.walks._delays = delays


@dataclass(eq=False)
class Night:
    """A network, and what its vantage points measure.

    Attributes
    ----------
    net : Network
    slow : dict of addresses of a link to milliseconds
    rare : dict of router to share
        Of its answers that arrive.
    gone : set of str
        Names of vantage points that do not measure.
    left_out : set of str
        Targets that are not measured.
    methods : tuple of str
    loss : float
        Share of all answers that is lost.
    fresh : float
        Share of the flows that routers balance otherwise than on the night before.
    table : str
        More lines of the prefix table.
    owners : dict of str to int
        Addresses whose router inference puts into another AS.
    changed : dict
        Fields of the plan that it was drawn with.
    """

    net: Network
    slow: dict[tuple[str, str], float] = field(default_factory=dict)
    rare: dict[int, float] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    methods: tuple[str, ...] = (PARIS,)
    loss: float = 0.0
    fresh: float = 0.0
    table: str = ""
    owners: dict[str, int] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_seed(cls, seed: int, **changed: Any) -> Night:
        """The network of a seed; ``changed``: fields of its plan."""
        return cls(Network(replace(PLAN, seed=seed, **changed)), changed=changed)

    def traces(self, luck: int) -> list[Trace]:
        """What is measured; ``luck``: of who answers this time."""
        delays = _Slowed(Network(self.net.plan), self.slow)
        prober = _Measuring(self.net, delays, luck, self.fresh)
        random = Random(f"{luck} loss")
        owner = {addr: router for router in self.rare for addr in addresses_of(self.net, router)}
        found = []
        for vantage in self.net.vantages:
            if vantage.name in self.gone:
                continue
            for method in self.methods:
                for trace in prober.traces(vantage, method, []):
                    if trace["dst"] in self.left_out:
                        continue
                    if self.rare or self.loss:
                        trace["hops"] = [
                            hop
                            for hop in trace["hops"]
                            if random.random() >= self.loss
                            and (
                                hop["addr"] not in owner
                                or random.random() < self.rare[owner[hop["addr"]]]
                            )
                        ]
                    found.append(trace)
        return found


def addresses_of(net: Network, router: int) -> set[str]:
    """All addresses that a router may answer with."""
    own = {link.addr(router) for link in net.links_of[router]} | {net.loopback[router]}
    return own | {each.gateway_addr for each in net.vantages if each.gateway == router}


# Alterations of a network.


def remove_links(net: Network, links: list[Link]) -> None:
    """Take links away; ASes without any link between them are neighbours no more."""
    for link in links:
        net.links.remove(link)
        for router in link.ends:
            net.links_of[router].remove(link)
    for link in links:
        one, other = (net.asn_of[router] for router in link.ends)
        if one != other and not links_between(net, one, other):
            forget(net, one, other)


def forget(net: Network, one: int, other: int) -> None:
    """Two ASes are neighbours no more."""
    ases = net.ases
    for a, b in ((one, other), (other, one)):
        ases.relationship.pop((a, b), None)
        for near in (ases.providers, ases.customers, ases.peers):
            if b in near[a]:
                near[a].remove(b)


def links_between(net: Network, one: int, other: int) -> list[Link]:
    """Links between two ASes."""
    return [
        link
        for router in net.routers[one]
        for link in net.links_of[router]
        if net.asn_of[link.other(router)] == other
    ]


def links_of_as(net: Network, asn: int) -> list[Link]:
    """Links of the routers of an AS, each once."""
    found: dict[Link, None] = {}
    for router in net.routers[asn]:
        found.update(dict.fromkeys(net.links_of[router]))
    return list(found)


def add_link(net: Network, one: int, other: int, cost: int = 1, kind: int | None = None) -> Link:
    """A new link, numbered from unused space of its first AS; ``kind``: what the other AS is."""
    a, b = net.asn_of[one], net.asn_of[other]
    if a != b and kind is not None:
        net.ases.relate(a, b, kind)
    word = "inner" if a == b else "customer" if kind == CUSTOMER else "peer"
    link = Link((one, other), net.numbering.link(a, False), cost, word, a)
    net._connect(link)
    return link


# Into inference, and a night to compare.


def batch_of(traces: list[Trace]) -> TraceBatch:
    """Traces as columns, as a reader gives them."""
    hops = [hop for trace in traces for hop in trace["hops"]]
    return TraceBatch(
        _addrs([trace["src"] for trace in traces]),
        _addrs([trace["dst"] for trace in traces]),
        np.array([trace["start"]["sec"] for trace in traces], float),
        offsets(np.array([len(trace["hops"]) for trace in traces])),
        np.array([hop["probe_ttl"] for hop in hops], np.uint8),
        _addrs([hop["addr"] for hop in hops]),
        np.array([hop["rtt"] for hop in hops], np.float32),
        np.array([_KINDS[hop["icmp_type"]] for hop in hops], np.uint8),
        part=np.array(
            [0 if "paris" in trace["method"] else CLASSIC_TRACE for trace in traces], np.uint8
        ),
    )


def _addrs(texts: list[str]) -> np.ndarray:
    known = {text: int(ipaddress.IPv4Address(text)) for text in set(texts)}
    low = np.array([known[text] for text in texts], np.uint64) | V4_PREFIX
    return np.column_stack([np.zeros(len(low), np.uint64), low])


def ingest(night: Night, luck: int, folder: Path, traces: list[Trace] | None = None) -> Compared:
    """A night through inference and a store."""
    observer = Observer(folder)
    observer.add(batch_of(night.traces(luck) if traces is None else traces))
    net = night.net
    table = "".join(f"{n.network_address}\t{n.prefixlen}\t{o}\n" for n, o in net.origins)
    table += night.table
    lans = "".join(f"{each.lan} {each.name} {each.asn}\n" for each in net.exchanges)
    topology = infer_topology(
        [observer.close()],
        prefixes=_table(read_prefixes, folder / "table.pfx2as", table),
        registries=Registries(exchanges=_table(read_exchanges, folder / "ixp.txt", lans)),
    )
    inputs = [{"holds": "traces"}, {"holds": "table", "format": "pfx2as", "sha256": table}]
    write_snapshot(
        folder / "store",
        "night",
        build_graphs([topology]),
        as_names={},
        inputs=inputs,
        options={},
        counts={},
        rejects=[],
        locations=places_of(net),
    )
    with open_snapshot(folder / "store") as snapshot:
        return own_otherwise(open_night(snapshot), night.owners)


def places_of(net: Network) -> Locations:
    """The city of every router of the network as it was drawn, as ``--locations`` files say it."""
    drawn = Network(net.plan)
    cities = Delays(drawn)
    city = {
        addr: cities.city(router)
        for router in range(len(drawn.asn_of))
        for addr in addresses_of(drawn, router)
    }
    addr = _addrs(sorted(city, key=ipaddress.IPv4Address))
    names = np.array([city[format_addr(*map(int, each))] for each in addr], object)
    nowhere = np.zeros(len(addr))  # where a city is matters only for the speed of light
    return Locations.unchecked(addr, nowhere, nowhere, names, np.full(len(addr), None, object))


def own_otherwise(night: Compared, owners: dict[str, int]) -> Compared:
    """The night with the routers of some addresses in other ASes, if these have routers."""
    asn = night.asn_of(np.arange(night.n_nodes))
    for addr, node in zip(night.addr, night.addr_node, strict=True):
        other = owners.get(format_addr(*map(int, addr)))
        if other is not None and other in night.asn:
            asn[node] = other
    order = np.lexsort((np.arange(len(asn)), asn))
    new_id = np.empty(len(order), np.int64)
    new_id[order] = np.arange(len(order))
    ases = np.unique(asn)
    ends = np.sort(np.array([new_id[night.low], new_id[night.high]]), axis=0)
    seen = night.observations
    assert seen is not None
    near = np.where(seen.steps.near == FIRST, FIRST, new_id[seen.steps.near]).astype(np.int32)
    steps = replace(seen.steps, near=near, far=new_id[seen.steps.far].astype(np.int32))
    sure = night.confidence
    return replace(
        night,
        asn=ases,
        node_ptr=np.searchsorted(asn[order], np.append(ases, ases[-1] + 1)),
        addr_node=new_id[night.addr_node],
        low=ends[0],
        high=ends[1],
        ingress=new_id[night.ingress],
        component=new_id[night.component[order]],
        name_addr=night.name_addr[order],
        city=None if night.city is None else night.city[order],
        observations=replace(seen, steps=steps),
        confidence=None if sure is None else sure[order],
    )


def _table(reader, path: Path, text: str):
    path.write_text(text)
    return table_of_files(reader, [path], [ReadReport(str(path))])
