"""Graphs of some ASes in the likeness of others, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from kernels.csr import Shard
from pipeline.generate.csr import shuffled_ids
from pipeline.generate.likeness.clustering import cluster
from pipeline.generate.likeness.drawing import draw_values, link_values
from pipeline.generate.likeness.law import Components, components_of, law_of
from pipeline.generate.likeness.linking import connect, link
from pipeline.generate.likeness.plan import Plan, plan_of
from pipeline.generate.likeness.scaling import classes_of_scaled
from pipeline.generate.likeness.settling import settle
from pipeline.generate.shares import part as part_of_work
from pipeline.model.columns.ragged import offsets


@dataclass(frozen=True, eq=False)
class Block:
    """Graphs as they are made; node ids are those of the block, rows are sorted.

    Attributes
    ----------
    node_ptr : (n_graphs + 1,) int64
    indptr, indices : (n_nodes + 1,) int64, (n_arcs,) int32
    values : (n_arcs,) float32 or None
    ingress : (n_ingresses,) int64
        Nodes, ascending.
    law : (n_nodes,) int64
        Class of the original of each node; ``of_original``: that of the original's nodes.
    of_original : (n_originals,) int64
    n_lacking, n_across : int
        Links that could not be made, and exchanges of ends of two classes (``linking``).
    """

    node_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    ingress: np.ndarray
    law: np.ndarray
    of_original: np.ndarray
    n_lacking: int
    n_across: int


def make_block(
    shard: Shard,
    values: np.ndarray | None,
    is_ingress: np.ndarray,
    graph: np.ndarray,
    size: np.ndarray,
    seed: int,
    first: int,
    *,
    mark: np.ndarray | None = None,
    n_threads: int | None = None,
) -> Block:
    """Make graphs in the likeness of those of a shard.

    Parameters
    ----------
    shard : Shard
    values : (n_arcs,) float32 or None
        Of its arcs.
    is_ingress : (n_nodes,) bool
        Of its nodes.
    graph : (n_graphs,) int64
        Graph of the shard that each is like.
    size : (n_graphs,) int64
        Nodes of each.
    seed, first : int
        ``first`` numbers the first graph among all that are made with a seed.
    mark : (n_nodes,) int64 or None
        Of the shard: links between nodes of each two marks stay as many, but where graphs are
        scaled.
    n_threads : int or None
        None: one per core. The result is the same on any number.
    """
    parts = components_of(shard)
    row, part, part_size = _components_to_make(parts, graph, size)
    merged, degrees = np.diff(shard.indptr), {}
    for i in np.flatnonzero(part_size != parts.size[part]).tolist():
        own = np.flatnonzero(parts.of_node == part[i])
        degrees[int(part[i])] = np.diff(shard.indptr)[own]
        merged[own] = classes_of_scaled(merged[own], int(part_size[i]))
    scaled = np.zeros(len(parts.size), bool)
    scaled[list(degrees)] = True
    law = law_of(shard, parts, is_ingress, merged, scaled, mark, n_threads)
    plan = plan_of(law, part, part_size, degrees)
    node_ptr = offsets(np.bincount(row, weights=part_size, minlength=len(graph)).astype(np.int64))
    with part_of_work(0.1, 0.3):
        indptr, indices, n_lacking = link(plan, seed, first)
    with part_of_work(0.3, 0.5):
        settle(plan, indptr, indices, seed, first)
    n_across = connect(indptr, indices, plan.kind, plan.kind_group)
    with part_of_work(0.5, 0.8):
        cluster(plan, indptr, indices, seed, first, n_threads)
    n_across += connect(indptr, indices, plan.kind, plan.kind_group)
    node_class = plan.node_class()
    ids = np.empty(len(node_class), np.int32)
    for i, (begin, end) in enumerate(
        zip(node_ptr[:-1].tolist(), node_ptr[1:].tolist(), strict=True)
    ):
        ids[begin:end] = shuffled_ids(end - begin, seed, first + i)
        ids[begin:end] += begin
    chosen = _ingresses(plan, law.n_ingresses, law.n_nodes, row)
    indptr, indices = _renumbered(indptr, indices, ids)
    of_node = np.empty(len(ids), np.int64)
    of_node[ids] = plan.law[node_class]
    drawn = None
    if values is not None:
        # By kind: links change their classes while they settle.
        of_original = law.kind[law.of_node]
        of = link_values(shard.indptr, shard.indices, values, of_original, len(law.degree))
        drawn = draw_values(indptr, indices, law.kind[of_node], of)
    return Block(
        node_ptr=node_ptr,
        indptr=indptr,
        indices=indices,
        values=drawn,
        ingress=np.sort(ids[chosen]).astype(np.int64),
        law=of_node,
        of_original=law.of_node,
        n_lacking=n_lacking,
        n_across=n_across,
    )


def _components_to_make(
    parts: Components, graph: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row of ``graph``, component of the shard and number of nodes of each one to make.

    A graph of the same size has the same components. In another one the small components stay as
    large as they are, and there are more or fewer of them; the largest takes the rest, unless all
    are single nodes.
    """
    order = np.lexsort((-parts.size, parts.graph))
    of_graph = np.searchsorted(parts.graph[order], np.arange(parts.graph.max(initial=-1) + 2))
    rows, chosen, sizes = [], [], []
    for i, (g, wanted) in enumerate(zip(graph.tolist(), size.tolist(), strict=True)):
        own = order[of_graph[g] : of_graph[g + 1]]
        own_sizes = parts.size[own]
        total = int(own_sizes.sum())
        if wanted != total and len(own) > 1 and own_sizes[0] == 1:  # no links at all
            own = own[((np.arange(wanted) + 0.5) * total / wanted).astype(np.int64)]
            own_sizes = np.ones(wanted, np.int64)
        elif wanted != total:
            n_others = round((len(own) - 1) * wanted / total)
            at = 1 + ((np.arange(n_others) + 0.5) * (len(own) - 1) / max(n_others, 1)).astype(int)
            at = at[
                np.cumsum(own_sizes[at])
                <= max(wanted - 2, wanted * (total - own_sizes[0]) // total)
            ]
            at = at[np.cumsum(own_sizes[at]) < wanted]
            rest = wanted - int(own_sizes[at].sum())
            own = np.append(own[:1], own[at])
            own_sizes = np.append(rest, own_sizes[at])
        rows.append(np.full(len(own), i))
        chosen.append(own)
        sizes.append(own_sizes)
    return np.concatenate(rows), np.concatenate(chosen), np.concatenate(sizes)


def _ingresses(
    plan: Plan, n_ingresses: np.ndarray, n_nodes: np.ndarray, row: np.ndarray
) -> np.ndarray:
    """Nodes of the plan: of each class the share of the original's, spread evenly over it."""
    size = np.diff(plan.class_ptr)
    expected = size * (n_ingresses[plan.law] / n_nodes[plan.law])
    graph = row[plan.group]
    before = np.cumsum(expected)
    # Rounded sums, from each graph's own beginning: a graph does not depend on those before it.
    first = np.searchsorted(graph, np.arange(graph.max(initial=-1) + 1))
    begun = np.append(0.0, before)[first][graph]
    sums = np.floor(before - begun + 0.5 + 1e-6).astype(np.int64)
    wanted = np.diff(sums, prepend=0)
    wanted[first] = sums[first]
    some = np.bincount(graph, weights=expected) > 0
    for g in np.flatnonzero(some & (np.bincount(graph, weights=wanted) == 0)).tolist():
        own = np.flatnonzero(graph == g)
        wanted[own[np.argmax(expected[own])]] = 1  # one at least where the original has some
    wanted = np.minimum(wanted, size)
    place = np.arange(wanted.sum()) - np.repeat(np.cumsum(wanted) - wanted, wanted)
    per = np.repeat(size / np.maximum(wanted, 1), wanted)
    return np.repeat(plan.class_ptr[:-1], wanted) + ((place + 0.5) * per).astype(np.int64)


def _renumbered(
    indptr: np.ndarray, indices: np.ndarray, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The CSR with new ids of nodes, rows sorted."""
    degree = np.empty(len(ids), np.int64)
    degree[ids] = np.diff(indptr)
    new_ptr, new_indices = offsets(degree), np.empty(len(indices), np.int32)
    _renumber(indptr, indices, ids, new_ptr, new_indices)
    return new_ptr, new_indices


@njit(cache=True, nogil=True)
def _renumber(indptr, indices, ids, new_ptr, new_indices):
    # By tail of the other arc, so that each row fills in ascending order: no row needs sorting.
    old = np.empty(len(ids), np.int32)
    for u in range(len(ids)):
        old[ids[u]] = u
    at = new_ptr[:-1].copy()
    for new in range(len(ids)):
        u = old[new]
        for k in range(indptr[u], indptr[u + 1]):
            v = ids[indices[k]]
            new_indices[at[v]] = new
            at[v] += 1
