"""hopscope search: every kind of graph, what is printed and written, and what cannot be done."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from kernels import CSRGraph
from kernels.compiled import FIRST_RUN
from pipeline.cli import main
from pipeline.config import SearchConfig
from pipeline.graphs import build_graphs
from pipeline.model.addresses import parse_addr
from pipeline.model.topology import Topology
from pipeline.stages.search import _timed
from pipeline.stages.search import search as run_search
from pipeline.store import write_snapshot
from tests.real_data import REPOSITORY

SAMPLES = REPOSITORY / "data" / "samples"
BRITE, SNAP = SAMPLES / "brite" / "topdown_java.brite", SAMPLES / "snap" / "directed.txt"


def run(*words: object) -> int:
    try:
        main([str(word) for word in words])
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return 0


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two ASes in one snapshot, and a snapshot of one AS."""
    store = tmp_path_factory.mktemp("graphs") / "store"
    made = ("generate", "grid", "--routers", 12, "--cut", 0, "--asn", 7, "--store", store)
    assert run(*made, "--snapshot", "grid") == 0
    assert run("ingest", BRITE, "--store", store, "--snapshot", "brite") == 0
    return store


def found(capsys, *words: object) -> dict:
    capsys.readouterr()
    assert run("search", *words, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_a_file_is_searched_whole_by_the_ids_that_it_gives(tmp_path, capsys):
    facts = found(capsys, "shortest_path", SNAP, "--source", 10, "--target", 5)
    assert (facts["n_nodes"], facts["source"], facts["source_name"]) == (6, 1, "10")
    assert facts["result"]["path"] == [1, 4, 0]
    assert [facts["path_names"][0], facts["path_names"][-1]] == ["10", "5"]
    assert facts["certificate"] == "no path is shorter, by a full search"
    out = tmp_path / "levels.parquet"
    assert run("search", "bfs", SNAP, "--source", 10, "--out", out) == 0
    rows = pq.read_table(out).to_pylist()
    assert rows[0] == {"node": 0, "id": 5, "level": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["levels.parquet"]


def test_a_kept_graph_and_an_as_of_a_snapshot_are_searched(store, capsys):
    grid = found(capsys, "diameter", "grid", "--store", store, "--compare")
    assert (grid["graph"], grid["result"]["diameter"]) == ("grid", 5)
    assert set(grid["twins_s"]) >= {"cores"}
    one = found(capsys, "components", "as1", "--store", store, "--snapshot", "brite", "--no-check")
    assert (one["graph"], one["certificate"]) == ("AS1 of brite", None)
    assert one["result"]["n_components"] == 1


def test_nodes_are_named_by_any_of_their_addresses(tmp_path, capsys):
    """Routers 0 and 1 of AS7; router 0 has a second address, which sorts between the others."""
    addrs = np.array([parse_addr(f"192.0.2.{i}") for i in (1, 2, 3)], np.uint64)
    topology = Topology(
        node_asn=np.array([7, 7]),
        near=np.array([0]),
        far=np.array([1]),
        node_addr=addrs[[0, 2]],
        addrs=addrs,
        addr_node=np.array([0, 0, 1]),
    )
    write_snapshot(
        tmp_path / "store",
        "two",
        build_graphs([topology]),
        as_names={},
        inputs=[],
        options={},
        counts={},
        rejects=[],
    )
    where = ("AS7", "--store", tmp_path / "store")
    out = tmp_path / "path.parquet"
    ends = ("--source", "192.0.2.2", "--target", "192.0.2.3", "--out", out)
    facts = found(capsys, "shortest_path", *where, *ends)
    assert (facts["source"], facts["source_name"]) == (0, "192.0.2.1")
    assert (facts["result"]["path"], facts["path_names"]) == ([0, 1], ["192.0.2.1", "192.0.2.3"])
    assert pq.read_table(out)["addr"].to_pylist() == ["192.0.2.1", "192.0.2.3"]
    assert found(capsys, "bfs", *where, "--source", 1)["source_name"] == "192.0.2.3"
    assert run("search", "bfs", *where, "--source", "192.0.2.9") == 2
    assert "is not a router of AS7 of two: no node has this address" in capsys.readouterr().err


def test_a_search_is_printed_in_a_few_lines(store, capsys):
    assert run("search", "bfs", "grid", "--store", store, "--source", 0, "--compare") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "bfs of grid (12 routers, 17 links) from 0"
    assert lines[1] == "Result: 12 routers reached; the farthest, 11, is 5 hops away"
    assert lines[2].startswith("Certificate: every level is the distance in hops (")
    assert lines[3].startswith("Time: ")
    assert "(sequential)" in lines[3]
    assert run("search", "radius", "grid", "--store", store, "--no-check") == 0
    assert capsys.readouterr().out.splitlines()[2] == "Certificate: not checked"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bfs", BRITE], "bfs needs a source: give --source with a node or its address"),
        (["bfs", BRITE, "--source", 1], "its 5 routers have ids from 2 to 6"),
        (["bfs", BRITE, "--source", "9" * 5000], "its 5 routers have ids from 2 to 6"),
        (["bfs", BRITE, "--source", "x"], "source 'x' is neither a number nor an address"),
        (["bfs", BRITE, "--source", "192.0.2.1"], "topdown_java.brite has no addresses"),
        (["mst", SNAP], "mst needs weights, and not every link of directed.txt has one"),
        (["components", SNAP, "--source", 5], "components takes no --source"),
        (["dfs_", SNAP], "ALGORITHM takes bfs, sssp, "),
        (["bfs", "missing.txt", "--source", 1], "missing.txt: no such file; give the file of a"),
        (["bfs", SAMPLES, "--source", 1], "is a folder: give one file"),
        (["bfs", SAMPLES / "warts" / "sample.warts"], "holds traces, not a graph: ingest it"),
        (["bfs", "AS7", "--source", 1], "AS7 is an AS of a snapshot: give --store DIR"),
        (["components", SNAP, "--snapshot", "a"], "--snapshot is for an AS, as in AS3356"),
        (["components", SNAP, "--out", "no/a.parquet"], "--out no/a.parquet: no folder no"),
        (["components", SNAP, "--out", "a.csv"], "--out a.csv: tables are written as Parquet"),
        (["components", SNAP, "--out", "."], "--out . is a folder: give a file"),
        (["components", SAMPLES / "lab" / "lab.pfx2as"], "unknown format (text that begins with"),
    ],
    ids=lambda words: " ".join(str(word) for word in words[:2]) if isinstance(words, list) else "",
)
def test_what_cannot_be_done_is_reported_in_one_line(words, message, capsys, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_SNAPSHOT", "other")  # of other commands
    monkeypatch.delenv("HOPSCOPE_STORE", raising=False)
    assert run("search", *words) == 2
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "hopscope: " in line]
    assert message in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["brite"], "snapshot brite has 2 ASes: give one of them, as in AS0 --snapshot brite"),
        (
            ["AS9", "--snapshot", "brite"],
            "AS9 is not in snapshot brite, which has 2 ASes, namely AS",
        ),
        (["AS9", "--snapshot", "grid"], "AS9 is not in snapshot grid, which has 1 AS, namely AS7"),
        (["AS9999999999"], "AS9999999999: an AS number lies between 0 and 4294967295"),
        (["none"], "none: no such file, and no snapshot 'none' in "),
        (["AS1", "--snapshot", "gone"], "no snapshot 'gone'; available snapshots: "),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_what_a_store_does_not_have_is_said_with_what_it_has(words, message, store, capsys):
    capsys.readouterr()
    assert run("search", "components", *words, "--store", store) == 2
    assert message in capsys.readouterr().err


def test_a_store_that_is_not_there_is_no_empty_one(tmp_path, capsys):
    assert run("search", "components", "none", "--store", tmp_path / "away") == 2
    assert f"in {tmp_path}/away: there is no such folder" in capsys.readouterr().err


@pytest.mark.parametrize(("pause_s", "n_runs"), [(0.0, 3), (0.05, 2)])
def test_the_time_of_a_short_search_is_that_of_its_second_run(pause_s, n_runs, monkeypatch):
    monkeypatch.setattr("pipeline.stages.search.RUN_TWICE_S", 0.02)
    runs = []

    def run_it(graph, source, target):
        runs.append(graph.n_nodes)
        time.sleep(pause_s)
        return len(runs)

    graph = CSRGraph.from_edges([0, 1], [1, 2], symmetrise=True)
    found, seconds = _timed(
        SimpleNamespace(implementations={"cores": run_it}), "cores", graph, None, None
    )
    assert (found, runs) == (n_runs, [2, *[3] * (n_runs - 1)])
    assert seconds >= pause_s


def test_a_file_of_which_most_links_are_broken_is_searched_and_ends_with_its_share(
    tmp_path, capsys
):
    head, _, edges = BRITE.read_text().partition("Edges:")
    title, *lines = edges.splitlines()
    n_bad = len(lines) * 3 // 5
    file = tmp_path / "bad.brite"
    file.write_text("\n".join([head + "Edges:" + title, *["x"] * n_bad, *lines[n_bad:]]) + "\n")
    assert run("search", "components", file) == 1
    said = capsys.readouterr().err
    assert f"{n_bad} of {len(lines)} edges rejected (" in said
    assert run("search", "components", BRITE) == 0


def test_links_from_a_node_to_itself_are_counted(tmp_path, capsys):
    file = tmp_path / "loops.txt"
    file.write_text("1 1\n1 2\n2 2\n")
    assert run("ingest", file, "--asn", 1, "--store", tmp_path / "store") == 0
    assert "2 of 3 links left out: from a node to itself" in capsys.readouterr().err


@pytest.mark.parametrize("there", [{"kernels", "pipeline.ingest"}, {"kernels"}, set()])
def test_a_search_says_that_it_compiles_where_nothing_came_along(there, tmp_path, monkeypatch):
    graph = tmp_path / "graph.txt"
    graph.write_text("1 2\n2 3\n")
    monkeypatch.setattr("pipeline.stages.search.has_compiled", lambda package: package in there)
    shown = []
    config = SearchConfig(algorithm="diameter", graph=str(graph))
    run_search(config, lambda progress: shown.append(progress.detail))
    assert shown[0] == (f"{graph}" if len(there) == 2 else f"{graph}, {FIRST_RUN}")
