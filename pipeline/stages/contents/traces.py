"""The traces that a snapshot keeps: those that show an address, a link, an ingress, an AS."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.config import TracesConfig
from pipeline.errors import UsageError
from pipeline.model.addresses import parse_addr
from pipeline.model.columns import concat, empty, take
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.measured.kept_traces import TARGET_ITSELF, TraceRows
from pipeline.model.measured.traces import (
    KIND_ECHO_REPLY,
    KIND_OTHER,
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
    LABELLED,
)
from pipeline.model.words import traces_kept_text
from pipeline.report.tables.node_names import addr_texts
from pipeline.stages.contents.again import ingest_again
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.traces import StoredTraces, within

# What a hop answered with; null where the format does not say.
REPLIES = {
    KIND_TIME_EXCEEDED: "time exceeded",
    KIND_UNREACHABLE: "unreachable",
    KIND_ECHO_REPLY: "echo reply",
    KIND_OTHER: "other",
}


@dataclass(frozen=True)
class Wanted:
    """What traces must show, all of it; None: anything.

    Attributes
    ----------
    address, ingress, target, vantage_point : str or None
        Address or prefix. A router is meant by any of its addresses.
    link : pair of str or None
        Addresses of two routers, the nearer one first.
    asn : int or None
    """

    address: str | None = None
    link: tuple[str, str] | None = None
    ingress: str | None = None
    target: str | None = None
    vantage_point: str | None = None
    asn: int | None = None

    def __str__(self) -> str:
        said = []
        for field in fields(self):
            if (value := getattr(self, field.name)) is not None:
                text = " ".join(value) if field.name == "link" else value
                name = field.name.replace("_", " ")
                said.append(f"AS{text}" if name == "asn" else f"{name} {text}")
        return ", ".join(said) or "anything"


def traces(config: TracesConfig) -> dict[str, Any]:
    """Kept traces of a snapshot that show what is wanted.

    Returns
    -------
    dict
        ``snapshot``, ``n_traces`` read and ``n_traces_kept``, ``wanted`` in words, and ``traces``:
        the table of ``find_traces``.

    Raises
    ------
    UsageError
        If the snapshot keeps no traces, or not one such trace.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    wanted = Wanted(
        config.address,
        None if config.link is None else pair_of(config.link),
        config.ingress,
        config.target,
        config.vantage_point,
        config.asn,
    )
    with open_snapshot(config.store, config.snapshot) as snapshot:
        return traces_facts(snapshot, wanted)


def pair_of(link: str) -> tuple[str, str]:
    """The two addresses of ``A,B``."""
    near, _, far = link.partition(",")
    return near, far


def traces_facts(snapshot: Snapshot, wanted: Wanted) -> dict[str, Any]:
    """As ``traces``."""
    found = find_traces(snapshot, wanted)
    n_read = (snapshot.manifest.get("counts") or {}).get("n_traces")
    if not found.num_rows:
        kept = traces_kept_text(snapshot.n_traces_kept, n_read or 0)
        raise UsageError(f"no kept trace of snapshot {snapshot.name} shows {wanted} ({kept})")
    return {
        "snapshot": snapshot.name,
        "n_traces": n_read,
        "n_traces_kept": snapshot.n_traces_kept,
        "wanted": str(wanted),
        "traces": found,
    }


def find_traces(snapshot: Snapshot, wanted: Wanted) -> pa.Table:
    """Kept traces that show what is wanted, by vantage point, target and start.

    Returns
    -------
    pyarrow.Table
        One row per trace: ``vantage`` and ``target`` (string; null: an unknown vantage point),
        ``started`` (timestamp, UTC, null unknown), ``input`` (string, the file), ``reached``,
        ``further`` (a further path of one measurement), ``classic`` (by a method
        that changes the flow from probe to probe); lists with a value per hop that answered:
        ``ttl``, ``addr``, ``asn`` (null: in none), ``rtt_ms`` (null unknown), ``labelled`` (it
        answered with MPLS labels), ``reply`` (string, null where the format does not say).

    Raises
    ------
    UsageError
        If the snapshot keeps no traces.
    StoreError
        If a file is missing, cut short or altered.
    """
    stored = snapshot.traces
    if stored is None:
        raise UsageError(
            f"snapshot {snapshot.name} kept no traces: topology files have none, and older "
            f"snapshots lack them; {ingest_again(snapshot)}"
        )
    rows = selected(snapshot, stored, wanted)
    return trace_table(snapshot, stored, rows)


def selected(snapshot: Snapshot, stored: StoredTraces, wanted: Wanted) -> TraceRows:
    """The rows alone, otherwise as ``find_traces``."""
    pieces = [take(rows, which) for rows, which in _matches(snapshot, stored, wanted)]
    return concat(pieces) if pieces else empty(TraceRows)


def _matches(
    snapshot: Snapshot, stored: StoredTraces, wanted: Wanted
) -> Iterator[tuple[TraceRows, np.ndarray]]:
    asn_of_node = np.append(np.repeat(snapshot.asn, snapshot.n_nodes), -1)
    asn_of = np.append(asn_of_node[stored.node], -1)  # of interfaces; the last is no router's
    routers = {
        text: _Router(stored, text)
        for text in (wanted.address, wanted.ingress, *(wanted.link or ()))
        if text is not None
    }
    from_points = None
    if wanted.vantage_point is not None:
        from_points = stored.vantage_rows(*_range(wanted.vantage_point))
    for rows in stored.groups():
        n = len(rows)
        fits = np.ones(n, bool)
        trace = row_of_value(rows.hop_ptr)
        if from_points is not None:
            fits &= np.isin(rows.vantage, from_points)
        if wanted.target is not None:
            targets = np.stack([rows.target_high, rows.target_low], axis=1)
            fits &= within(targets, *_range(wanted.target))
        if wanted.asn is not None:
            fits &= _any(asn_of[rows.interface] == wanted.asn, trace, n)
        if wanted.address is not None:
            fits &= _any(routers[wanted.address].at(rows, trace), trace, n)
        follows = np.zeros(len(trace), bool)
        follows[1:] = trace[1:] == trace[:-1]
        if wanted.link is not None:
            near, far = (routers[text].at(rows, trace) for text in wanted.link)
            next_to = follows.copy()
            next_to[1:] &= rows.ttl[1:] == rows.ttl[:-1] + 1
            fits &= _any(far & next_to & np.roll(near, 1), trace, n)
        if wanted.ingress is not None:
            asn = asn_of[rows.interface]
            before = np.roll(asn, 1)
            enters = follows & (before >= 0) & (asn >= 0) & (before != asn)
            fits &= _any(routers[wanted.ingress].at(rows, trace) & enters, trace, n)
        if fits.any():
            yield rows, np.flatnonzero(fits)


class _Router:
    """Hops of the router of an address, or of addresses of a prefix."""

    def __init__(self, stored: StoredTraces, text: str):
        self._range = _range(text)
        found = stored.interfaces_in(*self._range)
        own = np.zeros(len(stored.node) + 1, bool)
        own[found] = True
        nodes = stored.node[found]
        own[:-1] |= np.isin(stored.node, nodes[nodes >= 0])
        self._own = own

    def at(self, rows: TraceRows, trace: np.ndarray) -> np.ndarray:
        """(n_hops,) bool."""
        here = self._own[rows.interface]
        targets = np.flatnonzero(rows.interface == TARGET_ITSELF)
        of = trace[targets]
        addrs = np.stack([rows.target_high[of], rows.target_low[of]], axis=1)
        here[targets] = within(addrs, *self._range)
        return here


def _range(text: str) -> tuple[tuple[int, int], tuple[int, int]]:
    wanted = ipaddress.ip_network(text, strict=False)
    return parse_addr(str(wanted[0])), parse_addr(str(wanted[-1]))


def _any(hops: np.ndarray, trace: np.ndarray, n: int) -> np.ndarray:
    """(n,) bool: traces of which a hop is marked."""
    found = np.zeros(n, bool)
    found[trace[hops]] = True
    return found


def trace_table(snapshot: Snapshot, stored: StoredTraces, rows: TraceRows) -> pa.Table:
    """Rows in words, as ``find_traces`` returns them."""
    points = np.array([*addr_texts(stored.vantages).to_pylist(), None], object)
    files = [str(Path(each.get("path", ""))) for each in snapshot.manifest.get("inputs") or []]
    node = stored.nodes_of(rows)
    asn = np.append(np.repeat(snapshot.asn, snapshot.n_nodes), -1)[node]
    kind = rows.kind & ~np.uint8(LABELLED)
    replies = pa.array([REPLIES.get(i) for i in range(KIND_OTHER + 1)], pa.string())
    ptr = pa.array(rows.hop_ptr)
    targets = np.stack([rows.target_high, rows.target_low], axis=1)

    def listed(values: pa.Array) -> pa.Array:
        return pa.LargeListArray.from_arrays(ptr, values)

    return pa.table(
        {
            "vantage": pa.array(points[rows.vantage].tolist(), pa.string()),
            "target": addr_texts(targets),
            "started": pa.array(rows.start_s.astype(np.int64), mask=rows.start_s == 0).cast(
                pa.timestamp("s", "UTC")
            ),
            "input": pa.array(
                [files[i] if i < len(files) else None for i in rows.input.tolist()], pa.string()
            ),
            "reached": pa.array(rows.reached),
            "further": pa.array(rows.further),
            "classic": pa.array(rows.classic),
            "ttl": listed(pa.array(rows.ttl)),
            "addr": listed(addr_texts(stored.addrs_of(rows))),
            "asn": listed(pa.array(asn, mask=asn < 0).cast(pa.uint32())),
            "rtt_ms": listed(pa.array(rows.rtt_ms, mask=np.isnan(rows.rtt_ms))),
            "labelled": listed(pa.array(rows.kind & LABELLED > 0)),
            "reply": listed(replies.take(pa.array(np.minimum(kind, KIND_OTHER)))),
        }
    )
