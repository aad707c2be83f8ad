"""The report as files: complete or not at all, strict JSON, third-party text escaped."""

from __future__ import annotations

import html.parser
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from markupsafe import escape

from pipeline.collect.schema import TASKS
from pipeline.errors import UsageError
from pipeline.model.words import MAX_WARNINGS, printable
from pipeline.report import swapping, write, write_reports
from pipeline.report.escaping import script_json
from pipeline.report.pages.ases.ingress_rows import MAX_INGRESSES
from pipeline.report.pages.ases.neighbor_texts import MAX_IXP_NAME
from pipeline.report.pages.plots import bin_counts, hop_histogram
from pipeline.store.versions.held import DISTANCES, WRITING, held_folder, hold_folder
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

HOSTILE = (
    "\"'</script><img src=x onerror=alert(1)>&amp;\u202eevil\x00\x1b[31m\u2028--><!--\u00e9\u4e2d"
)


def small(name="2026-11-21", **changes) -> MemorySnapshot:
    return MemorySnapshot(
        {10: [(0, 1), (1, 2)], 20: [(0, 1)]},
        {10: 3, 20: 3},
        [(10, 0, [20], 3, 0, False), (20, 0, [10], 1, 2, False)],
        name=name,
        **changes,
    )


def report(snapshot, out, measurement=None, **changes):
    arguments = {"options": {}, "warnings": [], "started": time.time() - 1}
    return write_reports(snapshot, measurement or measured(snapshot), out, **(arguments | changes))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_file_of_the_contract_is_there(tmp_path):
    rejects = tmp_path / "rejects.jsonl"
    rejects.write_text('{"file": "a", "place": "line 1", "reason": "no JSON"}\n')
    summary = report(small(rejects_path=rejects), tmp_path / "out")
    assert summary.path == tmp_path / "out" / "2026-11-21"
    assert sorted(p.name for p in summary.path.iterdir()) == [
        "as",
        "as_links.parquet",
        "as_page.js",
        "ases.js",
        "ases.parquet",
        "exits.parquet",
        "filters.js",
        "history",
        "history.js",
        "hopscope.css",
        "hopscope.js",
        "index.html",
        "ingresses.parquet",
        "internet.html",
        "internet.js",
        "night.js",
        "pages.parquet",
        "rejects.jsonl",
        "report.json",
        "tasks.parquet",
    ]
    assert sorted(p.name for p in (summary.path / "as").iterdir()) == ["10.html", "20.html"]
    assert summary.files["rejects"].read_text() == rejects.read_text()
    assert pq.read_table(summary.files["ases"])["n_unreached"].to_pylist() == [0, 1]
    assert summary.n_pages == 2
    assert summary.table == [(10, None, 3, 2, 1, 1.5, 2, 0), (20, None, 3, 1, 1, 1.0, 1, 1)]
    assert names(tmp_path / "out") == [".lock", "2026-11-21"]  # nothing left next to it


def test_a_long_name_is_cut_in_headings_and_whole_in_their_title(tmp_path):
    name = '<b>"' + "x" * 4996
    page = report(small(names={10: name}), tmp_path).path / "as" / "10.html"
    whole, shown = (str(escape(text)) for text in (name, name[:79] + "\u2026"))
    heading = f'<bdi class=name title="{whole}">{shown}</bdi>'
    text = page.read_text()
    assert heading in text
    assert f"<title>AS10 {shown}</title>" in text
    assert text.count("x" * 4996) == 1


def test_names_of_exchange_points_are_short_text_in_the_direction_of_the_page(tmp_path):
    names = ["<b>x" + "y" * MAX_IXP_NAME, "\u05d0\u05d1", ""]
    ingresses = [(10, 0, [20, 30, 40], 3, 0, False, names)]
    snapshot = MemorySnapshot({10: [(0, 1)]}, {10: 2}, ingresses)
    text = (report(snapshot, tmp_path).path / "as" / "10.html").read_text()
    cut = "\u2068" + str(escape(names[0][: MAX_IXP_NAME - 1])) + "\u2026\u2069"
    assert f"20 (1) by {cut}, 30 (1) by \u2068\u05d0\u05d1\u2069, 40 (1)\n" in text
    assert "<b>x" not in text


def test_tasks_keep_their_columns_and_their_schema_without_any(tmp_path):
    snapshot = small()
    tasks = {
        "task": ["t1"],
        "kind": ["shard"],
        "asns": [[10, 20]],
        "n_ases": [2],
        "n_sources": np.array([2]),
        "worker": ["w"],
        "device": ["cpu"],
        "submitted": [1.0],
        "started": [2.0],
        "ended": [3.5],
        "read_s": [0.5],
        "attempt": [1],
        "status": ["ok"],
    }
    summary = report(snapshot, tmp_path, measured(snapshot, tasks=tasks))
    assert pq.read_table(summary.files["tasks"]).to_pylist() == [
        {name: next(iter(column)) for name, column in tasks.items()}
    ]
    summary = report(snapshot, tmp_path)
    assert pq.read_table(summary.files["tasks"]).schema.equals(TASKS)


def test_report_json_is_strict_and_says_what_the_figures_rest_on(tmp_path):
    snapshot = small(
        manifest={
            "inputs": [{"path": "b\udcff.warts", "sha256": "ab" * 32, "n_records": 3}],
            "counts": {"n_unmapped": 4},
            "options": {"borders": "elected"},
        }
    )
    measurement = measured(snapshot, busy_share={"w": float("nan")}, cluster={"n": np.int64(2)})
    summary = report(snapshot, tmp_path, measurement, options={"out": Path("x"), "pack": None})
    document = json.loads(summary.files["report"].read_bytes(), parse_constant=pytest.fail)
    assert document["inputs"][0]["sha256"] == "ab" * 32
    assert document["options"] == {"out": "x", "pack": None}
    assert document["ingest_options"] == {"borders": "elected"}
    assert document["counts"] == {"n_unmapped": 4}
    assert document["busy_share"] == {"w": None}
    assert document["cluster"] == {"n": 2}
    assert document["totals"]["n_ases"] == 2
    assert document["times"]["wall_s"] >= 1
    assert document["versions"]["hopscope"]


def test_without_pages_there_are_tables_alone(tmp_path):
    with_pages = report(small(), tmp_path / "pages")
    tables = report(small(), tmp_path / "tables", pages=False)
    assert sorted(p.name for p in tables.path.iterdir()) == [
        "as_links.parquet",
        "ases.parquet",
        "exits.parquet",
        "ingresses.parquet",
        "rejects.jsonl",
        "report.json",
        "tasks.parquet",
    ]
    assert tables.index == tables.path / "report.json"
    assert tables.n_pages == 0
    for name in ("ases.parquet", "ingresses.parquet"):
        assert pq.read_table(tables.path / name).equals(pq.read_table(with_pages.path / name))


def test_an_existing_report_is_replaced(tmp_path):
    first = report(small(), tmp_path)
    second = report(small(), tmp_path, warnings=["second"])
    assert second.path == first.path
    assert "second" in second.index.read_text()
    assert names(tmp_path) == [".lock", "2026-11-21"]


def test_a_report_is_replaced_also_where_names_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(swapping, "_exchange", lambda first, second: False)
    report(small(), tmp_path)
    summary = report(small(), tmp_path, warnings=["second"])
    assert "second" in summary.index.read_text()
    assert names(tmp_path) == [".lock", "2026-11-21"]


def test_a_report_that_fails_leaves_the_old_one_whole(tmp_path, monkeypatch):
    first = report(small(), tmp_path, warnings=["first"])

    def fail(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(write, "write_pages", fail)
    with pytest.raises(UsageError, match=r"No space left on device; give --out"):
        report(small(), tmp_path)
    assert "first" in first.index.read_text()
    assert names(tmp_path) == [".lock", "2026-11-21"]


def test_a_reader_never_sees_a_report_that_is_not_whole(tmp_path, monkeypatch):
    report(small(), tmp_path, warnings=["first"])
    seen = []
    pages = write.write_pages

    def look(summary, run, out, **named):
        n_pages = pages(summary, run, out, **named)
        index = tmp_path / "2026-11-21" / "index.html"
        seen.append(("first" in index.read_text(), (index.parent / "ases.parquet").exists()))
        return n_pages

    monkeypatch.setattr(write, "write_pages", look)
    report(small(), tmp_path)
    assert seen == [(True, True)]


def test_leftovers_of_killed_runs_are_removed_for_any_snapshot_and_living_runs_kept(tmp_path):
    dead = tmp_path / ".writing-0123456789ab"
    (dead / "files" / "2026-11-20").mkdir(parents=True)  # its lock went with its process
    (dead / "lock").touch()
    with held_folder(tmp_path, WRITING) as at_work:
        report(small(), tmp_path)
        assert not dead.exists()
        assert at_work.exists()


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("is_new_version", [True, False])
def test_matrices_of_this_run_are_added_and_those_of_another_version_removed(
    tmp_path, asked, is_new_version
):
    final = report(small(), tmp_path).path / "distances"
    final.mkdir()
    for asn in (10, 20, 98):  # of 98 and 99 the report has no AS: one is a file of the user
        (final / f"{asn}.parquet").write_bytes(b"old")
    made = hold_folder(tmp_path, DISTANCES)
    for asn in (10, 99):
        (made / f"{asn}.parquet").write_bytes(b"new")
    snapshot = small()
    if is_new_version:
        snapshot.version = "2026-11-21-ba9876543210"
    measurement = replace(measured(snapshot), distances_dir=str(made) if asked else "")
    report(snapshot, tmp_path, measurement)
    found = {path.name: path.read_bytes() for path in final.glob("*")}
    kept = {"98.parquet": b"old"}
    if not is_new_version:
        kept |= {"10.parquet": b"old", "20.parquet": b"old"}
    assert found == (kept | {"10.parquet": b"new"} if asked else kept)
    assert made.exists() is not asked


def test_a_report_that_fails_leaves_the_matrices_of_the_old_one(tmp_path, monkeypatch):
    final = report(small(), tmp_path).path / "distances"
    final.mkdir()
    (final / "10.parquet").write_bytes(b"old")
    made = hold_folder(tmp_path, DISTANCES)
    (made / "10.parquet").write_bytes(b"new")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "swap", fail)
    snapshot = small()
    with pytest.raises(UsageError, match="No space left"):
        report(snapshot, tmp_path, replace(measured(snapshot), distances_dir=str(made)))
    assert (final / "10.parquet").read_bytes() == b"old"


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UsageError, match=r"out.*give --out"):
        report(small(), tmp_path / "out")


class Collector(html.parser.HTMLParser):
    """Tags and visible text of a page, as a browser would take them."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def test_hostile_texts_are_shown_and_never_markup(tmp_path):
    snapshot = small(
        names={10: HOSTILE},
        manifest={
            "kind": HOSTILE,
            "inputs": [{"path": HOSTILE, "format": HOSTILE, "status": HOSTILE, "sha256": HOSTILE}],
            "options": {"borders": HOSTILE},
        },
    )
    measurement = measured(snapshot, without={(0, 0)}, failed={0: HOSTILE})
    summary = report(snapshot, tmp_path, measurement, warnings=[HOSTILE])
    shown = printable(HOSTILE)
    for path in (summary.index, summary.path / "as" / "10.html"):
        page = Collector()
        page.feed(path.read_text())
        assert "img" not in page.tags
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert shown in page.text
        assert "\x00" not in path.read_text()
    script = (summary.path / "ases.js").read_bytes()
    assert script.isascii()
    assert not re.search(rb"[<>&\x00-\x09\x0b-\x1f]", script)
    columns = json.loads(script.removeprefix(b"hopscope.load(").removesuffix(b");\n"))
    assert columns["name"] == [shown, ""]


def test_data_inside_a_script_cannot_end_it():
    text = script_json(["</script>", "<!--", "\u2028", "]]>"])
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == ["</script>", "<!--", "\u2028", "]]>"]


def test_pages_of_many_ingresses_are_bounded_and_say_so(tmp_path):
    n = 2000
    ring = [(i, (i + 1) % n) for i in range(n)]
    ingresses = [(10, i, list(range(1, 20)), i, 0, False) for i in range(n)]
    snapshot = MemorySnapshot({10: ring}, {10: n}, ingresses)
    few = {(0, i) for i in range(n) if i % 100}
    summary = report(snapshot, tmp_path, measured(snapshot, without=few))
    path = summary.path / "as" / "10.html"
    text = path.read_text()
    assert f"2,000, {MAX_INGRESSES} shown" in text
    assert "the other 1,900 are in" in text
    rows = text.split("id=ingresses")[1].split("</table>")[0].split("<tr>")[2:]
    assert len(rows) == MAX_INGRESSES
    assert rows[0].startswith("<td>2999<")  # the most traces first
    assert "+13" in rows[0]  # of 19 neighbours
    assert path.stat().st_size < 60_000
    assert summary.n_pages == 1


def test_warnings_on_the_index_are_bounded_and_all_in_report_json(tmp_path):
    lines = [f"warning {i}" for i in range(5000)]
    summary = report(small(), tmp_path, warnings=lines)
    text = summary.index.read_text()
    assert text.count("<li><bdi>warning") == MAX_WARNINGS
    assert "5,000 warnings" in text
    assert len(json.loads(summary.files["report"].read_text())["warnings"]) == 5000


def test_an_empty_run_still_gives_a_report(tmp_path):
    snapshot = MemorySnapshot({}, {}, [])
    summary = report(snapshot, tmp_path)
    assert summary.table == []
    assert summary.totals["mean_hops"] is None
    assert pq.read_table(summary.files["ases"]).num_rows == 0
    assert summary.index.exists()


def test_many_hop_counts_are_drawn_as_ranges():
    width, counts = bin_counts(np.ones(1000, np.int64), 40)
    assert (width, len(counts), counts.sum()) == (25, 40, 1000)
    assert hop_histogram(np.append(0, np.ones(1000, np.int64))).count("<rect") == 40
    assert hop_histogram(np.array([0])) == hop_histogram(np.array([], np.int64)) == ""
