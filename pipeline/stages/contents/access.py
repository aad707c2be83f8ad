"""Tables of a snapshot and of its last report, for programs: the package ``hopscope``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.errors import UsageError, first_line
from pipeline.report.names import ASES
from pipeline.report.tables.neighbors import as_link_table, exit_table, ingress_columns
from pipeline.report.tables.node_names import addr_texts, node_texts
from pipeline.stages.contents.export import edge_table, node_table
from pipeline.stages.contents.snapshots import as_rows, other_report, report_folder
from pipeline.store import Snapshot

if TYPE_CHECKING:
    from kernels import CSRGraph

__all__ = [
    "addresses_by_node",
    "as_link_table",
    "as_table",
    "edge_table",
    "exit_table",
    "ingress_table",
    "node_table",
    "places_in_layers",
]


def as_table(snapshot: Snapshot, out: Path | None, asn: int | None = None) -> pa.Table:
    """One row per AS, or the row of one: from the last report, else what the snapshot knows.

    ASes that a report of some leaves out have only what the snapshot knows, in its columns.
    """
    table = _reported(snapshot, out, ASES, asn)
    if asn is not None:
        if table is not None and table.num_rows:
            return table
        return _counted(snapshot, as_rows(snapshot, snapshot.row_of(asn)))
    if table is None:
        return _counted(snapshot, as_rows(snapshot))
    left = set(snapshot.asn[_left_out(snapshot, table)].tolist())
    rows = [row for row in as_rows(snapshot) if row["asn"] in left] if left else []
    return _with_rest(table, _counted(snapshot, rows))


def ingress_table(snapshot: Snapshot, out: Path | None, asn: int | None = None) -> pa.Table:
    """One row per ingress, of all ASes or of one; with results where the last report has them."""
    table = _reported(snapshot, out, "ingresses.parquet", asn)
    if asn is not None:
        some = np.array([snapshot.row_of(asn)])
        return table if table is not None and table.num_rows else _entered(snapshot, some)
    reported = None if table is None else _reported(snapshot, out, ASES, None)
    if table is None or reported is None:
        return _entered(snapshot, None)
    return _with_rest(table, _entered(snapshot, _left_out(snapshot, reported)))


def _counted(snapshot: Snapshot, rows: list[dict]) -> pa.Table:
    names = list(as_rows(snapshot, 0)[0]) if snapshot.n_ases else ["asn", "name"]
    kinds = {name: pa.string() if name == "name" else pa.int64() for name in names}
    return pa.table({name: pa.array([row[name] for row in rows], kinds[name]) for name in names})


def _entered(snapshot: Snapshot, rows: np.ndarray | None) -> pa.Table:
    found = snapshot.ingresses(rows)
    return pa.table(ingress_columns(snapshot, found, node_texts(snapshot, found.row, found.node)))


def _left_out(snapshot: Snapshot, reported: pa.Table) -> np.ndarray:
    """Rows of the ASes that a report of some leaves out, ascending."""
    return np.flatnonzero(~np.isin(snapshot.asn, reported["asn"].to_numpy()))


def _with_rest(reported: pa.Table, rest: pa.Table) -> pa.Table:
    """The rows of both in the columns of the first, ascending by AS."""
    if not rest.num_rows:
        return reported
    names = [name for name in reported.column_names if name in rest.column_names]
    rest = rest.select(names).cast(pa.schema([reported.schema.field(name) for name in names]))
    return pa.concat_tables([reported, rest], promote_options="default").sort_by("asn")


def _reported(snapshot: Snapshot, out: Path | None, name: str, asn: int | None) -> pa.Table | None:
    folder = report_folder(snapshot, out)
    if folder is None:
        if fault := other_report(snapshot, out):
            warnings.warn(fault, UserWarning, stacklevel=4)
        return None
    try:
        return pq.read_table(folder / name, filters=None if asn is None else pc.field("asn") == asn)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{folder / name}: {first_line(error)}") from None


def places_in_layers(graph: CSRGraph, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the nodes of an AS are drawn, as on its page.

    Parameters
    ----------
    graph : CSRGraph
    sources : (n_sources,) int32
        Its ingresses; without any, its node with the most links stands in.

    Returns
    -------
    layer : (n_nodes,) int64
        Hops from the nearest source; what none reaches is one layer behind the others.
    place : (n_nodes,) float64
        Within the layer, from 0 to 1.
    """
    from pipeline.report.drawing.layers import levels, place

    n = graph.n_nodes
    starts = sources if len(sources) or not n else np.diff(graph.indptr).argmax()[None]
    level = levels(graph.indptr, graph.indices, np.asarray(starts))
    places = place(graph.indptr, graph.indices, np.zeros(n, np.int64), level)
    return places.layer.astype(np.int64), (places.rank + 0.5) / places.of_layer


def addresses_by_node(snapshot: Snapshot, row: int) -> pa.Table:
    """``node`` and ``addr`` of every address of one AS, sorted by node, then address."""
    table = snapshot.addresses()
    if table is None:
        nodes = np.arange(snapshot.n_nodes[row])
        texts = node_texts(snapshot, np.full(len(nodes), row), nodes)
        return pa.table({"node": pa.array(nodes, pa.int32()), "addr": texts})
    own = table.filter(pc.equal(table["asn"], int(snapshot.asn[row]))).combine_chunks()
    order = np.argsort(own["node"].to_numpy(), kind="stable")
    addrs = np.stack([own[half].to_numpy() for half in ("addr_high", "addr_low")], axis=1)
    return pa.table({"node": own["node"].to_numpy()[order], "addr": addr_texts(addrs[order])})
