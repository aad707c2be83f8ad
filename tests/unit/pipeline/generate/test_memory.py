"""What a router takes of memory while graphs are made and built.

Arrays are NumPy's, which tell tracemalloc what they take: so they are alike on every machine.
100 million routers fit into 24 GiB (docs/generate.md) at less than 250 bytes a router.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from pipeline.generate import Parameters, generate
from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.model.columns.gathered import Gathered

N = 600_000


def bytes_a_router(call: Callable[[], object]) -> float:
    """Peak of what NumPy and Python hold while a call runs, for each of N routers."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / N
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("model", "most"), [("ba", 120), ("waxman", 136), ("ba2", 185), ("glp", 220)]
)
def test_a_model_takes_its_columns_and_little_more(model, most):
    generate(model, Parameters(1000))
    assert bytes_a_router(lambda: generate(model, Parameters(N))) < most


def test_graphs_are_built_without_copies_of_the_columns_of_links():
    """The columns of links are 28 bytes a link; copies for both arcs of its two links took 112."""

    def build() -> None:
        graphs = build_graphs([declare(generate("ba", Parameters(N)), asn=1, ingresses=10)])
        assert all(isinstance(graphs.arc_columns[n], Gathered) for n in ("delay", "bandwidth"))

    build_graphs([declare(generate("ba", Parameters(1000)), asn=1, ingresses=10)])
    assert bytes_a_router(build) < 215
