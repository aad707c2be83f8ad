"""Tables of a snapshot and of its last report, for programs: the package ``hopscope``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.errors import UsageError
from pipeline.report.tables.neighbors import as_link_table, exit_table, ingress_columns
from pipeline.report.tables.node_names import addr_texts, node_texts
from pipeline.stages.contents.export import edge_table, node_table
from pipeline.stages.contents.snapshots import as_rows, report_folder
from pipeline.store import Snapshot

__all__ = [
    "addresses_by_node",
    "as_link_table",
    "as_table",
    "edge_table",
    "exit_table",
    "ingress_table",
    "node_table",
]


def as_table(snapshot: Snapshot, out: Path | None, asn: int | None = None) -> pa.Table:
    """One row per AS, or the row of one: from the last report, else what the snapshot knows."""
    table = _reported(snapshot, out, "ases.parquet", asn)
    if table is not None and (asn is None or table.num_rows):
        return table
    rows = as_rows(snapshot, None if asn is None else snapshot.row_of(asn))
    names = list(rows[0]) if rows else ["asn", "name"]
    kinds = {name: pa.string() if name == "name" else pa.int64() for name in names}
    return pa.table({name: pa.array([row[name] for row in rows], kinds[name]) for name in names})


def ingress_table(snapshot: Snapshot, out: Path | None, asn: int | None = None) -> pa.Table:
    """One row per ingress, of all ASes or of one; with results where the last report has them."""
    table = _reported(snapshot, out, "ingresses.parquet", asn)
    if table is not None and (asn is None or table.num_rows):
        return table
    found = snapshot.ingresses(None if asn is None else np.array([snapshot.row_of(asn)]))
    return pa.table(ingress_columns(snapshot, found, node_texts(snapshot, found.row, found.node)))


def _reported(snapshot: Snapshot, out: Path | None, name: str, asn: int | None) -> pa.Table | None:
    folder = report_folder(snapshot, out)
    if folder is None:
        return None
    try:
        return pq.read_table(folder / name, filters=None if asn is None else pc.field("asn") == asn)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{folder / name}: {str(error).splitlines()[0]}") from None


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
