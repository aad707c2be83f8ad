"""Results print what they found, not their arrays; in notebooks as a table."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import kernels
from kernels import CSRGraph
from kernels.printed import Printed, _text

N = 2_000  # nodes of a path


@pytest.fixture(scope="module")
def path() -> CSRGraph:
    nodes = np.arange(N)
    return CSRGraph.from_edges(nodes[:-1], nodes[1:], np.ones(N - 1), symmetrise=True)


SEARCHES = {
    "bfs": lambda graph: kernels.bfs(graph, 0, parents=True),
    "msbfs": lambda graph: kernels.msbfs(graph, [0, 7]),
    "sssp": lambda graph: kernels.sssp(graph, 0),
    "shortest_path": lambda graph: kernels.shortest_path(graph, 0, N - 1),
    "mst": kernels.mst,
    "components": kernels.components,
    "dfs": kernels.dfs,
    "diameter": kernels.diameter,
    "radius": kernels.radius,
    "center": kernels.center,
    "periphery": kernels.periphery,
    "weighted_diameter": kernels.weighted_diameter,
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_result_prints_on_a_few_lines_and_as_a_table(path, name):
    result = SEARCHES[name](path)
    text, table = repr(result), result._repr_html_()
    assert text.startswith(f"{type(result).__name__}(")
    assert len(text) < 400
    assert "array(" not in text
    assert "CSRGraph" not in text
    for each in fields(result):
        value = getattr(result, each.name)
        shown = each.repr and value is not None
        assert (f"{each.name}=" in text) == shown, each.name
        assert (f"<td>{each.name}</td>" in table) == shown, each.name
    assert table.startswith(f"<b>{type(result).__name__}</b><table><tr>")


def test_every_public_result_prints_so():
    results = [
        kind for kind in vars(kernels).values() if is_dataclass(kind) and "check" in dir(kind)
    ]
    assert len(results) >= 11
    for kind in results:
        assert kind.__repr__ is Printed.__repr__, kind


def test_what_was_asked_for_comes_first_and_long_arrays_are_cut(path):
    found = repr(kernels.diameter(path))
    assert found.startswith("Diameter(diameter=1999, path=[")
    assert " ...] (2,000 int32), component=0, n_searches=" in found
    assert repr(kernels.bfs(path, 1)) == (
        "BFSResult(source=1, level=[1 0 1 2 3 4 ...] (2,000 int32), "
        "eccentricity=1998, n_reached=2000)"
    )
    assert repr(kernels.bfs(CSRGraph.from_edges([0], [1], symmetrise=True), 0)) == (
        "BFSResult(source=0, level=[0 1], eccentricity=1, n_reached=2)"
    )


def test_texts_are_escaped_and_arrays_of_rows_are_their_shape():
    assert _text(np.zeros((1200, 3), np.int64)) == "1,200 x 3 int64"
    assert _text(np.float32(0.1)) == "0.1"
    found = kernels.dfs(CSRGraph.from_edges([0], [1], symmetrise=True))
    object.__setattr__(found, "method", "<script>")
    assert "&lt;script&gt;" in found._repr_html_()
