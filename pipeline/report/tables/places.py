"""Places of routers, as columns of tables, and as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.model.addresses import positions_of
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.measured.locations import Locations, least_rtt_ms
from pipeline.model.words import ms_text, printable

_TYPES = {
    "city": pa.string(),
    "country": pa.string(),
    "latitude": pa.float32(),
    "longitude": pa.float32(),
    "place_impossible": pa.bool_(),
    "place_rtt_ms": pa.float32(),
    "place_far_km": pa.float32(),
}
PLACE_COLUMNS = tuple(_TYPES)


def place_columns(snapshot, rows: np.ndarray, nodes: np.ndarray) -> dict[str, pa.Array]:
    """Places of some nodes; null where none is known.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n,) int64
        AS row of each node.
    nodes : (n,) int32
        Local node ids.

    Returns
    -------
    dict of str to pyarrow.Array
        That of the address that names the node, or else of its smallest which has one.
    """
    known: Locations | None = snapshot.locations()
    if known is None or not len(rows):
        return {name: pa.nulls(len(rows), kind) for name, kind in _TYPES.items()}
    at = known.rows_of(snapshot.lookup(rows, nodes).addr)
    stored = snapshot.addresses()
    if stored is not None:
        addrs = np.stack([stored[half].to_numpy() for half in ("addr_high", "addr_low")], axis=1)
        of_stored = positions_of(known.addr, addrs)
        some = np.flatnonzero(of_stored >= 0)
        named = ordered_keys(*(stored[name].to_numpy()[some] for name in ("asn", "node")))
        named, first = np.unique(named, return_index=True)  # addresses ascend
        key = ordered_keys(np.asarray(snapshot.asn)[rows], nodes)
        where = np.minimum(np.searchsorted(named, key), max(len(named) - 1, 0))
        if len(named):
            other = np.where(named[where] == key, of_stored[some[first[where]]], -1)
            at = np.where(at >= 0, at, other)
    return columns_at(known, at)


def columns_at(known: Locations, at: np.ndarray) -> dict[str, pa.Array]:
    """Places at some rows of a table, (n,) int64; null at -1."""
    found = known.take(np.maximum(at, 0)) if len(known) else known.take(at[:0])
    impossible = pa.array(found.is_impossible, pa.bool_(), mask=~found.is_checked)
    table = pa.table({**found.columns(), "place_impossible": impossible})
    taken = table.take(pa.array(np.arange(len(at)), mask=at < 0))
    return {name: taken[name].combine_chunks() for name in _TYPES}


def place_text(row: Mapping[str, Any]) -> str:
    """City and country, or else degrees; empty where no place is known."""
    if row["latitude"] is None:
        return ""
    names = [printable(row[name]) for name in ("city", "country") if row[name]]
    return ", ".join(names) or f"{row['latitude']:.2f}, {row['longitude']:.2f}"


def impossible_text(row: Mapping[str, Any]) -> str:
    """Why the speed of light forbids a place; empty where it does not, or was not asked."""
    if not row["place_impossible"]:
        return ""
    km = row["place_far_km"]
    return (
        f"RTT {ms_text(row['place_rtt_ms'])} ms from a vantage point {km:,.0f} km away: light in "
        f"fibre takes {ms_text(float(least_rtt_ms(km)))} ms at least"
    )


def placed_text(row: Mapping[str, Any]) -> str:
    """A place, and why the speed of light forbids it where it does; empty where none is known."""
    why = impossible_text(row)
    return f"{place_text(row)}: impossible, {why}" if why else place_text(row)


def counted_places(rows: Iterable[Mapping[str, Any]], traces: str) -> list[tuple[str, int, int]]:
    """(place, rows, sum of a column over them), those with the most traces first.

    The last is of those without a place, with an empty text, if there are any others.
    """
    n_rows: Counter[str] = Counter()
    n_traces: Counter[str] = Counter()
    for row in rows:
        text = place_text(row)
        n_rows[text] += 1
        n_traces[text] += row[traces]
    if not any(n_rows):
        return []
    order = sorted(n_rows, key=lambda text: (text == "", -n_traces[text], -n_rows[text], text))
    return [(text, n_rows[text], n_traces[text]) for text in order]
