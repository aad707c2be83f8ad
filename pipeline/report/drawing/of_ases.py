"""Drawings of the graphs of ASes for their pages.

Graphs of up to ``MAX_WHOLE`` nodes are drawn whole. For larger ones the ingresses with the most
traces and one path to the node farthest from all ingresses are drawn; all others are folded, a node
for each layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup

from pipeline.model.columns.ragged import offsets, row_of_value
from pipeline.model.topology import SILENT
from pipeline.model.words import printable
from pipeline.report.drawing.layers import levels, place
from pipeline.report.drawing.picture import Picture, drawing, table_rows
from pipeline.report.tables.listed import Listed
from pipeline.report.tables.node_names import node_texts
from pipeline.report.tables.nodes.reach import row_groups
from pipeline.report.tables.summarise import Summary

MAX_WHOLE, MAX_LINKS = 300, 1500  # nodes and links of a graph that is drawn whole
MIN_NODES = 3  # a sentence says it of smaller ones
MAX_INGRESSES = 24  # of a folded graph
MAX_GROUPS = 6  # neighbours with a colour, the last one for all others
_MAX_LAYERS = 40  # of a folded graph


@dataclass(frozen=True)
class Drawn:
    """The graph of an AS as its page shows it.

    Attributes
    ----------
    svg, rows : Markup
        The drawing; the same as rows of a table: number, name, hops, numbers of linked nodes.
    groups : list of (group, asn or None, name, linked)
        Neighbours by colour; None: all others.
    n_nodes, n_folded : int
        Nodes that are drawn on their own; nodes folded into others.
    n_ingresses : int
        Ingresses that are drawn on their own, those with the most traces.
    from_ingress : bool
        False: there is no ingress, so layers begin at the node with the most links.
    """

    svg: Markup
    rows: Markup
    groups: list[tuple]
    n_nodes: int
    n_folded: int
    n_ingresses: int
    from_ingress: bool


@dataclass(frozen=True)
class _Ways:
    """Ingresses of one AS, most traces first, and who enters there."""

    nodes: list[int]
    group: dict[int, int]
    sides: list[tuple[int, int]]
    groups: list[tuple]


class Drawer:
    """Draws the ASes of a report, or of a part of it."""

    def __init__(self, summary: Summary, listed: Listed):
        table = summary.ingresses
        self._snapshot, self._rows = summary.snapshot, summary.rows
        self._ptr = summary.ingress_ptr
        self._node = table["ingress"].to_numpy()
        self._candidate = table["candidate"].to_numpy()
        self._n_direct = table["n_direct"].to_numpy()
        lists = table["neighbor_asns"].combine_chunks()
        self._neighbor_ptr = offsets(pc.list_value_length(lists).to_numpy())
        self._asn = pc.list_flatten(lists).to_numpy()
        counts = table["neighbor_n_direct"]
        self._count = np.zeros(len(self._asn), np.int64)
        if not counts.null_count:
            self._count = pc.list_flatten(counts).to_numpy()
        self._names = listed.names
        self._n_nodes = summary.ases["n_nodes"].to_numpy()
        self._n_edges = summary.ases["n_edges"].to_numpy()

    def all(self) -> list[Drawn | None]:
        """A drawing of each AS; None: it is too small for one."""
        n_nodes, n_edges = self._n_nodes, self._n_edges
        whole = (n_nodes <= MAX_WHOLE) & (n_edges <= MAX_LINKS) & (n_nodes >= MIN_NODES)
        pictures: list[tuple[Picture, _Ways, np.ndarray] | None] = [None] * len(n_nodes)
        for group in row_groups(np.flatnonzero(whole), n_nodes + 2 * n_edges):
            for i, found in zip(group.tolist(), self._whole(group), strict=True):
                pictures[i] = found
        for i in np.flatnonzero(~whole & (n_nodes >= MIN_NODES)).tolist():
            pictures[i] = self._folded(i)
        return self._named(pictures)

    def _whole(self, which: np.ndarray) -> Iterator[tuple[Picture, _Ways, np.ndarray]]:
        shard = self._snapshot.shard(self._rows[which])
        indptr, indices = np.asarray(shard.indptr), np.asarray(shard.indices)
        node_ptr = np.asarray(shard.node_ptr)
        graph = row_of_value(node_ptr)
        ways = [self._ways(i) for i in which.tolist()]
        sources = [
            first + node
            for k, first in enumerate(node_ptr[:-1].tolist())
            for node in ways[k].nodes or [_busiest(indptr, first, int(node_ptr[k + 1]))]
        ]
        level = levels(indptr, indices, np.array(sources, np.int64))
        places = place(indptr, indices, graph, level)
        order = np.lexsort((places.rank, places.layer, graph))
        where = np.empty(len(order), np.int64)  # of each node in the order of its picture
        where[order] = np.arange(len(order)) - node_ptr[graph[order]]
        tail = row_of_value(indptr)
        once = tail < indices
        ends = np.stack([where[tail[once]], where[indices[once]]], axis=1)
        link_ptr = np.searchsorted(tail[once], node_ptr)
        deepest = np.zeros(len(which), np.int64)
        np.maximum.at(deepest, graph, level + 1)
        for k in range(len(which)):
            here = order[node_ptr[k] : node_ptr[k + 1]]
            ids = here - node_ptr[k]
            at = where[node_ptr[k] : node_ptr[k + 1]]
            picture = Picture(
                names=[""] * len(here),
                layer=places.layer[here].tolist(),
                rank=places.rank[here].tolist(),
                of_layer=places.of_layer[here].tolist(),
                folded=[0] * len(here),
                links=ends[link_ptr[k] : link_ptr[k + 1]].tolist(),
                group=[ways[k].group.get(node, 0) for node in ids.tolist()],
                sides=[(group, int(at[node])) for group, node in ways[k].sides],
                n_groups=len(ways[k].groups),
                path=[],
                n_layers=int(deepest[k]),
                beyond=_beyond(ways[k]),
            )
            yield picture, ways[k], ids

    def _folded(self, i: int) -> tuple[Picture, _Ways, np.ndarray]:
        graph = self._snapshot.graph(int(self._rows[i]))
        indptr, indices = np.asarray(graph.indptr), np.asarray(graph.indices)
        ways = self._ways(i)
        sources = ways.nodes or [_busiest(indptr, 0, graph.n_nodes)]
        level = levels(indptr, indices, np.array(sources, np.int64))
        n_levels = int(level.max()) + 1
        step = -(-n_levels // _MAX_LAYERS)
        path = _path(indptr, indices, level)[::step]
        shown = list(dict.fromkeys([*ways.nodes[:MAX_INGRESSES], *path]))
        layer = np.where(level < 0, -(-n_levels // step), level // step)
        of_node = len(shown) + layer
        of_node[shown] = np.arange(len(shown))
        n_all = len(shown) + int(layer.max()) + 1
        size = np.bincount(of_node, minlength=n_all)
        tail, head = of_node[row_of_value(indptr)], of_node[indices]
        keys = np.unique(tail[tail != head] * n_all + head[tail != head])
        small_ptr = np.searchsorted(keys // n_all, np.arange(n_all + 1))
        level_of = np.concatenate([layer[shown], np.arange(n_all - len(shown))])
        places = place(small_ptr, keys % n_all, np.zeros(n_all, np.int64), level_of)
        order = np.lexsort((places.rank, places.layer))
        order = order[size[order] > 0]
        where = np.full(n_all, -1)
        where[order] = np.arange(len(order))
        once = keys // n_all < keys % n_all
        ids = np.array([*shown, *[-1] * (n_all - len(shown))])[order]
        at = {node: int(where[k]) for k, node in enumerate(shown)}
        picture = Picture(
            names=[""] * len(order),
            layer=places.layer[order].tolist(),
            rank=places.rank[order].tolist(),
            of_layer=places.of_layer[order].tolist(),
            folded=np.where(order < len(shown), 0, size[order]).tolist(),
            links=where[np.stack([keys // n_all, keys % n_all], axis=1)[once]].tolist(),
            group=[ways.group.get(node, 0) for node in ids.tolist()],
            sides=[(group, at[node]) for group, node in ways.sides if node in at],
            n_groups=len(ways.groups),
            path=[at[node] for node in path],
            n_layers=-(-n_levels // step),
            step=step,
            beyond=_beyond(ways),
        )
        return picture, ways, ids

    def _ways(self, i: int) -> _Ways:
        begin, end = self._ptr[i : i + 2].tolist()
        kept = np.flatnonzero(~self._candidate[begin:end]) + begin
        kept = kept[np.lexsort((self._node[kept], -self._n_direct[kept]))]
        of_asn: Counter[int] = Counter()
        flows = []
        ptr = self._neighbor_ptr
        for at in kept.tolist():
            node = int(self._node[at])
            for asn, n in zip(
                self._asn[ptr[at] : ptr[at + 1]].tolist(),
                self._count[ptr[at] : ptr[at + 1]].tolist(),
                strict=True,
            ):
                of_asn[asn] += n
                flows.append((-n, asn, node))
        first = sorted(of_asn, key=lambda asn: (-of_asn[asn], asn))
        alone = first if len(first) <= MAX_GROUPS else first[: MAX_GROUPS - 1]
        group_of = {asn: k for k, asn in enumerate(alone, 1)}
        groups: list[tuple] = [
            (k, asn, printable(self._names.get(asn) or ""), asn in self._names)
            for asn, k in group_of.items()
        ]
        if len(first) > len(alone):
            groups.append((MAX_GROUPS, None, "", False))
        sides = {(group_of.get(asn, MAX_GROUPS), node): None for _, asn, node in flows}
        group: dict[int, int] = {}
        for _, asn, node in sorted(flows):
            group.setdefault(node, group_of.get(asn, MAX_GROUPS))
        return _Ways(self._node[kept].tolist(), group, list(sides), groups)

    def _named(self, pictures: list) -> list[Drawn | None]:
        """The same with addresses, and drawn."""
        ids = [np.empty(0, np.int64) if one is None else one[2] for one in pictures]
        ptr = offsets([len(some) for some in ids])
        nodes = np.concatenate([np.empty(0, np.int64), *ids])
        rows = np.repeat(self._rows, np.diff(ptr))
        alone = nodes >= 0
        texts = np.full(len(nodes), "", object)
        texts[alone] = node_texts(self._snapshot, rows[alone], nodes[alone]).to_pylist()
        found: list[Drawn | None] = []
        for one, begin, end in zip(pictures, ptr[:-1].tolist(), ptr[1:].tolist(), strict=True):
            if one is None:
                found.append(None)
                continue
            picture, ways, _ = one
            names = [
                f"{n:,} more" if n else text or SILENT
                for n, text in zip(picture.folded, texts[begin:end].tolist(), strict=True)
            ]
            picture = replace(picture, names=names)
            n_folded = sum(picture.folded)
            n_nodes = picture.folded.count(0)
            shown = drawing(picture), table_rows(picture)
            n_ways = min(len(ways.nodes), MAX_INGRESSES) if n_folded else len(ways.nodes)
            found.append(Drawn(*shown, ways.groups, n_nodes, n_folded, n_ways, bool(ways.nodes)))
        return found


def _beyond(ways: _Ways) -> str:
    """What nodes are called to which no path leads: without an ingress all are unreached."""
    return "unreached" if ways.nodes else "apart"


def _busiest(indptr: np.ndarray, first: int, last: int) -> int:
    """The node of a graph with the most links, counted from its first."""
    return int(np.argmax(np.diff(indptr[first : last + 1])))


def _path(indptr: np.ndarray, indices: np.ndarray, level: np.ndarray) -> list[int]:
    """A shortest path from the sources to a node farthest from them."""
    node = int(np.argmax(level))
    path = [node]
    while level[node] > 0:
        near = indices[indptr[node] : indptr[node + 1]]
        node = int(near[level[near] == level[node] - 1][0])
        path.append(node)
    return path[::-1]
