"""DOT for Graphviz: a cluster for each AS, weights as labels of links."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import label, lines, of_dot, text_of, where_any


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    file.write(f'graph "{of_dot(graph.name)}" {{\n'.encode())
    file.write(b'node [shape="box", fontsize="10"];\n')
    open_asn: int | None = None
    for part in graph.nodes():
        asn = pc.fill_null(part["asn"], -1).to_numpy()
        bounds = np.append(np.flatnonzero(np.diff(asn, prepend=asn[:1] - 1)), len(asn))
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            of_as = int(asn[begin])
            if of_as != open_asn and not graph.is_ases:
                file.write(_cluster(open_asn, of_as))
                open_asn = of_as
            file.write(_nodes(part.slice(begin, end - begin)))
    file.write(_cluster(open_asn, None))
    for part in graph.edges(False):
        ends = text_of(part["tail"]), text_of(part["head"])
        weight: list[str | pa.Array] = []
        if graph.has_weights:
            unit = of_dot(graph.weight_unit)
            unit = f" {unit}" if graph.weight_unit == "ms" else ""
            weight.append(where_any(text_of(part["weight"]), ' [label="', f'{unit}"]'))
        file.write(lines("n", ends[0], " -- n", ends[1], *weight, ";\n"))
    file.write(b"}\n")


def _cluster(before: int | None, asn: int | None) -> bytes:
    """The end of one cluster and the beginning of the next; nodes in no AS are in none."""
    end = "" if before is None or before < 0 else "}\n"
    if asn is None or asn < 0:
        return end.encode()
    return f'{end}subgraph "cluster_AS{asn}" {{\nlabel="AS{asn}";\n'.encode()


def _nodes(part: pa.Table) -> bytes:
    return lines("n", text_of(part["id"]), ' [label="', label(part, of_dot), '"];\n')
