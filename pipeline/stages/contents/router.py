"""What a snapshot knows of one router: its links, traces, entries and exits; its nights."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.model.addresses import is_private
from pipeline.model.columns.ragged import offsets
from pipeline.model.words import confidence_class
from pipeline.report.routers.crossings import router_crossings
from pipeline.report.routers.links import hundredths, links_of_rows
from pipeline.report.routers.nights import nights_alike
from pipeline.report.tables.node_names import addr_texts, node_texts
from pipeline.report.tables.places import place_columns
from pipeline.store import Snapshot, find_addresses


def router_facts(snapshot: Snapshot, row: int, node: int) -> dict[str, Any]:
    """Facts of one node.

    Returns
    -------
    dict
        ``links``: a dict for each link, the most traversed first, with ``delay_ms`` (half of what
        the RTT grows by across it, the median of traces); ``ingress`` and ``exit``: None unless it
        is one; ``n_traces``, ``n_vantages``, ``rtt_ms`` (the lowest) and ``nearest_vantage``: None
        where paths are not kept; ``PLACE_COLUMNS`` as in tables: None where no place is known.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered.
    """
    return {
        "links": _links(snapshot, row, node),
        "ingress": _ingress(snapshot, row, node),
        "exit": _exit(snapshot, row, node),
        **_crossings(snapshot, row, node),
        **_place(snapshot, row, node),
    }


def _links(snapshot: Snapshot, row: int, node: int) -> list[dict[str, Any]]:
    links = links_of_rows(snapshot, np.array([row]))
    own = slice(int(links.ptr[node]), int(links.ptr[node + 1]))
    texts = node_texts(snapshot, links.row[own], links.node[own]).to_pylist()
    columns = {
        "asn": snapshot.asn[links.row[own]].tolist(),
        "node": links.node[own].tolist(),
        "n_traces": [None if n < 0 else n for n in links.n_traces[own].tolist()],
        **_weights(snapshot, links.weight[own]),
        **{name: flags[own].tolist() for name, flags in links.flags.items()},
    }
    rows = zip(*columns.values(), strict=True)
    return [
        {"addr": text, **dict(zip(columns, values, strict=True))}
        for text, values in zip(texts, rows, strict=True)
    ]


def _weights(snapshot: Snapshot, weight: np.ndarray) -> dict[str, list[float | None]]:
    if snapshot.weight_unit == "ms":
        return {"delay_ms": _milliseconds(weight)}
    return {"weight": [None if np.isnan(each) else float(each) for each in weight]}


def _milliseconds(values: np.ndarray) -> list[float | None]:
    return [None if n < 0 else n / 100 for n in hundredths(values).tolist()]


def _ingress(snapshot: Snapshot, row: int, node: int) -> dict[str, Any] | None:
    table = snapshot.ingresses(np.array([row]))
    at = np.flatnonzero(table.node == node)
    if not len(at):
        return None
    own = slice(int(table.neighbor_ptr[at[0]]), int(table.neighbor_ptr[at[0] + 1]))
    confidence = float(table.confidence[at[0]])
    candidate = bool(table.candidate[at[0]])
    neighbors = zip(
        table.neighbor_asn[own].tolist(),
        table.neighbor_n_direct[own].tolist(),
        table.neighbor_ixp[own].tolist(),
        strict=True,
    )
    known = not np.isnan(confidence)
    return {
        "candidate": candidate,
        "n_direct": int(table.n_direct[at[0]]),
        "n_after_gap": int(table.n_after_gap[at[0]]),
        "confidence": confidence if known else None,
        "confidence_class": confidence_class(confidence) if known and not candidate else None,
        "neighbors": [
            {"asn": asn, "n_direct": None if n < 0 else n, "ixp": ixp or None}
            for asn, n, ixp in sorted(neighbors, key=lambda each: (-each[1], each[0]))
        ],
    }


def _exit(snapshot: Snapshot, row: int, node: int) -> dict[str, Any] | None:
    exits = snapshot.exits(np.array([row]))
    at = np.flatnonzero(exits.node == node)
    if not len(at):
        return None
    pairs = zip(exits.neighbor_asn[at].tolist(), exits.n_traces[at].tolist(), strict=True)
    neighbors = sorted(pairs, key=lambda each: (-each[1], each[0]))
    return {
        "n_direct": int(exits.n_traces[at].sum()),
        "neighbors": [{"asn": asn, "n_direct": n} for asn, n in neighbors],
    }


def _crossings(snapshot: Snapshot, row: int, node: int) -> dict[str, Any]:
    steps = snapshot.steps()
    if steps is None:
        return dict.fromkeys(("n_traces", "n_vantages", "rtt_ms", "nearest_vantage"))
    at = int(offsets(snapshot.n_nodes)[row]) + node
    seen = router_crossings(steps, int(snapshot.n_nodes.sum()))
    vantages = snapshot.vantages()
    nearest = int(seen.nearest[at])
    text = None
    if nearest >= 0 and vantages is not None:
        halves = [vantages.addr_high[nearest], vantages.addr_low[nearest]]
        text = addr_texts(np.array([halves], np.uint64))[0].as_py()
    return {
        "n_traces": int(seen.n_traces[at]),
        "n_vantages": int(seen.n_vantages[at]),
        "rtt_ms": _milliseconds(seen.rtt_ms[at : at + 1])[0],
        "nearest_vantage": text,
    }


def _place(snapshot: Snapshot, row: int, node: int) -> dict[str, Any]:
    columns = place_columns(snapshot, np.array([row]), np.array([node]))
    return {name: column[0].as_py() for name, column in columns.items()}


def nights_of(snapshot: Snapshot, addrs: np.ndarray) -> dict[str, Any] | None:
    """On which kept nights a router was seen: those of ``nights_alike`` that share an address.

    Parameters
    ----------
    snapshot : Snapshot
    addrs : (n, 2) uint64
        Of the router; private ones say nothing of other nights.

    Returns
    -------
    dict or None
        ``first`` and ``last``: names of nights; ``n_seen``, ``n_nights``. None where every address
        is private, or the name of the snapshot is not a date.
    """
    words = addrs[~is_private(addrs)].tolist()
    nights = {name: _has_any(night, words) for name, night in nights_alike(snapshot)}
    seen = [name for name, is_there in nights.items() if is_there]
    if not seen:
        return None
    return {"first": seen[0], "last": seen[-1], "n_seen": len(seen), "n_nights": len(nights)}


def _has_any(night: Snapshot, words: list[list[int]]) -> bool:
    return any(len(find_addresses(night, (high, low), (high, low))) for high, low in words)
