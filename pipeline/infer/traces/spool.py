"""Cleaned traces on disk, 10 or 11 bytes per hop, 26 per trace: memory never grows with traces.

A spool is a run of blocks; a block holds some traces as flat columns, one after another:
hops of each trace (uint8), flags of each trace (uint8), TTL of each hop (uint8), address number
(int32), RTT in ms (float32), destination of each trace (2 uint64), its vantage point (int32), its
start (uint32, seconds since 1970 UTC, 0 unknown), the kind of each hop's reply (uint8), and, where
it is known of any hop, the TTL that was left of each reply (uint8). It is scratch: written and read
by the same run, never kept.

A fault of the scratch disk is a ``StoreError``, never an ``OSError``: it must not be taken for a
fault of the input. A writer that has failed refuses everything, since its content is unknown.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np

from pipeline.errors import StoreError, is_no_room, remedy_for, said_by_system

# Hops at which a block is cut: 2.3 MB, small compared with the tables, large for one call.
BLOCK_HOPS = 1 << 18
# In place of a vantage point: no trace of its own. In a spool, ``FURTHER - i`` is one from point i.
FURTHER = -2
CLASSIC = 4  # bit beside the flags of ``rules``: by a classic method


@contextlib.contextmanager
def scratch_faults(folder: Path) -> Iterator[None]:
    """Report errors of the disk as faults of the scratch folder.

    Raises
    ------
    StoreError
        In place of an OSError: the folder, the reason and what to do.
    """
    try:
        yield
    except OSError as error:
        reason = said_by_system(error)
        fault = "scratch files cannot be written or read"
        remedy = "check the folder and its disk"
        if is_no_room(error):
            fault = "no room for scratch files"
            remedy = remedy_for(error, "free space or use a larger disk")
        raise StoreError(f"{folder}: {fault}: {reason}; {remedy}") from error


def save_array(file: IO[bytes], array: np.ndarray) -> None:
    """``np.save``, but a full disk is reported as one.

    NumPy writes to a real file through C's own buffer, and if that cannot be flushed it only says
    how many items were "requested and written".
    """
    array = np.ascontiguousarray(array)
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, header)
    file.write(array.data)


@dataclass(frozen=True)
class Block:
    """Where some traces lie in a spool file."""

    offset: int
    n_traces: int
    n_hops: int
    has_reply_ttl: bool = False  # of a hop


@dataclass(frozen=True, eq=False)
class Traces:
    """Cleaned traces in memory.

    Attributes
    ----------
    hop_ptr : (n_traces + 1,) int64
        Hops of trace i are rows hop_ptr[i]:hop_ptr[i + 1], by ascending TTL.
    flags : (n_traces,) uint8
        ``rules.DESTINATION`` where the last hop is the destination's own reply; ``rules.CUT``.
    ttl : (n_hops,) uint8; ids : (n_hops,) int32; rtt_ms : (n_hops,) float32
    classic : (n_traces,) bool
        By a method that changes the flow from probe to probe.
    kind : (n_hops,) uint8
        KIND_* of the reply, with ``LABELLED``.
    reply_ttl : (n_hops,) uint8 or None
        TTL that was left of the reply, 0 where unknown. None: nowhere known.
    """

    hop_ptr: np.ndarray
    flags: np.ndarray
    ttl: np.ndarray
    ids: np.ndarray
    rtt_ms: np.ndarray
    classic: np.ndarray
    kind: np.ndarray
    reply_ttl: np.ndarray | None = None

    def without(self, hops: np.ndarray) -> Traces:
        """The same, as if some of the hops had not answered; ``hops``: (n_hops,) bool."""
        if not hops.any():
            return self
        kept = ~hops
        n_kept = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=n_kept[1:])
        return Traces(
            n_kept[self.hop_ptr],
            self.flags,
            self.ttl[kept],
            self.ids[kept],
            self.rtt_ms[kept],
            self.classic,
            self.kind[kept],
            None if self.reply_ttl is None else self.reply_ttl[kept],
        )


class SpoolWriter:
    """Collects cleaned traces and writes them block by block.

    Every method raises ``StoreError`` if the disk is at fault, and so does every later call.

    Attributes
    ----------
    path : Path
    blocks : list of Block
        Those that were written whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blocks: list[Block] = []
        with scratch_faults(path.parent):
            self._file: BinaryIO = path.open("wb")
        self._fault = ""
        self._pending: list[tuple[np.ndarray, ...]] = []
        self._n_hops = 0

    def add(
        self,
        hop_count: np.ndarray,
        flags: np.ndarray,
        ttl: np.ndarray,
        ids: np.ndarray,
        rtt_ms: np.ndarray,
        dst_addr: np.ndarray,
        vantage: np.ndarray,
        start_s: np.ndarray,
        kind: np.ndarray,
        reply_ttl: np.ndarray,
    ) -> None:
        """Append traces; arrays are kept until their block is written, and must not change.

        ``vantage``: (n_traces,) int32; ``start_s``: (n_traces,) uint32; ``kind``, ``reply_ttl``:
        (n_hops,) uint8; ``flags``: with ``CLASSIC``.
        """
        self._refuse_after_a_fault()
        columns = hop_count, flags, ttl, ids, rtt_ms, dst_addr, vantage, start_s, kind, reply_ttl
        self._pending.append(columns)
        self._n_hops += len(ttl)
        if self._n_hops >= BLOCK_HOPS:
            self._flush()

    def close(self) -> None:
        """Write what is left."""
        self._refuse_after_a_fault()
        if self._pending:
            self._flush()
        with self._fails_once():
            self._file.close()  # writes the last bytes

    def _flush(self) -> None:
        columns = [np.concatenate(parts) for parts in zip(*self._pending, strict=True)]
        has_reply_ttl = bool(columns[-1].any())
        if not has_reply_ttl:
            columns.pop()
        with self._fails_once():
            offset = self._file.tell()
            for column in columns:
                self._file.write(column.data)
        self.blocks.append(Block(offset, len(columns[0]), len(columns[2]), has_reply_ttl))
        self._pending, self._n_hops = [], 0

    @contextlib.contextmanager
    def _fails_once(self) -> Iterator[None]:
        try:
            with scratch_faults(self.path.parent):
                yield
        except StoreError as error:
            self._fault = str(error)
            self._pending, self._n_hops = [], 0
            with contextlib.suppress(OSError):  # the same fault again, from its buffer
                self._file.close()
            raise

    def _refuse_after_a_fault(self) -> None:
        if self._fault:
            raise StoreError(self._fault)


def read_block(path: Path, block: Block) -> Traces:
    """Read one block of a spool."""
    with path.open("rb") as file:
        file.seek(block.offset)
        data = file.read(2 * block.n_traces + 9 * block.n_hops)
        file.seek(24 * block.n_traces, os.SEEK_CUR)
        kind = np.frombuffer(file.read(block.n_hops), np.uint8)
        reply_ttl = None
        if block.has_reply_ttl:
            reply_ttl = np.frombuffer(file.read(block.n_hops), np.uint8)
    traces, hops = block.n_traces, block.n_hops
    hop_ptr = np.zeros(traces + 1, np.int64)
    np.cumsum(np.frombuffer(data, np.uint8, traces), out=hop_ptr[1:])
    at = 2 * traces
    flags = np.frombuffer(data, np.uint8, traces, traces)
    return Traces(
        hop_ptr,
        flags & ~np.uint8(CLASSIC),
        np.frombuffer(data, np.uint8, hops, at),
        np.frombuffer(data, np.int32, hops, at + hops),
        np.frombuffer(data, np.float32, hops, at + 5 * hops),
        flags & CLASSIC > 0,
        kind,
        reply_ttl,
    )


def read_destinations(path: Path, block: Block) -> np.ndarray:
    """(n_traces, 2) uint64: what each trace of a block was aimed at."""
    at = 2 * block.n_traces + 9 * block.n_hops
    return _column(path, block, at, np.uint64, 2 * block.n_traces).reshape(-1, 2)


def read_vantages(path: Path, block: Block) -> np.ndarray:
    """(n_traces,) int32: number of the vantage point of each trace of a block.

    ``FURTHER`` or less: the trace is a further path of a measurement, which begins where it leaves
    another; from ``FURTHER`` minus that.
    """
    at = 18 * block.n_traces + 9 * block.n_hops
    return _column(path, block, at, np.int32, block.n_traces)


def read_starts(path: Path, block: Block) -> np.ndarray:
    """(n_traces,) uint32: when each trace of a block began, seconds since 1970 UTC; 0 unknown."""
    at = 22 * block.n_traces + 9 * block.n_hops
    return _column(path, block, at, np.uint32, block.n_traces)


def _column(path: Path, block: Block, at: int, dtype: type, n: int) -> np.ndarray:
    with path.open("rb") as file:
        file.seek(block.offset + at)
        return np.frombuffer(file.read(n * np.dtype(dtype).itemsize), dtype)
