"""Paths of vantage points through a router, as a table: all that they took, merged by path."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.errors import UsageError
from pipeline.model.measured.observations import FIRST, Steps
from pipeline.report.tables.node_names import addr_texts, node_texts
from pipeline.stages.contents.again import ingest_again
from pipeline.stages.contents.lookup import find, not_found
from pipeline.store import Snapshot


def paths_through(snapshot: Snapshot, address: str) -> pa.Table:
    """Paths that cross the router of an address, most traversed first.

    Returns
    -------
    pyarrow.Table
        One row per path from a vantage point to a target: ``vantage``, ``target`` (string),
        ``n_traces``, ``n_hops``, ``reached``, ``rtt_ms`` as in ``paths.parquet``, and ``path``
        (list of string): the address of each router that answered, null for a gap between two.

    Raises
    ------
    UsageError
        If the snapshot has no such address, or keeps no paths.
    StoreError
        If a file is missing, cut short or altered.
    """
    seen = snapshot.observations()
    if seen is None:
        raise UsageError(
            f"snapshot {snapshot.name} keeps no paths: they come from traces, and older snapshots "
            f"lack them; {ingest_again(snapshot)}"
        )
    found = find(snapshot, address)
    if not len(found):
        raise UsageError(not_found(snapshot, address))
    begin = np.concatenate(([0], np.cumsum(snapshot.n_nodes)))
    crossed = _behind(seen.steps, begin[found.row] + found.node)
    own = np.flatnonzero(seen.paths.step != FIRST)
    own = own[crossed[seen.paths.step[own]]]
    own = own[np.argsort(-seen.paths.n_traces[own], kind="stable")]
    paths, vantages = seen.paths, seen.vantages
    sources = np.stack([vantages.addr_high, vantages.addr_low], axis=1)[paths.vantage[own]]
    targets = np.stack([paths.target_high, paths.target_low], axis=1)[own]
    return pa.table(
        {
            "vantage": addr_texts(sources),
            "target": addr_texts(targets),
            "n_traces": paths.n_traces[own],
            "n_hops": paths.n_hops[own],
            "reached": paths.reached[own],
            "rtt_ms": paths.rtt_ms[own],
            "path": _walks(snapshot, begin, seen.steps, paths.step[own]),
        }
    )


def _behind(steps: Steps, nodes: np.ndarray) -> np.ndarray:
    """Which steps lead to one of the nodes, or come after a step that does; (n_steps,) bool."""
    crossed = np.isin(steps.far, nodes)
    later = np.flatnonzero(steps.before != FIRST)
    while True:  # as often as a path is long: each turn is one step further
        new = later[crossed[steps.before[later]] & ~crossed[later]]
        if not len(new):
            return crossed
        crossed[new] = True


def _walks(snapshot: Snapshot, begin: np.ndarray, steps: Steps, last: np.ndarray) -> pa.Array:
    """Texts of the routers of each path, from its first to its last step."""
    walks: list[list[int]] = []
    for end in last.tolist():
        back: list[int] = []
        step = end
        while step != FIRST:
            back.append(int(steps.far[step]))
            if steps.across_gap[step]:
                back.append(FIRST)
            step = int(steps.before[step])
        walks.append(back[::-1])
    nodes = np.unique([node for walk in walks for node in walk if node != FIRST]).astype(np.int64)
    rows = np.searchsorted(begin, nodes, "right") - 1
    addrs = node_texts(snapshot, rows, nodes - begin[rows]).to_pylist()
    texts = dict(zip(nodes.tolist(), addrs, strict=True))
    return pa.array([[texts.get(node) for node in walk] for walk in walks], pa.list_(pa.string()))
