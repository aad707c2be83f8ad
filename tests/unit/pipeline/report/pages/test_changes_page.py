"""The page of a comparison."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.compare.changes import CHANGED, LOST, QUIET, make_changes
from pipeline.compare.events import group_events
from pipeline.compare.links import NOT_SEEN
from pipeline.model.columns import concat
from pipeline.report.nights.of_ases import AsHistory
from pipeline.report.pages.changes_page import link_changes, write_changes_page
from pipeline.report.pages.reuse import PAGES
from pipeline.report.tables.changes import changes_table, events_table
from tests.full_disk import files_up_to


def page_of(folder, found, histories=(), paged=None, **more):
    """Text of the page beside a report with pages of some ASes; None: there is no report."""
    if paged is not None:
        (folder / "index.html").touch()
        columns = {"asn": pa.array(paged, pa.int64()), "size": pa.array([9] * len(paged))}
        pq.write_table(pa.table(columns), folder / PAGES)
    grouped, events = group_events(concat(found))
    changes = changes_table(grouped)
    table = events_table(events, changes, {}, "router")
    write_changes_page(folder, "old", "new", changes, table, "1", histories, **more)
    return (folder / "changes.html").read_text()


def test_an_as_that_is_gone_has_no_page_to_link_to(tmp_path):
    lost = make_changes(1, "AS", kind=LOST, asn=2, reason=NOT_SEEN, n_pairs=9, n_traces=9)
    quiet = make_changes(1, "router", kind=QUIET, asn=1, group=5)
    text = page_of(tmp_path, [lost, quiet], paged=[1])
    assert "AS2 is no longer seen: 9 pairs that crossed it no longer do" in text
    assert re.findall(r"as/\d+\.html", text) == ["as/1.html"]


def test_an_index_that_the_disk_does_not_take_stays_as_it_was(tmp_path):
    index = b"<!--changes-->" + bytes(400)
    (tmp_path / "index.html").write_bytes(index)
    (tmp_path / "changes.html").touch()
    with files_up_to(300), pytest.raises(OSError, match="File too large"):
        link_changes(tmp_path)
    assert (tmp_path / "index.html").read_bytes() == index
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changes.html", "index.html"]


@pytest.mark.parametrize("paged", [None, [], [1], [1, 2]])
def test_each_list_links_the_ases_that_have_a_page(tmp_path, paged):
    """A report of some ASes has no pages of the others."""
    found = [
        make_changes(1, what, kind=kind, asn=asn, group=asn, old=2.0, new=3.0)
        for asn in (1, 2)
        for what, kind in (("router", QUIET), ("mean_hops", CHANGED))
    ]
    histories = [AsHistory(asn, "", []) for asn in (1, 2)]
    text = page_of(tmp_path, found, histories, paged)
    headings = ("ASes with the most changes in events", "over the nights", "Figures that changed")
    for heading in headings:
        part = text.partition(heading)[2].partition("</section>")[0]
        assert all(re.search(rf">(AS)?{asn}<", part) for asn in (1, 2)), heading
        assert re.findall(r"as/(\d)\.html", part) == [str(asn) for asn in paged or ()], heading


def test_what_only_traces_show_is_not_known_without_them(tmp_path):
    found = [make_changes(1, "link", kind="removed", asn=1, group=5)]
    of_traces = ("ingresses moved", "routers renumbered", "vantage points lost")
    text = page_of(tmp_path, found)
    assert all(f"<dt>{name}</dt><dd>0</dd>" in text for name in of_traces)
    assert "Not known" not in text
    text = page_of(tmp_path, found, has_traces=False)
    assert not any(f"<dt>{name}</dt>" in text for name in of_traces)
    assert f"Not known without traces on both nights: {', '.join(of_traces)}." in text
    assert "<dt>links removed</dt><dd>1</dd>" in text
