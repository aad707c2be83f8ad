"""The page of a comparison: the events worth reading first, then all that was counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.compare.changes import GREW, SHRANK
from pipeline.files import replaced_whole
from pipeline.model.choices import FIRST_EVENTS
from pipeline.model.words import NodeWords, printable
from pipeline.report.compared import compared_in
from pipeline.report.names import ROUTERS
from pipeline.report.pages.ases.as_changes import (
    changes_in_events,
    show_on_as_pages,
    sizes_of_pages,
)
from pipeline.report.pages.html import ASSETS, write_assets
from pipeline.report.pages.opened_changes import write_changes
from pipeline.report.pages.templating import environment
from pipeline.report.tables.changes import (
    night_before_of,
    read_comparison,
    what_in_words,
    words_of,
)
from pipeline.report.texts import NONE, figure

MAX_EVENTS = 200  # that the page lists
MAX_ROWS = 50  # of its other tables
_NO_LINK = b"<!--changes-->"  # where an index of a report has room for a link
_LINK = b'<a href="changes.html">Changes</a>'


def write_changes_page(
    folder: Path,
    old: str,
    new: str,
    changes: pa.Table,
    events: pa.Table,
    version: str,
    histories: Sequence[object] = (),
    warning: str = "",
    usual: tuple[int, str] = (1, ""),
    has_traces: bool = True,
) -> None:
    """Write ``changes.html`` and what it loads into a folder that exists.

    Parameters
    ----------
    folder : Path
    old, new : str
        Names of the snapshots.
    changes, events : pa.Table
        As in their files.
    version : str
        Of hopscope.
    histories : sequence of pipeline.report.nights.of_ases.AsHistory
        How figures of ASes of the first events went.
    warning : str
        Shown first; empty: none.
    usual : int, str
        Nights that references cover, and the first of them.
    has_traces : bool
        Whether both nights have; otherwise what only traces show is not known.
    """
    words = words_of(events.schema)
    of_traces = _tiles_of_traces(changes, words)
    has_index = (folder / "index.html").exists()
    paged = sizes_of_pages(folder) if has_index else {}
    shown = events.slice(0, MAX_EVENTS).to_pylist()
    for event in shown:
        event["text"] = printable(event["text"])
    text = (
        environment()
        .get_template("changes.html")
        .render(
            root="",
            old=printable(old),
            new=printable(new),
            version=version,
            warning=printable(warning),
            n_usual=usual[0],
            since=printable(usual[1]),
            first=shown[:FIRST_EVENTS],
            others=shown[FIRST_EVENTS:],
            n_events=events.num_rows,
            n_changes=changes.num_rows,
            n_in_events=_in_events(changes).num_rows,
            tiles=_tiles(changes) + (of_traces if has_traces else []),
            unknown=[] if has_traces else [name for name, _ in of_traces],
            counts=_counts(changes, words),
            node=words,
            ases=_ases(changes),
            figures=_figures(changes),
            histories=histories,
            has_index=has_index,
            has_panel=has_index and (folder / ROUTERS).is_dir(),
            has_paths=all((at / "paths.html").exists() for at in (folder, folder.parent / old)),
            paged=paged,
            grown=_grown(changes, words),
            n_grown=pc.sum(pc.is_in(changes["kind"], pa.array([GREW, SHRANK]))).as_py() or 0,
        )
    )
    write_changes(folder, changes, events, words, paged.keys())
    # A report has the others, shared with other nights.
    write_assets(folder, ("changes.js",) if has_index else (*ASSETS, "changes.js"))
    with replaced_whole(folder / "changes.html", durable=False, alone=True) as file:
        file.write(text.encode())


def link_changes(folder: Path, version: str | None = None) -> None:
    """Have a report show the comparison beside it, if there are both: its index and its ASes.

    If the comparison is of another version of the night, the report shows nothing of it.

    Parameters
    ----------
    folder : Path
        Of a report, of a comparison, or of both.
    version : str or None
        Of the night in the report; None: unknown.
    """
    index = folder / "index.html"
    if not index.exists() or not (folder / "changes.html").exists():
        return
    is_shown = version is None or compared_in(folder).is_of(version)
    text = index.read_bytes()
    linked = text.replace(*((_NO_LINK, _LINK) if is_shown else (_LINK, _NO_LINK)), 1)
    if linked != text:
        with replaced_whole(index, durable=False, alone=True) as file:
            file.write(linked)
    tables = read_comparison(folder)
    if tables is not None:
        changes, events = tables if is_shown else (table.slice(0, 0) for table in tables)
        show_on_as_pages(folder, night_before_of(events.schema), changes, events)


def _tiles(changes: pa.Table) -> list[tuple[str, int]]:
    counts = _counted(changes)
    return [
        ("links removed", counts["link", "removed"]),
        ("links added", counts["link", "added"]),
        ("links not observable", counts["link", "not observable"]),
        ("not observable before", counts["link", "not observable before"]),
    ]


def _tiles_of_traces(changes: pa.Table, words: NodeWords) -> list[tuple[str, int]]:
    """What only traces of both nights show."""
    counts = _counted(changes)
    return [
        ("ingresses moved", counts["ingress", "moved"]),
        (f"{words.nouns} renumbered", counts["router", "renumbered"]),
        ("vantage points lost", counts["vantage point", "lost"]),
    ]


def _counted(changes: pa.Table) -> Counter[tuple[str, str]]:
    pairs = (
        changes.select(["what", "kind"]).group_by(["what", "kind"]).aggregate([([], "count_all")])
    )
    return Counter({(row["what"], row["kind"]): row["count_all"] for row in pairs.to_pylist()})


def _counts(changes: pa.Table, words: NodeWords) -> list[tuple[str, str, int, int]]:
    """How many changes there are of each sort, and how many of them are part of an event."""
    counts, in_events = _counted(changes), _counted(_in_events(changes))
    return sorted(
        (what_in_words(what, words), kind, n, in_events[what, kind])
        for (what, kind), n in counts.items()
    )


def _in_events(changes: pa.Table) -> pa.Table:
    return changes.filter(pc.is_valid(changes["event"]))


def _ases(changes: pa.Table) -> list[dict]:
    """ASes with the most changes that are part of an event."""
    parts = changes_in_events(changes).group_by("asn")
    table = parts.aggregate([("event", "count_distinct"), ("event", "count")])
    order = [("event_count", "descending"), ("asn", "ascending")]
    return table.sort_by(order).slice(0, MAX_ROWS).to_pylist()


def _grown(changes: pa.Table, words: NodeWords) -> list[dict]:
    """ASes that grew or shrank, those by the largest share first."""
    rows = changes.filter(pc.is_in(changes["kind"], pa.array([GREW, SHRANK]))).to_pylist()
    for row in rows:
        by = row["new"] - row["old"]
        row["by"] = f"{by:+,.0f}"
        row["what"] = what_in_words(row["what"], words)
        row["share"] = f"{100 * by / row['old']:+.0f} %" if row["old"] else NONE
    rows.sort(key=lambda row: (-abs(row["new"] - row["old"]) / (row["old"] or 1), row["asn"]))
    return rows[:MAX_ROWS]


def _figures(changes: pa.Table) -> list[dict]:
    """Figures of the reports that changed most; those that one night does not know are the last."""
    table = changes.filter(pc.equal(changes["kind"], "changed")).to_pylist()
    for row in table:
        is_known = row["old"] is not None and row["new"] is not None
        row["by"] = row["new"] - row["old"] if is_known else None
    # What one night does not know has changed by nothing that is known.
    table.sort(key=lambda row: (row["by"] is None, -abs(row["by"] or 0.0), row["asn"], row["what"]))
    for row in table[:MAX_ROWS]:
        row["by"] = NONE if row["by"] is None else _signed(row["by"], row["what"])
    return table[:MAX_ROWS]


def _signed(value: float, what: str) -> str:
    """A difference as figures are shown, or with one digit where that would be zero."""
    text = figure(abs(value), what)
    if not text.strip("0.,"):
        text = f"{abs(value):.1g}"
    return f"{'-' if value < 0 else '+'}{text}"
