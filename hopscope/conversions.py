"""Graphs to and from other libraries, which are imported when they are used.

Everything that has a graph is taken: a ``CSRGraph``, an AS of a snapshot, what ``hopscope.read``
gives. Node i stays node i; of a networkx graph it is the i-th that the graph lists.
The graph of an AS keeps what it is: ``snapshot``, ``asn``, ``name``, ``node_kind`` and the
``weight_unit`` of its links' weights; its nodes keep ``addr`` and ``role``, its links the optional
columns of ``edges``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from kernels import CSRGraph, GraphError
from kernels.arguments import unexpected
from kernels.edges import named_weights

if TYPE_CHECKING:
    import cugraph
    import igraph
    import networkx
    import pandas
    import scipy.sparse


class HasGraph(Protocol):
    """An AS of a snapshot, what ``hopscope.read`` gives of a topology, and the like."""

    @property
    def graph(self) -> CSRGraph: ...


AnyGraph: TypeAlias = CSRGraph | HasGraph


@contextmanager
def _needed(name: str, get: str) -> Iterator[None]:
    """Says how to get the library that is imported here, if it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{name} is not installed: {get}", name=name.lower()) from error


def to_arrow(graph: AnyGraph) -> pa.Table:
    """Edge list: ``source`` < ``target``, and ``weight`` if there are weights; sorted."""
    tails, heads, weights = _edges(_graph_of(graph))
    columns = {"source": tails, "target": heads}
    return pa.table(columns if weights is None else columns | {"weight": weights})


def to_pandas(graph: AnyGraph) -> pandas.DataFrame:
    """The same as a pandas.DataFrame, as ``networkx.from_pandas_edgelist`` takes it.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed; it says how to get it.
    """
    with _needed("pandas", "pip install pandas"):
        return to_arrow(graph).to_pandas()


def to_scipy(graph: AnyGraph) -> scipy.sparse.csr_array:
    """``scipy.sparse.csr_array``: weights, else ones, at both arcs of each edge.

    Raises
    ------
    ModuleNotFoundError
        If SciPy is not installed; it says how to get it.
    """
    with _needed("SciPy", "pip install scipy"):
        from scipy.sparse import csr_array

    plain = _graph_of(graph)
    data = np.ones(plain.n_arcs, np.float32) if plain.weights is None else plain.weights
    # A copy: a matrix may be changed, a graph may not.
    arrays = (data.copy(), plain.indices.copy(), plain.indptr.copy())
    return csr_array(arrays, shape=(plain.n_nodes, plain.n_nodes))


def to_networkx(graph: AnyGraph) -> networkx.Graph:
    """``networkx.Graph`` of nodes 0, 1, ...; attributes of an AS as above, none for a null.

    Raises
    ------
    ModuleNotFoundError
        If NetworkX is not installed; it says how to get it.
    """
    with _needed("NetworkX", "pip install networkx"):
        import networkx as nx

    plain = _graph_of(graph)
    tails, heads, weights = _edges(plain)
    made = nx.Graph(**_about(graph))
    made.add_nodes_from(range(plain.n_nodes))
    made.add_edges_from(zip(tails.tolist(), heads.tolist(), strict=True))
    of_links = _of_links(graph, weights)
    for name, values in of_links.items():
        for tail, head, value in zip(tails.tolist(), heads.tolist(), values, strict=True):
            if value is not None:
                made.edges[tail, head][name] = value
    for name, values in _attributes(graph).items():
        nx.set_node_attributes(made, dict(enumerate(values)), name)
    return made


def to_igraph(graph: AnyGraph) -> igraph.Graph:
    """``igraph.Graph``; attributes of an AS as above.

    Raises
    ------
    ModuleNotFoundError
        If igraph is not installed; it says how to get it.
    """
    with _needed("igraph", "pip install igraph"):
        import igraph

    plain = _graph_of(graph)
    tails, heads, weights = _edges(plain)
    return igraph.Graph(
        n=plain.n_nodes,
        edges=np.stack([tails, heads], axis=1).tolist(),
        graph_attrs=_about(graph),
        vertex_attrs=_attributes(graph),
        edge_attrs=_of_links(graph, weights),
    )


def to_cugraph(graph: AnyGraph) -> cugraph.Graph:
    """``cugraph.Graph`` on the current GPU, vertices not renumbered.

    Raises
    ------
    ModuleNotFoundError
        If cuGraph is not installed; it says how to get it.
    """
    with _needed("cuGraph", "see https://docs.rapids.ai/install"):
        import cudf
        import cugraph

    plain = _graph_of(graph)
    weights = None if plain.weights is None else cudf.Series(plain.weights)
    made = cugraph.Graph(directed=False)
    # cuGraph wants offsets of the type of ids, where they fit.
    indptr = plain.indptr.astype(np.int32) if plain.n_arcs < 2**31 else plain.indptr
    indices = plain.indices.astype(indptr.dtype)
    made.from_cudf_adjlist(cudf.Series(indptr), cudf.Series(indices), weights, renumber=False)
    return made


def from_scipy(
    matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
    *,
    weighted: bool = False,
    symmetrise: bool = False,
) -> CSRGraph:
    """As ``CSRGraph.from_scipy``."""
    return CSRGraph.from_scipy(matrix, weighted=weighted, symmetrise=symmetrise)


def from_networkx(
    graph: networkx.Graph, *, weight: str | None = None, symmetrise: bool = False
) -> CSRGraph:
    """As ``CSRGraph.from_networkx``."""
    return CSRGraph.from_networkx(graph, weight=weight, symmetrise=symmetrise)


def from_igraph(
    graph: igraph.Graph, *, weight: str | None = None, symmetrise: bool = False
) -> CSRGraph:
    """An ``igraph.Graph``; node i is vertex i.

    ``weight`` is an attribute of edges, ``symmetrise`` as in ``CSRGraph.from_edges``; loops,
    parallel edges and directed graphs need it.

    Raises
    ------
    GraphTypeError
        If it is not a graph of igraph.
    GraphError
        If an edge has no such weight, with how many have none; or as ``CSRGraph.from_edges``.
    """
    if not hasattr(graph, "get_edgelist"):
        raise unexpected(graph, "a graph of igraph")
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    weights = None
    if weight is not None:
        has_any = weight in graph.es.attributes()
        weights = named_weights(graph.es[weight] if has_any else [None] * len(ends), weight)
    tails, heads = ends[:, 0], ends[:, 1]
    if not graph.is_directed() and not symmetrise:  # each edge is there once, a loop too
        back = tails != heads
        tails, heads = np.append(tails, heads[back]), np.append(heads, tails[back])
        weights = None if weights is None else np.append(weights, weights[back])
    n_nodes = graph.vcount()
    return CSRGraph.from_edges(tails, heads, weights, n_nodes=n_nodes, symmetrise=symmetrise)


def from_pandas(
    frame: pandas.DataFrame | pa.Table,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    *,
    n_nodes: int | None = None,
) -> CSRGraph:
    """An edge list: each row is an edge; loops are dropped, the lightest of parallel edges kept.

    Columns of pandas, cuDF or Arrow that hold node numbers (``pandas.factorize`` numbers names).

    Raises
    ------
    GraphError
        If a column is not there, or a row has no weight; or as ``CSRGraph.from_edges``.
    """
    tails, heads = (_column(frame, name) for name in (source, target))
    weights = None if weight is None else named_weights(_column(frame, weight), weight, "row")
    return CSRGraph.from_edges(tails, heads, weights, n_nodes=n_nodes, symmetrise=True)


def from_cugraph(graph: cugraph.Graph) -> CSRGraph:
    """An undirected ``cugraph.Graph`` whose vertices are 0, 1, ...; copied to the host."""
    frame = graph.view_edge_list()
    source, target, *rest = frame.columns
    weight = rest[0] if rest and graph.is_weighted() else None
    return from_pandas(frame, source, target, weight, n_nodes=graph.number_of_vertices())


def _graph_of(graph: Any) -> CSRGraph:
    """The graph itself, on the host."""
    own = graph if isinstance(graph, CSRGraph) else getattr(graph, "graph", None)
    if not isinstance(own, CSRGraph):
        raise unexpected(graph, "a CSRGraph, an AS of a snapshot or what hopscope.read gives")
    return own.to("cpu")


def _attributes(graph: Any) -> dict[str, list]:
    """Attributes of the nodes of an AS; none of other graphs."""
    nodes = getattr(graph, "nodes", None)
    if not isinstance(nodes, pa.Table):
        return {}
    return {name: [value or "" for value in nodes[name].to_pylist()] for name in ("addr", "role")}


def _about(graph: Any) -> dict[str, Any]:
    """What an AS says of its graph; nothing of other graphs."""
    about = getattr(graph, "about", None)
    return about if isinstance(about, dict) else {}


def _of_links(graph: Any, weights: np.ndarray | None) -> dict[str, list]:
    """Weights and optional columns of links, in the order of ``_edges``; None where not known."""
    edges = getattr(graph, "edges", None)
    if not isinstance(edges, pa.Table):
        return {} if weights is None else {"weight": weights.tolist()}
    ends = ("tail", "head", "tail_addr", "head_addr")
    return {name: edges[name].to_pylist() for name in edges.column_names if name not in ends}


def _edges(graph: CSRGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Each edge once, the smaller end first."""
    tails = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    once = tails < graph.indices
    weights = None if graph.weights is None else graph.weights[once]
    return tails[once], graph.indices[once], weights


def _column(frame: Any, name: str) -> np.ndarray:
    """A column of pandas, cuDF (``to_numpy`` copies from the GPU) or Arrow, on the host."""
    try:
        column = frame[name]
    except KeyError:
        columns = frame.column_names if isinstance(frame, pa.Table) else list(frame)
        names = ", ".join(map(str, columns)) or "none"
        raise GraphError(f"no column {name!r}; available columns: {names}") from None
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
