"""A shortest path through a graph in parts, by the levels of a search from its first node."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.csr import to_host
from kernels.partition.check import every_level
from kernels.partition.exchange import Collective
from kernels.partition.split import Part
from kernels.types import NODE


def shortest_path(part: Part, level: Any, last: int, collective: Collective) -> np.ndarray:
    """From the node at level 0 to ``last``; called by every rank.

    Parameters
    ----------
    part : Part
    level : (n_own,) int32
        Of own nodes; all levels are gathered, 4 bytes per node of the graph.
    last : int
        A node that was reached, by the graph's own number.
    collective : Collective

    Returns
    -------
    (n_path,) int32
        By the graph's own numbers, the same on all ranks; of the nodes that may come before one,
        the one with the smallest new number.
    """
    whole, rank = part.split, part.rank
    every = every_level(part, level, collective)
    first, after = (int(each) for each in whole.first[rank : rank + 2])
    number = int(whole.renumber(np.array([last]))[0])
    depth = int(every[number])
    path = np.full(depth + 1, -1, np.int64)  # own nodes, by level
    while True:
        while first <= number < after:
            path[depth] = number
            if depth == 0:
                break
            row = part.indptr[number - first : number - first + 2]
            heads = part.indices[int(row[0]) : int(row[1])]
            depth -= 1
            number = int(heads[every[heads] == depth].min())
        # The rank that owned the last node has gone farthest.
        reached = collective.gather(np.array([-depth, number], np.int64))
        depth, number = -int(reached[:, 0].max()), int(reached[reached[:, 0].argmax(), 1])
        if depth == 0 and collective.gather(np.array([path[0]], np.int64)).max() >= 0:
            break
    numbers = collective.gather(path).max(axis=0)
    return whole.original(to_host(numbers)).astype(NODE)
