"""A backend of NetworkX: ``nx.diameter(G, backend="hopscope")``.

NetworkX finds it by its entry points and calls the function of the same name here, after
``convert_from_nx`` made a ``Graph`` of what it was given, which it keeps with the graph. Undirected
graphs without parallel edges are taken, and questions without weights, but for spanning trees.
Answers are those of NetworkX; where it promises no order (layers, components), nodes are in the
order of the graph. Of spanning trees of equal weight another one may be given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kernels import CSRGraph

Node = Hashable

_SWEEP, _COUNTED = 128, 4096  # sources whose levels, and whose hop counts, are held at a time
_FAR = np.iinfo(np.int32).max


class Graph:
    """What NetworkX hands to the functions of this module: a graph of ours and names of its nodes.

    Attributes
    ----------
    csr : CSRGraph
    nodes : list
        Node i of ``csr`` is nodes[i].
    """

    __networkx_backend__ = "hopscope"

    def __init__(self, csr: CSRGraph, nodes: list[Node], original: Any = None) -> None:
        self.csr, self.nodes, self._original = csr, nodes, original
        self._adj = {node: i for i, node in enumerate(nodes)}  # as nx.Graph.nbunch_iter reads it

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self._adj
        except TypeError:
            return False

    def is_directed(self) -> bool:
        return False

    def is_multigraph(self) -> bool:
        return False

    def number(self, node: Any, role: str = "Source") -> int:
        """The number of a node; ``nx.NodeNotFound`` if there is none."""
        if node not in self:
            import networkx as nx

            raise nx.NodeNotFound(f"{role} {node} is not in G")
        return self._adj[node]

    def some(self, nbunch: Any) -> list[Node]:
        """Nodes as NetworkX understands ``nbunch``."""
        import networkx as nx

        return list(nx.Graph.nbunch_iter(self, nbunch))

    def named(self, numbers: np.ndarray) -> list[Node]:
        return [self.nodes[number] for number in numbers.tolist()]


def get_info() -> dict[str, Any]:
    """What NetworkX asks a backend of itself."""
    return {
        "backend_name": "hopscope",
        "project": "hopscope",
        "package": "hopscope",
        "short_summary": "Breadth-first searches, widths, components and spanning trees by numba.",
        "functions": {name: {} for name in FUNCTIONS},
    }


def convert_from_nx(graph: Any, *, edge_attrs: Any = None, **_kept: Any) -> Graph:
    """A ``Graph`` of a ``networkx.Graph``; loops are left out, which change no answer."""
    from kernels import CSRGraph

    nodes = list(graph)
    return Graph(CSRGraph.from_networkx(graph, symmetrise=True), nodes, graph)


def convert_to_nx(result: Any, **_kept: Any) -> Any:
    """Answers are NetworkX's own; a ``Graph`` becomes the graph that it was made of."""
    return result._original if isinstance(result, Graph) else result


def can_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool | str:
    """True, or why not."""
    try:
        given = inspect.signature(FUNCTIONS[name]).bind(*args, **kwargs).arguments
    except TypeError as error:
        return str(error)
    graph = given["G"]
    if graph.is_directed() or graph.is_multigraph():
        return "the graph is directed, or has parallel edges"
    if not len(graph):
        return "the graph has no nodes"
    for argument in (
        "e",
        "sp",
        "distance",
        *(["sources"] if name == "harmonic_centrality" else []),
    ):
        if given.get(argument) is not None:
            return f"{argument} is given"
    if name in _SPANNING:
        return _can_span(**given)
    return "weight is given" if given.get("weight") is not None else True


def should_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool | str:
    """Whether it pays; asked if nobody named a backend (``benchmarks/bench_networkx.py``).

    Converting a graph takes NetworkX longer than one search, and less than what asks for many.
    """
    if name not in _ONE_SEARCH:
        return True
    graph = args[0] if args else kwargs["G"]
    kept = getattr(graph, "__networkx_cache__", {}).get("backends", {})
    return "hopscope" in kept or "converting the graph takes longer than the search"


def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Node]]:
    """As ``networkx.bfs_layers``; nodes of a layer in the order of the graph."""
    import networkx as nx

    several = [sources] if sources in G else list(sources)
    for source in several:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    nearest = _nearest(G.csr, [G.number(source) for source in several])
    return iter([G.named(layer) for layer in _layers(nearest)])


def single_source_shortest_path_length(
    G: Graph, source: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """As ``networkx.single_source_shortest_path_length``."""
    from kernels import bfs

    return _lengths(G, bfs(G.csr, G.number(source)).level, cutoff)


def single_target_shortest_path_length(
    G: Graph, target: Node, cutoff: float | None = None
) -> dict[Node, int]:
    """As ``networkx.single_target_shortest_path_length``."""
    from kernels import bfs

    return _lengths(G, bfs(G.csr, G.number(target, "Target")).level, cutoff)


def all_pairs_shortest_path_length(
    G: Graph, cutoff: float | None = None
) -> Iterator[tuple[Node, dict[Node, int]]]:
    """As ``networkx.all_pairs_shortest_path_length``: 128 searches at a time."""
    for source, level in _levels(G.csr, np.arange(len(G))):
        yield G.nodes[source], _lengths(G, level, cutoff)


def shortest_path_length(
    G: Graph,
    source: Node = None,
    target: Node = None,
    weight: None = None,
    method: str = "dijkstra",
) -> Any:
    """As ``networkx.shortest_path_length``, in hops."""
    import networkx as nx

    from kernels import shortest_path

    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        return all_pairs_shortest_path_length(G)
    if source is None or target is None:
        return single_source_shortest_path_length(G, target if source is None else source)
    ends = G.number(source), G.number(target, "Target")
    found = shortest_path(G.csr, *ends)
    if not len(found.nodes):
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return int(found.length)


def eccentricity(G: Graph, v: Any = None, sp: None = None, weight: None = None) -> Any:
    """As ``networkx.eccentricity``, in hops."""
    from kernels import eccentricities, msbfs

    _check_connected(G)
    if v is None:
        return dict(zip(G.nodes, eccentricities(G.csr).tolist(), strict=True))
    nodes = G.some(v)
    found = msbfs(G.csr, [G.number(node) for node in nodes]).eccentricity.tolist()
    return found[0] if v in G else dict(zip(nodes, found, strict=True))


def diameter(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    """As ``networkx.diameter``, in hops."""
    from kernels import diameter

    _check_connected(G)
    return int(diameter(G.csr).diameter)


def radius(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    """As ``networkx.radius``, in hops."""
    from kernels import radius

    _check_connected(G)
    return int(radius(G.csr).radius)


def center(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Node]:
    """As ``networkx.center``, in hops."""
    from kernels import center

    _check_connected(G)
    return G.named(center(G.csr).nodes)


def periphery(G: Graph, e: None = None, usebounds: bool = False, weight: None = None) -> list[Node]:
    """As ``networkx.periphery``, in hops."""
    from kernels import periphery

    _check_connected(G)
    return G.named(periphery(G.csr).nodes)


def closeness_centrality(
    G: Graph, u: Node = None, distance: None = None, wf_improved: bool = True
) -> Any:
    """As ``networkx.closeness_centrality``, in hops."""
    nodes = list(range(len(G))) if u is None else [G.number(u, "Node")]
    found = {}
    for number, counts in _hop_counts(G.csr, nodes):
        total, others = int(counts @ np.arange(len(counts))), int(counts.sum()) - 1
        value = others / total if total else 0.0
        if wf_improved and total:
            value *= others / (len(G) - 1)
        found[G.nodes[number]] = value
    return found if u is None else found[u]


def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: None = None, sources: None = None
) -> dict[Node, float]:
    """As ``networkx.harmonic_centrality``, in hops, to all nodes."""
    nodes = G.nodes if nbunch is None else dict.fromkeys(G.some(nbunch))
    found = {}
    for number, counts in _hop_counts(G.csr, [G.number(node) for node in nodes]):
        found[G.nodes[number]] = float(np.sum(counts[1:] / np.arange(1, len(counts))))
    return found


def connected_components(G: Graph) -> Iterator[set[Node]]:
    """As ``networkx.connected_components``, in the order of their first nodes."""
    from kernels import components

    component = components(G.csr).component
    order = np.argsort(component, kind="stable")
    ends = np.flatnonzero(np.diff(component[order])) + 1
    return iter([set(G.named(part)) for part in np.split(order, ends)])


def node_connected_component(G: Graph, n: Node) -> set[Node]:
    """As ``networkx.node_connected_component``."""
    return set(single_source_shortest_path_length(G, n))


def number_connected_components(G: Graph) -> int:
    """As ``networkx.number_connected_components``."""
    from kernels import components

    return int(components(G.csr).n_components)


def is_connected(G: Graph) -> bool:
    """As ``networkx.is_connected``."""
    return number_connected_components(G) == 1


def minimum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """As ``networkx.minimum_spanning_tree``: Boruvka's, whatever ``algorithm`` is."""
    original = G._original
    tree = original.__class__()
    tree.graph.update(original.graph)
    tree.add_nodes_from(original.nodes.items())
    for tail, head in _spanning_edges(G, weight):
        tree.add_edge(tail, head, **original.edges[tail, head])
    return tree


def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple]:
    """As ``networkx.minimum_spanning_edges``, in the order of their ends."""
    of_edges = G._original.edges
    edges = _spanning_edges(G, weight)
    return iter([(*edge, of_edges[edge]) if data else edge for edge in edges])


def _can_span(G: Any, weight: str = "weight", algorithm: str = "kruskal", **_kept: Any) -> Any:
    if algorithm not in ("kruskal", "prim", "boruvka"):
        return f"{algorithm!r} is not an algorithm of spanning trees"
    weights = _weights(getattr(G, "_original", G), weight)
    if weights is None or not np.array_equal(weights, weights.astype(np.float32)):
        return f"not every {weight!r} is a number of 32 bits"
    return "a weight is negative" if weights.size and weights.min() < 0 else True


def _weights(graph: Any, weight: str) -> np.ndarray | None:
    """(n_edges,) float64 in the order of ``graph.edges``; None if one is not a finite number."""
    values = [value for *_, value in graph.edges(data=weight, default=1)]
    try:
        weights = np.array(values, np.float64)
    except (TypeError, ValueError):
        return None
    return weights if np.isfinite(weights).all() else None


def _spanning_edges(graph: Graph, weight: str) -> list[tuple[Node, Node]]:
    from kernels import CSRGraph, mst

    original, number = graph._original, graph._adj
    ends = [(number[tail], number[head]) for tail, head in original.edges]
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    weights = _weights(original, weight)
    csr = CSRGraph.from_edges(tails, heads, weights, n_nodes=len(graph), symmetrise=True)
    forest = mst(csr)
    return list(zip(graph.named(forest.tails), graph.named(forest.heads), strict=True))


def _check_connected(graph: Graph) -> None:
    if not is_connected(graph):
        import networkx as nx

        raise nx.NetworkXError("Found infinite path length because the graph is not connected")


def _nearest(csr: CSRGraph, numbers: list[int]) -> np.ndarray:
    """(n_nodes,) int32 hops to the nearest of some nodes, -1 where no path leads."""
    nearest = np.full(csr.n_nodes, _FAR, np.int32)
    for _, level in _levels(csr, np.unique(numbers)):
        np.minimum(nearest, level, out=nearest, where=level >= 0)
    return np.where(nearest == _FAR, -1, nearest)


def _levels(csr: CSRGraph, numbers: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Nodes, each with (n_nodes,) int32 hops from it, -1 where no path leads."""
    from kernels import msbfs

    for first in range(0, len(numbers), _SWEEP):
        several = numbers[first : first + _SWEEP]
        levels = msbfs(csr, several, levels=True).level
        unreached = np.iinfo(levels.dtype).max
        for number, level in zip(several.tolist(), levels, strict=True):
            yield number, np.where(level == unreached, -1, level.astype(np.int32))


def _layers(level: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(level, kind="stable")
    order = order[np.searchsorted(level[order], 0) :]
    return np.split(order, np.flatnonzero(np.diff(level[order])) + 1) if len(order) else []


def _lengths(graph: Graph, level: np.ndarray, cutoff: float | None) -> dict[Node, int]:
    """Nodes with hops, the nearest first."""
    is_near = level >= 0
    if cutoff is not None:
        is_near &= level <= cutoff
    numbers = np.flatnonzero(is_near)
    numbers = numbers[np.argsort(level[numbers], kind="stable")]
    return dict(zip(graph.named(numbers), level[numbers].tolist(), strict=True))


def _hop_counts(csr: CSRGraph, numbers: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Of each node: how many nodes are 0, 1, ... hops away."""
    from kernels import msbfs

    for first in range(0, len(numbers), _COUNTED):
        several = numbers[first : first + _COUNTED]
        yield from zip(several, msbfs(csr, several).hop_counts, strict=True)


_SPANNING = ("minimum_spanning_tree", "minimum_spanning_edges")
_ONE_SEARCH = (
    "bfs_layers",
    "connected_components",
    "is_connected",
    "node_connected_component",
    "number_connected_components",
    "shortest_path_length",
    "single_source_shortest_path_length",
    "single_target_shortest_path_length",
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        all_pairs_shortest_path_length,
        bfs_layers,
        center,
        closeness_centrality,
        connected_components,
        diameter,
        eccentricity,
        harmonic_centrality,
        is_connected,
        minimum_spanning_edges,
        minimum_spanning_tree,
        node_connected_component,
        number_connected_components,
        periphery,
        radius,
        shortest_path_length,
        single_source_shortest_path_length,
        single_target_shortest_path_length,
    )
}
