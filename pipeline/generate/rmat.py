"""R-MAT graphs: each link falls into one quarter of the matrix, of that quarter, and so on.

Chakrabarti, Zhan, Faloutsos: R-MAT, a recursive model for graph mining (SDM 2004), with the
probabilities of Graph500: 0.57, 0.19, 0.19, 0.05. ``m`` links are drawn per node; loops and
repeated ones are left out, so that fewer remain. For other numbers of nodes than powers of two, a
link beyond the last node is drawn again. Ids are shuffled, as in Graph500.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from pipeline.generate.barabasi_albert import check_numbers
from pipeline.generate.csr import shuffled_ids
from pipeline.generate.laws.plane import routers_in_plane
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.random_words import stream_start, word_at
from pipeline.model.synthetic import Parameters, check_others
from pipeline.model.topology import Topology

# Upper bounds of the first three quarters, of 2**32.
_A, _AB, _ABC = (np.uint64(round(share * 2**32)) for share in (0.57, 0.76, 0.95))
_KEY = np.uint64(1 << 48)  # a stream apart from those of places and bandwidths
_WORDS = 16  # of a link: two levels each
_NEXT_TRY = 1 << 40  # distance between the words of a link's further draws
_LINKS_AT_ONCE = 1 << 18
_DRAWN = 0.45  # share of the time that drawing the links takes, sorting them included


def make(given: Parameters) -> Topology:
    """The graph, as ``generate`` takes it; UsageError if a number is out of range."""
    n_nodes = given.n_routers
    with part(0.0, _DRAWN):
        near, far = _links(n_nodes, given.m, given.seed)
    return routers_in_plane(near, far, n_nodes=n_nodes, seed=given.seed, drawn=_DRAWN)


def check(given: Parameters) -> None:
    """Raise UsageError if more links are to be drawn than there can be."""
    check_others(given.n_routers, given.m, (given.n_routers - 1) // 2)


def _links(n_nodes: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct links, (n_links,) int32 each, near < far, ascending."""
    check_numbers(n_nodes, m, seed)
    keys = np.empty(n_nodes * m, np.int64)
    start = np.uint64(stream_start(np.uint64(seed), _KEY))
    cuts = np.append(np.arange(0, len(keys), _LINKS_AT_ONCE), len(keys)).tolist()
    given = (shuffled_ids(n_nodes, seed), start, keys)
    with part(0.0, 0.6):  # the rest is sorting
        call_each(_draw_links, [(*cut, *given) for cut in itertools.pairwise(cuts)])
    keys.sort()
    is_first = np.ones(len(keys), bool)
    is_first[1:] = keys[1:] != keys[:-1]
    keys = keys[is_first & (keys >= 0)]
    return (keys // n_nodes).astype(np.int32), (keys % n_nodes).astype(np.int32)


@njit(cache=True, nogil=True)
def _draw_links(first, stop, ids, start, keys):
    """Write near * n_nodes + far of each link; -1 for a loop."""
    n_nodes = len(ids)
    n_levels = 0
    while (1 << n_levels) < n_nodes:
        n_levels += 1
    for link in range(first, stop):
        number = np.int64(link) * _WORDS
        row, column = n_nodes, n_nodes
        while row >= n_nodes or column >= n_nodes:
            row, column = 0, 0
            word = np.uint64(0)
            for level in range(n_levels):
                if level % 2 == 0:
                    word = word_at(start, number + level // 2)
                else:
                    word = word >> np.uint64(32)
                part = word & np.uint64(0xFFFF_FFFF)
                row, column = row << 1, column << 1
                if part >= _ABC:
                    row, column = row + 1, column + 1
                elif part >= _AB:
                    row += 1
                elif part >= _A:
                    column += 1
            number += _NEXT_TRY
        a, b = np.int64(ids[row]), np.int64(ids[column])
        keys[link] = -1 if a == b else min(a, b) * n_nodes + max(a, b)
