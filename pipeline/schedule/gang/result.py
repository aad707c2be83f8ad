"""What ranks bring back, to the columns of one AS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.metrics import WidthMetric
from pipeline.model.search.results import Widths


def widths_of_ranks(
    ends: Sequence[Any], row: int, metrics: tuple[WidthMetric, ...], read_s: float
) -> Widths:
    """One row of widths in hops.

    Parameters
    ----------
    ends : sequence of kernels.partition.widths.PartWidths
        Of all ranks.
    row : int
    metrics : tuple of str
        What was requested.
    read_s : float
        Seconds until the last rank had its part.
    """
    first = ends[0]
    c, is_exact = first.largest, bool(first.exact.all())
    nodes = np.concatenate([end.nodes for end in ends])
    order = np.argsort(nodes)
    in_largest = np.concatenate([end.component == c for end in ends])[order]

    def members(name: str) -> np.ndarray:
        if name not in metrics or not first.exact[c]:
            return np.empty(0, np.int32)
        is_member = np.concatenate([getattr(end, f"is_{name}") for end in ends])[order]
        return nodes[order][is_member & in_largest].astype(np.int32)

    eccentricity, counts = np.empty(0, np.uint8), np.empty(0, np.int64)
    if "eccentricities" in metrics:
        every = np.concatenate([end.eccentricity for end in ends])[order]
        if first.exact[c]:
            counts = np.bincount(every[in_largest]).astype(np.int64)
        if is_exact:
            longest = int(every.max(initial=0))
            kind = np.uint8 if longest < 255 else np.uint16 if longest < 65535 else np.int32
            eccentricity = every.astype(kind)
    listed = np.flatnonzero(first.size > 1)
    path = first.path if first.path is not None else np.empty(0, np.int32)
    center, periphery = members("center"), members("periphery")

    def one(values: np.ndarray) -> np.ndarray:
        return values[c : c + 1].astype(np.int64)

    def known(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return np.where(lower == upper, lower, -1)[listed].astype(np.int64)

    def ptr(values: np.ndarray) -> np.ndarray:
        return np.array([0, len(values)], np.int64)

    return Widths(
        row=np.array([row], np.int64),
        metrics=metrics,
        is_weighted=False,
        n_searches=np.array([first.n_searches.sum()], np.int64),
        component=one(first.names),
        diameter_lower=one(first.diameter_lower),
        diameter_upper=one(first.diameter_upper),
        radius_lower=one(first.radius_lower),
        radius_upper=one(first.radius_upper),
        exact=np.array([is_exact]),
        path_ptr=ptr(path),
        path=path,
        center_ptr=ptr(center),
        center=center,
        periphery_ptr=ptr(periphery),
        periphery=periphery,
        count_ptr=ptr(counts),
        counts=counts,
        eccentricity_ptr=ptr(eccentricity),
        eccentricity=eccentricity,
        component_ptr=ptr(listed),
        component_id=first.names[listed].astype(np.int32),
        component_size=first.size[listed].astype(np.int32),
        component_diameter=known(first.diameter_lower, first.diameter_upper),
        component_radius=known(first.radius_lower, first.radius_upper),
        read_s=read_s,
    )
