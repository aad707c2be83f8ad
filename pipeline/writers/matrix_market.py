"""Matrix Market: the lower half of the symmetric matrix; weights if every link has one."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.words import printable
from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import lines, text_of


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    """Nodes are numbered from 1 in the order of their ids."""
    ids = np.sort(graph.node_ids())
    kind = "real" if _all_weighed(graph) else "pattern"
    file.write(f"%%MatrixMarket matrix coordinate {kind} symmetric\n".encode())
    file.write(f"% {printable(graph.name)}\n".encode())
    file.write(f"{len(ids)} {len(ids)} {graph.n_edges}\n".encode())
    for part in graph.edges(False):
        ends = (np.searchsorted(ids, part[end].to_numpy()) + 1 for end in ("tail", "head"))
        tail, head = ends
        row, column = np.maximum(tail, head), np.minimum(tail, head)
        texts: list[str | pa.Array] = [text_of(pa.array(row)), " ", text_of(pa.array(column))]
        if kind == "real":
            texts += [" ", text_of(part["weight"])]
        file.write(lines(*texts, "\n"))


def _all_weighed(graph: WrittenGraph) -> bool:
    if not graph.has_weights:
        return False
    return all(
        pc.all(pc.fill_null(pc.is_finite(part["weight"]), False)).as_py() is not False
        for part in graph.edges(False)
    )
