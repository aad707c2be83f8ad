"""What a likeness keeps of graphs: routers in classes, links between classes, triangles, ingresses.

A class is the routers of one degree in one connected component, so that the links between classes
are the component's joint degree matrix (dK-2: Mahadevan, Krioukov, Fall, Vahdat: Systematic
topology analysis and generation using degree correlations, SIGCOMM 2006). In a component that is to
be scaled a class may be of several degrees next to one another (``classes_of_scaled``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.connected import components
from kernels.csr import Shard
from pipeline.generate.likeness.triangles import corners


@dataclass(frozen=True, eq=False)
class Components:
    """Connected components of graphs side by side, numbered by their smallest node.

    Attributes
    ----------
    of_node : (n_nodes,) int64
    size : (n_components,) int64
    graph : (n_components,) int64
        Graph of the shard.
    """

    of_node: np.ndarray
    size: np.ndarray
    graph: np.ndarray


@dataclass(frozen=True, eq=False)
class Law:
    """Of each class of each component; classes are sorted by component, then ascending degree.

    Attributes
    ----------
    class_ptr : (n_components + 1,) int64
        Classes of component i are class_ptr[i] .. class_ptr[i + 1] - 1.
    of_node : (n_nodes,) int64
        Class of each node of the original.
    n_nodes, n_ingresses, n_pairs, n_corners : (n_classes,) int64
        Nodes, those that are ingresses, pairs of neighbours of a node, and those pairs of which
        both are linked: corners of triangles.
    degree : (n_classes,) int64
        Smallest of the class.
    cell_ptr : (n_components + 1,) int64
        Cells of component i are cell_ptr[i] .. cell_ptr[i + 1] - 1.
    near, far, n_links : (n_cells,) int64
        Links between each two classes that have any, near <= far, sorted by both.
    """

    class_ptr: np.ndarray
    of_node: np.ndarray
    n_nodes: np.ndarray
    n_ingresses: np.ndarray
    n_pairs: np.ndarray
    n_corners: np.ndarray
    degree: np.ndarray
    cell_ptr: np.ndarray
    near: np.ndarray
    far: np.ndarray
    n_links: np.ndarray


def components_of(shard: Shard) -> Components:
    """The components of all graphs of a shard."""
    found = components(shard)
    graph = np.searchsorted(shard.node_ptr, found.ids, side="right") - 1
    of_node = np.searchsorted(found.ids, found.component)
    return Components(of_node, found.sizes, graph)


def law_of(
    shard: Shard, parts: Components, is_ingress: np.ndarray, merged: np.ndarray | None = None
) -> Law:
    """The law of some graphs.

    Parameters
    ----------
    shard : Shard
    parts : Components
        Its own.
    is_ingress : (n_nodes,) bool
    merged : (n_nodes,) int64 or None
        Nodes of a component with the same number are of one class; None: degrees.

    Notes
    -----
    O(n_arcs log n_arcs), and what ``corners`` takes.
    """
    degree = np.diff(shard.indptr)
    merged = degree if merged is None else merged
    width = int(merged.max(initial=0)) + 1
    keys, of_node = np.unique(parts.of_node * width + merged, return_inverse=True)
    n_classes, n_parts = len(keys), len(parts.size)
    class_ptr = np.searchsorted(keys, np.arange(n_parts + 1) * width)
    tail = np.repeat(of_node, degree)
    head = of_node[shard.indices]
    once = tail <= head
    cells, n_links = np.unique(tail[once] * n_classes + head[once], return_counts=True)
    near, far = np.divmod(cells, max(n_classes, 1))
    n_links = np.where(near == far, n_links // 2, n_links)  # such links were counted from both ends
    smallest = np.full(n_classes, np.iinfo(np.int64).max)
    np.minimum.at(smallest, of_node, degree)
    return Law(
        class_ptr=class_ptr,
        of_node=of_node,
        n_nodes=np.bincount(of_node, minlength=n_classes),
        n_ingresses=np.bincount(of_node[is_ingress], minlength=n_classes),
        n_pairs=_summed(of_node, degree * (degree - 1) // 2, n_classes),
        n_corners=_summed(of_node, corners(shard.indptr, shard.indices), n_classes),
        degree=smallest,
        cell_ptr=np.searchsorted(near, class_ptr),
        near=near,
        far=far,
        n_links=n_links,
    )


def _summed(of_node: np.ndarray, values: np.ndarray, n_classes: int) -> np.ndarray:
    # Sums of whole numbers below 2**53 are exact.
    return np.bincount(of_node, weights=values, minlength=n_classes).astype(np.int64)
