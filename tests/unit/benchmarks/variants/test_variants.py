"""Searches in the forms that papers compare: names, device code, levels, tables, the program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from benchmarks import bench_variants
from benchmarks.lib.record import REPOSITORY, RESULTS
from benchmarks.pages.plot_searches import fill
from benchmarks.variants import tables
from benchmarks.variants.choices import ALL, STANDARD, Variant, parse
from benchmarks.variants.regular import regular_graph
from kernels import CSRGraph, GraphError, bfs
from kernels._cuda.loader import options_for, source_of
from kernels.breadth_first import bfs_queue
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from tests.shapes import graph_of, grid, host, path, star

CU_FILE = Path(bench_variants.__file__).with_name("variants") / "variants.cu"
PAGE = REPOSITORY / "docs" / "variants.md"
PROGRAM = REPOSITORY / "benchmarks" / "bench_variants.py"
RUN = {
    "command": "python benchmarks/bench_variants.py",
    "date": "2026-11-22T01:00:00+00:00",
    "commit": "abc",
    "machine": {"gpus": ["NVIDIA H200, 580.1"]},
}


def scipy_levels(graph: CSRGraph, source: int) -> np.ndarray:
    arrays = (np.ones(graph.n_arcs, np.int8), graph.indices, graph.indptr)
    matrix = csr_array(arrays, shape=(graph.n_nodes, graph.n_nodes))
    hops = dijkstra(matrix, indices=source, unweighted=True)
    return np.where(np.isinf(hops), -1, hops).astype(np.int32)


# Names


def test_there_are_36_variants_and_15_of_one_difference_at_most():
    assert len({variant.name for variant in ALL}) == 36
    assert len(STANDARD) == 15
    assert all(parse(variant.name) == variant for variant in ALL)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("padded", Variant("thread", "padded")),
        ("busy-wait+warp", Variant("warp", is_busy_wait=True)),
        ("hybrid+offsets+read-only", Variant("hybrid", is_read_only=True)),
    ],
)
def test_choices_come_in_any_order_and_have_plain_ones_as_default(name, expected):
    assert parse(name) == expected


@pytest.mark.parametrize("name", ["", "block", "warp+thread", "padded+pointers", "warp+warp"])
def test_an_unknown_variant_is_refused(name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        parse(name)


# Device code


@pytest.mark.soak
def test_compiles_without_a_gpu():
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC (extra nvrtc) is not installed")
    from tests.unit.kernels._cuda.test_cu_files_compile import (
        ARCHITECTURES,
        FIRST_HALF,
        compiler_log,
    )

    for architecture in ARCHITECTURES:
        given = options_for(CU_FILE)
        if architecture in ("compute_75", "compute_80"):
            given = (*given, FIRST_HALF)
        assert compiler_log(source_of(CU_FILE), CU_FILE.name, architecture, given) == ""


def ptx_of_kernels() -> dict[str, str]:
    from cuda.bindings import nvrtc

    from tests.unit.kernels._cuda.test_cu_files_compile import include_options

    _, program = nvrtc.nvrtcCreateProgram(source_of(CU_FILE).encode(), b"variants.cu", 0, [], [])
    options = [option.encode() for option in (*options_for(CU_FILE), "-arch=compute_90")]
    options += include_options()
    assert nvrtc.nvrtcCompileProgram(program, len(options), options)[0] == 0
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = bytes(size + 64)
    nvrtc.nvrtcGetPTX(program, text)
    nvrtc.nvrtcDestroyProgram(program)
    parts = text.decode().strip("\0").split(".entry ")[1:]
    return {part.partition("(")[0]: part for part in parts}


def test_only_read_only_variants_load_through_the_read_only_path_and_all_have_their_kernels():
    """Otherwise equal loads would be compared: compilers choose that path by themselves."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC (extra nvrtc) is not installed")
    kernels = ptx_of_kernels()
    used = set()
    for variant in ALL:
        one_kernel = variant.is_busy_wait or variant.mapping != "hybrid"
        for mapping in (variant.mapping,) if one_kernel else ("thread", "warp"):
            text = kernels[variant.kernel(mapping)]
            assert ("ld.global.nc" in text) == variant.is_read_only
            assert ("atom.global.cas" in text) == (variant.mapping == "hybrid")
            used.add(variant.kernel(mapping))
    assert set(kernels) - used == {"variant_start", "variant_place"}


# Levels


def lists_of_all_lengths() -> CSRGraph:
    """Lists of 1, 31, 32, 33, 64 and 65 nodes, a component apart, two isolated nodes."""
    edges, next_node, lengths = [], 6, (1, 31, 32, 33, 64, 65)
    for hub, length in enumerate(lengths):
        so_far = (hub > 0) + (hub < len(lengths) - 1)  # the hubs are a path
        if hub:
            edges.append((hub - 1, hub))
        for _ in range(length - so_far):
            edges.append((hub, next_node))
            next_node += 1
    edges.append((next_node, next_node + 1))
    return graph_of(next_node + 4, edges)


GRAPHS = {
    "one node": lambda: graph_of(1, []),
    "isolated nodes": lambda: graph_of(5, [(1, 3)]),
    "hub": lambda: star(100_000, hub=77),
    "long path": lambda: path(700),
    "grid": lambda: grid(20, 30),
    "list lengths": lists_of_all_lengths,
    "attachment": lambda: barabasi_albert_graph(20_000, m=3, seed=4, shuffled=True),
    "regular": lambda: regular_graph(3000, 32),
}


def test_the_graph_of_list_lengths_has_them():
    degree = np.diff(lists_of_all_lengths().indptr)
    assert degree[:6].tolist() == [1, 31, 32, 33, 64, 65]


@pytest.mark.gpu
@pytest.mark.parametrize("name", GRAPHS)
def test_every_variant_has_the_levels_of_scipy(name):
    from benchmarks.variants import gpu

    graph = GRAPHS[name]()
    here = graph.to("gpu")
    placed = {lists: gpu.place(here, lists) for lists in ("offsets", "pointers", "padded")}
    for source in {0, graph.n_nodes // 2, graph.n_nodes - 1}:
        expected = scipy_levels(graph, source)
        for variant in ALL:
            for warp_from in {gpu.WARP_FROM, 0, 1 << 30} if variant.mapping == "hybrid" else {0}:
                level, eccentricity = gpu.search(variant, placed[variant.lists], source, warp_from)
                np.testing.assert_array_equal(host(level), expected, variant.name)
                assert eccentricity == expected.max(), variant.name


@pytest.mark.gpu
def test_a_graph_without_nodes_has_no_source():
    from benchmarks.variants import gpu

    here = graph_of(0, []).to("gpu")
    for variant in ALL:
        with pytest.raises(GraphError, match="has 0 nodes"):
            gpu.search(variant, gpu.place(here, variant.lists), 0)


@pytest.mark.gpu
def test_lists_lie_as_described():
    from benchmarks.variants import gpu

    graph = lists_of_all_lengths()
    here = graph.to("gpu")
    padded = gpu.place(here, "padded")
    start, places = host(padded.where), host(padded.what)
    assert not (start % 32).any()
    pointers = gpu.place(here, "pointers")
    first = (host(pointers.where) - pointers.places.data.ptr) // 4
    assert not (host(pointers.where) % 16).any()
    for u in range(graph.n_nodes):
        arcs = graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
        of_node = places[start[u] : start[u + 1]]
        assert of_node[: len(arcs)].tolist() == arcs.tolist()
        assert (of_node[len(arcs) :] == -1).all()
        at = int(first[u])
        assert host(pointers.places)[at : at + len(arcs)].tolist() == arcs.tolist()
    order = np.argsort(first[:6])
    assert order.tolist() != sorted(order)
    with pytest.raises(ValueError, match="offsets"):
        gpu.search(Variant(lists="padded"), gpu.place(here, "offsets"), 0)


# Lists of equal length


@pytest.mark.parametrize(
    ("n_nodes", "degree"), [(10, 0), (6, 3), (5, 4), (1000, 2), (1000, 64), (3001, 16)]
)
def test_regular_graphs_are_simple_and_all_nodes_have_equally_many_neighbours(n_nodes, degree):
    graph = regular_graph(n_nodes, degree, seed=3)
    CSRGraph(graph.indptr, graph.indices)  # validates: symmetric, sorted, no loop, none twice
    assert np.unique(np.diff(graph.indptr)).tolist() == [degree]
    again, other = regular_graph(n_nodes, degree, seed=3), regular_graph(n_nodes, degree, seed=4)
    np.testing.assert_array_equal(graph.indices, again.indices)
    if n_nodes > 10:
        assert not np.array_equal(graph.indices, other.indices)


@pytest.mark.parametrize(("n_nodes", "degree"), [(5, 3), (4, 4), (3, -1)])
def test_a_regular_graph_that_cannot_be_is_refused(n_nodes, degree):
    with pytest.raises(ValueError, match=f"no graph of {n_nodes} nodes"):
        regular_graph(n_nodes, degree)


# Tables


def rows(graph: str, **times: float) -> list[dict]:
    """Rows of one graph; ``_`` of a form is read as +."""
    names = {"ours": tables.OURS, "published": tables.PUBLISHED}
    forms = {names.get(key, key.replace("_", "+")): ms for key, ms in times.items()}
    about = {"graph": graph, "eccentricity": [4, 5]}
    return [about | {"form": form, "median_ms": ms} for form, ms in forms.items()]


def test_without_results_the_tables_say_so():
    assert list(tables.tables([])) == ["Not measured yet."]


def test_tables_show_the_best_the_effect_of_choices_and_lists_of_equal_length():
    of_graphs = [
        *rows("attachment-10000", ours=0.5, published=0.9, thread=2.0, warp=1.0, warp_padded=4.0),
        *rows("regular-8", ours=0.25, thread=1.5, warp=2.5),
        *rows("uneven-8", thread=3.5, warp=3.0),
        {"graph": "uneven-8", "form": "warp+padded", "note": "no memory", "eccentricity": [4]},
    ]
    text = "\n".join(tables.tables([RUN | {"rows": of_graphs}]))
    assert "### NVIDIA H200\n" in text
    assert "`python benchmarks/bench_variants.py`, 2026-11-22, commit abc" in text
    assert "| median, ms | 10,000 routers |" in text
    assert "| hopscope bfs | 0.5 |" in text
    assert "| warp | **1** |" in text
    assert "| *levels, on average* | *6* |" in text  # 5.5
    assert "| padded lists: warp | 0.25 |" in text
    assert "busy-wait" not in text
    assert "| thread, equal | 1.5 |" in text
    assert "| thread, uneven | 3.5 |" in text
    assert "warp+padded, uneven" not in text
    assert "- 10,000 routers: `warp`, 1 ms; hopscope bfs 0.5 ms, 2.00 times as fast" in text
    assert "- 8 neighbours each: `thread`, 1.5 ms; hopscope bfs 0.25 ms, 6.00 times" in text
    assert text.endswith("- 8 neighbours on average: `warp`, 3 ms")


def test_the_page_has_the_tables_of_the_results_that_are_there():
    """After a run: python benchmarks/bench_variants.py --docs."""
    page = PAGE.read_text()
    assert page == fill(page, "figures", "\n".join(tables.tables(tables.load_runs(RESULTS))))


def test_docs_are_written_between_their_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made: figures -->\nold\n<!-- end: figures -->\nafter\n")
    bench_variants.write_docs(tmp_path, page)
    assert "Not measured yet." in page.read_text()
    (tmp_path / "variants_one.json").write_text(
        json.dumps(RUN | {"rows": rows("grid-300", thread=2.0)})
    )
    bench_variants.write_docs(tmp_path, page)
    text = page.read_text()
    assert text.startswith("before\n<!-- made: figures -->\n### NVIDIA H200")
    assert "- cut grid 300 x 300: `thread`, 2 ms\n<!-- end: figures -->\nafter\n" in text


# The program


def test_names_of_graphs_and_variants():
    for name in bench_variants.GRAPHS:
        assert callable(bench_variants.maker(name, 4_000_000))
    regular = bench_variants.maker("regular-8", 80_000)()
    uneven = bench_variants.maker("uneven-8", 80_000)()
    assert regular.n_nodes == uneven.n_nodes == 10_000
    assert abs(uneven.n_arcs / regular.n_arcs - 1) < 0.01
    assert bench_variants.maker("grid-30", 0)().n_nodes == 900
    for name in ("", "grid", "grid-", "regular-3", "ring-4", "attachment-0", "grid-x"):
        with pytest.raises(ValueError, match=f"graph '{name}'"):
            bench_variants.maker(name, 1000)
    assert bench_variants.chosen_variants(None) == STANDARD
    assert bench_variants.chosen_variants(["all"]) == ALL
    assert bench_variants.chosen_variants(["warp", "warp"]) == (Variant("warp"),)


@pytest.fixture
def stand_in(monkeypatch):
    """Searches on a core in the place of those on a GPU; ``wrong`` spoils one variant's levels."""
    state = SimpleNamespace(wrong=None, without_memory=None)

    def place(graph, lists):
        if lists == state.without_memory:
            raise bench_variants.DeviceMemoryError("GPU 0 has too little free memory")
        return SimpleNamespace(graph=graph, n_bytes=7)

    def search(variant, placed, source, warp_from):
        found = bfs_queue(placed.graph, source)
        if variant.name == state.wrong:
            found.level[0] += 1
        return found.level, found.eccentricity

    fake = SimpleNamespace(place=place, search=search)
    monkeypatch.setitem(sys.modules, "benchmarks.variants.gpu", fake)
    monkeypatch.setattr("benchmarks.variants.gpu", fake, raising=False)
    monkeypatch.setattr(CSRGraph, "to", lambda graph, device: graph)
    monkeypatch.setattr(bench_variants, "bfs_two_kernel", bfs)

    def elapsed(call, source):
        call(source)
        return 3.0

    monkeypatch.setattr(bench_variants, "event_ms", elapsed)
    return state


def test_every_form_has_a_row_and_what_found_no_memory_says_so(stand_in):
    stand_in.without_memory = "padded"
    bench = bench_variants.Bench(STANDARD, 3, 16)
    bench.graph("grid-12", grid(12, 12))
    by_form = {row["form"]: row for row in bench.rows}
    assert len(bench.rows) == len(by_form) == 2 + len(STANDARD)
    assert by_form["warp+busy-wait"]["median_ms"] == 3.0
    assert by_form["warp+busy-wait"]["repeats"] == 3
    assert by_form["warp+busy-wait"]["differences"] == ["busy-wait"]
    assert len(by_form[tables.OURS]["eccentricity"]) == 3
    assert "too little free memory" in by_form["thread+padded"]["note"]
    assert "median_ms" not in by_form["thread+padded"]
    json.dumps(bench.rows)


def test_a_variant_with_other_levels_is_not_timed(stand_in):
    stand_in.wrong = "hybrid+read-only"
    bench = bench_variants.Bench(STANDARD, 3, 16)
    with pytest.raises(AssertionError, match=r"hybrid\+read-only: levels from \d+ differ"):
        bench.graph("grid-12", grid(12, 12))
    assert not bench.rows


def test_without_a_gpu_the_program_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench_variants, "visible_gpus", list)
    monkeypatch.setattr(sys, "argv", ["bench_variants.py", "--folder", str(tmp_path)])
    bench_variants.main()
    assert "no GPU" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.gpu
def test_the_program_on_small_graphs(tmp_path):
    graphs = ["attachment-3000", "grid-20", "regular-4", "uneven-4"]
    given = ["--graph", *graphs, "--variant", "all", "--arcs", "20000", "--repeats", "3"]
    more = ["--subject", "variants_test", "--folder", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *given, *more], check=True, capture_output=True, text=True
    )
    found = json.loads((tmp_path / "variants_test.json").read_text())
    assert len(found["rows"]) == len(graphs) * (2 + len(ALL))
    assert all(row["median_ms"] > 0 for row in found["rows"])
    assert "- cut grid 20 x 20: `" in done.stdout
