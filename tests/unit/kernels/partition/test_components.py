"""Every rank knows the components of the whole graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import components
from kernels.partition.components import part_components
from tests.ranks import on_ranks, parts_of
from tests.shapes import grid, path
from tests.soak import examples
from tests.strategies import graphs


def check_components(graph, n_ranks, block=None):
    parts = parts_of(graph, n_ranks, block)
    expected = components(graph)
    for part, found in zip(parts, on_ranks(parts, part_components), strict=True):
        np.testing.assert_array_equal(found.names, expected.ids)
        np.testing.assert_array_equal(found.size, expected.sizes)
        first = int(part.split.first[part.rank])
        nodes = part.split.original(np.arange(first, first + len(found.own)))
        assert len(nodes) == part.split.n_own(part.rank)
        np.testing.assert_array_equal(found.names[found.own], expected.component[nodes])


@settings(max_examples=examples(60), deadline=None)
@given(graph=graphs(max_nodes=150), n_ranks=st.sampled_from([1, 2, 3, 4]))
def test_names_and_sizes_are_those_of_the_whole(graph, n_ranks):
    check_components(graph, n_ranks)


def test_components_that_go_through_all_ranks_many_times():
    check_components(path(5_000), 4, block=32)
    check_components(grid(50, 100), 3, block=64)
