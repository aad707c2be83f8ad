"""Widths of ASes as columns of ``ases.parquet``, and the few routers that pages name.

An interval never takes the place of a value: ``diameter`` and ``radius`` are null until
both bounds are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from kernels import CSRGraph
from pipeline.metrics import columns_of, implied_by
from pipeline.metrics.columns import WEIGHTED, Column
from pipeline.model.columns.ragged import first_of_rows, offsets, row_of_value
from pipeline.model.search.results import Measurement, Widths
from pipeline.report.tables.columns import arrow_type, lists, spread
from pipeline.report.tables.figures import FigureTable, figure_table
from pipeline.report.tables.node_names import N_NAMED, node_texts
from pipeline.report.tables.width.likely import LINES, likely
from pipeline.report.tables.width.width_bounds import with_searches
from pipeline.report.texts import interval


@dataclass(frozen=True, eq=False)
class Named:
    """The first of some ragged values, and their texts; one row per row of ``Widths``.

    Attributes
    ----------
    ptr : (n_graphs + 1,) int64; texts : pyarrow.StringArray
    """

    ptr: np.ndarray
    texts: pa.Array

    def of(self, k: int) -> list[str | None]:
        """Texts of row k."""
        return self.texts[int(self.ptr[k]) : int(self.ptr[k + 1])].to_pylist()


@dataclass(frozen=True, eq=False)
class WidthTable:
    """Widths in one unit, for reports.

    Attributes
    ----------
    widths : Widths
    at : (n_ases,) int64
        Row of ``widths`` of each AS of the run; -1 where there is none.
    unit : str
        ``hops``, ``ms``, ``length``, ``mixed`` or empty: of all values.
    path, center, periphery : Named
        The path is whole; of the others there are the first ``N_NAMED``.
    other_ptr : (n_graphs + 1,) int64; other : int64
        Positions in the columns ``component_*``: components besides the largest, ascending.
    other_named : Named
        A router of each of the ``N_NAMED`` largest of them, in the order of ``other_first``.
    other_first : int64
        Positions in the columns ``component_*``, parallel to ``other_named.texts``.
    path_at : float64 or None
        Parallel to ``path.texts``: weights of all links before it; None in hops.
    likely : dict of str to tuple of two (n_graphs,) int64
        Least and largest ``diameter`` and ``radius`` that the whole AS probably has, -1 where the
        graph's is not known, and without traces; empty by weight.
    """

    widths: Widths
    at: np.ndarray
    unit: str
    path: Named
    center: Named
    periphery: Named
    other_ptr: np.ndarray
    other: np.ndarray
    other_named: Named
    other_first: np.ndarray
    path_at: np.ndarray | None
    likely: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """Prefix of names of columns."""
        return WEIGHTED if self.widths.is_weighted else ""

    @property
    def task(self) -> str:
        """Kind of the tasks that found it."""
        return "weighted" if self.widths.is_weighted else "widths"

    def asks_for(self, what: str) -> bool:
        """Whether ``diameter`` or ``radius`` follows from what was requested."""
        return not implied_by(what).isdisjoint(self.widths.metrics)


@dataclass(frozen=True, eq=False)
class WidthReport:
    """Measurements of whole graphs, for reports.

    Attributes
    ----------
    tables : tuple of WidthTable
        In hops, then by weight; whichever was requested.
    figures : tuple of FigureTable
        Of metrics with a kernel of their own.
    """

    tables: tuple[WidthTable, ...] = ()
    figures: tuple[FigureTable, ...] = ()

    def part(self, begin: int, end: int) -> WidthReport:
        """The same, in which AS 0 is AS ``begin`` of the run."""
        return WidthReport(
            tuple(replace(table, at=table.at[begin:end]) for table in self.tables),
            tuple(replace(table, at=table.at[begin:end]) for table in self.figures),
        )

    def knows(self, i: int) -> bool:
        """Whether anything was found of AS ``i`` of the run."""
        found = [*(table.at for table in self.tables), *(table.at for table in self.figures)]
        return any(at[i] >= 0 for at in found)

    def columns(self) -> dict[str, pa.Array]:
        """Columns of ``ases.parquet``: in hops, of each figure, by weight, if requested."""
        by_weight = {table.widths.is_weighted: _columns(table) for table in self.tables}
        made = by_weight.get(False, {})
        for table in self.figures:
            made |= table.columns()
        return made | by_weight.get(True, {})

    def listed(self) -> list[Column]:
        """Columns that lists of ASes show: what follows from what was requested."""
        shown = [
            column
            for table in self.tables
            for column in columns_of(table.task)
            if column.label and table.asks_for(column.name.removeprefix(table.prefix))
        ]
        return shown + [c for table in self.figures for c in table.metric.columns if c.label]

    def totals(self, asn: np.ndarray) -> dict:
        """Totals over all ASes for report.json, by ``widths`` and ``weighted_widths``.

        They also have ``n_width_searches``, for both, and searches for figures.
        ``asn`` is of all rows of the snapshot.
        """
        made: dict = {f"{table.prefix}widths": _totals(table, asn) for table in self.tables}
        if self.tables:
            made["n_width_searches"] = sum(found["n_searches"] for found in made.values())
        for table in self.figures:
            made |= table.totals()
        return made


def width_or_bounds(row: Mapping[str, Any], key: str) -> float | str | None:
    """A width of a row of ``ases.parquet``; as text of its bounds where it is not exact."""
    lower, upper = row.get(f"{key}_lower"), row.get(f"{key}_upper")
    value = row.get(key)
    if value is not None or lower is None:
        return value
    return interval(lower, -1 if upper is None else upper)


def with_bounds(columns: Iterable[Column], ases: pa.Table) -> list[str]:
    """Names of columns, each followed by those of its bounds if it has any."""
    names = [f"{c.name}{which}" for c in columns for which in ("", "_lower", "_upper")]
    return [name for name in names if name in ases.column_names]


def report_widths(snapshot, measurement: Measurement) -> WidthReport:
    """Join widths to the ASes and addresses of a snapshot, and to the bounds from ingresses.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    measurement : Measurement
        Of this snapshot.

    Notes
    -----
    Memory: what ``measurement`` holds, and the texts of all paths.
    """
    rows = np.asarray(measurement.rows, np.int64)
    weight_unit = str(snapshot.manifest.get("weight_unit") or "")
    by_hops = measurement.widths
    if by_hops is not None:
        by_hops = with_searches(by_hops, measurement.results)
    tables = tuple(
        _table(snapshot, rows, widths, unit)
        for widths, unit in (
            (by_hops, "hops"),
            (measurement.weighted_widths, weight_unit),
        )
        if widths is not None
    )
    figures = tuple(figure_table(rows, found) for found in measurement.figures.values())
    return WidthReport(tables, figures)


def _table(snapshot, rows: np.ndarray, widths: Widths, unit: str) -> WidthTable:
    n_graphs = len(widths.row)
    center_ptr, center = first_of_rows(widths.center_ptr, widths.center, N_NAMED)
    periphery_ptr, periphery = first_of_rows(widths.periphery_ptr, widths.periphery, N_NAMED)
    graph = row_of_value(widths.component_ptr)
    other = np.flatnonzero(widths.component_id != widths.component[graph])
    other_ptr = offsets(np.bincount(graph[other], minlength=n_graphs))
    order = np.lexsort((other, -widths.component_size[other].astype(np.int64), graph[other]))
    first_ptr, first = first_of_rows(other_ptr, other[order], N_NAMED)
    ptrs = (widths.path_ptr, center_ptr, periphery_ptr, first_ptr)
    nodes = (widths.path, center, periphery, widths.component_id[first])
    texts = node_texts(
        snapshot,
        np.concatenate([widths.row[row_of_value(ptr)] for ptr in ptrs]),
        np.concatenate(nodes),
    )
    cuts = np.cumsum([0, *map(len, nodes)]).tolist()
    named = [
        Named(ptr, texts.slice(cut, len(part)))
        for ptr, cut, part in zip(ptrs, cuts[:-1], nodes, strict=True)
    ]
    return WidthTable(
        widths=widths,
        at=_position(rows, widths.row),
        unit=unit,
        path=named[0],
        center=named[1],
        periphery=named[2],
        other_ptr=other_ptr,
        other=other,
        other_named=named[3],
        other_first=first,
        path_at=_along(snapshot, widths) if widths.is_weighted else None,
        likely={} if widths.is_weighted else _likely(snapshot, widths),
    )


def _likely(snapshot, widths: Widths) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Ranges of the widths of whole ASes, where traces show a part of them."""
    has_traces = bool((snapshot.manifest.get("counts") or {}).get("n_traces"))
    n_nodes = np.asarray(snapshot.n_nodes, np.int64)[widths.row]
    found = {}
    for name in LINES:
        lower, upper = getattr(widths, f"{name}_lower"), getattr(widths, f"{name}_upper")
        known = (lower >= 0) & (upper >= 0) & has_traces
        ends = likely(name, lower, upper, n_nodes)
        low, high = (np.where(known, end, -1) for end in ends)
        found[name] = low, high
    return found


def _along(snapshot, widths: Widths) -> np.ndarray | None:
    """Weight of each path from its first node to each of its nodes; None without weights."""
    if not snapshot.manifest.get("has_weights"):
        return None
    ptr, path = widths.path_ptr, widths.path
    at = np.zeros(len(path), np.float64)
    for k in np.flatnonzero(np.diff(ptr) > 1).tolist():
        graph = snapshot.graph(int(widths.row[k]), weights=True)
        nodes = path[ptr[k] : ptr[k + 1]].tolist()
        arcs = [_arc(graph, near, far) for near, far in pairwise(nodes)]
        at[ptr[k] + 1 : ptr[k + 1]] = np.cumsum(graph.weights[arcs], dtype=np.float64)
    return at


def _arc(graph: CSRGraph, near: int, far: int) -> int:
    begin, end = graph.indptr[near], graph.indptr[near + 1]
    return int(begin + np.searchsorted(graph.indices[begin:end], far))


def _position(rows: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Position of each of ``rows`` in ``found``, a part of them; -1 if it is not there."""
    at = np.full(len(rows), -1, np.int64)
    at[np.searchsorted(rows, found)] = np.arange(len(found))
    return at


def _columns(table: WidthTable) -> dict[str, pa.Array]:
    """All columns of the registry, in its order."""
    widths, has = table.widths, table.at >= 0
    row = table.at[has]
    kinds = {c.name.removeprefix(table.prefix): arrow_type(c) for c in columns_of(table.task)}

    def bound(name: str, values: np.ndarray, known: np.ndarray) -> pa.Array:
        shown = has.copy()
        shown[has] = known[row]
        return spread(shown, values[table.at[shown]], kinds[name])

    def listed(name: str, ptr: np.ndarray, values: np.ndarray) -> pa.Array:
        return _listed(has, ptr, pa.array(values, kinds[name].value_type))

    made: dict[str, pa.Array] = {}
    for name in ("diameter", "radius"):
        lower, upper = getattr(widths, f"{name}_lower"), getattr(widths, f"{name}_upper")
        made[name] = bound(name, lower, (lower == upper) & (lower >= 0))
        made[f"{name}_lower"] = bound(name, lower, lower >= 0)
        made[f"{name}_upper"] = bound(name, upper, upper >= 0)
        for end, values in zip(("low", "high"), table.likely.get(name, ()), strict=False):
            made[f"{name}_likely_{end}"] = bound(name, values, values >= 0)
    made["exact"] = spread(has, widths.exact[row], kinds["exact"])
    made["n_center"] = _number(has, np.diff(widths.center_ptr)[row])
    made["n_periphery"] = _number(has, np.diff(widths.periphery_ptr)[row])
    made["diameter_path"] = listed("diameter_path", widths.path_ptr, widths.path)
    made["diameter_path_addrs"] = _listed(has, widths.path_ptr, table.path.texts)
    if table.path_at is not None:
        made["diameter_path_at"] = listed("diameter_path_at", widths.path_ptr, table.path_at)
    if not widths.is_weighted:
        made["ecc_counts"] = listed("ecc_counts", widths.count_ptr, widths.counts)
    made["n_width_searches"] = spread(has, widths.n_searches[row], kinds["n_width_searches"])
    for name, values in (
        ("other_components", widths.component_id),
        ("other_sizes", widths.component_size),
        ("other_diameters", widths.component_diameter),
        ("other_radii", widths.component_radius),
    ):
        values = values[table.other]
        known = pa.array(values, kinds[name].value_type, mask=values < 0)
        made[name] = lists(table.other_ptr, known, has)
    return {table.prefix + name: made[name] for name in kinds if name in made}


def _number(has: np.ndarray, counts: np.ndarray) -> pa.Array:
    """Counts of the rows that have one; what is empty was not requested, or is not known."""
    shown = has.copy()
    shown[has] = counts > 0
    return spread(shown, counts[counts > 0], pa.int64())


def _listed(has: np.ndarray, ptr: np.ndarray, values: pa.Array) -> pa.Array:
    """List column that is null where a list is empty: it was not requested, or is not known."""
    lengths = np.diff(ptr)
    shown = has.copy()
    shown[has] = lengths > 0
    return lists(offsets(lengths[lengths > 0]), values, shown)


def _totals(table: WidthTable, asn: np.ndarray) -> dict:
    """Sums over all ASes; the largest diameter is null if bounds leave it open.

    It is also null if nothing is known of some AS: then only its lower bound is given.
    """
    widths = table.widths
    lower, upper = widths.diameter_lower, widths.diameter_upper
    totals: dict = {
        "metrics": list(widths.metrics),
        "unit": table.unit or None,
        "n_exact": int(widths.exact.sum()),
        "n_not_exact": int((~widths.exact).sum()),
        "n_unknown": int((table.at < 0).sum()),
        "n_searches": int(widths.n_searches.sum()),
        "largest_diameter": None,
        "largest_diameter_lower": None,
        "largest_diameter_upper": None,
        "largest_diameter_asn": None,
    }
    if table.asks_for("diameter") and (lower >= 0).any():
        first = int(np.argmax(lower))
        bounded = not totals["n_unknown"] and bool((upper[widths.component >= 0] >= 0).all())
        totals["largest_diameter_lower"] = least = lower[first].item()
        totals["largest_diameter_upper"] = most = upper.max().item() if bounded else None
        totals["largest_diameter"] = least if least == most else None
        totals["largest_diameter_asn"] = int(asn[widths.row[first]])
    return totals
