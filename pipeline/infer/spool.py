"""Cleaned traces on disk, 9 bytes a hop, so that memory never grows with traces.

A spool is a run of blocks; a block holds some traces as five flat columns, one after another:
hops of each trace (uint8), flags of each trace (uint8), TTL of each hop (uint8), address number
(int32), RTT in ms (float32). It is scratch: written and read by the same run, never kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

# Hops a block is cut at: 2.3 MB, small beside the tables, large beside a call.
BLOCK_HOPS = 1 << 18


@dataclass(frozen=True)
class Block:
    """Where some traces lie in a spool file."""

    offset: int
    n_traces: int
    n_hops: int


@dataclass(frozen=True, eq=False)
class Traces:
    """Cleaned traces in memory.

    Attributes
    ----------
    hop_ptr : (n_traces + 1,) int64
        Hops of trace i are rows hop_ptr[i]:hop_ptr[i + 1], by ascending TTL.
    flags : (n_traces,) uint8
        ``cleaning.DESTINATION`` where the last hop is the destination's own reply.
    ttl : (n_hops,) uint8; ids : (n_hops,) int32; rtt_ms : (n_hops,) float32
    """

    hop_ptr: np.ndarray
    flags: np.ndarray
    ttl: np.ndarray
    ids: np.ndarray
    rtt_ms: np.ndarray


class SpoolWriter:
    """Collects cleaned traces and writes them block by block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blocks: list[Block] = []
        self._file: BinaryIO = path.open("wb")
        self._pending: list[tuple[np.ndarray, ...]] = []
        self._n_hops = 0

    def add(
        self,
        hop_count: np.ndarray,
        flags: np.ndarray,
        ttl: np.ndarray,
        ids: np.ndarray,
        rtt_ms: np.ndarray,
    ) -> None:
        """Append traces; arrays are kept until their block is written, and must not change."""
        self._pending.append((hop_count, flags, ttl, ids, rtt_ms))
        self._n_hops += len(ttl)
        if self._n_hops >= BLOCK_HOPS:
            self._flush()

    def close(self) -> None:
        """Write what is left."""
        if self._pending:
            self._flush()
        self._file.close()

    def _flush(self) -> None:
        columns = [np.concatenate(parts) for parts in zip(*self._pending, strict=True)]
        self.blocks.append(Block(self._file.tell(), len(columns[0]), len(columns[2])))
        for column in columns:
            self._file.write(column.data)
        self._pending, self._n_hops = [], 0


def read_block(path: Path, block: Block) -> Traces:
    """Read one block of a spool."""
    with path.open("rb") as file:
        file.seek(block.offset)
        data = file.read(2 * block.n_traces + 9 * block.n_hops)
    traces, hops = block.n_traces, block.n_hops
    hop_ptr = np.zeros(traces + 1, np.int64)
    np.cumsum(np.frombuffer(data, np.uint8, traces), out=hop_ptr[1:])
    at = 2 * traces
    return Traces(
        hop_ptr,
        np.frombuffer(data, np.uint8, traces, traces),
        np.frombuffer(data, np.uint8, hops, at),
        np.frombuffer(data, np.int32, hops, at + hops),
        np.frombuffer(data, np.float32, hops, at + 5 * hops),
    )
