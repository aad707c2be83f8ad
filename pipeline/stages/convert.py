"""A file in another format of its kind, without a store: topologies, traces, prefix tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from pipeline.config import ConvertConfig
from pipeline.errors import FormatError, UsageError
from pipeline.files import written_whole
from pipeline.ingest import open_reader
from pipeline.ingest.tables import PREFIXES
from pipeline.ingest.tables.prefixes.origins import prefixes_of
from pipeline.model.addresses import V4_PREFIX
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.measured.traces import TraceBatch
from pipeline.model.topology import NO_ASN, Topology
from pipeline.report.tables.node_names import addr_texts
from pipeline.stages.contents.export import format_of, write_graph
from pipeline.stages.input_files import NO_REPLIES, TraceFile, replies_of
from pipeline.stages.places import check_file
from pipeline.writers import (
    ADDRESSES,
    ASNS,
    IDS,
    LINK_COLUMNS,
    LONELY,
    NODE_COLUMNS,
    UNIT,
    WEIGHTS,
    WRITERS,
    is_warts,
)
from pipeline.writers.graph import ROWS_AT_ONCE, WrittenGraph, in_parts
from pipeline.writers.texts import lines, text_of

_OF_TRACES = ("csv", "parquet", "warts")
_PREFIXES = ".pfx2as"
# Notes of prefix tables on what is not kept, since an address has one AS.
_OF_ORIGINS = {
    "multi-origin": "further origins of prefixes",
    "AS set": "further ASes of AS sets",
    "listed again with another origin": "prefixes listed again with another origin",
}


def convert(config: ConvertConfig) -> dict[str, Any]:
    """Read a file and write it in another format.

    Returns
    -------
    dict
        What was read and written, ``lost``: what the format cannot hold, with how many there are,
        and the report of reading.

    Raises
    ------
    UsageError
        If no format is known by the ending of the output, it is not of the input's kind, or the
        file cannot be written.
    FormatError
        If nothing in the input can be used. What is whole of one that is cut short is written.
    """
    if config.out.suffix == _PREFIXES and config.format is None:
        return _convert_prefixes(config)
    format = config.format or ("warts" if is_warts(config.out) else format_of(config.out))
    check_file(config.out, f"converted{WRITERS[format].suffix if format in WRITERS else '.warts'}")
    report = ReadReport(printable_path(config.source))
    if config.out.exists() and config.source.samefile(config.out):
        raise UsageError(f"{config.out}: is the input; give another file to write")
    chosen, read = open_reader(config.source, report, config.input_format)
    facts: dict[str, Any] = {"in": str(config.source), "from": report.format, "format": format}
    if chosen.kind == "traces":
        facts |= _convert_traces(config, format)
        return facts
    if format == "warts":
        raise UsageError(f"{config.source}: holds a topology; warts holds traces")
    found: list[Topology] = []
    try:
        found += (each for each in read if isinstance(each, Topology))  # one; its rest may be cut
    except FormatError:
        if not found:
            raise
    if format == report.format == "brite":
        return facts | _brite_again(found[0], config.out, report)
    topology = _in_order(found[0])
    graph = written(topology, config.source.name)
    files = write_graph(graph, format, config.out)
    return facts | {
        "files": [str(path) for path in files],
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "lost": lost(topology, format),
        "report": report,
    }


def _brite_again(topology: Topology, path: Path, report: ReadReport) -> dict[str, Any]:
    """BRITE from BRITE: places, delays, bandwidths and types, too, which no other file has."""
    from pipeline.generate.files.brite_file import write_brite  # compiled code

    imported = "Model (8 - AS File)" if topology.kind == "as" else "Model (7 - RT File)"
    write_brite(topology, path, model=[imported])
    sizes = {"n_nodes": topology.n_nodes, "n_edges": topology.n_links}
    return sizes | {"files": [str(path)], "lost": {}, "report": report}


def _convert_traces(config: ConvertConfig, format: str) -> dict[str, Any]:
    """Warts, or a table: vantage, destination, TTL, address, RTT in ms, and what else is known."""
    traces = TraceFile(config.source, config.input_format or _detected(config.source))
    batches = traces.batches()
    if format not in _OF_TRACES:
        next(batches, None)  # what holds none is refused for what it is
        raise UsageError(
            f"{config.source}: holds traces, which are written as .csv, .parquet or .warts, not "
            f"{format}; to write a topology of them, ingest and export them"
        )
    if format == "warts":
        return _convert_to_warts(config, traces)
    schema = _renamed(NO_REPLIES).schema
    n_traces = n_replies = n_silent = 0
    begin = pacsv.CSVWriter if format == "csv" else partial(pq.ParquetWriter, compression="zstd")
    with written_whole(config.out) as file, begin(file, schema) as writer:
        try:
            for batch in batches:
                writer.write_table(_renamed(replies_of(batch, n_traces)))
                n_traces += batch.n_traces
                n_replies += len(batch.addr)
                n_silent += int((np.diff(batch.reply_ptr) == 0).sum())
        except FormatError:  # raised after everything valid
            if not n_traces:
                raise
    return {
        "files": [str(config.out)],
        "n_traces": traces.report.n_records,
        "n_replies": n_replies,
        "lost": {"traces without a reply": n_silent} if n_silent else {},
        "report": traces.report,
    }


def _convert_to_warts(config: ConvertConfig, traces: TraceFile) -> dict[str, Any]:
    from pipeline.writers import warts  # compiled code, which graphs do not need

    n_written = 0

    def until_fault() -> Iterator[TraceBatch]:
        nonlocal n_written
        try:
            for batch in traces.batches():
                yield batch
                n_written += batch.n_traces
        except FormatError:  # raised after everything valid
            if not n_written:
                raise

    lost = warts.write_file(until_fault(), config.out)
    return {
        "files": [str(config.out)],
        "n_traces": traces.report.n_records,
        "n_replies": traces.report.n_hops,
        "lost": dict(lost),
        "report": traces.report,
    }


def _renamed(replies: pa.Table) -> pa.Table:
    names = {"src": "vantage", "dst": "destination", "addr": "address", "rtt_ms": "rtt"}
    return replies.rename_columns([names.get(name, name) for name in replies.column_names])


def _convert_prefixes(config: ConvertConfig) -> dict[str, Any]:
    """A prefix table of any form as CAIDA's pfx2as: the fewest prefixes that say the same."""
    check_file(config.out, f"converted{_PREFIXES}")
    table, (report,) = PREFIXES.read_files([config.source])
    if not table.n_prefixes:
        raise FormatError(config.source, "", report.error.removeprefix(f"{report.path}: "))
    v4 = np.column_stack(
        [np.zeros(len(table.v4_first), np.uint64), table.v4_first.astype(np.uint64) | V4_PREFIX]
    )
    v4_end = np.array([[0, int(V4_PREFIX) + (1 << 32)]], np.uint64)
    v6_end = np.full((1, 2), np.iinfo(np.uint64).max, np.uint64)
    n = 0
    with written_whole(config.out) as file:
        parts = (
            (np.concatenate([v4, v4_end]), table.v4_asn.astype(np.int64), 96),
            (np.concatenate([table.v6.first, v6_end]), table.v6.asn, 0),
        )
        for bounds, asn, n_before in parts:
            last = bounds[1:].copy()
            last[:, 0] -= last[:, 1] == 0
            last[:, 1] -= np.uint64(1)
            known = asn > 0
            row, start, bits = prefixes_of(bounds[:-1][known], last[known])
            n += len(row)
            for at in range(0, len(row), ROWS_AT_ONCE):
                here = slice(at, at + ROWS_AT_ONCE)
                length = text_of(pa.array(bits[here] - n_before))
                origin = text_of(pa.array(asn[known][row[here]]))
                file.write(lines(addr_texts(start[here]), "\t", length, "\t", origin, "\n"))
    facts: dict[str, Any] = {"in": str(config.source), "from": report.format, "format": "pfx2as"}
    lost = {what: report.notes[note] for note, what in _OF_ORIGINS.items() if report.notes[note]}
    more = {"files": [str(config.out)], "n_prefixes": n, "lost": lost, "report": report}
    return facts | more


def _detected(path: Path) -> str:
    from pipeline.ingest import detect_format

    return detect_format(path)


def _in_order(topology: Topology) -> Topology:
    """With nodes of an AS one after another, as writers of clusters want them."""
    asn = topology.node_asn
    if topology.kind == "as" or not (np.diff(asn) < 0).any():
        return topology
    order = np.argsort(asn, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ids = np.arange(len(order)) if topology.node_id is None else topology.node_id
    return replace(
        topology,
        node_asn=asn[order],
        node_id=ids[order],
        node_addr=None if topology.node_addr is None else topology.node_addr[order],
        node_columns={name: column[order] for name, column in topology.node_columns.items()},
        near=place[topology.near],
        far=place[topology.far],
        addr_node=None if topology.addr_node is None else place[topology.addr_node],
    )


def written(topology: Topology, name: str) -> WrittenGraph:
    """A topology as writers take it."""
    ids = np.arange(topology.n_nodes) if topology.node_id is None else topology.node_id
    asn = topology.node_asn
    nodes = pa.table(
        {
            "id": ids,
            "asn": pa.array(asn, mask=asn == NO_ASN),
            "addr": _addrs(topology),
            **{name: _column(values) for name, values in topology.node_columns.items()},
        }
    )
    columns: dict[str, Any] = {"tail": ids[topology.near], "head": ids[topology.far]}
    if topology.weight is not None:
        columns["weight"] = pa.array(topology.weight, mask=np.isnan(topology.weight))
    columns |= {name: _column(values) for name, values in topology.link_columns.items()}
    edges = pa.table(columns)
    return WrittenGraph(
        name=name,
        title=name,
        weight_unit=topology.weight_unit,
        n_nodes=topology.n_nodes,
        n_edges=topology.n_links,
        node_fields=nodes.schema,
        edge_fields=edges.schema,
        nodes=partial(in_parts, nodes),
        edges=lambda texts: in_parts(_with_texts(topology, nodes, edges) if texts else edges),
        addresses=partial(_addresses, topology, ids),
        is_ases=topology.kind == "as",
    )


def _column(values: np.ndarray) -> pa.Array:
    return pa.array(values, pa.string()) if values.dtype.kind in "OU" else pa.array(values)


def _addrs(topology: Topology) -> pa.Array:
    if topology.node_addr is None:
        return pa.array([""] * topology.n_nodes, pa.string())
    known = topology.node_addr.any(axis=1)
    return pc.if_else(pa.array(known), addr_texts(topology.node_addr), "")


def _with_texts(topology: Topology, nodes: pa.Table, edges: pa.Table) -> pa.Table:
    ends = {"tail": topology.near, "head": topology.far}
    columns = {name: edges[name] for name in ends}
    columns |= {f"{end}_addr": nodes["addr"].take(pa.array(at)) for end, at in ends.items()}
    if (topology.node_asn != NO_ASN).any():
        columns |= {f"{end}_asn": nodes["asn"].take(pa.array(at)) for end, at in ends.items()}
    return pa.table(columns | {name: edges[name] for name in edges.column_names[2:]})


def _addresses(topology: Topology, ids: np.ndarray) -> Iterator[pa.Table]:
    addrs, node = topology.addrs, topology.addr_node
    if addrs is None or node is None:
        if topology.node_addr is None:
            return
        node = np.flatnonzero(topology.node_addr.any(axis=1))
        addrs = topology.node_addr[node]
    order = np.argsort(node, kind="stable")
    table = pa.table({"id": ids[node[order]], "addr": addr_texts(addrs[order])})
    yield from in_parts(table)


def lost(topology: Topology, format: str) -> dict[str, int]:
    """How much of each thing that a topology holds a format cannot hold, where there is any."""
    ids = topology.node_id
    n_weights = 0 if topology.weight is None else int((~np.isnan(topology.weight)).sum())
    has_link = np.zeros(topology.n_nodes, bool)
    has_link[topology.near] = has_link[topology.far] = True
    n_addrs = 0 if topology.node_addr is None else int(topology.node_addr.any(axis=1).sum())
    is_numbered = ids is None or (ids == np.arange(len(ids))).all()
    held = {
        ASNS: int((topology.node_asn != NO_ASN).sum()),
        ADDRESSES: n_addrs if topology.addrs is None else len(topology.addrs),
        WEIGHTS: n_weights,
        UNIT: n_weights if topology.weight_unit == "ms" else 0,
        NODE_COLUMNS: len(topology.node_columns),
        LINK_COLUMNS: len(topology.link_columns),
        LONELY: int((~has_link).sum()),
        IDS: 0 if is_numbered else topology.n_nodes,
    }
    carries = WRITERS[format].carries
    return {what: n for what, n in held.items() if n and what not in carries}
