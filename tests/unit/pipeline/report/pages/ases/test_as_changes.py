"""What changed, on the pages of ASes: only where something did, and of the newest comparison."""

from __future__ import annotations

import re

import pyarrow.parquet as pq
import pytest

from pipeline.compare.changes import make_changes
from pipeline.compare.events import group_events
from pipeline.model.columns import concat
from pipeline.report import write_reports
from pipeline.report.comparison import write_comparison
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

EVIL = "<img src=x onerror=alert(1)>\u202e<!--/changes-->"
ASES = (1, 2, 3, 4)


def write(out, name="new"):
    found = MemorySnapshot(
        {asn: [(0, 1)] for asn in ASES},
        dict.fromkeys(ASES, 2),
        [(asn, 0, [9], 3, 0, False) for asn in ASES],
        name=name,
    )
    return write_reports(found, measured(found), out, options={}, warnings=[], started=0.0)


def links_removed(asn, other_asn, n_traces):
    pair = 100 * asn + other_asn
    routers = {"group": pair, "other_group": 9000 + pair, "addr_low": 0xFFFF_0000_0000 + pair}
    touched = {"n_traces": n_traces, "n_pairs": n_traces}
    ases = {"asn": asn, "other_asn": other_asn}
    return make_changes(1, "link", kind="removed", **ases, **routers, **touched)


def compare(out, *changes, old="old"):
    write_comparison(out, old, "new", *group_events(concat(changes)), {1: EVIL})


@pytest.fixture
def pages(tmp_path):
    write(tmp_path, "old")
    write(tmp_path)
    return lambda night="new": {
        asn: (tmp_path / night / "as" / f"{asn}.html").read_text() for asn in ASES
    }


def test_pages_of_what_changed_say_what_and_link_to_the_page_of_the_night(pages, tmp_path):
    before = pages()
    assert before == pages("old")
    figure = make_changes(1, "mean_hops", kind="changed", asn=3, old=2.0, new=2.5)
    unseen = make_changes(1, "link", kind="not observable", asn=4, other_asn=4, reason="nobody")
    compare(tmp_path, links_removed(1, 1, 5), links_removed(1, 2, 9), figure, unseen)
    after = pages()
    assert after[4] == before[4]  # no event, and no other figure
    assert pages("old") == before  # though the pages were links to one file
    one, two, three = (
        after[asn].split('id="changes"')[1].split("</section>")[0] for asn in ASES[:3]
    )
    assert "What changed since <bdi>old</bdi> <small>2 events" in one
    assert one.index("between AS1") < one.index("1 link in AS1")  # most traces first
    assert "link removed (2)" in one
    assert "link removed (1)" in two
    assert 'href="../changes.html#event=0"' in two
    assert '<dt>link, gone</dt><dd><bdi data-gone="link">0.0.0.102' in two
    assert one.count('data-gone="link"') == 2
    assert 'id="event-0"' in (tmp_path / "new" / "changes.html").read_text()
    assert "mean hops 2.00 &rarr; 2.50" in three
    assert "event" not in three
    assert "<img" not in one
    assert "\u202e" not in one


def test_changes_of_an_as_are_counted_alike_and_as_what_they_are(pages, tmp_path):
    cuts = links_removed(1, 2, 9), links_removed(3, 1, 7), links_removed(1, 1, 5)
    diameter = make_changes(1, "diameter", kind="changed", asn=1, old=2.0, new=3.0)
    unseen = make_changes(2, "link", kind="not observable", asn=1, other_asn=2, reason="nobody")
    compare(tmp_path, *cuts, diameter, unseen)
    page = (tmp_path / "new" / "changes.html").read_text()
    assert "All changes <small>6, 4 in events</small>" in page
    assert 'link</a><td class="l">not observable<td>2<td>0\n' in page
    table = page.split("ASes with the most changes in events")[1].split("</table>")[0]
    rows = re.findall(r"as/(\d+)\.html.*?<td>(\d+)<td>(\d+)\n", table)
    assert rows == [("1", "3", "4"), ("2", "1", "1"), ("3", "1", "1")]
    for asn, n_events, n_changes in rows:
        text = pages()[int(asn)]
        assert f"<small>{n_events} event" in text
        said = f"Changes in events, with this AS at either end, {n_changes} in all: "
        listed = text.split(said)[1].split(".</p>")[0]
        assert sum(map(int, re.findall(r"\((\d+)\)", listed))) == int(n_changes)


def test_a_later_comparison_and_a_later_report_show_the_newest_one(pages, tmp_path):
    before = pages()
    compare(tmp_path, links_removed(1, 1, 5))
    compare(tmp_path, links_removed(2, 2, 5), old="older")
    after = pages()
    assert after[1] == before[1]
    assert "since <bdi>older</bdi>" in after[2]
    write(tmp_path)
    assert pages() == after
    write(tmp_path, "newer")  # takes over what shows the same, without what changed
    assert pages("newer") == before
    (tmp_path / "new" / "as" / "2.html").unlink()
    compare(tmp_path, links_removed(2, 2, 5))
    assert sorted(tmp_path.rglob("*.writing")) == []


def test_tables_that_do_not_belong_together_change_no_page(pages, tmp_path):
    before = pages()
    compare(tmp_path, links_removed(1, 1, 5))
    events = tmp_path / "new" / "events.parquet"
    pq.write_table(pq.read_table(events).slice(0, 0), events)
    write(tmp_path)
    assert pages() == before
