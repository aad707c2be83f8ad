"""Links of routers, inside their AS and to others, with what traces show of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.model.columns.ragged import offsets, row_of_value

# Optional columns of links that say how one was seen.
FLAGS = ("bridged", "mpls", "via_ixp", "may_hide")
_UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class RouterLinks:
    """Links of the nodes of some ASes, each at both ends; the most traversed of a node first.

    Attributes
    ----------
    ptr : (n_nodes + 1,) int64
        Links of each node; nodes of the ASes end to end.
    row, node : (n_links,) int64
        AS row and local node id at the other end.
    n_traces : (n_links,) int64
        Traces that crossed the link, -1 where that is not known: links of topologies.
    weight : (n_links,) float32
        In ``weight_unit`` of the snapshot; NaN where a link has none.
    flags : dict of str to (n_links,) bool
        By the names of ``FLAGS``; those that the snapshot has.
    """

    ptr: np.ndarray
    row: np.ndarray
    node: np.ndarray
    n_traces: np.ndarray
    weight: np.ndarray
    flags: dict[str, np.ndarray]


def links_of_rows(snapshot, rows: np.ndarray, borders: pa.Table | None = None) -> RouterLinks:
    """Links of all nodes of some ASes.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows, ascending.
    borders : pyarrow.Table, optional
        Those of the snapshot, where they were read before.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered.
    """
    rows = np.asarray(rows, np.int64)
    begin = offsets(np.asarray(snapshot.n_nodes)[rows])
    names = [n for n in ("n_traces", *FLAGS) if n in snapshot.manifest["arc_columns"]]
    borders = snapshot.borders() if borders is None else borders
    parts = [_inside(snapshot, rows, names), *_across(snapshot, rows, begin, names, borders)]
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.lexsort((columns["node"], columns["row"], -columns["n_traces"], columns["own"]))
    columns = {key: column[order] for key, column in columns.items()}
    ptr = offsets(np.bincount(columns["own"], minlength=int(begin[-1])))
    flags = {name: columns[name] for name in names if name in FLAGS}
    return RouterLinks(
        ptr, columns["row"], columns["node"], columns["n_traces"], columns["weight"], flags
    )


def hundredths(ms: np.ndarray) -> np.ndarray:
    """(n,) int64: milliseconds as they are shown, in hundredths; -1 for NaN."""
    found = np.full(len(ms), -1, np.int64)
    known = ~np.isnan(ms)
    found[known] = np.rint(ms[known].astype(np.float64) * 100)
    return found


def _inside(snapshot, rows: np.ndarray, names: list[str]) -> dict[str, Any]:
    whole = snapshot.shard(rows)
    own = row_of_value(whole.indptr)
    of = np.searchsorted(whole.node_ptr, own, side="right") - 1
    others = snapshot.link_columns(rows)
    n = len(own)
    return {
        "own": own,
        "row": rows[of],
        "node": whole.indices.astype(np.int64) - whole.node_ptr[of],
        "n_traces": np.asarray(others.get("n_traces", np.full(n, _UNKNOWN)), np.int64),
        "weight": others.get("weight", np.full(n, np.nan, np.float32)),
        **{name: others[name] for name in names if name in FLAGS},
    }


def _across(
    snapshot, rows: np.ndarray, begin: np.ndarray, names: list[str], table: pa.Table
) -> Iterator[dict[str, Any]]:
    """Links between ASes, seen from those of the rows, first from the near end of each."""
    n = table.num_rows
    known = {name: table[name].to_numpy() for name in names if name in table.column_names}
    counted = known.get("n_traces", np.full(n, _UNKNOWN))
    flags = {
        name: np.asarray(known.get(name, np.zeros(n, bool)), bool)
        for name in names
        if name in FLAGS
    }
    weight = np.full(n, np.nan, np.float32)
    if "weight" in table.column_names:
        weight = table["weight"].fill_null(np.nan).to_numpy()
    row = {
        end: np.searchsorted(np.asarray(snapshot.asn), table[f"{end}_asn"].to_numpy())
        for end in ("near", "far")
    }
    node = {end: table[end].to_numpy().astype(np.int64) for end in ("near", "far")}
    for own, other in (("near", "far"), ("far", "near")):
        at = np.minimum(np.searchsorted(rows, row[own]), len(rows) - 1)
        kept = np.flatnonzero(rows[at] == row[own])
        yield {
            "own": begin[at[kept]] + node[own][kept],
            "row": row[other][kept],
            "node": node[other][kept],
            "n_traces": np.asarray(counted, np.int64)[kept],
            "weight": weight[kept],
            **{name: flag[kept] for name, flag in flags.items()},
        }
