"""Pairs of nodes that no landmark keeps close together.

A landmark z bounds the distance of every pair: d(x, y) <= d(x, z) + d(z, y) (Potamias et al.: Fast
shortest path distance estimation in large networks, CIKM 2009). One sweep gives the distances of
64 landmarks. So instead of searching each node that may be one end of a longer shortest path, look
at pairs of such nodes: a pair that some landmark shows to be at most L apart has no such path, and
most pairs of far nodes have a hub about half-way. Few pairs are left; one node of each is searched.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, OUT_I32, returns
from kernels.types import NODE

N_LANDMARKS = 64  # of a component: one word per node and level
ROOM = 1 << 16  # pairs that are worth a list: more remain only if bounds do not help
COLUMNS, ROWS = 64, 16  # nodes of a block, which is looked at as a whole first
_NEAR = types.Array(types.uint64, 2, "C", readonly=True)


def choose_landmarks(
    component: np.ndarray, degree: np.ndarray, is_wanted: np.ndarray
) -> np.ndarray:
    """The nodes of highest degree, up to N_LANDMARKS of each component that ``is_wanted``."""
    chosen = []
    for c in np.flatnonzero(is_wanted):
        own = np.flatnonzero(component == c) if len(is_wanted) > 1 else np.arange(len(component))
        n = min(N_LANDMARKS, len(own))
        chosen.append(own[np.argpartition(-degree[own], n - 1)[:n]])
    return np.concatenate(chosen).astype(NODE)


def far_pairs(
    near: np.ndarray, rows: np.ndarray, columns: np.ndarray, longest: int, most_steps: float
) -> tuple[tuple[np.ndarray, np.ndarray] | None, int]:
    """Pairs of a row and a column that no landmark keeps within ``longest`` hops.

    Parameters
    ----------
    near : (n_levels, n_nodes) uint64
        Bit l of near[j, i]: landmark l is within j hops of node i; in the last row every bit that
        is used.
    rows, columns : (n_rows,), (n_columns,) integers
        Nodes by their place in ``near``; of one component.
    longest : int
    most_steps : float
        Levels of a pair, or of a block of them, that may be looked at; a pair of a long graph that
        no landmark keeps close takes as many as ``longest``.

    Returns
    -------
    ((2, n_pairs) integers and (n_pairs,) int32) or None
        The pairs by place, some perhaps twice, in both orders, and how far apart landmarks allow
        them to be; None if there are more than ROOM, or it took too many steps.
    int
        Steps that it took.
    """
    # Nodes near the same landmarks side by side: then whole blocks are covered at once.
    rows, columns = (_by_nearest(near, nodes) for nodes in (rows, columns))
    of_columns = np.ascontiguousarray(near[:, columns])
    of_rows = np.ascontiguousarray(near[:, rows])
    blocks = _all_of_blocks(of_columns, COLUMNS)
    row_blocks = _all_of_blocks(of_rows, ROWS)
    first, second, apart = (np.empty(ROOM, np.int32) for _ in range(3))
    found = (first, second, apart)
    n, n_steps = list_pairs(
        of_rows, row_blocks, of_columns, blocks, rows, columns, longest, int(most_steps), *found
    )
    if n < 0:
        return None, n_steps
    return (np.stack([first[:n], second[:n]]), apart[:n]), n_steps


def _by_nearest(near: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Nodes in an order in which those with the same nearest landmarks are neighbours."""
    own = near[:, nodes]
    level = (own != 0).argmax(axis=0)
    order = np.lexsort((own[level, np.arange(len(nodes))], level))
    return nodes[order].astype(np.int32)


def _all_of_blocks(near: np.ndarray, size: int) -> np.ndarray:
    """Landmarks that all nodes of a block are near to."""
    starts = np.arange(0, near.shape[1], size)
    return np.bitwise_and.reduceat(near, starts, axis=1)


@njit(cache=True, nogil=True)
def _is_covered(near, v, others, x, longest):
    """Whether a landmark is within j hops of v and longest - j of x; and steps taken."""
    last = near.shape[0] - 1
    seen = np.uint64(0)
    for j in range(min(longest, last) + 1):
        at_j = near[j, v] & ~seen  # a landmark is best used at exactly its distance
        seen |= at_j
        if at_j & others[min(longest - j, last), x]:
            return True, j + 1
    return False, min(longest, last) + 1


@njit(
    [returns(2)(*[_NEAR] * 4, I32, I32, types.int64, types.int64, OUT_I32, OUT_I32, OUT_I32)],
    cache=True,
    nogil=True,
)
def list_pairs(
    near, row_blocks, others, blocks, rows, columns, longest, most_steps, first, second, apart
):
    """Fill ``first``, ``second`` and ``apart``; the number of pairs, and steps taken.

    -1 pairs: more pairs than there is room for, or too many steps. ``near`` and ``others``: of rows
    and columns; ``row_blocks`` and ``blocks``: of blocks of them.
    """
    n_found, n_steps = np.int64(0), np.int64(0)
    last, n_blocks = near.shape[0] - 1, blocks.shape[1]
    covered = np.empty(n_blocks, np.uint64)
    for row_block in range(row_blocks.shape[1]):
        covered[:] = 0
        seen = np.uint64(0)
        n_steps += min(longest, last) + n_blocks
        for j in range(min(longest, last) + 1):
            at_j = row_blocks[j, row_block] & ~seen
            seen |= at_j
            if at_j != 0:
                reach = blocks[min(longest - j, last)]
                n_steps += n_blocks >> 2
                for b in range(n_blocks):
                    covered[b] |= reach[b] & at_j
        for b in range(n_blocks):
            if covered[b] != 0:
                continue
            for v in range(ROWS * row_block, min(ROWS * (row_block + 1), rows.size)):
                if n_steps > most_steps:
                    return np.int64(-1), n_steps
                is_near, taken = _is_covered(near, v, blocks, b, longest)
                n_steps += taken
                if is_near:
                    continue
                for x in range(COLUMNS * b, min(COLUMNS * (b + 1), columns.size)):
                    if rows[v] == columns[x]:
                        continue
                    is_near, taken = _is_covered(near, v, others, x, longest)
                    n_steps += taken
                    if is_near:
                        continue
                    if n_found == first.size:
                        return np.int64(-1), n_steps
                    hops = longest
                    while not is_near:
                        hops += 1
                        is_near, taken = _is_covered(near, v, others, x, hops)
                        n_steps += taken
                    first[n_found], second[n_found] = rows[v], columns[x]
                    apart[n_found] = hops
                    n_found += 1
    return n_found, n_steps
