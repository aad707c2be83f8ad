"""Graphs of a store for other programs: one AS or a whole snapshot, as routers, borders or ASes."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from pipeline.config import ExportConfig
from pipeline.errors import UsageError
from pipeline.files import written_whole
from pipeline.model.measured.origins import origins_of
from pipeline.model.topology import SILENT
from pipeline.report.tables.node_names import node_texts
from pipeline.report.tables.places import place_columns
from pipeline.stages.contents.exported import exported
from pipeline.stages.contents.snapshots import row_of
from pipeline.stages.places import check_file
from pipeline.store import Snapshot, open_snapshot
from pipeline.writers import WRITERS
from pipeline.writers.graph import WrittenGraph


def export(config: ExportConfig) -> dict[str, Any]:
    """Write the graph of one AS, or of all, to a file, or to standard output.

    Raises
    ------
    UsageError
        If the snapshot does not have the AS, or the file cannot be written.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    format = config.format or format_of(config.out)
    if config.out is None and not WRITERS[format].is_text:
        raise UsageError(f"--format {format} is not text: give --out FILE")
    if config.out is not None:
        what = "all" if config.asn is None else f"AS{config.asn}"
        check_file(config.out, f"{what}{WRITERS[format].suffix}")
    with open_snapshot(config.store, config.snapshot) as snapshot:
        rows = np.arange(snapshot.n_ases)
        if config.asn is not None:
            rows = rows[[row_of(snapshot, config.asn)]]
        graph = exported(snapshot, rows, config.level)
        files = write_graph(graph, format, config.out)
        origins = origins_of(snapshot.manifest, snapshot.asn)
        kind = snapshot.kind
        if config.asn is not None:
            kind = origins.kind_of(origins.source_of(config.asn))
        return {
            "snapshot": snapshot.name,
            "asn": config.asn,
            "level": config.level,
            "node_kind": "as" if graph.is_ases else kind,
            "format": format,
            "out": None if config.out is None else str(config.out),
            "files": [str(path) for path in files],
            "n_nodes": graph.n_nodes,
            "n_edges": graph.n_edges,
        }


def write_graph(graph: WrittenGraph, format: str, out: Path | None) -> list[Path]:
    """Write a graph; the files that were written.

    Raises
    ------
    UsageError
        If a file cannot be written; what was there before is then unchanged.
    """
    writer = WRITERS[format].load()
    with contextlib.ExitStack() as stack:
        file: BinaryIO = sys.stdout.buffer
        if out is not None:
            file = stack.enter_context(written_whole(out))
        writer.write(graph, file)
    if out is None:
        return []
    write_beside = getattr(writer, "write_beside", None)
    return [out, *(write_beside(graph, out) if write_beside is not None else ())]


def format_of(out: Path | None) -> str:
    """The format that the name of a file ends with; GraphML without an ending.

    Raises
    ------
    UsageError
        If the ending is none of a format.
    """
    ending = "" if out is None else out.suffix.lower()
    if not ending:
        return "graphml"
    for name, writer in WRITERS.items():
        if ending in (writer.suffix, f".{name}"):
            return name
    known = ", ".join(writer.suffix for writer in WRITERS.values())
    raise UsageError(f"{out}: no format ends with {ending}; give {known}, or --format NAME")


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


def node_table(snapshot: Snapshot, row: int) -> pa.Table:
    """``addr`` and ``role`` of each node of an AS, by node id.

    A role is ``ingress``, ``candidate``, ``silent`` (without an address), or empty. Places too,
    where files gave any.
    """
    roles = np.full(snapshot.n_nodes[row], "", object)
    roles[len(roles) - snapshot.n_silent[row] :] = SILENT
    ingresses = snapshot.ingresses(np.array([row]))
    roles[ingresses.node] = np.where(ingresses.candidate, "candidate", "ingress")
    columns = {"addr": _texts(snapshot, row), "role": pa.array(roles, pa.string())}
    if snapshot.locations() is not None:
        nodes = np.arange(len(roles), dtype=np.int32)
        columns |= place_columns(snapshot, np.full(len(roles), row), nodes)
    return pa.table(columns)
