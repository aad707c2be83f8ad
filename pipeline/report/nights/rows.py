"""What the page of all nights says of each: from its report.json and its comparison.

Reports of other programs and folders with other names are left out; a figure that is missing or
has another type than ours is shown as unknown, so that one damaged report costs its own row only.
"""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.model.choices import is_name
from pipeline.model.measured.mapped import in_no_table, is_mapped_low, mapped_percent
from pipeline.model.measured.reading import newest_on_calendar
from pipeline.model.words import number, printable
from pipeline.report.compared import compared_of
from pipeline.report.folder import mapping_or_empty, report_of
from pipeline.report.names import REPORT
from pipeline.report.tables.changes import night_before_of
from pipeline.store.pointers.nights import age_of, is_night

OK, PARTIAL, NO_REPORT = "ok", "partial", "no report"


@dataclass(frozen=True)
class NightRow:
    """One night; None where a figure is unknown, or does not apply.

    Attributes
    ----------
    name : str
        Of the snapshot and of its folder.
    status : str
        ``ok``; ``partial``: an input or an AS was left out; ``no report``: only the store has it.
    href, changes_href : str
        Page of the report, or report.json if it has none; page of the comparison. Relative, empty
        where there is none.
    mapped : float or None
        Share of the addresses that answered and are mapped or admitted, per cent.
    n_in_no_table : int
        Those of them that are admitted, but in no prefix table.
    is_mapped_low : bool
        Whether the report warns of this share.
    since : str
        Night that it was compared with.
    is_since_earlier : bool
        Whether that night was ingested again since.
    first_event : str
        The event that touches the most traces.
    made_by : tuple of str
        Commands that made what was not measured; empty: all of it was.
    """

    name: str
    status: str
    href: str = ""
    n_ases: int | None = None
    n_nodes: int | None = None
    node_kind: str = ""  # what these are; empty: not known
    n_ingresses: int | None = None
    mean_hops: float | None = None
    mapped: float | None = None
    n_in_no_table: int = 0
    is_mapped_low: bool = False
    n_warnings: int = 0
    changes_href: str = ""
    since: str = ""
    is_since_earlier: bool = False
    n_events: int | None = None
    n_changes: int | None = None
    first_event: str = ""
    made_by: tuple[str, ...] = ()
    newest_s: float = 0.0

    @property
    def remark(self) -> str:
        """What stands beside the share of mapped addresses; mostly nothing."""
        n = self.n_in_no_table
        return f"{number(n, 'address')} in no prefix table" if n else ""

    @property
    def is_night(self) -> bool:
        """Whether its name is a date."""
        return is_night(self.name)


def night_rows(
    out: Path, in_store: Iterable[str] = (), versions: Mapping[str, str] = MappingProxyType({})
) -> list[NightRow]:
    """Rows of all reports in a folder, and of nights that only the store has; the newest first.

    Parameters
    ----------
    out : Path
        Folder of reports.
    in_store : iterable of str
        Names of snapshots; those without a report are listed if they are dates.
    versions : mapping of str to str
        Of snapshots by name, as far as they are known.

    Raises
    ------
    OSError
        If the folder cannot be read.
    """
    rows = {}
    with os.scandir(out) as entries:
        for entry in entries:
            if is_name(entry.name) and entry.is_dir(follow_symlinks=False):
                report = report_of(Path(entry.path))
                if report is not None:
                    rows[entry.name] = _row(Path(entry.path), report, versions)
    for name in in_store:
        if is_night(name) and name not in rows:
            rows[name] = NightRow(name, NO_REPORT)
    return sorted(rows.values(), key=_age, reverse=True)


def _age(row: NightRow) -> tuple[str, float, float, int, str]:
    """Sorts nights as ``age_of`` does, and others among them by their newest records."""
    if row.is_night:
        return *age_of(row.name, row.newest_s), row.name
    at = datetime.datetime.fromtimestamp(row.newest_s, datetime.UTC)
    return f"{at:%Y-%m-%d}", row.newest_s, row.newest_s, 0, row.name


def _row(folder: Path, report: dict, versions: Mapping[str, str]) -> NightRow:
    totals, counts = mapping_or_empty(report.get("totals")), mapping_or_empty(report.get("counts"))
    inputs = [entry for entry in _list(report.get("inputs")) if isinstance(entry, dict)]
    left_out = sum(_count(totals.get(name)) or 0 for name in ("n_failed", "n_partial"))
    left_out += sum(str(entry.get("status") or OK) != OK for entry in inputs)
    names = ("n_addrs", "n_addrs_mapped", "n_addrs_in_no_table")
    known = {name: _count(counts.get(name)) for name in names}
    n_addrs, n_mapped = known["n_addrs"], known["n_addrs_mapped"]
    is_known = bool(n_addrs) and n_mapped is not None
    page = "index.html" if (folder / "index.html").exists() else REPORT
    return NightRow(
        folder.name,
        PARTIAL if left_out else OK,
        href=f"{folder.name}/{page}",
        n_ases=_count(totals.get("n_ases")),
        n_nodes=_count(totals.get("n_nodes")),
        node_kind=str(report.get("node_kind") or ""),
        n_ingresses=_count(totals.get("n_ingresses")),
        mean_hops=_figure(totals.get("mean_hops")),
        mapped=mapped_percent(n_addrs or 0, n_mapped or 0) if is_known else None,
        n_in_no_table=in_no_table(known) if is_known else 0,
        is_mapped_low=is_known and is_mapped_low(known),
        n_warnings=len(_list(report.get("warnings"))),
        made_by=_made_by(report.get("synthetic")),
        newest_s=newest_on_calendar(inputs),
        **_comparison(folder, str(report.get("snapshot_version")), versions),
    )


def _comparison(folder: Path, version: str, versions: Mapping[str, str]) -> dict[str, Any]:
    """What a comparison beside a report found; empty if none of its version can be read."""
    try:
        n_changes = pq.read_metadata(folder / "changes.parquet").num_rows
        with pq.ParquetFile(folder / "events.parquet") as events:
            n_events, first = events.metadata.num_rows, ""
            if n_events:
                first = str(events.read_row_group(0, columns=["text"])["text"][0].as_py() or "")
            since = night_before_of(events.schema_arrow)
            compared = compared_of(events.schema_arrow)
    except (OSError, pa.ArrowException, KeyError):
        return {}
    if not compared.is_of(version):
        return {}
    has_page = (folder / "changes.html").exists()
    return {
        "changes_href": f"{folder.name}/changes.html" if has_page else "",
        "since": printable(since),
        "is_since_earlier": compared.is_replaced(versions),
        "n_events": n_events,
        "n_changes": n_changes,
        "first_event": printable(first),
    }


def _made_by(sources: object) -> tuple[str, ...]:
    commands = (mapping_or_empty(source).get("made_by") for source in _list(sources))
    return tuple(printable(command) for command in commands if command)


def _list(value: object) -> list:
    return value if isinstance(value, list) else []


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _figure(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None
