"""Connected components of a graph, or of every graph of a shard at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.arguments import check_graph
from kernels.csr import CSRGraph, Shard
from kernels.printed import Printed
from kernels.types import NODE

__all__ = ["ComponentsResult", "components"]


@dataclass(frozen=True, eq=False, repr=False)
class ComponentsResult(Printed):
    """Components and their sizes.

    Attributes
    ----------
    component : (n_nodes,) int32, on the graph's device
        The smallest node of the node's component; node ids of the shard for a Shard.
    ids : (n_components,) int32, on the host, ascending
        The smallest node of each component.
    sizes : (n_components,) int64, on the host
        Nodes of each component, in the order of ``ids``.
    """

    component: Any
    ids: np.ndarray
    sizes: np.ndarray
    graph: CSRGraph | Shard = field(repr=False)

    @property
    def n_components(self) -> int:
        return len(self.ids)

    def check(self) -> None:
        """Raise CheckError unless these are the components; O(n_nodes + n_arcs), on a core."""
        from kernels.connected.check import check_result

        check_result(self)


def components(graph: CSRGraph | Shard) -> ComponentsResult:
    """Find the connected components.

    Parameters
    ----------
    graph : CSRGraph or Shard
        Runs on ``graph.device``. In a Shard no component spans two graphs, so components of
        graph i are those whose id lies in node_ptr[i] .. node_ptr[i + 1] - 1.

    Returns
    -------
    ComponentsResult
        No nodes: no components. An isolated node is a component of size 1. The result does not
        depend on the device.

    Raises
    ------
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has no memory there.

    Notes
    -----
    CPU: union-find with path halving; threads share the rows of a large graph, and link only nodes
    outside a part that is found first [2]_. GPU: hooking and flattening [1]_, outside a part that
    two arcs per node connect [2]_. 4 bytes per node besides the graph, and up to 8 per node for the
    sizes.

    References
    ----------
    .. [1] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation
       for GPUs", HPDC 2018.
    .. [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via
       subgraph sampling", IPDPS 2018.
    """
    check_graph(graph, CSRGraph, Shard)
    if graph.n_nodes == 0:
        none = graph.indices[:0]
        return ComponentsResult(none, np.empty(0, NODE), np.empty(0, np.int64), graph)
    if graph.device == "cpu":
        from kernels.connected import cpu

        component = np.empty(graph.n_nodes, NODE)
        cpu.components(graph.indptr, graph.indices, component)
        ids, sizes = cpu.ids_and_sizes(component)
    else:
        from kernels.connected import gpu

        component, ids, sizes = gpu.components_and_sizes(graph.indptr, graph.indices)
    return ComponentsResult(component, ids.astype(NODE), sizes.astype(np.int64), graph)
