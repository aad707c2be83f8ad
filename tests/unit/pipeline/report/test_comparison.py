"""Files and page of a comparison: what comes first, what is escaped, what stays."""

from __future__ import annotations

import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.compare.changes import make_changes
from pipeline.compare.events import group_events
from pipeline.model.columns import concat
from pipeline.report.comparison import write_comparison
from tests.unit.pipeline.report.test_folder import snapshot, write

EVIL = "<script>alert(1)</script>\u202e"


def some_changes():
    """Links of twelve ASes, more traces each time, one vantage point, and links nobody saw."""
    n = 12
    asn = np.arange(1, n + 1)
    v4 = np.uint64(0xFFFF_0000_0000)
    link = {"group": asn, "other_group": asn + 100, "other_asn": asn, "asn": asn}
    removed = make_changes(
        n,
        "link",
        kind="removed",
        **link,
        addr_low=v4 + asn.astype(np.uint64),
        other_low=v4 + np.uint64(256),
        n_traces=10 * asn,
        n_pairs=10 * asn,
    )
    unseen = make_changes(
        3, "link", kind="not observable", reason="its vantage points did not measure", asn=50,
        group=500, other_group=501,
    )  # fmt: skip
    lost = make_changes(
        1, "vantage point", kind="lost", asn=7, addr_low=v4 + np.uint64(9), n_traces=900, n_pairs=5
    )
    return group_events(concat([removed, unseen, lost]))


@pytest.fixture
def written(tmp_path):
    return write_comparison(tmp_path, "a", "night", *some_changes(), {7: EVIL})


def test_events_of_most_traces_come_first(written):
    events = pq.read_table(written.folder / "events.parquet").to_pylist()
    assert [event["n_traces"] for event in events] == [900, *range(120, 0, -10)]
    assert events[0]["kind"] == "vantage point lost"
    assert (events[0]["n_changes"], events[0]["n_links"]) == (4, 3)
    assert events[1]["text"] == (
        "1 link in AS12 changed, most notably 0.0.0.12 to 0.0.1.0, which was removed: 120 pairs"
    )
    assert [event["event"] for event in written.events] == list(range(10))
    changes = pq.read_table(written.folder / "changes.parquet").to_pylist()
    assert [row["event"] for row in changes if row["what"] != "link"] == [0]
    assert sum(row["event"] is None for row in changes) == 0


def test_figures_are_as_on_pages_and_what_a_night_does_not_know_has_no_difference(tmp_path):
    none = np.nan
    figures = [
        make_changes(4, "max_hops", kind="changed", asn=[1, 2, 3, 4], old=[8, none, 4, 10],
                     new=[none, 30, 6, 9]),
        make_changes(3, "mean_hops", kind="changed", asn=[1, 2, 3], old=[2.825, 1.444, 2],
                     new=[2.8249, 1.5, 1234.5]),
    ]  # fmt: skip
    folder = write_comparison(tmp_path, "a", "night", *group_events(concat(figures)), {}).folder
    rows = (folder / "changes.html").read_text().split("Figures that changed most")[1]
    cells = [re.findall(r"<td[^>]*>([^<\n]*)", row) for row in rows.split("<tr>")[2:]]
    assert cells == [
        ["3", "mean hops", "2.00", "1,234.50", "+1,232.50"],
        ["3", "max hops", "4", "6", "+2"],
        ["4", "max hops", "10", "9", "-1"],
        ["2", "mean hops", "1.44", "1.50", "+0.06"],
        ["1", "mean hops", "2.83", "2.82", "-0.0001"],
        ["1", "max hops", "8", "\u2013", "\u2013"],
        ["2", "max hops", "\u2013", "30", "\u2013"],
    ]


def test_many_lost_vantage_points_hide_no_other_event(tmp_path):
    lost = make_changes(6, "vantage point", kind="lost", asn=np.arange(6), n_traces=9)
    link = make_changes(
        1, "link", kind="removed", group=1, other_group=2, asn=1, other_asn=1, n_traces=5
    )
    for changes, n_events in (((lost, link), 2), ((lost, lost, link), 2), ((link,), 1)):
        events = group_events(concat(changes))[1]
        assert len(events) == n_events
    files = write_comparison(tmp_path, "a", "night", *group_events(concat([lost, link])), {})
    assert files.events[0]["text"].startswith("6 vantage points no longer measure")


def test_the_page_shows_ten_and_escapes_names(written):
    page = written.page.read_text()
    first, rest = page.split("<details>")
    assert first.count("<li id=") == 10
    assert rest.split("</details>")[0].count("<li id=") == 3
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\ufffd" in page
    assert EVIL not in page
    assert "\u202e" not in page


def test_links_of_topologies_have_the_ids_of_their_input(tmp_path):
    removed = make_changes(
        1, "link", kind="removed", group=1, other_group=2, asn=7, other_asn=7, addr_high=7,
        addr_low=90, other_high=7, other_low=0,
    )  # fmt: skip
    files = write_comparison(tmp_path, "a", "night", *group_events(removed), {})
    assert (
        files.events[0]["text"] == "1 link in AS7 changed, most notably 90 to 0, which was removed"
    )
    (row,) = pq.read_table(files.folder / "changes.parquet").to_pylist()
    assert (row["addr"], row["other_addr"]) == ("90", "0")


def test_nothing_that_happened_is_said_to_be_nothing(tmp_path):
    files = write_comparison(tmp_path, "a", "night", *group_events(make_changes(0, "link")), {})
    assert "No events" in files.page.read_text()
    assert files.n_events == 0


def test_a_report_and_a_comparison_keep_each_other(tmp_path, written):
    page = written.page.read_text()
    write(tmp_path)
    assert written.page.read_text() == page
    index = (tmp_path / "night" / "index.html").read_text()
    again = write_comparison(tmp_path, "a", snapshot().name, *some_changes(), {7: "Seven"})
    assert (tmp_path / "night" / "index.html").read_text() == index
    assert "Seven" in again.page.read_text()
    assert 'href="index.html"' in again.page.read_text()


def test_the_index_links_to_the_changes_whichever_came_first(tmp_path):
    night = snapshot().name
    link, index = '<a href="changes.html">', tmp_path / night / "index.html"
    write(tmp_path)
    assert link not in index.read_text()
    write_comparison(tmp_path, "a", night, *some_changes(), {})
    assert index.read_text().count(link) == 1
    write_comparison(tmp_path, "b", night, *some_changes(), {})
    assert index.read_text().count(link) == 1
    write(tmp_path)
    assert index.read_text().count(link) == 1
    assert sorted(tmp_path.glob("*/.*")) == []
