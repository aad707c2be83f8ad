"""What a result states, made ready for its certificate, or refused if it cannot be read at all.

Compiled certificates index by the nodes that a result names, and do not check them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.arguments import as_index, is_masked
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.types import OFFSET
from kernels.words import number


def stated_node(role: str, node: Any, n_nodes: int) -> int:
    """``node`` as an int; CheckError, naming its role, if the graph has no such node."""
    index = as_index(node)
    if index is None:
        raise CheckError(f"{role} {node!r} is not a node")
    if not 0 <= index < n_nodes:
        raise CheckError(f"{role} {index} is not a node; the graph has {number(n_nodes, 'node')}")
    return index


def stated_one(name: str, given: Any, dtype: np.dtype) -> Any:
    """The one value as Python's; CheckError unless the dtype holds it. None, lists are none."""
    return stated_array(name, given, dtype, ()).item()


def stated_array(name: str, given: Any, dtype: np.dtype, shape: tuple[int | None, ...]) -> Any:
    """The array on the host as the dtype that certificates take; CheckError unless it holds these.

    Parameters
    ----------
    name : str
    given : array
        On any device. One of another dtype is taken if it has the same values: whole numbers for
        whole numbers, marks for marks, any numbers for others. Only then are the values looked at.
    dtype : np.dtype
    shape : tuple of int or None
        None: any length.
    """
    if is_masked(given):
        raise CheckError(f"{name} is a masked array: what it holds is not all stated")
    try:
        array = np.asarray(to_host(given))
    except ValueError as error:  # rows of different lengths
        raise CheckError(f"{name} cannot be read: {error}") from None
    expected = tuple(n if m is None else m for n, m in zip(array.shape, shape, strict=False))
    if array.ndim != len(shape) or array.shape != expected:
        lengths = ", ".join("any" if n is None else str(n) for n in shape)
        raise CheckError(f"{name} has shape {array.shape}, not ({lengths})")
    if array.dtype == dtype:
        return np.require(array, requirements=("C", "A"))  # as numba's signatures ask for
    kinds = {"b": "b", "i": "iu", "u": "iu"}.get(dtype.kind, "iuf")
    if array.size and array.dtype.kind not in kinds:
        raise CheckError(f"{name} has dtype {array.dtype}; it must be {dtype}")
    with np.errstate(over="ignore"):
        cast = array.astype(dtype)
    wrong = np.flatnonzero(cast != array)
    if len(wrong):
        raise CheckError(f"{name} holds {array.flat[wrong[0]]}, which {dtype} cannot hold")
    return cast


def stated_nodes(role: str, nodes: np.ndarray, n_nodes: int, least: int = 0) -> None:
    """CheckError, naming their role, unless all are nodes of the graph, or ``least`` and above."""
    if nodes.size and not least <= nodes.min() <= nodes.max() < n_nodes:
        raise CheckError(
            f"{role} from {nodes.min()} to {nodes.max()} are not all nodes; the graph has "
            f"{number(n_nodes, 'node')}"
        )


def stated_rows(name: str, ptr: Any, n_rows: int, n_items: int) -> Any:
    """Where rows begin and end, (n_rows + 1,) int64; CheckError unless every item is in one row."""
    ptr = stated_array(name, ptr, OFFSET, (n_rows + 1,))
    if ptr[0] != 0 or ptr[-1] != n_items or (ptr[1:] < ptr[:-1]).any():
        raise CheckError(
            f"{name} runs from {ptr[0]} to {ptr[-1]}; it must rise from 0 to {n_items}, of what "
            f"{n_rows} rows hold"
        )
    return ptr
