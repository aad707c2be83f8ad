"""Degrees and links between classes of another size add up, and keep their shares."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.generate.likeness.scaling import (
    classes_of_scaled,
    scaled_component,
    scaled_degrees,
)

PARETO = np.sort(np.floor((np.arange(1, 1001) / 1000) ** -0.6).astype(np.int64))


@pytest.mark.parametrize("factor", [0.1, 0.5, 3, 10, 100])
def test_degrees_keep_their_mean_and_their_tail_grows(factor):
    n = int(factor * 1000)
    new = scaled_degrees(PARETO, n)
    assert len(new) == n
    assert new.min() == 1
    assert int(new.sum()) % 2 == 0
    assert abs(new.mean() / max(PARETO.mean(), 2 - 2 / n) - 1) < 0.01
    if factor > 3:
        assert new.max() > PARETO.max()
    if factor < 1:
        assert new.max() < PARETO.max()


def test_equal_degrees_stay_equal():
    assert (scaled_degrees(np.full(50, 4), 700) == 4).all()


def test_classes_of_a_smaller_component_have_a_node_each():
    degrees = np.array([1] * 50 + [2] * 30 + [3] * 10 + [7, 8, 9, 12])
    classes = classes_of_scaled(degrees, 20)
    sizes = np.unique(classes, return_counts=True)[1]
    assert (np.diff(np.rint(np.cumsum(sizes[::-1]) * 20 / len(degrees)), prepend=0) >= 1).all()
    assert np.array_equal(classes_of_scaled(degrees, 10 * len(degrees)), degrees)


def test_links_between_classes_add_up_to_the_degrees_and_keep_their_shares():
    degrees = np.array([1] * 60 + [3] * 20)  # leaves at hubs, and hubs in a ring
    cells = np.array([0, 1]), np.array([1, 1]), np.array([60, 0])
    made = scaled_component(degrees, np.array([60, 20]), cells, 800)
    assert made.n_nodes.tolist() == [600, 200]
    ends = np.zeros(2, int)
    np.add.at(ends, made.near, made.n_links)
    np.add.at(ends, made.far, made.n_links)
    assert ends.tolist() == [made.degree[:600].sum(), made.degree[600:].sum()]
