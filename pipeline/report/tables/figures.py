"""Figures of metrics with a kernel of their own, as columns of ``ases.parquet`` and for pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.metrics import Metric, own_kernels
from pipeline.model.columns.ragged import apart, take_rows
from pipeline.model.search.results import Figures
from pipeline.report.tables.columns import arrow_type, spread


@dataclass(frozen=True, eq=False)
class FigureTable:
    """Figures of one metric, for reports.

    Attributes
    ----------
    metric : Metric
    figures : Figures
    at : (n_ases,) int64
        Row of ``figures`` of each AS of the run; -1 where there is none.
    """

    metric: Metric
    figures: Figures
    at: np.ndarray

    def columns(self) -> dict[str, pa.Array]:
        """Columns of ``ases.parquet``; null where an AS has no figure."""
        known = self.at >= 0
        known[known] = self._has_value()[self.at[known]]
        row = self.at[known]
        return {
            column.name: spread(known, self.figures.columns[column.name][row], arrow_type(column))
            for column in self.metric.columns_in("ases")
        }

    def of(self, i: int) -> dict[str, Any] | None:
        """Values of AS ``i`` of the run by column; None where it has none."""
        row = int(self.at[i])
        if row < 0 or not self._has_value()[row]:
            return None
        return {name: values[row].item() for name, values in self.figures.columns.items()}

    def of_nodes(self, group: np.ndarray, ptr: np.ndarray) -> dict[str, pa.Array]:
        """Columns of ``nodes/<asn>.parquet`` of some ASes of the run, end to end; null: not known.

        Nodes of AS group[i] are ptr[i] .. ptr[i + 1] - 1.
        """
        names = [column.name for column in self.metric.columns_in("nodes")]
        at = self.at[group]
        found = take_rows(self.figures.value_ptr, self.figures.of_nodes, at[at >= 0])
        known = np.repeat(at >= 0, np.diff(ptr))
        values = apart(*found, len(names))
        return {n: spread(known, v, pa.float64()) for n, v in zip(names, values, strict=True)}

    def totals(self) -> dict[str, int]:
        """Totals over all ASes for report.json."""
        name = self.metric.searches_column
        return {name: self.figures.n_searches} if name else {}

    def _has_value(self) -> np.ndarray:
        values = self.figures.columns[self.metric.columns[0].name]
        return ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), bool)


def figure_table(rows: np.ndarray, figures: Figures) -> FigureTable:
    """Join figures to the ASes of a run, whose AS rows are ``rows``, ascending."""
    at = np.full(len(rows), -1, np.int64)
    at[np.searchsorted(rows, figures.row)] = np.arange(len(figures.row))
    return FigureTable(own_kernels()[figures.task], figures, at)
