"""The page of all nights as people open it: from disk, light and dark, on a phone."""

from __future__ import annotations

import threading

import pytest

from flows.pages.server import ReportServer
from flows.runs.api import Api
from pipeline.report.comparison import write_comparison
from pipeline.report.nights import NIGHTS_PAGE, write_nights
from pipeline.report.nights.page import nights_page
from pipeline.report.nights.rows import NO_REPORT, OK, PARTIAL, NightRow
from tests.accessibility import findings
from tests.unit.pipeline.report.nights.test_rows import write_night
from tests.unit.pipeline.report.test_comparison import some_changes
from tests.viewports import PHONE

pytest_plugins = ("tests.browser",)

HOSTILE = "</td></style><script>alert(1)</script><img src=x onerror=\"alert('2')\">"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Thirty nights of the Internet, among them one Partial and one without a report."""
    rows = []
    for day in range(30, 0, -1):
        name = f"2026-11-{day:02d}"
        if day == 12:
            rows.append(NightRow(name, NO_REPORT))
            continue
        figures = {"n_ases": 47_000 + day, "n_nodes": 5_012_345 + day, "n_ingresses": 231_000}
        rows.append(
            NightRow(
                name,
                PARTIAL if day == 20 else OK,
                f"{name}/index.html",
                **figures,
                mean_hops=4.2 + day % 5 / 10,
                mapped=94.5,
                n_warnings=day % 3,
                changes_href=f"{name}/changes.html" if day > 1 else "",
                since=f"2026-11-{day - 1:02d}",
                n_events=day if day > 1 else None,
                n_changes=1000 * day,
                first_event=HOSTILE + "\u0645" * 200 if day == 30 else "x" * 300,
            )
        )
    path = tmp_path_factory.mktemp("nights") / NIGHTS_PAGE
    path.write_text(nights_page(rows))
    return path.as_uri()


def test_figures_are_in_one_line_and_only_what_is_drawn_is_said_to_be(page, tmp_path):
    command = "hopscope generate internet --routers 40000 --ases 2000 --seed 1 "
    row = NightRow("a", OK, n_warnings=2, n_nodes=10_000, mapped=100.0, made_by=(4 * command,))
    path = tmp_path / NIGHTS_PAGE
    path.write_text(nights_page([row]))
    page.goto(path.as_uri())
    cell = page.locator("td[data-label=mapped]")
    line = cell.evaluate("cell => parseFloat(getComputedStyle(cell).lineHeight)")
    text = """cell => {
        const all = document.createRange();
        all.selectNodeContents(cell);
        return all.getBoundingClientRect().height;
    }"""
    assert cell.evaluate(text) < 1.5 * line
    assert "drawn above" not in page.inner_text("#terms")


def test_on_paper_no_label_is_larger_than_its_figure(page, url):
    page.set_viewport_size({"width": 688, "height": 900})  # what A4 leaves
    page.emulate_media(media="print")
    page.goto(url)
    sizes = page.evaluate("""() => {
      const size = (one, part) => parseFloat(getComputedStyle(one, part).fontSize);
      const cells = [...document.querySelectorAll(".nights td[data-label]")];
      return [size(document.body), Math.max(...cells.map(cell => size(cell, "::before"))),
        Math.max(...[...document.querySelectorAll("svg text")].map(text => size(text)))];
    }""")
    assert max(sizes) == sizes[0], sizes


def test_the_night_before_is_named_in_one_line(page, tmp_path):
    path = tmp_path / NIGHTS_PAGE
    for n in range(60, 90):  # somewhere here the line ends within the date
        event = f"{'x' * 40} {'y' * (n - 40)}"
        row = NightRow("a", OK, first_event=event, since="2026-11-20", n_events=1)
        path.write_text(nights_page([row]))
        page.goto(path.as_uri())
        since = page.locator(".event small bdi")
        assert since.evaluate("date => date.getClientRects().length") == 1
        assert since.evaluate(
            "date => date.clientHeight < 1.6 * parseFloat(getComputedStyle(date).fontSize)"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_it_is_accessible_without_a_finding(browser, url, scheme, width):
    viewport = {"width": width, "height": 844}
    context = browser.new_context(color_scheme=scheme, viewport=viewport)
    try:
        page = context.new_page()
        page.goto(url)
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_changes_draws_its_ases_without_a_finding(browser, tmp_path, scheme):
    for day in ("2026-11-19", "2026-11-20", "2026-11-21"):
        write_night(tmp_path, day, asn=7)
    write_comparison(tmp_path, "2026-11-20", "2026-11-21", *some_changes(), {7: HOSTILE})
    context = browser.new_context(color_scheme=scheme, viewport=PHONE)
    try:
        page = context.new_page()
        page.goto((tmp_path / "2026-11-21" / "changes.html").as_uri())
        assert page.locator("#histories svg.history").count() == 3
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert findings(page) == []
    finally:
        context.close()


def test_it_needs_no_script_and_its_style_is_allowed(browser, url):
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    try:
        page = context.new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(url)
        assert page.locator("table.nights tbody tr").count() == 30
        assert page.locator("svg.history").count() == 6
        assert page.locator("svg.history").first.bounding_box()["height"] == 72
        assert said == []
    finally:
        context.close()


def test_every_column_is_there_on_a_phone(page, url):
    page.set_viewport_size(PHONE)
    page.goto(url)
    cells = page.locator("table.nights tbody tr:first-child td")
    assert cells.count() == 10
    for i in range(10):
        box = cells.nth(i).bounding_box()
        assert box["width"] > 0
        assert box["x"] + box["width"] <= PHONE["width"]
    label = "td => getComputedStyle(td, '::before').content"
    assert "mean hops" in cells.nth(5).evaluate(label)


def test_hostile_text_is_shown_as_it_is(page, url):
    page.goto(url)
    assert HOSTILE in page.inner_text("table.nights tbody tr:first-child td.event")
    assert page.locator("script").count() == 0
    assert page.locator("img").count() == 0


def test_a_report_leads_to_all_nights_and_back(page, tmp_path):
    for day in ("2026-11-20", "2026-11-21"):
        write_night(tmp_path, day)
    assert write_nights(tmp_path) == ""
    page.goto((tmp_path / NIGHTS_PAGE).as_uri())
    page.click("td >> text=2026-11-20")
    assert "2026-11-20" in page.inner_text("h1")
    page.click("text=All nights")
    assert page.inner_text("h1") == "Nights"


def test_served_pages_load_their_style_and_script_under_the_policy_of_the_server(page, tmp_path):
    for day in ("2026-11-20", "2026-11-21"):
        write_night(tmp_path, day)
    assert write_nights(tmp_path) == ""
    said = []
    page.on("console", lambda message: said.append(message.text))
    with ReportServer(
        0, tmp_path, "http://127.0.0.1:9", Api("http://127.0.0.1:9/api"), ""
    ) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            page.goto(f"{server.url}/reports/index.html")
            page.click("td >> text=2026-11-21")
            page.wait_for_selector("#list[data-ready]")  # its script ran
            assert page.evaluate("getComputedStyle(document.body).fontSize") == "14px"
        finally:
            server.shutdown()
            thread.join()
    assert [text for text in said if "Security Policy" in text] == []
