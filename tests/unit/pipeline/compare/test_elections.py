"""Routers that count in another AS: more than chance explains, or not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pipeline.compare import elections
from pipeline.compare.changes import MOVED, make_changes
from pipeline.compare.links import BY_CHANCE, OWNER

N_SURE, N_UNSURE = 100, 60


@pytest.mark.parametrize(
    ("n_sure", "n_unsure", "is_chance"),
    [(1, 0, False), (1, 1, False), (1, 8, True), (2, 20, True), (12, 8, False)],
)
def test_an_election_is_news_where_chance_changes_few(monkeypatch, n_sure, n_unsure, is_chance):
    n = N_SURE + N_UNSURE
    monkeypatch.setattr(elections, "paths_through", lambda *_: np.full(n, 40))
    confidence = np.where(np.arange(n) < N_SURE, 0.995, 0.85)
    side = SimpleNamespace(confidence=confidence)
    group = np.arange(n)
    sides = SimpleNamespace(
        old=side, new=side, groups=SimpleNamespace(old=group, new=group, n=n), old_view=object()
    )
    moved = np.concatenate([np.arange(n_sure), N_SURE + np.arange(n_unsure)])
    changes = make_changes(len(moved), "router", kind=MOVED, reason=OWNER, group=moved)
    found = SimpleNamespace(common=SimpleNamespace(old=None))
    marked = elections.mark_chance(changes, sides, found)
    assert set(marked.reason[:n_sure]) == {BY_CHANCE if is_chance else OWNER}
    assert set(marked.reason[n_sure:]) <= {OWNER}
    assert set(changes.reason) == {OWNER}  # the argument stays as it is
