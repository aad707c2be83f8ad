"""Planted changes are found and recognised, and nothing is reported of quiet nights."""

from __future__ import annotations

import os
import random

import pytest

from pipeline.compare import compare_nights
from tests.oracles.nights import judge
from tests.oracles.nights.judge import NIGHTS, SILENT, Score, judge_network
from tests.soak import WHOLE

FOUND = 0.95  # of what was planted
OF_A_KIND = 0.9  # of few, so chance has a part in it
FEW = (*NIGHTS[:3], NIGHTS[10], SILENT[0])  # of one network: all kinds of evidence


@pytest.mark.soak
def test_planted_changes_are_found_and_quiet_nights_are_quiet(monkeypatch):
    pairs = []
    monkeypatch.setattr(
        judge, "compare_nights", lambda *nights: pairs.append(nights) or compare_nights(*nights)
    )
    seeds = [29]  # of which all kinds find a place
    if WHOLE:
        draw = random.Random(os.environ.get("SEED"))
        seeds = [draw.randrange(10_000, 1_000_000) for _ in range(12)]
    score = Score()
    for seed in seeds:
        score.add(judge_network(seed, (*NIGHTS, SILENT[0]) if WHOLE else FEW))
    said = f"seeds {seeds}: {score}"
    assert score.planted.total() >= (60 if WHOLE else 9), said
    assert score.found.total() >= FOUND * score.planted.total(), said
    if WHOLE:
        found = {name: score.found[name] / n for name, n in score.planted.items()}
        assert min(found.values()) >= OF_A_KIND, f"{found} {said}"
    assert score.n_false.total() <= score.n_quiet / 10, said
    old = pairs[0][0]
    changes, events = compare_nights(old, old)
    assert (len(changes), len(events)) == (0, 0)
