"""The page of a comparison."""

from __future__ import annotations

import re

import pytest

from pipeline.compare.changes import LOST, QUIET, make_changes
from pipeline.compare.events import group_events
from pipeline.compare.links import NOT_SEEN
from pipeline.model.columns import concat
from pipeline.report.pages.changes_page import link_changes, write_changes_page
from pipeline.report.tables.changes import changes_table, events_table
from tests.full_disk import files_up_to


def test_an_as_that_is_gone_has_no_page_to_link_to(tmp_path):
    lost = make_changes(1, "AS", kind=LOST, asn=2, reason=NOT_SEEN, n_pairs=9, n_traces=9)
    quiet = make_changes(1, "router", kind=QUIET, asn=1, group=5)
    grouped, events = group_events(concat([lost, quiet]))
    changes = changes_table(grouped)
    (tmp_path / "index.html").touch()  # of a report
    table = events_table(events, changes, {}, "router")
    write_changes_page(tmp_path, "old", "new", changes, table, "1")
    text = (tmp_path / "changes.html").read_text()
    assert "AS2 is no longer seen: 9 pairs that crossed it do not any more" in text
    assert re.findall(r"as/\d+\.html", text) == ["as/1.html"]


def test_an_index_that_the_disk_does_not_take_stays_as_it_was(tmp_path):
    index = b"<!--changes-->" + bytes(400)
    (tmp_path / "index.html").write_bytes(index)
    (tmp_path / "changes.html").touch()
    with files_up_to(300), pytest.raises(OSError, match="File too large"):
        link_changes(tmp_path)
    assert (tmp_path / "index.html").read_bytes() == index
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changes.html", "index.html"]
