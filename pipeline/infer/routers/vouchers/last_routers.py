"""Two last routers of all traces to one destination, in the destination's AS: one router.

A destination is behind one router, mostly, and each vantage may see another address of that. So if
all traces to one destination, answered or not, end at two routers as they are known so far, these
are one router, if

- both are in the AS of the destination, as elected: the traces did not end before they reached it;
- no trace to the destination shows that an unanswered router follows;
- no trace shows both: otherwise one of them answers only sometimes;
- other traces go on from at most one of them, or the same routers follow both, or the traces to the
  same destinations end at both. Routers that lead on to different places are the last ones before a
  destination where its gateway never answers.

Where traces to one destination end at more than two routers, its gateway is silent more often;
these routers are joined only where other destinations join them.

Where most such pairs are in one trace, destinations are routers that other traces pass, or most
gateways are silent: then no pair is believed.

In contrast to ``gateways`` this needs neither an answer nor dead ends, but the election.
Destinations are known by 31 bits of a hash, and of very many only some are looked at, always the
same ones, so memory is bounded.

That the hops before one destination are one router is what APAR [1]_ uses for common successors;
that traces to one prefix end at its gateway, what bdrmapIT [2]_ uses.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from pipeline.infer.routers.forest import unite
from pipeline.infer.routers.point_to_point import find_watched
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of, split_key
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Spools
from pipeline.infer.traces.rules import CUT, DESTINATION
from pipeline.infer.traces.spool import Traces
from pipeline.model.random_words import mix

_MOST_TRACES = 1 << 23  # beyond, every second destination is looked at, every fourth ...
_ROUNDS = 3
# Of pairs, in one trace: at most two in five where traces were aimed at hosts, else 0.6 to 1.
_CONTRADICTED = 0.5
_HASH = np.uint64(0x7FFF_FFFF)


@njit(cache=True, nogil=True)
def _number(aimed_at):
    """(n_traces,) uint64: hash of each destination."""
    result = np.empty(len(aimed_at), np.uint64)
    for i in range(len(aimed_at)):
        result[i] = mix(mix(aimed_at[i, 0]) ^ aimed_at[i, 1])
    return result


@njit(cache=True, nogil=True)
def _watch(hop_ptr, flags, ttl, ids, number, asn, owner, keys, counts):
    """Record (destination, last router); count traces that show it to be the wrong one."""
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        end = hop_ptr[trace + 1]
        if asn[trace] < 0 or flags[trace] == CUT:
            continue
        answered = flags[trace] == DESTINATION
        if answered:
            end -= 1
        if end == hop_ptr[trace] or ids[end - 1] < 0:
            continue
        x = np.int64(ids[end - 1])
        key = (np.int64(number[trace]) << 32) | x
        slot = slot_of(keys, key)
        if keys[slot] != key:
            keys[slot] = key
            n_new += 1
        if owner[x] != asn[trace] or (answered and ttl[end] != ttl[end - 1] + 1):
            counts[slot, 0] += 1
    return n_new


def _find_ends(
    spools: Spools, owner: np.ndarray, asn_of: Callable[[np.ndarray], np.ndarray], n_traces: int
) -> tuple[np.ndarray, np.ndarray]:
    """Destinations and last routers of traces to them, without those that show nothing."""
    mask = np.uint64((1 << max(0, (n_traces - 1) // _MOST_TRACES).bit_length()) - 1)

    def step(table: PairCounter, traces: Traces, aimed_at: np.ndarray) -> None:
        word = _number(aimed_at)
        looked_at = (word >> np.uint64(31)) & mask == 0
        asn = np.full(len(word), -1, np.int64)
        asn[looked_at] = asn_of(aimed_at[looked_at])
        table.reserve(int(np.count_nonzero(looked_at)))
        table.n_used += _watch(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            word & _HASH,
            asn,
            owner,
            table.keys,
            table.counts,
        )

    tables = spools.run_with_destinations(lambda: PairCounter(1), step)
    keys, counts = add_up([table.rows() for table in tables])
    aim, last = split_key(keys)
    _, which = np.unique(aim, return_inverse=True)
    is_bad = np.bincount(which, counts[:, 0]) > 0 if len(which) else np.zeros(0, bool)
    return which[~is_bad[which]], last[~is_bad[which]]


def join_last_routers(
    spools: Spools,
    links: DirectedLinks,
    root: np.ndarray,
    owner: np.ndarray,
    left_out: np.ndarray,
    asn_of: Callable[[np.ndarray], np.ndarray],
    n_traces: int,
) -> np.ndarray:
    """Join last routers of the same destinations; up to four passes over the spools.

    Parameters
    ----------
    spools : Spools
        With the addresses of routers only.
    links : DirectedLinks
        Of these.
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    left_out : (n_interfaces,) bool
        Addresses that are joined with no others.
    asn_of : callable
        (n, 2) uint64 destinations -> (n,) int64 AS by prefix; ``NO_ASN`` for none.
    n_traces : int

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    root = root.copy()
    aim, last = _find_ends(spools, np.where(left_out, -2, owner), asn_of, n_traces)
    for _ in range(_ROUNDS):
        pairs = _pairs_of_routers(aim, root[last], root, links)
        one, other = split_key(pairs)
        sides = np.column_stack([one, other]).ravel()
        ptr = np.arange(len(pairs) + 1) * 2
        in_one_trace = find_watched(spools, ptr, sides, pairs, len(root), root)
        apart = ~np.isin(pairs, in_one_trace)
        if not apart.any() or np.count_nonzero(~apart) > _CONTRADICTED * len(pairs):
            break
        unite(root, one[apart], other[apart])
    return root


def _pairs_of_routers(
    aim: np.ndarray, last: np.ndarray, root: np.ndarray, links: DirectedLinks
) -> np.ndarray:
    """Keys of pairs of routers at which all traces to some destination end, and that may be one."""
    aim, last = split_key(np.unique((aim << 32) | last))
    n_aims = np.bincount(last, minlength=len(root))
    first = np.flatnonzero(np.bincount(aim, minlength=1)[aim] == 2)[::2]
    pairs, n_common = np.unique((last[first] << 32) | last[first + 1], return_counts=True)
    one, other = split_key(pairs)
    near, far = root[links.near], root[links.far]
    near, far = split_key(np.unique(((near << 32) | far)[near != far]))
    leads_on = np.bincount(near, minlength=len(root)) > 0
    allowed = ~leads_on[one] | ~leads_on[other]
    allowed |= (n_common == n_aims[one]) & (n_common == n_aims[other])
    return pairs[allowed | _lead_to_one(near, far, one, other, len(root))]


def _lead_to_one(
    near: np.ndarray, far: np.ndarray, one: np.ndarray, other: np.ndarray, n: int
) -> np.ndarray:
    """(n_pairs,) bool: some router follows both."""
    ptr = np.searchsorted(near, np.arange(n + 1))
    result = np.zeros(len(one), bool)
    for i, (x, y) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        result[i] = len(np.intersect1d(far[ptr[x] : ptr[x + 1]], far[ptr[y] : ptr[y + 1]])) > 0
    return result
