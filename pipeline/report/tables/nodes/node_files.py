"""``nodes/<asn>.parquet``: eccentricity, closeness and the like of every router of an AS.

One file per AS is what people open, but 47,000 of them are costly: columns are therefore made for
many ASes at once, and a file is a slice of them, encoded in memory and written in one go. A huge AS
is written in pieces, so memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.metrics import METRICS, WIDTH_METRICS
from pipeline.model.columns.ragged import offset_in_row, offsets, take_rows
from pipeline.report.tables.figures import FigureTable
from pipeline.report.tables.node_names import rows_texts
from pipeline.report.tables.width.widths import WidthReport, WidthTable

MAX_AT_ONCE = 500_000  # routers whose columns are in memory at one time: some 100 MB
_METRICS = frozenset(  # with a column there
    name for name in WIDTH_METRICS if any(c.table == "nodes" for c in METRICS[name].columns)
)
_OPTIONS = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}


def write_node_files(snapshot, rows: np.ndarray, report: WidthReport, folder: Path) -> int:
    """Write the file of each AS of whose routers something is known.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows of the run, parallel to what ``report`` points to.
    report : WidthReport
    folder : Path
        Is made where a file is written.

    Returns
    -------
    int
        Files written.
    """
    which = np.flatnonzero(has_node_file(report, len(rows)))
    if len(which) == 0:
        return 0
    folder.mkdir(exist_ok=True)
    names = np.asarray(snapshot.asn)[rows]
    n_nodes = np.asarray(snapshot.n_nodes)[rows].astype(np.int64)
    tables = [table for table in report.tables if _METRICS & set(table.widths.metrics)]
    figures = [table for table in report.figures if table.metric.columns_in("nodes")]
    with ThreadPoolExecutor(1) as pool:  # one batch is written while the next is made
        written = pool.submit(lambda: None)
        for group in _batches(which, n_nodes):
            sizes, asns = n_nodes[group], names[group].tolist()
            pieces = _pieces(snapshot, rows[group], tables, figures, group, sizes)
            if len(group) == 1:
                _write_one(pieces, folder / f"{asns[0]:d}.parquet")
                continue
            made = next(pieces)
            written.result()
            written = pool.submit(_write_many, made, asns, sizes.tolist(), folder)
        written.result()
    return len(which)


def has_node_file(report: WidthReport, n_ases: int) -> np.ndarray:
    """(n_ases,) bool: whether an AS gets a file."""
    has = np.zeros(n_ases, bool)
    for table in report.tables:
        widths = table.widths
        known = np.zeros(len(widths.row) + 1, bool)  # the last is what -1 points to
        for ptr in (widths.eccentricity_ptr, widths.center_ptr, widths.periphery_ptr):
            known[:-1] |= np.diff(ptr) > 0
        has |= known[table.at]
    for figures in report.figures:
        if figures.metric.columns_in("nodes"):
            has |= figures.at >= 0
    return has


def _batches(which: np.ndarray, n_nodes: np.ndarray) -> Iterator[np.ndarray]:
    """Positions of ASes that are made together: ``MAX_AT_ONCE`` routers, or one AS."""
    ends = np.cumsum(n_nodes[which])
    start = 0
    while start < len(which):
        before = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, before + MAX_AT_ONCE, side="right"))
        end = max(end, start + 1)
        yield which[start:end]
        start = end


def _pieces(
    snapshot,
    rows: np.ndarray,
    tables: list[WidthTable],
    figures: list[FigureTable],
    group: np.ndarray,
    n_nodes: np.ndarray,
) -> Iterator[pa.Table]:
    """Columns of the routers of some ASes, end to end, ``MAX_AT_ONCE`` rows at a time."""
    ptr = offsets(n_nodes)
    columns = {"node": pa.array(offset_in_row(ptr).astype(np.int32))}
    for table in tables:
        columns |= _columns(table, group, ptr)
    for of_metric in figures:
        columns |= of_metric.of_nodes(group, ptr)
    start = 0
    for addr in rows_texts(snapshot, rows, MAX_AT_ONCE):
        here = {name: column.slice(start, len(addr)) for name, column in columns.items()}
        yield pa.table({"node": here.pop("node"), "addr": addr, **here})
        start += len(addr)


def _columns(table: WidthTable, group: np.ndarray, ptr: np.ndarray) -> dict[str, pa.Array]:
    """Eccentricity and membership of all routers of some ASes; null where not known."""
    widths, at = table.widths, table.at[group]
    has = at >= 0

    def values(value_ptr: np.ndarray, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found_ptr, found = take_rows(value_ptr, flat, at[has])
        lengths = np.zeros(len(group), np.int64)
        lengths[has] = np.diff(found_ptr)
        return lengths, found

    def members(value_ptr: np.ndarray, flat: np.ndarray) -> pa.Array:
        lengths, found = values(value_ptr, flat)
        flag = np.zeros(ptr[-1], bool)
        flag[np.repeat(ptr[:-1], lengths) + found] = True
        return pa.array(flag, mask=np.repeat(lengths == 0, np.diff(ptr)))

    lengths, found = values(widths.eccentricity_ptr, widths.eccentricity)
    known = np.repeat(lengths > 0, np.diff(ptr))
    kind = np.float64 if widths.is_weighted else np.int32
    eccentricity = np.zeros(ptr[-1], kind)
    eccentricity[known] = found
    return {
        f"{table.prefix}eccentricity": pa.array(eccentricity, mask=~known),
        f"{table.prefix}in_center": members(widths.center_ptr, widths.center),
        f"{table.prefix}in_periphery": members(widths.periphery_ptr, widths.periphery),
    }


def _write_one(pieces: Iterator[pa.Table], path: Path) -> None:
    first = next(pieces)
    with pq.ParquetWriter(path, first.schema, **_OPTIONS) as writer:
        for piece in chain([first], pieces):
            writer.write_table(piece)


def _write_many(made: pa.Table, asns: list[int], n_nodes: list[int], folder: Path) -> None:
    start = 0
    for asn, n in zip(asns, n_nodes, strict=True):
        sink = pa.BufferOutputStream()
        pq.write_table(made.slice(start, n), sink, **_OPTIONS)
        with open(folder / f"{asn:d}.parquet", "wb") as file:
            file.write(sink.getvalue())
        start += n
