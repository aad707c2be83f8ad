"""What one traceroute alone says: the single-trace rules.

A hop is one address at one TTL. For each trace, in the order of TTLs:

1. **Several repliers at one TTL**: the most frequent one is the hop, the first to answer if
   several are equally frequent (``multi_replier_hops`` counts TTLs with more than one). The hop's
   RTT is the smallest that the chosen one gave, replies without an RTT aside: queues only ever add.
2. **The same address at the next TTL** (a router that forwards what it should drop, or one that
   answers for the host behind it): both hops are kept, but no link joins them
   (``repeated_addresses``). The link to what follows starts at the last of them.
3. **An address seen again later**: a loop. The trace ends with the first hop of that address
   (``loops``): a packet that came back was on no path to the destination before either. What the
   trace shows behind it is no hop; a destination elsewhere that answered there is a router, though.
4. **The destination's own final reply**: marked, not dropped. While nothing else answers, repeats
   of it count as that one reply, however many and after whatever gap (``repeated_addresses``). The
   address is a router only if it also answered as one somewhere in the whole data: with
   time-exceeded, on a trace to another destination, or before the end of a trace to itself
   (``destinations`` has the rest of this rule). ``destination_replies`` counts them.
5. **The destination's address, and then others answer**: the packet was not at its destination
   yet. If the destination answers again behind them, the last of these replies is its own, and the
   others are dropped (``early_destinations``): a gateway sent them that rewrites addresses, or
   they came by a shorter way. If it does not, the reply is an *early* one, and what else was seen
   before the next hop tells (``early``).
6. **MPLS labels**: a hop is labelled if the chosen address sent a label stack at its TTL
   (``labelled_hops``): the probe came to it under labels.

The TTL that was left of a reply is kept of the chosen address: the largest, which came by the
shortest way.

These rules know nothing of ASes, of other traces or of the order of files.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.traces.counting import slot_of
from pipeline.model.measured.traces import KIND_TIME_EXCEEDED, LABELLED

# Flags of a trace:
DESTINATION = 1  # its last hop is the destination's own reply
CUT = 2  # its last hop was not the last to answer: the rest of the way is in another trace
# Roles of an address, bits:
ROUTER = 1  # it answered as a router
TARGET = 2  # it answered as the destination of a trace
LOOPED = 4  # it answered within a loop: a router, though none that was on a path
_TIME_EXCEEDED = KIND_TIME_EXCEEDED
_KIND = 0xFF & ~LABELLED  # bits of a kind
# Replies at one TTL that are looked at: no tool sends that many probes, and the count is quadratic.
_MAX_REPLIERS = 256
_MAX_HOPS = 255


class Hops(NamedTuple):
    """Hops, one row each.

    ``id`` int32: number of the address, or -1 - i: the i-th early pair; ``ttl`` uint8; ``rtt``
    float32, in ms; ``kind`` uint8: KIND_* of ``pipeline.model.measured.traces``, with ``LABELLED``;
    ``reply_ttl`` uint8: 0 if unknown.
    """

    id: np.ndarray
    ttl: np.ndarray
    rtt: np.ndarray
    kind: np.ndarray
    reply_ttl: np.ndarray


class RuleCounts(NamedTuple):
    """How often the rules above were applied."""

    multi_replier_hops: int
    repeated_addresses: int
    loops: int
    destination_replies: int
    early_destinations: int
    labelled_hops: int


@njit(cache=True, nogil=True)
def _choose(ids, kind, rtt, reply_ttl, start, end):
    """Most frequent replier of rows start:end of one TTL.

    Returns its number, its RTT, whether it sent time exceeded, whether it was alone, its kind (time
    exceeded if it ever sent that, else that of its first reply; LABELLED if any reply was), and the
    largest TTL of its replies.
    """
    best, best_n, alone = start, 0, True
    if end - start == 1:
        exceeded = kind[start] & _KIND == _TIME_EXCEEDED
        return ids[start], rtt[start], exceeded, True, kind[start], reply_ttl[start]
    for i in range(start, end):
        if ids[i] != ids[start]:
            alone = False
        seen = False
        for j in range(start, i):
            if ids[j] == ids[i]:
                seen = True
                break
        if seen:
            continue
        n = 0
        for j in range(i, end):
            if ids[j] == ids[i]:
                n += 1
        if n > best_n:
            best, best_n = i, n
    least = np.float32(np.nan)
    exceeded, labelled, left = False, kind[start] & 0, reply_ttl[start] & 0
    for i in range(start, end):
        if ids[i] == ids[best]:
            if rtt[i] < least or np.isnan(least):  # a reply without RTT (NaN) is never less
                least = rtt[i]
            if kind[i] & _KIND == _TIME_EXCEEDED:
                exceeded = True
            labelled |= kind[i] & LABELLED
            left = max(left, reply_ttl[i])
    sent = kind[best] & _KIND
    if exceeded:
        sent = _TIME_EXCEEDED
    return ids[best], least, exceeded, alone, labelled | sent, left


@njit(cache=True, nogil=True, inline="always")
def is_repeated(ttl, ids, row, end):
    """Whether a hop of a trace is the first of two equal ones: it answered for another router."""
    return row + 1 < end and ids[row + 1] == ids[row] and ttl[row + 1] == ttl[row] + 1


@njit(cache=True, nogil=True)
def _find(ids, first, end, hop):
    """First row of ``hop`` among rows first:end, -1 for none."""
    for at in range(first, end):
        if ids[at] == hop:
            return at
    return -1


@njit(cache=True, nogil=True)
def _drop(out, at, n_out):
    """Take one row out; returns how many are left."""
    for i in range(at, n_out - 1):
        out.id[i] = out.id[i + 1]
        out.ttl[i] = out.ttl[i + 1]
        out.rtt[i] = out.rtt[i + 1]
        out.kind[i] = out.kind[i + 1]
        out.reply_ttl[i] = out.reply_ttl[i + 1]
    return n_out - 1


@njit(cache=True, nogil=True)
def _note_early(ids, at, keys, numbers, n):
    """Number the pair of a row and the one behind it; returns how many pairs there are."""
    key = (np.int64(ids[at]) << 32) | np.int64(ids[at + 1])
    slot = slot_of(keys, key)
    if keys[slot] != key:
        keys[slot] = key
        numbers[slot, 0] = n
        n += 1
    return n


@njit(cache=True, nogil=True)
def clean_traces(
    reply_ptr, ttl, ids, addr, rtt, kind, reply_ttl, dst, hop_count, flags, out, role, early_keys,
    early_number, n_early,
):  # fmt: skip
    """Apply the rules to a batch of traces.

    Parameters
    ----------
    reply_ptr, ttl, addr, rtt, kind, reply_ttl, dst : columns of a TraceBatch
    ids : (n_replies,) int32
        Number of each replier.
    hop_count, flags : (n_traces,) uint8, out
    out : Hops, out
        Of all traces, end to end, with room for ``n_replies``; the first ``n_hops`` are filled.
    role : (n_known,) uint8, in and out
        ``ROUTER``, ``TARGET`` and ``LOOPED`` are set for each number that answered as one.
    early_keys, early_number : (n_slots,), (n_slots, 1) int64, in and out
        A table (``counting``) of early pairs, the destination's number and that of the hop behind
        it, numbered from 0; its load stays below one half if it has room for the traces.
    n_early : int
        Pairs in it.

    Returns
    -------
    n_hops : int
    n_early : int
    counts : RuleCounts
    """
    n_multi = n_repeated = n_loops = n_destinations = n_dropped = n_labelled = 0
    n_out = 0
    for trace in range(len(reply_ptr) - 1):
        first = n_out
        row, end = reply_ptr[trace], reply_ptr[trace + 1]
        last_is_destination = False
        last_exceeded = False
        early = -1  # row of the destination's reply behind which others answered
        while row < end:
            start = row
            this_ttl = ttl[row]
            while row < end and ttl[row] == this_ttl:
                row += 1
            if n_out - first == _MAX_HOPS:
                break
            hop, hop_rtt, exceeded, alone, hop_kind, left = _choose(
                ids, kind, rtt, reply_ttl, start, min(row, start + _MAX_REPLIERS)
            )
            if not alone:
                n_multi += 1
            replier = start
            while ids[replier] != hop:
                replier += 1
            is_destination = addr[replier, 0] == dst[trace, 0] and addr[replier, 1] == dst[trace, 1]
            # Repeats of the destination write no hop, so its TTL stays that of the first.
            if (
                n_out > first
                and out.id[n_out - 1] == hop
                and (last_is_destination or this_ttl == out.ttl[n_out - 1] + 1)
            ):
                n_repeated += 1
                if last_is_destination:  # it kept answering: still one final reply
                    last_exceeded = last_exceeded or exceeded
                    continue
            elif is_destination and early >= 0:
                n_early = _note_early(out.id, early, early_keys, early_number, n_early)
                n_out = _drop(out, early, n_out)
                n_dropped += 1
                early = -1
            else:
                again = _find(out.id, first, n_out, hop)
                if again >= 0:
                    n_loops += 1
                    for at in range(again + 1, n_out):
                        if at != early and not (last_is_destination and at == n_out - 1):
                            role[out.id[at]] |= LOOPED
                    n_out = again + 1
                    last_is_destination = False
                    if early > again:
                        early = -1
                    break
            if last_is_destination and not is_destination:
                early = n_out - 1  # not the final reply after all
            out.id[n_out] = hop
            out.ttl[n_out] = this_ttl
            out.rtt[n_out] = hop_rtt
            out.kind[n_out] = hop_kind
            out.reply_ttl[n_out] = left
            n_out += 1
            last_is_destination = is_destination
            last_exceeded = exceeded
        if early >= 0:
            n_early = _note_early(out.id, early, early_keys, early_number, n_early)
            key = (np.int64(out.id[early]) << 32) | np.int64(out.id[early + 1])
            out.id[early] = -1 - early_number[slot_of(early_keys, key), 0]
        hop_count[trace] = n_out - first
        flags[trace] = 0
        for at in range(first, n_out):
            n_labelled += (out.kind[at] & LABELLED) > 0
            if out.id[at] >= 0 and (at < n_out - 1 or not last_is_destination):
                role[out.id[at]] |= ROUTER
        if last_is_destination:
            flags[trace] = DESTINATION
            role[out.id[n_out - 1]] |= TARGET
            n_destinations += 1
            if last_exceeded:
                role[out.id[n_out - 1]] |= ROUTER
    counts = RuleCounts(n_multi, n_repeated, n_loops, n_destinations, n_dropped, n_labelled)
    return n_out, n_early, counts
