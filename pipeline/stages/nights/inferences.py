"""Two inferences of the same network, by the addresses that both place: owners and routers."""

from __future__ import annotations

import numpy as np

from pipeline.model.addresses import is_private
from pipeline.model.columns.ragged import run_starts
from pipeline.store import Snapshot


def agreement(old: Snapshot, new: Snapshot) -> dict[str, int]:
    """How far two snapshots agree, if one of them comes without traces; empty for two nights.

    So an ITDK, whose routers and owners are those of CAIDA, is compared with what hopscope infers
    from the same traces.

    Returns
    -------
    dict
        ``addresses`` of both, ``same_as`` of these; ``routers`` of the older one that have such an
        address, ``same_routers`` of these: those whose addresses, as far as both have them, are all
        on one router of the newer one, and no others. Private addresses are left out, since one
        may be that of many routers.
    """
    if old.has_observations and new.has_observations:
        return {}
    tables = [_addresses(night) for night in (old, new)]
    if any(table is None for table in tables):
        return {}
    both = np.concatenate([table for table in tables if table is not None])
    which = np.repeat([0, 1], [len(table) for table in tables if table is not None])
    order = np.lexsort((which, both[:, 1], both[:, 0]))
    both, which = both[order], which[order]
    begins = run_starts(both[:, 0], both[:, 1])
    is_pair = np.diff(begins, append=len(both)) == 2
    first = begins[is_pair]
    first = first[(which[first] == 0) & (which[first + 1] == 1)]
    ours = [both[first + night, 2:].astype(np.int64) for night in (0, 1)]
    joint = np.unique(np.column_stack(ours), axis=0)
    n_new = _times(joint[:, :2])
    n_old = _times(joint[:, 2:])
    return {
        "addresses": len(first),
        "same_as": int((ours[0][:, 0] == ours[1][:, 0]).sum()),
        "routers": len(np.unique(joint[:, :2], axis=0)),
        "same_routers": int(((n_new == 1) & (n_old == 1)).sum()),
    }


def _addresses(snapshot: Snapshot) -> np.ndarray | None:
    """(n, 4) uint64: high and low word, AS and node of each public address that is there once."""
    table = snapshot.addresses()
    if table is not None:
        columns = [table[name].to_numpy() for name in ("addr_high", "addr_low", "asn", "node")]
    elif snapshot.manifest["has_addr"]:
        rows = np.repeat(np.arange(snapshot.n_ases), snapshot.n_nodes)
        first = np.cumsum(snapshot.n_nodes) - snapshot.n_nodes
        node = np.arange(len(rows)) - np.repeat(first, snapshot.n_nodes)
        addr = snapshot.lookup(rows, node).addr
        if addr is None:
            return None
        columns = [addr[:, 0], addr[:, 1], snapshot.asn[rows], node]
    else:
        return None
    found = np.column_stack([column.astype(np.uint64) for column in columns])
    return found[found[:, :2].any(axis=1) & ~is_private(found[:, :2])]


def _times(rows: np.ndarray) -> np.ndarray:
    """How often each row is there."""
    _, place, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return count[place.reshape(-1)]
