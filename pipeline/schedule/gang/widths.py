"""What a rank returns of its widths: no value per node that was not requested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernels.types import NODE

NO_NODES = np.empty(0, NODE)


@dataclass(frozen=True, eq=False)
class RankWidths:
    """Of one rank.

    Attributes
    ----------
    whole : kernels.partition.widths.PartWidths or None
        What is the same on all ranks, without the rank's own nodes; rank 0 alone has it.
    center, periphery : (n,) int32
        Own nodes of the largest component, ascending, where it is answered and they were requested.
    counts : (n_levels,) int64
        Own nodes of the largest component by eccentricity; so, too.
    nodes : (n,) int32; eccentricity : (n,) uint8, uint16 or int32
        Own nodes and theirs, where all of them are exact and were requested.
    """

    whole: Any
    center: np.ndarray
    periphery: np.ndarray
    counts: np.ndarray
    nodes: np.ndarray
    eccentricity: np.ndarray


def brought(found: Any, rank: int) -> RankWidths:
    """From ``kernels.partition.widths.PartWidths`` of a rank."""
    c = found.largest
    is_answered, own = bool(found.exact[c]), found.component == c

    def members(is_member: np.ndarray | None) -> np.ndarray:
        return found.nodes[is_member & own] if is_answered and is_member is not None else NO_NODES

    counts, nodes, every = np.empty(0, np.int64), NO_NODES, np.empty(0, np.uint8)
    if found.eccentricity is not None:
        if is_answered:
            counts = np.bincount(found.eccentricity[own]).astype(np.int64)
        if found.exact.all():
            nodes, every = found.nodes, narrowed(found.eccentricity)
    none = dict.fromkeys(("eccentricity", "is_center", "is_periphery"))
    bare = replace(found, nodes=NO_NODES, component=NO_NODES, **none)
    center, periphery = members(found.is_center), members(found.is_periphery)
    return RankWidths(bare if rank == 0 else None, center, periphery, counts, nodes, every)


def narrowed(eccentricity: np.ndarray) -> np.ndarray:
    """In the narrowest type whose largest value none has."""
    longest = int(eccentricity.max(initial=0))
    kind = np.uint8 if longest < 255 else np.uint16 if longest < 65535 else np.int32
    return eccentricity.astype(kind)


def of_all_nodes(ends: Sequence[RankWidths]) -> np.ndarray:
    """Eccentricities by node, from those of all ranks; none if they have none."""
    kind = np.result_type(*(end.eccentricity for end in ends))
    every = np.empty(sum(len(end.nodes) for end in ends), kind)
    for end in ends:
        every[end.nodes] = end.eccentricity
    return every


def counts_of_all(ends: Sequence[RankWidths]) -> np.ndarray:
    """(n_levels,) int64: nodes by eccentricity."""
    total = np.zeros(max(len(end.counts) for end in ends), np.int64)
    for end in ends:
        total[: len(end.counts)] += end.counts
    return total
