"""Last routers: at which addresses the traces to each destination end.

A trace ends at its last address before the destination's own reply. What counts is whether that
address is in the AS of the destination, as elected: otherwise the trace ended before it got there.

Destinations are those that ``traces.distinct`` looks at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.traces.distinct import DEEPEST, OWN, AimedPaths, DistinctPaths, Tree, addr_of
from pipeline.model.columns.keys import distinct_keys, split_key


@dataclass(frozen=True, eq=False)
class Ends:
    """Pairs of a destination and an address at which traces to it end, sorted.

    Attributes
    ----------
    aim : (n_pairs,) int64
        Number of the destination.
    last : (n_pairs,) int64
    elsewhere : (n_pairs,) bool
        The address is not in the AS of the destination.
    before_gap : (n_pairs,) bool
        An unanswered hop lay between it and the answer of the destination in some trace.
    """

    aim: np.ndarray
    last: np.ndarray
    elsewhere: np.ndarray
    before_gap: np.ndarray


def find_ends(paths: DistinctPaths, owner: np.ndarray) -> Ends:
    """Where the traces to each destination end.

    Parameters
    ----------
    paths : DistinctPaths
        Of router addresses.
    owner : (n_interfaces,) int64
        As elected; below 0 where unmapped or left out.
    """
    keys, elsewhere, gaps = [np.empty(0, np.int64)], [np.empty(0, bool)], [np.empty(0, bool)]
    for _, aimed in paths.trees:
        used = (aimed.last >= 0) & ~aimed.is_cut
        last = aimed.last[used]
        keys.append((aimed.number[used] << 32) | last)
        elsewhere.append(owner[last] != aimed.asn[used])
        gaps.append(aimed.before_gap[used] & ~elsewhere[-1])
    pairs, which = np.unique(np.concatenate(keys), return_inverse=True)
    is_elsewhere, before_gap = np.zeros((2, len(pairs)), bool)
    is_elsewhere[which[np.concatenate(elsewhere)]] = True
    before_gap[which[np.concatenate(gaps)]] = True
    return Ends(*split_key(pairs), is_elsewhere, before_gap)


@njit(cache=True, nogil=True)
def _find_passed(code, depth, node, number, asn, owner, asked, keys):
    """(destination, address) of asked addresses in its AS that another address follows.

    Returns their number; with no room in ``keys`` they are only counted.
    """
    n, row = 0, 0
    above = np.empty(DEEPEST, np.int64)
    # Levels of asked addresses, and how many there are down to each level, from 1 on.
    levels, n_asked = np.empty(DEEPEST, np.int64), np.zeros(DEEPEST + 1, np.int64)
    for at in range(len(code)):
        level, x = np.int64(depth[at]), addr_of(code[at])
        above[level], n_asked[level + 1] = x, n_asked[level]
        if x >= 0 and asked[x]:
            levels[n_asked[level]] = level
            n_asked[level + 1] += 1
        while row < len(node) and node[row] == at:
            end = level - 1 if level and code[at] & OWN else level
            for i in levels[: n_asked[end]]:
                x = above[i]
                if owner[x] != asn[row] or above[i + 1] == x:
                    continue
                if n < len(keys):
                    keys[n] = (number[row] << 32) | x
                n += 1
            row += 1
    return n


def find_passed(
    paths: DistinctPaths, owner: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Addresses in the AS of a destination by which traces to it went on.

    Parameters
    ----------
    paths : DistinctPaths
    owner : (n_interfaces,) int64
        As for ``find_ends``.
    asked : (n_interfaces,) bool
        Addresses that are looked at.

    Returns
    -------
    aim, address : (n_pairs,) int64
        Distinct pairs, sorted.
    """

    def step(found: list[np.ndarray], tree: Tree, aimed: AimedPaths) -> None:
        aimed = aimed.take(~aimed.is_cut)
        given = *tree, aimed.node, aimed.number, aimed.asn, owner, asked
        keys = np.empty(_find_passed(*given, np.empty(0, np.int64)), np.int64)
        _find_passed(*given, keys)
        found.append(distinct_keys(keys))

    threads = paths.ask_aimed(list, step)
    none = np.empty(0, np.int64)
    keys = distinct_keys(np.concatenate([none, *(keys for found in threads for keys in found)]))
    return split_key(keys)
