"""When the process that workers are forked from is started early, and with what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.config import AnalyzeConfig
from pipeline.schedule import early
from pipeline.schedule.in_process import short
from pipeline.stages.generate import GenerateConfig, generate_topology


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    store = tmp_path_factory.mktemp("early") / "store"
    generate_topology(
        GenerateConfig(model="ba", routers=300, store=store, snapshot="small", asn=7, ingresses=3)
    )
    return AnalyzeConfig(store=store, out=store.parent / "out")


@pytest.fixture
def started(monkeypatch):
    """What it was started with."""
    started = []

    def start(work, on_gpus):
        started.append((work, on_gpus))

    monkeypatch.setattr(early.forking, "start", start)
    monkeypatch.setattr(early, "is_compiled", lambda work: True)
    monkeypatch.setattr(early, "visible_gpus", lambda: ["0"])
    return started


@pytest.mark.parametrize(
    ("given", "on_gpus"),
    [({"device": "gpu"}, True), ({"workers": 1}, True), ({"workers": 2, "device": "cpu"}, False)],
)
def test_who_names_workers_or_a_gpu_gets_them_soon(config, started, given, on_gpus):
    early.start_early(replace(config, metrics=("diameter",), **given))
    assert started == [(("searches", "widths"), on_gpus)]


def test_a_run_that_is_not_short_gets_workers(config, started, monkeypatch):
    monkeypatch.setattr(short, "CLUSTER_START_S", 0.0)
    early.start_early(config)
    assert started == [(("searches",), True)]


@pytest.mark.parametrize(
    ("given", "compiled"),
    [
        ({}, True),  # short
        ({"scheduler": "tcp://127.0.0.1:8786"}, True),
        ({"workers": 2}, False),  # the client compiles first, and says so
        ({"snapshot": "none"}, True),  # the run will say so
        ({"asns": (9,)}, True),
    ],
)
def test_it_is_not_started_for_nothing(config, started, monkeypatch, given, compiled):
    monkeypatch.setattr(early, "is_compiled", lambda work: compiled)
    early.start_early(replace(config, **given))
    assert started == []


def test_a_large_store_is_not_opened_first(config, started, monkeypatch):
    monkeypatch.setattr(early, "LARGE_BYTES", 100)
    early.start_early(replace(config, snapshot="none"))  # the run will say so
    assert started == [(("searches",), True)]
    early.start_early(replace(config, asns=(7,)))
    assert len(started) == 1
