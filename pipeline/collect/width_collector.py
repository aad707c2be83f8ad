"""Results about widths, in any order, to one row for each AS that requested them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pipeline.metrics import WIDTH_METRICS, columns_of, implied_by
from pipeline.model.columns import concat, empty, take
from pipeline.model.search.results import Figures, Widths, findings_class
from pipeline.model.search.tasks import WidthKind, WidthResults

NOT_MEASURED = "the run ended before it was measured"


@dataclass
class WidthCollector:
    """Collects the results of one kind of task.

    Parameters
    ----------
    kind : str
    metrics : tuple of str
    owner : (n_rows,) int64
        For each requested row, the row whose task answers it.
    """

    kind: WidthKind
    metrics: tuple[str, ...]
    owner: np.ndarray
    _pieces: list[Any] = field(default_factory=list)
    _failed: dict[int, str] = field(default_factory=dict)

    def add(self, results: WidthResults) -> None:
        """Take the results of a task."""
        self._pieces.append(results.found)
        self._failed |= results.failed

    def fail(self, rows: np.ndarray, reason: str) -> None:
        """Record that a task failed for good; partial results may still be added."""
        for row in rows.tolist():
            self._failed.setdefault(row, reason)

    def finish(self, rows: np.ndarray) -> tuple[Widths | Figures, dict[int, str]]:
        """The results of each requested row, and why some have none."""
        found = self._joined()
        # A graph that was measured twice (its worker was thought lost) gave the same both times.
        measured, first = np.unique(found.row, return_index=True)
        at = np.searchsorted(measured, self.owner)
        here = np.zeros(len(rows), bool)
        inside = at < len(measured)
        here[inside] = measured[at[inside]] == self.owner[inside]
        which, row = first[at[here]], np.asarray(rows, np.int64)[here]
        failed = {}
        for asked, owner, known in zip(rows.tolist(), self.owner.tolist(), here, strict=True):
            if owner in self._failed or not known:
                failed[asked] = self._failed.get(owner, NOT_MEASURED)
        known_rows = take(found, which, row=row)
        return (only_asked(known_rows) if isinstance(known_rows, Widths) else known_rows), failed

    def _joined(self) -> Widths | Figures:
        return concat([self._nothing(), *self._pieces])

    def _nothing(self) -> Widths | Figures:
        """The result of a task of this kind for no graph."""
        if findings_class(self.kind) is Widths:
            asked = tuple(metric for metric in WIDTH_METRICS if metric in self.metrics)
            return empty(Widths, metrics=asked, is_weighted=self.kind == "weighted")
        columns = {c.name: np.empty(0, np.dtype(c.dtype)) for c in columns_of(self.kind)}
        return empty(Figures, task=self.kind, columns=columns)


def only_asked(widths: Widths) -> Widths:
    """The same widths without bounds that were not requested: they depend on which searches were
    made."""
    unknown: dict[str, Any] = {}
    for name in ("diameter", "radius"):
        if implied_by(name).isdisjoint(widths.metrics):
            for column in (f"{name}_lower", f"{name}_upper", f"component_{name}"):
                unknown[column] = np.full_like(getattr(widths, column), -1)
    return replace(widths, **unknown)
