"""What a comparison says about each AS, on the pages of ASes.

A page has an empty place for it. Filling it makes a file of its own of a page that is linked from
an earlier report, so the pages of other nights stay as they are, and no later report takes it for
the page without it: its size is not the one in ``pages.parquet``.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.files import replaced_whole
from pipeline.model.words import printable
from pipeline.report.pages.reuse import PAGES
from pipeline.report.pages.templating import environment
from pipeline.report.tables.changes import what_in_words, words_of
from pipeline.report.texts import figure

MAX_EVENTS = 10  # of an AS on its page
_PLACE = re.compile(rb"<!--changes-->.*?<!--/changes-->", re.DOTALL)


@dataclass
class AsChanges:
    """What changed in one AS: events by rank, their changes by kind, figures of its report."""

    events: list[dict] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    figures: list[dict] = field(default_factory=list)

    @property
    def n_changes(self) -> int:
        """Rows of changes of all kinds."""
        return self.counts.total()

    @property
    def counted(self) -> str:
        """Rows of changes by kind in words, most first."""
        order = sorted(self.counts.items(), key=lambda each: (-each[1], each[0]))
        return ", ".join(f"{what} {kind} ({n:,})" for (what, kind), n in order)


def changes_in_events(changes: pa.Table) -> pa.Table:
    """Changes that are part of an event, once for each AS at either end of them.

    Parameters
    ----------
    changes : pa.Table
        As in its file.

    Returns
    -------
    pa.Table
        Columns ``asn``, ``event``, ``what`` and ``kind``.
    """
    own = changes.select(["asn", "event", "what", "kind"])
    is_apart = pc.fill_null(pc.not_equal(changes["asn"], changes["other_asn"]), True)
    other = changes.filter(is_apart).select(["other_asn", "event", "what", "kind"])
    return pa.concat_tables([own, other.rename_columns(own.column_names)]).drop_null()


def changes_by_as(changes: pa.Table, events: pa.Table) -> dict[int, AsChanges]:
    """ASes that have a part in an event, or other figures than before.

    Parameters
    ----------
    changes, events : pa.Table
        As in their files.
    """
    found: dict[int, AsChanges] = {}
    is_figure = pc.and_(pc.equal(changes["kind"], "changed"), pc.is_valid(changes["asn"]))
    for row in changes.filter(is_figure).to_pylist():
        found.setdefault(row["asn"], AsChanges()).figures.append(row)
    parts = changes_in_events(changes)
    rows = parts.group_by(parts.column_names).aggregate([([], "count_all")]).sort_by("event")
    known, words = events.to_pylist(), words_of(events.schema)
    for row in rows.to_pylist():
        one = found.setdefault(row["asn"], AsChanges())
        one.counts[what_in_words(row["what"], words), row["kind"]] += row["count_all"]
        event = known[row["event"]]
        if not one.events or one.events[-1] is not event:
            one.events.append(event)
    return found


def show_on_as_pages(folder: Path, old: str, changes: pa.Table, events: pa.Table) -> int:
    """Fill the places of a report's pages of ASes, and empty those that an earlier one filled.

    Each page is replaced as a whole.

    Parameters
    ----------
    folder : Path
        Of the report; without pages nothing is done.
    old : str
        Name of the night before.
    changes, events : pa.Table
        As in their files.

    Returns
    -------
    int
        Pages with changes.
    """
    pages = sizes_of_pages(folder)
    found = changes_by_as(changes, events) if pages else {}
    template = environment().get_template("as_changes.html")
    n_shown = 0
    for asn, size in pages.items():
        path = folder / "as" / f"{asn:d}.html"
        one = found.get(asn)
        with contextlib.suppress(FileNotFoundError):  # a user removed it
            if one is None and path.stat().st_size == size:
                continue
            text = path.read_bytes()
            section = b"" if one is None else _section(template, old, one)
            filled = _filled(text, section)
            if filled != text:
                with replaced_whole(path, durable=False, alone=True) as file:
                    file.write(filled)
            n_shown += bool(section)
    return n_shown


def size_without_changes(path: Path) -> int:
    """Bytes of a page of an AS with its place for changes empty, as in ``pages.parquet``.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    return len(_filled(path.read_bytes(), b""))


def sizes_of_pages(folder: Path) -> dict[int, int]:
    """AS number -> size of its page as a report was written; empty if it has none.

    A report may be of some ASes only, and ASes of the night before may be gone.
    """
    try:
        table = pq.read_table(folder / PAGES, columns=["asn", "size"])
    except (OSError, KeyError, pa.ArrowException):
        return {}
    return dict(zip(table["asn"].to_pylist(), table["size"].to_pylist(), strict=True))


def _filled(text: bytes, section: bytes) -> bytes:
    inside = b"<!--changes-->" + section + b"<!--/changes-->"
    return _PLACE.sub(lambda _: inside, text, count=1)


def _section(template: jinja2.Template, old: str, one: AsChanges) -> bytes:
    figures = [
        (
            row["what"].replace("_", " "),
            figure(row["old"], row["what"]),
            figure(row["new"], row["what"]),
        )
        for row in one.figures
    ]
    text = template.render(
        old=printable(old),
        n_events=len(one.events),
        events=[(e["event"], printable(e["text"])) for e in one.events[:MAX_EVENTS]],
        n_changes=one.n_changes,
        counted=one.counted,
        figures=figures,
    )
    return text.encode()
