"""Figures of ASes over the last nights of a series, as their reports have them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.compare.drift import MEMORY, N_NIGHTS, find_drifts
from pipeline.model.columns import concat
from pipeline.report.folder import newest_s_of, report_of
from pipeline.report.names import ASES
from pipeline.store.pointers.nights import age_of, is_night

# Columns of ases.parquet, as pages call them.
_FIGURES = {
    "n_nodes": "routers",
    "n_edges": "links",
    "n_ingresses": "ingresses",
    "mean_hops": "mean_hops",
    "diameter": "diameter",
}


def drifts_up_to(out: Path, night: str):
    """What drifts since a night (``find_drifts``); None: nothing, or too few nights."""
    if not is_night(night) or not out.is_dir():
        return None
    reports = {path.name: report_of(path) for path in out.iterdir() if is_night(path.name)}
    ages = {name: age_of(name, newest_s_of(facts)) for name, facts in reports.items() if facts}
    if night not in ages:
        return None
    before = sorted(name for name in ages if ages[name] <= ages[night])
    before.sort(key=ages.__getitem__)
    nights = before[-N_NIGHTS - 1 - MEMORY :]
    kinds = {str((reports[name] or {}).get("node_kind")) for name in nights}
    if len(nights) <= N_NIGHTS or len(kinds) > 1:
        return None
    tables = [_table(out / name / ASES) for name in nights]
    asn = np.unique(np.concatenate([table["asn"] for table in tables])).astype(np.int64)
    values = {}
    for column, what in _FIGURES.items():
        values[what] = _by_night(tables, asn, column)
    found = list(find_drifts(asn, values))
    return concat(found) if found else None


def _by_night(tables: Sequence[dict[str, np.ndarray]], asn: np.ndarray, column: str) -> np.ndarray:
    """(n_nights, n_ases) float64: one figure, NaN where a report has none."""
    values = np.full((len(tables), len(asn)), np.nan)
    for row, table in enumerate(tables):
        if column in table:
            values[row, np.searchsorted(asn, table["asn"])] = table[column]
    return values


def _table(path: Path) -> dict[str, np.ndarray]:
    """Columns of a report; one that cannot be read has no AS."""
    with contextlib.suppress(OSError, pa.ArrowException), pq.ParquetFile(path) as file:
        names = [name for name in ("asn", *_FIGURES) if name in file.schema_arrow.names]
        table = file.read(names)
        return {
            name: table.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False)
            for name in names
        }
    return {"asn": np.empty(0)}
