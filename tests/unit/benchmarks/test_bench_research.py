"""Programs of papers: their files, what they print, and what is changed in their sources."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.lib.graphs import attachment, cut_grid, rmat
from benchmarks.peers.research import Blest, build_ecl_mst, is_social, run_f_diam, write_ecl
from tests.shapes import star


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("graph", "expected"), [(attachment(2_000), True), (rmat(10, 16), True), (cut_grid(40), False)]
)
def test_social_networks_are_those_of_uneven_degrees(graph, expected):
    assert is_social(np.diff(graph.indptr)) == expected


def test_a_graph_in_the_form_of_ecl_programs(tmp_path):
    graph = star(3)
    written = np.fromfile(write_ecl(tmp_path / "graph", graph, np.full(6, 7)), np.int32)
    assert written[:2].tolist() == [graph.n_nodes, graph.n_arcs]
    assert written[2:7].tolist() == graph.indptr.tolist()
    assert written[7:13].tolist() == graph.indices.tolist()
    assert written[13:].tolist() == [7] * 6


def test_figures_of_blest_once_it_is_prepared(tmp_path):
    graph = star(3)
    searches = (
        "Source: 0 - Number of levels processed: 2 - Total visited: 4 - Time took: 1e-1 ms.",
        "Source: 1 - Number of levels processed: 3 - Total visited: 4 - Time took: 0.25 ms.",
    )
    text = (
        "echo Time took to reorder: 1.5; echo PREPARED; until [ -e $2$4.go ]; do sleep 0.01; done;"
    )
    text += "".join(f"echo '{each}';" for each in searches)
    blest = Blest(program(tmp_path / "program", text), tmp_path, "graph", True, 1)
    blest.start(graph.indptr, graph.indices, np.array([0, 1]))
    while not blest.is_ready():
        assert blest.process.poll() is None
    assert blest.search() == ([0.1, 0.25], [4, 4], [2, 3], 1.5)
    assert (tmp_path / "graph.txt").read_text() == "0\n1\n"


def test_figures_of_f_diam(tmp_path):
    quick = program(tmp_path / "quick", "echo final diameter: 9; echo runtime: 0.0125 s")
    assert run_f_diam(quick, tmp_path, 1, 10.0) == (9, 0.0125)
    slow = program(tmp_path / "slow", "exec sleep 10")
    assert run_f_diam(slow, tmp_path, 1, 0.01) == (-1, 0.01)


def test_another_version_of_a_source_is_refused(tmp_path):
    source = tmp_path / "clone" / "source"
    source.mkdir(parents=True)
    (source / "ECL-MST_10.cu").write_text("int main() {}")
    with pytest.raises(ValueError, match="occurs 0 times: another version"):
        build_ecl_mst(tmp_path / "clone", tmp_path)
