"""What messages say of the nodes that a graph has, however many there are."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import CSRGraph
from pipeline.errors import UsageError
from pipeline.model.graphs import NO_ID
from pipeline.model.named_graph import NamedGraph


@pytest.mark.parametrize(
    ("node_id", "kind", "said"),
    [
        ([], "router", "the graph has no nodes"),
        (1, "router", "its only router is 0"),
        (2, "interface", "its 2 interfaces are 0 to 1"),
        ([7], "as", "its only AS has the id 7"),
        ([7, 12], "as", "its 2 ASes have ids from 7 to 12"),
        ([NO_ID], "router", "its nodes have no ids"),
    ],
)
def test_a_node_that_is_not_there_is_answered_with_those_that_are(node_id, kind, said):
    n = node_id if isinstance(node_id, int) else len(node_id)
    ids = None if isinstance(node_id, int) else np.array(node_id, np.int64)
    graph = NamedGraph("g", CSRGraph.from_edges([], [], n_nodes=n), kind, node_id=ids)
    with pytest.raises(UsageError, match=rf"; {said}$"):
        graph.node_of("99", "source")
