"""What of one topology is wrong, item by item: where a rule is looked for, not how good it is."""

from __future__ import annotations

from collections import defaultdict
from math import isnan
from typing import Any

import numpy as np

from pipeline.judge.scores import (
    ingresses_judged,
    ingresses_right,
    joined_routers,
    names_of_nodes,
    node_of,
    nodes_of,
)
from pipeline.judge.truth import Truth
from pipeline.judge.visible import Visible
from pipeline.model.addresses import format_addrs
from pipeline.model.topology import Topology


def find_faults(topology: Topology, truth: Truth, visible: Visible) -> dict[str, list[Any]]:
    """Lists of what the figures of ``Score`` count as wrong or missed, ready for JSON.

    Returns
    -------
    dict
        ``ingresses``: address, stated and true AS, stated and true neighbours, confidence of each
        wrong one; ``borders_missed``: router and AS; ``addresses``: address, stated AS (null: on no
        node), router, true AS; ``links_false`` and ``links_missed``: two routers; ``mixed_nodes``:
        addresses and their routers (null: unknown) of each node with those of several.
    """
    assert topology.node_addr is not None
    names, node = names_of_nodes(topology, truth), node_of(topology)
    joined = joined_routers(topology, names) if truth.has_links else set()
    right = ingresses_right(topology, names, truth)
    judged = ingresses_judged(topology, names, truth)
    found = {names[at] for at in topology.ingresses.node[right & ~topology.ingresses.candidate]}
    asn = topology.node_asn.tolist()
    stated = {addr: asn[node[addr]] if addr in node else None for addr in visible.addrs}
    true = {addr: truth.asn_of[truth.router_of[addr]] for addr in visible.addrs}
    # A private address may be on several nodes: that in the right AS counts.
    stated |= {addr: asn[at] for addr, at in nodes_of(topology) if asn[at] == true.get(addr)}
    routers: dict[int, dict[str, str | None]] = defaultdict(dict)
    for addr, at in node.items():
        if truth.is_whole or addr in truth.router_of:
            routers[at][addr] = truth.router_of.get(addr)
    return {
        "ingresses": _wrong_ingresses(topology, names, right | ~judged, truth),
        "borders_missed": [[one, truth.asn_of[one]] for one in sorted(visible.borders - found)],
        "addresses": [
            [addr, stated[addr], truth.router_of[addr], true[addr]]
            for addr in sorted(visible.addrs)
            if stated[addr] != true[addr]
        ],
        "links_false": sorted(map(sorted, joined - truth.links)),
        "links_missed": sorted(map(sorted, visible.links - joined)),
        "mixed_nodes": [own for own in routers.values() if len(set(own.values())) > 1],
    }


def _wrong_ingresses(
    topology: Topology, names: list[str | None], right: np.ndarray, truth: Truth
) -> list[dict[str, Any]]:
    assert topology.node_addr is not None
    table, addrs = topology.ingresses, format_addrs(topology.node_addr)
    wrong = []
    for i in np.flatnonzero(~right & ~table.candidate).tolist():
        node = int(table.node[i])
        name = names[node]
        near = table.neighbor_asn[table.neighbor_ptr[i] : table.neighbor_ptr[i + 1]].tolist()
        sure = None if table.confidence is None else round(float(table.confidence[i]), 3)
        sure = None if sure is None or isnan(sure) else sure
        wrong.append(
            {
                "addr": addrs[node],
                "asn": int(topology.node_asn[node]),
                "router": name,
                "true_asn": None if name is None else truth.asn_of[name],
                "neighbor_asns": near,
                "true_neighbor_asns": sorted(truth.neighbor_asns.get(name or "", ())),
                "confidence": sure,
            }
        )
    return wrong
