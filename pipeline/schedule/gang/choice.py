"""Which ASes are searched in parts over several workers, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.csr import MAX_NODES
from pipeline.model.words import number
from pipeline.schedule.plan.costs import ARC_BYTES, NODE_BYTES, SHARE_OF_GPU, card_bytes

# Per node of the whole graph on each rank: 24 for the words of a sweep, 1/2 for the maps of a
# search, 8 for labels of components for a moment; per own node: levels, bounds, what was found.
RANK_NODE_BYTES, OWN_NODE_BYTES = 33, 70
ARCS_A_NODE = 4  # two links each, for examples


@dataclass(frozen=True)
class Choice:
    """One AS that goes over several workers.

    Attributes
    ----------
    at : int
        Position among the given rows.
    n_ranks : int
    reason : str
        For people: "requested", or what does not fit where.
    """

    at: int
    n_ranks: int
    reason: str


def rank_bytes(n_nodes: int, n_arcs: int, n_ranks: int) -> int:
    """Bytes of GPU memory for an AS on each of some cards."""
    own_nodes, own_arcs = -(-n_nodes // n_ranks), -(-n_arcs // n_ranks)
    own = (NODE_BYTES + OWN_NODE_BYTES) * own_nodes + ARC_BYTES * own_arcs
    return own + RANK_NODE_BYTES * n_nodes


def choose(
    n_nodes: Sequence[int] | np.ndarray,
    n_arcs: Sequence[int] | np.ndarray,
    *,
    partition: int | None,
    gpu_bytes: Sequence[int],
) -> list[Choice]:
    """Choose the ASes, the largest first.

    Parameters
    ----------
    n_nodes, n_arcs : (n_rows,) integers
    partition : int or None
        Ranks that the user requests: then every AS with links; None: only where an AS does not fit
        on one GPU.
    gpu_bytes : sequence of int
        Memory of the GPUs that tasks may use, one for each worker that has one.

    Returns
    -------
    list of Choice
        An AS that fits on one GPU, or not even on all of them, is in none: the former is faster
        on one, and the latter is searched on one with its arcs in host memory, or on cores.
    """
    sizes = list(zip(map(int, n_nodes), map(int, n_arcs), strict=True))
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i][1])
    if partition is not None:
        return [Choice(i, partition, "requested") for i in order if sizes[i][1]]
    if len(gpu_bytes) < 2:
        return []
    room = int(SHARE_OF_GPU * min(gpu_bytes))
    chosen = []
    for i in order:
        needed = card_bytes(*sizes[i])
        if needed <= room:
            continue
        for n_ranks in range(2, len(gpu_bytes) + 1):
            if rank_bytes(*sizes[i], n_ranks) <= room:
                reason = (
                    f"needs {needed / 2**30:,.1f} GiB, and {room / 2**30:,.1f} GiB of a GPU may be "
                    f"used; {number(n_ranks, 'GPU')} hold it in parts"
                )
                chosen.append(Choice(i, n_ranks, reason))
                break
    return chosen


def explain(gpu_bytes: Sequence[int]) -> str:
    """Which ASes go over several of these GPUs, for people."""
    if not gpu_bytes:
        return "no GPU: an AS is divided over several workers only with --partition N"
    room = int(SHARE_OF_GPU * min(gpu_bytes))
    n_ranks, others = len(gpu_bytes), "all others only with --partition N"
    n_nodes = min(room // card_bytes(1, ARCS_A_NODE), MAX_NODES)
    held = f"a GPU holds an AS of some {n_nodes / 1e6:,.0f} M routers with two links each"
    if n_ranks == 1:
        return f"{held}; larger ones keep their links in host memory, or are searched on cores"
    of_ranks = rank_bytes(n_ranks, n_ranks * ARCS_A_NODE, n_ranks) / n_ranks
    in_parts = min(int(room / of_ranks), MAX_NODES)
    gpus = number(n_ranks, "GPU")
    if in_parts <= n_nodes:
        return f"{held}; {gpus} hold a larger one in parts if it has more links, {others}"
    most = f"up to {in_parts / 1e6:,.0f} M routers"
    return f"{held}; larger ones, {most}, are divided over {gpus} or fewer, {others}"
