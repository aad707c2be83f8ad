"""How many workers a run starts, and what it says of that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pipeline.collect.known import Known
from pipeline.config import AnalyzeConfig
from pipeline.schedule import opening
from pipeline.schedule.plan.costs import DEFAULTS
from pipeline.schedule.planning import Planning

CONFIG = AnalyzeConfig(store=Path("store"), out=Path("out"))


@pytest.mark.parametrize(
    ("changed", "workers", "text"),
    [
        ({}, 1, "1 of 4 GPUs, for some 0.7 s of work"),
        ({"workers": 3}, 3, "3 on GPUs"),
        ({"partition": 4}, None, "4 on GPUs"),
        ({"scheduler": "tls://a:1"}, None, ""),
        ({"device": "cpu", "workers": 5}, 5, "5 on cores"),
    ],
)
def test_short_work_has_fewer_gpus_unless_workers_are_named(monkeypatch, changed, workers, text):
    monkeypatch.setattr(opening, "visible_gpus", lambda: ["0", "1", "2", "3"])
    config, said = opening._workers(replace(CONFIG, **changed), lambda n_there: (1, 0.7))
    assert (config.workers, said) == (workers, text)


def test_long_work_has_all_gpus(monkeypatch):
    monkeypatch.setattr(opening, "visible_gpus", lambda: ["0", "1"])
    config, said = opening._workers(CONFIG, lambda n_there: (n_there, 7.0))
    assert (config.workers, said) == (None, "2 on GPUs")


@pytest.mark.parametrize(
    ("n_routers", "n_sources", "n_gpus"),
    [
        (1_000_000, 100, 1),
        (20_000_000, 100, 1),  # read in 0.7 s
        (100_000_000, 100, 3),
        (160_000_000, 1, 4),  # it may need all of them
    ],
)
def test_as_many_gpus_as_the_work_is_worth(n_routers, n_sources, n_gpus):
    rows = np.array([0])
    n_nodes, n_arcs = np.array([n_routers]), np.array([4 * n_routers])
    snapshot = SimpleNamespace(n_nodes=n_nodes, n_arcs=n_arcs, manifest={"has_weights": False})
    planning = Planning(snapshot, CONFIG, Known(rows), rows, DEFAULTS, None)
    source_ptr, sources = np.array([0, n_sources]), np.arange(n_sources, dtype=np.int32)
    assert planning.n_gpus(source_ptr, sources, {}, 4)[0] == n_gpus
