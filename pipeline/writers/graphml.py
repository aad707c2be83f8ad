"""GraphML with typed attributes, as NetworkX, igraph, Gephi and our own reader take it."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import lines, of_xml, text_of, where_any, xml_type

_XMLNS = "http://graphml.graphdrawing.org/xmlns"
_ENDS = ("id", "tail", "head")


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    keys = [("node", field) for field in graph.node_fields if field.name not in _ENDS]
    keys += [("edge", field) for field in graph.edge_fields if field.name not in _ENDS]
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<graphml xmlns="{_XMLNS}">',
        '<key id="name" for="graph" attr.name="name" attr.type="string"/>',
        '<key id="unit" for="graph" attr.name="weight_unit" attr.type="string"/>',
        *(_key(about, field) for about, field in keys),
        f'<graph id="{of_xml(graph.name.partition(" ")[0])}" edgedefault="undirected">',
        f'<data key="name">{of_xml(graph.title)}</data>',
        f'<data key="unit">{of_xml(graph.weight_unit)}</data>',
    ]
    file.write(("\n".join(head) + "\n").encode())
    for part in graph.nodes():
        begin = lines_of(part, "node")
        file.write(lines('<node id="n', text_of(part["id"]), '">', *begin, "</node>\n"))
    for part in graph.edges(False):
        ends = text_of(part["tail"]), text_of(part["head"])
        begin = lines_of(part, "edge")
        file.write(
            lines('<edge source="n', ends[0], '" target="n', ends[1], '">', *begin, "</edge>\n")
        )
    file.write(b"</graph>\n</graphml>\n")


def lines_of(part: pa.Table, about: str) -> list[pa.Array]:
    """The data elements of each row, a column each; those without a value are left out."""
    return [
        where_any(text_of(part[name], of_xml), f'<data key="{_id(about, name)}">', "</data>")
        for name in part.column_names
        if name not in _ENDS
    ]


def _key(about: str, field: pa.Field) -> str:
    kind = xml_type(field.type)
    name = of_xml(field.name)
    return (
        f'<key id="{_id(about, field.name)}" for="{about}" attr.name="{name}" attr.type="{kind}"/>'
    )


def _id(about: str, name: str) -> str:
    return of_xml(f"{about}_{name}")
