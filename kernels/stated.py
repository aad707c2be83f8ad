"""What a result states, made ready for its certificate, or refused if it cannot be read at all.

Compiled certificates index by the nodes that a result names, and do not check them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from kernels.errors import CheckError


def stated_node(role: str, node: Any, n_nodes: int) -> int:
    """``node`` as an int; CheckError, naming its role, if the graph has no such node."""
    try:
        number = operator.index(node)
    except TypeError:
        raise CheckError(f"{role} {node!r} is not a node") from None
    if not 0 <= number < n_nodes:
        raise CheckError(f"{role} {number} is not a node; the graph has {n_nodes} nodes")
    return number


def stated_nodes(role: str, nodes: np.ndarray, n_nodes: int, least: int = 0) -> None:
    """CheckError, naming their role, unless all are nodes of the graph, or ``least`` and above."""
    if nodes.size and not least <= nodes.min() <= nodes.max() < n_nodes:
        raise CheckError(
            f"{role} from {nodes.min()} to {nodes.max()} are not all nodes; the graph has "
            f"{n_nodes} nodes"
        )
