"""What a run can measure, by the names that users give.

The command line reads these before it knows what to do: nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kernels.host import Work

WidthMetric = Literal["diameter", "radius", "center", "periphery", "eccentricities"]
WIDTH_METRICS: tuple[WidthMetric, ...] = (
    "diameter",
    "radius",
    "center",
    "periphery",
    "eccentricities",
)
WEIGHTED = "weighted_"
BY_HOPS = ("hops", *WIDTH_METRICS, "effective_diameter")  # what ``all`` stands for
METRICS = (*BY_HOPS, *(WEIGHTED + metric for metric in WIDTH_METRICS))


@dataclass(frozen=True)
class AskedMetrics:
    """Metrics by the kind of work that they are.

    Attributes
    ----------
    hops : bool
        Hop counts from every ingress.
    widths, weighted : tuple of str
        Of WIDTH_METRICS, in hops and by weight.
    effective : bool
    """

    hops: bool
    widths: tuple[WidthMetric, ...]
    weighted: tuple[WidthMetric, ...]
    effective: bool


def asked_metrics(names: Sequence[str]) -> AskedMetrics:
    """Sort names of METRICS by kind; names that are unknown are left out."""
    return AskedMetrics(
        hops="hops" in names,
        widths=tuple(metric for metric in WIDTH_METRICS if metric in names),
        weighted=tuple(metric for metric in WIDTH_METRICS if WEIGHTED + metric in names),
        effective="effective_diameter" in names,
    )


def compiled_work(names: Sequence[str]) -> tuple[Work, ...]:
    """Kinds of work that metrics compile kernels for."""
    asked = asked_metrics(names)
    by_hops = asked.widths or asked.effective or asked.weighted  # by weight, bounds are as by hops
    kinds: dict[Work, object] = {"searches": True, "widths": by_hops, "weights": asked.weighted}
    return tuple(kind for kind, is_needed in kinds.items() if is_needed)
