"""The page of all nights: whole or not at all, inert, and never in the place of another file."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import replace

import pytest

from pipeline.report.nights import NIGHTS_PAGE, write_nights
from pipeline.report.nights.page import nights_page
from pipeline.report.nights.rows import NO_REPORT, OK, NightRow
from tests.unit.pipeline.report.nights.test_rows import write_night
from tests.unit.pipeline.store.snapshots import some_graphs, write

EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick='x'"


def rows_of(n: int, **values) -> list[NightRow]:
    names = [f"2026-11-{day:02d}" for day in range(n, 0, -1)]
    return [NightRow(name, OK, f"{name}/index.html", n_ases=5, **values) for name in names]


def test_every_night_has_a_row_and_a_link(tmp_path):
    for day in ("2026-11-20", "2026-11-21", "2026-11-22"):
        write_night(tmp_path, day)
    assert write_nights(tmp_path) == ""
    page = (tmp_path / NIGHTS_PAGE).read_text()
    links = re.findall(r'<a href="([^#"]*)"', page)
    assert links == [f"2026-11-{day}/index.html" for day in (22, 21, 20)]
    assert all((tmp_path / link).is_file() for link in links)
    assert "3 nights, the newest first. " in page
    (tmp_path / "one").mkdir()
    write_night(tmp_path / "one", "2026-11-20")
    assert write_nights(tmp_path / "one") == ""
    assert "1 night. " in (tmp_path / "one" / NIGHTS_PAGE).read_text()
    assert [path.name for path in tmp_path.glob("[!.]*") if path.is_file()] == [NIGHTS_PAGE]
    for link in links:
        assert '<a href="../index.html">All nights</a>' in (tmp_path / link).read_text()


def test_nights_of_the_store_without_a_report_are_named(tmp_path):
    out, store = tmp_path / "out", tmp_path / "store"
    write_night(out, "2026-11-21")
    for name in ("2026-11-20", "2026-11-21", "kept"):
        write(store, name, some_graphs(n_ases=1, nodes_each=3))
    assert write_nights(out, store) == ""
    page = (out / NIGHTS_PAGE).read_text()
    assert page.count(f'<i class="tag">{NO_REPORT}</i>') == 1
    assert "2026-11-20" in page
    assert "kept" not in page[page.index("<main") :]  # its style is another matter
    (store / "snapshots" / "kept.json").write_text("{")  # a broken store costs its own rows
    assert write_nights(out, store) == ""
    assert "2026-11-20" not in (out / NIGHTS_PAGE).read_text()


def test_what_was_not_measured_says_so_with_the_command_that_made_it():
    (row,) = rows_of(1, made_by=(f"hopscope generate ba --seed 7 {EVIL}",))
    page = nights_page([row])
    assert "synthetic</small>" in page
    assert "<dt>synthetic</dt>" in page
    assert "made by <code>hopscope generate ba --seed 7 &lt;/style&gt;" in page
    assert "<script" not in page
    assert "synthetic" not in nights_page(rows_of(2)).split("</style>", 1)[1]


def test_the_page_has_no_script_and_allows_its_own_style_only():
    page = nights_page(rows_of(4, n_events=3, changes_href="x/changes.html", first_event=EVIL))
    assert "<script" not in page
    assert "onerror=alert(2)&gt;" in page
    assert not re.search(r"<[^>]*\son\w+=", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "script" not in policy
    assert 'style="' not in page  # the policy would forbid it


def test_a_name_is_no_address_of_a_script():
    page = nights_page([NightRow("javascript:alert(1)", OK, "javascript:alert(1)/index.html")])
    assert 'href="javascript%3Aalert%281%29/index.html"' in page


def test_figures_are_drawn_from_two_nights_on_and_unknown_ones_leave_a_gap():
    assert "<svg" not in nights_page(rows_of(1))
    rows = rows_of(5)
    page = nights_page([*rows[:2], NightRow(rows[2].name, NO_REPORT), *rows[3:]])
    said = "ASes of 5 nights, 2026-11-01 to 2026-11-05: from 5 to 5, last 5; axis from 0"
    assert f'aria-label="{said}"' in page
    assert "<figcaption>ASes <b>5</b> <small>every night</small>" in page
    (path,) = re.findall(r'<path d="([^"]*)"', page)
    assert [letter for letter in path if letter in "ML"] == ["M", "L", "M", "L"]
    assert page.count("<circle") == 4


def test_reports_that_are_no_nights_are_listed_and_not_drawn():
    lab = NightRow("lab", OK, "lab/index.html", n_ases=1_000_000)
    page = nights_page([lab, *rows_of(3)])
    assert "3 nights and 1 other report" in page
    assert "1,000,000" in page.split("<tbody>")[1]
    assert "1,000,000" not in page.split("<tbody>")[0]


@pytest.mark.parametrize("other", ["page", "link", "folder", "pipe"])
def test_what_someone_else_put_there_stays(tmp_path, other):
    write_night(tmp_path, "2026-11-21")
    path = tmp_path / NIGHTS_PAGE
    match other:
        case "page":
            path.write_text("<h1>mine</h1>")
        case "link":
            path.symlink_to("2026-11-21/index.html")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    before = path.lstat().st_ino
    assert "index.html: not written by hopscope" in write_nights(tmp_path)
    assert path.lstat().st_ino == before
    assert not list(tmp_path.glob(".index*"))


def test_a_page_takes_the_place_of_the_one_before_as_a_whole(tmp_path, monkeypatch):
    write_night(tmp_path, "2026-11-20")
    assert write_nights(tmp_path) == ""
    path = tmp_path / NIGHTS_PAGE
    before = path.read_bytes()
    write_night(tmp_path, "2026-11-21")
    (tmp_path / ".index.html.writing").write_text("half a pa")  # of a run that was killed
    monkeypatch.setattr("os.replace", _full)
    assert "No space left on device" in write_nights(tmp_path)
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert write_nights(tmp_path) == ""
    assert "2026-11-21" in path.read_text()
    assert not list(tmp_path.glob(".index*"))


def _full(*_):
    raise OSError(28, "No space left on device", "somewhere")


def test_nodes_are_called_what_they_are_where_all_nights_have_the_same():
    """As on the pages of each night."""
    rows = [replace(row, n_nodes=7, node_kind="router") for row in rows_of(2)]
    page = nights_page([*rows, NightRow("2026-11-01", NO_REPORT)])
    assert '<th scope="col">Routers<th' in page
    assert page.count('data-label="routers"') == 3
    assert "routers <b>7</b>" in page
    assert "Nodes" not in page
    other = replace(rows[0], node_kind="interface")
    assert '<th scope="col">Nodes<th' in nights_page([other, rows[1]])


def test_nodes_of_graphs_of_ases_are_nodes_beside_the_graphs():
    page = nights_page(rows_of(2, n_nodes=7, node_kind="as"))
    assert page.count('<th scope="col">ASes') == 1
    assert '<th scope="col">Nodes' in page
    assert page.count("<figcaption>ASes ") == 1
    assert "<figcaption>nodes " in page
