"""How the figures of an AS went, on its page, in a real browser."""

from __future__ import annotations

import csv

import pytest

from pipeline.report.comparison import write_comparison
from tests.accessibility import findings
from tests.unit.pipeline.report.nights.test_as_histories import night
from tests.unit.pipeline.report.test_comparison import some_changes
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser",)

NIGHTS = [f"2026-11-{day:02d}" for day in (1, 2, 3, 4, 9, 10)]
SIZES = (202, 201, 202, 202, 201, 203)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """AS7 has about 200 interfaces; the third night is of other rules, one of other options."""
    folder = tmp_path_factory.mktemp("history")
    for name, n in zip(NIGHTS, SIZES, strict=True):
        night(folder, name, n, {"inference_rules": 6 if name == NIGHTS[2] else 7})
        if name == NIGHTS[4]:
            night(folder, "2026-11-09T120000Z", 5, {"borders": "prefix"})
    write_comparison(folder, NIGHTS[4], NIGHTS[5], *some_changes(), {})
    return folder


def opened(page, out, name=NIGHTS[5], asn=7):
    page.goto((out / name / "as" / f"{asn}.html").as_uri())
    page.wait_for_selector("#history[data-ready]")


def test_figures_are_drawn_on_honest_axes_with_gaps_events_and_other_versions(page, out):
    opened(page, out)
    first = page.locator("#history figure").first
    assert first.locator("figcaption").inner_text() == "interfaces 203"
    assert "axis from 152" in first.inner_text()
    heights = first.locator("circle").evaluate_all("all => all.map(one => +one.getAttribute('cy'))")
    assert len(heights) == 6
    assert max(heights) - min(heights) < 3  # pixels: 202 -> 201 is no cliff
    path = first.locator("path").get_attribute("d")
    assert [letter for letter in path if letter in "ML"] == ["M", "L", "L", "L", "M", "L"]
    assert first.locator("circle.other").count() == 1
    assert first.locator("line.event").count() == 1
    text = page.inner_text("#history")
    assert "A line is broken where nights are missing." in text
    assert "Left out: 2026-11-09T120000Z (--borders prefix)." in text
    titles = first.locator("circle title").all_text_contents()
    assert titles[1] == "2026-11-02: 201"
    captions = page.locator("#history figcaption").all_inner_texts()
    assert any(c.startswith("mapped addresses, all ASes") and c.endswith("%") for c in captions)
    assert not any("RTT" in c for c in captions)  # not kept: nothing is drawn for it


def test_the_same_is_in_a_table_for_keys_and_as_a_file(page, out):
    opened(page, out)
    page.locator("#history summary").focus()
    page.keyboard.press("Enter")
    rows = page.locator("#history tbody tr")
    assert rows.count() == 6
    assert rows.first.locator("th").inner_text() == NIGHTS[5]
    assert rows.nth(4).locator("td").first.inner_text() == "201"
    assert "rules of inference 6" in rows.nth(3).locator("th").inner_text()
    assert rows.nth(1).locator("td").last.inner_text() == "not compared"
    event = rows.first.locator("td").last.locator("a").first
    href = event.get_attribute("href")
    assert href.startswith(f"../../{NIGHTS[5]}/changes.html#event=")
    with page.expect_download() as saved:
        page.click("#history button.get")
    lines = list(csv.reader(saved.value.path().read_text().splitlines()))
    assert [line[:2] for line in lines[:3]] == [
        ["night", "interfaces"],
        [NIGHTS[5], "203"],
        [NIGHTS[4], "201"],
    ]
    event.click()
    page.wait_for_url("**/changes.html#event*")


def test_one_night_has_no_history(page, out):
    page.goto((out / NIGHTS[0] / "as" / "7.html").as_uri())
    page.wait_for_timeout(300)
    assert not page.is_visible("#history")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE])
def test_everyone_can_read_it(fresh_page, out, viewport, scheme):
    page = fresh_page
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=scheme)
    opened(page, out)
    page.click("#history summary")
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


def test_without_scripts_it_says_where_the_figures_are(browser, out):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((out / NIGHTS[5] / "as" / "7.html").as_uri())
        assert page.locator("#history").bounding_box()["height"] > 20
