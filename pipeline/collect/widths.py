"""Widths of graphs in any order to columns: laid end to end, and handed to ASes that share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from pipeline.collect.ragged import join_ptrs, take_ragged
from pipeline.model.metrics import WidthMetric
from pipeline.model.widths import EffectiveDiameters, Widths

# Offsets -> the columns that they cut into rows.
RAGGED = {
    "path_ptr": ("path",),
    "center_ptr": ("center",),
    "periphery_ptr": ("periphery",),
    "count_ptr": ("counts",),
    "eccentricity_ptr": ("eccentricity",),
    "component_ptr": (
        "component_id",
        "component_size",
        "component_diameter",
        "component_radius",
    ),
}
FLAT = (
    "row",
    "n_searches",
    "component",
    "diameter_lower",
    "diameter_upper",
    "radius_lower",
    "radius_upper",
    "exact",
)
_NODES = ("path", "center", "periphery", "component_id", "component_size")
_VALUES = (
    "diameter_lower",
    "diameter_upper",
    "radius_lower",
    "radius_upper",
    "component_diameter",
    "component_radius",
)
# What tells a diameter, and a radius.
TELLS: dict[str, set[WidthMetric]] = {
    "diameter": {"diameter", "periphery", "eccentricities"},
    "radius": {"radius", "center", "eccentricities"},
}
EFFECTIVE = tuple(field.name for field in fields(EffectiveDiameters) if field.name != "read_s")


def empty_widths(metrics: tuple[WidthMetric, ...], is_weighted: bool) -> Widths:
    """Widths of no graph."""
    names = (*FLAT, *(name for group in RAGGED.values() for name in group))
    columns: dict[str, Any] = {name: np.empty(0, np.int64) for name in names}
    columns |= {name: np.empty(0, np.int32) for name in _NODES}
    columns["exact"] = np.empty(0, bool)
    columns["eccentricity"] = np.empty(0, np.uint8)
    if is_weighted:
        columns |= {name: np.empty(0) for name in (*_VALUES, "eccentricity")}
    columns |= {name: np.zeros(1, np.int64) for name in RAGGED}
    return Widths(metrics=metrics, is_weighted=is_weighted, **columns)


def concat_widths(pieces: Sequence[Widths]) -> Widths:
    """Widths end to end, in the order given; at least one piece, all of one kind."""

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    joined: dict[str, Any] = {name: column(name) for name in FLAT}
    for ptr, columns in RAGGED.items():
        joined[ptr] = join_ptrs([getattr(piece, ptr) for piece in pieces])
        joined |= {name: column(name) for name in columns}
    return replace(pieces[0], **joined, read_s=sum(piece.read_s for piece in pieces))


def take_widths(widths: Widths, which: np.ndarray, row: np.ndarray) -> Widths:
    """Some graphs, in the order given, under the AS rows ``row``."""
    taken: dict[str, Any] = {name: getattr(widths, name)[which] for name in FLAT}
    taken["row"] = row
    for ptr, columns in RAGGED.items():
        for name in columns:
            taken[ptr], taken[name] = take_ragged(
                getattr(widths, ptr), getattr(widths, name), which
            )
    return replace(widths, **taken)


def only_asked(widths: Widths) -> Widths:
    """Without bounds that nothing asked for: what they are depends on which searches were made."""
    unknown: dict[str, Any] = {}
    for name, metrics in TELLS.items():
        if not metrics & set(widths.metrics):
            for column in (f"{name}_lower", f"{name}_upper", f"component_{name}"):
                unknown[column] = np.full_like(getattr(widths, column), -1)
    return replace(widths, **unknown)


def empty_effective() -> EffectiveDiameters:
    """Effective diameters of no graph."""
    none = np.empty(0, np.int64)
    return EffectiveDiameters(none, np.empty(0), np.empty(0, bool), np.empty(0), none)


def concat_effective(pieces: Sequence[EffectiveDiameters]) -> EffectiveDiameters:
    """Effective diameters end to end, in the order given; at least one piece."""
    joined = {
        name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in EFFECTIVE
    }
    return EffectiveDiameters(**joined, read_s=sum(piece.read_s for piece in pieces))


def take_effective(
    effective: EffectiveDiameters, which: np.ndarray, row: np.ndarray
) -> EffectiveDiameters:
    """Some graphs, in the order given, under the AS rows ``row``."""
    taken = {name: getattr(effective, name)[which] for name in EFFECTIVE} | {"row": row}
    return replace(effective, **taken)
