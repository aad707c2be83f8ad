"""Other programs that search the same graphs, timed in the same run.

To add one: a module here with a class like ``Peer``, and a line in ``PEERS``. A peer holds a graph
in its own form, made before the clock runs; it is called as its users would call it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from kernels import CSRGraph

# Name in the rows, module and class, by the device that they run on.
PEERS: dict[str, list[tuple[str, str, str]]] = {
    "cpu": [
        ("plain queue", "benchmarks.peers.baselines", "PlainQueue"),
        ("SciPy", "benchmarks.peers.scipy_peer", "SciPy"),
        ("igraph", "benchmarks.peers.igraph_peer", "Igraph"),
        ("NetworKit", "benchmarks.peers.networkit_peer", "NetworKit"),
    ],
    "gpu": [
        ("one thread per node", "benchmarks.peers.baselines", "ThreadPerNode"),
        ("two kernels", "benchmarks.peers.baselines", "TwoKernels"),
        ("cuGraph", "benchmarks.peers.cugraph_peer", "CuGraph"),
    ],
}


class Peer(Protocol):
    """A graph in the form of another program; ``threads`` that a single search uses, 0 on a GPU.

    Notes
    -----
    Optional methods: ``components()``, its answer read by ``components_of(answer)``;
    ``bfs_many(sources)``, where the program has one call for many sources, read by
    ``levels_of_many(answer, sources)``, and then ``many_threads`` and ``bytes_a_source``;
    ``diameter()``, ``radius()`` and ``eccentricities()`` (the largest) of a connected graph.
    """

    threads: int

    def __init__(self, graph: CSRGraph) -> None:
        """Take a graph that lies on the peer's device."""

    def bfs(self, source: int) -> Any:
        """Search from a source: what is timed."""

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        """(n_nodes,) levels of a search, -1 unreached, on the host; not timed."""


def open_peers(device: str) -> Iterator[tuple[str, Callable[[CSRGraph], Peer] | None, str]]:
    """Yield (name, class or None, why it is not there) of each peer of a device."""
    for name, module, kind in PEERS[device]:
        try:
            found = getattr(importlib.import_module(module), kind)
            found.check()
        except ImportError as error:
            yield name, None, f"not installed ({error})"
        else:
            yield name, found, ""


def smallest_labels(labels: Any) -> np.ndarray:
    """Component labels of any kind as the smallest node of each component, as ours are."""
    _, first, inverse = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return first[inverse]


def links_of(graph: CSRGraph) -> tuple[np.ndarray, np.ndarray]:
    """Each link of a graph on the host once: (n_edges,) smaller ends and larger ends."""
    tails = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    once = tails < graph.indices
    return tails[once], graph.indices[once]
