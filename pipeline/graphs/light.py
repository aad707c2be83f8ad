"""Places of routers that the speed of light forbids.

A reply cannot be faster than light in fibre, at two thirds of its speed in a vacuum, there and back
along the great circle. So a router whose smallest RTT from a vantage point is less than that is not
where a file says it is, or the vantage point is not. Only vantage points that the same files locate
can tell; differences of RTTs of two routers cannot, since replies may come back on other paths.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.model.addresses import positions_of
from pipeline.model.columns.ragged import run_starts
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.locations import Locations, distance_km, least_rtt_ms


def check_light(locations: Locations, graphs: GraphSet) -> Locations:
    """The same places with the RTT and the distance that come nearest to forbidding each.

    Parameters
    ----------
    locations : Locations
        Of addresses of the graphs and of vantage points.
    graphs : GraphSet
        Without observations nothing can be checked, nor for a private address that is on several
        routers.
    """
    seen = graphs.observations
    if seen is None or not len(locations) or not len(seen.steps):
        return locations
    vantages = np.stack([seen.vantages.addr_high, seen.vantages.addr_low], axis=1)
    at_vantage = locations.rows_of(vantages)
    row, node = _nodes_of(locations, graphs)
    order = np.argsort(node, kind="stable")
    row, node = row[order], node[order]
    steps = seen.steps
    known = (at_vantage[steps.vantage] >= 0) & ~np.isnan(steps.rtt_ms)
    known[known] = np.isin(steps.far[known], node)
    vantage, far, rtt = (c[known] for c in (steps.vantage, steps.far, steps.rtt_ms))
    order = np.lexsort((rtt, far, vantage))  # the smallest of each pair is first
    vantage, far, rtt = vantage[order], far[order], rtt[order]
    first = run_starts(vantage, far)
    vantage, far, rtt = vantage[first], far[first], rtt[first]
    # Every located address of the router.
    begin, end = np.searchsorted(node, far, "left"), np.searchsorted(node, far, "right")
    pair = np.repeat(np.arange(len(far)), end - begin)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
    place = row[place + np.repeat(begin, end - begin)]
    origin = at_vantage[vantage[pair]]
    km = distance_km(
        locations.latitude[place],
        locations.longitude[place],
        locations.latitude[origin],
        locations.longitude[origin],
    )
    margin = least_rtt_ms(km) - rtt[pair]
    order = np.lexsort((margin, place))  # the largest of each place is last
    last = order[np.append(run_starts(place[order])[1:], len(order)) - 1] if len(order) else order
    rtt_ms, far_km = locations.rtt_ms.copy(), locations.far_km.copy()
    rtt_ms[place[last]], far_km[place[last]] = rtt[pair[last]], km[last]
    return replace(locations, rtt_ms=rtt_ms, far_km=far_km)


def _nodes_of(locations: Locations, graphs: GraphSet) -> tuple[np.ndarray, np.ndarray]:
    """Rows of places whose address is on one node, and that node, by place in all ASes."""
    if graphs.addrs is not None and graphs.addr_asn is not None and graphs.addr_node is not None:
        first = graphs.node_ptr[np.searchsorted(graphs.asn, graphs.addr_asn)]
        addrs, node = graphs.addrs, first + graphs.addr_node
    elif graphs.node_addr is not None:
        addrs, node = graphs.node_addr, np.arange(len(graphs.node_addr))
    else:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at = positions_of(locations.addr, addrs)
    n_nodes = np.bincount(at[at >= 0], minlength=len(locations))
    is_one = (at >= 0) & (n_nodes[np.maximum(at, 0)] == 1)
    return at[is_one], node[is_one].astype(np.int64)
