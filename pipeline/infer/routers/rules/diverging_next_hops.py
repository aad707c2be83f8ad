"""Where two routers send packets for one destination: a router sends them to one next router.

Forwarding depends on the destination. So if traces to one destination go on from two addresses to
different routers, these addresses are on different routers, or their router splits its traffic. Two
*diverge* if they do so for a larger share of the destinations that traces through both were aimed
at than either does with itself, of the destinations to which several traces pass it.

Only an answer at the next TTL is a next hop; the destination's own is one. Destinations are those
that ``traces.distinct`` looks at, and of many only some, always the same ones, so memory is
bounded.

That paths to one destination are the same from one router on is what iPlane [1]_ uses to predict
paths.

References
----------
.. [1] H. Madhyastha et al., "iPlane: an information plane for distributed services", OSDI 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.routers.groups import watched_pairs
from pipeline.infer.rule import Rule
from pipeline.infer.traces.distinct import (
    DEEPEST,
    FOLLOWS,
    OWN,
    AimedPaths,
    DistinctPaths,
    Tree,
    addr_of,
)
from pipeline.model.columns.keys import distinct_keys, split_key
from pipeline.model.columns.ragged import offsets, run_starts

DIVERGING = Rule(
    "diverging-next-hops",
    "routers",
    "two addresses with different next hops for one destination are two routers",
    "next hops by destination",
    source="iPlane (Madhyastha et al., OSDI 2006)",
)

_HOST = -1


class _Seen(NamedTuple):
    """Next routers seen: distinct rows, sorted; ``key`` is part << 32 | destination."""

    key: np.ndarray
    follows: np.ndarray
    n_traces: np.ndarray


@njit(cache=True, nogil=True)
def _follow(code, depth, node, number, part, root, rows, keys, follows):
    """(part << 32 | destination, next router) of hops of asked parts; part -1 is not asked.

    ``rows``: which path of ``node`` each is of. Returns their number; with no room they are only
    counted.
    """
    n, row = 0, 0
    above = np.empty(DEEPEST, np.uint32)
    for at in range(len(code)):
        level = np.int64(depth[at])
        above[level] = code[at]
        while row < len(node) and node[row] == at:
            for i in range(level):
                x, y = addr_of(above[i]), addr_of(above[i + 1])
                if x < 0 or part[x] < 0 or y == x or not above[i + 1] & FOLLOWS:
                    continue
                if n < len(keys):
                    keys[n], rows[n] = (part[x] << 32) | number[row], row
                    follows[n] = _HOST if y < 0 or above[i + 1] & OWN else root[y]
                n += 1
            row += 1
    return n


def _add_up(rows: list[_Seen]) -> _Seen:
    none = np.empty(0, np.int64)
    key, follows, n_traces = (np.concatenate([none, *column]) for column in zip(*rows, strict=True))
    order = np.lexsort((follows, key))
    key, follows, n_traces = key[order], follows[order], n_traces[order]
    is_new = np.ones(len(key), bool)
    is_new[1:] = (key[1:] != key[:-1]) | (follows[1:] != follows[:-1])
    n_traces = np.bincount(np.cumsum(is_new) - 1, n_traces, np.count_nonzero(is_new))
    return _Seen(key[is_new], follows[is_new], n_traces.astype(np.int64))


def _find_next(
    paths: DistinctPaths, root: np.ndarray, parts: np.ndarray, asked: np.ndarray
) -> _Seen:
    """Next routers of asked parts."""
    part = np.where(asked[parts], parts, -1)

    def step(found: list[_Seen], tree: Tree, aimed: AimedPaths) -> None:
        aimed = aimed.take(aimed.is_sparse)
        given = *tree, aimed.node, aimed.number, part, root
        n = _follow(*given, *np.empty((3, 0), np.int64))
        rows, key, follows = np.empty((3, n), np.int64)
        _follow(*given, rows, key, follows)
        found.append(_add_up([_Seen(key, follows, aimed.n_traces[rows])]))

    none = np.empty(0, np.int64)
    threads = paths.ask_aimed(list, step)
    return _add_up([_Seen(none, none, none), *(seen for found in threads for seen in found)])


@njit(cache=True, nogil=True)
def _compare(ptr, aim, follows, one, other):
    """(n_pairs,) int64: destinations for which two parts have a next in common; for which not."""
    same, apart = np.zeros(len(one), np.int64), np.zeros(len(one), np.int64)
    for i in range(len(one)):
        at, end = ptr[one[i]], ptr[one[i] + 1]
        to, stop = ptr[other[i]], ptr[other[i] + 1]
        while at < end and to < stop:
            if aim[at] < aim[to]:
                at += 1
                continue
            if aim[at] > aim[to]:
                to += 1
                continue
            here, meets, first = aim[at], False, to
            while at < end and aim[at] == here:
                to = first
                while to < stop and aim[to] == here:
                    meets = meets or follows[at] == follows[to]
                    to += 1
                at += 1
            if meets:
                same[i] += 1
            else:
                apart[i] += 1
    return same, apart


def _split_share(seen: _Seen, n: int) -> np.ndarray:
    """(n,) float64: share of destinations, of those passed again, with several next routers."""
    starts = run_starts(seen.key)
    part = seen.key[starts] >> 32
    n_next = np.diff(starts, append=len(seen.key))
    n_traces = np.diff(np.append(0, np.cumsum(seen.n_traces)[starts + n_next - 1]))
    n_again = np.bincount(part, n_traces > 1, n)
    return np.bincount(part, n_next > 1, n) / np.maximum(1, n_again)


def find_diverging(
    paths: DistinctPaths,
    root: np.ndarray,
    parts: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    *,
    mostly: bool,
) -> np.ndarray:
    """Which pairs diverge.

    Parameters
    ----------
    paths : DistinctPaths
        Of router addresses.
    root : (n_interfaces,) int64
        Smallest interface of each router; of what follows.
    parts : (n_interfaces,) int64
        The same of smaller routers; of what is compared.
    one, other : (n_pairs,) int64
        Two parts each.
    mostly : bool
        Only those that do so for most destinations.

    Returns
    -------
    (n_pairs,) bool
    """
    n = len(root)
    if not len(one):
        return np.zeros(0, bool)
    asked = np.zeros(n, np.bool_)
    asked[one] = asked[other] = True
    seen = _find_next(paths, root, parts, asked)
    part, aim = split_key(seen.key)
    ptr = np.searchsorted(part, np.arange(n + 1))
    same, apart = _compare(ptr, aim, seen.follows, one, other)
    share = _split_share(seen, n)
    diverge = apart > np.maximum(share[one], share[other]) * (same + apart)
    return diverge & (apart > same) if mostly else diverge


def take_apart_diverging(paths: DistinctPaths, root: np.ndarray, parts: np.ndarray) -> None:
    """Undo routers of which two parts diverge for most destinations, in place.

    Parameters
    ----------
    paths : DistinctPaths
    root : (n_interfaces,) int64
        Smallest interface of each router.
    parts : (n_interfaces,) int64
        What they are taken apart to: the same of smaller routers.
    """
    router, part = split_key(distinct_keys((root << 32) | parts))
    pairs, of = watched_pairs(offsets(np.bincount(router, minlength=len(root))), part)
    diverge = find_diverging(paths, root, parts, *split_key(pairs), mostly=True)
    broken = np.zeros(len(root), bool)
    broken[of[diverge]] = True
    undone = np.flatnonzero(broken[root])
    root[undone] = parts[undone]
