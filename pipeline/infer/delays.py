"""RTT that an AS adds behind each ingress: differences of RTTs of the same trace.

A trace that enters an AS directly (``infer.ingresses``) shows the ingress and, until it leaves,
further routers of the AS. The RTT of each of them minus that of the ingress is a sample of the TTLs
between the two; that of the last one is a sample of the AS. A trace that comes back is a visit of
its own. The destination's own reply is left out, as for ingresses: a host is not the AS.

Differences count as they are, negative ones too, in steps of ``STEP_MS``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit

from pipeline.infer.samples import bucket_starts, samples_on_disk
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.links import NodeLinks
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION
from pipeline.model.columns import concat, take
from pipeline.model.columns.ragged import offsets, run_starts
from pipeline.model.measured.delays import Delays
from pipeline.model.topology import NO_ASN

STEP_MS = 0.001  # the microsecond that formats give
# A sample: node << 33 | TTLs behind it << 28 | difference in steps. 0 TTLs: the last router.
_NODE, _TTLS = np.uint64(33), np.uint64(28)
_OFFSET = 1 << 27  # makes values unsigned; 134 s
MAX_TTLS = 31
_MAX_BUCKETS = 96  # open files, beside those of ``rtt`` and ``paths``
_SAMPLES_OF_ENTRY = 4  # about
_QUARTILES = (0.25, 0.5, 0.75)


@njit(cache=True, nogil=True, inline="always")
def _sample(node, ttls, value):
    return (
        (np.uint64(node) << np.uint64(33))
        | (np.uint64(ttls) << np.uint64(28))
        | np.uint64(value + _OFFSET)
    )


@njit(cache=True, nogil=True)
def _behind(
    hop_ptr, flags, ttl, ids, rtt, classic, vantage, node_of, as_of, doubtful, keys, counts, out
):  # fmt: skip
    """Write samples; returns their number, and how many pairs of ingress and vantage are new."""
    n_out, n_new = 0, 0
    none = np.int64(-1)
    for trace in range(len(hop_ptr) - 1):
        last_as, last_ttl = none, none
        ingress, ingress_ttl, ingress_rtt = none, none, np.float64(0)
        has_last, last_value = False, np.int64(0)
        end = hop_ptr[trace + 1] - (1 if flags[trace] == DESTINATION else 0)
        for row in range(hop_ptr[trace], end + 1):  # one more: the last visit ends
            here = none
            if row < end:
                if ids[row] < 0:
                    continue
                here = as_of[node_of[ids[row]]]
                if here < 0:
                    continue
            if here != last_as:
                if has_last:
                    out[n_out] = _sample(ingress, 0, last_value)
                    n_out += 1
                    if vantage[trace] >= 0:
                        key = (ingress << 32) | vantage[trace]
                        slot = slot_of(keys, key)
                        if keys[slot] != key:
                            keys[slot] = key
                            n_new += 1
                        counts[slot, 0] += 1
                has_last, ingress = False, none
                if here < 0:
                    break
                is_direct = last_as >= 0 and ttl[row] == last_ttl + 1
                if is_direct and not (classic[trace] and doubtful[ids[row]]):
                    ingress, ingress_ttl = np.int64(node_of[ids[row]]), np.int64(ttl[row])
                    ingress_rtt = np.float64(rtt[row])
            elif ingress >= 0 and node_of[ids[row]] != ingress:
                steps = (np.float64(rtt[row]) - ingress_rtt) * 1000.0
                if abs(steps) < _OFFSET:  # not NaN either
                    has_last, last_value = True, np.int64(np.rint(steps))
                    ttls = np.int64(ttl[row]) - ingress_ttl
                    if 0 < ttls <= MAX_TTLS:
                        out[n_out] = _sample(ingress, ttls, last_value)
                        n_out += 1
            if row < end:
                last_as, last_ttl = here, np.int64(ttl[row])
    return n_out, n_new


@njit(cache=True, nogil=True)
def _quantiles(samples, counts, starts, shares, values, totals, negatives):
    """Interpolated quantiles of each run, in steps, from sorted samples for ``counts`` each."""
    low = np.uint64((1 << 28) - 1)
    for i in range(len(starts)):
        begin = starts[i]
        end = starts[i + 1] if i + 1 < len(starts) else len(samples)
        total, n_negative = 0, 0
        for k in range(begin, end):
            total += counts[k]
            if np.int64(samples[k] & low) < _OFFSET:
                n_negative += counts[k]
        totals[i], negatives[i] = total, n_negative
        for q in range(len(shares)):
            place = (total - 1) * shares[q]
            below = int(np.floor(place))
            above = below + 1 if below + 1 < total else below
            first, second, seen = 0.0, 0.0, 0
            for k in range(begin, end):
                value = np.float64(np.int64(samples[k] & low) - _OFFSET)
                if seen <= below < seen + counts[k]:
                    first = value
                if seen <= above < seen + counts[k]:
                    second = value
                    break
                seen += counts[k]
            values[i, q] = first + (second - first) * (place - below)


class Behind(NamedTuple):
    """Delays of the ingresses that have any.

    Attributes
    ----------
    node : (n,) int64
        Ascending.
    delays : Delays
        A row for each.
    """

    node: np.ndarray
    delays: Delays

    def of(self, node: np.ndarray) -> Delays:
        """Delays of nodes, (n,) int64, ascending; those without any have none."""
        if not len(self.node):
            return Delays.unknown(len(node))
        at = np.minimum(np.searchsorted(self.node, node), len(self.node) - 1)
        row = np.where(self.node[at] == node, at, len(self.node))
        return take(concat([self.delays, Delays.unknown(1)]), row)


class _State:
    """What one thread gathers."""

    def __init__(self) -> None:
        self.seen = PairCounter(1)
        self.out = np.empty(1 << 18, np.uint64)


_Found: TypeAlias = Finding[_State, Behind]


@contextlib.contextmanager
def measuring_delays(
    links: NodeLinks,
    node_of: np.ndarray,
    node_asn: np.ndarray,
    n_vantages: int,
    doubtful: np.ndarray | None,
    scratch: Path | None,
) -> Iterator[_Found]:
    """RTT added behind each ingress; read in the context, which keeps scratch files.

    Parameters
    ----------
    links : NodeLinks
        How often links between ASes are crossed says how large buckets become.
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
    n_vantages : int
        Of ``Spools.vantages``.
    doubtful : (n_interfaces,) bool or None
        As for ``find_ingresses``.
    scratch : Path or None
        Folder for samples, 8 bytes each; nothing is left there. None: the system's.

    Raises
    ------
    StoreError
        If samples cannot be written.
    """
    as_of = np.where(node_asn == NO_ASN, -1, node_asn).astype(np.int64)
    unsure = np.zeros(len(node_of), bool) if doubtful is None else doubtful
    numbers = np.arange(n_vantages, dtype=np.int64)
    bounds = bucket_starts(_expected(links, node_asn), _MAX_BUCKETS) << _NODE
    with samples_on_disk(scratch, bounds) as samples:

        def step(state: _State, batch: Batch) -> None:
            traces = batch.traces
            state.seen.reserve(len(traces.ids))
            if len(state.out) < 2 * len(traces.ids):  # a hop, and once more as the last one
                state.out = np.empty(2 * len(traces.ids), np.uint64)
            n_out, n_new = _behind(
                traces.hop_ptr,
                traces.flags,
                traces.ttl,
                traces.ids,
                traces.rtt_ms,
                traces.classic,
                batch.of_vantage(numbers),
                node_of,
                as_of,
                unsure,
                state.seen.keys,
                state.seen.counts,
                state.out,
            )
            state.seen.n_used += n_new
            samples.add(state.out[:n_out])

        def end(states: list[_State]) -> Behind:
            keys, _ = add_up([state.seen.rows() for state in states])
            parts = [_summed_up(*part) for part in samples.sorted()]
            key, values, totals, negatives = (
                np.concatenate(column) for column in zip(*parts, strict=True)
            )
            return _by_node(key, values, totals, negatives, keys >> 32)

        yield Finding(_State, step, end)


def _expected(links: NodeLinks, node_asn: np.ndarray) -> np.ndarray:
    """(n_nodes,) int64: samples of each node, about."""
    n = len(node_asn)
    shown = (links.near < n) & (links.far < n)
    near, far, n_traces = links.near[shown], links.far[shown], links.n_traces[shown]
    crossed = n_traces * (node_asn[near] != node_asn[far]) * _SAMPLES_OF_ENTRY
    return (np.bincount(near, crossed, n) + np.bincount(far, crossed, n)).astype(np.int64)


def _summed_up(samples: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of each (node, TTLs): its key, (n, 3) quartiles in steps, samples, negative ones."""
    key = samples >> _TTLS
    starts = run_starts(key)
    n = len(starts)
    values = np.empty((n, len(_QUARTILES)))
    totals, negatives = np.empty(n, np.int64), np.empty(n, np.int64)
    _quantiles(samples, counts, starts, np.array(_QUARTILES), values, totals, negatives)
    return key[starts].astype(np.int64), values, totals, negatives


def _by_node(
    key: np.ndarray,
    values: np.ndarray,
    totals: np.ndarray,
    negatives: np.ndarray,
    seen_by: np.ndarray,
) -> Behind:
    """``seen_by``: node of each pair of node and vantage point."""
    node, ttls = key >> 5, key & MAX_TTLS
    last = ttls == 0
    distinct, n_visits, quartiles = node[last], totals[last], values[last] * STEP_MS
    row = np.searchsorted(distinct, node[~last])
    lengths = np.zeros(len(distinct), np.int64)
    np.maximum.at(lengths, row, ttls[~last])
    ptr = offsets(lengths)
    at = ptr[row] + ttls[~last] - 1
    hop_ms, hop_n = np.full(ptr[-1], np.nan, np.float32), np.zeros(ptr[-1], np.int64)
    hop_ms[at], hop_n[at] = values[~last, 1] * STEP_MS, totals[~last]
    low, middle, high = quartiles.astype(np.float32).T
    n_vantages = np.bincount(np.searchsorted(distinct, seen_by), minlength=len(distinct))
    return Behind(
        distinct,
        Delays(
            *(middle.copy(), low.copy(), high.copy()),
            *(n_visits, n_vantages.astype(np.int64), negatives[last]),
            *(ptr, hop_ms, hop_n),
        ),
    )
