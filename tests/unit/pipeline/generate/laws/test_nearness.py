"""Routers drawn by squares follow the law of their distance exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from pipeline.generate.laws.nearness import (
    draw_near,
    exp_negative,
    is_below,
    square_of,
    squares_of,
)
from pipeline.model.random_words import draw as draw_word


def test_the_exponential_is_exact_to_the_last_digits():
    for x in [0.0, 1e-9, 0.3, 0.34657, 0.34658, 1.0, 7.5, 100.0, 699.0]:
        assert math.isclose(exp_negative(x), math.exp(-x), rel_tol=4e-15)
    assert exp_negative(701.0) == 0.0


def test_bounds_decide_as_the_exponential_does():
    rng = np.random.default_rng(1)
    for x, near in zip(rng.exponential(0.5, 500), rng.normal(0, 1e-3, 500), strict=True):
        for u in (rng.random(), min(max(math.exp(-x) + near, 0.0), 1.0)):
            assert is_below(u, x) == (u < math.exp(-x))


@pytest.mark.parametrize("decay", [0.0, 0.003, 0.05, 0.4])
@pytest.mark.parametrize("crowded", [False, True])
def test_draws_follow_the_law_among_the_nodes_there(decay, crowded):
    """200 nodes on 100 x 100 cells, the first 120 of which are there: 10,000 draws."""
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 30 if crowded else 100, (200, 2)).astype(np.int32)
    squares = squares_of(cells, 0, 200, 100, decay)
    assert len(squares[2]) == {0.0: 1, 0.003: 2}.get(decay, 4)
    x, y = cells[150]
    own = square_of(x, y, 100, len(squares[2]))
    state = np.array([11], np.uint64)
    found = np.zeros(120, np.int64)
    while found.sum() < 10_000:
        words = np.uint64(draw_word(state)), np.uint64(draw_word(state))
        node = draw_near(x, y, own, 120, decay, squares, words, state)
        if node >= 0:
            found[node] += 1
    law = np.exp(-decay * np.hypot(*(cells[:120] - cells[150]).T.astype(float)))
    wanted = law / law.sum() * found.sum()
    often = wanted > 5
    pooled = np.append(found[often], found[~often].sum())
    of_law = np.append(wanted[often], wanted[~often].sum())
    if of_law[-1] == 0:
        pooled, of_law = pooled[:-1], of_law[:-1]
    assert chisquare(pooled, of_law).pvalue > 1e-3
