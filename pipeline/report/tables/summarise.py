"""What a run measured, as the tables of the report: one row per AS, one per (AS, ingress).

Everything is columns from end to end: tens of thousands of ASes and a million ingresses cost no
Python object per row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kernels.closeness import closeness_of_sources
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.columns.ragged import offsets, take_rows
from pipeline.model.search.results import Measurement
from pipeline.model.words import is_low
from pipeline.report.tables.adjacent import Adjacent, neighbors_of_ases
from pipeline.report.tables.columns import lists, null_where_empty, null_where_nan, spread
from pipeline.report.tables.crossings import Crossings, count_crossings
from pipeline.report.tables.distributions import Distributions, mean_of_each, sum_distributions
from pipeline.report.tables.neighbors import as_link_table, exit_table, ingress_columns
from pipeline.report.tables.node_names import node_texts, other_addresses
from pipeline.report.tables.nodes.reach import Unreached, find_unreached
from pipeline.report.tables.places import PLACE_COLUMNS
from pipeline.report.tables.width.widths import WidthReport, report_widths
from pipeline.store import Ingresses

# Columns of ingresses behind those of searches, by how they begin.
LATER = ("host_name", "delay_", *PLACE_COLUMNS)


@dataclass(frozen=True, eq=False)
class Summary:
    """Tables of one run; rows of ``ases``, ``distributions`` and ``unreached`` are parallel.

    Attributes
    ----------
    ases, ingresses : pyarrow.Table
        As in ``ases.parquet`` and ``ingresses.parquet``.
    ingress_others : pyarrow.StringArray
        Further addresses of each ingress, null where it has one: ``other_addresses``.
    ingress_ptr : (n_ases + 1,) int64
        Ingress rows of AS i are ingress_ptr[i]:ingress_ptr[i + 1].
    distributions : Distributions
    unreached : Unreached
    unreached_texts : pyarrow.StringArray
        Parallel to ``unreached.first``.
    totals : dict
        Sums over all ASes of the run.
    widths : WidthReport
        Empty where none were requested.
    crossings : Crossings
    n_low_confidence : (n_ases,) int64
        Ingresses of low confidence (``is_low``).
    exits, as_links : pyarrow.Table
        As in ``exits.parquet`` and ``as_links.parquet``.
    adjacent : Adjacent
        Neighbours of each AS.
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows of it.
    """

    ases: pa.Table
    ingresses: pa.Table
    ingress_others: pa.Array
    ingress_ptr: np.ndarray
    distributions: Distributions
    unreached: Unreached
    unreached_texts: pa.Array
    totals: dict
    widths: WidthReport
    crossings: Crossings
    n_low_confidence: np.ndarray
    exits: pa.Table
    as_links: pa.Table
    adjacent: Adjacent
    snapshot: Any
    rows: np.ndarray

    def part(self, begin: int, end: int) -> Summary:
        """The same of ASes begin to end - 1; totals and links between ASes stay whole.

        Columns are copied: a slice would take the whole column along to another process.
        """
        first, last = self.ingress_ptr[[begin, end]].tolist()
        asns = self.ases["asn"].slice(begin, end - begin).to_numpy()
        exits = np.searchsorted(self.exits["asn"].to_numpy(), asns[[0, -1]] + [0, 1])
        texts = self.unreached.first_ptr
        return replace(
            self,
            ases=_rows(self.ases, begin, end),
            ingresses=_rows(self.ingresses, first, last),
            ingress_others=_rows(self.ingress_others, first, last),
            ingress_ptr=self.ingress_ptr[begin : end + 1] - first,
            distributions=self.distributions.part(begin, end),
            unreached=self.unreached.part(begin, end),
            unreached_texts=_rows(self.unreached_texts, texts[begin], texts[end]),
            widths=self.widths.part(begin, end),
            crossings=self.crossings.part(begin, end),
            n_low_confidence=self.n_low_confidence[begin:end],
            exits=_rows(self.exits, *exits),
            adjacent=self.adjacent.part(begin, end),
            rows=self.rows[begin:end],
        )


def _rows(column, begin: int, end: int):
    """Some rows of a table or an array, without the buffers of the others."""
    return column.take(pa.array(np.arange(begin, end)))


@dataclass(frozen=True, eq=False)
class OfSnapshot:
    """What a report says of some ASes whatever was measured: made while searches run.

    Attributes
    ----------
    rows : (n_ases,) int64
        AS rows of the snapshot, ascending.
    ingresses : pipeline.store.Ingresses
    columns : dict of str to pyarrow.Array
        Those of ``ingresses`` that do not come from searches; ``addr`` is null: their texts are
        looked up with those of the farthest routers, in the same row groups.
    others, unreached, unreached_texts, exits, as_links, crossings, adjacent
        As in ``Summary``; ``ingress_others`` is the first.
    """

    rows: np.ndarray
    ingresses: Ingresses
    columns: dict[str, pa.Array]
    others: pa.Array
    unreached: Unreached
    unreached_texts: pa.Array
    exits: pa.Table
    as_links: pa.Table
    crossings: Crossings
    adjacent: Adjacent


def of_snapshot(snapshot, rows: np.ndarray) -> OfSnapshot:
    """What a report says of AS rows, ascending, whatever was measured."""
    rows = np.asarray(rows, np.int64)
    ingresses = snapshot.ingresses(rows)
    row, node = np.asarray(ingresses.row, np.int64), np.asarray(ingresses.node)
    source = ~np.asarray(ingresses.candidate, bool)
    unreached = find_unreached(snapshot, rows, row[source], node[source])
    unreached_rows = np.repeat(rows, np.diff(unreached.first_ptr))
    columns = ingress_columns(snapshot, ingresses, pa.nulls(len(row), pa.string()))
    exits, as_links = exit_table(snapshot, rows), as_link_table(snapshot, rows)
    asn = np.asarray(snapshot.asn, np.int64)
    return OfSnapshot(
        rows=rows,
        ingresses=ingresses,
        columns=columns,
        others=other_addresses(snapshot, asn[row], node),
        unreached=unreached,
        unreached_texts=node_texts(snapshot, unreached_rows, unreached.first),
        exits=exits,
        as_links=as_links,
        crossings=count_crossings(snapshot, rows),
        adjacent=neighbors_of_ases(asn[rows], pa.table(columns), exits, as_links),
    )


def summarise(snapshot, measurement: Measurement, known: OfSnapshot | None = None) -> Summary:
    """Join the measurement to the data of the snapshot.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    measurement : Measurement
        Of this snapshot.
    known : OfSnapshot or None
        Of this snapshot; used if it is of the measured rows, else made again.

    Returns
    -------
    Summary
        Sorted by asn, then ingress; the same for any order, device and packing of the searches.
    """
    rows = np.asarray(measurement.rows, np.int64)
    if known is None or not np.array_equal(known.rows, rows):
        known = of_snapshot(snapshot, rows)
    ingresses = known.ingresses
    candidate = np.asarray(ingresses.candidate, bool)
    position = np.searchsorted(rows, np.asarray(ingresses.row, np.int64))
    source = ~candidate
    distributions = sum_distributions(rows, measurement.results)
    n_ingresses = np.bincount(position[source], minlength=len(rows))
    n_candidates = np.bincount(position[candidate], minlength=len(rows))
    widths = report_widths(snapshot, measurement)
    counts = n_ingresses, n_candidates, known.unreached.count
    ases = _as_table(snapshot, measurement, *counts, distributions, widths)
    return Summary(
        ases=ases,
        ingresses=_ingress_table(snapshot, known, measurement),
        ingress_others=known.others,
        ingress_ptr=offsets(np.bincount(position, minlength=len(rows))),
        distributions=distributions,
        unreached=known.unreached,
        unreached_texts=known.unreached_texts,
        totals=_totals(ases, distributions)
        | {"n_border_links": int(known.as_links["n_links"].to_numpy().sum())}
        | _confidence(ingresses)
        | widths.totals(np.asarray(snapshot.asn)),
        widths=widths,
        crossings=known.crossings,
        n_low_confidence=np.bincount(
            position[source & is_low(np.asarray(ingresses.confidence))],
            minlength=len(rows),
        ),
        exits=known.exits,
        as_links=known.as_links,
        adjacent=known.adjacent,
        snapshot=snapshot,
        rows=rows,
    )


def _as_table(
    snapshot,
    measurement: Measurement,
    n_ingresses: np.ndarray,
    n_candidates: np.ndarray,
    n_unreached: np.ndarray,
    distributions: Distributions,
    widths: WidthReport,
) -> pa.Table:
    rows = np.asarray(measurement.rows, np.int64)
    n_ases = len(rows)
    n_reused = measurement.n_reused if len(measurement.n_reused) else np.zeros(n_ases, np.int64)
    reason = np.full(n_ases, None, object)
    status = np.full(n_ases, "ok", object)
    for row, why in measurement.failed.items():
        i = int(np.searchsorted(rows, row))
        reason[i] = why
        status[i] = "partial" if distributions.n_searched[i] or widths.knows(i) else "failed"
    columns = {
        "asn": pa.array(np.asarray(snapshot.asn)[rows], pa.int64()),
        "name": null_where_empty([snapshot.as_name[row] for row in rows.tolist()]),
        "n_nodes": _counts(snapshot.n_nodes, rows),
        "n_edges": _counts(snapshot.n_edges, rows),
        "mean_degree": _mean_degree(snapshot, rows),
        "n_components": _counts(snapshot.n_components, rows),
        "largest_component": _counts(snapshot.largest_component, rows),
        "n_ingresses": pa.array(n_ingresses, pa.int64()),
        "n_candidates": pa.array(n_candidates, pa.int64()),
        "n_unreached": pa.array(n_unreached, pa.int64()),
        "n_unmapped": _counts(snapshot.n_unmapped, rows),
        "n_entered_unseen": _counts(snapshot.n_entered_unseen, rows),
        "n_mpls_links": _counts(snapshot.n_mpls_links, rows),
        "n_may_hide_links": _counts(snapshot.n_may_hide_links, rows),
        "n_silent": _counts(snapshot.n_silent, rows),
        "mean_hops": null_where_nan(distributions.mean),
        "median_hops": null_where_nan(distributions.median),
        "p90_hops": null_where_nan(distributions.p90),
        "max_hops": pa.array(distributions.max_hops, pa.int32(), mask=distributions.max_hops < 0),
        **widths.columns(),
        "graph_hash": pa.array(snapshot.graph_hash, pa.string()).take(pa.array(rows)),
        "device": null_where_empty(measurement.device),
        "n_tasks": pa.array(np.asarray(measurement.n_tasks), pa.int64()),
        "n_retries": pa.array(np.asarray(measurement.n_retries), pa.int64()),
        "wall_s": null_where_nan(np.asarray(measurement.wall_s, np.float64)),
        "n_reused": pa.array(n_reused, pa.int64()),
        "reused_from": null_where_empty(measurement.reused_from or [""] * n_ases),
        "status": pa.array(status, pa.string()),
        "reason": pa.array(reason, pa.string()),
        "organisation": null_where_empty([snapshot.as_organisation[row] for row in rows.tolist()]),
    }
    return pa.table(columns)


def _ingress_table(snapshot, known: OfSnapshot, measurement: Measurement) -> pa.Table:
    results = measurement.results
    row = np.asarray(known.ingresses.row, np.int64)
    node = np.asarray(known.ingresses.node, np.int64)
    # Searches are found by key, whatever their order; an ingress without one has nulls.
    key = ordered_keys(row, node)
    searched = ordered_keys(results.row, results.source)
    order = np.argsort(searched, kind="stable")
    searched = searched[order]
    at = np.searchsorted(searched, key)
    has = at < len(searched)
    has[has] = searched[at[has]] == key[has]
    search = order[at[has]]
    hop_ptr, hop_counts = take_rows(results.hop_ptr, results.hop_counts, search)
    farthest_ptr, farthest = take_rows(results.farthest_ptr, results.farthest, search)
    farthest_rows = np.repeat(results.row[search], np.diff(farthest_ptr))
    texts = node_texts(
        snapshot, np.concatenate([row, farthest_rows]), np.concatenate([node, farthest])
    )
    first = known.columns | {"addr": texts.slice(0, len(row))}
    # Later than the others: columns are added at the end.
    last = {name: first.pop(name) for name in list(first) if name.startswith(LATER)}
    n_nodes = np.asarray(snapshot.n_nodes, np.int64)[row[has]]
    closeness, harmonic = closeness_of_sources(hop_ptr, hop_counts, n_nodes)
    columns = {
        **first,
        "n_reached": spread(has, results.n_reached[search], pa.int64()),
        "eccentricity": spread(has, results.eccentricity[search], pa.int32()),
        "mean_hops": spread(has, mean_of_each(hop_ptr, hop_counts), pa.float64()),
        "hop_counts": lists(hop_ptr, pa.array(hop_counts, pa.int64()), has),
        "farthest": lists(farthest_ptr, pa.array(farthest, pa.int32()), has),
        "farthest_addrs": lists(farthest_ptr, texts.slice(len(row)), has),
        **last,
        "closeness": spread(has, closeness, pa.float64()),
        "harmonic": spread(has, harmonic, pa.float64()),
    }
    return pa.table(columns)


def _totals(ases: pa.Table, distributions: Distributions) -> dict:
    """Sums over the ASes of the run; hop figures over all pairs of all ASes."""

    def total(name: str) -> int:
        return int(ases[name].to_numpy().sum())

    pairs = distributions.total()
    n_pairs = int(pairs.sum())
    status = ases["status"].to_numpy(zero_copy_only=False)
    return {
        "n_ases": ases.num_rows,
        "n_nodes": total("n_nodes"),
        "n_edges": total("n_edges"),
        "n_ingresses": total("n_ingresses"),
        "n_candidates": total("n_candidates"),
        "n_unreached": total("n_unreached"),
        "n_may_hide_links": total("n_may_hide_links"),
        "n_silent": total("n_silent"),
        "n_searches": int(distributions.n_searched.sum()),
        "n_without_ingress": int((ases["n_ingresses"].to_numpy() == 0).sum()),
        "n_failed": int((status == "failed").sum()),
        "n_partial": int((status == "partial").sum()),
        "n_pairs": n_pairs,
        "mean_hops": float((pairs * np.arange(len(pairs))).sum() / n_pairs) if n_pairs else None,
        "max_hops": int(distributions.max_hops.max(initial=-1))
        if distributions.n_searched.any()
        else None,
        "hop_counts": pairs.tolist(),
    }


def _confidence(ingresses) -> dict:
    """Of the ingresses that have one: the mean, and how many are of low confidence."""
    rated = np.asarray(ingresses.confidence)[~np.asarray(ingresses.candidate, bool)]
    rated = rated[~np.isnan(rated)].astype(np.float64)
    return {
        "mean_confidence": float(rated.mean()) if len(rated) else None,
        "n_low_confidence": int(np.count_nonzero(is_low(rated))) if len(rated) else None,
    }


def _mean_degree(snapshot, rows: np.ndarray) -> pa.Array:
    """Links of a node on average: each link has two ends."""
    n_nodes = np.asarray(snapshot.n_nodes, np.int64)[rows]
    n_ends = 2.0 * np.asarray(snapshot.n_edges, np.int64)[rows]
    return pa.array(n_ends / np.maximum(n_nodes, 1), pa.float64(), mask=n_nodes == 0)


def _counts(column, rows: np.ndarray) -> pa.Array:
    return pa.array(np.asarray(column)[rows], pa.int64())
