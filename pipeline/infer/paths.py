"""Paths of each vantage point, as trees of steps: what comparing two nights needs.

A hop counts where its router is in an AS. Two successive routers are a step; it is one across a gap
where hops between did not answer or are in no AS. Hops of one router in a row are one. A further
path of a measurement is left out: it begins where it leaves another one, so it is not known which
way led there.

Memory must not grow with traces. So routers and RTTs go to disk, 8 bytes per hop, cut into runs of
vantage points of near ``_BUCKET_HOPS`` hops, and one run at a time becomes trees, level by level:
traces that stand at one step and go on to one router share the next step. Steps are numbered in the
order of (vantage point, level, step before, router), whatever the order of traces.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION
from pipeline.infer.traces.spool import Traces, scratch_faults
from pipeline.model.columns import concat, empty
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value
from pipeline.model.measured.observations import FIRST, Observations, Paths, Steps, Vantages
from pipeline.model.topology import NO_ASN

_BUCKET_HOPS = 1 << 23  # with its trees some 500 MB
_MAX_BUCKETS = 256  # open files
_HEADER = 16  # bytes of the two counts before each piece of a bucket

# Columns of a piece: one value per trace, then one per hop.
_OF_TRACES = {
    "n_routers": np.uint8,
    "vantage": np.int32,
    "target_high": np.uint64,
    "target_low": np.uint64,
    "n_hops": np.uint8,
    "reached": np.bool_,
    "direct": np.bool_,
    "target_rtt": np.float32,
}
_OF_HOPS = {"code": np.uint32, "rtt": np.float32}


@dataclass(frozen=True, eq=False)
class _Piece:
    """Traces as routers; ``code``: twice the node, and 1 more behind a gap."""

    n_routers: np.ndarray
    vantage: np.ndarray
    target_high: np.ndarray
    target_low: np.ndarray
    n_hops: np.ndarray
    reached: np.ndarray
    direct: np.ndarray
    target_rtt: np.ndarray
    code: np.ndarray
    rtt: np.ndarray

    def take(self, traces: np.ndarray) -> _Piece:
        """Some of the traces."""
        _, hops = positions_of_rows(offsets(self.n_routers), traces)
        return _Piece(
            *(getattr(self, name)[traces] for name in _OF_TRACES),
            *(getattr(self, name)[hops] for name in _OF_HOPS),
        )


def _routers_of(
    traces: Traces, vantage: np.ndarray, targets: np.ndarray, node_of: np.ndarray
) -> _Piece:
    """The routers of the traces of one block; ``node_of``: -1 in no AS."""
    starts, n = traces.hop_ptr[:-1], np.diff(traces.hop_ptr)
    trace = row_of_value(traces.hop_ptr)
    node = np.where(traces.ids >= 0, node_of[traces.ids], -1)
    ttl = traces.ttl.astype(np.int16)
    same_trace = np.zeros(len(node), bool)
    same_trace[1:] = trace[1:] == trace[:-1]
    follows, again = same_trace.copy(), same_trace & (node >= 0)
    follows[1:] &= (node[:-1] >= 0) & (ttl[1:] == ttl[:-1] + 1)
    again[1:] &= node[1:] == node[:-1]
    # The first of two equal hops answered for a router before it.
    follows[:-1] &= ~(same_trace[1:] & (traces.ids[1:] == traces.ids[:-1]))
    own = vantage >= 0
    keep = (node >= 0) & ~again & own[trace]
    n_routers = np.bincount(trace[keep], minlength=len(n))
    code = (node[keep] << 1) | ~follows[keep]
    first = offsets(n_routers)[:-1][n_routers > 0]
    code[first] &= ~1
    last = np.maximum(starts + n - 1, 0)
    answered = n > 0
    reached = answered & (traces.flags == DESTINATION)
    direct = np.zeros(len(n), bool)
    direct[reached] = (node[last[reached]] >= 0) | follows[last[reached]]
    n_hops = np.zeros(len(n), np.uint8)
    n_hops[answered] = traces.ttl[last[answered]]
    target_rtt = np.full(len(n), np.nan, np.float32)
    target_rtt[reached] = traces.rtt_ms[last[reached]]
    return _Piece(
        n_routers[own].astype(np.uint8),
        vantage[own].astype(np.int32),
        targets[own, 0],
        targets[own, 1],
        n_hops[own],
        reached[own],
        direct[own],
        target_rtt[own],
        code.astype(np.uint32),
        traces.rtt_ms[keep],
    )


class _Buckets:
    """Pieces on disk, by runs of vantage points; a context manager that closes its files."""

    def __init__(self, folder: Path, n_buckets: int, n_vantages: int) -> None:
        self._n_vantages = n_vantages
        self._locks = [threading.Lock() for _ in range(n_buckets)]
        with contextlib.ExitStack() as stack:  # closes those that are open if one cannot be opened
            self._files: list[BinaryIO] = [
                stack.enter_context((folder / f"{i}.paths").open("w+b")) for i in range(n_buckets)
            ]
            self._open = stack.pop_all()

    def __enter__(self) -> _Buckets:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, piece: _Piece) -> None:
        if len(self._files) == 1:
            self._write(0, piece)
            return
        bucket = piece.vantage.astype(np.int64) * len(self._files) // self._n_vantages
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(len(self._files) + 1))
        for i in np.flatnonzero(np.diff(bounds)).tolist():
            self._write(i, piece.take(order[bounds[i] : bounds[i + 1]]))

    def _write(self, i: int, piece: _Piece) -> None:
        columns = [getattr(piece, name) for name in (*_OF_TRACES, *_OF_HOPS)]
        counts = np.array([len(piece.vantage), len(piece.code)], np.int64)
        with self._locks[i]:
            for column in (counts, *columns):
                self._files[i].write(np.ascontiguousarray(column).data)

    def read(self, i: int) -> _Piece:
        """All of one bucket; its file is emptied."""
        pieces = list(self._pieces(self._files[i]))
        self._files[i].truncate(0)
        return _Piece(
            *(
                np.concatenate([np.empty(0, dtype), *(piece[name] for piece in pieces)])
                for name, dtype in (_OF_TRACES | _OF_HOPS).items()
            )
        )

    @staticmethod
    def _pieces(file: BinaryIO) -> Iterator[dict[str, np.ndarray]]:
        file.seek(0)
        while header := file.read(_HEADER):
            n_traces, n_hops = np.frombuffer(header, np.int64).tolist()
            piece: dict[str, np.ndarray] = {}
            for columns, n in ((_OF_TRACES, n_traces), (_OF_HOPS, n_hops)):
                for name, dtype in columns.items():
                    data = file.read(n * np.dtype(dtype).itemsize)
                    piece[name] = np.frombuffer(data, dtype)
            yield piece


def _grow_trees(piece: _Piece) -> tuple[Steps, np.ndarray]:
    """Steps of some traces, and the last step of each trace; one level of all trees at a time."""
    ptr = offsets(piece.n_routers)
    stands_at = piece.vantage.astype(np.int64)
    last = np.full(len(stands_at), FIRST, np.int64)
    levels = [empty(Steps)]
    n_steps = 0
    for level in range(int(piece.n_routers.max(initial=0))):
        going = np.flatnonzero(piece.n_routers > level)
        hop = ptr[going] + level
        keys = (stands_at[going] << 32) | piece.code[hop]
        distinct, step, n_traces = np.unique(keys, return_inverse=True, return_counts=True)
        from_step, code = distinct >> 32, distinct & 0xFFFF_FFFF
        rtt = np.full(len(distinct), np.nan, np.float32)
        np.fmin.at(rtt, step, piece.rtt[hop])
        before = levels[-1]  # the level before this one
        first = n_steps - len(before)
        levels.append(
            Steps(
                (before.vantage[from_step - first] if level else from_step).astype(np.int32),
                (from_step if level else np.full(len(distinct), FIRST)).astype(np.int32),
                (before.far[from_step - first] if level else np.full(len(distinct), FIRST)).astype(
                    np.int32
                ),
                (code >> 1).astype(np.int32),
                (code & 1).astype(bool),
                n_traces.astype(np.int32),
                rtt,
            )
        )
        stands_at[going] = last[going] = n_steps + step
        n_steps += len(distinct)
    return concat(levels), last


def _join_paths(piece: _Piece, last: np.ndarray) -> Paths:
    """One row for each vantage point, target and last step."""
    if not len(last):
        return empty(Paths)
    keys = (last, piece.target_low, piece.target_high, piece.vantage)
    order = np.lexsort(keys)
    differs = np.zeros(len(order), bool)
    differs[0] = True
    for key in keys:
        ordered = key[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(differs)
    first = order[starts]
    reached = piece.reached[order]
    any_reached = np.logical_or.reduceat(reached, starts)
    n_hops = piece.n_hops[order]
    lowest = np.minimum.reduceat(np.where(reached, n_hops, 255), starts)
    return Paths(
        piece.vantage[first],
        piece.target_high[first],
        piece.target_low[first],
        last[first].astype(np.int32),
        np.diff(starts, append=len(order)).astype(np.int32),
        np.where(any_reached, lowest, np.maximum.reduceat(n_hops, starts)).astype(np.uint8),
        np.fmin.reduceat(piece.target_rtt[order], starts),
        any_reached,
        np.logical_or.reduceat(piece.direct[order], starts),
    )


def _shift(part: tuple[Steps, Paths], n_before: int) -> tuple[Steps, Paths]:
    """The same behind that number of other steps."""
    steps, paths = part
    before = np.where(steps.before == FIRST, FIRST, steps.before + np.int32(n_before))
    step = np.where(paths.step == FIRST, FIRST, paths.step + np.int32(n_before))
    return (
        replace(steps, before=before.astype(np.int32)),
        replace(paths, step=step.astype(np.int32)),
    )


@contextlib.contextmanager
def collecting_paths(
    n_hops: int,
    node_of: np.ndarray,
    node_asn: np.ndarray,
    vantages: Vantages,
    number_of: np.ndarray,
    workers: int,
    scratch: Path | None,
) -> Iterator[Finding[None, Observations]]:
    """The paths of every vantage point; read in the context, which keeps scratch files.

    Parameters
    ----------
    n_hops : int
        Of all spools.
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
        Nodes of ``NO_ASN`` are in no step.
    vantages : Vantages
        Sorted.
    number_of : (n,) int64
        Position in these of each of ``Spools.vantages``, -1 for none.
    workers : int
        Threads that grow trees.
    scratch : Path or None
        Folder for routers, 8 bytes per hop and 28 per trace; nothing is left there. None: the
        system's.

    Raises
    ------
    StoreError
        If scratch files cannot be written.
    """
    in_as = np.where(node_asn[node_of] == NO_ASN, -1, node_of)
    # The last is for an address that is no router's: -1 is found there.
    in_as = np.append(in_as, -1)
    n_buckets = min(_MAX_BUCKETS, n_hops // _BUCKET_HOPS + 1)
    with (
        scratch_faults(scratch or Path(tempfile.gettempdir())),
        tempfile.TemporaryDirectory(prefix="paths-", dir=scratch) as folder,
        _Buckets(Path(folder), n_buckets, max(1, len(vantages))) as buckets,
    ):

        def step(_: None, batch: Batch) -> None:
            vantage = batch.of_vantage(number_of)
            buckets.add(_routers_of(batch.traces, vantage, batch.destinations, in_as))

        def grow(i: int) -> tuple[Steps, Paths]:
            piece = buckets.read(i)
            steps, last = _grow_trees(piece)
            return steps, _join_paths(piece, last)

        def end(_: list[None]) -> Observations:
            with ThreadPoolExecutor(workers) as pool:
                parts = list(pool.map(grow, range(n_buckets)))
            first = offsets([len(steps) for steps, _ in parts])
            parts = [_shift(part, n) for part, n in zip(parts, first.tolist(), strict=False)]
            return Observations(
                vantages,
                concat([steps for steps, _ in parts]),
                concat([paths for _, paths in parts]),
            )

        yield Finding(lambda: None, step, end)
