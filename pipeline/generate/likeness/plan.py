"""What a likeness is to have: routers in classes, their degrees, and links between classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.generate.likeness.law import Law
from pipeline.generate.likeness.scaling import scaled_component
from pipeline.model.columns.ragged import offsets


@dataclass(frozen=True, eq=False)
class Plan:
    """Components one after another; nodes are sorted by class.

    Attributes
    ----------
    class_ptr : (n_classes + 1,) int64
        Nodes of class i are class_ptr[i] .. class_ptr[i + 1] - 1.
    group : (n_classes,) int64
        Component of each class, ascending.
    law : (n_classes,) int64
        Class of the original that each is in the likeness of.
    degree : (n_nodes,) int64
    level : (n_nodes, n_landmarks) int32
        Hops from landmarks that are wanted; nodes of a kind are sorted by them.
    kind : (n_nodes,) int32
        Ascending; each kind has the nodes of some classes next to one another (``law``).
    kind_ptr : (n_kinds + 1,) int64
        Nodes of kind i are kind_ptr[i] .. kind_ptr[i + 1] - 1.
    kind_group : (n_kinds,) int64
        Component of each kind, ascending.
    near, far, n_links : (n_cells,) int64
        Links between each two classes that have any, near <= far.
    corners : (n_kinds,) float64
        Corners of triangles that are wanted.
    """

    class_ptr: np.ndarray
    group: np.ndarray
    law: np.ndarray
    degree: np.ndarray
    level: np.ndarray
    kind: np.ndarray
    kind_ptr: np.ndarray
    kind_group: np.ndarray
    near: np.ndarray
    far: np.ndarray
    n_links: np.ndarray
    corners: np.ndarray

    def node_class(self) -> np.ndarray:
        """(n_nodes,) int32 class of each node."""
        n_classes = len(self.group)
        return np.repeat(np.arange(n_classes, dtype=np.int32), np.diff(self.class_ptr))


def plan_of(law: Law, part: np.ndarray, size: np.ndarray, degrees: dict[int, np.ndarray]) -> Plan:
    """A plan of components in the likeness of those of a law.

    Parameters
    ----------
    law : Law
    part : (n_groups,) int64
        Component of the original that each component of the likeness is like.
    size : (n_groups,) int64
        Its nodes; a component of another size than the original's is scaled.
    degrees : dict of int to (n_nodes,) int64
        Degrees of the nodes of each component that is scaled, by its number.
    """
    n_each = np.diff(law.class_ptr)[part]
    first = offsets(n_each)
    source = _ranges(law.class_ptr[part], n_each)
    n_nodes = law.n_nodes[source]
    group = np.repeat(np.arange(len(part)), n_each)
    n_cells = np.diff(law.cell_ptr)[part]
    cell = _ranges(law.cell_ptr[part], n_cells)
    shift = np.repeat(first[:-1] - law.class_ptr[part], n_cells)
    near, far, n_links = law.near[cell] + shift, law.far[cell] + shift, law.n_links[cell]
    own_size = np.add.reduceat(law.n_nodes, law.class_ptr[:-1]) if len(law.n_nodes) else size
    scaled = np.flatnonzero(size != own_size[part])
    replaced = {}
    kept = np.ones(len(part), bool)
    kept[scaled] = False
    held = np.repeat(kept, n_cells)
    more = [(near[held], far[held], n_links[held])]
    for i in scaled.tolist():
        classes = slice(law.class_ptr[part[i]], law.class_ptr[part[i] + 1])
        cells = slice(law.cell_ptr[part[i]], law.cell_ptr[part[i] + 1])
        base = law.class_ptr[part[i]]
        made = scaled_component(
            degrees[int(part[i])],
            law.n_nodes[classes],
            (law.near[cells] - base, law.far[cells] - base, law.n_links[cells]),
            int(size[i]),
        )
        n_nodes[first[i] : first[i + 1]] = made.n_nodes
        more.append((made.near + first[i], made.far + first[i], made.n_links))
        replaced[i] = made.degree
    near, far, n_links = (np.concatenate(columns) for columns in zip(*more, strict=True))
    order = np.lexsort((far, near)) if len(scaled) else slice(None)
    class_ptr = offsets(n_nodes)
    degree = np.repeat(law.degree[source], n_nodes)
    for i, own in replaced.items():
        degree[class_ptr[first[i]] : class_ptr[first[i + 1]]] = own
    begins = np.flatnonzero(
        (np.diff(group, prepend=-1) != 0) | (np.diff(law.kind[source], prepend=-1) != 0)
    )
    kind_ptr = np.append(class_ptr[begins], class_ptr[-1])
    kind = np.repeat(np.arange(len(begins), dtype=np.int32), np.diff(kind_ptr))
    corners, of_pairs = (
        np.bincount(law.kind, weights=counts)[law.kind[source[begins]]]
        for counts in (law.n_corners, law.n_pairs)
    )
    pairs = np.bincount(kind, weights=degree * (degree - 1) // 2, minlength=len(begins))
    return Plan(
        class_ptr=class_ptr,
        group=group,
        law=source,
        degree=degree,
        level=law.level[_places(law, source, n_nodes)],
        kind=kind,
        kind_ptr=kind_ptr,
        kind_group=group[begins],
        near=near[order],
        far=far[order],
        n_links=n_links[order],
        corners=pairs * corners / np.maximum(of_pairs, 1),
    )


def _ranges(first: np.ndarray, n_each: np.ndarray) -> np.ndarray:
    """first[i] .. first[i] + n_each[i] - 1, range after range."""
    before = offsets(n_each)
    return np.arange(before[-1]) + np.repeat(first - before[:-1], n_each)


def _places(law: Law, source: np.ndarray, n_nodes: np.ndarray) -> np.ndarray:
    """For each node one of the original's, at its share of their order in the class."""
    own = np.repeat(offsets(law.n_nodes)[source], n_nodes)
    at = np.arange(n_nodes.sum()) - np.repeat(offsets(n_nodes)[:-1], n_nodes)
    share = np.repeat(law.n_nodes[source] / np.maximum(n_nodes, 1), n_nodes)
    return own + ((at + 0.5) * share).astype(np.int64)
