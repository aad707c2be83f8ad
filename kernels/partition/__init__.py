"""One graph over several ranks, each with a part of its nodes and their arcs.

For graphs that one device cannot hold; a search of a graph that fits is faster on one. Ranks are
threads on cores, or processes with one GPU each that exchange through NCCL.
"""

from __future__ import annotations

from kernels.partition.exchange import (
    DEADLINE_S,
    Collective,
    ExchangeError,
    thread_collectives,
)
from kernels.partition.profile import Profile
from kernels.partition.rank import Rank, gpu_collective, gpu_name
from kernels.partition.search import PartResult, search
from kernels.partition.split import (
    Part,
    Split,
    block_of,
    deal,
    part_of,
    rows_of,
    split,
)
from kernels.partition.steps import Steps

__all__ = [
    "DEADLINE_S",
    "Collective",
    "ExchangeError",
    "Part",
    "PartResult",
    "Profile",
    "Rank",
    "Split",
    "Steps",
    "block_of",
    "deal",
    "gpu_collective",
    "gpu_name",
    "part_of",
    "rows_of",
    "search",
    "split",
    "thread_collectives",
]
