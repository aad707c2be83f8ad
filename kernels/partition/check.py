"""Certificate of levels whose graph lies in parts: each rank checks its own rows.

The conditions are those of ``breadth_first.check``; together the ranks check every arc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64
from kernels.errors import CheckError
from kernels.partition.exchange import Collective
from kernels.partition.search import PartResult
from kernels.partition.split import Part
from kernels.stated import stated_node
from kernels.types import UNREACHED


def check_part(part: Part, source: int, result: PartResult, collective: Collective) -> None:
    """Raise CheckError on every rank unless the levels are the hop distances from ``source``.

    Called by all ranks, each with its own result; all levels are gathered, 4 bytes per node.

    Parameters
    ----------
    part : Part
        Its arrays may be on a GPU, and then are those that were searched.
    source : int
        By the graph's own number.
    """
    whole, first = part.split, part.split.first
    source = stated_node("source", source, whole.n_nodes)
    number = int(whole.renumber(np.array([source]))[0])
    rank = part.rank
    every = every_level(part, result.level, collective)
    if isinstance(every, np.ndarray):
        n_faults: Any = np.array(
            [_count_faults(part.indptr, part.indices, number, first[rank], every)]
        )
    else:
        from kernels.partition import gpu

        n_faults = gpu.count_faults(part.indptr, part.indices, number, int(first[rank]), every)
    counts = collective.gather(n_faults)[:, 0]
    if counts.any():
        raise CheckError(
            f"source {source}: the levels of {int(counts.sum())} nodes contradict their rows, "
            f"by rank {counts.tolist()}"
        )


def every_level(part: Part, level: Any, collective: Collective) -> Any:
    """(n_numbers,) int32 levels of all nodes by their new numbers, on the rank's device.

    ``level``: those of the rank's own nodes.
    """
    first, rank = part.split.first, part.rank
    if isinstance(level, np.ndarray):
        every: Any = np.empty(int(first[-1]), np.int32)
    else:
        import cupy

        every = cupy.empty(int(first[-1]), np.int32)
    slices = [every[first[r] : first[r + 1]] for r in range(part.split.n_ranks)]
    slices[rank][...] = level
    others = [None if r == rank else each for r, each in enumerate(slices)]
    outgoing = [None if each is None else slices[rank] for each in others]
    collective.swap(outgoing, others)
    return every


@njit([types.int64(I64, I32, types.int64, types.int64, I32)], cache=True, nogil=True)
def _count_faults(indptr, indices, source, first, level):
    faults = 0
    for v in range(indptr.size - 1):
        own = level[first + v]
        is_wrong, has_parent = False, False
        for arc in range(indptr[v], indptr[v + 1]):
            other = level[indices[arc]]
            if own < 0:
                is_wrong |= other >= 0
            else:
                is_wrong |= other < 0 or other > own + 1
                has_parent |= own > 0 and other == own - 1
        if first + v == source:
            is_wrong |= own != 0
        else:
            is_wrong |= own == 0 or own < UNREACHED or (own > 0 and not has_parent)
        faults += is_wrong
    return faults
