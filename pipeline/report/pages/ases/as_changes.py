"""What a comparison says about each AS, on the pages of ASes.

A page has an empty place for it. Filling it makes a file of its own of a page that is linked from
an earlier report, so the pages of other nights stay as they are, and no later report takes it for
the page without it: its size is not the one in ``pages.parquet``.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.compare.changes import (
    ADDED,
    CHANGED,
    GAINED,
    GREW,
    LOST,
    LOUD,
    QUIET,
    REMOVED,
    RENUMBERED,
    SHIFTED,
    SHRANK,
)
from pipeline.files import replaced_whole
from pipeline.model.words import NodeWords, printable
from pipeline.report.pages.reuse import PAGES
from pipeline.report.pages.templating import environment
from pipeline.report.tables.changes import what_in_words, words_of
from pipeline.report.texts import NONE, figure

MAX_EVENTS = 10  # of an AS on its page
MAX_LISTED = 20  # of what is new, and of what is gone, of each sort
NEW, GONE = "new", "gone"
_NEW = frozenset({ADDED, GAINED, LOUD})
_GONE = frozenset({REMOVED, LOST, QUIET})
_LISTED = ("ingress", "link", "router", "neighbour")
_PLACE = re.compile(rb"<!--changes-->.*?<!--/changes-->", re.DOTALL)


@dataclass
class AsChanges:
    """What changed in one AS: events by rank, their changes by kind, figures of its report.

    ``listed``: what is new or gone, by sort: addresses, two for a link; the most traces first.
    """

    events: list[dict] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    figures: list[dict] = field(default_factory=list)
    listed: dict[tuple[str, str], list[str]] = field(default_factory=dict)

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
    of_figures = pc.is_in(changes["kind"], pa.array([CHANGED, GREW, SHRANK]))
    is_figure = pc.and_(of_figures, pc.is_valid(changes["asn"]))
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
    for asn, what, how, text in _new_and_gone(changes, words):
        found[asn].listed.setdefault((what, how), []).append(text)
    return found


def _new_and_gone(changes: pa.Table, words: NodeWords) -> Iterator[tuple[int, str, str, str]]:
    """AS, what it is, ``new`` or ``gone`` and its text, of all that is part of an event."""
    names = ["what", "kind", "asn", "addr", "other_asn", "other_addr", "n_traces"]
    is_part = pc.and_(pc.is_valid(changes["event"]), pc.is_in(changes["what"], pa.array(_LISTED)))
    rows = changes.filter(is_part).select(names).sort_by([("n_traces", "descending")]).to_pylist()
    for row in rows:
        kind, addr, other = row["kind"], row["addr"], row["other_addr"]
        both: tuple[tuple[str | None, str | None], ...] = ()
        if kind in (SHIFTED, RENUMBERED):
            both = ((GONE, addr), (NEW, other))
        how = NEW if kind in _NEW else GONE if kind in _GONE else None
        if how is None and not both:
            continue
        what = what_in_words(row["what"], words)
        ases = [row["asn"]]
        if row["what"] == "link":
            both = ((how, f"{addr or NONE} \u2013 {other or NONE}"),)
            ases = list(dict.fromkeys([row["asn"], row["other_asn"]]))
        elif row["what"] == "neighbour":
            yield from (
                (here, what, str(how), f"AS{there}")
                for here, there in ((row["asn"], row["other_asn"]), (row["other_asn"], row["asn"]))
                if here is not None and there is not None
            )
            continue
        for sign, text in both or ((how, addr),):
            yield from ((asn, what, str(sign), text) for asn in ases if asn is not None and text)


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
    words, n_shown = words_of(events.schema), 0
    for asn, size in pages.items():
        path = folder / "as" / f"{asn:d}.html"
        one = found.get(asn)
        with contextlib.suppress(FileNotFoundError):  # a user removed it
            if one is None and path.stat().st_size == size:
                continue
            text = path.read_bytes()
            section = b"" if one is None else _section(template, old, asn, one, words)
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


def _section(
    template: jinja2.Template, old: str, asn: int, one: AsChanges, words: NodeWords
) -> bytes:
    figures = [
        (
            what_in_words(row["what"], words),
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
        asn=asn,
        listed=[
            (what, how, texts[:MAX_LISTED], len(texts) - MAX_LISTED)
            for (what, how), texts in sorted(one.listed.items())
        ],
    )
    return text.encode()
