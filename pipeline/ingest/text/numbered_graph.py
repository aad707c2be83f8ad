"""Graphs whose nodes are numbers, as readers of such files yield them."""

from __future__ import annotations

import numpy as np

from pipeline.errors import FormatError
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology

MAX_NODES = 2**31 - 1
MAX_WEIGHT = 3e38
_NO_MATTER = 1 << 20  # nodes that may be declared however few rows there are
UNIT = "length"  # of weights that name none


def numbered_topology(
    report: ReadReport,
    node_id: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    weight: np.ndarray | None,
) -> Topology | None:
    """The topology of (n,) ids, ascending, and links between their positions; None without a link.

    Weights are left out, which is noted, if one of them cannot be one: below 0, or too large.
    """
    if not len(near):
        return None
    report.n_records += len(near)
    if weight is not None and not ((weight >= 0) & (weight < MAX_WEIGHT)).all():
        report.notes["values below 0 or too large: not read as weights"] += len(near)
        weight = None
    return Topology(
        node_asn=np.full(len(node_id), NO_ASN, np.int64),
        node_id=node_id.astype(np.int64),
        near=near,
        far=far,
        weight=None if weight is None else weight.astype(np.float32),
        weight_unit="" if weight is None else UNIT,
    )


def check_declared(report: ReadReport, n_nodes: int, n_there: int) -> None:
    """Refuse a number of nodes that no file of so many rows has: memory would be taken for it.

    Raises
    ------
    FormatError
    """
    if not 0 < n_nodes <= min(MAX_NODES, 100 * n_there + _NO_MATTER):
        raise FormatError(
            report.path, "", f"declares {n_nodes:,} nodes, and has {n_there:,} rows of numbers"
        )


def once(near: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Positions of links of which both ends name each other, each once, and what differs.

    Parameters
    ----------
    near, far : (n_arcs,) int64
        Each link from both ends, in any order.

    Returns
    -------
    positions : (n_links,) int64
        Of an arc of each link, in their order; loops too.
    n_one_sided, n_twice : int
        Links that only one end names; arcs that are there again.
    """
    low, high = np.minimum(near, far), np.maximum(near, far)
    order = np.lexsort((near, high, low))
    first = np.ones(len(order), bool)
    low, high, tail = low[order], high[order], near[order]
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    again = np.zeros(len(order), bool)
    again[1:] = ~first[1:] & (tail[1:] == tail[:-1])
    group = np.cumsum(first) - 1
    n_tails = np.bincount(group[~again], minlength=int(group[-1]) + 1) if len(group) else group
    one_sided = (n_tails == 1) & (low[first] != high[first])
    return np.sort(order[first]), int(np.count_nonzero(one_sided)), int(np.count_nonzero(again))
