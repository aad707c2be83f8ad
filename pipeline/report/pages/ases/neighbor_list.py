"""Neighbours of an AS on its page: those with the most traces as rows, and a link to every page."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from pipeline.model.relations import (
    CUSTOMER,
    PEER,
    PROVIDER,
    SIBLING,
    UNRELATED,
    WORDS,
    relation_text,
)
from pipeline.model.words import number, printable
from pipeline.report.tables.adjacent import Adjacent
from pipeline.report.tables.listed import Listed
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import NONE, short

MAX_ROWS = 10
MAX_IXPS = 3  # exchange points that a row names
_COLUMNS = ("traces in", "traces out", "links")
_STATED = (PROVIDER, CUSTOMER, PEER, SIBLING, UNRELATED)


@dataclass(frozen=True)
class NeighborList:
    """What a page shows of the neighbours of its AS.

    Attributes
    ----------
    rows : Markup
        Rows of a table: AS, and what ``columns`` names.
    columns : list of str
        Those of traces in, traces out and links that some neighbour has; relation, where a file
        states relations; exchange points, where links cross some.
    n : int
        All neighbours.
    others : Markup
        Links to the pages of those that have no row.
    n_unlisted : int
        Those that have neither a row nor a page in this report.
    relations : str
        How many linked neighbours are what to the AS; empty where no file states relations.
    """

    rows: Markup
    columns: list[str]
    n: int
    others: Markup
    n_unlisted: int
    relations: str


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
            name: [f"<td>{n:,}" for n in values[first].tolist()]
            for name, values in zip(_COLUMNS, found.counts, strict=True)
            if values[whole].any()
        }
        if found.is_related:
            columns["relation"] = _relation_cells(found, first)
        if any(names for names in found.ixps[whole]):
            columns["exchange points"] = [_ixp_cell(names) for names in found.ixps[first]]
        cells = zip(*columns.values(), strict=True) if columns else itertools.repeat(())
        rows = [self._row(*row) for row in zip(found.asn[first].tolist(), cells, strict=False)]
        rest = found.asn[first.stop : end].tolist()
        linked = sorted(asn for asn in rest if asn in self._names)
        others = " ".join(f"<a href={asn}.html>AS{asn}</a>" for asn in linked)
        return NeighborList(
            Markup("".join(rows)),
            [*columns],
            end - begin,
            Markup(others),
            len(rest) - len(linked),
            _relations(found, whole),
        )

    def _row(self, asn: int, cells: tuple[str, ...]) -> str:
        text = f"AS{asn}"
        if asn in self._names:
            text = f"<a href={asn}.html>{text}</a>"
            if name := self._names[asn]:
                text += f" <bdi>{escape(short(printable(name)))}</bdi>"
        return f"<tr><td>{text}{''.join(cells)}\n"


def _relation_cells(found: Adjacent, rows: slice) -> list[str]:
    """What neighbours are to the AS; a dash where no link joins the two: only links have it."""
    kinds = zip(
        found.relation[rows].tolist(),
        found.siblings[rows].tolist(),
        found.n_links[rows].tolist(),
        strict=True,
    )
    return [f"<td>{relation_text(*kind) if n else NONE}" for *kind, n in kinds]


def _relations(found: Adjacent, rows: slice) -> str:
    """How many linked neighbours are what, as ``2 providers, 1 customer, 3 not stated``."""
    if not found.is_related:
        return ""
    counts = np.bincount(found.relation[rows][found.n_links[rows] > 0], minlength=len(WORDS))
    words = [
        f"{counts[kind]:,} not stated" if word is None else number(int(counts[kind]), word)
        for kind in _STATED
        if counts[kind]
        for word in (WORDS[kind],)
    ]
    return ", ".join(words)


def _ixp_cell(names: list[str] | None) -> str:
    """Exchange points that links cross, cut to what a page has room for."""
    shown = [f"<bdi>{escape(short(printable(name)))}</bdi>" for name in (names or [])[:MAX_IXPS]]
    more = f" +{len(names) - MAX_IXPS}" if names and len(names) > MAX_IXPS else ""
    return f"<td>{', '.join(shown)}{more}"
