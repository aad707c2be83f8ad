"""Links of routers, inside their AS and to others, with what traces show of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.model.columns.ragged import offsets, row_of_value

FLAGS = ("bridged", "mpls", "via_ixp")  # optional columns of links that say how one was seen
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


def links_of_rows(snapshot, rows: np.ndarray) -> RouterLinks:
    """Links of all nodes of some ASes.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n_ases,) int64
        AS rows, ascending.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered.
    """
    rows = np.asarray(rows, np.int64)
    begin = offsets(np.asarray(snapshot.n_nodes)[rows])
    names = [n for n in ("n_traces", *FLAGS) if n in snapshot.manifest["arc_columns"]]
    parts = [_across(snapshot, rows, begin, names)]
    for at, row in enumerate(rows.tolist()):
        parts.append(_inside(snapshot, row, int(begin[at]), names))
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.lexsort((columns["node"], columns["row"], -columns["n_traces"], columns["own"]))
    columns = {key: column[order] for key, column in columns.items()}
    ptr = offsets(np.bincount(columns["own"], minlength=int(begin[-1])))
    flags = {name: columns[name] for name in names if name in FLAGS}
    return RouterLinks(
        ptr, columns["row"], columns["node"], columns["n_traces"], columns["weight"], flags
    )


def _inside(snapshot, row: int, first: int, names: list[str]) -> dict[str, Any]:
    graph = snapshot.graph(row, weights=True)
    others = snapshot.arc_columns(row)
    n = graph.n_arcs
    weight = np.full(n, np.nan, np.float32) if graph.weights is None else graph.weights
    return {
        "own": first + row_of_value(graph.indptr),
        "row": np.full(n, row, np.int64),
        "node": graph.indices.astype(np.int64),
        "n_traces": np.asarray(others.get("n_traces", np.full(n, _UNKNOWN)), np.int64),
        "weight": weight,
        **{name: others[name] for name in names if name in FLAGS},
    }


def _across(snapshot, rows: np.ndarray, begin: np.ndarray, names: list[str]) -> dict[str, Any]:
    """Links between ASes, seen from those of the rows."""
    table = snapshot.borders()
    asn = np.asarray(snapshot.asn)
    end = {
        which: (
            np.searchsorted(asn, table[f"{which}_asn"].to_numpy()),
            table[which].to_numpy().astype(np.int64),
        )
        for which in ("near", "far")
    }
    n = table.num_rows
    known = {name: table[name].to_numpy() for name in names if name in table.column_names}
    weight = np.full(n, np.nan, np.float32)
    if "weight" in table.column_names:
        weight = table["weight"].fill_null(np.nan).to_numpy()
    parts = []
    for own, other in (("near", "far"), ("far", "near")):
        at = np.minimum(np.searchsorted(rows, end[own][0]), len(rows) - 1)
        kept = np.flatnonzero(rows[at] == end[own][0])
        counted = known.get("n_traces", np.full(n, _UNKNOWN))
        parts.append(
            {
                "own": begin[at[kept]] + end[own][1][kept],
                "row": end[other][0][kept],
                "node": end[other][1][kept],
                "n_traces": np.asarray(counted, np.int64)[kept],
                "weight": weight[kept],
                **{
                    name: np.asarray(known.get(name, np.zeros(n, bool)), bool)[kept]
                    for name in names
                    if name in FLAGS
                },
            }
        )
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
