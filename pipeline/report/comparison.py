"""Files of a comparison, beside the report of the newer night.

They are in ``OUT/<new>/``, whether there is a report or not. A report that is written there later
keeps them, if it is of the version that was compared; a comparison replaces nothing but the files
of an earlier comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import __version__
from pipeline.errors import UsageError, remedy_for, said_by_system
from pipeline.files import replaced_whole
from pipeline.model.choices import FIRST_EVENTS
from pipeline.report.compared import Compared
from pipeline.report.folder import earlier_report
from pipeline.report.names import HISTORY
from pipeline.report.nights.as_histories import write_histories
from pipeline.report.nights.of_ases import histories_of
from pipeline.report.pages.changes_page import link_changes, write_changes_page
from pipeline.report.tables.changes import (
    changes_table,
    events_table,
    naming_nights,
    with_turns,
)
from pipeline.store import check_name


@dataclass(frozen=True)
class ComparisonFiles:
    """Where the files are, and the first events."""

    folder: Path
    page: Path
    n_events: int
    events: list[dict]


def write_comparison(
    out: Path,
    old: str,
    new: str,
    changes,
    events,
    names: Mapping[int, str],
    warning: str = "",
    usual: tuple[int, str] = (1, ""),
    kind: str = "router",
    versions: tuple[str, str] = ("", ""),
    has_traces: bool = True,
    turns: Sequence[int] = (),
) -> ComparisonFiles:
    """Write the files of a comparison; each takes the place of an earlier one as a whole.

    Parameters
    ----------
    out : Path
        Folder of reports.
    old, new : str
        Names of the snapshots.
    changes : pipeline.compare.Changes
    events : pipeline.compare.Events
    names : mapping of int to str
        Names of ASes.
    warning : str
        What the page opens with, if anything.
    usual : int, str
        Nights that references cover, and the first of them.
    kind : str
        What a node is on both nights, see ``node_words``.
    versions : str, str
        Of the snapshots; empty: unknown.
    has_traces : bool
        Whether both keep paths of vantage points.
    turns : sequence of int
        How many turns each event is of (``pipeline.compare.flapping``); empty: each is news.

    Raises
    ------
    UsageError
        If the folder cannot be written, or holds something that is neither a report of ours nor an
        earlier comparison.
    """
    folder = Path(out) / check_name(new)
    report = earlier_report(folder, "a comparison")
    compared = Compared(old, new, *versions)
    rows, listed = comparison_tables(changes, events, names, compared, usual[0], kind, turns)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in (("changes.parquet", rows), ("events.parquet", listed)):
            _replace(folder / name, table)
        histories = histories_of(Path(out), new, _first_ases(listed), names)
        of_page = __version__, histories, warning, usual, has_traces
        write_changes_page(folder, old, new, rows, listed, *of_page)
        link_changes(folder, (report or {}).get("snapshot_version"))
        if (folder / HISTORY).is_dir():  # its pages mark nights with events
            write_histories(Path(out), new, folder)
    except OSError as error:
        remedy = remedy_for(error, "give --out a folder that can be written and has room")
        raise UsageError(
            f"{error.filename or folder}: {said_by_system(error)}; {remedy}"
        ) from error
    first = listed.slice(0, FIRST_EVENTS).to_pylist()
    return ComparisonFiles(folder, folder / "changes.html", listed.num_rows, first)


def comparison_tables(
    changes,
    events,
    names: Mapping[int, str],
    compared: Compared,
    n_usual: int,
    kind: str,
    turns: Sequence[int] = (),
) -> tuple[pa.Table, pa.Table]:
    """What ``changes.parquet`` and ``events.parquet`` hold."""
    rows = changes_table(changes)
    listed = with_turns(events_table(events, rows, names, kind), turns)
    return rows, naming_nights(listed, compared, n_usual, kind)


def _first_ases(events: pa.Table) -> list[int]:
    """ASes of the first events, in their order."""
    rows = events.slice(0, FIRST_EVENTS).select(["asn", "other_asn"]).to_pylist()
    asns = dict.fromkeys(asn for row in rows for asn in row.values() if asn is not None)
    return list(asns)[:FIRST_EVENTS]


def _replace(path: Path, table: pa.Table) -> None:
    with replaced_whole(path, durable=True, alone=True) as file:
        pq.write_table(table, file, compression="zstd")
