"""How often traces crossed routers, from how many vantage points, and how near these are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.columns.keys import distinct_keys, ordered_keys, split_key
from pipeline.model.measured.observations import Steps
from pipeline.report.tables.crossings import entering


@dataclass(frozen=True, eq=False)
class RouterCrossings:
    """Of each node of a snapshot, those of all ASes end to end.

    Attributes
    ----------
    n_traces : (n_nodes,) int64
        Traces that crossed it, each once, even if it comes back to it.
    n_vantages : (n_nodes,) int64
        Vantage points that they came from.
    rtt_ms : (n_nodes,) float32
        Lowest RTT from any of them; NaN without any.
    nearest : (n_nodes,) int64
        The vantage point that measured it; -1 without any.
    """

    n_traces: np.ndarray
    n_vantages: np.ndarray
    rtt_ms: np.ndarray
    nearest: np.ndarray


def router_crossings(steps: Steps, n_nodes: int) -> RouterCrossings:
    """Count the traces of each node.

    Parameters
    ----------
    steps : Steps
    n_nodes : int
        Of all ASes of the snapshot.
    """
    first = entering(steps, steps.far)
    far = steps.far[first].astype(np.int64)
    n_traces = np.bincount(far, steps.n_traces[first], n_nodes).astype(np.int64)
    seen, _ = split_key(distinct_keys(ordered_keys(far, steps.vantage[first])))
    n_vantages = np.bincount(seen, minlength=n_nodes)
    rtt_ms = np.full(n_nodes, np.nan, np.float32)
    nearest = np.full(n_nodes, -1, np.int64)
    timed = np.flatnonzero(~np.isnan(steps.rtt_ms))
    order = timed[np.lexsort((steps.vantage[timed], steps.rtt_ms[timed], steps.far[timed]))]
    node = steps.far[order]
    least = order[np.flatnonzero(np.diff(node, prepend=-1))]
    rtt_ms[steps.far[least]] = steps.rtt_ms[least]
    nearest[steps.far[least]] = steps.vantage[least]
    return RouterCrossings(n_traces, n_vantages, rtt_ms, nearest)
