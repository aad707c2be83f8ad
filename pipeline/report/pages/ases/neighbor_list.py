"""Neighbours of an AS on its page: those with the most traces as rows, and a link to every page."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from markupsafe import Markup, escape

from pipeline.model.words import printable
from pipeline.report.tables.adjacent import Adjacent
from pipeline.report.tables.listed import Listed
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import short

MAX_ROWS = 10
_COLUMNS = ("traces in", "traces out", "links")


@dataclass(frozen=True)
class NeighborList:
    """What a page shows of the neighbours of its AS.

    Attributes
    ----------
    rows : Markup
        Rows of a table: AS, and what ``columns`` names.
    columns : list of str
        Those of traces in, traces out and links that some neighbour has.
    n : int
        All neighbours.
    others : Markup
        Links to the pages of those that have no row.
    n_unlisted : int
        Those that have neither a row nor a page in this report.
    """

    rows: Markup
    columns: list[str]
    n: int
    others: Markup
    n_unlisted: int


class NeighborLists:
    """Neighbours of each AS of a report, or of a part of it."""

    def __init__(self, summary: Summary, listed: Listed):
        self._names = listed.names
        self._adjacent: Adjacent = summary.adjacent

    def of(self, i: int) -> NeighborList | None:
        """Neighbours of AS i of the report; None without any."""
        found = self._adjacent
        begin, end = found.ptr[i : i + 2].tolist()
        if begin == end:
            return None
        first = slice(begin, min(end, begin + MAX_ROWS))
        whole = slice(begin, end)
        columns = {
            name: values[first].tolist()
            for name, values in zip(_COLUMNS, found.counts, strict=True)
            if values[whole].any()
        }
        counts = zip(*columns.values(), strict=True) if columns else itertools.repeat(())
        rows = [self._row(*row) for row in zip(found.asn[first].tolist(), counts, strict=False)]
        rest = found.asn[first.stop : end].tolist()
        linked = sorted(asn for asn in rest if asn in self._names)
        others = " ".join(f"<a href={asn}.html>AS{asn}</a>" for asn in linked)
        return NeighborList(
            Markup("".join(rows)), [*columns], end - begin, Markup(others), len(rest) - len(linked)
        )

    def _row(self, asn: int, counts: tuple[int, ...]) -> str:
        text = f"AS{asn}"
        if asn in self._names:
            text = f"<a href={asn}.html>{text}</a>"
            if name := self._names[asn]:
                text += f" <bdi>{escape(short(printable(name)))}</bdi>"
        return f"<tr><td>{text}{''.join(f'<td>{n:,}' for n in counts)}\n"
