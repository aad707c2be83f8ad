"""A graph as it is written: some rows at a time, as often as a writer asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class WrittenGraph:
    """What writers write.

    Attributes
    ----------
    name : str
        Of ours: ``AS3356 of night``.
    title : str
        Text of a third party, such as the name of an AS; may be empty.
    weight_unit : str
    n_nodes, n_edges : int
    node_fields : pyarrow.Schema
        Of ``nodes``: ``id`` (int64), ``asn`` (int64, null for none), ``addr`` (text), others.
    edge_fields : pyarrow.Schema
        Of ``edges``: ``tail``, ``head`` (ids), ``weight`` if there are any, others.
    nodes : callable
        -> tables of at most ``ROWS_AT_ONCE`` nodes, those of an AS one after another.
    edges : callable
        (texts) -> tables of edges, each once; with ``texts`` also ``tail_addr`` and ``head_addr``.
    addresses : callable
        -> tables of ``id`` and ``addr``, every address of every node; ids ascend.
    is_ases : bool
        Whether nodes are ASes.
    """

    name: str
    title: str
    weight_unit: str
    n_nodes: int
    n_edges: int
    node_fields: pa.Schema
    edge_fields: pa.Schema
    nodes: Callable[[], Iterator[pa.Table]]
    edges: Callable[[bool], Iterator[pa.Table]]
    addresses: Callable[[], Iterator[pa.Table]]
    is_ases: bool = False

    @property
    def has_weights(self) -> bool:
        return "weight" in self.edge_fields.names

    def node_ids(self) -> np.ndarray:
        """(n_nodes,) int64, as the nodes come."""
        parts = [part["id"].to_numpy() for part in self.nodes()]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def ends(self) -> np.ndarray:
        """(2, n_edges) int64: ids of both ends of each edge."""
        parts = [np.stack([part[end].to_numpy() for end in ("tail", "head")]) for part in
                 self.edges(False)]  # fmt: skip
        return np.concatenate([np.empty((2, 0), np.int64), *parts], axis=1)


def in_parts(table: pa.Table) -> Iterator[pa.Table]:
    """A table, at most ``ROWS_AT_ONCE`` rows at a time."""
    for start in range(0, table.num_rows, ROWS_AT_ONCE):
        yield table.slice(start, ROWS_AT_ONCE)
