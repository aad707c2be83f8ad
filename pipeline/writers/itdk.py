"""ITDK files: ``X.links``, and beside it ``X.nodes`` and ``X.nodes.as``, as CAIDA writes them.

Nodes are numbered from 1, as the ids from 0 on say. A link has two ends, without the addresses of
its interfaces, which are not kept for each link.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.files import written_whole
from pipeline.model.words import printable
from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import lines, text_of

METHOD = "hopscope"


def write_beside(graph: WrittenGraph, path: Path) -> list[Path]:
    """Write ``X.nodes`` and ``X.nodes.as`` beside ``X.links``; the paths."""
    stem = path.name.removesuffix(".links")
    nodes, owners = path.with_name(stem + ".nodes"), path.with_name(stem + ".nodes.as")
    head = f"# {printable(graph.name)}\n".encode()
    with written_whole(nodes) as file:
        file.write(head)
        last = -1
        for part in graph.addresses():
            file.write(_nodes(part, last))
            last = part["id"][-1].as_py()
        file.write(b"\n" if last >= 0 else b"")
    with written_whole(owners) as file:
        file.write(head)
        for part in graph.nodes():
            known = part.filter(pc.is_valid(part["asn"]))
            if known.num_rows:
                ends = _number(known["id"]), " ", text_of(known["asn"])
                file.write(lines("node.AS N", *ends, f" {METHOD}\n"))
    return [nodes, owners]


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    file.write(f"# {printable(graph.name)}\n".encode())
    n = 1
    for part in graph.edges(False):
        number = text_of(pa.array(np.arange(n, n + part.num_rows)))
        n += part.num_rows
        ends = _number(part["tail"]), " N", _number(part["head"])
        file.write(lines("link L", number, ":  N", *ends, "\n"))


def _number(ids: pa.ChunkedArray) -> pa.Array:
    return text_of(pc.add(ids, 1))


def _nodes(part: pa.Table, last: int) -> bytes:
    """A line each node, with all of its addresses; ``last`` is the node of the line before."""
    ids = part["id"].to_numpy()
    first = np.diff(ids, prepend=last) != 0
    begin = np.where(first, "\nnode N", "").astype(object)
    if last < 0:
        begin[:1] = "node N"
    number = pc.if_else(pa.array(first), _number(part["id"]), "")
    colon = np.where(first, ":  ", " ").astype(object)
    return lines(pa.array(begin), number, pa.array(colon), text_of(part["addr"]))
