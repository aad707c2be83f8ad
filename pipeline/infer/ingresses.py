"""Ingresses and exits: the routers through which traces enter an AS, and leave it.

Walk a trace from its first answer, with the AS of each hop known. A hop in AS X is an **entry**
into X when the last mapped hop before it is in another AS Y:

- **direct**: that hop answered at the TTL just before. The node is an ingress of X.
- **after a gap**: unanswered or unmapped hops lie between. Where X begins is then not seen, and
  the hop may be deep inside: it counts as ``n_after_gap``, and a node seen only so is a
  *candidate*.

The first answer of a trace is never an entry: what came before it was not seen. Nor is a hop
before which every answer is unmapped. Nor is the destination's own final reply: it comes from
the address that was probed, whichever interface the packet came in by, so it does not show where X
begins. A trace that leaves X and comes back enters it twice.

The other side of a direct entry is an **exit** of Y: its last router, at the TTL just before.

Classic traceroute shows links that do not exist where load is balanced [1]_: one probe goes one
way, the next another of another length, so a hop deep inside X comes right after one of Y. By such
traces an entry is direct only by an address to which most come from other ASes
(``classic-entries``).

A direct entry by an address on the LAN of an exchange point is an entry by that exchange point.

A trace **begins inside** X if the first of its answers that is in any AS is in X, although it did
not start there: its vantage point is in another AS by prefix, or, where that is unknown (a private
address), an unanswered hop lies before. It crossed a border of X that it does not show, so these
traces are counted for each AS.

References
----------
.. [1] B. Augustin et al., "Avoiding traceroute anomalies with Paris traceroute", IMC 2006.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pipeline.infer.routers.rules.exchange_lans import Lans
from pipeline.infer.rule import Rule
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import FURTHER
from pipeline.model.columns import empty
from pipeline.model.columns.keys import distinct_keys, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.topology import NO_ASN, ExitTable, IngressTable

CLASSIC_ENTRIES = Rule(
    "classic-entries",
    "repairs",
    "by classic traces an AS is entered only where most come from outside",
    "method of traces, predecessors, owners",
    "most before an address: chosen",
    "Augustin et al., IMC 2006",
)


# Entries, those by a LAN, exits, and by AS row the traces that begin inside.
class _Tables(NamedTuple):
    """Open hash tables: direct and gapped entries, direct ones by a LAN, exits before them."""

    keys: np.ndarray
    counts: np.ndarray
    lan_keys: np.ndarray
    lan_counts: np.ndarray
    exit_keys: np.ndarray
    exit_counts: np.ndarray


_Counts: TypeAlias = tuple[PairCounter, PairCounter, PairCounter, np.ndarray]


@njit(cache=True, nogil=True)
def _entries(
    hop_ptr, flags, ttl, ids, classic, vantage_as, node_of, as_of, on_lan, doubtful, tables,
    n_unseen,
):  # fmt: skip
    """Count entries by (node, AS row of the neighbour): direct, after a gap.

    Direct ones by an address on a LAN are also counted by (interface, AS row of the neighbour), all
    direct ones by (exit before them, AS row entered), and traces that begin inside an AS by its
    row.
    """
    keys, counts, lan_keys, lan_counts, exit_keys, exit_counts = tables
    n_new, n_new_by_lan, n_new_exits = 0, 0, 0
    for trace in range(len(hop_ptr) - 1):
        last_as, last_ttl, came_from = np.int64(-1), np.int64(-1), vantage_as[trace]
        last_node = np.int64(-1)
        end = hop_ptr[trace + 1] - (1 if flags[trace] == DESTINATION else 0)
        for row in range(hop_ptr[trace], end):
            node = node_of[ids[row]]
            here = as_of[node]
            if here < 0:
                continue
            if last_as >= 0 and here != last_as:
                key = (node << 32) | last_as
                slot = slot_of(keys, key)
                if keys[slot] != key:
                    keys[slot] = key
                    n_new += 1
                is_direct = ttl[row] == last_ttl + 1
                is_direct = is_direct and not (classic[trace] and doubtful[ids[row]])
                counts[slot, 0 if is_direct else 1] += 1
                if is_direct:
                    key = (last_node << 32) | here
                    slot = slot_of(exit_keys, key)
                    if exit_keys[slot] != key:
                        exit_keys[slot] = key
                        n_new_exits += 1
                    exit_counts[slot, 0] += 1
                if is_direct and on_lan[ids[row]]:
                    key = (np.int64(ids[row]) << 32) | last_as
                    slot = slot_of(lan_keys, key)
                    if lan_keys[slot] != key:
                        lan_keys[slot] = key
                        n_new_by_lan += 1
                    lan_counts[slot, 0] += 1
            elif last_as < 0 and came_from != here and came_from != FURTHER:
                is_gap = np.int64(ttl[row]) > row - hop_ptr[trace] + 1
                if is_gap or came_from >= 0:
                    n_unseen[here] += 1
            last_as, last_ttl, last_node = here, np.int64(ttl[row]), np.int64(node)
    return n_new, n_new_by_lan, n_new_exits


class Crossed(NamedTuple):
    """How traces enter and leave each AS.

    ``entered_unseen``: asn -> traces that begin inside it.
    """

    ingresses: IngressTable
    exits: ExitTable
    entered_unseen: dict[int, int]


def find_doubtful(links: DirectedLinks, node_of: np.ndarray, node_asn: np.ndarray) -> np.ndarray:
    """Addresses that traces come to from their own AS at least as often as from others.

    Parameters
    ----------
    links : DirectedLinks
        Between interfaces.
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64

    Returns
    -------
    (n_interfaces,) bool
    """
    near, far = node_asn[node_of[links.near]], node_asn[node_of[links.far]]
    inside, apart = near == far, (near != far) & (near != NO_ASN)
    n = len(node_of)
    n_inside = np.bincount(links.far, links.n_router * inside, n)
    return (n_inside > 0) & (n_inside >= np.bincount(links.far, links.n_router * apart, n))


def find_ingresses(
    node_of: np.ndarray,
    node_asn: np.ndarray,
    vantage_asn: np.ndarray,
    lans: Lans | None = None,
    doubtful: np.ndarray | None = None,
) -> Finding[_Counts, Crossed]:
    """Count how traces enter and leave each AS.

    Parameters
    ----------
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
        ``NO_ASN`` where unmapped.
    vantage_asn : (n_vantages,) int64
        ASes by prefix of ``Spools.vantages``, ``NO_ASN`` where unmapped.
    lans : Lans or None
        None: it is not known which addresses are on LANs.
    doubtful : (n_interfaces,) bool or None
        Addresses by which no entry of a classic trace is direct (``find_doubtful``). None: there
        are none.
    """
    ases = distinct_keys(node_asn[node_asn != NO_ASN])
    if not len(ases):
        nothing = Crossed(IngressTable.empty(), empty(ExitTable), {})
        return Finding(_no_counts, lambda counts, batch: None, lambda threads: nothing)
    as_of = np.where(node_asn == NO_ASN, -1, np.searchsorted(ases, node_asn)).astype(np.int64)

    vantage_rows = _rows_of(ases, vantage_asn)
    on_lan = np.zeros(len(node_of), bool) if lans is None else lans.row >= 0
    unsure = np.zeros(len(node_of), bool) if doubtful is None else doubtful

    def step(counts: _Counts, batch: Batch) -> None:
        traces, vantage = batch.traces, batch.of_vantage(vantage_rows)
        table, by_lan, exits, n_unseen = counts
        table.reserve(len(traces.ids))
        exits.reserve(len(traces.ids))
        if on_lan.any():
            by_lan.reserve(len(traces.ids))
        n_new, n_new_by_lan, n_new_exits = _entries(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            traces.classic,
            vantage,
            node_of,
            as_of,
            on_lan,
            unsure,
            _Tables(table.keys, table.counts, by_lan.keys, by_lan.counts, exits.keys, exits.counts),
            n_unseen,
        )
        table.n_used += n_new
        by_lan.n_used += n_new_by_lan
        exits.n_used += n_new_exits

    return Finding(
        lambda: _no_counts(len(ases)), step, lambda threads: _add_up(threads, ases, node_of, lans)
    )


def _rows_of(ases: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """(n,) int64: row of each AS; -1 for none, and the row after the last for one that has none."""
    row = np.minimum(np.searchsorted(ases, origin), len(ases) - 1)
    elsewhere = np.where(origin == NO_ASN, -1, len(ases))
    return np.where(ases[row] == origin, row, elsewhere).astype(np.int64)


def _no_counts(n_ases: int = 0) -> _Counts:
    return PairCounter(2), PairCounter(1), PairCounter(1), np.zeros(n_ases, np.int64)


def _add_up(
    tables: list[_Counts], ases: np.ndarray, node_of: np.ndarray, lans: Lans | None
) -> Crossed:
    n_unseen = np.sum([unseen for *_, unseen in tables], axis=0)
    some = np.flatnonzero(n_unseen)
    entered_unseen = dict(zip(ases[some].tolist(), n_unseen[some].tolist(), strict=True))
    keys, counts = add_up([table.rows() for table, *_ in tables])
    node, neighbor = split_key(keys)
    distinct, first = np.unique(node, return_index=True)
    if not len(distinct):
        return Crossed(IngressTable.empty(), empty(ExitTable), entered_unseen)
    total = np.add.reduceat(counts, first, axis=0)
    # Neighbours seen only after a gap are not neighbours of a direct ingress.
    candidate = total[:, 0] == 0
    row = np.repeat(np.arange(len(distinct)), np.diff(first, append=len(node)))
    keep = (counts[:, 0] > 0) | candidate[row]
    neighbor_ptr = offsets(np.bincount(row[keep], minlength=len(distinct)))
    neighbor_ixp = None
    if lans is not None:
        by_lan = add_up([by_lan.rows() for _, by_lan, *_ in tables])
        neighbor_ixp = _exchange_points(keys[keep], *by_lan, node_of, lans)
    ingresses = IngressTable(
        distinct,
        neighbor_ptr,
        ases[neighbor[keep]],
        total[:, 0],
        total[:, 1],
        candidate,
        neighbor_ixp=neighbor_ixp,
        neighbor_n_direct=counts[keep, 0],
    )
    keys, counts = add_up([exits.rows() for _, _, exits, _ in tables])
    node, next_row = split_key(keys)
    return Crossed(ingresses, ExitTable(node, ases[next_row], counts[:, 0]), entered_unseen)


def _exchange_points(
    keys: np.ndarray, lan_keys: np.ndarray, counts: np.ndarray, node_of: np.ndarray, lans: Lans
) -> np.ndarray:
    """Name of the exchange point that most entries of each key were by, the first of equal ones."""
    names = np.full(len(keys), "", object)
    interface, neighbor = split_key(lan_keys)
    at = np.searchsorted(keys, (node_of[interface] << 32) | neighbor)
    exchange = lans.row[interface]
    pair, inverse = np.unique((at << 32) | exchange, return_inverse=True)
    n_entries = np.bincount(inverse, counts[:, 0], len(pair))
    at, exchange = split_key(pair)
    order = np.lexsort((-exchange, n_entries, at))  # the last one of a key stays
    names[at[order]] = np.array(lans.names, object)[exchange[order]]
    return names
