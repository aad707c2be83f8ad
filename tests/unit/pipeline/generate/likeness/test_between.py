"""Links between the ASes of a likeness."""

from __future__ import annotations

import numpy as np

from pipeline.generate.likeness import between


def test_repeated_links_are_parted_and_each_ingress_keeps_its_ends():
    """Three ASes of four ingresses each, five links between any two of them."""
    rng = np.random.default_rng(5)
    one, other = (np.repeat(rows, 5) for rows in ([0, 0, 1], [1, 2, 2]))
    row = np.concatenate([one, other])
    ends = 4 * row + np.sort(rng.integers(0, 4, len(row)))[rng.permutation(len(row))]
    before, n = ends.copy(), len(one)
    assert len(np.unique(before.reshape(2, n), axis=1).T) < n
    between._part_repeated(ends, row, seed=1)
    assert len(np.unique(ends.reshape(2, n), axis=1).T) == n
    assert (ends // 4 == row).all()
    assert np.bincount(ends).tolist() == np.bincount(before).tolist()


def test_more_links_than_pairs_of_ingresses_stay():
    ends, row = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    between._part_repeated(ends, row, seed=1)
    assert ends.tolist() == [0, 0, 1, 1]
