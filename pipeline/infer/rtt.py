"""RTT weight of a link: the exact median over traces of (rtt_far - rtt_near) / 2.

Both directions of a link are pooled; a negative half difference (the nearer router was slow to
answer) counts as it is, and only the median is floored, at ``FLOOR_MS``; floored medians are
counted. Half differences are kept in steps of ``STEP_MS``, the resolution of the formats.

Samples go to disk (``infer.samples``), link in the high half, value in the low half.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.samples import bucket_starts, samples_on_disk
from pipeline.infer.traces.counting import slot_of
from pipeline.infer.traces.links import NodeLinks
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import is_repeated

_ANY_GAP = -1
FLOOR_MS = 0.01  # a link of 1 km; keeps weights positive for weighted paths
STEP_MS = 0.0005  # half of the microsecond that formats give
_OFFSET = 1 << 31  # makes values unsigned, so that samples sort as numbers
_MAX_BUCKETS = 512  # open files, beside those of ``paths``


@njit(cache=True, nogil=True)
def _samples(hop_ptr, ttl, ids, rtt, node_of, keys, link_of, length, out):
    """Write one sample for each successive pair that is a link; returns their number."""
    n_out = 0
    for trace in range(len(hop_ptr) - 1):
        for row in range(hop_ptr[trace] + 1, hop_ptr[trace + 1]):
            if ids[row] < 0 or ids[row - 1] < 0 or ids[row] == ids[row - 1]:
                continue
            near, far = node_of[ids[row - 1]], node_of[ids[row]]
            if near == far:
                continue
            half = (np.float64(rtt[row]) - np.float64(rtt[row - 1])) * 1000.0  # in STEP_MS
            if not (abs(half) < 2147483647.0):  # NaN too
                continue
            key = (min(near, far) << 32) | max(near, far)
            slot = slot_of(keys, key)
            if keys[slot] != key:
                continue
            link = link_of[slot]
            n_hops = np.int64(ttl[row]) - np.int64(ttl[row - 1])
            if length[link] == 2 and is_repeated(ttl, ids, row, hop_ptr[trace + 1]):
                n_hops += 1
            if n_hops != length[link] and (n_hops == 1 or length[link] != _ANY_GAP):
                continue
            value = np.uint64(np.int64(np.rint(half)) + _OFFSET)
            out[n_out] = (np.uint64(link) << np.uint64(32)) | value
            n_out += 1
    return n_out


@njit(cache=True, nogil=True)
def _index(near, far, keys, link_of):
    for link in range(len(near)):
        key = (near[link] << 32) | far[link]
        slot = slot_of(keys, key)
        keys[slot] = key
        link_of[slot] = link


@njit(cache=True, nogil=True)
def _medians(samples, counts, median):
    """Median of each link, in STEP_MS, from sorted samples that stand for ``counts`` each."""
    low = np.uint64(0xFFFFFFFF)
    start = 0
    while start < len(samples):
        link = samples[start] >> np.uint64(32)
        end = start
        total = 0
        while end < len(samples) and samples[end] >> np.uint64(32) == link:
            total += counts[end]
            end += 1
        below, upper, seen = (total - 1) // 2, total // 2, 0
        first = second = 0.0
        for i in range(start, end):
            value = np.float64(np.int64(samples[i] & low) - _OFFSET)
            if seen <= below < seen + counts[i]:
                first = value
            if seen <= upper < seen + counts[i]:
                second = value
                break
            seen += counts[i]
        median[np.int64(link)] = (first + second) / 2
        start = end


class LinkWeights(NamedTuple):
    """Medians.

    Attributes
    ----------
    ms : (n_links,) float32
        NaN where no trace gave an RTT at both ends.
    n_floored : int
    """

    ms: np.ndarray
    n_floored: int


@contextlib.contextmanager
def measuring_links(
    links: NodeLinks,
    node_of: np.ndarray,
    scratch: Path | None,
    length: np.ndarray | None = None,
) -> Iterator[Finding[np.ndarray, LinkWeights]]:
    """Median half RTT difference of each link; read in the context, which keeps scratch files.

    Parameters
    ----------
    links : NodeLinks
    node_of : (n_interfaces,) int64
    scratch : Path or None
        Folder for samples, 8 bytes each; nothing is left there. None: the system's.
    length : (n_links,) int64 or None
        Hops between the two ends in the traces that count. None: one, or any number above that for
        bridged links.

    Raises
    ------
    StoreError
        If samples cannot be written.
    """
    n_links = len(links.near)
    if length is None:
        length = np.where(links.bridged, _ANY_GAP, 1)
    n_slots = 1 << max(4, (2 * n_links).bit_length())
    keys = np.full(n_slots, -1, np.int64)
    link_of = np.zeros(n_slots, np.int64)
    _index(links.near, links.far, keys, link_of)
    bounds = bucket_starts(links.n_traces, _MAX_BUCKETS) << np.uint64(32)
    with samples_on_disk(scratch, bounds) as samples:

        def step(out: np.ndarray, batch: Batch) -> None:
            traces = batch.traces
            if len(traces.ids) > len(out):
                out = np.empty(len(traces.ids), np.uint64)
            n_out = _samples(
                traces.hop_ptr,
                traces.ttl,
                traces.ids,
                traces.rtt_ms,
                node_of,
                keys,
                link_of,
                length,
                out,
            )
            samples.add(out[:n_out])

        def end(_: list[np.ndarray]) -> LinkWeights:
            median = np.full(n_links, np.nan)
            for distinct, counts in samples.sorted():
                _medians(distinct, counts, median)
            weight = median * STEP_MS
            floored = weight < FLOOR_MS
            weight[floored] = FLOOR_MS
            return LinkWeights(weight.astype(np.float32), int(np.count_nonzero(floored)))

        yield Finding(lambda: np.empty(1 << 19, np.uint64), step, end)
