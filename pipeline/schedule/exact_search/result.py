"""Bounds of eccentricities of one AS as a row of Widths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels.exact_search import EccentricityBounds, Question
from kernels.types import NODE
from pipeline.metrics import implied_by
from pipeline.model.columns import one_row
from pipeline.model.search.exact import ExactJob
from pipeline.model.search.results import Widths


def widths_of(
    job: ExactJob,
    names: np.ndarray,
    bounds: Sequence[EccentricityBounds],
    n_searches: int,
    path: np.ndarray,
) -> Widths:
    """One row.

    Parameters
    ----------
    job : ExactJob
    names : (n_components,) int32
        Smallest node of each component.
    bounds : sequence of EccentricityBounds
        Bounds of every question, each from the searches of all; none: an empty graph.
    n_searches : int
    path : (n,) int32
        As long as the lower bound of the diameter; empty: it was not found.
    """
    if not bounds:
        return _row(job, component=-1, diameter=(0, 0), radius=(0, 0), exact=True)
    diameter, radius = _intervals(bounds)
    size, component = bounds[0].size, bounds[0].component
    largest = int(np.argmax(size))
    own = component == largest
    center = periphery = np.empty(0, NODE)
    counts, eccentricity = np.empty(0, np.int64), np.empty(0, np.uint8)
    for each in bounds:
        if not each.done:
            continue
        if each.question in implied_by("center") and "center" in job.metrics:
            center = np.flatnonzero(own & (each.lower <= each.least[largest])).astype(NODE)
        if each.question in implied_by("periphery") and "periphery" in job.metrics:
            periphery = np.flatnonzero(own & (each.upper >= each.most[largest])).astype(NODE)
        if each.question == "eccentricities":
            counts = np.bincount(each.lower[own]).astype(np.int64)
            eccentricity = _narrow(each.lower)
    listed = size > 1
    return _row(
        job,
        component=int(names[largest]),
        diameter=(int(diameter[0][largest]), int(diameter[1][largest])),
        radius=(int(radius[0][largest]), int(radius[1][largest])),
        exact=all(
            each.done or _met(each.question, diameter=diameter, radius=radius) for each in bounds
        )
        and ("diameter" not in job.metrics or len(path) > 0),
        n_searches=n_searches,
        path=path,
        center=center,
        periphery=periphery,
        counts=counts,
        eccentricity=eccentricity,
        component_id=names[listed].astype(np.int32),
        component_size=size[listed].astype(np.int32),
        component_diameter=_exact(*diameter)[listed],
        component_radius=_exact(*radius)[listed],
    )


def answered(question: Question, bounds: Sequence[EccentricityBounds]) -> bool:
    """Whether a question needs no further search, by the bounds of all questions.

    A diameter is at most twice the radius; if it is exactly twice, each proves the other.
    """
    if any(each.done for each in bounds if each.question == question):
        return True
    most = np.maximum.reduce([each.most for each in bounds])
    least = np.minimum.reduce([each.least for each in bounds])
    if question == "diameter":
        return bool((most == 2 * least).all())
    return question == "radius" and bool(((most + 1) // 2 == least).all())


def _met(question: Question, **intervals: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the bounds of a width meet in every component."""
    low, high = intervals.get(question, (np.zeros(1), np.ones(1)))
    return bool((low == high).all())


def nothing_known(job: ExactJob) -> Widths:
    """The row of an AS that could not be searched at all."""
    return _row(job, component=-1, diameter=(-1, -1), radius=(-1, -1), exact=False)


def _intervals(
    bounds: Sequence[EccentricityBounds],
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Proven bounds of diameter and radius of each component, by all questions together."""
    lows, highs, least_lows, leasts = [], [], [], []
    for each in bounds:
        is_radius = each.question in ("radius", "center")
        low, high = each.interval()
        nodes = each.component
        if is_radius:
            least_lows.append(low)
            leasts.append(high)
            low, high = each.most, np.zeros_like(each.most)
            np.maximum.at(high, nodes, each.upper)
        else:
            lowest = np.full(len(each.size), np.iinfo(np.int32).max, np.int32)
            np.minimum.at(lowest, nodes, each.lower)
            least_lows.append(np.minimum(lowest, each.least))
            leasts.append(each.least)
        lows.append(low)
        highs.append(high)
    low, high = np.maximum.reduce(lows), np.minimum.reduce(highs)
    least_low, least = np.maximum.reduce(least_lows), np.minimum.reduce(leasts)
    # The diameter is at most twice the radius.
    high = np.minimum(high, 2 * least.astype(np.int64)).astype(np.int32)
    least_low = np.maximum(least_low, (low + 1) // 2)
    return (low, high), (least_low, least)


def _exact(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.where(low == high, low, -1).astype(np.int64)


def _narrow(values: np.ndarray) -> np.ndarray:
    longest = int(values.max(initial=0))
    kind = np.uint8 if longest < 256 else np.uint16 if longest < 65536 else np.int32
    return values.astype(kind)


def _row(
    job: ExactJob,
    *,
    component: int,
    diameter: tuple[int, int],
    radius: tuple[int, int],
    exact: bool,
    n_searches: int = 0,
    **ragged: np.ndarray,
) -> Widths:
    return one_row(
        Widths,
        {"metrics": job.metrics, "is_weighted": False},
        row=job.row,
        n_searches=n_searches,
        component=component,
        diameter_lower=diameter[0],
        diameter_upper=diameter[1],
        radius_lower=radius[0],
        radius_upper=radius[1],
        exact=exact,
        **ragged,
    )
