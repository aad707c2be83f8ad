"""Snapshots of preferential-attachment ASes for ``bench_schedule``, made quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels import CSRGraph
from kernels.connected import components
from kernels.csr import hash_arrays
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.model.graphs import GraphSet
from pipeline.store import Snapshot, open_snapshot, write_snapshot

FIRST_ASN = 64512


@dataclass(frozen=True)
class Size:
    """One AS: routers, and links of each new router; the mean degree is twice that.

    ``copy`` distinguishes ASes of one size: it is the seed.
    """

    n_nodes: int
    m: int = 2
    copy: int = 1

    @property
    def text(self) -> str:
        """As tables name it: ``4.8 M routers, degree 4``."""
        return f"{self.n_nodes / 1e6:.3g} M routers, degree {2 * self.m}"


def make_snapshot(store: Path, name: str, sizes: Sequence[Size]) -> Snapshot:
    """Write one AS per size, numbered from 64512, and open the snapshot."""
    return make_snapshot_of(store, name, [graph_of(size) for size in sizes])


def graph_of(size: Size) -> CSRGraph:
    """Preferential attachment, node ids shuffled."""
    return barabasi_albert_graph(size.n_nodes, m=size.m, seed=size.copy, shuffled=True)


def make_snapshot_of(store: Path, name: str, graphs: Sequence[CSRGraph]) -> Snapshot:
    """The same of graphs that are there."""
    sizes = [components(graph).sizes for graph in graphs]
    n_nodes = np.array([graph.n_nodes for graph in graphs])
    n_arcs = np.array([graph.n_arcs for graph in graphs])
    n = len(graphs)
    none = np.empty(0, np.int64)
    write_snapshot(
        store,
        name,
        GraphSet(
            asn=np.arange(FIRST_ASN, FIRST_ASN + n, dtype=np.int64),
            node_ptr=np.append(0, np.cumsum(n_nodes)),
            arc_ptr=np.append(0, np.cumsum(n_arcs)),
            degree=np.concatenate([np.diff(g.indptr).astype(np.int32) for g in graphs]),
            indices=np.concatenate([g.indices for g in graphs]),
            graph_hash=[hash_arrays(g.indptr, g.indices) for g in graphs],
            component_count=np.array([len(parts) for parts in sizes], np.int64),
            largest_component=np.array([parts.max(initial=0) for parts in sizes], np.int64),
            # Searches start at the benchmark's own sources: one ingress per AS is enough.
            ingress_ptr=np.arange(n + 1),
            ingress_node=np.zeros(n, np.int32),
            neighbor_ptr=np.zeros(n + 1, np.int64),
            neighbor_asn=none,
            n_direct=np.ones(n, np.int64),
            n_after_gap=np.zeros(n, np.int64),
            candidate=np.zeros(n, bool),
            border_near_asn=none,
            border_near=none.astype(np.int32),
            border_far_asn=none,
            border_far=none.astype(np.int32),
        ),
        as_names={},
        inputs=[],
        options={},
        counts={},
        rejects=[],
    )
    return open_snapshot(store, name)
