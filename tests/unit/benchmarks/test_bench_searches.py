"""The program itself, on graphs so small that it takes a second."""

from __future__ import annotations

import dataclasses
import json
import sys
import types

import numpy as np
import pytest

from benchmarks import bench_searches, peers
from benchmarks.lib.graphs import attachment, cut_grid, many_ases
from kernels import CheckError, bfs, components
from pipeline.generate.csr import csr_from_links

SMALL = ["--grid", "12", "--shard", "20", "--sources", "1,8,100,200", "--budget", "0.001"]


def run(monkeypatch, folder, *more: str) -> list[dict]:
    words = ["bench_searches.py", "--nodes", "300", *SMALL, "--results", str(folder), *more]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(bench_searches, "copy_gb_per_s", lambda device: 10.0)
    bench_searches.main()
    return json.loads((folder / "searches.json").read_text())["rows"]


def test_each_kind_of_search_has_its_row(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path)
    for device in bench_searches.devices_here():
        mine = [row for row in rows if row["device"] == device and row.get("by") == "hopscope"]
        for graph in ("attachment 300", "cut grid 12"):
            found = [(row["what"], row.get("n_sources")) for row in mine if row["graph"] == graph]
            assert found == [
                ("bfs", 1),
                ("bfs parents", 1),
                *(("msbfs", n) for n in (1, 8, 100, 200)),
                ("msbfs levels", 100),
                ("components", None),
            ]
        assert [row["n_sources"] for row in mine if row["what"] == "msbfs_shard"]
        for row in mine:
            assert 0 < row["min_ms"] <= row["median_ms"] <= row["p95_ms"]
            assert row["repeats"] >= 5
            if row["what"] != "components":
                assert 0 < row["least_bytes"] <= row["most_bytes"]
        assert {"compile", "copy"} <= {row["what"] for row in rows if row["device"] == device}


def test_each_peer_is_timed_or_says_why_not(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path)
    for device in bench_searches.devices_here():
        theirs = [row for row in rows if row["device"] == device and row.get("what") == "bfs"]
        theirs = [row for row in theirs if row["by"] != "hopscope"]
        assert len(theirs) == 2 * len(peers.PEERS[device])  # on two graphs
        for row in theirs:
            assert row.get("note", "not installed").startswith("not installed"), row
            assert ("median_ms" in row) != ("note" in row)


def test_only_the_requested_programs_are_timed(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path, "--device", "cpu", "--programs", "SciPy", "--shard", "0")
    assert {row["by"] for row in rows if "by" in row} == {"SciPy"}


def test_scipy_is_there_and_its_100_sources_say_how_many_were_timed(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path, "--device", "cpu")
    many = [row for row in rows if row.get("by") == "SciPy" and row.get("n_sources") == 100]
    assert {row["what"] for row in many} == {"msbfs levels"}
    assert all(5 <= row["n_timed"] <= 100 for row in many)


def test_a_wrong_search_of_ours_ends_the_run_before_it_is_timed(monkeypatch, tmp_path):
    def wrong(graph, sources, levels=False):
        found = right(graph, sources, levels)
        return dataclasses.replace(found, n_reached=found.n_reached - 1)

    right = bench_searches.msbfs
    monkeypatch.setattr(bench_searches, "msbfs", wrong)
    with pytest.raises(CheckError):
        run(monkeypatch, tmp_path, "--device", "cpu")


class WrongPeer:
    threads = 1

    def __init__(self, graph):
        self.graph = graph

    @staticmethod
    def check() -> None:
        pass

    def bfs(self, source):
        return bfs(self.graph, source).level

    def levels_of(self, answer, source):
        return answer + 1


def test_a_peer_with_other_levels_is_not_timed_and_the_others_are(monkeypatch, tmp_path):
    module = types.ModuleType("wrong_peer")
    module.WrongPeer = WrongPeer
    monkeypatch.setitem(sys.modules, "wrong_peer", module)
    known = {**peers.PEERS, "cpu": [("wrong", "wrong_peer", "WrongPeer"), *peers.PEERS["cpu"]]}
    monkeypatch.setattr(peers, "PEERS", known)
    rows = run(monkeypatch, tmp_path, "--device", "cpu", "--grid", "0")
    wrong = [row for row in rows if row.get("by") == "wrong"]
    assert [row["note"] for row in wrong] == ["failed: AssertionError: levels differ"]
    assert [row for row in rows if row.get("by") == "plain queue" and "median_ms" in row]


def test_a_call_that_would_take_too_long_is_left_out_and_says_so(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path, "--device", "cpu", "--programs", "hopscope", "--longest", "0")
    assert [row["note"] for row in rows if row.get("n_sources") == 200] == [
        "left out: some 0 s a call"
    ] * 2


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_peers_agree_with_ours_on_a_graph_in_parts(device):
    near, far = np.array([1, 2, 3, 3, 6, 7, 7]), np.array([0, 1, 2, 0, 5, 6, 5])
    graph = csr_from_links(9, near.astype(np.int32), far.astype(np.int32))
    source = 6
    expected = np.array([-1, -1, -1, -1, -1, 1, 0, 1, -1])
    here = graph.to(device)
    for name, make, why in peers.open_peers(device):
        if make is None:
            assert why.startswith("not installed"), name
            continue
        peer = make(here)
        np.testing.assert_array_equal(peer.levels_of(peer.bfs(source), source), expected, name)
        if hasattr(peer, "bfs_many"):
            found = peer.levels_of_many(peer.bfs_many([3, source]), [3, source])
            np.testing.assert_array_equal(found[1], expected, name)
        if hasattr(peer, "components"):
            labels = peers.smallest_labels(peer.components_of(peer.components()))
            np.testing.assert_array_equal(labels, components(graph).component, name)


def test_graphs_are_valid_and_the_same_each_time():
    for make in (lambda: attachment(500), lambda: cut_grid(20)):
        graph = make()
        graph.validate()
        assert graph.graph_hash() == make().graph_hash()
    assert attachment(500).n_edges == 3 + 2 * 497
    assert 0.85 < cut_grid(60).n_edges / (2 * 60 * 59) < 0.95
    shard, sources, source_ptr = many_ases(50)
    shard.validate()
    sizes = np.diff(shard.node_ptr)
    assert (sources < np.repeat(sizes, np.diff(source_ptr))).all()


def test_hubs_are_not_first():
    degrees = np.diff(attachment(2000).indptr)
    assert degrees[:20].mean() < 3 * degrees.mean()
