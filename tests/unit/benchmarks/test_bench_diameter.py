"""Diameters in benchmarks: right on small graphs, cut off if long, reported as measured."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings

from benchmarks import bench_diameter
from benchmarks.diameter import graphs as diameter_graphs
from benchmarks.diameter import peers
from benchmarks.diameter.graphs import describe, graphs, top_down
from benchmarks.diameter.peers import PROGRAMS, time_program
from benchmarks.diameter.profile import PARTS, WRAPPED, timed_parts
from benchmarks.lib.charts import number
from benchmarks.lib.graph_files import largest_component, read_graph, write_edge_list
from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.lib.record import RESULTS
from benchmarks.pages import diameter_page
from benchmarks.peers.baselines import PlainBounds
from benchmarks.peers.f_diam import BruteForce, FDiam
from kernels import CSRGraph, diameter
from kernels.eccentricity import Strategy
from kernels.eccentricity import solver as driver
from kernels.eccentricity import strategy as policy
from tests import strategies
from tests.real_data import REPOSITORY, real_data
from tests.soak import examples

DOCS = REPOSITORY / "docs"
DIAMETERS = {  # published, of the largest weakly connected components
    "graphs/as-caida20071105.jlg": (26_475, 53_381, 17),
    "graphs/oregon1_010331.txt": (10_670, 22_002, 10),
    "graphs/PGPgiantcompo.graph": (10_680, 24_316, 24),
    "graphs/power.graph": (4941, 6594, 46),
    "graphs/wing.graph": (62_032, 121_544, 92),
    "graphs/4elt.graph": (15_606, 45_878, 102),
    "graphs/wiki-Vote.txt": (7066, 100_736, 7),
    "graphs/ca-HepPh.txt": (11_203, 117_618, 13),
}


def in_networkx(graph: CSRGraph) -> nx.Graph:
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    other = nx.Graph(zip(tails.tolist(), graph.indices.tolist(), strict=True))
    other.add_nodes_from(range(graph.n_nodes))
    return other


@pytest.mark.parametrize("name", DIAMETERS)
def test_published_graphs_have_their_known_sizes_and_diameters(name):
    graph = read_graph(real_data(name))
    assert (graph.n_nodes, graph.n_edges, diameter(graph).diameter) == DIAMETERS[name]


@pytest.mark.parametrize("name", ["1755.r0.cch.gz", "3967.r0.cch.gz", "1221.cch.gz"])
def test_maps_of_routers_agree_with_one_search_per_node(name, monkeypatch):
    monkeypatch.setattr(BruteForce, "budget_s", np.inf)  # every node, however slow the machine
    graph = read_graph(real_data(f"rocketfuel/{name}"))
    graph.validate()
    assert graph.n_nodes > 100
    assert BruteForce(graph).diameter() == diameter(graph).diameter


def test_topologies_are_read_by_the_products_reader():
    graph = read_graph(REPOSITORY / "data" / "samples" / "brite" / "topdown_java.brite")
    assert (graph.n_nodes, graph.n_edges) == (5, 5)


def test_what_is_written_is_read_again(tmp_path):
    graph = attachment(50, seed=3)
    for name in ("a.txt", "a.txt.gz"):
        write_edge_list(graph, tmp_path / name, "some")
        assert read_graph(tmp_path / name).graph_hash() == graph.graph_hash()


@pytest.mark.parametrize(
    ("name", "text", "n_nodes", "n_edges"),
    [
        ("a.graph", "% says\n4 3 0\n2 3\n1\n1 4\n3\n", 4, 3),
        ("a.graph", "4 1\n2\n1\n\n\n", 2, 1),
        ("a.txt", "7 8 {}\n8 9 {'weight': 2}\n20 21 {}\n", 3, 2),
        ("a.cch", "1 @X (1) -> <2> {-5} =a! r1\n2 @Y + bb (2) -> <1> <3> =b r0\n-5 =c r1\n", 3, 2),
    ],
)
def test_formats_of_benchmarks_as_counted_by_hand(tmp_path, name, text, n_nodes, n_edges):
    (tmp_path / name).write_text(text)
    graph = read_graph(tmp_path / name)
    graph.validate()
    assert (graph.n_nodes, graph.n_edges) == (n_nodes, n_edges)


@pytest.mark.parametrize(
    ("text", "message"),
    [("4 3 11\n", "METIS with weights"), ("4 3\n1\n", "2 lists of neighbours; .* says 4")],
)
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, text, message):
    (tmp_path / "a.graph").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / "a.graph")


@settings(max_examples=examples(60), deadline=None)
@given(graph=strategies.graphs(max_nodes=30))
def test_triangles_and_clustering_agree_with_networkx(graph):
    other = in_networkx(graph)
    found = describe(graph)
    assert found["n_triangles"] == sum(nx.triangles(other).values()) // 3
    assert found["clustering"] == pytest.approx(nx.average_clustering(other), abs=1e-6)


@settings(max_examples=examples(150), deadline=None)
@given(graph=strategies.graphs(min_nodes=2, max_nodes=30))
def test_baselines_agree_with_networkx(graph):
    graph = largest_component(graph)
    assume(graph.n_edges > 0)
    expected = nx.diameter(in_networkx(graph))
    for peer in (FDiam, BruteForce, PlainBounds):
        assert peer(graph).diameter() == expected


@pytest.mark.parametrize(
    "make", [lambda: attachment(3000), lambda: top_down(2000, 20), lambda: cut_grid(30)]
)
def test_baselines_agree_with_one_another_on_larger_graphs(make):
    graph = largest_component(make())
    found = {peer(graph).diameter() for peer in (FDiam, BruteForce, PlainBounds)}
    assert found == {diameter(graph).diameter}


def test_graphs_are_made_by_name_and_seed():
    made = dict(graphs([], [100], [300], [10]))
    assert list(made) == ["attachment 100", "top-down 300", "cut grid 10"]
    assert made["attachment 100"](1).graph_hash() == attachment(100, 1).graph_hash()
    assert made["attachment 100"](2).graph_hash() != attachment(100, 1).graph_hash()


def test_a_program_is_timed_or_cut_off(monkeypatch):
    monkeypatch.setattr(peers, "BUDGET_S", 0.1)
    graph = attachment(2000)
    expected = diameter(graph).diameter
    timed = time_program("F-Diam", graph, "diameter", 60, expected)
    assert timed["value"] == expected
    assert timed["median_ms"] > 0
    assert timed["n_searches"] >= 3
    # Endless compared with this limit on any machine: one search per node of twenty thousand.
    late = time_program("plain bounds", attachment(20_000), "eccentricities", 0.001)
    assert late == {"note": "> 0.001 s", "cutoff_s": 0.001}


def test_a_program_that_is_wrong_or_has_no_call_says_so(in_this_process):
    graph = attachment(200)
    expected = diameter(graph).diameter
    wrong = time_program("F-Diam", graph, "diameter", 60, expected + 1)
    assert wrong == {"note": f"wrong: {expected}, not {expected + 1}"}
    none = time_program("F-Diam", graph, "eccentricities", 60)
    assert none == {"note": "no call"}


def test_the_time_of_a_diameter_is_divided_into_parts_and_the_driver_left_unchanged():
    before = dict(vars(driver.EccentricitySolver)), policy.choose_step
    with timed_parts() as parts:
        diameter(attachment(2000))
        diameter(attachment(2000), strategy=Strategy(keep=False))
    shares = parts.shares()
    assert list(shares) == list(PARTS)
    assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
    assert all(shares[part] > 0 for part in PARTS if part != "initialise")
    assert (dict(vars(driver.EccentricitySolver)), policy.choose_step) == before


@pytest.mark.parametrize(("module", "name"), [names[:2] for names in WRAPPED["gpu"]])
def test_functions_timed_on_a_gpu_are_in_the_driver(module, name):
    """Also where the driver cannot be imported."""
    owner = ast.parse(Path(find_spec(module).origin).read_text())
    for part in name.split("."):
        owner = next(each for each in ast.walk(owner) if getattr(each, "name", None) == part)
    assert isinstance(owner, ast.FunctionDef | ast.alias)


@pytest.mark.gpu
def test_the_time_of_a_diameter_on_a_gpu_is_divided_into_parts():
    with timed_parts("gpu") as parts:
        diameter(attachment(2000).to("gpu"))
    shares = parts.shares()
    assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
    assert all(shares[part] > 0 for part in ("initialise", "choose", "search", "bounds"))


def test_rmat_graphs_are_the_same_for_a_seed_and_have_no_loop_or_double():
    ((name, make),) = graphs([], [], [], [], [(9, 8)])
    graph, again, other = make(1), make(1), make(2)
    assert name == "RMAT 9 x 8"
    graph.validate()
    tails = np.repeat(np.arange(512), np.diff(graph.indptr))
    pairs = set(zip(tails.tolist(), graph.indices.tolist(), strict=True))
    assert len(pairs) == graph.n_arcs < 2 * 8 * 512
    assert all(a != b and (b, a) in pairs for a, b in pairs)
    np.testing.assert_array_equal(graph.indices, again.indices)
    assert len(other.indices) != len(graph.indices) or (other.indices != graph.indices).any()
    degree = np.diff(graph.indptr)
    share = degree[:256].sum() / degree.sum()  # .76 of the ends as drawn, fewer once
    assert 0.6 < share < 0.76
    assert (degree == 0).any()


def test_triangles_of_very_large_graphs_are_not_counted(monkeypatch):
    monkeypatch.setattr(diameter_graphs, "MOST_TRIANGLES", 10)
    about = describe(attachment(200)) | {"graph": "large", "diameter": 7}
    assert "n_triangles" not in about
    *_, row = diameter_page.graph_table([about])
    assert row == f"| large | 200 | {about['n_edges']:,} | 7 |  |"


@pytest.fixture
def in_this_process(monkeypatch):
    """Run other programs here: a process for each call takes a second to start."""

    def run(words: list[str], **_) -> subprocess.CompletedProcess:
        monkeypatch.setattr(sys, "argv", words[2:])
        why = ""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                peers._main()
            except SystemExit as stopped:
                why = str(stopped.code)
        return subprocess.CompletedProcess(words, int(bool(why)), printed.getvalue(), why)

    monkeypatch.setattr(peers, "subprocess", SimpleNamespace(run=run))


@pytest.fixture
def measured(tmp_path, monkeypatch, in_this_process) -> Path:
    """Results of a small run in a folder, and a page to be filled."""
    monkeypatch.setattr("os.sched_setaffinity", lambda *_: None)  # this process goes on
    file = tmp_path / "small.txt"
    write_edge_list(attachment(200), file, "small")
    words = ["bench_diameter.py", str(file), "--grid", "12", "--ablation", "--effective"]
    words += [
        "--question",
        "diameter,eccentricities,radius",
        "--programs",
        "hopscope,F-Diam,plain bounds",
    ]
    words += ["--seeds", "2", "--budget", "0", "--cutoff", "60", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    bench_diameter.main()
    (tmp_path / "benchmarks.md").write_text(
        "before\n<!-- made: diameters -->\nold\n<!-- end: diameters -->\nafter\n"
    )
    return tmp_path


def test_a_run_is_recorded_and_shown_on_the_page(measured, monkeypatch, capsys):
    run = json.loads((measured / "diameter.json").read_text())
    rows = run["rows"]
    assert {row["what"] for row in rows} == {"graph", "diameter", "eccentricities", "radius"}
    assert {row["graph"] for row in rows} == {"small.txt", "cut grid 12"}
    expected = nx.diameter(in_networkx(attachment(200)))
    values = [row["value"] for row in rows if row["graph"] == "small.txt" and "value" in row]
    assert set(values) == {expected, nx.radius(in_networkx(attachment(200)))}
    several = [row for row in rows if "seeds_ms" in row]
    assert {row["graph"] for row in several} == {"cut grid 12"}
    assert [len(row["seeds_ms"]) for row in several] == [2] * 7  # F-Diam has diameters only
    words = ["diameter_page.py", "--results", str(measured), "--docs", str(measured)]
    monkeypatch.setattr(sys, "argv", words)
    diameter_page.main()
    page = (measured / "benchmarks.md").read_text()
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "| small.txt | 200 | 397 |" in page
    assert "| diameter, ms | hopscope | searches | F-Diam | plain bounds |" in page
    (whole,) = (
        row["median_ms"]
        for row in rows
        if (row["what"], row["graph"], row.get("by")) == ("diameter", "small.txt", "hopscope")
        and "without" not in row
    )
    assert f"\n| small.txt | {number(whole)} | " in page  # not that of a run without a reduction
    assert "| no call |" in page
    assert " e+" not in page


def test_docs_show_what_the_committed_results_say(monkeypatch, tmp_path):
    """Else: python benchmarks/pages/diameter_page.py."""
    page = (DOCS / "benchmarks.md").read_text()
    (tmp_path / "benchmarks.md").write_text(page)
    words = ["diameter_page.py", "--results", str(RESULTS), "--docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    diameter_page.main()
    assert (tmp_path / "benchmarks.md").read_text() == page


def test_the_newer_of_two_results_counts_and_says_what_it_adds(tmp_path):
    machine = {"cpu": "Some CPU", "cores": 2, "gpus": []}
    about = {"machine": machine, "command": "python it", "commit": "abc"}
    graph = {"what": "graph", "graph": "g", "n_nodes": 5}
    row = {"what": "diameter", "graph": "g", "n_nodes": 5, "device": "cpu", "by": "hopscope"}
    old = [graph | {"effective_diameter": 3.5}, row | {"median_ms": 2.0}]
    new = [graph, row | {"median_ms": 1.0}]
    for name, date, rows in (("b", "2026-11-21", old), ("a", "2026-11-22", new)):
        text = json.dumps(about | {"date": date, "rows": rows})
        (tmp_path / f"diameter_{name}.json").write_text(text)
    first, second = sorted(diameter_page.load(tmp_path), key=lambda row: row["what"])
    assert first["median_ms"] == 1.0
    assert second["effective_diameter"] == 3.5


def test_of_several_seeds_the_median_counts_and_what_was_cut_off_is_the_largest():
    cut = {"note": "> 60 s", "cutoff_s": 60.0}
    timed = [{"median_ms": 8.0}, cut, {"median_ms": 20.0}]
    row = bench_diameter.of_seeds(timed)
    assert row == {"median_ms": 8.0, "cutoff_s": 60.0, "seeds_ms": [8.0, None, 20.0]}
    assert diameter_page.milliseconds(row) == "20 (8 to > 60 s)"
    ours = {"median_ms": 2.0, "seeds_ms": [2.0, 4.0, 1.0]}
    assert diameter_page.ratio(ours, [row]) == "10"
    assert diameter_page.ratio(ours, [row, {"median_ms": 5.0}]) == "2.5"
    assert diameter_page.ratio(ours, [cut]) == "> 30,000"
    assert diameter_page.ratio(ours, [{"note": "no call"}]) == ""
    assert bench_diameter.of_seeds([cut]) == cut
    wrong = {"note": "wrong: 3, not 4"}
    assert bench_diameter.of_seeds([timed[0], wrong]) == wrong
    assert diameter_page.milliseconds(wrong) == wrong["note"]


def test_every_program_that_is_timed_can_be_imported_or_is_reported_as_absent():
    assert set(diameter_page.PEERS + diameter_page.BASELINES) == set(PROGRAMS)
