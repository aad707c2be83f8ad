"""Changes as scripts that the page of a comparison opens."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.compare.changes import make_changes
from pipeline.compare.events import group_events
from pipeline.errors import UsageError
from pipeline.model.columns import concat
from pipeline.report.comparison import write_comparison
from pipeline.report.folder import remove_report
from pipeline.report.pages.opened_changes import SHARD
from tests.unit.pipeline.report.test_comparison import EVIL, some_changes


def read(folder, key):
    text = (folder / "changes" / f"{key}.js").read_text()
    (call,) = re.findall(r"^hopscope\.changes\((.*)\);\n$", text)
    given, value = json.loads(f"[{call}]")
    assert given == key
    return value


def opened(folder, ranges):
    """Rows of some ranges of shards, as the script of the page reads them."""
    found = []
    for start, n in ranges:
        for at in range(start, start + n):
            shard = read(folder, at // SHARD)
            row = {name: shard[name][at % SHARD] for name in ("event", "asn", "addr", "n_traces")}
            found.append(row | {"reason": shard["reasons"][shard["reason"][at % SHARD]]})
    return found


def test_each_row_opens_its_changes_and_each_event_too(tmp_path):
    n = SHARD + 500
    asn = np.arange(n) % 900 + 1
    more = make_changes(n, "link", kind="not observable", asn=asn, reason=EVIL)
    some, _ = some_changes()
    written = write_comparison(tmp_path, "a", "night", *group_events(concat([some, more])), {})
    table = pq.read_table(written.folder / "changes.parquet").to_pylist()
    index = read(written.folder, "index")
    assert index["n"] == len(table) > SHARD
    assert len(list((written.folder / "changes").iterdir())) == 3  # the index, and two shards
    for what, kind, start, size in index["sorts"]:
        rows = [row for row in table if (row["what"], row["kind"]) == (what, kind)]
        found = opened(written.folder, [(start, size)])
        assert len(rows) == size == len(found)
        key = lambda row: (row["event"] is None, row["event"] or 0, -row["n_traces"], row["asn"])  # noqa: E731
        assert [row["asn"] for row in found] == [row["asn"] for row in sorted(rows, key=key)]
    for event, ranges in index["events"].items():
        rows = [row for row in table if row["event"] == int(event)]
        found = opened(written.folder, ranges)
        assert sorted(row["addr"] or "" for row in found) == sorted(
            row["addr"] or "" for row in rows
        )
    page = (written.folder / "changes.html").read_text()
    assert 'href="#what=link&amp;kind=not%20observable"' in page
    assert 'href="#event=0"' in page
    text = (written.folder / "changes" / "1.js").read_text()
    assert "<script" not in text
    assert "\u202e" not in text


def test_a_smaller_comparison_leaves_no_shard_of_the_larger_one(tmp_path):
    n = 2 * SHARD
    more = make_changes(n, "link", kind="not observable", asn=5)
    write_comparison(tmp_path, "a", "night", *group_events(more), {})
    folder = write_comparison(tmp_path, "a", "night", *some_changes(), {}).folder
    assert sorted(path.name for path in (folder / "changes").iterdir()) == ["0.js", "index.js"]
    assert remove_report(folder)  # all of it is ours
    assert not folder.exists()


def test_a_comparison_with_a_file_of_its_user_is_not_removed(tmp_path):
    folder = write_comparison(tmp_path, "a", "night", *some_changes(), {}).folder
    (folder / "changes" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds changes, which hopscope did not write"):
        remove_report(folder)
