"""Edges in any order, as lists or arrays of any integers, to the arrays of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.arguments import integer_row, row, unexpected, whole_number
from kernels.errors import GraphError
from kernels.types import NODE, OFFSET, WEIGHT
from kernels.words import number

MAX_NODES = 2**31 - 1  # of a graph: node ids are int32

_NO_NUMBERS = np.complexfloating, np.datetime64, np.timedelta64
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def sort_arcs(
    tails: Any, heads: Any, weights: Any, n_nodes: int | None, symmetrise: bool
) -> Arrays:
    """Arcs to CSR arrays.

    Parameters
    ----------
    tails, heads : (n,) integers
        Lists or arrays on the host, of any integer type.
    weights : (n,) numbers or None
    n_nodes : int or None
        None: one more than the largest id.
    symmetrise : bool
        True: each pair is an edge and gives both arcs; loops are dropped, and the lightest of
        several edges between two nodes is kept. False: pairs are taken as they are.

    Returns
    -------
    indptr, indices, weights
        For ``CSRGraph``, whose constructor finds what is still wrong: arcs without the one back,
        loops, repeated arcs.

    Raises
    ------
    GraphError
        If ids are not integers, lengths differ, or an id is not a node.
    """
    tail, head = _ids("tails", tails), _ids("heads", heads)
    if len(tail) != len(head):
        both = f"{number(len(tail), 'tail')} and {number(len(head), 'head')}"
        raise GraphError(f"{both}; give the same number of each")
    weight = None if weights is None else _weights(weights, len(tail))
    n_nodes = _checked_size(n_nodes, tail, head)
    if symmetrise:
        apart = tail != head
        tail, head = tail[apart], head[apart]
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        weight = None if weight is None else np.tile(weight[apart], 2)
    key = tail * n_nodes + head
    order = np.argsort(key, kind="stable") if weight is None else np.lexsort((weight, key))
    key = key[order]
    if symmetrise and len(key):
        first = np.append(True, key[1:] != key[:-1])
        order, key = order[first], key[first]
    indptr = np.zeros(n_nodes + 1, OFFSET)
    np.cumsum(np.bincount(tail[order], minlength=n_nodes), out=indptr[1:])
    return indptr, head[order].astype(NODE), None if weight is None else weight[order]


def networkx_arcs(graph: Any, weight: str | None, symmetrise: bool) -> Arrays:
    """Tails, heads and weights of a NetworkX graph; both arcs of each edge, or if symmetrised one.

    Raises
    ------
    GraphTypeError
        If it is something else.
    GraphError
        As ``named_weights``.
    """
    if not hasattr(graph, "edges") or not hasattr(graph, "is_directed"):
        raise unexpected(graph, "a graph of NetworkX")
    number = {node: i for i, node in enumerate(graph)}
    edges = list(graph.edges(data=weight) if weight else graph.edges())
    tails = np.array([number[edge[0]] for edge in edges], np.int64)
    heads = np.array([number[edge[1]] for edge in edges], np.int64)
    weights = named_weights([edge[2] for edge in edges], weight) if weight else None
    if not graph.is_directed() and not symmetrise:  # each edge is there once, a loop too
        back = tails != heads
        tails, heads = np.append(tails, heads[back]), np.append(heads, tails[back])
        weights = None if weights is None else np.append(weights, weights[back])
    return tails, heads, weights


def named_weights(values: Any, name: str, unit: str = "edge") -> np.ndarray:
    """Weights that a graph or table of another library has under a name.

    Parameters
    ----------
    values : sequence
        One per edge; None or NaN where there is none.
    name : str
        Attribute or column.
    unit : str
        What holds one: edge or row.

    Raises
    ------
    GraphError
        If some are missing or are not numbers; says how many, and what to do.
    """
    advice = f"give every {unit} one, name another with weight=, or leave weight out"
    try:
        given = np.asarray(values)
        is_real = given.ndim == 1 and given.dtype.kind not in "cmM"  # nor points in time
        if given.dtype == object:  # float() takes these too
            is_real = is_real and not any(isinstance(each, _NO_NUMBERS) for each in given)
        weights = given.astype(np.float64) if is_real else None
    except (TypeError, ValueError, OverflowError):
        weights = None
    if weights is None:
        raise GraphError(f"weights {name!r} are not all numbers: {advice}")
    if missing := int(np.count_nonzero(np.isnan(weights))):
        raise GraphError(f"{missing:,} of {len(weights):,} {unit}s without {name!r}: {advice}")
    return weights


def _ids(name: str, given: Any) -> np.ndarray:
    """(n,) int64."""
    ids = integer_row(name, given)
    if len(ids) == 0:
        return ids
    if ids.dtype == np.uint64 and ids.max() > MAX_NODES:
        raise GraphError(f"{name} holds {ids.max()}; node ids are at most {MAX_NODES - 1}")
    return ids.astype(np.int64)


def _weights(given: Any, n: int) -> np.ndarray:
    weights = row("weights", given)
    if weights.shape != (n,):
        raise GraphError(f"weights has shape {weights.shape}; there are {n} edges")
    if weights.dtype.kind not in "iuf" and n:
        raise GraphError(f"weights has dtype {weights.dtype}; weights are numbers")
    with np.errstate(over="ignore"):  # the constructor finds what is infinite
        return weights.astype(WEIGHT)


def _checked_size(n_nodes: int | None, tail: np.ndarray, head: np.ndarray) -> int:
    least, most = (
        min(tail.min(initial=0), head.min(initial=0)),
        max(tail.max(initial=-1), head.max(initial=-1)),
    )
    size = int(most) + 1 if n_nodes is None else whole_number("n_nodes", n_nodes, 0)
    if least < 0:
        raise GraphError(f"node {least} is negative; nodes are 0 to n_nodes - 1")
    if most >= size:
        which = f", 0 to {size - 1}" if size else ""
        raise GraphError(f"node {most} is not one of {size} nodes{which}")
    if size > MAX_NODES:
        raise GraphError(f"{size} nodes; node ids are int32, at most {MAX_NODES} fit")
    return size
