"""Whether the tables of a version agree on a router: each alone may be right. For ``doctor``.

- The address that names a router is listed as an address of it.
- A router by which traces enter an AS right after a router of another AS, or leave it right before
  one, has a link with a router of that AS.
- Two routers that a trace shows one right after the other have a link.

Nothing else in a version tells: whose the other addresses of a router are, by which of two routers
with links to the same ASes traces entered, or through which of two routers with the same neighbours
a path led.
"""

from __future__ import annotations

import numpy as np

from kernels import CSRGraph
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.columns.sorted_addrs import find_addrs
from pipeline.store.snapshot import Snapshot
from pipeline.store.tables import rows_in
from pipeline.store.versions.names import ADDRESSES, EXITS, INGRESSES, OBSERVATIONS, broken


class Agreement:
    """What is compared with the graph of each AS, and between these; read once.

    ``check_inside`` is to be called for each AS row, ``check_between`` once.

    Raises
    ------
    StoreError
        Names the file and the first router on which tables do not agree.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._node_ptr = np.append(0, np.cumsum(snapshot.n_nodes))
        self._addrs = np.empty((0, 2), np.uint64)
        self._node = np.empty(0, np.int64)
        if (table := snapshot.addresses()) is not None:
            row = rows_in(snapshot.asn, table["asn"])
            self._node = self._node_ptr[row] + table["node"].to_numpy()
            self._addrs = np.stack(
                [table[name].to_numpy() for name in ("addr_high", "addr_low")], axis=1
            )
        differ = (self._addrs[1:] != self._addrs[:-1]).any(axis=1)
        self._is_single = np.append(True, differ) & np.append(differ, True)
        steps = snapshot.steps()
        self._near = self._far = np.empty(0, np.int64)
        if steps is not None:
            direct = (steps.near >= 0) & ~steps.across_gap & (steps.near != steps.far)
            near, far = (each[direct].astype(np.int64) for each in (steps.near, steps.far))
            n = int(self._node_ptr[-1])
            self._near, self._far = np.divmod(np.unique(near * n + far), max(n, 1))
        self._row = np.searchsorted(self._node_ptr, self._near, side="right") - 1
        self._far_row = np.searchsorted(self._node_ptr, self._far, side="right") - 1

    def check_inside(self, row: int, graph: CSRGraph, addrs: np.ndarray | None) -> None:
        """Compare the graph of an AS, and the addresses that name its routers."""
        first = self._node_ptr[row]
        if addrs is not None and len(self._addrs):
            named = np.flatnonzero(addrs.any(axis=1))
            at = find_addrs(self._addrs, addrs[named])
            # One that several routers have says nothing of one of them.
            is_other = self._is_single[at] & (self._node[at] != first + named)
            wrong = named[(at < 0) | is_other]
            if len(wrong):
                raise self._broken(ADDRESSES, row, wrong[0], "lacks the address that names")
        ends = np.searchsorted(self._near, (first, self._node_ptr[row + 1]))  # which ascend
        own = np.arange(*ends)
        own = own[self._far_row[own] == row]
        if len(own):
            tails = row_of_value(np.asarray(graph.indptr))
            known = tails * graph.n_nodes + np.asarray(graph.indices, np.int64)
            asked = (self._near[own] - first) * graph.n_nodes + self._far[own] - first
            self._check_steps(own[~np.isin(asked, known)])

    def check_between(self) -> None:
        """Compare links between ASes with ingresses, exits and paths, where traces made them."""
        snapshot = self._snapshot
        if not snapshot.has_observations:
            return
        table = snapshot.borders()
        near_row, far_row = (rows_in(snapshot.asn, table[f"{end}_asn"]) for end in ("near", "far"))
        near = self._node_ptr[near_row] + table["near"].to_numpy()
        far = self._node_ptr[far_row] + table["far"].to_numpy()
        n, n_ases = int(self._node_ptr[-1]), snapshot.n_ases
        links = np.concatenate([near * n + far, far * n + near])
        between = np.flatnonzero(self._row != self._far_row)
        asked = self._near[between] * n + self._far[between]
        self._check_steps(between[~np.isin(asked, links)])
        neighbors = np.concatenate([near * n_ases + far_row, far * n_ases + near_row])
        found, exits = snapshot.ingresses(), snapshot.exits()
        of = row_of_value(found.neighbor_ptr)
        direct = np.flatnonzero(found.neighbor_n_direct > 0)
        for file, row, node, asn in (
            (INGRESSES, found.row[of[direct]], found.node[of[direct]], found.neighbor_asn[direct]),
            (EXITS, exits.row, exits.node, exits.neighbor_asn),
        ):
            other = np.searchsorted(snapshot.asn, asn)
            is_there = snapshot.asn[np.minimum(other, n_ases - 1)] == asn
            key = (self._node_ptr[row] + node) * n_ases + other
            for i in np.flatnonzero(~(is_there & np.isin(key, neighbors)))[:1]:
                what = f"says that traces cross between AS{asn[i]} and"
                raise self._broken(file, row[i], node[i], what, ", which have no link")

    def _check_steps(self, wrong: np.ndarray) -> None:
        for i in wrong[:1]:
            row = self._row[i]
            node = self._near[i] - self._node_ptr[row]
            what = f"has a step to router {self._far[i] - self._node_ptr[self._far_row[i]]} of AS"
            what += f"{self._snapshot.asn[self._far_row[i]]} from"
            raise self._broken(OBSERVATIONS, row, node, what, ", which have no link")

    def _broken(self, file: str, row: int, node: int, what: str, end: str = "") -> Exception:
        asn = self._snapshot.asn[row]
        return broken(self._snapshot.path / file, f"{what} router {node} of AS{asn}{end}")
