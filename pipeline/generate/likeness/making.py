"""A topology in the likeness of an AS or of an Internet, of its size or of another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.connected import components
from kernels.csr import Shard, hash_arrays
from pipeline.errors import UsageError
from pipeline.generate.laws.plane import with_geometry
from pipeline.generate.likeness.between import AsLinks, ases_like, borders_like
from pipeline.generate.likeness.blocks import Block, make_block
from pipeline.generate.likeness.original import Original
from pipeline.generate.shares import part
from pipeline.generate.threads import call_by_graph
from pipeline.model.columns.ragged import offsets
from pipeline.model.graphs import GraphSet
from pipeline.model.synthetic import FIRST_ASN
from pipeline.model.topology import Topology
from pipeline.model.words import number

_BLOCK_NODES = 1 << 17  # of ASes that a thread makes at a time, of the original or the likeness


def make_likeness(
    original: Original,
    *,
    n_routers: int | None = None,
    n_ases: int | None = None,
    seed: int = 1,
    n_threads: int | None = None,
) -> GraphSet:
    """Make ASes in the likeness of those of ``original``.

    Parameters
    ----------
    original : Original
        Of an AS or more.
    n_routers : int or None
        In all; ASes keep their shares. None: as many as the original has for as many ASes.
    n_ases : int or None
        None: each AS of the original has its likeness, of the same number.
    seed : int
        0 to 2**64 - 1.
    n_threads : int or None
        None: one per core. The result is the same on any number.

    Returns
    -------
    GraphSet
        Routers of an AS are in random order.

    Raises
    ------
    UsageError
        For fewer routers than ASes.

    Notes
    -----
    Beside the result, some 100 bytes per link of the ASes that are being made.
    """
    with part(0.0, 0.05):
        links = ases_like(original, n_ases or original.n_ases, seed)
    of_donor = original.sizes()[links.donor]
    sizes = _sizes(of_donor, n_routers)
    costs = np.maximum(of_donor, sizes)
    blocks = _blocks(costs)
    made: list[Block | None] = [None] * len(blocks)

    def make(i: int, n_threads: int | None) -> None:
        first, stop = blocks[i]
        own = slice(first, stop)
        made[i] = _block(original, links.donor[own], sizes[own], seed, first, n_threads)

    block_ptr = np.append(0, np.cumsum(costs))[[0, *(stop for _, stop in blocks)]]
    with part(0.05, 0.95):
        call_by_graph(make, block_ptr, n_threads)
    return _together(original, links, [block for block in made if block is not None], seed)


def _sizes(of_donor: np.ndarray, n_routers: int | None) -> np.ndarray:
    """Routers of each AS, in proportion, one at least."""
    if n_routers is None or n_routers == of_donor.sum():
        return of_donor.copy()
    if n_routers < len(of_donor):
        raise UsageError(
            f"{number(n_routers, 'router')} for {number(len(of_donor), 'AS')}: give --routers "
            f"{len(of_donor)} or more, or fewer ASes with --ases"
        )
    ends = np.rint(np.cumsum(of_donor) * (n_routers / of_donor.sum())).astype(np.int64)
    sizes = np.maximum(np.diff(ends, prepend=0), 1)
    while (excess := int(sizes.sum()) - n_routers) > 0:
        large = np.argsort(-sizes, kind="stable")[:excess]
        sizes[large] -= sizes[large] > 1
    return sizes


def _blocks(costs: np.ndarray) -> list[tuple[int, int]]:
    """Runs of ASes that are made together."""
    blocks, first, total = [], 0, 0
    for i, cost in enumerate(costs.tolist()):
        if i > first and total + cost > _BLOCK_NODES:
            blocks.append((first, i))
            first, total = i, 0
        total += cost
    return [*blocks, (first, len(costs))]


def _block(
    original: Original,
    donor: np.ndarray,
    size: np.ndarray,
    seed: int,
    first: int,
    n_threads: int | None,
) -> Block:
    """ASes in the likeness of some rows of the original."""
    rows, graph = np.unique(donor, return_inverse=True)
    shard, arcs, nodes = _of_rows(original.shard, rows)
    is_ingress = np.zeros(original.n_nodes, bool) if nodes is None else None
    if is_ingress is None:
        assert nodes is not None
        is_ingress = np.isin(nodes, original.ingress)
    else:
        is_ingress[original.ingress] = True
    values = original.weights
    if values is not None and arcs is not None:
        values = values[arcs]
    return make_block(shard, values, is_ingress, graph, size, seed, first, n_threads=n_threads)


def _of_rows(shard: Shard, rows: np.ndarray) -> tuple[Shard, np.ndarray | None, np.ndarray | None]:
    """Some graphs of a shard, their arcs and nodes there; None: all of them."""
    if len(rows) == shard.n_graphs:
        return shard, None, None
    sizes = np.diff(shard.node_ptr)[rows]
    node_ptr = offsets(sizes)
    nodes = np.arange(node_ptr[-1]) + np.repeat(shard.node_ptr[rows] - node_ptr[:-1], sizes)
    degree = np.diff(shard.indptr)[nodes]
    indptr = offsets(degree)
    arcs = np.arange(indptr[-1]) + np.repeat(shard.indptr[nodes] - indptr[:-1], degree)
    shift = np.repeat(
        shard.node_ptr[rows] - node_ptr[:-1], indptr[node_ptr[1:]] - indptr[node_ptr[:-1]]
    )
    indices = (shard.indices[arcs] - shift).astype(np.int32)
    return Shard(indptr, indices, node_ptr, trusted=True), arcs, nodes


def _together(original: Original, links: AsLinks, blocks: list[Block], seed: int) -> GraphSet:
    """The graphs of all blocks as one set."""
    sizes = np.concatenate([np.diff(block.node_ptr) for block in blocks])
    node_ptr = offsets(sizes)
    n_arcs, hashes, n_components, largest = [], [], [], []
    ingress, row = [], 0
    indices = np.empty(sum(len(block.indices) for block in blocks), np.int32)
    at = 0
    for block in blocks:
        ptr = block.indptr[block.node_ptr]
        found = components(Shard(block.indptr, block.indices, block.node_ptr, trusted=True))
        graph = np.searchsorted(block.node_ptr, found.ids, side="right") - 1
        n_graphs = len(block.node_ptr) - 1
        n_components.append(np.bincount(graph, minlength=n_graphs))
        most = np.zeros(n_graphs, np.int64)
        np.maximum.at(most, graph, found.sizes)
        largest.append(most)
        own = indices[at : at + len(block.indices)]
        shift = np.repeat(block.node_ptr[:-1], np.diff(ptr)).astype(np.int32)
        np.subtract(block.indices, shift, out=own)
        for i in range(n_graphs):
            begin, end = block.node_ptr[i], block.node_ptr[i + 1]
            indptr = block.indptr[begin : end + 1] - block.indptr[begin]
            hashes.append(hash_arrays(indptr, own[ptr[i] : ptr[i + 1]]))
        n_arcs.append(np.diff(ptr))
        ingress.append(block.ingress + node_ptr[row])
        row += n_graphs
        at += len(block.indices)
    n_ases = len(sizes)
    is_same = n_ases == original.n_ases
    asn = original.asn.copy() if is_same else np.arange(FIRST_ASN, FIRST_ASN + n_ases)
    ingresses = np.concatenate(ingress)
    ingress_row = np.searchsorted(node_ptr, ingresses, side="right") - 1
    ingress_ptr = np.searchsorted(ingress_row, np.arange(n_ases + 1)).astype(np.int64)
    ingress_node = (ingresses - node_ptr[ingress_row]).astype(np.int32)
    values = [block.values for block in blocks if block.values is not None]
    return GraphSet(
        asn=asn.astype(np.int64),
        node_ptr=node_ptr,
        arc_ptr=offsets(np.concatenate(n_arcs)),
        degree=np.concatenate([np.diff(block.indptr) for block in blocks]).astype(np.int32),
        indices=indices,
        graph_hash=hashes,
        component_count=np.concatenate(n_components),
        largest_component=np.concatenate(largest),
        ingress_ptr=ingress_ptr,
        ingress_node=ingress_node,
        n_direct=np.zeros(len(ingresses), np.int64),  # there are no traces
        n_after_gap=np.zeros(len(ingresses), np.int64),
        candidate=np.zeros(len(ingresses), bool),
        **borders_like(original, links, asn, node_ptr, ingress_ptr, ingress_node, seed),
        weights=np.concatenate(values) if values else None,
        weight_unit=original.weight_unit if values else "",
        node_id=np.arange(node_ptr[-1], dtype=np.int64),
        kind=original.kind,
        counts={
            "links_not_made": sum(block.n_lacking for block in blocks),
            "ends_exchanged_across_classes": sum(block.n_across for block in blocks),
        },
    )


def likeness_topology(graphs: GraphSet, seed: int = 1) -> Topology:
    """The routers and links of a likeness, with every column that a BRITE file has.

    Parameters
    ----------
    graphs : GraphSet
        Of ``make_likeness``.
    seed : int
        Of positions and bandwidths.

    Returns
    -------
    Topology
        Links inside ASes come first. A link's length is its weight, where it has one.
    """
    near = np.repeat(np.arange(len(graphs.degree)), graphs.degree)
    far = graphs.indices + np.repeat(graphs.node_ptr[:-1], np.diff(graphs.arc_ptr))
    once = near < far
    between = [
        graphs.node_ptr[np.searchsorted(graphs.asn, asn)] + node
        for asn, node in (
            (graphs.border_near_asn, graphs.border_near),
            (graphs.border_far_asn, graphs.border_far),
        )
    ]
    made = with_geometry(
        node_asn=np.repeat(graphs.asn, np.diff(graphs.node_ptr)),
        node_ptr=graphs.node_ptr,
        near=np.concatenate([near[once], between[0]]),
        far=np.concatenate([far[once], between[1]]),
        first_node_id=0,
        first_edge_id=0,
        seed=seed,
        drawn=0.0,
    )
    if graphs.weights is None:
        return made
    assert made.weight is not None
    own = graphs.weights[once]
    weight = made.weight.copy()
    weight[: len(own)] = np.where(np.isnan(own), weight[: len(own)], own)
    if (of_borders := graphs.border_columns.get("weight")) is not None:
        weight[len(own) :] = np.where(np.isnan(of_borders), weight[len(own) :], of_borders)
    return replace(made, weight=weight)
