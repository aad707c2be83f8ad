"""Ingresses and ASes of a topology that declares them: no inference from traces.

Rules
    - A link joins two ASes if its end routers belong to different ones. Both ends are then
      ingresses of their own AS, and the other end's AS is a neighbour that traffic comes from:
      links have no direction here. The file's type of a link (E_AS) is not used.
    - ``asn`` is the AS of routers without one in the file; an AS in the file is kept.
    - A node of an AS-level file is an AS, not a router: the file is one graph under ``asn``, and
      its own AS numbers are kept as the node column ``declared_asn``.
    - ``ingresses`` draws K routers of each AS that has none, or all of them where it has fewer:
      those whose hash of (seed, AS, node id) is smallest. The draw does not depend on the order of
      lines or on other ASes. Drawn routers have no neighbouring AS.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.errors import UsageError
from pipeline.model.choices import MAX_ASN
from pipeline.model.columns.ragged import offsets
from pipeline.model.random_words import GOLDEN, mix_words
from pipeline.model.topology import NO_ASN, IngressTable, Topology
from pipeline.model.words import number

DRAW_SEED = 20260


def declare(topology: Topology, *, asn: int | None, ingresses: int | None) -> Topology:
    """The topology with an AS for its nodes and with its ingresses.

    Parameters
    ----------
    topology : Topology
        As a reader or a generator yields it; its own ingresses are replaced.
    asn : int or None
        AS of nodes that name none; of all nodes of an AS-level file.
    ingresses : int or None
        Routers to draw as ingresses of each AS that has none; None draws none.

    Raises
    ------
    UsageError
        If no node has an AS and ``asn`` is None; if a number is out of range.
    """
    if asn is not None and not 0 <= asn <= MAX_ASN:
        raise UsageError(f"--asn {asn}: an AS number lies between 0 and {MAX_ASN}")
    if ingresses is not None and ingresses < 1:
        raise UsageError(f"--ingresses {ingresses}: give a number of routers, 1 or more")
    topology = _with_asn(topology, asn)
    table = _border_routers(topology)
    counts = dict(topology.counts, ingresses_declared=len(table))
    if ingresses is not None:
        drawn = _draw(topology, table, ingresses)
        counts["ingresses_drawn"] = len(drawn)
        table = _merge(table, drawn)
    return replace(topology, ingresses=table, counts=counts)


def _with_asn(topology: Topology, asn: int | None) -> Topology:
    if topology.kind == "as":
        if asn is None:
            raise UsageError(
                f"an AS-level topology ({number(topology.n_nodes, 'AS')}) is one graph: "
                "give its AS number with --asn N"
            )
        columns = dict(topology.node_columns, declared_asn=topology.node_asn)
        node_asn = np.full(topology.n_nodes, asn, np.int64)
        return replace(topology, node_asn=node_asn, node_columns=columns)
    without = topology.node_asn == NO_ASN
    if asn is None:
        if topology.n_nodes and without.all():
            n_nodes = topology.n_nodes
            none = f"none of the {n_nodes:,} routers has an" if n_nodes > 1 else "the router has no"
            raise UsageError(f"{none} AS: give one with --asn N")
        return topology
    if without.all():  # one value for all
        return replace(topology, node_asn=np.broadcast_to(np.int64(asn), topology.n_nodes))
    return replace(topology, node_asn=np.where(without, np.int64(asn), topology.node_asn))


def _border_routers(topology: Topology) -> IngressTable:
    """Ends of links between two ASes, with the ASes at the other ends."""
    asn = topology.node_asn
    if (asn[1:] == asn[:-1]).all():
        return IngressTable.empty()
    near_asn, far_asn = asn[topology.near], asn[topology.far]
    inter = (near_asn != far_asn) & (near_asn != NO_ASN) & (far_asn != NO_ASN)
    node = np.concatenate([topology.near[inter], topology.far[inter]])
    neighbor = np.concatenate([far_asn[inter], near_asn[inter]])
    order = np.lexsort((neighbor, node))
    node, neighbor = node[order], neighbor[order]
    first = np.ones(len(node), bool)
    first[1:] = (node[1:] != node[:-1]) | (neighbor[1:] != neighbor[:-1])
    node, neighbor = node[first], neighbor[first]
    routers, n_neighbors = np.unique(node, return_counts=True)
    pointer = offsets(n_neighbors)
    return _traceless(routers, pointer, neighbor)


def _draw(topology: Topology, table: IngressTable, n_each: int) -> np.ndarray:
    """Nodes drawn from the ASes without an ingress, ``n_each`` per AS."""
    has_one = np.unique(topology.node_asn[table.node])
    asn = topology.node_asn
    nodes = np.flatnonzero((asn != NO_ASN) & ~np.isin(asn, has_one))
    ids = topology.node_id if topology.node_id is not None else np.arange(topology.n_nodes)
    key = _hash(
        _hash(np.uint64(DRAW_SEED) ^ asn[nodes].view(np.uint64)) ^ ids[nodes].view(np.uint64)
    )
    if len(nodes) > n_each and (asn[nodes] == asn[nodes[0]]).all():  # no need to sort all
        near = key <= np.partition(key, n_each - 1)[n_each - 1]
        nodes, key = nodes[near], key[near]
    nodes = nodes[np.lexsort((nodes, key, asn[nodes]))]
    _, start, size = np.unique(asn[nodes], return_index=True, return_counts=True)
    rank = np.arange(len(nodes)) - np.repeat(start, size)
    return np.sort(nodes[rank < n_each]).astype(np.int64)


def _hash(words: np.ndarray) -> np.ndarray:
    """The first word of the stream that starts at each word."""
    return mix_words(words + GOLDEN)


def _merge(table: IngressTable, drawn: np.ndarray) -> IngressTable:
    """Both, sorted by node; drawn routers have no neighbour and are not in ``table``."""
    node = np.concatenate([table.node, drawn])
    n_neighbors = np.concatenate([np.diff(table.neighbor_ptr), np.zeros(len(drawn), np.int64)])
    order = np.argsort(node)
    # Rows without neighbours do not move the neighbours of the others, which stay in node order.
    pointer = offsets(n_neighbors[order])
    return _traceless(node[order], pointer, table.neighbor_asn)


def _traceless(node: np.ndarray, pointer: np.ndarray, neighbor_asn: np.ndarray) -> IngressTable:
    """A table of ingresses without traces."""
    none = np.zeros(len(node), np.int64)
    return IngressTable(
        node=node.astype(np.int64),
        neighbor_ptr=pointer,
        neighbor_asn=neighbor_asn.astype(np.int64),
        n_direct=none,
        n_after_gap=none.copy(),
        candidate=np.zeros(len(node), bool),
        neighbor_n_direct=np.zeros(len(neighbor_asn), np.int64),
    )
