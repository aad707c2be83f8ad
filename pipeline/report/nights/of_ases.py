"""How figures of some ASes developed over the nights that have a report in the same folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from markupsafe import Markup

from pipeline.model.words import nouns_of, printable
from pipeline.report.names import ASES
from pipeline.report.nights.history import history
from pipeline.report.nights.series import series_up_to

# Figures that are drawn: column of ases.parquet, what it is, format.
_DRAWN = (
    ("mean_hops", "mean hops", ".2f"),
    ("n_nodes", "nodes", ",d"),
    ("n_ingresses", "ingresses", ",d"),
)


@dataclass(frozen=True)
class AsHistory:
    """Drawings of one AS; ``drawings``: what is drawn, the last value, an ``<svg>``."""

    asn: int
    name: str
    drawings: list[tuple[str, str, Markup]]


def histories_of(
    out: Path, last: str, asns: Sequence[int], names: Mapping[int, str]
) -> list[AsHistory]:
    """Drawings of some ASes over the nights up to one; ASes without two figures are left out.

    Parameters
    ----------
    out : Path
        Folder of reports.
    last : str
        Name of the last night; nothing is drawn if that is not a date.
    asns : sequence of int
        In the order wanted.
    names : mapping of int to str
        Names of ASes.
    """
    if not asns:
        return []
    series = series_up_to(Path(out), last)
    nights, days = [night.name for night in series.nights], series.days
    nouns = nouns_of(night.node_kind for night in series.nights)
    rows = {night: _rows(out / night / ASES, asns) for night in nights}
    found = []
    for asn in asns:
        drawings = []
        for key, named, form in _DRAWN:
            what = nouns if key == "n_nodes" else named
            values = [rows[night].get(asn, {}).get(key) for night in nights]
            if drawing := history(values, nights, f"{what} of AS{asn}", form, days):
                latest = next(value for value in reversed(values) if value is not None)
                drawings.append((what, f"{latest:{form}}", drawing))
        if drawings:
            found.append(AsHistory(asn, printable(names.get(asn, "")), drawings))
    return found


def _rows(path: Path, asns: Iterable[int]) -> dict[int, dict]:
    """Figures of some ASes on one night; none if its table cannot be read."""
    columns = ["asn", *(key for key, _, _ in _DRAWN)]
    try:
        table = pq.read_table(path, columns=columns, filters=pc.field("asn").isin(list(asns)))
    except (OSError, KeyError, pa.ArrowException):
        return {}
    return {row["asn"]: row for row in table.to_pylist()} if table.num_columns == 4 else {}
