"""Chips and charts above the list of ASes, and the list as CSV, in a real browser."""

from __future__ import annotations

import csv
import io
import re
import time

import pytest

from pipeline.report.write import write_reports
from tests.accessibility import findings
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import widths_of
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser",)

FULL_WIDTH = "\uff1d1+1"
FORMULA = '=HYPERLINK("http://example.com","a, b")'


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Lines of 1 to 12 nodes: AS 101 to 112. Odd ones are entered, AS 10i by 10 * i traces."""
    sizes = {100 + i: i for i in range(1, 13)}
    snapshot = MemorySnapshot(
        {asn: [(i, i + 1) for i in range(n - 1)] for asn, n in sizes.items()},
        sizes,
        [(asn, 0, [99], 10 * n, 0, False) for asn, n in sizes.items() if asn % 2],
        names={103: FORMULA, 105: "@cmd", 107: 'plain "quoted"', 109: FULL_WIDTH},
        manifest={"inputs": [{"path": "a.warts", "format": "warts", "status": "ok"}]},
    )
    measurement = measured(
        snapshot, without={(2, 0)}, failed={2: "a search failed"}, widths=widths_of(snapshot)
    )
    out = tmp_path_factory.mktemp("filters")
    return write_reports(
        snapshot, measurement, out, options={}, warnings=[], started=time.time()
    ).path


def opened(page, report, view: str = ""):
    page.goto("about:blank")
    page.goto(f"{(report / 'index.html').as_uri()}{view}")
    page.wait_for_selector("#list[data-ready]")


def listed(page) -> list[int]:
    return sorted(map(int, page.locator("#list tbody.rows td.asn").all_inner_texts()))


def test_a_map_of_ases_is_drawn_by_ases_and_has_no_neighbours_to_group_by(page, tmp_path):
    made = {"path": "a.brite", "format": "brite", "kind": "as", "as_ranges": [[7, 7]]}
    snapshot = MemorySnapshot(
        {7: [(0, 1), (1, 2)]},
        {7: 3},
        [(7, node, [], 0, 0, False) for node in (0, 1)],
        manifest={"kind": "as", "inputs": [made]},
    )
    report = write_reports(
        snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=time.time()
    ).path
    opened(page, report)
    page.wait_for_selector(".charts[data-ready]")
    assert "Ingresses (up) by ASes (across)" in page.inner_text(".charts")
    assert page.get_attribute("#list td.n_nodes", "data-noun") == "ASes"
    page.goto(f"{(report / 'as' / '7.html').as_uri()}#by=neighbour")
    assert page.locator("#ingresses tbody tr").count() == 2  # a group of none would hide both
    assert not page.locator(".tools input[type=checkbox]").count()


ODD = [101, 103, 105, 107, 109, 111]


def test_chips_narrow_the_list_and_the_address_keeps_them(page, report):
    opened(page, report)
    assert len(listed(page)) == 12
    assert not page.is_visible("text=Show all again")
    page.click("text=with ingresses")
    assert listed(page) == ODD
    page.fill(".chip input", "70")
    assert listed(page) == [107, 109, 111]
    assert page.inner_text("#found") == "3 of 12 ASes"
    page.fill("#find", "10")
    assert listed(page) == [107, 109]
    address = page.url
    assert address.endswith("#q=10&only=ingresses&traces=70")
    opened(page, report, address[address.index("#") :])
    assert listed(page) == [107, 109]
    assert page.input_value(".chip input") == "70"
    assert page.get_attribute("text=with ingresses", "aria-pressed") == "true"
    page.click("text=Show all again")
    assert listed(page) == [*range(101, 110)]  # those that begin with 10
    assert page.input_value(".chip input") == ""
    page.fill("#find", "")
    page.click("text=failed or partial")
    assert listed(page) == [103]
    page.fill(".chip input", "9999")
    assert page.is_visible("text=No AS matches these filters.")
    page.fill("#find", "10")  # there are such ASes, but for the filters
    assert page.is_visible("text=No AS with this number or name matches these filters.")
    page.fill(".chip input", "")
    page.fill("#find", "no such name")
    page.click("text=failed or partial")
    assert page.is_visible("text=No AS has this number or name.")


def test_bars_and_cells_filter_by_what_they_count(page, report):
    opened(page, report)
    page.wait_for_selector(".charts[data-ready]")
    assert page.locator(".charts figure").count() == 3
    buttons = page.locator(".charts button")
    for at in range(buttons.count()):
        button = buttons.nth(at)
        wanted = int(re.search(r": (\d+) AS", button.get_attribute("aria-label")).group(1))
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert len(listed(page)) == wanted, button.get_attribute("aria-label")
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
        assert len(listed(page)) == 12
    # A line of n nodes has the diameter n - 1.
    page.click(".charts button[aria-label^='Diameter 4:']")
    assert listed(page) == [105]
    page.click(".charts button[aria-label^='Diameter 6:']")
    assert listed(page) == [107]
    page.click(".charts button[aria-label*='ingresses 1 or more']")
    address = page.url
    assert "diameter=6-7" in address
    before = listed(page)
    opened(page, report, address[address.index("#") :])
    assert listed(page) == before
    page.wait_for_selector(".charts[data-ready]")
    assert page.locator(".charts [aria-pressed=true]").count() == 2


def test_what_is_known_of_no_as_has_no_chart(page, tmp_path):
    snapshot = MemorySnapshot({10: [(0, 1)]}, {10: 2}, [])
    measurement = measured(snapshot)
    made = {"options": {}, "warnings": [], "started": time.time()}
    opened(page, write_reports(snapshot, measurement, tmp_path, **made).path)
    page.wait_for_selector(".charts[data-ready]")
    assert page.locator(".charts figure h3").all_inner_texts() == [
        "Ingresses (up) by interfaces (across)"
    ]


def test_charts_are_drawn_after_the_list_which_stays_where_it_is(fresh_page, report):
    page = fresh_page
    page.add_init_script("window.requestIdleCallback = (task) => { window.draw = task; };")
    opened(page, report)
    page.wait_for_function("() => Boolean(window.draw)")
    top = "document.querySelector('#list').getBoundingClientRect().top"
    before = page.evaluate(top)
    assert page.locator(".charts figure").count() == 0
    page.evaluate("window.draw()")
    assert page.locator(".charts figure").count() == 3
    assert page.evaluate(top) == before


def test_charts_that_are_folded_are_drawn_when_they_are_opened(page, report):
    page.set_viewport_size(PHONE)
    opened(page, report)
    page.wait_for_timeout(100)
    assert page.locator(".charts figure").count() == 0
    page.click(".charts summary")
    page.wait_for_selector(".charts[data-ready]")
    assert page.locator(".charts figure").count() == 3


def test_the_csv_is_the_view_and_runs_nothing_in_a_spreadsheet(page, report):
    opened(page, report, "#only=ingresses&sort=asn")
    with page.expect_download() as started:
        page.click("text=Download as CSV")
    assert started.value.suggested_filename == "ases.csv"
    text = started.value.path().read_bytes().decode()
    found = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["AS"]) for row in found] == ODD
    names = {row["AS"]: row["Name"] for row in found}
    assert names["103"] == f"'{FORMULA}"
    assert names["105"] == "'@cmd"
    assert names["109"] == f"'{FULL_WIDTH}"
    assert names["107"] == 'plain "quoted"'
    assert [row["Entering traces"] for row in found] == [str(10 * (asn - 100)) for asn in ODD]
    means = {row["AS"]: row["Mean hops"] for row in found}
    assert means["105"] == "2.50"
    assert means["103"] == ""  # its search failed


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["1440", "390"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_index_is_accessible_and_fits(browser, report, scheme, viewport):
    context = browser.new_context(color_scheme=scheme, viewport=viewport)
    try:
        page = context.new_page()
        opened(page, report, "#only=failed&size=3-10")
        folded = page.locator(".charts").get_attribute("open") is None
        assert folded == (viewport is PHONE)
        page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    finally:
        context.close()
