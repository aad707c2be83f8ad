"""Certificate of components: accepts exactly the right labels, in one search and one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.stated import stated_array
from kernels.types import NODE, OFFSET

if TYPE_CHECKING:
    from kernels.connected import ComponentsResult


def check_result(found: ComponentsResult) -> None:
    """Raise CheckError unless labels, names and sizes are right; on the host."""
    component = stated_array("component", found.component, NODE, (found.graph.n_nodes,))
    check_components(found.graph.indptr, found.graph.indices, component)
    ids, sizes = np.unique(component, return_counts=True)
    theirs = stated_array("ids", found.ids, NODE, (None,))
    their_sizes = stated_array("sizes", found.sizes, OFFSET, (None,))
    if not (np.array_equal(theirs, ids) and np.array_equal(their_sizes, sizes)):
        raise CheckError("names or sizes of components are not those of the nodes' labels")


def check_components(indptr: Any, indices: Any, component: Any) -> None:
    """Raise CheckError unless ``component`` names the smallest node of each component.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32
        Of a valid CSRGraph or Shard, on any device.
    component : (n_nodes,) int32

    Notes
    -----
    One search from the smallest node that no search has reached names each component again.
    """
    component = stated_array("component", component, NODE, (len(indptr) - 1,))
    node = _component_fault(to_host(indptr), to_host(indices), component)
    if node >= 0:
        raise CheckError(
            f"node {node} is in component {component[node]}, which is not its smallest node"
        )


@njit([types.int64(I64, I32, I32)], cache=True, nogil=True)
def _component_fault(indptr, indices, component):
    n_nodes = indptr.size - 1
    seen = np.zeros(n_nodes, np.bool_)
    stack = np.empty(n_nodes, np.int32)
    for root in range(n_nodes):
        if seen[root]:
            continue
        seen[root] = True
        stack[0] = root
        height = 1
        while height > 0:
            height -= 1
            u = stack[height]
            if component[u] != root:
                return np.int64(u)
            for arc in range(indptr[u], indptr[u + 1]):
                v = indices[arc]
                if not seen[v]:
                    seen[v] = True
                    stack[height] = v
                    height += 1
    return np.int64(-1)
