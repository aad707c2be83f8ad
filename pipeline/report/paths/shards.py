"""Kept traces as scripts that the page of paths loads from disk as it needs them.

A page opened from disk may fetch nothing but scripts, so each file is a call with its data:
``hopscope.paths(name, {...})``. There are traces in their order (``0.js``, ...), addresses and
targets sorted as texts (``a0.js``, ``t0.js``), and routers (``r0.js``), each with numbers of
traces by the hop before; ``index.js`` says where each file begins. An address leads to its router,
a router to traces: what page asks for takes a few files, whatever there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.model.columns import concat, empty, take
from pipeline.model.columns.ragged import offset_in_row, offsets, row_of_value, run_starts
from pipeline.model.measured.kept_traces import TARGET_ITSELF, TraceRows
from pipeline.report.escaping import printables, script_json
from pipeline.report.names import PATHS
from pipeline.report.tables.node_names import addr_texts
from pipeline.store import Snapshot
from pipeline.store.traces import StoredTraces

MAX_TRACES = 200_000  # of a report: some 60 MB
SHARD = 400  # traces of a file: some 100 kB
KEYS = 4096  # addresses, targets or routers of a file
LISTED = 12  # traces of a router by the same hop before, and of a target

FIRST, AFTER_GAP = -1, -2  # in place of the router before: none, or one of another AS across a gap


@dataclass(frozen=True)
class Facts:
    """What a report has of the traces that its snapshot keeps."""

    n_traces: int
    n_kept: int
    n_here: int


def write_paths(snapshot: Snapshot, out: Path) -> Facts | None:
    """Write ``paths/*.js`` into a folder that exists; None where no traces are kept."""
    stored = getattr(snapshot, "traces", None)
    if stored is None or not stored.n_rows:
        return None
    folder = out / PATHS
    folder.mkdir()
    rows = _some(stored)
    counts = snapshot.manifest.get("counts") or {}
    facts = Facts(counts.get("n_traces") or 0, snapshot.n_traces_kept or 0, len(rows))
    routers = _Routers(snapshot, stored)
    for number, start in enumerate(range(0, len(rows), SHARD)):
        part = take(rows, np.arange(start, min(start + SHARD, len(rows))))
        _write(folder, str(number), _traces(snapshot, stored, routers, part))
    _write_routers(folder, rows, routers)
    addresses = _write_sorted(folder, "a", *_addresses(stored, routers, rows))
    targets = np.stack([rows.target_high, rows.target_low], axis=1)
    targets_at = _write_sorted(folder, "t", *_targets(targets))
    names = [Path(str(each.get("path", ""))).name for each in snapshot.manifest.get("inputs") or []]
    begins = run_starts(rows.vantage)
    points = [*addr_texts(stored.vantages).to_pylist(), None]
    index = {
        "snapshot": snapshot.name,
        "n_traces": facts.n_traces,
        "n_kept": facts.n_kept,
        "n_here": facts.n_here,
        "shard": SHARD,
        "keys": KEYS,
        "inputs": printables(names),
        "points": [
            [points[rows.vantage[first]], first, n]
            for first, n in zip(
                begins.tolist(), np.diff(begins, append=len(rows)).tolist(), strict=True
            )
        ],
        "a": addresses,
        "t": targets_at,
    }
    _write(folder, "index", index)
    return facts


def _some(stored: StoredTraces) -> TraceRows:
    """All rows, or ``MAX_TRACES`` that a hash of their place chooses."""
    from pipeline.model.random_words import mix_words  # imports numba

    pieces, first = [], 0
    share = MAX_TRACES / max(stored.n_rows, 1)
    for rows in stored.groups():
        if share < 1:
            place = np.arange(first, first + len(rows), dtype=np.uint64)
            chosen = mix_words(place) < np.uint64(share * (1 << 63)) * np.uint64(2)
            first += len(rows)
            rows = take(rows, np.flatnonzero(chosen))
        pieces.append(rows)
    return concat(pieces) if pieces else empty(TraceRows)


class _Routers:
    """Routers of interfaces, numbered from 0; -1 for a host that was a target."""

    def __init__(self, snapshot: Snapshot, stored: StoredTraces):
        node = stored.node
        lonely = np.cumsum(node < 0) + int(node.max(initial=-1))
        _, number = np.unique(np.where(node >= 0, node, lonely), return_inverse=True)
        self.of = np.append(number, -1)
        self.n = int(number.max(initial=-1)) + 1
        asn = np.append(np.repeat(snapshot.asn, snapshot.n_nodes), -1)
        self.asn = np.append(asn[node], -1)  # of interfaces


def _traces(
    snapshot: Snapshot, stored: StoredTraces, routers: _Routers, rows: TraceRows
) -> dict[str, Any]:
    addrs = stored.addrs_of(rows)
    texts, at = np.unique(np.array(addr_texts(addrs).to_pylist(), object), return_inverse=True)
    asn, router = np.zeros(len(texts), np.int64), np.full(len(texts), -1)
    asn[at], router[at] = routers.asn[rows.interface], routers.of[rows.interface]
    known = np.unique(asn[asn >= 0])
    named = [snapshot.as_name[snapshot.row_of(each)] for each in known.tolist()]
    targets = addr_texts(np.stack([rows.target_high, rows.target_low], axis=1)).to_pylist()
    points = [*addr_texts(stored.vantages).to_pylist(), None]
    rtt = np.where(np.isnan(rows.rtt_ms), -1, np.round(rows.rtt_ms.astype(np.float64), 3))
    hops = [column.tolist() for column in (rows.ttl, at, rtt, rows.kind)]
    flags = rows.reached.astype(np.int64) + 2 * rows.further
    ptr = rows.hop_ptr.tolist()
    return {
        "addrs": texts.tolist(),
        "asns": asn.tolist(),
        "routers": router.tolist(),
        "names": dict(zip(map(str, known.tolist()), printables(named), strict=True)),
        "traces": [
            [
                points[rows.vantage[i]],
                targets[i],
                int(rows.start_s[i]),
                int(rows.input[i]),
                int(flags[i]),
                *(column[ptr[i] : ptr[i + 1]] for column in hops),
            ]
            for i in range(len(rows))
        ],
    }


def _write_routers(folder: Path, rows: TraceRows, routers: _Routers) -> None:
    """Traces of each router by the router before; those of different vantage points first."""
    trace = row_of_value(rows.hop_ptr)
    asn = routers.asn[rows.interface]
    router = routers.of[rows.interface]
    follows = np.zeros(len(trace), bool)
    follows[1:] = trace[1:] == trace[:-1]
    is_next = follows.copy()
    is_next[1:] &= rows.ttl[1:] == rows.ttl[:-1] + 1
    before_asn, before = np.roll(asn, 1), np.roll(router, 1)
    enters = follows & (before_asn >= 0) & (asn >= 0) & (before_asn != asn)
    before = np.where(is_next, before, np.where(enters, AFTER_GAP, FIRST))
    own = np.flatnonzero(router >= 0)
    router, before, enters, trace = router[own], before[own], enters[own], trace[own]
    once = np.lexsort((trace, before, router))
    once = once[run_starts(router[once], before[once], trace[once])]  # a router may answer twice
    router, before, enters, trace = router[once], before[once], enters[once], trace[once]
    vantage = rows.vantage[trace]
    order = np.lexsort((trace, vantage, before, router))
    starts = run_starts(router[order], before[order], vantage[order])
    turn = np.empty(len(order), np.int64)
    turn[order] = offset_in_row(offsets(np.diff(starts, append=len(order))))
    order = np.lexsort((trace, turn, before, router))
    starts = run_starts(router[order], before[order])
    n = np.diff(starts, append=len(order))
    of_group = (router[order[starts]], before[order[starts]], enters[order[starts]])
    first_of = np.lexsort((trace, router))
    first_of = first_of[run_starts(router[first_of], trace[first_of])]
    n_traces = np.bincount(router[first_of], minlength=routers.n).tolist()
    groups: list[list[Any]] = [[n] for n in n_traces]
    for i, (first, size) in enumerate(zip(starts.tolist(), n.tolist(), strict=True)):
        chosen = trace[order[first : first + min(size, LISTED)]].tolist()
        at, near, is_entry = (int(column[i]) for column in of_group)
        groups[at].append([near, is_entry, size, *chosen])
    for number, start in enumerate(range(0, routers.n, KEYS)):
        _write(folder, f"r{number}", groups[start : start + KEYS])


def _addresses(
    stored: StoredTraces, routers: _Routers, rows: TraceRows
) -> tuple[np.ndarray, list[Any]]:
    """Texts of the addresses that are shown, and the routers of each."""
    shown = np.unique(rows.interface)
    shown = shown[shown != TARGET_ITSELF]
    texts = np.array(addr_texts(stored.addr[shown]).to_pylist(), object)
    order = np.argsort(texts, kind="stable")
    distinct = run_starts(texts[order])
    numbers = routers.of[shown[order]].tolist()
    ends = [*distinct[1:].tolist(), len(order)] if len(distinct) else []
    found = [numbers[a:b] for a, b in zip(distinct.tolist(), ends, strict=True)]
    return texts[order[distinct]], found


def _targets(targets: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Texts of targets, and how many traces were aimed at each with the first of them."""
    order = np.lexsort((np.arange(len(targets)), targets[:, 1], targets[:, 0]))
    starts = run_starts(targets[order, 0], targets[order, 1])
    sizes = np.diff(starts, append=len(order))
    texts = np.array(addr_texts(targets[order[starts]]).to_pylist(), object)
    found = [
        [size, *order[first : first + min(size, LISTED)].tolist()]
        for first, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    by_text = np.argsort(texts, kind="stable")
    return texts[by_text], [found[i] for i in by_text.tolist()]


def _write_sorted(folder: Path, kind: str, texts: np.ndarray, found: Sequence[Any]) -> list[str]:
    """Write texts in order with what each leads to; the first text of each file."""
    firsts = []
    for number, start in enumerate(range(0, len(texts), KEYS)):
        part = texts[start : start + KEYS].tolist()
        firsts.append(part[0])
        _write(folder, f"{kind}{number}", [part, list(found[start : start + KEYS])])
    return firsts


def _write(folder: Path, name: str, data: Any) -> None:
    call = f'hopscope.paths("{name}",{script_json(data)});\n'
    (folder / f"{name}.js").write_text(call, encoding="ascii")
