"""Places by forces: what is linked lies near, a row lies in a row, the same links the same way."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.pages.layout import place_by_forces


def two_rings() -> np.ndarray:
    ring = np.array([(i, (i + 1) % 10) for i in range(10)])
    return np.concatenate([ring, ring + 10, [(0, 10)]])


def test_linked_nodes_lie_nearer_than_others():
    links = two_rings()
    x, y = place_by_forces(links, 20)
    assert x.min() >= 0
    assert x.max() <= 1
    apart = np.hypot(x[:, None] - x, y[:, None] - y)
    linked = apart[links[:, 0], links[:, 1]].mean()
    assert linked < 0.6 * apart[np.triu_indices(20, 1)].mean()
    again = place_by_forces(links, 20)
    assert (again[0] == x).all()
    assert (again[1] == y).all()


def test_a_row_lies_in_a_row_and_others_beside_it():
    x, y = place_by_forces(two_rings(), 20, row=[0, 1, 2, 3])
    assert (np.diff(x[:4]) > 0).all()
    assert np.ptp(y[:4]) == 0
    assert np.ptp(y) > 0.5


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_nodes_have_places(n):
    x, y = place_by_forces(np.empty((0, 2), np.int64), n)
    assert len(x) == len(y) == n
    assert np.isfinite([*x, *y]).all()


def test_no_other_node_lies_on_a_row():
    ladder = np.array([(i, i + 1) for i in range(11)] + [(i, i + 12) for i in range(12)])
    x, y = place_by_forces(ladder, 24, row=range(12))
    assert np.abs(y[12:] - y[0]).min() > 0.05
    apart = place_by_forces(np.array([(0, 1), (1, 2)]), 4, row=[0, 1, 2])[1]  # one linked to none
    assert abs(apart[3] - apart[0]) > 0.05
    assert np.isfinite(x).all()
