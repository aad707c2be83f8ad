"""The graph of one AS for other programs: GraphML, Parquet, CSV or an edge list."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from pipeline.config import ExportConfig
from pipeline.errors import UsageError
from pipeline.files import written_whole
from pipeline.model.measured.origins import origins_of
from pipeline.model.topology import SILENT
from pipeline.model.words import printable
from pipeline.report.tables.node_names import node_texts
from pipeline.stages.contents.snapshots import row_of
from pipeline.stages.places import check_file
from pipeline.store import Snapshot, open_snapshot

_ROWS_AT_ONCE = 1 << 16  # turned into text at a time
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_NOT_XML = re.compile("[\ufffe\uffff]")
_KINDS = {"b": "boolean", "i": "long", "u": "long", "f": "double"}  # of GraphML, by NumPy's


def export(config: ExportConfig) -> dict[str, Any]:
    """Write the graph of one AS to a file, or to standard output.

    Raises
    ------
    UsageError
        If the snapshot does not have the AS, or the file cannot be written.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    format = config.format or _format_of(config.out)
    if config.out is None and format == "parquet":
        raise UsageError("--format parquet is not text: give --out FILE")
    if config.out is not None:
        check_file(config.out, f"AS{config.asn}.{format}")
    with open_snapshot(config.store, config.snapshot) as snapshot:
        row = row_of(snapshot, config.asn)
        edges = edge_table(snapshot, row)
        with contextlib.ExitStack() as stack:
            file: BinaryIO = sys.stdout.buffer
            if config.out is not None:
                file = stack.enter_context(written_whole(config.out))
            WRITERS[format](snapshot, row, edges, file)
        origins = origins_of(snapshot.manifest, snapshot.asn)
        return {
            "snapshot": snapshot.name,
            "asn": config.asn,
            "node_kind": origins.kind_of(origins.source_of(config.asn)),
            "format": format,
            "out": None if config.out is None else str(config.out),
            "n_nodes": int(snapshot.n_nodes[row]),
            "n_edges": edges.num_rows,
        }


def _format_of(out: Path | None) -> str:
    """The format that the name of a file ends with; GraphML without an ending.

    Raises
    ------
    UsageError
        If the ending is none of a format.
    """
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    if ending and ending not in WRITERS:
        known = ", ".join(f".{name}" for name in WRITERS)
        raise UsageError(f"{out}: no format ends with .{ending}; give {known}, or --format NAME")
    return ending or "graphml"


def edge_table(snapshot: Snapshot, row: int) -> pa.Table:
    """One row per edge of an AS, sorted by tail, then head.

    Returns
    -------
    pyarrow.Table
        ``tail`` and ``head``: node ids, the smaller first; ``tail_addr`` and ``head_addr``: their
        addresses (or ids of the input); ``weight`` if there are any; optional columns of links.
    """
    graph = snapshot.graph(row, weights=True)
    tail = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    once = np.flatnonzero(tail < graph.indices)
    texts = _texts(snapshot, row)
    columns: dict[str, Any] = {"tail": tail[once], "head": graph.indices[once]}
    columns |= {f"{end}_addr": texts.take(pa.array(columns[end])) for end in ("tail", "head")}
    if graph.weights is not None:
        weight = graph.weights[once]
        columns["weight"] = pa.array(weight, mask=np.isnan(weight))
    others = {name: values[once] for name, values in snapshot.arc_columns(row).items()}
    return pa.table(columns | others)


def _texts(snapshot: Snapshot, row: int) -> pa.Array:
    nodes = np.arange(snapshot.n_nodes[row])
    return node_texts(snapshot, np.full(len(nodes), row), nodes)


def _write_parquet(snapshot: Snapshot, row: int, edges: pa.Table, file: BinaryIO) -> None:
    about = {"snapshot": snapshot.name, "asn": str(snapshot.asn[row])}
    about |= {"weight_unit": snapshot.weight_unit, "n_nodes": str(snapshot.n_nodes[row])}
    pq.write_table(edges.replace_schema_metadata(about), file, compression="zstd")


def _write_csv(snapshot: Snapshot, row: int, edges: pa.Table, file: BinaryIO) -> None:
    pacsv.write_csv(edges, file)


def _write_edges(snapshot: Snapshot, row: int, edges: pa.Table, file: BinaryIO) -> None:
    """As SNAP publishes edge lists: our reader takes them too."""
    n_nodes = snapshot.n_nodes[row]
    file.write(f"# AS{snapshot.asn[row]} of {snapshot.name}\n".encode())
    file.write(f"# Nodes: {n_nodes} Edges: {edges.num_rows}\n# FromNodeId\tToNodeId\n".encode())
    options = pacsv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    pacsv.write_csv(edges.select(["tail", "head"]), file, write_options=options)


def _write_graphml(snapshot: Snapshot, row: int, edges: pa.Table, file: BinaryIO) -> None:
    nodes, links = node_table(snapshot, row), edges.drop_columns(["tail_addr", "head_addr"])
    keys = [("node", field) for field in nodes.schema]
    keys += [("edge", field) for field in links.schema if field.name not in ("tail", "head")]
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<graphml xmlns="{_GRAPHML}">',
        '<key id="name" for="graph" attr.name="name" attr.type="string"/>',
        '<key id="unit" for="graph" attr.name="weight_unit" attr.type="string"/>',
        *(_key(about, field) for about, field in keys),
        f'<graph id="AS{snapshot.asn[row]}" edgedefault="undirected">',
        f'<data key="name">{_escaped(snapshot.as_name[row])}</data>',
        f'<data key="unit">{_escaped(snapshot.weight_unit)}</data>',
    ]
    file.write(("\n".join(head) + "\n").encode())
    for start, values in _in_parts(nodes):
        lines = (
            f'<node id="n{start + i}">{data}</node>\n'
            for i, data in enumerate(_data("node", values))
        )
        file.write("".join(lines).encode())
    for _, values in _in_parts(links):
        ends = zip(values.pop("tail"), values.pop("head"), strict=True)
        rows = zip(ends, _data("edge", values, links.num_rows), strict=False)
        lines = (f'<edge source="n{a}" target="n{b}">{data}</edge>\n' for (a, b), data in rows)
        file.write("".join(lines).encode())
    file.write(b"</graph>\n</graphml>\n")


def node_table(snapshot: Snapshot, row: int) -> pa.Table:
    """``addr`` and ``role`` of each node of an AS, by node id.

    A role is ``ingress``, ``candidate``, ``silent`` (without an address), or empty.
    """
    roles = np.full(snapshot.n_nodes[row], "", object)
    roles[len(roles) - snapshot.n_silent[row] :] = SILENT
    ingresses = snapshot.ingresses(np.array([row]))
    roles[ingresses.node] = np.where(ingresses.candidate, "candidate", "ingress")
    return pa.table({"addr": _texts(snapshot, row), "role": pa.array(roles, pa.string())})


def _key(about: str, field: pa.Field) -> str:
    kind = _KINDS.get(np.dtype(field.type.to_pandas_dtype()).kind, "string")
    name = quoteattr(printable(field.name))
    return (
        f'<key id={_key_id(about, field.name)} for="{about}" attr.name={name} attr.type="{kind}"/>'
    )


def _key_id(about: str, name: str) -> str:
    return quoteattr(f"{about}_{printable(name)}")


def _in_parts(table: pa.Table) -> Iterator[tuple[int, dict[str, list]]]:
    for start in range(0, table.num_rows, _ROWS_AT_ONCE):
        yield start, table.slice(start, _ROWS_AT_ONCE).to_pydict()


def _data(about: str, columns: dict[str, list], n_rows: int = 0) -> Iterator[str]:
    """The data elements of each row; those without a value are left out."""
    if not columns:
        yield from [""] * n_rows
        return
    keys = [_key_id(about, name) for name in columns]
    for row in zip(*columns.values(), strict=True):
        yield "".join(
            f"<data key={key}>{_text(value)}</data>"
            for key, value in zip(keys, row, strict=True)
            if value is not None and value != ""
        )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _escaped(value) if isinstance(value, str) else repr(value)


def _escaped(text: str) -> str:
    """Text for XML, which has no place for these characters even where they are escaped."""
    return escape(_NOT_XML.sub("\ufffd", printable(text)))


WRITERS = {
    "graphml": _write_graphml,
    "parquet": _write_parquet,
    "edges": _write_edges,
    "csv": _write_csv,
}
