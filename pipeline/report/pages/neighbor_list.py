"""Neighbours of an AS on its page: those with the most traces as rows, and a link to every page."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc
from markupsafe import Markup, escape

from pipeline.report.escaping import printable
from pipeline.report.tables.adjacent import Adjacent
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import short

MAX_ROWS = 12


@dataclass(frozen=True)
class NeighborList:
    """What a page shows of the neighbours of its AS.

    Attributes
    ----------
    rows : Markup
        Rows of a table: AS, traces in, traces out, links.
    n : int
        All neighbours.
    others : Markup
        Links to the pages of those that have no row.
    n_unlisted : int
        Those that have neither a row nor a page in this report.
    """

    rows: Markup
    n: int
    others: Markup
    n_unlisted: int


class NeighborLists:
    """Neighbours of each AS of a report, and the pages before and after its own."""

    def __init__(self, summary: Summary):
        self._asns = summary.ases["asn"].to_pylist()
        names = pc.fill_null(summary.ases["name"], "").to_pylist()
        self._names = dict(zip(self._asns, names, strict=True))
        self._adjacent: Adjacent = summary.adjacent

    def of(self, i: int) -> NeighborList | None:
        """Neighbours of AS i of the report; None without any."""
        found = self._adjacent
        begin, end = found.ptr[i : i + 2].tolist()
        if begin == end:
            return None
        first = slice(begin, min(end, begin + MAX_ROWS))
        columns = (found.asn, found.n_in, found.n_out, found.n_links)
        rows = [self._row(*row) for row in zip(*(c[first].tolist() for c in columns), strict=True)]
        rest = found.asn[first.stop : end].tolist()
        linked = sorted(asn for asn in rest if asn in self._names)
        others = " ".join(f"<a href={asn}.html>AS{asn}</a>" for asn in linked)
        return NeighborList(
            Markup("".join(rows)), end - begin, Markup(others), len(rest) - len(linked)
        )

    def beside(self, i: int) -> tuple[int | None, int | None]:
        """Numbers of the ASes whose pages come before and after that of AS i, if there are any."""
        before = self._asns[i - 1] if i else None
        return before, self._asns[i + 1] if i + 1 < len(self._asns) else None

    def _row(self, asn: int, n_in: int, n_out: int, n_links: int) -> str:
        text = f"AS{asn}"
        if asn in self._names:
            text = f"<a href={asn}.html>{text}</a>"
            if name := self._names[asn]:
                text += f" <bdi>{escape(short(printable(name)))}</bdi>"
        return f"<tr><td>{text}<td>{n_in:,}<td>{n_out:,}<td>{n_links:,}\n"
