"""Widths by brute force, for tests of reports: a search from every node, no kernel, no bound."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pipeline.metrics import WIDTH_METRICS
from pipeline.model.search.results import Figures, Widths
from tests.unit.pipeline.report.memory import MemorySnapshot

Weight = Callable[[int, int], float]


def widths_of(
    snapshot: MemorySnapshot,
    metrics: tuple = WIDTH_METRICS,
    *,
    weight: Weight | None = None,
    rows: list[int] | None = None,
) -> Widths:
    """Exact widths of some ASes, or of all; by ``weight`` of a link where it is given."""
    rows = list(range(len(snapshot.asn))) if rows is None else rows
    graphs = [_Graph(snapshot.shard([row]), weight) for row in rows]
    kind = np.int64 if weight is None else np.float64
    ecc_kind = np.uint16 if weight is None else np.float64

    def values(name: str, dtype=kind) -> np.ndarray:
        return np.array([getattr(graph, name) for graph in graphs], dtype)

    def ragged(name: str, dtype, asked: bool = True) -> tuple[np.ndarray, np.ndarray]:
        parts = [np.array(getattr(graph, name) if asked else [], dtype) for graph in graphs]
        ptr = np.append(0, np.cumsum([len(part) for part in parts])).astype(np.int64)
        return ptr, np.concatenate([np.empty(0, dtype), *parts])

    path_ptr, path = ragged("path", np.int32, "diameter" in metrics)
    center_ptr, center = ragged("center", np.int32, "center" in metrics)
    periphery_ptr, periphery = ragged("periphery", np.int32, "periphery" in metrics)
    of_all = "eccentricities" in metrics
    count_ptr, counts = ragged("counts", np.int64, of_all and weight is None)
    eccentricity_ptr, eccentricity = ragged("eccentricity", ecc_kind, of_all)
    component_ptr, component_id = ragged("component_id", np.int32)
    return Widths(
        row=np.array(rows, np.int64),
        metrics=metrics,
        is_weighted=weight is not None,
        n_searches=values("n_nodes", np.int64),
        component=values("component", np.int64),
        diameter_lower=values("diameter"),
        diameter_upper=values("diameter"),
        radius_lower=values("radius"),
        radius_upper=values("radius"),
        exact=np.ones(len(rows), bool),
        path_ptr=path_ptr,
        path=path,
        center_ptr=center_ptr,
        center=center,
        periphery_ptr=periphery_ptr,
        periphery=periphery,
        count_ptr=count_ptr,
        counts=counts,
        eccentricity_ptr=eccentricity_ptr,
        eccentricity=eccentricity,
        component_ptr=component_ptr,
        component_id=component_id,
        component_size=ragged("component_size", np.int32)[1],
        component_diameter=ragged("component_diameter", kind)[1],
        component_radius=ragged("component_radius", kind)[1],
    )


def cut_short(widths: Widths, k: int, diameter: tuple, radius: tuple, n_searches: int) -> Widths:
    """The same, except that row ``k`` has only bounds and a path."""

    def one(name: str, value) -> np.ndarray:
        changed = getattr(widths, name).copy()
        changed[k] = value
        return changed

    def without(ptr: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.diff(ptr)
        kept = np.repeat(np.arange(len(lengths)) != k, lengths)
        lengths[k] = 0
        return np.append(0, np.cumsum(lengths)), values[kept]

    center_ptr, center = without(widths.center_ptr, widths.center)
    periphery_ptr, periphery = without(widths.periphery_ptr, widths.periphery)
    count_ptr, counts = without(widths.count_ptr, widths.counts)
    eccentricity_ptr, eccentricity = without(widths.eccentricity_ptr, widths.eccentricity)
    largest = np.flatnonzero(
        widths.component_id[widths.component_ptr[k] : widths.component_ptr[k + 1]]
        == widths.component[k]
    )
    component_diameter = widths.component_diameter.copy()
    component_radius = widths.component_radius.copy()
    at = widths.component_ptr[k] + largest
    component_diameter[at] = component_radius[at] = -1
    return replace(
        widths,
        n_searches=one("n_searches", n_searches),
        diameter_lower=one("diameter_lower", diameter[0]),
        diameter_upper=one("diameter_upper", diameter[1]),
        radius_lower=one("radius_lower", radius[0]),
        radius_upper=one("radius_upper", radius[1]),
        exact=one("exact", False),
        center_ptr=center_ptr,
        center=center,
        periphery_ptr=periphery_ptr,
        periphery=periphery,
        count_ptr=count_ptr,
        counts=counts,
        eccentricity_ptr=eccentricity_ptr,
        eccentricity=eccentricity,
        component_diameter=component_diameter,
        component_radius=component_radius,
    )


def effective_of(snapshot: MemorySnapshot, value: float, error: float = 0.0) -> Figures:
    """The same value for every AS; none for those without a link."""
    n = len(snapshot.asn)
    columns = {
        "effective_diameter": np.where(snapshot.n_arcs > 0, value, np.nan),
        "effective_estimated": np.full(n, error > 0),
        "effective_error": np.full(n, error),
        "n_effective_searches": snapshot.n_nodes.copy(),
    }
    return Figures("effective", np.arange(n), columns, np.zeros(n + 1, np.int64), np.empty(0))


class _Graph:
    """Widths of one graph."""

    def __init__(self, shard, weight: Weight | None):
        self.n_nodes = shard.n_nodes
        far = [
            shard.indices[shard.indptr[v] : shard.indptr[v + 1]].tolist()
            for v in range(self.n_nodes)
        ]
        found = [_distances(far, v, weight) for v in range(self.n_nodes)]
        ecc = [max(distance.values()) for distance, _ in found]
        parts = sorted({tuple(sorted(distance)) for distance, _ in found}, key=lambda p: p[0])
        largest = max(parts, key=len, default=())  # the first of those of equal size
        self.component = largest[0] if largest else -1
        self.diameter = max((ecc[v] for v in largest), default=-1)
        self.radius = min((ecc[v] for v in largest), default=-1)
        self.center = [v for v in largest if ecc[v] == self.radius]
        self.periphery = [v for v in largest if ecc[v] == self.diameter]
        self.path = self._path(found)
        self.counts = np.bincount([ecc[v] for v in largest]) if largest and not weight else []
        self.eccentricity = ecc
        several = [part for part in parts if len(part) > 1]
        self.component_id = [part[0] for part in several]
        self.component_size = [len(part) for part in several]
        self.component_diameter = [max(ecc[v] for v in part) for part in several]
        self.component_radius = [min(ecc[v] for v in part) for part in several]

    def _path(self, found: list) -> list[int]:
        if not self.periphery:
            return []
        distance, parent = found[self.periphery[0]]
        path = [max(distance, key=lambda v: (distance[v], -v))]
        while (before := parent[path[-1]]) is not None:
            path.append(before)
        return path[::-1]


def _distances(far: list[list[int]], source: int, weight: Weight | None) -> tuple[dict, dict]:
    """Dijkstra: distance and parent of each node that is reached."""
    distance, parent = {source: 0}, {source: None}
    done: set[int] = set()
    heap = [(0, source)]
    while heap:
        near, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        for other in far[node]:
            way = near + (1 if weight is None else weight(node, other))
            if way < distance.get(other, np.inf):
                distance[other], parent[other] = way, node
                heapq.heappush(heap, (way, other))
    return distance, parent


def bounds(widths: Widths) -> tuple:
    """Those of the diameter, those of the radius of the first AS."""
    return (
        (widths.diameter_lower[0], widths.diameter_upper[0]),
        (widths.radius_lower[0], widths.radius_upper[0]),
    )
