"""The observer of a reading process: traces in, one small Observation out.

Each batch is cleaned by the single-trace rules (``rules``) and spooled to disk (``spool``);
addresses are interned (``address_table``). Memory grows with distinct addresses only.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline.infer.traces.address_table import AddressTable
from pipeline.infer.traces.counting import PairCounter
from pipeline.infer.traces.rules import CUT, DESTINATION, Hops, clean_traces
from pipeline.infer.traces.spool import (
    CLASSIC,
    FURTHER,
    Block,
    SpoolWriter,
    save_array,
    scratch_faults,
)
from pipeline.model.columns.keys import split_key
from pipeline.model.measured.traces import CLASSIC_TRACE, PART_CUT, PART_FURTHER, TraceBatch

# Replies cleaned at a time; a larger batch is cut, so that its hops fit one block of a spool.
_MAX_REPLIES = 1 << 18
_LAST_START = (1 << 32) - 1  # in seconds since 1970: 2106


@dataclass(frozen=True)
class Observation:
    """Observations from some files; small, picklable, valid while its scratch files exist.

    Attributes
    ----------
    spool : Path
        Cleaned traces (``pipeline.infer.traces.spool``).
    addrs : Path
        ``.npy`` of (n_addrs, 2) uint64: address of each number in the spool.
    roles : Path
        ``.npy`` of (n_addrs,) uint8: bits of ``rules``, as what each address answered.
    early : Path
        ``.npy`` of (n_early, 2) int32: early pairs (``early``), as two numbers; in the spool, the
        i-th stands for its first as -1 - i.
    vantages : Path
        ``.npy`` of (n_vantages, 2) uint64: where traces came from.
    blocks : tuple of Block
    n_addrs, n_traces, n_hops : int
    counts : dict of str to int
        What the single-trace rules counted.
    """

    spool: Path
    addrs: Path
    roles: Path
    early: Path
    vantages: Path
    blocks: tuple[Block, ...] = ()
    n_addrs: int = 0
    n_traces: int = 0
    n_hops: int = 0
    counts: dict[str, int] = field(default_factory=dict)


class Observer:
    """Takes batches of traces of one file or of several.

    Parameters
    ----------
    scratch : Path
        An existing folder for spool files. They are the caller's to delete, after
        ``infer_topology``.

    Raises
    ------
    StoreError
        By any method, if scratch files cannot be written; nothing can be added after that.
    """

    def __init__(self, scratch: Path) -> None:
        with scratch_faults(scratch):
            self._folder = Path(tempfile.mkdtemp(prefix="observed-", dir=scratch))
        self._writer = SpoolWriter(self._folder / "traces.spool")
        self._table = AddressTable()
        self._vantages = AddressTable()
        self._role = np.zeros(0, np.uint8)
        self._early = PairCounter(1)
        self._counts: Counter[str] = Counter()
        self._n_traces = 0
        self._n_hops = 0

    def add(self, batch: TraceBatch) -> None:
        """Clean and spool the traces of one batch."""
        self._n_traces += batch.n_measurements
        self._counts["classic_traces"] += batch.n_classic
        n_rows = 0
        while n_rows < batch.n_traces:
            limit = int(batch.reply_ptr[n_rows]) + _MAX_REPLIES
            end = int(np.searchsorted(batch.reply_ptr, limit, side="right")) - 1
            end = max(end, n_rows + 1)
            self._add_rows(batch, n_rows, end)
            n_rows = end

    def _add_rows(self, batch: TraceBatch, start: int, end: int) -> None:
        vantage = self._vantages.intern(batch.src_addr[start:end])
        rows = slice(int(batch.reply_ptr[start]), int(batch.reply_ptr[end]))
        addr = np.ascontiguousarray(batch.addr[rows], np.uint64)
        ids = self._table.intern(addr)
        if len(self._role) < len(self._table):
            grown = np.zeros(2 * len(self._table), np.uint8)
            grown[: len(self._role)] = self._role
            self._role = grown
        n_replies = len(addr)
        hop_count = np.empty(end - start, np.uint8)
        flags = np.empty(end - start, np.uint8)
        hops = Hops(
            np.empty(n_replies, np.int32),
            np.empty(n_replies, np.uint8),
            np.empty(n_replies, np.float32),
            np.empty(n_replies, np.uint8),
            np.empty(n_replies, np.uint8),
        )
        reply_ttl = np.zeros(n_replies, np.uint8)
        if batch.reply_ttl is not None:
            reply_ttl = np.ascontiguousarray(batch.reply_ttl[rows], np.uint8)
        dst_addr = np.ascontiguousarray(batch.dst_addr[start:end], np.uint64)
        self._early.reserve(len(addr) // 2)  # each is of two replies
        n_hops, self._early.n_used, counts = clean_traces(
            np.ascontiguousarray(batch.reply_ptr[start : end + 1], np.int64) - rows.start,
            np.ascontiguousarray(batch.ttl[rows], np.uint8),
            ids,
            addr,
            np.ascontiguousarray(batch.rtt_ms[rows], np.float32),
            np.ascontiguousarray(batch.kind[rows], np.uint8),
            reply_ttl,
            dst_addr,
            hop_count,
            flags,
            hops,
            self._role,
            self._early.keys,
            self._early.counts,
            self._early.n_used,
        )
        if batch.part is not None:
            part = batch.part[start:end]
            flags[(part & PART_CUT > 0) & (flags != DESTINATION)] = CUT
            flags[part & CLASSIC_TRACE > 0] |= CLASSIC
            further = part & PART_FURTHER > 0
            vantage[further] = FURTHER - vantage[further]
        self._writer.add(
            hop_count,
            flags,
            hops.ttl[:n_hops],
            hops.id[:n_hops],
            hops.rtt[:n_hops],
            dst_addr,
            vantage,
            np.clip(np.nan_to_num(batch.start_s[start:end]), 0, _LAST_START).astype(np.uint32),
            hops.kind[:n_hops],
            hops.reply_ttl[:n_hops],
        )
        self._counts.update(counts._asdict())
        self._n_hops += n_hops

    def close(self) -> Observation:
        """Write what is left; no batch may follow."""
        self._writer.close()
        addrs, roles = self._folder / "addrs.npy", self._folder / "roles.npy"
        early, vantages = self._folder / "early.npy", self._folder / "vantages.npy"
        pairs, number = self._early.rows()
        with scratch_faults(self._folder):
            for path, array in (
                (addrs, self._table.addrs),
                (roles, self._role[: len(self._table)]),
                (early, np.stack(split_key(pairs[np.argsort(number[:, 0])]), 1).astype(np.int32)),
                (vantages, self._vantages.addrs),
            ):
                with path.open("wb") as file:
                    save_array(file, array)
        return Observation(
            self._writer.path,
            addrs,
            roles,
            early,
            vantages,
            tuple(self._writer.blocks),
            len(self._table),
            self._n_traces,
            self._n_hops,
            dict(self._counts),
        )


def compile_kernels() -> None:
    """Compile what observing needs, or load it from numba's cache."""
    addrs = np.array([[0, 0xFFFF_C000_0201]], np.uint64)  # 192.0.2.1
    batch = TraceBatch(
        src_addr=np.zeros((1, 2), np.uint64),
        dst_addr=addrs,
        start_s=np.zeros(1),
        reply_ptr=np.array([0, 1], np.int64),
        ttl=np.ones(1, np.uint8),
        addr=addrs,
        rtt_ms=np.ones(1, np.float32),
        kind=np.zeros(1, np.uint8),
    )
    with tempfile.TemporaryDirectory() as folder:
        observer = Observer(Path(folder))
        observer.add(batch)
        observer.close()
