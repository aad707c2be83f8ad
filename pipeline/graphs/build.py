"""Topologies to the CSR of each AS: all ASes at once, linear in nodes and links.

What happens to a node and a link
---------------------------------
- Local node ids follow the order of the topology (sorted address, or the file's id), never the
  order in which a file or trace arrived. A node without an AS is counted and in no graph.
- A link from a node to itself is dropped and counted. A link with an end in no AS is counted.
- A link between two ASes is kept apart (``border_*``), once, lower asn first.
- A link within an AS becomes two arcs. The lightest of parallel links is kept, the first of equal
  ones, with its own columns (``pipeline.graphs.adjacency``); the others are counted.
- ``graph_hash`` covers indptr and indices alone, so a night in which only RTTs changed keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from kernels.csr import hash_arrays
from kernels.host import n_cores
from pipeline.graphs.adjacency import (
    adjacency,
    collect_borders,
    collect_unmapped,
    nodes_by_place,
    place_nodes,
)
from pipeline.graphs.combine import asns_of, combine
from pipeline.graphs.connectivity import count_components
from pipeline.model.addresses import unique_addrs
from pipeline.model.columns import take
from pipeline.model.columns.gathered import Gathered
from pipeline.model.columns.ragged import take_rows
from pipeline.model.graphs import Exits, GraphSet
from pipeline.model.measured.kept_traces import KeptTraces
from pipeline.model.measured.observations import FIRST, Observations
from pipeline.model.topology import BETWEEN_ASES, NO_ASN, ExitTable, IngressTable, Topology

HASH_THREADS = 2  # sha256 releases the interpreter's lock for all but the smallest graphs
HASH_ARCS = 1 << 20  # arcs that one thread hashes at a time
TAKEN_AT_ONCE = 1 << 20  # rows of a column, by one thread


def build_graphs(topologies: Sequence[Topology]) -> GraphSet:
    """Split topologies into one graph per AS.

    Parameters
    ----------
    topologies : sequence of Topology
        No AS in two of them. Left unchanged.

    Returns
    -------
    GraphSet
        On the host. ``counts`` holds those of the topologies and n_links_given, n_loops_dropped,
        n_parallel_dropped, n_unmapped_links, n_border_links.

    Raises
    ------
    UsageError
        If two topologies hold the same AS (the message names the ASNs), or a number is no ASN.
    ValueError
        If a link, an ingress or an exit names a node that the topology does not have.

    Notes
    -----
    Peak memory besides the input is about 20 bytes per node and 18 per arc (10 without weights
    and link columns). Columns of links stay as they are: their rows are taken where they are read.
    """
    topology = combine(topologies) if topologies else _nothing()
    _check_nodes("link", topology.n_nodes, topology.near, topology.far)
    _check_nodes("ingress", topology.n_nodes, topology.ingresses.node)
    _check_nodes("exit", topology.n_nodes, topology.exits.node)
    near, far = map(np.ascontiguousarray, (topology.near, topology.far))
    asn = asns_of(topology.node_asn)
    row = _rows_of(topology.node_asn, asn)
    node_ptr, place = place_nodes(row, len(asn))
    n_nodes = int(node_ptr[-1])

    keep_links = topology.weight is not None or bool(topology.link_columns)
    lists = adjacency(near, far, row, place, node_ptr, _weights(topology), keep_links)
    degree, indices, link = lists.degree, lists.indices, lists.link
    arc_ptr = _summed_degrees(degree, node_ptr)
    with ThreadPoolExecutor(n_cores()) as pool:
        # One thread hashes a graph, however large: from here to the end of all other work.
        hashes = pool.submit(_graph_hashes, node_ptr, arc_ptr, degree, indices)
        weights = None if topology.weight is None else _gathered(_weights(topology), link, pool)
        component_count, largest = count_components(node_ptr, arc_ptr, degree, indices)
        by_place = _by_place(place, n_nodes)
        border, n_border_parallel = _borders(
            topology, near, far, row, place, node_ptr, asn, lists.n_border
        )
        adjacent_unmapped = _adjacent_unmapped(near, far, row, len(asn), lists.n_unmapped)
    of_links = {n: c for n, c in topology.link_columns.items() if n not in BETWEEN_ASES}
    return GraphSet(
        asn=asn,
        node_ptr=node_ptr,
        arc_ptr=arc_ptr,
        degree=degree,
        indices=indices,
        graph_hash=hashes.result(),
        component_count=component_count,
        largest_component=largest,
        **_ingress_columns(topology.ingresses, place, row, node_ptr),
        exits=_exits(topology.exits, place, row, node_ptr),
        **border,
        weights=weights,
        node_addr=None if topology.node_addr is None else topology.node_addr[by_place],
        node_id=None if topology.node_id is None else topology.node_id[by_place],
        **_address_columns(topology, asn, place, node_ptr),
        node_columns=_taken(topology.node_columns, by_place),
        arc_columns=_taken(of_links, link),
        weight_unit=topology.weight_unit,
        kind=topology.kind,
        n_unmapped=topology.n_nodes - n_nodes,
        unmapped=_unmapped(topology, row),
        adjacent_unmapped=adjacent_unmapped,
        entered_unseen=np.array(
            [topology.entered_unseen.get(n, 0) for n in asn.tolist()], np.int64
        ),
        observations=_observations(topology.observations, place),
        traces=_traces(topology.traces, place),
        reasons=topology.reasons,
        counts=topology.counts
        | {
            "n_links_given": topology.n_links,
            "n_loops_dropped": lists.n_loops,
            "n_parallel_dropped": lists.n_parallel + n_border_parallel,
            "n_unmapped_links": lists.n_unmapped,
            "n_border_links": len(border["border_near"]),
        },
    )


def _gathered(column: np.ndarray, rows: np.ndarray, pool: ThreadPoolExecutor) -> np.ndarray:
    """``column[rows]``, taken by several threads."""
    found = np.empty(len(rows), column.dtype)

    def take_some(first: int) -> None:
        some = slice(first, first + TAKEN_AT_ONCE)
        # Rows are those of links that are there; to check them again, NumPy would take them twice.
        np.take(column, rows[some], out=found[some], mode="clip")

    list(pool.map(take_some, range(0, len(rows), TAKEN_AT_ONCE)))
    return found


def _taken(
    columns: dict[str, np.ndarray], rows: np.ndarray | slice
) -> dict[str, np.ndarray | Gathered]:
    """Rows of some columns; a column of one value for all (``np.broadcast_to``) stays one."""

    def take_rows_of(column: np.ndarray) -> np.ndarray | Gathered:
        if isinstance(rows, slice):
            return column[rows]
        if column.strides == (0,) and len(column):
            return np.broadcast_to(column[0], rows.shape)
        return Gathered(column, rows)

    return {name: take_rows_of(column) for name, column in columns.items()}


def _by_place(place: np.ndarray, n_placed: int) -> np.ndarray | slice:
    """The node at each place; all of them as they are if they stand in that order."""
    by_place = nodes_by_place(place, n_placed)
    is_order = n_placed == len(place) and bool((by_place[1:] > by_place[:-1]).all())
    return slice(None) if is_order else by_place


def _borders(
    topology: Topology, near, far, row, place, node_ptr, asn, n_border: int
) -> tuple[dict, int]:
    """The ``border_*`` columns of GraphSet, and how many parallel links were dropped."""
    low, high, link = (np.empty(n_border, np.int64) for _ in range(3))
    if n_border:
        collect_borders(near, far, row, place, low, high, link)
    order = np.lexsort((high, low))
    low, high, link = low[order], high[order], link[order]
    if n_border:
        starts = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))
        link = _lightest(link, np.flatnonzero(starts), _weights(topology))
        low, high = low[starts], high[starts]
    near_row = np.searchsorted(node_ptr, low, side="right") - 1
    far_row = np.searchsorted(node_ptr, high, side="right") - 1
    columns = {name: column[link] for name, column in topology.link_columns.items()}
    if topology.weight is not None:
        columns["weight"] = topology.weight[link].astype(np.float32)
    return {
        "border_near_asn": asn[near_row],
        "border_near": (low - node_ptr[near_row]).astype(np.int32),
        "border_far_asn": asn[far_row],
        "border_far": (high - node_ptr[far_row]).astype(np.int32),
        "border_columns": columns,
    }, n_border - len(low)


def _lightest(link: np.ndarray, starts: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The lightest link of each run of parallel ones, the first of equal ones."""
    if len(weight) == 0 or len(starts) == len(link):
        return link[starts]
    run = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(link))))
    order = np.lexsort((weight[link], run))  # stable; NaN sorts last
    return link[order][starts]


def _unmapped(topology: Topology, row: np.ndarray) -> np.ndarray | None:
    """Addresses of nodes with no AS, where there are traces."""
    if topology.observations is None or topology.node_addr is None:
        return None
    columns = [topology.node_addr[row < 0]]
    if topology.addrs is not None and topology.addr_node is not None:
        columns.append(topology.addrs[row[topology.addr_node] < 0])
    return unique_addrs(columns)


def _adjacent_unmapped(near, far, row, n_ases: int, n_unmapped_links: int) -> np.ndarray:
    """Nodes in no AS that have a link to each AS; (n_ases,) int64."""
    if n_unmapped_links == 0:
        return np.zeros(n_ases, np.int64)
    as_row, node = (np.empty(n_unmapped_links, np.int64) for _ in range(2))
    n = collect_unmapped(near, far, row, as_row, node)
    pairs = np.unique(as_row[:n] * max(len(row), 1) + node[:n])
    return np.bincount(pairs // max(len(row), 1), minlength=n_ases).astype(np.int64)


def _address_columns(topology: Topology, asn, place, node_ptr) -> dict:
    """The ``addr*`` columns of GraphSet; none if nodes say the same."""
    if topology.addrs is None or topology.addr_node is None:
        return {}
    confidence = topology.addr_confidence
    named = topology.node_addr is not None and topology.node_addr.any(axis=1).all()
    if named and len(topology.addrs) <= topology.n_nodes and confidence is None:
        return {}
    at = place[topology.addr_node]
    kept = at >= 0
    row = np.searchsorted(node_ptr, at[kept], side="right") - 1
    # By address, and of one that is on several nodes by AS and node.
    order = np.lexsort((at[kept], topology.addrs[kept, 1], topology.addrs[kept, 0]))
    kept, row = np.flatnonzero(kept)[order], row[order]
    local = (at[kept] - node_ptr[row]).astype(np.int32)
    return {
        "addrs": topology.addrs[kept],
        "addr_asn": asn[row],
        "addr_node": local,
        "addr_confidence": None if confidence is None else confidence[kept],
    }


def _observations(seen: Observations | None, place: np.ndarray) -> Observations | None:
    """The same by place of each node."""
    if seen is None:
        return None
    near, far = seen.steps.near, seen.steps.far
    at = np.where(near == FIRST, FIRST, place[near]).astype(np.int32)
    return replace(seen, steps=replace(seen.steps, near=at, far=place[far].astype(np.int32)))


def _traces(kept: KeptTraces | None, place: np.ndarray) -> KeptTraces | None:
    """The same by place of each node."""
    return None if kept is None else replace(kept, node=place[kept.node].astype(np.int32))


def _ingress_columns(ingresses: IngressTable, place, row, node_ptr) -> dict:
    """The ingress columns of GraphSet: by AS row, then local node; ingresses of no AS left out."""
    at = place[ingresses.node]
    order = np.argsort(at, kind="stable")
    order = order[np.count_nonzero(at < 0) :]
    at = at[order]
    at_row = row[ingresses.node[order]].astype(np.int64)
    neighbor_ptr, neighbor_asn = take_rows(ingresses.neighbor_ptr, ingresses.neighbor_asn, order)

    def of_neighbors(column: np.ndarray | None) -> np.ndarray | None:
        return None if column is None else take_rows(ingresses.neighbor_ptr, column, order)[1]

    return {
        "ingress_ptr": np.searchsorted(at_row, np.arange(len(node_ptr))).astype(np.int64),
        "ingress_node": (at - node_ptr[at_row]).astype(np.int32),
        "neighbor_ptr": neighbor_ptr,
        "neighbor_asn": neighbor_asn,
        "neighbor_ixp": of_neighbors(ingresses.neighbor_ixp),
        "neighbor_n_direct": of_neighbors(ingresses.neighbor_n_direct),
        "delays": None if ingresses.delays is None else take(ingresses.delays, order),
        "n_direct": ingresses.n_direct[order],
        "n_after_gap": ingresses.n_after_gap[order],
        "candidate": ingresses.candidate[order],
        "confidence": None if ingresses.confidence is None else ingresses.confidence[order],
    }


def _exits(exits: ExitTable, place, row, node_ptr) -> Exits:
    """By AS row, then local node; exits of no AS left out."""
    at = place[exits.node]
    order = np.lexsort((exits.neighbor_asn, at))
    order = order[np.count_nonzero(at < 0) :]
    at_row = row[exits.node[order]].astype(np.int64)
    node = (at[order] - node_ptr[at_row]).astype(np.int32)
    return Exits(at_row, node, exits.neighbor_asn[order], exits.n_traces[order])


def _rows_of(node_asn: np.ndarray, asn: np.ndarray) -> np.ndarray:
    """AS row of each node, -1 without an AS; (n_nodes,) int32. Looked up a run at a time."""
    if len(node_asn) == 0:
        return np.empty(0, np.int32)
    starts = np.flatnonzero(np.append(True, node_asn[1:] != node_asn[:-1]))
    of_run = node_asn[starts]
    rows = np.searchsorted(asn, of_run).astype(np.int32)
    rows[of_run == NO_ASN] = -1
    return np.repeat(rows, np.diff(np.append(starts, len(node_asn))))


def _summed_degrees(degree: np.ndarray, node_ptr: np.ndarray) -> np.ndarray:
    """(n_ases + 1,) int64 arcs before each AS."""
    before = np.zeros(len(degree) + 1, np.int64)
    np.cumsum(degree, out=before[1:])
    return before[node_ptr]


def _graph_hashes(node_ptr, arc_ptr, degree, indices) -> list[str]:
    """``CSRGraph.graph_hash`` of each AS."""

    def of(first: int, last: int) -> list[str]:
        hashes = []
        for i in range(first, last):
            own = degree[node_ptr[i] : node_ptr[i + 1]]
            indptr = np.zeros(len(own) + 1, np.int64)
            np.cumsum(own, out=indptr[1:])
            hashes.append(hash_arrays(indptr, indices[arc_ptr[i] : arc_ptr[i + 1]]))
        return hashes

    # Runs of ASes with similar numbers of arcs: a thread per AS would cost more than its hash.
    ends = np.searchsorted(arc_ptr, np.arange(HASH_ARCS, arc_ptr[-1], HASH_ARCS))
    bounds = np.unique(np.concatenate([[0], ends, [len(node_ptr) - 1]])).tolist()
    with ThreadPoolExecutor(HASH_THREADS) as pool:
        return [h for part in pool.map(of, bounds[:-1], bounds[1:]) for h in part]


def _weights(topology: Topology) -> np.ndarray:
    if topology.weight is None:
        return np.empty(0, np.float32)
    return np.ascontiguousarray(topology.weight, np.float32)


def _check_nodes(what: str, n_nodes: int, *columns: np.ndarray) -> None:
    for column in columns:
        if len(column) and (column.min() < 0 or column.max() >= n_nodes):
            at = int(np.flatnonzero((column < 0) | (column >= n_nodes))[0])
            raise ValueError(
                f"{what} {at} names node {column[at]}; the topology has {n_nodes} nodes"
            )


def _nothing() -> Topology:
    none = np.empty(0, np.int64)
    return Topology(none, none, none)
