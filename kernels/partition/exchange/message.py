"""What a rank tells all others at each level, in one message of a fixed size.

Nodes and arcs of its own part of the frontier, and, where these are at most ``small`` arcs, the
nodes of other ranks that these arcs led to. Where that holds for all ranks, the level is done with
one exchange. int64: nodes, arcs, how many are listed, unused ones up to HEAD, then int32 numbers.
"""

from __future__ import annotations

from typing import Any

from kernels.partition.constants import HEAD
from kernels.types import NODE

SMALL = 2016  # arcs: a message is 8 KiB then, which takes NCCL hardly longer than one of 16 bytes
N_COUNTS = 2  # nodes and arcs, which all hosts get
LINE = 128  # bytes: whatever travels is a multiple of it in size, except bitmaps


def length(small: int) -> int:
    """int64 of a message."""
    return HEAD + items(small) // 2


def items(least: int) -> int:
    """Items of four bytes, in whole lines: at least ``least`` of them."""
    each = LINE // NODE.itemsize
    return -(-least // each) * each


def listed(message: Any) -> Any:
    """Room for the list of a message, int32."""
    return message[HEAD:].view(NODE)
