"""Planted changes are found and recognised, and nothing is reported of quiet nights."""

from __future__ import annotations

import os
import random

import pytest

from tests.oracles.nights.judged import Judged, Quiet, judge_seed, quiet_nights
from tests.oracles.nights.planted import OTHERS, PLANTS
from tests.soak import WHOLE

FOUND, RIGHT = 0.95, 0.85  # of what was planted
FEW = ("router silent", "AS silent", "link cut", "vantage point lost", "table changed")


@pytest.mark.soak
def test_planted_changes_are_found_and_recognised():
    kinds, seeds = {name: PLANTS[name] for name in FEW}, [29]
    if WHOLE:
        draw = random.Random(os.environ.get("SEED"))
        kinds, seeds = PLANTS, [draw.randrange(10_000, 1_000_000) for _ in range(6)]
    judged = Judged()
    for seed in seeds:
        for each in (kinds, OTHERS):
            judged.add(judge_seed(seed, each))
    said = f"seeds {seeds}: {judged.counts}, {judged.missed}"
    planted = judged.counts.planted.total()
    assert planted >= (250 if WHOLE else 15), said
    assert judged.counts.found.total() >= FOUND * planted, said
    assert judged.counts.right.total() >= RIGHT * planted, said


@pytest.mark.soak
def test_quiet_nights_are_quiet():
    seeds = [29]
    if WHOLE:
        draw = random.Random(os.environ.get("SEED"))
        seeds = [draw.randrange(10_000, 1_000_000) for _ in range(6)]
    quiet = Quiet()
    for seed in seeds:
        quiet.add(quiet_nights(seed, 5 if WHOLE else 2))
    assert quiet.n_with_events <= quiet.n_nights / 10, f"seeds {seeds}: {quiet.said}"
