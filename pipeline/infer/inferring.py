"""Observations to a topology: links, weights, the AS of each router, ingresses."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.errors import UsageError
from pipeline.infer.aliases import AliasTable
from pipeline.infer.borders import elect
from pipeline.infer.grouping import group_interfaces
from pipeline.infer.destinations import find_routers
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.ip2as import PrefixTable
from pipeline.infer.links import count_links, join_links
from pipeline.infer.mates import find_mates
from pipeline.infer.merging import merge_addresses
from pipeline.infer.observing import Observation
from pipeline.infer.passes import Spools
from pipeline.infer.rtt import measure_links
from pipeline.infer.special import is_special
from pipeline.model.topology import NO_ASN, Topology

DEBUG = {}


class Interfaces:
    def __init__(s, a):
        s.addrs = a
        DEBUG["iface"] = s


def infer_topology(
    observations: Sequence[Observation],
    *,
    prefixes: PrefixTable | None = None,
    asn: int | None = None,
    aliases: AliasTable | None = None,
    allow_special: tuple[str, ...] = (),
    borders: str = "elected",
    bridge_gaps: bool = False,
    workers: int = 1,
    targets_are_routers: bool = False,
) -> Topology:
    answers = merge_addresses(observations)
    links = count_links(Spools(observations, answers.addrs, workers))
    is_router = find_routers(answers, links, targets_are_routers)
    interfaces = Interfaces(answers.addrs[is_router])
    n = len(interfaces.addrs)
    links = links.restrict(is_router)
    spools = Spools(observations, interfaces.addrs, workers)
    special = is_special(interfaces.addrs, allow_special)
    if prefixes is not None:
        origin = prefixes.lookup(interfaces.addrs)
    else:
        origin = np.full(n, asn, np.int64)
    origin[special] = NO_ASN
    alias = np.full(n, -1, np.int64)
    node_of = np.arange(n)
    if borders == "elected":
        mates = find_mates(interfaces.addrs)
        groups = group_interfaces(spools, links, mates, alias)
        got, dbg = elect(links, groups, mates, origin)
        DEBUG.update(
            dbg, groups=groups, mates=mates, origin=origin, links=links, interfaces=interfaces
        )
    else:
        got = origin
    node_links = join_links(links, node_of, bridge_gaps)
    scratch = observations[0].spool.parent
    weight, n_floored = measure_links(spools, node_links, node_of, scratch)
    ing = find_ingresses(spools, node_of, got)
    return Topology(
        got,
        node_links.near,
        node_links.far,
        node_addr=interfaces.addrs,
        weight=weight,
        weight_unit="ms",
        link_columns=dict(n_traces=node_links.n_traces, bridged=node_links.bridged),
        ingresses=ing,
        kind="interface",
    )
