"""How far a topology is made: every model reports it, from zero on, and never goes back."""

from __future__ import annotations

import pytest

from pipeline.generate import MODELS, Parameters, generate, generate_graphs
from pipeline.generate.shares import part, shares_told, tell_share


@pytest.mark.parametrize("makes", [generate, generate_graphs])
@pytest.mark.parametrize("model", list(MODELS))
def test_shares_ascend_and_there_are_several(model, makes, monkeypatch):
    monkeypatch.setattr("pipeline.generate.internet._BLOCK_NODES", 500)
    if makes is generate_graphs and not MODELS[model].makes_graphs:
        assert generate_graphs(model, Parameters(n_routers=9)) is None
        return
    told: list[float] = []
    with shares_told(told.append):
        makes(model, Parameters(n_routers=5000, n_ases=10, min_degree=1, max_degree=9))
    assert told == sorted(told)
    assert len(set(told)) >= 3
    assert 0 <= told[0] <= told[-1] <= 1
    assert told[-1] > 0.5


def test_parts_lie_within_parts():
    told: list[float] = []
    with shares_told(told.append), part(0.5, 1.0):
        with part(0.0, 0.5):
            tell_share(0.5)
        tell_share(1.0)
    assert told == [0.5, 0.5, 0.625, 1.0]


def test_nobody_need_listen():
    told: list[float] = []

    def make():
        with part(0.0, 0.5):
            tell_share(1.0)
        return "made"

    assert make() == "made"
    with shares_told(told.append):
        make()
    assert told == [0.0, 0.5]
    assert make() == "made"  # who listened before does not any more
    assert told == [0.0, 0.5]
