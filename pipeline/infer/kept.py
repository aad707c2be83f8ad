"""Which traces a snapshot keeps: three for each link and each address, from different places.

A trace is wanted if it shows a link (an ordered pair of routers at consecutive TTLs) or an
interface of which fewer than three vantage points have a trace kept. What is kept must depend on
the traces alone, and not on their order or on threads; so traces are taken in the order of a
priority: a hash of vantage point and target, then one of the rest. That is the greedy choice in
that order, and it can be found in any order of reading: a trace is kept if and only if, for one of
the links or interfaces that it shows, its priority is among the three lowest of different vantage
points [1]_. (Were there three lower ones of other vantage points, these would have been taken.) So
each link and interface remembers three priorities and their vantage points, 36 bytes, and a trace
that is among these when it is read waits until it is pushed out. The hash of vantage point and
target makes two nights keep the same pairs, where both measured them.

Where not all of these are stored, those go first that are the only one of something.

An ingress is the far end of links from other ASes, so it has its three, too: either one of its
links has three, or all vantage points of each of its links are kept.

References
----------
.. [1] E. Cohen and H. Kaplan, "Summarizing data using bottom-k sketches", PODC 2007.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import save_array, scratch_faults
from pipeline.model.columns import concat, empty, put_together, take, take_apart
from pipeline.model.columns.keys import distinct_keys, ordered_keys, split_key
from pipeline.model.columns.ragged import offsets, run_starts
from pipeline.model.measured.kept_traces import TraceRows
from pipeline.model.random_words import mix

N_EACH = 3  # vantage points of which a trace is kept
_NONE = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_BUCKET_HOPS = 1 << 23  # of a part where all are kept: with its order some 300 MB
_MAX_BUCKETS = 256
_LEAST_WAITING = 1 << 20  # hops that wait before those pushed out are dropped


@njit(cache=True, nogil=True)
def _find_priorities(hop_ptr, ttl, ids, rtt_bits, start_s, vantage, vantages, targets, out):
    """Priority of each trace, lower first; none is ``_NONE``."""
    half = np.uint64(32)
    for trace in range(len(out)):
        point = vantage[trace]
        pair = mix(vantages[point, 0])
        pair = mix(pair ^ vantages[point, 1])
        pair = mix(pair ^ targets[trace, 0])
        pair = mix(pair ^ targets[trace, 1])
        rest = mix(np.uint64(start_s[trace]))
        for hop in range(hop_ptr[trace], hop_ptr[trace + 1]):
            rest = mix(rest ^ ((np.uint64(ids[hop] + 1) << half) | np.uint64(rtt_bits[hop])))
            rest = mix(rest ^ np.uint64(ttl[hop]))
        out[trace] = ((pair >> half) << half) | (rest >> half)
        if out[trace] == np.uint64(0xFFFF_FFFF_FFFF_FFFF):
            out[trace] -= np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _pair_of(row, first, ttl, ids, node_of, pair_ptr, far):
    """Key of the link that ends at a hop; -1 for none."""
    if row == first or ids[row] < 0 or ids[row - 1] < 0 or ttl[row] != ttl[row - 1] + 1:
        return -1
    here, before = node_of[ids[row]], node_of[ids[row - 1]]
    low, high = pair_ptr[before], pair_ptr[before + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if far[middle] < here:
            low = middle + 1
        else:
            high = middle
    if low == end or far[low] != here:
        return -1
    return len(node_of) + low


@njit(cache=True, nogil=True)
def _is_wanted(hop_ptr, ttl, ids, priority, node_of, pair_ptr, far, lowest, wanted):
    """Whether a trace is among the lowest of anything that it shows; reads ``lowest`` alone.

    Others may write that meanwhile: its values only fall, so that one too many is wanted at worst.
    """
    for trace in range(len(priority)):
        wanted[trace] = False
        first = hop_ptr[trace]
        for row in range(first, hop_ptr[trace + 1]):
            key = _pair_of(row, first, ttl, ids, node_of, pair_ptr, far)
            if key >= 0 and priority[trace] <= lowest[key, 2]:
                wanted[trace] = True
                break
            if ids[row] >= 0 and priority[trace] <= lowest[ids[row], 2]:
                wanted[trace] = True
                break


@njit(cache=True, nogil=True, inline="always")
def _offer(lowest, points, key, priority, point):
    """Put a priority among those of a key, one for each vantage point; whether it is now there.

    So is that of an equal trace: which of the two is read first is chance, so both wait.
    """
    if priority > lowest[key, 2]:
        return False
    at = 2
    for i in range(3):
        if points[key, i] == point:
            if not priority < lowest[key, i]:
                return priority == lowest[key, i]
            at = i
            break
    while at > 0 and priority < lowest[key, at - 1]:
        lowest[key, at], points[key, at] = lowest[key, at - 1], points[key, at - 1]
        at -= 1
    lowest[key, at], points[key, at] = priority, point
    return True


@njit(cache=True, nogil=True)
def _offer_all(
    hop_ptr, ttl, ids, priority, vantage, node_of, pair_ptr, far, lowest, points, wanted
):  # fmt: skip
    """Offer the wanted traces to all that they show; wanted are then those that were taken."""
    for trace in range(len(priority)):
        if not wanted[trace]:
            continue
        is_taken = False
        first = hop_ptr[trace]
        for row in range(first, hop_ptr[trace + 1]):
            key = _pair_of(row, first, ttl, ids, node_of, pair_ptr, far)
            if key >= 0 and _offer(lowest, points, key, priority[trace], vantage[trace]):
                is_taken = True
            if ids[row] >= 0 and _offer(lowest, points, ids[row], priority[trace], vantage[trace]):
                is_taken = True
        wanted[trace] = is_taken


class Kept(NamedTuple):
    """Traces that are kept.

    Attributes
    ----------
    parts : sequence of callables
        As of ``KeptTraces``.
    rank : (n_traces,) uint8 or None
        Of the only part: 0 where a trace is the first of something that it shows, 1 where it is
        the second of something, 2 else. None: all traces are kept.
    """

    parts: Sequence[Callable[[], TraceRows]]
    rank: np.ndarray | None


@dataclass
class _Waiting:
    """What one thread keeps for now."""

    priorities: list[np.ndarray] = field(default_factory=list)
    rows: list[TraceRows] = field(default_factory=list)
    n_hops: int = 0
    most: int = _LEAST_WAITING

    def add(self, priority: np.ndarray, rows: TraceRows) -> None:
        self.priorities.append(priority)
        self.rows.append(rows)
        self.n_hops += len(rows.ttl)

    def drop(self, kept: np.ndarray) -> None:
        """Drop what is not among the sorted priorities that are kept; of equals one stays."""
        if not self.rows:
            return
        priority, rows = np.concatenate(self.priorities), concat(self.rows)
        at = np.minimum(np.searchsorted(kept, priority), max(len(kept) - 1, 0))
        own = np.flatnonzero(kept[at] == priority) if len(kept) else at[:0]
        order = np.lexsort((rows.input[own], priority[own]))
        own = np.sort(own[order[run_starts(priority[own[order]])]])
        self.priorities, self.rows = [priority[own]], [take(rows, own)]
        self.n_hops = len(self.rows[0].ttl)
        self.most = max(_LEAST_WAITING, 2 * self.n_hops)


def keeping_traces(
    links: DirectedLinks, node_of: np.ndarray, vantages: np.ndarray, number_of: np.ndarray
) -> Finding[Any, Kept]:
    """Find the traces that are kept.

    Parameters
    ----------
    links : DirectedLinks
        Between interfaces.
    node_of : (n_interfaces,) int64
    vantages : (n_vantages, 2) uint64
        ``Spools.vantages``; those of unknown address count as one vantage point.
    number_of : (n_vantages,) int64
        Number of each that is kept with a trace; -1 unknown.

    """
    shown = links.n_router + links.n_destination > 0
    near, far = node_of[links.near[shown]], node_of[links.far[shown]]
    near, far = split_key(distinct_keys(ordered_keys(near[near != far], far[near != far])))
    pair_ptr = offsets(np.bincount(near, minlength=int(node_of.max(initial=0)) + 1))
    n_keys = len(node_of) + len(far)
    lowest = np.full((n_keys, N_EACH), _NONE)
    points = np.full((n_keys, N_EACH), -1, np.int32)
    lock = threading.Lock()

    def step(waiting: _Waiting, batch: Batch) -> None:
        traces = batch.traces
        vantage, is_further = batch.seen_from
        priority = _priorities(batch, vantage, vantages)
        wanted = np.empty(len(priority), np.bool_)
        shown_by = (traces.hop_ptr, traces.ttl, traces.ids, priority)
        _is_wanted(*shown_by, node_of, pair_ptr, far, lowest, wanted)
        if not wanted.any():
            return
        with lock:
            _offer_all(*shown_by, vantage, node_of, pair_ptr, far, lowest, points, wanted)
        which = np.flatnonzero(wanted)
        waiting.add(priority[which], take(_rows_of(batch, vantage, is_further, number_of), which))
        if waiting.n_hops > waiting.most:
            with lock:
                kept = distinct_keys(lowest.ravel())
            waiting.drop(kept)

    def end(threads: list[_Waiting]) -> Kept:
        kept = distinct_keys(lowest.ravel())
        for waiting in threads:
            waiting.drop(kept)
        pieces = [piece for waiting in threads for piece in waiting.rows]
        if not pieces:
            return Kept([lambda: empty(TraceRows)], np.empty(0, np.uint8))
        rows = concat(pieces)
        priority = np.concatenate([each for waiting in threads for each in waiting.priorities])
        order = _in_order(rows, priority)
        ordered = priority[order]
        own = order[run_starts(ordered)]  # equal traces of two files are that of the first file
        rank = np.full(len(own), N_EACH - 1, np.uint8)
        for i in (1, 0):
            rank[np.isin(priority[own], lowest[:, i])] = i
        taken = take(rows, own)
        return Kept([lambda: taken], rank)

    return Finding(_Waiting, step, end)


def keeping_all(
    n_hops: int, vantages: np.ndarray, number_of: np.ndarray, scratch: Path
) -> Finding[Any, Kept]:
    """Keep all traces: on disk, by runs of vantage points, and sorted one run at a time.

    Parameters
    ----------
    n_hops : int
        Of all spools.
    vantages, number_of
        As for ``keeping_traces``.
    scratch : Path
        Folder for the traces, 10 bytes per hop and 42 per trace; they stay there.

    Raises
    ------
    StoreError
        By steps and parts, if scratch files cannot be written or read.
    """
    n_buckets = min(_MAX_BUCKETS, n_hops // _BUCKET_HOPS + 1)
    n_points = int(number_of.max(initial=-1)) + 2  # the first: unknown
    with scratch_faults(scratch):
        folder = Path(tempfile.mkdtemp(prefix="kept-", dir=scratch))
    locks = [threading.Lock() for _ in range(n_buckets)]

    def path_of(bucket: int) -> Path:
        return folder / f"{bucket}.traces"

    def step(_: None, batch: Batch) -> None:
        vantage, is_further = batch.seen_from
        priority = _priorities(batch, vantage, vantages)
        rows = _rows_of(batch, vantage, is_further, number_of)
        bucket = (rows.vantage.astype(np.int64) + 1) * n_buckets // n_points
        for i in np.unique(bucket).tolist():
            own = np.flatnonzero(bucket == i)
            arrays = take_apart(take(rows, own))[0]
            with locks[i], scratch_faults(folder), path_of(i).open("ab") as file:
                for array in (priority[own], *arrays.values()):
                    save_array(file, array)

    def read(bucket: int) -> TraceRows:
        path, nothing = path_of(bucket), empty(TraceRows)
        names = list(take_apart(nothing)[0])
        priorities, pieces = [], []
        with scratch_faults(folder):
            if not path.exists():
                return nothing
            with path.open("rb") as file:
                while file.tell() < path.stat().st_size:
                    priorities.append(np.load(file))
                    arrays = {name: np.load(file) for name in names}
                    pieces.append(put_together(TraceRows, arrays, {}))
        rows = concat(pieces)
        return take(rows, _in_order(rows, np.concatenate(priorities)))

    def end(_: list[None]) -> Kept:
        return Kept([partial(read, i) for i in range(n_buckets)], None)

    return Finding(lambda: None, step, end)


def _in_order(rows: TraceRows, priority: np.ndarray) -> np.ndarray:
    """Positions by vantage point, target, start, and then in an order that the traces decide."""
    keys = (rows.input, priority, rows.start_s, rows.target_low, rows.target_high, rows.vantage)
    return np.lexsort(keys)


def _priorities(batch: Batch, vantage: np.ndarray, vantages: np.ndarray) -> np.ndarray:
    traces = batch.traces
    priority = np.empty(len(traces.flags), np.uint64)
    _find_priorities(
        *(traces.hop_ptr, traces.ttl, traces.ids, traces.rtt_ms.view(np.uint32)),
        *(batch.starts, vantage, vantages, batch.destinations, priority),
    )
    return priority


def _rows_of(
    batch: Batch, vantage: np.ndarray, is_further: np.ndarray, number_of: np.ndarray
) -> TraceRows:
    traces, targets = batch.traces, batch.destinations
    return TraceRows(
        number_of[vantage].astype(np.int32),
        targets[:, 0],
        targets[:, 1],
        batch.starts,
        np.full(len(vantage), batch.source, np.int32),
        traces.flags == DESTINATION,
        is_further,
        traces.classic,
        traces.hop_ptr,
        traces.ttl,
        traces.ids,
        traces.rtt_ms,
        batch.traces.kind,
    )
