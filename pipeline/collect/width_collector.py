"""Results about widths, as they come, to one row for each AS that asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipeline.collect.widths import (
    concat_effective,
    concat_widths,
    empty_effective,
    empty_widths,
    only_asked,
    take_effective,
    take_widths,
)
from pipeline.model.metrics import WidthMetric
from pipeline.model.tasks import WidthKind, WidthResults
from pipeline.model.widths import EffectiveDiameters, Widths

NOT_MEASURED = "the run ended before it was measured"


@dataclass
class WidthCollector:
    """Of one kind of task.

    Parameters
    ----------
    kind : str
    metrics : tuple of str
    owner : (n_rows,) int64
        For each row asked for, the row whose task answers it.
    """

    kind: WidthKind
    metrics: tuple[WidthMetric, ...]
    owner: np.ndarray
    _pieces: list[Any] = field(default_factory=list)
    _failed: dict[int, str] = field(default_factory=dict)

    def add(self, results: WidthResults) -> None:
        """Take what a task found."""
        self._pieces.append(results.found)
        self._failed |= results.failed

    def fail(self, rows: np.ndarray, reason: str) -> None:
        """Take that a task failed for good; what is known all the same may be added."""
        for row in rows.tolist():
            self._failed.setdefault(row, reason)

    def finish(self, rows: np.ndarray) -> tuple[Widths | EffectiveDiameters, dict[int, str]]:
        """What each of the rows asked for has, and why some have nothing."""
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
        if isinstance(found, EffectiveDiameters):
            return take_effective(found, which, row), failed
        return only_asked(take_widths(found, which, row)), failed

    def _joined(self) -> Widths | EffectiveDiameters:
        if self.kind == "effective":
            return concat_effective([empty_effective(), *self._pieces])
        nothing = empty_widths(self.metrics, self.kind == "weighted")
        return concat_widths([nothing, *self._pieces])
