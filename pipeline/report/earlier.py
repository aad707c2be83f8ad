"""The measurement of an earlier run, read back from its report: the inverse of ``summarise``.

Tables hold everything that was measured, by ids of nodes, so a later run can add to a report
without further files. ``pipeline.report.merging`` merges the two.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kernels.connected import components
from pipeline.errors import UsageError, first_line
from pipeline.metrics import METRICS, own_kernels
from pipeline.metrics.columns import WEIGHTED
from pipeline.model.columns import schema_of
from pipeline.model.columns.ragged import offsets
from pipeline.model.search.results import Figures, Measurement, SearchResults, Widths
from pipeline.report.names import ASES
from pipeline.report.tables.nodes.reach import row_groups

_READERS = 4  # of files of nodes: there may be tens of thousands


def restore(snapshot, report: dict, folder: Path) -> Measurement:
    """Read the measurement of this version of a snapshot back from its report.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    report : dict
        ``report.json``.
    folder : Path

    Raises
    ------
    UsageError
        If a table of the report is missing or not as it was written.
    """
    try:
        return _restore(snapshot, report, folder)
    except (OSError, KeyError, ValueError, IndexError, pa.ArrowException) as error:
        raise UsageError(
            f"{folder}: the contents of this report cannot be kept ({first_line(error)}): "
            "remove it, or give --out another folder"
        ) from error


def measured_metrics(report: dict) -> tuple[str, ...]:
    """Metrics of all runs in a ``report.json``."""
    names = report.get("metrics") or (report.get("options") or {}).get("metrics") or ()
    return tuple(metric for metric in METRICS if metric in names)


def _restore(snapshot, report: dict, folder: Path) -> Measurement:
    ases = pq.read_table(folder / ASES)
    asn = ases["asn"].to_numpy()
    rows = np.searchsorted(snapshot.asn, asn)
    if not np.array_equal(np.asarray(snapshot.asn)[np.minimum(rows, len(snapshot.asn) - 1)], asn):
        raise ValueError("it has ASes that are not in the snapshot")
    totals = report["totals"]
    status, reason = ases["status"].to_pylist(), ases["reason"].to_pylist()
    found: dict[str, Any] = {
        task: _widths(snapshot, rows, ases, folder / "nodes", prefix, known["metrics"])
        for task, prefix in (("widths", ""), ("weighted", WEIGHTED))
        if (known := totals.get(f"{prefix}widths"))
    }
    found["search"] = _results(snapshot, pq.read_table(folder / "ingresses.parquet"))
    found |= _figures(rows, ases, folder / "nodes", np.asarray(snapshot.n_nodes)[rows])
    return Measurement(
        rows=rows,
        results=found["search"],
        failed={
            int(row): str(why or state)
            for row, state, why in zip(rows, status, reason, strict=True)
            if state != "ok"
        },
        n_tasks=ases["n_tasks"].to_numpy(),
        n_retries=ases["n_retries"].to_numpy(),
        wall_s=pc.fill_null(ases["wall_s"], np.nan).to_numpy(),
        device=pc.fill_null(ases["device"], "").to_pylist(),
        tasks=pq.read_table(folder / "tasks.parquet").to_pydict(),
        **_marks(ases),
        cluster=report.get("cluster") or {},
        busy_share=report.get("busy_share") or {},
        snapshot=snapshot.name,
        version=snapshot.version,
        metrics=measured_metrics(report),
    ).with_found(found)


def _marks(ases: pa.Table) -> dict[str, Any]:
    """What of each AS was from an earlier night; earlier reports do not say."""
    if "reused_from" not in ases.column_names:
        return {}
    night = pc.fill_null(ases["reused_from"], "").to_pylist()
    return {"n_reused": ases["n_reused"].to_numpy(), "reused_from": night}


def _lists(column: pa.ChunkedArray, kind) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and values of a list column; a null is an empty list, a null within it -1."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    values = pc.fill_null(pc.list_flatten(column), -1).to_numpy()
    return offsets(lengths.astype(np.int64)), values.astype(kind)


def _results(snapshot, table: pa.Table) -> SearchResults:
    table = table.filter(pc.is_valid(table["n_reached"])).combine_chunks()
    hop_ptr, hop_counts = _lists(table["hop_counts"], np.int64)
    farthest_ptr, farthest = _lists(table["farthest"], np.int32)
    return SearchResults(
        row=np.searchsorted(snapshot.asn, table["asn"].to_numpy()).astype(np.int64),
        source=table["ingress"].to_numpy(),
        n_reached=table["n_reached"].to_numpy(),
        eccentricity=table["eccentricity"].to_numpy(),
        hop_ptr=hop_ptr,
        hop_counts=hop_counts,
        farthest_ptr=farthest_ptr,
        farthest=farthest,
    )


def _figures(
    rows: np.ndarray, ases: pa.Table, nodes: Path, n_nodes: np.ndarray
) -> dict[str, Figures]:
    """Figures by kind of task; without graphs that have none."""
    made = {}
    for task, metric in own_kernels().items():
        names = [column.name for column in metric.columns_in("ases")]
        of_nodes = [column.name for column in metric.columns_in("nodes")]
        if set(names) <= set(ases.column_names):
            known = pc.is_valid(ases[names[0]])
            columns = {name: ases[name].filter(known).to_numpy() for name in names}
            at = known.to_numpy()
            asns = ases["asn"].filter(known).to_pylist() if of_nodes else []
            values = _values_of_nodes(nodes, asns, of_nodes)
            size = n_nodes[at].astype(np.int64) * len(of_nodes)
            if len(values) != size.sum():
                raise ValueError(f"{', '.join(of_nodes)} are not of all nodes")
            made[task] = Figures(task, rows[at], columns, offsets(size), values)
    return made


def _values_of_nodes(folder: Path, asns: list[int], names: list[str]) -> np.ndarray:
    """Columns of all nodes of ASes, AS after AS, in each column after column; NaN where null."""

    def read(asn: int) -> list[np.ndarray]:
        table = pq.read_table(folder / f"{asn}.parquet", columns=names)
        return [pc.fill_null(table[name], np.nan).to_numpy() for name in names]

    with ThreadPoolExecutor(_READERS) as pool:
        found = [part for parts in pool.map(read, asns) for part in parts]
    return np.concatenate([np.empty(0), *found])


def _widths(
    snapshot, rows: np.ndarray, ases: pa.Table, nodes: Path, prefix: str, metrics: list
) -> Widths:
    has = pc.is_valid(ases[f"{prefix}exact"])
    ases, rows = ases.filter(has), rows[has.to_numpy()]
    kind = np.float64 if prefix else np.int64

    def column(name: str, missing: float = -1) -> np.ndarray:
        return pc.fill_null(ases[prefix + name], missing).to_numpy().astype(kind)

    diameter, radius = column("diameter"), column("radius")
    largest = _largest_components(snapshot, rows)
    columns: dict[str, Any] = {
        "row": rows,
        "n_searches": ases[f"{prefix}n_width_searches"].to_numpy(),
        "component": largest,
        "diameter_lower": column("diameter_lower"),
        "diameter_upper": column("diameter_upper"),
        "radius_lower": column("radius_lower"),
        "radius_upper": column("radius_upper"),
        "exact": ases[f"{prefix}exact"].to_numpy(),
    }
    columns["path_ptr"], columns["path"] = _lists(ases[f"{prefix}diameter_path"], np.int32)
    n = len(rows)
    columns["count_ptr"], columns["counts"] = np.zeros(n + 1, np.int64), np.empty(0, np.int64)
    if not prefix:
        columns["count_ptr"], columns["counts"] = _lists(ases["ecc_counts"], np.int64)
    size = np.asarray(snapshot.largest_component)[rows]
    own = (largest, size, diameter, radius)
    columns |= _components(ases, prefix, own, kind)
    columns |= _of_nodes(nodes, ases["asn"].to_pylist(), prefix, kind)
    return Widths(metrics=tuple(metrics), is_weighted=bool(prefix), **columns)


def _components(ases: pa.Table, prefix: str, own: tuple, kind) -> dict[str, np.ndarray]:
    """Columns of all components of two nodes or more: the others and ``own``, the largest."""
    lengths = pc.fill_null(pc.list_value_length(ases[f"{prefix}other_components"]), 0).to_numpy()
    listed = np.flatnonzero(own[1] >= 2)
    graph = np.concatenate([np.repeat(np.arange(len(lengths)), lengths), listed])
    made: dict[str, np.ndarray] = {
        "component_ptr": offsets(np.bincount(graph, minlength=len(lengths)))
    }
    kinds = (np.int32, np.int32, kind, kind)
    names = ("other_components", "other_sizes", "other_diameters", "other_radii")
    order = None
    of_components = schema_of(Widths).ragged["component_ptr"]
    for column, name, values, dtype in zip(of_components, names, own, kinds, strict=True):
        others = _lists(ases[prefix + name], dtype)[1]
        both = np.concatenate([others, values[listed].astype(dtype)])
        order = np.lexsort((both, graph)) if order is None else order  # the first are the ids
        made[column] = both[order]
    return made


def _largest_components(snapshot, rows: np.ndarray) -> np.ndarray:
    """Smallest node of the largest component of each graph; -1 without nodes."""
    n_nodes = np.asarray(snapshot.n_nodes)[rows]
    largest = np.where(n_nodes > 0, 0, -1).astype(np.int64)
    split = np.flatnonzero(np.asarray(snapshot.n_components)[rows] > 1)
    for group in row_groups(split, n_nodes + np.asarray(snapshot.n_arcs)[rows]):
        shard = snapshot.shard(rows[group])
        node_ptr = np.asarray(shard.node_ptr)
        found = components(shard)
        graph = np.searchsorted(node_ptr, found.ids, side="right") - 1
        order = np.lexsort((found.ids, -found.sizes, graph))
        first = np.searchsorted(graph[order], np.arange(len(group)))
        largest[group] = found.ids[order[first]] - node_ptr[:-1]
    return largest


def _of_nodes(folder: Path, asns: list[int], prefix: str, kind) -> dict[str, np.ndarray]:
    """Eccentricities, centers and peripheries of ASes, from the files that they have."""
    names = [prefix + name for name in ("eccentricity", "in_center", "in_periphery")]

    def read(asn: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        path = folder / f"{asn}.parquet"
        table = pq.read_table(path) if path.exists() else None
        if table is None or names[0] not in table.column_names:
            return np.empty(0, kind), np.empty(0, np.int32), np.empty(0, np.int32)
        eccentricity, *flags = (table[name] for name in names)
        members = [np.flatnonzero(pc.fill_null(flag, False).to_numpy()) for flag in flags]
        known = eccentricity.drop_null().to_numpy()
        return known, members[0].astype(np.int32), members[1].astype(np.int32)

    with ThreadPoolExecutor(_READERS) as pool:
        found = list(pool.map(read, asns))
    made: dict[str, np.ndarray] = {}
    for i, (name, empty) in enumerate(
        (("eccentricity", kind), ("center", np.int32), ("periphery", np.int32))
    ):
        parts = [each[i] for each in found]
        made[f"{name}_ptr"] = offsets(np.array([len(part) for part in parts], np.int64))
        made[name] = np.concatenate([np.empty(0, empty), *parts])
    if not prefix:  # small numbers: the fewest bytes that hold them
        most = int(made["eccentricity"].max(initial=0))
        made["eccentricity"] = made["eccentricity"].astype(np.min_scalar_type(most))
    return made
