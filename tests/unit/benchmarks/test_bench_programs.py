"""More programs of papers: their files, what they print, and what is changed in their sources."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bench_programs import _tried
from benchmarks.lib.graphs import with_weights
from benchmarks.peers import programs
from tests.shapes import star
from tests.unit.benchmarks.test_bench_research import program


def test_a_weighted_graph_in_the_form_of_the_gap_suite(tmp_path):
    graph = with_weights(star(3))
    data = programs.write_wsg(tmp_path / "graph.wsg", graph).read_bytes()
    assert data[0] == 0
    sizes = np.frombuffer(data, np.int64, 2 + graph.n_nodes + 1, 1)
    assert sizes[:2].tolist() == [graph.n_arcs, graph.n_nodes]
    assert sizes[2:].tolist() == graph.indptr.tolist()
    arcs = np.frombuffer(data, np.int32, -1, 1 + sizes.nbytes).reshape(-1, 2)
    assert arcs[:, 0].tolist() == graph.indices.tolist()
    assert arcs[:, 1].tolist() == graph.weights.tolist()


def test_wasp_searches_with_the_bucket_that_takes_least_time(tmp_path):
    says = "External Trial Time:   0.{}\\nSSSP Tree reaches 4 nodes\\nMax dist 17"
    text = f'for w; do :; done\nif [ $w = 64 ]; then t=10; else t=20; fi\nprintf "{says}\\n"'
    wasp = programs.Wasp(
        program(tmp_path / "wasp", text.replace("{}", "$t")), tmp_path / "graph.wsg", 1
    )
    assert wasp.width == 64
    assert wasp.search([5, 7]) == [(0.1, 4, 17)]
    assert (tmp_path / "graph.sources").read_text() == "5\n7\n"


def test_a_bucket_with_which_wasp_does_not_end_is_not_chosen(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "LIMIT_S", 2.0)
    says = "External Trial Time:   0.5\\nSSSP Tree reaches 4 nodes\\nMax dist 17\\n"
    text = f'for w; do :; done\nif [ $w = 16 ]; then exec sleep 60; fi\nprintf "{says}"'
    wasp = programs.Wasp(program(tmp_path / "wasp", text), tmp_path / "graph.wsg", 1)
    assert wasp.width == 64


def test_a_program_that_fails_is_named_and_the_others_go_on(tmp_path, capsys):
    failing = program(tmp_path / "cc", "echo no card >&2; exit 3")
    assert _tried("ECL-CC", lambda: programs.run_ecl_cc(failing, tmp_path)) is None
    assert "CalledProcessError no card" in capsys.readouterr().err


def test_figures_of_ecl_cc(tmp_path):
    text = "for t in 9 2 3; do echo compute time: 0.00$t s; done; echo components 12"
    assert programs.run_ecl_cc(program(tmp_path / "cc", text), tmp_path) == (12, [0.002, 0.003])


def test_figures_of_gunrock(tmp_path):
    text = "shift; for s; do echo reached $s depth 3 took 0.250000 ms; done"
    found = programs.run_gunrock(program(tmp_path / "gunrock", text), tmp_path, [6, 8])
    assert found == [(6, 3, 0.25), (8, 3, 0.25)]


def test_another_version_of_ecl_cc_is_refused(tmp_path):
    source = tmp_path / "clone"
    (source / "library").mkdir(parents=True)
    main = source / "src/baseline/egr-input/CC/ECL-CC_11.cu"
    main.parent.mkdir(parents=True)
    main.write_text("int main() {}")
    with pytest.raises(ValueError, match="occurs 0 times: another version"):
        programs.build_ecl_cc(source, tmp_path / "work")
