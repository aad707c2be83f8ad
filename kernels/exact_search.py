"""The parts of an exact eccentricity search, for a caller that runs its searches elsewhere.

``EccentricityBounds`` chooses the next node to search and takes results in any order.
``CoreSearches`` and ``implied_on_gpu`` search, and return the implied bounds of all nodes.
Importing this compiles them, or loads them from numba's cache.
"""

from __future__ import annotations

import numpy as np

from kernels.arguments import check_graph
from kernels.csr import CSRGraph
from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.bounds.components import largest_of_each, numbered_components
from kernels.eccentricity.bounds.steps import merge
from kernels.eccentricity.questions import Question
from kernels.eccentricity.reductions.pendant_trees import find_tips
from kernels.eccentricity.results import ShardWidths
from kernels.eccentricity.searches import Implied
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.eccentricity.searches.sweep import lanes_of
from kernels.eccentricity.shard import plan_questions, widths
from kernels.errors import DeviceError, GraphError
from kernels.multi_source import sources_of

__all__ = [
    "CoreSearches",
    "EccentricityBounds",
    "Implied",
    "Question",
    "ShardWidths",
    "find_tips",
    "implied_on_gpu",
    "lanes_of",
    "largest_of_each",
    "merge",
    "numbered_components",
    "plan_questions",
    "widths",
]


MOST_SOURCES = 256  # of one sweep on a GPU


def implied_on_gpu(graph: CSRGraph, sources: np.ndarray) -> Implied:
    """Search from some nodes of a graph that is on a GPU; the bounds are made there.

    Parameters
    ----------
    graph : CSRGraph
        On a GPU.
    sources : (n_sources,) integers
        On the host; at most 256.

    Raises
    ------
    GraphError
        If a source is not a node, or there are more.
    DeviceError
        If the graph is on the host, or the GPU cannot be used.
    """
    check_graph(graph, CSRGraph)
    sources = sources_of(graph, sources)
    if len(sources) > MOST_SOURCES:
        raise GraphError(f"{len(sources)} sources; at most {MOST_SOURCES} are searched at once")
    if graph.device != "gpu":
        raise DeviceError("implied_on_gpu runs on a GPU; give it graph.to('gpu')")
    from kernels.eccentricity.gpu.shard import implied_on_gpu as on_gpu

    return on_gpu(graph, sources)
