"""Shifts of links that chance does not explain."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.compare.figures.medians import rare_shifts

N_LINKS, N_VOTES = 300, 7


@pytest.mark.parametrize(("share", "is_rare"), [(0.0, True), (0.05, True), (0.8, False)])
def test_a_shift_is_rare_where_few_votes_of_other_links_move(share, is_rare):
    draw = np.random.default_rng(5)
    link = np.repeat(np.arange(N_LINKS), N_VOTES)
    moved = draw.normal(0, 0.1, len(link))
    moved += np.where(draw.random(len(link)) < share, draw.choice([-60.0, 60.0], len(link)), 0.0)
    moved[link == 0] = 40.0
    rare = rare_shifts(link, moved, N_LINKS)
    assert rare[0] == is_rare
    assert np.count_nonzero(rare[1:]) == 0


def test_some_votes_do_not_tell_of_a_link():
    """Their median alone did: half of the others moved the other way."""
    link = np.repeat(np.arange(N_LINKS), N_VOTES)
    moved = np.tile([-9.0, -9.0, -9.0, 9.0, 9.0, 9.0, 9.0], N_LINKS)
    assert not rare_shifts(link, moved, N_LINKS).any()


def test_no_votes_are_no_news():
    assert rare_shifts(np.empty(0, np.int64), np.empty(0), 0).tolist() == []
