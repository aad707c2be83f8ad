"""Rows in any order as traces: sorted in memory, or in parts on disk where there are too many."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO

import numpy as np

from pipeline.model.measured.traces import TraceBatch

ROW = np.dtype(
    [
        ("src", np.uint64, 2),
        ("dst", np.uint64, 2),
        ("flow", np.int64),
        ("addr", np.uint64, 2),
        ("at_s", np.float64),  # 0: unknown
        ("rtt_ms", np.float32),  # NaN: unknown
        ("ttl", np.uint8),
        ("kind", np.uint8),
        ("reply_ttl", np.uint8),  # 0: unknown
    ]
)
MOST_ROWS = 1 << 21  # in memory, some 150 MB
N_PARTS = 64
BATCH_REPLIES = 1 << 17
_ODD = np.uint64(0x9E3779B97F4A7C15)


class ReplyRows:
    """Rows of replies on their way into traces.

    Parameters
    ----------
    most_rows : int
        How many are kept in memory; beyond that, all go to temporary files by their trace.
    """

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self._most_rows = most_rows
        self._rows: list[np.ndarray] = []
        self._n_rows = 0
        self._stack = ExitStack()
        self._parts: list[IO[bytes]] = []

    def add(self, rows: np.ndarray) -> None:
        """Add rows, (n,) ROW."""
        self._rows.append(rows)
        self._n_rows += len(rows)
        if self._n_rows > self._most_rows:
            self._spill()

    def traces(self) -> Iterator[TraceBatch]:
        """All traces, once; replies of each by TTL, in the order in which they were added."""
        with self._stack:
            if not self._parts:
                yield from _traces(np.concatenate([np.empty(0, ROW), *self._rows]))
                return
            self._spill()
            for part in self._parts:
                part.seek(0)
                yield from _traces(np.frombuffer(part.read(), ROW))

    def _spill(self) -> None:
        if not self._parts:
            for _ in range(N_PARTS):
                file = tempfile.TemporaryFile()  # noqa: SIM115 - the stack closes it
                self._parts.append(self._stack.enter_context(file))
        rows = np.concatenate([np.empty(0, ROW), *self._rows])
        part_of = (_key(rows) >> np.uint64(58)).astype(np.int64)
        order = np.argsort(part_of, kind="stable")
        ends = np.searchsorted(part_of[order], np.arange(N_PARTS + 1))
        for i, part in enumerate(self._parts):
            part.write(rows[order[ends[i] : ends[i + 1]]].tobytes())
        self._rows, self._n_rows = [], 0


def _key(rows: np.ndarray) -> np.ndarray:
    """(n,) uint64, equal for rows of one trace; those of two rarely agree."""
    key = rows["flow"].astype(np.uint64)
    for words in (rows["src"], rows["dst"]):
        for column in (0, 1):
            key = (key ^ words[:, column]) * _ODD
            key ^= key >> np.uint64(29)
    return key * _ODD


def _traces(rows: np.ndarray) -> Iterator[TraceBatch]:
    """Traces of rows, by their first row."""
    if not len(rows):
        return
    key = _key(rows)
    order = np.lexsort((rows["ttl"], key))
    ordered = rows[order]
    begins = np.ones(len(rows), bool)
    begins[1:] = (
        (ordered["flow"][1:] != ordered["flow"][:-1])
        | (ordered["src"][1:] != ordered["src"][:-1]).any(axis=1)
        | (ordered["dst"][1:] != ordered["dst"][:-1]).any(axis=1)
    )
    starts = np.flatnonzero(begins)
    by_first = np.argsort(np.minimum.reduceat(order, starts), kind="stable")
    place = np.empty(len(starts), np.int64)
    place[by_first] = np.arange(len(starts))
    trace_of = place[np.cumsum(begins) - 1]
    again = np.argsort(trace_of, kind="stable")
    rows = ordered[again]
    ends = np.searchsorted(trace_of[again], np.arange(len(starts) + 1))
    first = 0
    while first < len(starts):
        last = int(np.searchsorted(ends, ends[first] + BATCH_REPLIES, side="right")) - 1
        last = min(max(last, first + 1), len(starts))
        yield _batch(rows[ends[first] : ends[last]], ends[first : last + 1] - ends[first])
        first = last


def _batch(rows: np.ndarray, reply_ptr: np.ndarray) -> TraceBatch:
    starts = reply_ptr[:-1]
    at_s = np.where(rows["at_s"] > 0, rows["at_s"], np.inf)
    start_s = np.minimum.reduceat(at_s, starts)
    return TraceBatch(
        src_addr=rows["src"][starts].copy(),
        dst_addr=rows["dst"][starts].copy(),
        start_s=np.where(np.isfinite(start_s), start_s, 0.0),
        reply_ptr=reply_ptr.astype(np.int64),
        ttl=rows["ttl"].copy(),
        addr=rows["addr"].copy(),
        rtt_ms=rows["rtt_ms"].copy(),
        kind=rows["kind"].copy(),
        reply_ttl=rows["reply_ttl"].copy() if rows["reply_ttl"].any() else None,
    )
