"""GEXF 1.3 for Gephi: nodes have their AS as an attribute, to be partitioned by."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pyarrow as pa

from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import label, lines, of_xml, text_of, where_any, xml_type

_XMLNS = "http://gexf.net/1.3"
_OWN = ("id", "tail", "head", "weight")


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<gexf xmlns="{_XMLNS}" version="1.3">',
        f"<meta><description>{of_xml(graph.name)}</description></meta>",
        '<graph defaultedgetype="undirected">',
        *_attributes("node", graph.node_fields),
        *_attributes("edge", graph.edge_fields),
        "<nodes>",
    ]
    file.write(("\n".join(head) + "\n").encode())
    for part in graph.nodes():
        head_of_node = ('<node id="n', text_of(part["id"]), '" label="', label(part, of_xml))
        file.write(lines(*head_of_node, '"><attvalues>', *_values(part), "</attvalues></node>\n"))
    file.write(b"</nodes>\n<edges>\n")
    n = 0
    for part in graph.edges(False):
        number = text_of(pa.array(np.arange(n, n + part.num_rows)))
        n += part.num_rows
        ends = text_of(part["tail"]), text_of(part["head"])
        begin: list[str | pa.Array] = [
            '<edge id="',
            number,
            '" source="n',
            ends[0],
            '" target="n',
            ends[1],
            '"',
        ]
        if graph.has_weights:
            begin.append(where_any(text_of(part["weight"]), ' weight="', '"'))
        file.write(lines(*begin, "><attvalues>", *_values(part), "</attvalues></edge>\n"))
    file.write(b"</edges>\n</graph>\n</gexf>\n")


def _attributes(about: str, fields: pa.Schema) -> list[str]:
    rows = [
        f'<attribute id="{of_xml(field.name)}" title="{of_xml(field.name)}" '
        f'type="{xml_type(field.type)}"/>'
        for field in fields
        if field.name not in _OWN
    ]
    return [f'<attributes class="{about}">', *rows, "</attributes>"]


def _values(part: pa.Table) -> list[pa.Array]:
    return [
        where_any(text_of(part[name], of_xml), f'<attvalue for="{of_xml(name)}" value="', '"/>')
        for name in part.column_names
        if name not in _OWN
    ]
