"""BRITE, in the dialect of its Java engine: weights as lengths, nodes without a place."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import lines, text_of


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    """Models 7 and 8 of BRITE are imported topologies."""
    ids = graph.node_ids()
    order = np.argsort(ids)
    degree = np.zeros(len(ids), np.int64)
    ends = np.searchsorted(ids[order], graph.ends())
    np.add.at(degree, order[ends[0]], 1)
    np.add.at(degree, order[ends[1]], 1)
    asn = np.concatenate(
        [np.empty(0, np.int64), *(pc.fill_null(p["asn"], -1).to_numpy() for p in graph.nodes())]
    )
    model = "8 - AS File" if graph.is_ases else "7 - RT File"
    file.write(f"Topology: ( {graph.n_nodes} Nodes, {graph.n_edges} Edges )\n".encode())
    file.write(f"Model ({model})\n\nNodes: ( {graph.n_nodes} )\n".encode())
    kind = "AS_NODE" if graph.is_ases else "RT_NODE"
    at = 0
    for part in graph.nodes():
        here = slice(at, at + part.num_rows)
        at += part.num_rows
        degrees = text_of(pa.array(degree[here]))
        columns = (degrees, "\t", degrees, "\t", text_of(pa.array(asn[here])), f"\t{kind}\n")
        file.write(lines(text_of(part["id"]), "\t0\t0\t", *columns))
    file.write(f"\n\nEdges: ( {graph.n_edges} )\n".encode())
    n = 0
    for part in graph.edges(False):
        number = text_of(pa.array(np.arange(n, n + part.num_rows)))
        n += part.num_rows
        tail, head = (part[end].to_numpy() for end in ("tail", "head"))
        asns = [asn[order[np.searchsorted(ids[order], end)]] for end in (tail, head)]
        length: pa.Array | str = "0"
        if graph.has_weights:
            known = pc.fill_null(pc.is_finite(part["weight"]), False)
            length = text_of(pc.if_else(known, part["weight"], pa.scalar(0, part["weight"].type)))
        same = pa.array((asns[0] == asns[1]) & (not graph.is_ases))
        type_ = pc.if_else(same, "E_RT", "E_AS")
        columns_of_edge = (
            *(number, "\t", text_of(part["tail"]), "\t", text_of(part["head"]), "\t", length),
            *("\t0\t0\t", text_of(pa.array(asns[0])), "\t", text_of(pa.array(asns[1])), "\t"),
            *(type_, "\tU\n"),
        )
        file.write(lines(*columns_of_edge))
