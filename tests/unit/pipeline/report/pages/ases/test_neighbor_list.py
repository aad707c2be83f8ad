"""Neighbours on pages: a link to each page that the report has, and to no other."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from pipeline.model.relations import CUSTOMER, PROVIDER, UNRELATED
from pipeline.report import write_reports
from pipeline.report.pages.ases.neighbor_list import MAX_ROWS, NeighborLists
from pipeline.report.tables.listed import list_ases
from pipeline.report.tables.summarise import summarise
from pipeline.report.texts import NONE
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

HOSTILE = "</td><script>alert(1)</script>\u202e"


def around(n: int, **given) -> MemorySnapshot:
    """AS 1000 with n neighbours, of which the first half has pages."""
    linked = range(1, n // 2 + 1)
    return MemorySnapshot(
        {asn: [(0, 1)] for asn in (*linked, 1000)},
        dict.fromkeys((*linked, 1000), 2),
        [(1000, 0, list(range(1, n + 1)), 2 * n, 0, False)],
        **given,
    )


def test_the_first_are_rows_and_every_other_page_is_linked():
    n = 2 * (MAX_ROWS + 5)
    snapshot = around(n, names={1: HOSTILE})
    summary = summarise(snapshot, measured(snapshot))
    found = NeighborLists(summary, list_ases(summary.ases)).of(n // 2)
    rows = str(found.rows).strip().split("\n")
    assert len(rows) == MAX_ROWS
    assert rows[1] == "<tr><td><a href=2.html>AS2</a><td>2"
    assert found.columns == ["traces in"]  # no exits and no links are known
    assert "&lt;script&gt;" in rows[0]
    assert "\u202e" not in rows[0]
    linked = [int(asn) for asn in re.findall(r"<a href=(\d+)\.html>AS\1</a>", found.others)]
    assert linked == list(range(MAX_ROWS + 1, n // 2 + 1))
    assert (found.n, found.n_unlisted) == (n, n // 2)


def test_rows_say_what_neighbours_are_and_by_which_exchange_points_links_go():
    snapshot = around(4)
    summary = summarise(snapshot, measured(snapshot))
    adjacent = replace(
        summary.adjacent,
        n_links=np.array([2, 1, 1, 0]),
        relation=np.array([PROVIDER, CUSTOMER, UNRELATED, UNRELATED], np.int8),
        siblings=np.array([False, True, True, False]),
        ixps=np.array([[HOSTILE, "B", "C", "D"], None, ["E"], None], object),
        is_related=True,
    )
    found = NeighborLists(replace(summary, adjacent=adjacent), list_ases(summary.ases)).of(2)
    assert found.columns == ["traces in", "links", "relation", "exchange points"]
    assert found.relations == "1 provider, 1 customer, 1 not stated"
    rows = str(found.rows).strip().split("\n")
    cells = [row.split("<td>")[3:] for row in rows]
    assert [cell[1] for cell in cells] == ["provider", "customer, sibling", "sibling", NONE]
    assert [cell[2] for cell in cells[1:]] == ["", "<bdi>E</bdi>", ""]
    assert cells[0][2].endswith("<bdi>B</bdi>, <bdi>C</bdi> +1")
    assert "<script" not in rows[0]
    assert "\u202e" not in rows[0]


class _Links(HTMLParser):
    """Targets of the links of a page that lead to pages of ASes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        target = dict(attrs).get("href") or ""
        if tag == "a" and target.endswith(".html") and "/" not in target:
            self.found.append(target)


@pytest.mark.parametrize("asns", [(10, 20, 30), (10, 30), (20,)], ids=str)
def test_no_link_is_dead_also_where_a_report_is_of_some_ases(tmp_path, asns):
    ring = {10: [20, 30], 20: [10, 30], 30: [10, 20]}
    snapshot = MemorySnapshot(
        {asn: [(0, 1), (1, 2)] for asn in ring},
        dict.fromkeys(ring, 3),
        [(asn, 0, others, 5, 0, False) for asn, others in ring.items()],
        exits=[(asn, 2, other, 4) for asn, others in ring.items() for other in others],
    )
    # Linked pages of a fuller report must not bring links that are dead in this one.
    write_reports(snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=0.0)
    rows = np.flatnonzero(np.isin(snapshot.asn, asns))
    n_ases = len(rows)
    part = measured(
        snapshot,
        without={(row, 0) for row in range(len(ring)) if row not in rows},
        rows=rows,
        n_tasks=np.ones(n_ases, np.int64),
        n_retries=np.zeros(n_ases, np.int64),
        wall_s=np.full(n_ases, np.nan),
        device=["cpu"] * n_ases,
    )
    snapshot.name = "tuesday"
    made = write_reports(snapshot, part, tmp_path, options={}, warnings=[], started=0.0)
    pages = {path.name: path.read_text() for path in (made.path / "as").iterdir()}
    assert set(pages) == {f"{asn}.html" for asn in asns}
    for asn in asns:
        links = set(_Links(pages[f"{asn}.html"]).found)
        assert links == set(pages) - {f"{asn}.html"}
    rel = {
        name: dict(re.findall(r"rel=(prev|next) href=(\d+)\.html", text))
        for name, text in pages.items()
    }
    for before, after in itertools.pairwise(asns):
        assert rel[f"{before}.html"]["next"] == str(after)
        assert rel[f"{after}.html"]["prev"] == str(before)
    assert "prev" not in rel[f"{asns[0]}.html"]
    assert "next" not in rel[f"{asns[-1]}.html"]
