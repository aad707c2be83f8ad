"""What a snapshot knows of one router: its links, traces, entries and exits; its nights."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import StoreError
from pipeline.model.addresses import is_private, positions_of
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.reading import newest_record
from pipeline.model.words import confidence_class
from pipeline.report.routers.crossings import router_crossings
from pipeline.report.routers.links import links_of_rows
from pipeline.report.tables.node_names import addr_texts, node_texts
from pipeline.store import Snapshot, find_addresses, open_snapshot
from pipeline.store.pointers import names_and_faults
from pipeline.store.pointers.nights import age_of, is_night

MAX_NIGHTS = 30  # that are searched for a router


def router_facts(snapshot: Snapshot, row: int, node: int) -> dict[str, Any]:
    """Facts of one node.

    Returns
    -------
    dict
        ``links``: a dict for each link, the most traversed first, with ``delay_ms`` (half of what
        the RTT grows by across it, the median of traces); ``ingress`` and ``exit``: None unless it
        is one; ``n_traces``, ``n_vantages``, ``rtt_ms`` (the lowest) and ``nearest_vantage``: None
        where paths are not kept.

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
    }


def _links(snapshot: Snapshot, row: int, node: int) -> list[dict[str, Any]]:
    links = links_of_rows(snapshot, np.array([row]))
    own = slice(int(links.ptr[node]), int(links.ptr[node + 1]))
    texts = node_texts(snapshot, links.row[own], links.node[own]).to_pylist()
    columns = {
        "asn": snapshot.asn[links.row[own]].tolist(),
        "node": links.node[own].tolist(),
        "n_traces": [None if n < 0 else n for n in links.n_traces[own].tolist()],
        _weight_name(snapshot): [
            None if np.isnan(w) else round(float(w), 2) for w in links.weight[own]
        ],
        **{name: flags[own].tolist() for name, flags in links.flags.items()},
    }
    rows = zip(*columns.values(), strict=True)
    return [
        {"addr": text, **dict(zip(columns, values, strict=True))}
        for text, values in zip(texts, rows, strict=True)
    ]


def _weight_name(snapshot: Snapshot) -> str:
    return "delay_ms" if snapshot.weight_unit == "ms" else "weight"


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
    nearest, rtt = int(seen.nearest[at]), float(seen.rtt_ms[at])
    text = None
    if nearest >= 0 and vantages is not None:
        halves = [vantages.addr_high[nearest], vantages.addr_low[nearest]]
        text = addr_texts(np.array([halves], np.uint64))[0].as_py()
    return {
        "n_traces": int(seen.n_traces[at]),
        "n_vantages": int(seen.n_vantages[at]),
        "rtt_ms": None if np.isnan(rtt) else round(rtt, 2),
        "nearest_vantage": text,
    }


def nights_of(store: Path, snapshot: Snapshot, addrs: np.ndarray) -> dict[str, Any] | None:
    """On which kept nights a router was seen: those that share an address with it.

    Nights are snapshots with dates as names that share a vantage point with this one, and itself;
    at most the last ``MAX_NIGHTS``. One that cannot be read is left out.

    Parameters
    ----------
    store : Path
    snapshot : Snapshot
    addrs : (n, 2) uint64
        Of the router; private ones say nothing of other nights.

    Returns
    -------
    dict or None
        ``first`` and ``last``: names of nights; ``n_seen``, ``n_nights``. None where every address
        is private, or the name of the snapshot is not a date.
    """
    public = addrs[~is_private(addrs)]
    own = snapshot.vantages()
    if not is_night(snapshot.name) or own is None or not len(public):
        return None
    sources = np.stack([own.addr_high, own.addr_low], axis=1)
    dated = sorted(filter(is_night, names_and_faults(store)[0]), key=age_of)
    names = sorted({*dated[-MAX_NIGHTS:], snapshot.name}, key=age_of)
    nights: list[tuple[tuple, str, bool]] = []
    for name in names:
        with contextlib.suppress(StoreError), open_snapshot(store, name) as night:
            if name == snapshot.name or _is_of_source(night, sources):
                age = age_of(name, newest_record(night.manifest["inputs"]))
                nights.append((age, name, _has_any(night, public)))
    seen = [name for _, name, is_there in sorted(nights) if is_there]
    return {"first": seen[0], "last": seen[-1], "n_seen": len(seen), "n_nights": len(nights)}


def _is_of_source(night: Snapshot, sources: np.ndarray) -> bool:
    vantages = night.vantages()
    if vantages is None:
        return False
    there = np.stack([vantages.addr_high, vantages.addr_low], axis=1)
    return bool((positions_of(sources, there) >= 0).any())


def _has_any(night: Snapshot, addrs: np.ndarray) -> bool:
    words = [(int(high), int(low)) for high, low in addrs.tolist()]
    return any(len(find_addresses(night, word, word)) for word in words)
