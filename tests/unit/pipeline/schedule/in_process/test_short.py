"""Which runs are measured in this process: by their options, their work and their memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernels.errors import HostMemoryError
from pipeline.config import AnalyzeConfig
from pipeline.schedule.in_process import short
from pipeline.schedule.in_process.short import Todo, is_short, may_be_short, work_s
from pipeline.schedule.plan.costs import DEFAULTS

CONFIG = AnalyzeConfig(store=Path("store"), out=Path("out"))


def todo(n_ases=10, n_nodes=1000, n_sources=5, **widths):
    every = np.ones(n_ases, bool)
    return Todo(
        np.full(n_ases, n_nodes),
        np.full(n_ases, 4 * n_nodes),
        np.full(n_ases, n_sources),
        {kind: (metrics, every) for kind, metrics in widths.items()},
    )


@pytest.mark.parametrize(
    "given",
    [
        {"device": "gpu"},
        {"scheduler": "tcp://127.0.0.1:8786"},
        {"partition": 2},
        {"workers": 2},
        {"workers": 1, "device": "cpu"},
    ],
)
def test_who_names_workers_or_a_gpu_gets_them(given):
    assert not may_be_short(replace(CONFIG, **given))
    assert not is_short(replace(CONFIG, **given), todo(), DEFAULTS)


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_little_work_is_done_here(device):
    assert is_short(replace(CONFIG, device=device), todo(), DEFAULTS)


@pytest.mark.parametrize(
    "much",
    [
        todo(n_ases=3000, n_nodes=5000, n_sources=50),
        todo(n_ases=1, n_nodes=1_000_000, n_sources=2000),
        todo(n_ases=2000, n_sources=0, widths=("eccentricities",)),
        todo(n_ases=20, n_nodes=50_000, n_sources=0, weighted=("diameter",)),
    ],
)
def test_much_work_is_for_a_cluster(much):
    assert not is_short(CONFIG, much, DEFAULTS)


def test_certificates_and_hop_matrices_count_too():
    some = todo(n_ases=100, n_nodes=2000, n_sources=60, widths=("radius",))
    plain_s = work_s(CONFIG, some, DEFAULTS)
    assert work_s(replace(CONFIG, verify=True), some, DEFAULTS) > 2 * plain_s
    assert work_s(replace(CONFIG, distances=True), some, DEFAULTS) > plain_s


def test_what_is_known_costs_nothing():
    one = todo(widths=("eccentricities",))
    known = replace(
        one,
        n_sources=np.zeros(10, np.int64),
        widths={"widths": (("eccentricities",), np.zeros(10, bool))},
    )
    assert work_s(CONFIG, known, DEFAULTS) == 0
    assert short.work_bytes(CONFIG, known) == 0


def test_large_graphs_need_the_guard_that_workers_have():
    large = todo(n_ases=1, n_nodes=4_000_000, n_sources=1)
    assert work_s(CONFIG, large, DEFAULTS) < short.CLUSTER_START_S
    assert not is_short(CONFIG, large, DEFAULTS)


def test_memory_that_is_not_there_is_not_used(monkeypatch):
    def refuse(n_bytes, what):
        raise HostMemoryError(what)

    monkeypatch.setattr(short, "check_fits", refuse)
    assert not is_short(CONFIG, todo(), DEFAULTS)
