"""Hop counts in blocks of levels, from several sweeps, become rows source by source."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels.multi_source.gpu.counts import BlockCounts

ROWS = st.lists(st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=9), max_size=12)


@given(rows=ROWS, n_sweeps=st.integers(1, 3), size=st.integers(1, 9))
def test_blocks_of_any_size_join_to_what_was_cut(rows, n_sweeps, size):
    counts = BlockCounts()
    for sweep in range(n_sweeps):
        own = np.arange(sweep, len(rows), n_sweeps)  # sources of the sweep, not side by side
        for first in range(0, 9, size):
            parts = [rows[i][first : first + size] for i in own]
            alive = np.array([bool(part) for part in parts], bool)
            flat = np.array([count for part in parts for count in part], np.int32)
            lengths = np.array([len(part) for part in parts], np.int64)
            counts.add(own[alive], lengths[alive], flat)
    hop_ptr, hop_counts, n_reached = counts.ragged(len(rows))
    assert [hop_counts[a:b].tolist() for a, b in itertools.pairwise(hop_ptr)] == rows
    assert n_reached.tolist() == [sum(row) for row in rows]


def test_one_block_of_all_sources_is_taken_as_it_is():
    counts = BlockCounts()
    counts.add(np.arange(2), np.array([2, 1]), np.array([1, 5, 1], np.int32))
    hop_ptr, hop_counts, n_reached = counts.ragged(2)
    assert hop_ptr.tolist() == [0, 2, 3]
    assert hop_counts.tolist() == [1, 5, 1]
    assert n_reached.tolist() == [6, 1]
