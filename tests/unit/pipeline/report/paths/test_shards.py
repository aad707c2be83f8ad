"""Scripts of kept traces: what they hold, and that texts of others cannot leave them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.graphs import build_graphs
from pipeline.report.paths import shards
from pipeline.report.paths.shards import write_paths
from pipeline.store import open_snapshot
from tests.unit.pipeline.infer.handmade import infer
from tests.unit.pipeline.stages.small_store import HOSTILE, LINES, A, X, Y
from tests.unit.pipeline.store.snapshots import write


def held(folder, name):
    """What a script calls back with."""
    text = (folder / "paths" / f"{name}.js").read_text()
    assert "<" not in text
    called, data = text.removeprefix("hopscope.paths(").removesuffix(");\n").split(",", 1)
    assert called == f'"{name}"'
    return json.loads(data)


@pytest.fixture
def snapshot(tmp_path):
    graphs = build_graphs([infer(tmp_path, *LINES)])
    inputs = [{"path": "/there/<i>.warts", "format": "warts", "holds": "traces", "status": "ok"}]
    write(tmp_path / "store", "night", graphs, as_names={2: HOSTILE}, inputs=inputs,
          counts={"n_traces": len(LINES)})  # fmt: skip
    with open_snapshot(tmp_path / "store", "night") as opened:
        yield opened


def test_an_address_leads_to_its_router_and_that_to_traces(snapshot, tmp_path):
    facts = write_paths(snapshot, tmp_path)
    index = held(tmp_path, "index")
    assert (facts.n_traces, facts.n_kept) == (len(LINES), snapshot.n_traces_kept)
    assert index["inputs"] == ["<i>.warts"]
    texts, routers = held(tmp_path, "a0")
    assert texts == sorted(texts)
    traces = held(tmp_path, "0")["traces"]
    addrs = held(tmp_path, "0")["addrs"]
    n, *groups = held(tmp_path, "r0")[routers[texts.index(Y)][0]]
    shown = {i for group in groups for i in group[3:]}
    assert n == len(shown)
    assert shown == {i for i, trace in enumerate(traces) if Y in [addrs[at] for at in trace[6]]}
    (from_x,) = (group for group in groups if group[0] == routers[texts.index(X)][0])
    assert from_x[1] == 0  # both are in AS 2
    n, *groups = held(tmp_path, "r0")[routers[texts.index(X)][0]]
    (from_a,) = (group for group in groups if group[0] == routers[texts.index(A)][0])
    assert from_a[1] == 1  # it enters


def test_a_hop_has_ttl_rtt_and_kind(snapshot, tmp_path):
    write_paths(snapshot, tmp_path)
    part = held(tmp_path, "0")
    (trace,) = (t for t in part["traces"] if [part["addrs"][at] for at in t[6]][:3] == [A, X, Y])
    point, target, start, at, flags, ttl, _, rtt, kind = trace
    assert (point, target, start, at, flags) == ("20.9.9.9", "20.0.8.8", 0, 0, 0)
    assert (ttl, rtt, kind) == ([1, 2, 3, 4], [10.0, 20.0, 30.0, 40.0], [1, 1, 1, 1])


def test_of_very_many_some_are_written_and_it_is_said(snapshot, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "MAX_TRACES", 2)
    facts = write_paths(snapshot, tmp_path)
    assert facts.n_here < facts.n_kept
    assert held(tmp_path, "index")["n_here"] == facts.n_here


def test_without_kept_traces_nothing_is_written(tmp_path):
    graphs = replace(build_graphs([infer(tmp_path, *LINES)]), traces=None)
    write(tmp_path / "store", "night", graphs)
    with open_snapshot(tmp_path / "store", "night") as snapshot:
        assert write_paths(snapshot, tmp_path) is None
    assert not (tmp_path / "paths").exists()
