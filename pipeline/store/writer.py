"""Graphs to a snapshot: files written aside, fsynced, renamed, then pointed to."""

from __future__ import annotations

import datetime
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa

from kernels.csr import hash_arrays
from kernels.host import n_cores
from pipeline.errors import StoreError, said_by_system
from pipeline.model.columns.gathered import Gathered
from pipeline.model.columns.ragged import offsets
from pipeline.model.graphs import NO_ID, GraphSet
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.locations import Locations
from pipeline.model.topology import SILENT
from pipeline.store.columns import (
    PARTS_AHEAD,
    Written,
    as_arrow,
    row_group_ends,
    write_columns,
    write_parts,
)
from pipeline.store.delays import delay_columns
from pipeline.store.observations import observation_tables
from pipeline.store.pointers import (
    NameTakenError,
    abandon_version,
    begin_version,
    publish_version,
)
from pipeline.store.pointers.nights import DefaultName
from pipeline.store.traces import write_traces
from pipeline.store.versions.held import unwritable
from pipeline.store.versions.manifest import COLUMN_DTYPES, file_sha256, write_manifest
from pipeline.store.versions.names import (
    ADDRESSES,
    ASES,
    BORDERS,
    EXITS,
    HOST_NAMES,
    INGRESSES,
    JOINS,
    LOCATIONS,
    REASONS,
    REJECTS,
    UNMAPPED,
    check_name,
    graph_file,
)
from pipeline.store.versions.pointer import fsync_file, fsync_folder
from pipeline.store.versions.schemas import order_fault

# Bytes of arrays in one pair of nodes and arcs files; on disk it is about half. A larger AS has a
# pair of its own, so no AS is ever spread over files.
FILE_BYTES = 1 << 30
_FILES_AT_ONCE = 4  # of nodes or of arcs
SMALL_ROW_GROUP = 1_000_000  # rows of tables that are read whole
RESERVED = {"degree", "addr_high", "addr_low", "id", "indices", "weight"}


def write_snapshot(
    store: Path,
    name: str | DefaultName,
    graphs: GraphSet,
    *,
    as_names: dict[int, str],
    inputs: list[dict],
    options: dict,
    counts: dict,
    rejects: Iterable[dict],
    warnings: Sequence[str] = (),
    host_names: HostNames | None = None,
    locations: Locations | None = None,
    organisations: Mapping[int, str] | None = None,
) -> Path:
    """Write graphs as a snapshot, which becomes the newest of the store.

    Parameters
    ----------
    store : Path
        Made if it is not there.
    name : str or DefaultName
        Replaced if it exists: readers see the former or this one, never a part of one. A default
        one replaces only a snapshot of the same origin.
    graphs : GraphSet
    as_names : dict of int to str
        asn -> name; ASes without one have none.
    inputs, options, counts
        For the manifest; anything that JSON can hold, other values as text.
    rejects : iterable of dict
        Broken records, one line each in rejects.jsonl.
    warnings : sequence of str
        For the manifest: what to know before trusting the numbers, one line each.
    host_names : HostNames or None
        Of addresses of the graphs.
    locations : Locations or None
        Of these, and of vantage points.
    organisations : mapping of int to str, or None
        asn -> organisation, equal only for ASes of one.

    Returns
    -------
    Path
        Folder of the files.

    Raises
    ------
    UsageError
        If the name cannot be one.
    StoreError
        If the store cannot be written (no space, no permission); the store is then unchanged.
    ValueError
        If rows do not ascend as readers need them, or an optional column cannot be kept.

    Notes
    -----
    Every file and folder is fsynced before the name points to it, so that the snapshot survives a
    power cut. Files and fields are described in docs/store.md.
    """
    store = Path(store)
    if isinstance(name, str):
        check_name(name)
    for column, values in {**graphs.node_columns, **graphs.arc_columns}.items():
        if _dtype_name(values) not in COLUMN_DTYPES:
            raise ValueError(f"optional column {column} has dtype {values.dtype}")
    if clash := RESERVED & (set(graphs.node_columns) | set(graphs.arc_columns)):
        raise ValueError(f"optional columns cannot be called {', '.join(sorted(clash))}")
    chosen, over = (name, None) if isinstance(name, str) else name.chosen_in(store)
    try:
        folder, lock = begin_version(store)
    except OSError as error:
        raise unwritable(store, error) from None
    try:
        try:
            rows, n_kept, sha256 = _write_files(
                folder, graphs, as_names, organisations or {}, host_names, locations, rejects
            )
            content = {
                "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                **_description(graphs),
                "counts": counts | n_kept,
                "warnings": list(warnings),
                "options": options,
                "inputs": inputs,
                "files": _entries(folder, rows, sha256),
            }
            while True:
                fsync_file(write_manifest(folder, {"name": chosen} | content))
                fsync_folder(folder)
                try:
                    return publish_version(store, chosen, folder, lock, over)
                except NameTakenError:  # in the meantime; only of a default name
                    assert not isinstance(name, str)
                    chosen, over = name.chosen_in(store)
        except OSError as error:
            raise StoreError(
                f"{store}: snapshot {chosen} could not be written ({said_by_system(error)}); "
                "the rest of the store is unchanged"
            ) from error
    except BaseException:
        abandon_version(store, chosen, folder, lock)
        raise


def _write_files(
    folder: Path,
    graphs: GraphSet,
    as_names: dict[int, str],
    organisations: Mapping[int, str],
    host_names: HostNames | None,
    locations: Locations | None,
    rejects: Iterable[dict],
) -> tuple[dict[str, int], dict[str, int], dict[str, str]]:
    """Write all but the manifest.

    Returns
    -------
    rows : dict of str to int
        Of each Parquet file by name.
    n_kept : dict of str to int
        Counts of traces.
    sha256 : dict of str to str
        Of the files of graphs, by name.
    """
    first_of_file = _cut_files(graphs)
    with ThreadPoolExecutor(1) as beside:  # it hashes weights, the ones of a large AS for long
        ases = beside.submit(_ases_table, graphs, as_names, organisations, first_of_file)
        written = _write_graphs(folder, graphs, np.append(first_of_file, graphs.n_ases))
    rows = {name: file.n_rows for name, file in written.items()}
    tables: list[tuple[str, pa.Table]] = [
        (ASES, ases.result()),
        (INGRESSES, _ingresses_table(graphs)),
        (EXITS, _exits_table(graphs)),
        (BORDERS, _borders_table(graphs)),
    ]
    if graphs.addrs is not None:
        tables.append((ADDRESSES, _addresses_table(graphs)))
    if graphs.observations is not None:
        tables += observation_tables(graphs.observations)
    if graphs.unmapped is not None:
        columns = [as_arrow(graphs.unmapped[:, half]) for half in (0, 1)]
        tables.append((UNMAPPED, pa.table(columns, names=["addr_high", "addr_low"])))
    if host_names is not None and len(host_names):
        tables.append((HOST_NAMES, host_names.table()))
    if locations is not None and len(locations):
        tables.append((LOCATIONS, locations.table()))
    if graphs.reasons is not None and not graphs.reasons.is_empty:
        tables.append((REASONS, graphs.reasons.owners.table()))
        tables.append((JOINS, graphs.reasons.joins.table()))
    for name, table in tables:
        if fault := order_fault(name, table):
            raise ValueError(f"{name} {fault}")
        whole = [*range(SMALL_ROW_GROUP, table.num_rows, SMALL_ROW_GROUP), table.num_rows]
        write_columns(folder / name, table, whole)
        rows[name] = table.num_rows
    with (folder / REJECTS).open("wb") as stream:
        for reject in rejects:
            stream.write(_json_line(reject))
    n_kept = {}
    if graphs.traces is not None:
        of_traces, n_kept["n_traces_kept"] = write_traces(folder, graphs.traces)
        rows |= of_traces
    return rows, n_kept, {name: file.sha256 for name, file in written.items()}


def _write_graphs(folder: Path, graphs: GraphSet, bounds: np.ndarray) -> dict[str, Written]:
    """Write the files of nodes and of arcs, some at once; what was written, by name."""
    writing: dict[str, Future[Written]] = {}
    kinds = (
        ("arcs", graphs.arc_ptr, _arc_columns(graphs)),
        ("nodes", graphs.node_ptr, _node_columns(graphs)),
    )
    with (
        ThreadPoolExecutor(min(n_cores(), PARTS_AHEAD)) as encoding,
        ThreadPoolExecutor(min(n_cores(), _FILES_AT_ONCE)) as pool,
    ):
        for number, (first, last) in enumerate(itertools.pairwise(bounds)):
            for kind, ptr, columns in kinds:
                base, ends = int(ptr[first]), row_group_ends(ptr[first : last + 1] - ptr[first])
                rows_of = {name: _from(base, column) for name, column in columns.items()}
                name = graph_file(kind, number)
                writing[name] = pool.submit(write_parts, folder / name, rows_of, ends, encoding)
        return {name: written.result() for name, written in writing.items()}


def _from(base: int, column: Callable[[slice], pa.Array]) -> Callable[[int, int], pa.Array]:
    """Rows of a column, counted from ``base``."""
    return lambda start, stop: column(slice(base + start, base + stop))


def _entries(folder: Path, rows: dict[str, int], sha256: dict[str, str]) -> dict[str, dict]:
    """Manifest entries of the files by name, once these are on disk."""
    paths = sorted(folder.glob("*.*"))
    with ThreadPoolExecutor(n_cores()) as pool:
        entries = pool.map(lambda path: _entry(path, rows, sha256), paths)
        return {path.name: entry for path, entry in zip(paths, entries, strict=True)}


def _entry(path: Path, rows: dict[str, int], sha256: dict[str, str]) -> dict:
    """Manifest entry of one file, once that is on disk."""
    fsync_file(path)
    known = sha256.get(path.name)
    entry = {"size_bytes": path.stat().st_size, "sha256": known or file_sha256(path)}
    return entry | ({"n_rows": rows[path.name]} if path.name in rows else {})


def _description(graphs: GraphSet) -> dict:
    """What a reader needs to know about the files, and a person about the graphs."""
    return {
        "kind": graphs.kind,
        "weight_unit": graphs.weight_unit,
        "has_weights": graphs.weights is not None,
        "has_addr": graphs.node_addr is not None,
        "has_id": graphs.node_id is not None,
        "node_columns": {n: _dtype_name(c) for n, c in graphs.node_columns.items()},
        "arc_columns": {n: _dtype_name(c) for n, c in graphs.arc_columns.items()},
        "n_ases": graphs.n_ases,
        "n_nodes": int(graphs.node_ptr[-1]),
        "n_edges": int(graphs.arc_ptr[-1]) // 2,
        "n_ingresses": int(np.count_nonzero(~graphs.candidate)),
        "n_candidates": int(np.count_nonzero(graphs.candidate)),
        "n_border_links": len(graphs.border_near),
        "n_unmapped": graphs.n_unmapped,
    }


def _cut_files(graphs: GraphSet) -> np.ndarray:
    """First AS row of each pair of nodes and arcs files; (n_files,) int64."""
    per_node = sum(c.itemsize for c in graphs.node_columns.values()) + 4
    per_node += (graphs.node_addr is not None) * 16 + (graphs.node_id is not None) * 8
    per_arc = sum(c.itemsize for c in graphs.arc_columns.values()) + 4
    per_arc += (graphs.weights is not None) * 4
    n_bytes = graphs.node_ptr * per_node + graphs.arc_ptr * per_arc
    first = []
    at = 0
    while at < graphs.n_ases:
        first.append(at)
        last = int(np.searchsorted(n_bytes, n_bytes[at] + FILE_BYTES, side="right")) - 1
        at = max(last, at + 1)
    return np.array(first, np.int64)


def _node_columns(graphs: GraphSet) -> dict[str, Callable[[slice], pa.Array]]:
    columns = {"degree": _rows_of(graphs.degree)}
    if graphs.node_addr is not None:
        columns["addr_high"] = _rows_of(graphs.node_addr[:, 0])
        columns["addr_low"] = _rows_of(graphs.node_addr[:, 1])
    if (ids := graphs.node_id) is not None:
        columns["id"] = lambda nodes: pa.array(ids[nodes], mask=ids[nodes] == NO_ID)
    return columns | {name: _rows_of(column) for name, column in graphs.node_columns.items()}


def _arc_columns(graphs: GraphSet) -> dict[str, Callable[[slice], pa.Array]]:
    columns = {"indices": _rows_of(graphs.indices)}
    if graphs.weights is not None:
        columns["weight"] = _rows_of(graphs.weights)
    return columns | {name: _rows_of(column) for name, column in graphs.arc_columns.items()}


def _rows_of(column: np.ndarray | Gathered) -> Callable[[slice], pa.Array]:
    return lambda rows: as_arrow(column[rows])


def _ases_table(
    graphs: GraphSet,
    as_names: dict[int, str],
    organisations: Mapping[int, str],
    first_of_file: np.ndarray,
) -> pa.Table:
    rows = np.arange(graphs.n_ases)
    file = np.searchsorted(first_of_file, rows, side="right") - 1
    first = first_of_file[file] if graphs.n_ases else rows
    candidates = np.append(0, np.cumsum(graphs.candidate))
    n_candidates = np.diff(candidates[graphs.ingress_ptr])
    n_arcs = np.diff(graphs.arc_ptr)
    none = np.zeros(graphs.n_ases, np.int64)
    unmapped, unseen = graphs.adjacent_unmapped, graphs.entered_unseen
    return pa.table(
        {
            "asn": graphs.asn.astype(np.uint32),
            "name": pa.array([as_names.get(asn) for asn in graphs.asn.tolist()], pa.string()),
            "n_nodes": np.diff(graphs.node_ptr),
            "n_edges": n_arcs // 2,
            "n_arcs": n_arcs,
            "n_components": graphs.component_count.astype(np.int64),
            "largest_component": graphs.largest_component.astype(np.int64),
            "n_ingresses": np.diff(graphs.ingress_ptr) - n_candidates,
            "n_candidates": n_candidates.astype(np.int64),
            "n_unmapped": none if unmapped is None else unmapped,
            "n_entered_unseen": none if unseen is None else unseen,
            "n_mpls_links": _marked(graphs.arc_columns.get("mpls"), graphs.arc_ptr) // 2,
            "n_may_hide_links": _marked(graphs.arc_columns.get("may_hide"), graphs.arc_ptr) // 2,
            "n_silent": _marked(graphs.node_columns.get(SILENT), graphs.node_ptr),
            "graph_hash": pa.array(graphs.graph_hash, pa.string()),
            "weights_hash": pa.array(_weights_hashes(graphs), pa.string()),
            "organisation": pa.array(map(organisations.get, graphs.asn.tolist()), pa.string()),
            "file": file.astype(np.int32),
            "node_start": graphs.node_ptr[:-1] - graphs.node_ptr[first],
            "arc_start": graphs.arc_ptr[:-1] - graphs.arc_ptr[first],
        }
    )


def _weights_hashes(graphs: GraphSet) -> list[str | None]:
    """``CSRGraph.weights_hash`` of each AS; None without weights."""
    if graphs.weights is None:
        return [None] * graphs.n_ases
    cuts = itertools.pairwise(graphs.arc_ptr.tolist())
    return [hash_arrays(graphs.weights[first:last]) for first, last in cuts]


def _marked(column: np.ndarray | Gathered | None, ptr: np.ndarray) -> np.ndarray:
    """Rows of each AS that a boolean column marks; none without it; (n_ases,) int64."""
    if column is None or column.dtype != bool:
        return np.zeros(len(ptr) - 1, np.int64)
    return np.diff(offsets(column[:])[ptr])


def _ingresses_table(graphs: GraphSet) -> pa.Table:
    return pa.table(
        {
            "asn": np.repeat(graphs.asn, np.diff(graphs.ingress_ptr)).astype(np.uint32),
            "node": graphs.ingress_node.astype(np.int32),
            "neighbor_asns": pa.LargeListArray.from_arrays(
                pa.array(graphs.neighbor_ptr.astype(np.int64)),
                pa.array(graphs.neighbor_asn.astype(np.uint32)),
            ),
            "neighbor_ixps": _exchange_points(graphs),
            "neighbor_n_direct": _of_neighbors(graphs),
            "n_direct": graphs.n_direct.astype(np.int64),
            "n_after_gap": graphs.n_after_gap.astype(np.int64),
            "candidate": graphs.candidate.astype(bool),
            "confidence": _confidence(graphs.confidence, len(graphs.candidate)),
            **delay_columns(graphs.delays, len(graphs.candidate)),
        }
    )


def _exits_table(graphs: GraphSet) -> pa.Table:
    return pa.table(
        {
            "asn": graphs.asn[graphs.exits.row].astype(np.uint32),
            "node": graphs.exits.node.astype(np.int32),
            "neighbor_asn": graphs.exits.neighbor_asn.astype(np.uint32),
            "n_traces": graphs.exits.n_traces.astype(np.int64),
        }
    )


def _of_neighbors(graphs: GraphSet) -> pa.Array:
    """``n_direct`` of each neighbour, lists; null where it is not known."""
    if graphs.neighbor_n_direct is None:
        return pa.nulls(len(graphs.ingress_node), pa.large_list(pa.int64()))
    counts = pa.array(graphs.neighbor_n_direct.astype(np.int64))
    return pa.LargeListArray.from_arrays(pa.array(graphs.neighbor_ptr.astype(np.int64)), counts)


def _exchange_points(graphs: GraphSet) -> pa.Array:
    """Lists of names, null for none; null where nothing is known of exchange points."""
    if graphs.neighbor_ixp is None:
        return pa.nulls(len(graphs.ingress_node), pa.large_list(pa.string()))
    names = pa.array(graphs.neighbor_ixp, pa.string(), mask=graphs.neighbor_ixp == "")
    return pa.LargeListArray.from_arrays(pa.array(graphs.neighbor_ptr.astype(np.int64)), names)


def _addresses_table(graphs: GraphSet) -> pa.Table:
    assert graphs.addrs is not None
    assert graphs.addr_asn is not None
    return pa.table(
        {
            "addr_high": as_arrow(graphs.addrs[:, 0]),
            "addr_low": as_arrow(graphs.addrs[:, 1]),
            "asn": graphs.addr_asn.astype(np.uint32),
            "node": pa.array(graphs.addr_node),
            "confidence": _confidence(graphs.addr_confidence, len(graphs.addrs)),
        }
    )


def _confidence(column: np.ndarray | None, n: int) -> pa.Array:
    """float32, null where unknown."""
    if column is None:
        return pa.nulls(n, pa.float32())
    return pa.array(column.astype(np.float32), mask=np.isnan(column))


def _borders_table(graphs: GraphSet) -> pa.Table:
    columns = {
        "near_asn": pa.array(graphs.border_near_asn.astype(np.uint32)),
        "near": pa.array(graphs.border_near.astype(np.int32)),
        "far_asn": pa.array(graphs.border_far_asn.astype(np.uint32)),
        "far": pa.array(graphs.border_far.astype(np.int32)),
    }
    return pa.table(columns | {n: as_arrow(c) for n, c in graphs.border_columns.items()})


def _dtype_name(column: np.ndarray | Gathered) -> str:
    return "str" if column.dtype.kind in "OUS" else column.dtype.name


def _json_line(record: dict) -> bytes:
    """One line of JSON; text from broken files may hold what UTF-8 cannot, so that is escaped."""
    try:
        return orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(record, default=str).encode("ascii") + b"\n"
