"""Loops over steps, on a tree written by hand and on random ones."""

from __future__ import annotations

import itertools

import numpy as np

from pipeline.compare.trees import mark_below, sign_ways, steps_of, sum_below
from pipeline.model.measured.observations import FIRST

# 0 - 1 - 2, 1 - 3, and 4 - 5.
BEFORE = np.array([FIRST, 0, 1, 1, FIRST, 4], np.int32)


def test_what_follows_a_marked_step_is_marked():
    marked = np.array([False, True, False, False, False, False])
    assert mark_below(BEFORE, marked).tolist() == [False, True, True, True, False, False]
    assert marked.sum() == 1


def test_sums_are_of_a_step_and_all_that_follow_it():
    assert sum_below(BEFORE, np.array([0, 0, 2, 3, 0, 5])).tolist() == [5, 5, 2, 3, 5, 5]


def test_ways_are_spelled_from_their_first_step():
    ptr, step = steps_of(BEFORE, np.array([2, FIRST, 5, 3, 0]))
    assert ptr.tolist() == [0, 3, 3, 5, 8, 9]
    assert step.tolist() == [0, 1, 2, 4, 5, 0, 1, 3, 0]


def test_ways_of_the_same_steps_alone_have_the_same_sign():
    rng = np.random.default_rng(3)
    before = np.array([FIRST, *(int(rng.integers(-1, i)) for i in range(1, 300))])
    own = rng.integers(0, 3, 300).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    ptr, step = steps_of(before, np.arange(300))
    ways = [tuple(own[step[a:b]].tolist()) for a, b in itertools.pairwise(ptr)]
    signs = sign_ways(before, own + np.uint64(1), np.uint64(0x9E3779B97F4A7C15), 29).tolist()
    assert len(set(signs)) == len(set(ways)) == len(set(zip(signs, ways, strict=True)))
