"""Tables of how ASes are connected: routers by which traces enter and leave, links between ASes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.model.columns.keys import ordered_keys, split_key
from pipeline.model.columns.ragged import offsets, row_of_value, take_rows
from pipeline.model.relations import WORDS
from pipeline.model.topology import AS_RELATION, SIBLINGS
from pipeline.report.tables.columns import lists
from pipeline.report.tables.node_names import host_names, node_texts
from pipeline.report.tables.places import place_columns
from pipeline.store import Ingresses
from pipeline.store.delays import delay_columns


def ingress_columns(snapshot, ingresses: Ingresses, addr: pa.Array) -> dict[str, pa.Array]:
    """The columns of ``ingresses.parquet`` that do not come from searches.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    ingresses : Ingresses
        Of this snapshot.
    addr : (n,) pyarrow.StringArray
        Their texts.
    """
    row, node = np.asarray(ingresses.row, np.int64), np.asarray(ingresses.node, np.int64)
    return {
        "asn": pa.array(np.asarray(snapshot.asn)[row], pa.int64()),
        "ingress": pa.array(node, pa.int32()),
        "addr": addr,
        "neighbor_asns": lists(
            np.asarray(ingresses.neighbor_ptr), pa.array(ingresses.neighbor_asn, pa.int64())
        ),
        "n_direct": pa.array(ingresses.n_direct, pa.int64()),
        "n_after_gap": pa.array(ingresses.n_after_gap, pa.int64()),
        "neighbor_n_direct": _of_neighbors(ingresses),
        "candidate": pa.array(ingresses.candidate, pa.bool_()),
        "confidence": pa.array(
            ingresses.confidence, pa.float32(), mask=np.isnan(ingresses.confidence)
        ),
        **_exchange_points(ingresses),
        "host_name": host_names(snapshot, row, node),
        **_delays(ingresses),
        **place_columns(snapshot, row, node),
    }


def _delays(ingresses: Ingresses) -> dict[str, pa.Array]:
    """RTT added behind each ingress; null where the snapshot has none, or no trace shows it."""
    columns = delay_columns(ingresses.delays, len(ingresses))
    if ingresses.delays is None:
        return {name: pa.nulls(len(column), _short(column)) for name, column in columns.items()}
    seen = ingresses.delays.n_traces > 0
    for name, column in columns.items():
        if pa.types.is_large_list(column.type):  # every reader of Parquet knows short ones
            columns[name] = lists(column.offsets.to_numpy(), column.values)
        elif pa.types.is_integer(column.type) and name != "delay_n_traces":
            columns[name] = pa.array(column.to_numpy(), mask=~seen)
    return columns


def _short(column: pa.Array) -> pa.DataType:
    is_list = pa.types.is_large_list(column.type)
    return pa.list_(column.type.value_type) if is_list else column.type


def _of_neighbors(ingresses: Ingresses) -> pa.Array:
    """``n_direct`` of each neighbour; null for an ingress for which it is not known."""
    ptr, counts = np.asarray(ingresses.neighbor_ptr), np.asarray(ingresses.neighbor_n_direct)
    known = np.bincount(row_of_value(ptr), counts < 0, len(ptr) - 1) == 0
    ptr, counts = take_rows(ptr, counts, np.flatnonzero(known))
    return lists(ptr, pa.array(counts, pa.int64()), known)


def _exchange_points(ingresses: Ingresses) -> dict[str, pa.Array]:
    """Whether an ingress is entered by an exchange point, and by which from each neighbour."""
    ptr, name = np.asarray(ingresses.neighbor_ptr), np.asarray(ingresses.neighbor_ixp, object)
    known = np.array([one is not None for one in name], bool)
    by_one = known & (name != "")
    n_rows = len(ptr) - 1
    row = np.repeat(np.arange(n_rows), np.diff(ptr))
    unknown = np.bincount(row, known, n_rows) == 0
    return {
        "via_ixp": pa.array(np.bincount(row, by_one, n_rows) > 0, pa.bool_(), mask=unknown),
        "neighbor_ixps": lists(ptr, pa.array(name, pa.string(), mask=~by_one)),
    }


def as_link_table(snapshot, rows: np.ndarray) -> pa.Table:
    """``as_links.parquet``: one row per pair of ASes with a link, one of them measured.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows measured, ascending.

    Returns
    -------
    pyarrow.Table
        Sorted by near_asn, then far_asn; near_asn is the smaller one.
    """
    borders = snapshot.borders()
    near, far = (borders[name].to_numpy().astype(np.uint64) for name in ("near_asn", "far_asn"))
    measured = np.asarray(snapshot.asn)[rows].astype(np.uint64)
    kept = np.isin(near, measured) | np.isin(far, measured)
    pair, inverse = np.unique((near[kept] << np.uint64(32)) | far[kept], return_inverse=True)
    n = len(pair)

    def total(name: str, kind: pa.DataType) -> pa.Array:
        """Sum over the links of each pair; null where the links do not have the column."""
        if name not in borders.column_names:
            return pa.nulls(n, kind)
        values = borders[name].to_numpy()[kept].astype(np.float64)  # NaN: of a file without it
        summed = np.bincount(inverse, values, n)
        missing = np.isnan(summed)
        return pa.array(np.where(missing, 0, summed).astype(np.int64), mask=missing).cast(kind)

    table = pa.table(
        {
            "near_asn": pa.array(pair >> np.uint64(32), pa.int64()),
            "far_asn": pa.array(pair & np.uint64(0xFFFF_FFFF), pa.int64()),
            "n_traces": total("n_traces", pa.int64()),
            "n_links": pa.array(np.bincount(inverse, minlength=n), pa.int64()),
            "via_ixp": total("via_ixp", pa.bool_()),
            SIBLINGS: total(SIBLINGS, pa.bool_()),
            "relation": _relations(borders, kept, inverse, n),
        }
    )
    return table.append_column("ixps", _crossed(snapshot, pair, table["via_ixp"]))


def _relations(borders: pa.Table, kept: np.ndarray, inverse: np.ndarray, n: int) -> pa.Array:
    """What the first AS of each pair is to the second, as a word; null where it is not stated."""
    kind = np.zeros(n, np.int8)
    if AS_RELATION in borders.column_names:
        kind[inverse] = borders[AS_RELATION].to_numpy()[kept]
    return pa.array(WORDS, pa.string()).take(pa.array(kind))


def _crossed(snapshot, pair: np.ndarray, via_ixp: pa.ChunkedArray) -> pa.Array:
    """Exchange points by which traces went between the ASes of each pair, by name.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    pair : (n,) uint64
        ``near << 32 | far``, ascending.
    via_ixp : (n,) pyarrow.ChunkedArray
        Null where nothing is known of exchange points; so is the list then.
    """
    known = via_ixp.is_valid().to_numpy()
    ends = np.concatenate([pair >> np.uint64(32), pair & np.uint64(0xFFFF_FFFF)]).astype(np.int64)
    rows = np.flatnonzero(np.isin(snapshot.asn, ends)) if known.any() else np.empty(0, np.int64)
    ingresses = snapshot.ingresses(rows)
    name = np.asarray(ingresses.neighbor_ixp, object)
    named = np.flatnonzero(name.astype(bool))  # neither None nor empty
    own = np.asarray(snapshot.asn)[np.asarray(ingresses.row, np.int64)]
    own = own[row_of_value(np.asarray(ingresses.neighbor_ptr))[named]].astype(np.uint64)
    other = np.asarray(ingresses.neighbor_asn)[named].astype(np.uint64)
    key = (np.minimum(own, other) << np.uint64(32)) | np.maximum(own, other)
    row = np.minimum(np.searchsorted(pair, key), max(len(pair) - 1, 0))
    linked = (pair[row] == key) & known[row] if len(pair) else np.zeros(len(key), bool)
    texts, number = np.unique(name[named][linked].astype(object), return_inverse=True)
    row, at = split_key(np.unique(ordered_keys(row[linked], number)))
    return lists(
        offsets(np.bincount(row, minlength=len(pair))[known]),
        pa.array(texts, pa.string()).take(pa.array(at)),
        known,
    )


def exit_table(snapshot, rows: np.ndarray) -> pa.Table:
    """``exits.parquet``: one row per (AS, exit), sorted by asn, then exit.

    Parameters as in ``as_link_table``.
    """
    exits = snapshot.exits(rows)
    key = ordered_keys(exits.row, exits.node)
    distinct, first = np.unique(key, return_index=True)
    row, node = split_key(distinct)
    ptr = offsets(np.diff(first, append=len(key)))
    total = np.add.reduceat(exits.n_traces, first) if len(first) else exits.n_traces
    return pa.table(
        {
            "asn": pa.array(np.asarray(snapshot.asn)[row], pa.int64()),
            "exit": pa.array(node, pa.int32()),
            "addr": node_texts(snapshot, row, node),
            "neighbor_asns": lists(ptr, pa.array(exits.neighbor_asn, pa.int64())),
            "n_direct": pa.array(total, pa.int64()),
            "neighbor_n_direct": lists(ptr, pa.array(exits.n_traces, pa.int64())),
            "host_name": host_names(snapshot, row, node),
            **place_columns(snapshot, row, node),
        }
    )
