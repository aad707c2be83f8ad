"""Graphs as compressed sparse rows: one graph (``CSRGraph``), or many side by side (``Shard``)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from kernels.arguments import check_graph, checked_device, flag, one_of, several, unexpected
from kernels.edges import MAX_NODES, networkx_arcs, sort_arcs
from kernels.errors import DeviceError, GraphError
from kernels.types import NODE, OFFSET, WEIGHT
from kernels.words import number

Device = Literal["cpu", "gpu"]


class CSRGraph:
    """An undirected graph: each edge is two arcs, arcs are sorted, and there are no loops.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64
        Arcs of node u are ``indices[indptr[u]:indptr[u + 1]]``.
    indices : (n_arcs,) int32
        Heads of the arcs, ascending within a node, each at most once.
    weights : (n_arcs,) float32 or None
        Finite, not negative, the same for both arcs of an edge.
    trusted : bool
        True skips validation: for arrays that were validated or built by us.

    Raises
    ------
    GraphError
        Names the first fault of the arrays with its numbers: shapes and dtypes first, then
        ``indptr``, arcs in their order, symmetry, weights.

    Notes
    -----
    All arrays are NumPy (device ``cpu``) or all CuPy, on one GPU (device ``gpu``): the arrays
    decide where kernels run. Validation is O(n_nodes + n_arcs) on the host; arrays of a GPU are
    copied there for it. A graph of no nodes is ``indptr = [0]``; nodes without arcs are fine.
    More than 2**31 arcs are fine, more than 2**31 - 1 nodes are not. Arrays are not copied
    unless they are not contiguous: do not change them afterwards.

    Examples
    --------
    >>> CSRGraph(np.array([0, 1, 2]), np.array([1, 0], np.int32)).n_edges
    1
    """

    __slots__ = ("indices", "indptr", "weights")

    def __init__(self, indptr: Any, indices: Any, weights: Any = None, trusted: bool = False):
        if not trusted:
            _check_array("indptr", indptr, OFFSET)
            _check_array("indices", indices, NODE)
            if weights is not None:
                _check_array("weights", weights, WEIGHT)
                if len(weights) != len(indices):
                    n_arcs = number(len(indices), "arc")
                    raise GraphError(f"{number(len(weights), 'weight')} for {n_arcs}")
            _check_one_device(indptr, indices, weights)
        self.indptr = _contiguous(indptr)
        self.indices = _contiguous(indices)
        self.weights = None if weights is None else _contiguous(weights)
        if not trusted:
            self.validate()

    @classmethod
    def from_edges(
        cls,
        tails: Any,
        heads: Any,
        weights: Any = None,
        *,
        n_nodes: int | None = None,
        symmetrise: bool = False,
    ) -> CSRGraph:
        """A graph of arcs in any order, on the host.

        Parameters
        ----------
        tails, heads : (n,) integers
            Lists or arrays of any integer type.
        weights : (n,) numbers, optional
            Become float32.
        n_nodes : int, optional
            By default one more than the largest id.
        symmetrise : bool
            True: each pair is an edge and gives both arcs; loops are dropped, and the lightest of
            several edges between two nodes is kept. False: both arcs of each edge must be given.

        Raises
        ------
        GraphError
            If ids are not integers or no nodes; or as the constructor.

        Examples
        --------
        >>> CSRGraph.from_edges([0, 2], [1, 1], symmetrise=True).indices.tolist()
        [1, 0, 2, 1]
        """
        arrays = to_host(tails), to_host(heads), to_host(weights)
        return cls(*sort_arcs(*arrays, n_nodes, flag("symmetrise", symmetrise)))

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, weighted: bool = False, symmetrise: bool = False
    ) -> CSRGraph:
        """A graph of a sparse matrix or array: entry (u, v) is an arc, whatever its value.

        Parameters
        ----------
        matrix : (n_nodes, n_nodes) sparse
        weighted : bool
            Take the values as weights.
        symmetrise : bool
            As in ``from_edges``; without it the matrix must be symmetric.

        Raises
        ------
        GraphTypeError
            If it is not sparse.
        GraphError
            If it is not square; or as ``from_edges``.
        """
        if not hasattr(matrix, "tocoo"):
            way = "a dense array becomes one by scipy.sparse.coo_array(array)"
            raise unexpected(matrix, "a sparse matrix of SciPy", way)
        if len(matrix.shape) != 2:
            raise GraphError(f"the matrix has the shape {matrix.shape}; it must be square")
        n_rows, n_columns = matrix.shape
        if n_rows != n_columns:
            raise GraphError(f"the matrix is {n_rows} x {n_columns}; it must be square")
        entries = matrix.tocoo()
        weights = entries.data if flag("weighted", weighted) else None
        return cls.from_edges(
            entries.row, entries.col, weights, n_nodes=n_rows, symmetrise=symmetrise
        )

    @classmethod
    def from_networkx(
        cls, graph: Any, *, weight: str | None = None, symmetrise: bool = False
    ) -> CSRGraph:
        """A NetworkX graph; node i is the i-th of ``list(graph)``.

        Parameters
        ----------
        graph : networkx.Graph
            Directed ones must have both arcs of each edge, or be symmetrised.
        weight : str, optional
            Attribute of edges that holds their weight.
        symmetrise : bool
            As in ``from_edges``; needed for loops and parallel edges.

        Raises
        ------
        GraphTypeError
            If it is not a graph of NetworkX.
        GraphError
            If an edge has no such weight, with how many have none; or as ``from_edges``.
        """
        arcs = networkx_arcs(graph, weight, flag("symmetrise", symmetrise))
        return cls.from_edges(*arcs, n_nodes=len(graph), symmetrise=symmetrise)

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_arcs(self) -> int:
        return len(self.indices)

    @property
    def n_edges(self) -> int:
        return self.n_arcs // 2

    @property
    def device(self) -> Device:
        return device_of(self.indptr)

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays, weights included."""
        weight_bytes = 0 if self.weights is None else self.weights.nbytes
        return int(self.indptr.nbytes + self.indices.nbytes + weight_bytes)

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        return f"CSRGraph({self._counts()}, {self.device}{weighted})"

    def _repr_html_(self) -> str:
        weights = "no weights" if self.weights is None else "weights"
        return f"<b>CSRGraph</b>: {self._counts()}, {weights}, on {self.device}"

    def _counts(self) -> str:
        return f"{number(self.n_nodes, 'node')}, {number(self.n_edges, 'edge')}"

    def __reduce__(self):  # a copy of a valid graph is valid
        host = self.to("cpu")
        return CSRGraph, (host.indptr, host.indices, host.weights, True)

    def validate(self) -> None:
        """Raise GraphError that names the first fault, if there is one; O(n_nodes + n_arcs)."""
        from kernels.validate import check_csr

        check_csr(to_host(self.indptr), to_host(self.indices), to_host(self.weights))

    def to(self, device: Device, arcs_on_host: bool = False) -> CSRGraph:
        """The same graph on ``cpu`` or on the current GPU; itself if it is there already.

        Parameters
        ----------
        device : str
        arcs_on_host : bool
            Of a graph of the host that is too large for the GPU: its arcs stay in host memory, of
            which searches on the GPU read what they need, as fast as the link between both is. All
            kernels take such a graph; those that look at few arcs lose least.

        Raises
        ------
        DeviceError
            If no GPU can be used.
        DeviceMemoryError
            If it does not fit there.
        """
        arcs_on_host = flag("arcs_on_host", arcs_on_host)
        if checked_device(device) == self.device:
            return self
        move = mover(device)
        weights = None if self.weights is None else move(self.weights)
        if arcs_on_host and device == "gpu":
            from kernels._cuda.host_arrays import readable_by_gpu

            return CSRGraph(move(self.indptr), readable_by_gpu(self.indices), weights, trusted=True)
        return CSRGraph(move(self.indptr), move(self.indices), weights, trusted=True)

    def graph_hash(self) -> str:
        """sha256 (hex) of dtype, shape and bytes of ``indptr`` and ``indices``; not of weights."""
        return hash_arrays(self.indptr, self.indices)

    def weights_hash(self) -> str:
        """sha256 (hex) of dtype, shape and bytes of ``weights``; empty without weights."""
        return "" if self.weights is None else hash_arrays(self.weights)


class Shard:
    """Many graphs side by side in one CSR: a disjoint union, so no search leaves its graph.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64
        Of all nodes of all graphs, graph after graph.
    indices : (n_arcs,) int32
        Node ids *within the shard*: those of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    node_ptr : (n_graphs + 1,) int64
    trusted : bool
        True skips validation.

    Raises
    ------
    GraphError
        As CSRGraph, and if an arc leaves its graph or ``node_ptr`` does not fit.

    Notes
    -----
    Graphs without nodes and shards without graphs are fine.
    """

    __slots__ = ("indices", "indptr", "node_ptr")

    def __init__(self, indptr: Any, indices: Any, node_ptr: Any, trusted: bool = False):
        if not trusted:
            _check_array("indptr", indptr, OFFSET)
            _check_array("indices", indices, NODE)
            _check_array("node_ptr", node_ptr, OFFSET)
            _check_one_device(indptr, indices, node_ptr)
        self.indptr = _contiguous(indptr)
        self.indices = _contiguous(indices)
        self.node_ptr = _contiguous(node_ptr)
        if not trusted:
            self.validate()

    @classmethod
    def from_graphs(cls, graphs: Iterable[CSRGraph]) -> Shard:
        """Put graphs of the host side by side, in their order; weights are left out."""
        graphs = several(graphs, "a list of CSRGraph", "Shard.from_graphs([graph]) takes one")
        for graph in graphs:
            check_graph(graph, CSRGraph)
            if graph.device != "cpu":
                raise DeviceError("from_graphs runs on the host; give it graph.to('cpu')")
        node_ptr = np.zeros(len(graphs) + 1, OFFSET)
        np.cumsum([graph.n_nodes for graph in graphs], out=node_ptr[1:])
        if node_ptr[-1] > MAX_NODES:
            raise GraphError(f"{node_ptr[-1]} nodes in one shard; at most {MAX_NODES} fit")
        arc_ptr = np.zeros(len(graphs) + 1, OFFSET)
        np.cumsum([graph.n_arcs for graph in graphs], out=arc_ptr[1:])
        indptr = np.zeros(int(node_ptr[-1]) + 1, OFFSET)
        indices = np.empty(int(arc_ptr[-1]), NODE)
        for i, graph in enumerate(graphs):
            indptr[node_ptr[i] + 1 : node_ptr[i + 1] + 1] = graph.indptr[1:] + arc_ptr[i]
            indices[arc_ptr[i] : arc_ptr[i + 1]] = graph.indices + NODE.type(node_ptr[i])
        return cls(indptr, indices, node_ptr, trusted=True)

    @property
    def n_graphs(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_arcs(self) -> int:
        return len(self.indices)

    @property
    def device(self) -> Device:
        return device_of(self.indptr)

    def __repr__(self) -> str:
        n_nodes = number(self.n_nodes, "node")
        return f"Shard({number(self.n_graphs, 'graph')}, {n_nodes}, {self.device})"

    def __reduce__(self):
        host = self.to("cpu")
        return Shard, (host.indptr, host.indices, host.node_ptr, True)

    def graph(self, i: int) -> CSRGraph:
        """Graph i by itself, in its own node ids, on the shard's device; GraphError without it."""
        i = one_of("i", i, self.n_graphs, "graph", "shard")
        first, last = int(self.node_ptr[i]), int(self.node_ptr[i + 1])
        indptr = self.indptr[first : last + 1]
        arcs = slice(int(indptr[0]), int(indptr[-1]))
        return CSRGraph(indptr - indptr[0], self.indices[arcs] - NODE.type(first), trusted=True)

    def validate(self) -> None:
        """Raise GraphError that names the first fault, if there is one."""
        from kernels.validate import check_csr, check_shard_borders

        indptr, indices = to_host(self.indptr), to_host(self.indices)
        check_csr(indptr, indices, None)
        check_shard_borders(indptr, indices, to_host(self.node_ptr))

    def to(self, device: Device) -> Shard:
        """The same shard on ``cpu`` or on the current GPU; itself if it is there already."""
        if checked_device(device) == self.device:
            return self
        move = mover(device)
        return Shard(move(self.indptr), move(self.indices), move(self.node_ptr), trusted=True)


def device_of(array: Any) -> Device:
    """``cpu`` for a NumPy array, ``gpu`` for a CuPy array; imports nothing."""
    return "cpu" if isinstance(array, np.ndarray) else "gpu"


def to_host(array: Any) -> Any:
    """The array as NumPy, copied only if it is on a GPU; anything else is unchanged."""
    return array.get() if _is_of_cupy(array) else array


def _is_of_cupy(array: Any) -> bool:
    """Whether it is a CuPy array: Series of pandas and dicts have a ``get`` too."""
    return hasattr(type(array), "__cuda_array_interface__") and hasattr(array, "get")


def hash_arrays(*arrays: Any) -> str:
    """sha256 (hex) over dtype, shape and bytes of each array in turn."""
    digest = hashlib.sha256()
    for array in arrays:
        host = np.ascontiguousarray(to_host(array))
        digest.update(f"{host.dtype.str}{host.shape}".encode())
        digest.update(host.view(np.uint8).data if host.size else b"")
    return digest.hexdigest()


def mover(device: Device):
    """A function that copies an array to ``device``; DeviceError if there is none."""
    if checked_device(device) == "cpu":
        return to_host
    from kernels._cuda.launch import to_gpu

    return to_gpu


def _check_array(name: str, array: Any, dtype: np.dtype) -> None:
    if hasattr(array, "mask") or not (isinstance(array, np.ndarray) or _is_of_cupy(array)):
        raise GraphError(f"{name} is a {type(array).__name__}; give a NumPy or CuPy array")
    if array.ndim != 1:
        raise GraphError(f"{name} has shape {array.shape}; it must have one dimension")
    if array.dtype != dtype:
        raise GraphError(f"{name} has dtype {array.dtype}; it must be {dtype}")


def _check_one_device(*arrays: Any) -> None:
    present = [array for array in arrays if array is not None]
    places = {"cpu" if device_of(array) == "cpu" else f"gpu {array.device.id}" for array in present}
    if len(places) > 1:
        where = " and ".join(sorted(places))
        raise GraphError(f"the arrays are on {where}; put them on one device")


def _contiguous(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return np.require(array, requirements=("C", "A"))  # numba's signatures ask for both
    return array if array.flags.c_contiguous else array.copy()
