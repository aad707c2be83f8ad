"""Nights of the networks of ``pipeline.generate.networks``, through inference and a store.

Routes follow relationships between ASes, packets go back another way than they came, load is
balanced over paths of equal cost by flow, routers answer with several addresses. A night is such a
network, drawn by its seed and then altered, and what its vantage points measure of it: all of this
is what ``hopscope generate internet --nights`` makes.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.compare import Night as Compared
from pipeline.compare.changes import WIDTHS
from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import Night, addresses_of
from pipeline.generate.networks.plan import Plan
from pipeline.generate.networks.planting.widths import widths_of
from pipeline.generate.networks.probing import Law
from pipeline.generate.networks.tracing import Campaign
from pipeline.graphs import build_graphs
from pipeline.infer import Observer, infer_topology
from pipeline.ingest.tables import read_exchanges, read_prefixes
from pipeline.model.addresses import V4_PREFIX, format_addr
from pipeline.model.columns.ragged import (
    join_offsets,
    offsets,
    positions_of_rows,
    row_of_value,
)
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.observations import FIRST
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch
from pipeline.model.tables.registries import Registries
from pipeline.stages.networks import batch_of
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import Snapshot, open_snapshot, write_snapshot
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

_OF_TRACES = ("src_addr", "dst_addr", "start_s", "part")
_OF_REPLIES = ("ttl", "addr", "rtt_ms", "kind", "reply_ttl")


@dataclass(eq=False)
class JudgedNight(Night):
    """A night of which inference may also be told something wrong.

    ``owners``: addresses whose router is put into another AS.
    """

    owners: dict[str, int] = field(default_factory=dict)

    def copy(self) -> JudgedNight:
        """The same, to be altered."""
        copied = super().copy()
        assert isinstance(copied, JudgedNight)
        return replace(copied, owners=dict(self.owners))


def night_of(seed: int, **changed: Any) -> JudgedNight:
    """The network of a seed; ``changed``: fields of its plan."""
    return JudgedNight(Network(replace(PLAN, seed=seed, **changed)))


@cache
def _delays_of(plan: Plan) -> Delays:
    """Of the network of a plan as it was drawn."""
    return Delays(Network(plan))


def traces_of(night: Night, luck: int) -> TraceBatch:
    """What is measured on a night; ``luck``: of who answers this time."""
    plan = night.network.plan
    law = Law(luck, plan.limited_answers, 0.9, 1.0, plan.rebalanced)
    return measured(Campaign(night, law=law, delays=_delays_of(plan)))


def measured(campaign: Campaign) -> TraceBatch:
    """The traces of a campaign."""
    found: dict[tuple[int, int], list[TraceBatch]] = defaultdict(list)
    for made in campaign.run(lambda p: {key: batch_of(campaign, p, *key) for key in p.rows}):
        for key, batch in made.items():
            found[key].append(batch)
    batches = [batch for key in sorted(found) for batch in found[key]]
    return TraceBatch(
        reply_ptr=join_offsets([batch.reply_ptr for batch in batches]),
        **{
            name: np.concatenate([getattr(batch, name) for batch in batches])
            for name in (*_OF_TRACES, *_OF_REPLIES)
        },
    )


def take_traces(batch: TraceBatch, rows: np.ndarray) -> TraceBatch:
    """Some traces, in the order given."""
    ptr, replies = positions_of_rows(batch.reply_ptr, rows)
    return _of_columns(batch, rows, replies, ptr)


def lose_replies(batch: TraceBatch, share: float, rng: np.random.Generator) -> TraceBatch:
    """All traces, without a share of their replies."""
    kept = np.flatnonzero(rng.random(batch.n_replies) >= share)
    n_left = np.bincount(row_of_value(batch.reply_ptr)[kept], minlength=batch.n_traces)
    return _of_columns(batch, np.arange(batch.n_traces), kept, offsets(n_left))


def _of_columns(
    batch: TraceBatch, rows: np.ndarray, replies: np.ndarray, ptr: np.ndarray
) -> TraceBatch:
    own = {name: getattr(batch, name)[rows] for name in _OF_TRACES}
    return TraceBatch(
        reply_ptr=ptr, **own, **{name: getattr(batch, name)[replies] for name in _OF_REPLIES}
    )


# Into inference, and a night to compare.


def _addrs(texts: list[str]) -> np.ndarray:
    known = {text: int(ipaddress.IPv4Address(text)) for text in set(texts)}
    low = np.array([known[text] for text in texts], np.uint64) | V4_PREFIX
    return np.column_stack([np.zeros(len(low), np.uint64), low])


def ingest(
    night: Night,
    luck: int,
    folder: Path,
    traces: TraceBatch | None = None,
    *,
    has_figures: bool = False,
) -> Compared:
    """A night through inference and a store; ``has_figures``: as if a report of it was there."""
    observer = Observer(folder)
    observer.add(traces_of(night, luck) if traces is None else traces)
    net = night.network
    table = "".join(f"{n.network_address}\t{n.prefixlen}\t{o}\n" for n, o in net.origins)
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
        locations=_places_of(net.plan),
    )
    with open_snapshot(folder / "store") as snapshot:
        found = open_night(snapshot)
        if has_figures:
            found = replace(found, figures=_figures(snapshot))
        return own_otherwise(found, night.owners) if isinstance(night, JudgedNight) else found


def _figures(snapshot: Snapshot) -> dict[str, np.ndarray]:
    """Diameter and radius of each AS, as its report would have them."""
    found = []
    for row in range(snapshot.n_ases):
        graph = snapshot.graph(row)
        ends = np.split(graph.indices, graph.indptr[1:-1])
        found.append(widths_of({node: set(near.tolist()) for node, near in enumerate(ends)}))
    return {name: np.array([own[name] for own in found], float) for name in WIDTHS}


@cache
def _places_of(plan: Plan) -> Locations:
    """The city of every router of the network as it was drawn, as ``--locations`` files say it."""
    drawn, cities = Network(plan), _delays_of(plan)
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
