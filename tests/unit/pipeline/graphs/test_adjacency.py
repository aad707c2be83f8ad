"""Adjacency lists of several buckets of nodes, on any number of threads, against a plain sort."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.graphs import adjacency as module
from pipeline.graphs.adjacency import adjacency, place_nodes

N_NODES, N_LINKS = 100_000, 400_000  # four buckets, more links than one thread takes


@pytest.mark.parametrize("n_threads", [1, 3])
def test_lists_are_sorted_and_keep_the_lightest_of_parallel_links(n_threads, monkeypatch):
    monkeypatch.setattr(module, "n_cores", lambda: n_threads)
    rng = np.random.default_rng(5)
    near = rng.integers(0, N_NODES, N_LINKS)
    far = (near + rng.integers(-2, 3, N_LINKS)) % N_NODES  # a fifth loops, most parallel
    weight = rng.integers(0, 4, N_LINKS).astype(np.float32)
    weight[rng.random(N_LINKS) < 0.1] = np.nan
    row = rng.integers(-1, 2, N_NODES // 100).repeat(100).astype(np.int32)
    far[:100] = 7  # one long list
    node_ptr, place = place_nodes(row, 2)
    lists = adjacency(near, far, row, place, node_ptr, weight, True)

    loops = near == far
    unmapped = ~loops & ((row[near] < 0) | (row[far] < 0))
    border = ~loops & ~unmapped & (row[near] != row[far])
    assert (lists.n_loops, lists.n_unmapped, lists.n_border) == (
        *(loops.sum(), unmapped.sum(), border.sum()),
    )
    inside = np.flatnonzero(~(loops | unmapped | border))
    a, b = place[near[inside]], place[far[inside]]
    own, other = np.append(a, b), np.append(b, a)
    link = np.append(inside, inside)
    # By place, neighbour and weight; NaN sorts last, and lexsort keeps the first of equal ones.
    order = np.lexsort((link, weight[link], other, own))
    own, other, link = own[order], other[order], link[order]
    first = np.append(True, (own[1:] != own[:-1]) | (other[1:] != other[:-1]))
    own, other, link = own[first], other[first], link[first]
    assert lists.n_parallel == len(inside) - len(own) // 2
    assert np.array_equal(lists.degree, np.bincount(own, minlength=len(lists.degree)))
    base = node_ptr[np.searchsorted(node_ptr, own, side="right") - 1]
    assert np.array_equal(lists.indices, other - base)
    assert np.array_equal(lists.link, link)
