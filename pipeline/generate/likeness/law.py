"""What a likeness keeps of graphs: routers in classes, links between classes, triangles, ingresses.

A kind is the routers of one degree in one connected component, so that the links between kinds
are the component's joint degree matrix (dK-2: Mahadevan, Krioukov, Fall, Vahdat: Systematic
topology analysis and generation using degree correlations, SIGCOMM 2006). A class is those of a
kind with the same hops from all landmarks (``levels``). In a component that is to be scaled a kind
may be of several degrees next to one another (``classes_of_scaled``), and is one class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.connected import components
from kernels.csr import Shard
from pipeline.generate.likeness.levels import levels_of
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
    """Of each class of each component, sorted by component, then ascending degree, then levels.

    Attributes
    ----------
    class_ptr : (n_components + 1,) int64
        Classes of component i are class_ptr[i] .. class_ptr[i + 1] - 1.
    of_node : (n_nodes,) int64
        Class of each node of the original.
    kind : (n_classes,) int64
        Of each class, ascending.
    level : (n_nodes, n_landmarks) int32
        Of the original's nodes, sorted by class, then by level.
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
    kind: np.ndarray
    level: np.ndarray
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
    shard: Shard,
    parts: Components,
    is_ingress: np.ndarray,
    merged: np.ndarray,
    scaled: np.ndarray,
    mark: np.ndarray | None = None,
    n_threads: int | None = None,
) -> Law:
    """The law of some graphs.

    Parameters
    ----------
    shard : Shard
    parts : Components
        Its own.
    is_ingress : (n_nodes,) bool
    merged : (n_nodes,) int64
        Nodes of a component with the same number are of one kind: degrees, where they are exact.
    scaled : (n_components,) bool
        Whether all nodes of a kind are one class.
    mark : (n_nodes,) int64 or None
        Nodes of other marks are of another kind, but in components that are scaled; from 0.
    n_threads : int or None
        None: one per core.

    Notes
    -----
    O(n_arcs log n_arcs), and what ``corners`` takes.
    """
    degree = np.diff(shard.indptr)
    level = levels_of(shard, parts.of_node, len(parts.size))
    is_scaled = scaled[parts.of_node]
    kind_of = _numbered(parts.of_node, merged)
    if mark is not None:
        kind_of = _numbered(kind_of, np.where(is_scaled, 0, mark))
    of_node = kind_of
    for column in level.T:
        of_node = _numbered(of_node, np.where(is_scaled, 0, column))
    n_classes, n_parts = int(of_node.max(initial=-1)) + 1, len(parts.size)
    order = np.lexsort((*level.T[::-1], of_node))
    first = np.searchsorted(of_node[order], np.arange(n_classes))
    class_ptr = np.searchsorted(parts.of_node[order[first]], np.arange(n_parts + 1))
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
        kind=kind_of[order[first]],
        level=level[order],
        n_nodes=np.bincount(of_node, minlength=n_classes),
        n_ingresses=np.bincount(of_node[is_ingress], minlength=n_classes),
        n_pairs=_summed(of_node, degree * (degree - 1) // 2, n_classes),
        n_corners=_summed(of_node, corners(shard.indptr, shard.indices, n_threads), n_classes),
        degree=smallest,
        cell_ptr=np.searchsorted(near, class_ptr),
        near=near,
        far=far,
        n_links=n_links,
    )


def _numbered(number: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Groups of nodes by their number, then by another one, from 0."""
    keys = number * (int(by.max(initial=0)) + 1) + by
    return np.unique(keys, return_inverse=True)[1]


def _summed(of_node: np.ndarray, values: np.ndarray, n_classes: int) -> np.ndarray:
    # Sums of whole numbers below 2**53 are exact.
    return np.bincount(of_node, weights=values, minlength=n_classes).astype(np.int64)
