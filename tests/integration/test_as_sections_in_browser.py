"""What a page of an AS shows, and how it answers, in a real browser."""

from __future__ import annotations

import re

import pytest

from pipeline.report.write import write_reports
from tests.accessibility import findings
from tests.report_folders import HOSTILE, url
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.viewports import PHONE

pytest_plugins = ("tests.browser", "tests.report_fixtures")


def test_an_as_page_sorts_its_ingresses_and_compares_one_with_all(page, small):
    page.goto(url(small, "as/3356.html"))
    names = page.locator("#ingresses tbody td:first-child")
    assert names.nth(0).inner_text().endswith(":0")  # the most traces first
    assert names.nth(2).inner_text().endswith("candidate")
    assert page.locator("#ingresses svg.spark").count() == 2
    page.click("#ingresses th:nth-child(4) button")  # mean, largest first
    means = page.locator("#ingresses tbody td:nth-child(4)").all_inner_texts()
    assert means[2] == "\u2013"
    assert means[:2] == sorted(means[:2], reverse=True)
    page.click("#ingresses tbody tr:first-child")
    assert page.locator("svg.hist .one").count() > 0
    assert "only, which reaches 11 others" in page.inner_text("#overlay")
    page.click("#ingresses tbody tr:first-child")
    assert page.locator("svg.hist .one").count() == 0
    assert page.inner_text(".tiles").count("\n") > 8
    assert "2 of 14" in page.inner_text(".columns .quiet:has-text('no path inside')")


def test_tiles_explain_themselves_on_hover_and_focus(page, small):
    page.goto(url(small, "as/3356.html"))
    assert page.locator(".explained > div").count() == 6
    told = page.locator(".explained dd > span")
    assert not any(told.nth(i).is_visible() for i in range(6))
    page.hover(".explained div:nth-child(4) dd")
    assert [told.nth(i).is_visible() for i in range(6)] == [i == 3 for i in range(6)]
    page.mouse.move(0, 0)
    page.focus(".explained div:nth-child(5) button")
    page.keyboard.press("Tab")
    shown = told.nth(5).evaluate("one => getComputedStyle(one, '::before').content")
    assert shown == '"Parts of this AS with no link between them."'
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "t6"
    page.keyboard.press("Escape")
    assert not told.nth(5).is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_ases_are_accessible(browser, small, wide, scheme):
    context = browser.new_context(color_scheme=scheme, viewport=PHONE)
    try:
        page = context.new_page()
        for folder, name in ((small, "3356"), (small, "64501"), (wide, "7"), (wide, "3356")):
            page.goto(url(folder, f"as/{name}.html"))
            page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
            assert findings(page) == [], name
    finally:
        context.close()


SHOWN = "\ufffdgnp.exe\ufffd \ufffd\ufffd[31m"  # the name of AS 64500, which has one


def test_who_enters_where_is_drawn_with_links_and_hops_in_the_same_order(page, small):
    page.goto(url(small, "as/3356.html"))
    section = page.locator("#entries")
    assert section.locator("p").first.inner_text() == "47 traces by 2 ingresses from 2 ASes."
    bands = section.locator(".bands path").evaluate_all("all => all.map(one => one.outerHTML)")
    assert "".join(bands).count("M0 ") == 3
    centers = (
        "all => all.map(one => one.getBoundingClientRect()).map(box => box.y + box.height / 2)"
    )
    ways = section.locator(".ways text").evaluate_all(centers)
    cells = section.locator(".heat path").evaluate_all(
        "all => all.map(one => one.getAttribute('d'))"
    )
    rows = sorted({int(y) for one in cells for y in re.findall(r"M\d+ (\d+)h\d", one)})
    assert [y - rows[0] for y in rows] == pytest.approx([y - ways[0] for y in ways], abs=2)
    # The same as a table: traces by neighbour and ingress.
    assert page.locator("#ingresses tbody tr td:last-child").all_inner_texts()[:2] == [
        f"64500 {SHOWN} (20), 64501 (20)",
        "64501 (7)",
    ]
    named = page.locator("#ingresses tbody tr").first.locator("td:last-child a")
    assert named.first.get_attribute("title") == SHOWN
    section.locator(".flow a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/64501.html")


def test_a_selected_ingress_is_in_the_address(page, small):
    page.goto(url(small, "as/3356.html"))
    page.click(".flow .ways text:nth-child(2)")
    page.wait_for_selector(".panel[open]")  # what is known of the router is beside it
    page.keyboard.press("Escape")
    page.wait_for_function("!document.querySelector('.panel').open")
    assert page.locator("#ingresses tr.on td:first-child").inner_text().endswith(":3")
    assert page.locator(".flow .ways .on").count() == 1
    address = page.url
    assert address.endswith("#ingress=2001%3Adb8%3A1234%3A5678%3A9abc%3Adef0%3A1234%3A3")
    page.goto("about:blank")
    page.goto(address)
    assert page.locator("#ingresses tr.on td:first-child").inner_text().endswith(":3")
    page.click("#ingresses tr.on")
    assert page.locator("#ingresses tr.on").count() == 0
    assert "#" not in page.url


def test_the_graph_is_drawn_in_layers_and_names_what_is_pointed_at(page, small):
    page.goto(url(small, "as/3356.html"))
    section = page.locator("#graph")
    section.locator("summary").click()
    rows = section.locator("table tr")
    assert rows.count() == 1 + 14
    assert rows.nth(1).locator("td").nth(2).inner_text() == "0"
    assert rows.nth(14).locator("td").nth(2).inner_text() == "unreached"
    svg = section.locator(".layers")
    svg.scroll_into_view_if_needed()
    at = svg.evaluate(
        "one => { const box = one.querySelector('svg').getBoundingClientRect();"
        " const [x, y] = one.querySelector('.dot.c1').getAttribute('d').match(/\\d+/g).map(Number);"
        " const [, , w, h] = one.querySelector('svg').getAttribute('viewBox').split(' ');"
        " return [box.x + x / w * box.width, box.y + y / h * box.height]; }"
    )
    page.mouse.move(*at)
    names = {"0": 3, "3": 2}
    assert page.inner_text("#near") in [
        f"2001:db8:1234:5678:9abc:def0:1234:{node}: 0 hops, {n} links" for node, n in names.items()
    ]
    assert svg.locator(".found").count() == 1


def test_exits_and_neighbours_are_listed_and_keys_lead_to_their_pages(page, small):
    page.goto(url(small, "as/3356.html"))
    exits = page.locator("#exits tr").all_inner_texts()[1:]
    assert [row.split("\t")[1:] for row in exits] == [
        ["13", f"64500 {SHOWN} (12), 65000 (1)"],
        ["3", "64501 (3)"],
    ]
    rows = [row.split("\t") for row in page.locator("#neighbors tr").all_inner_texts()[1:]]
    assert [row[1:] for row in rows] == [["20", "12", "1"], ["27", "3", "2"], ["0", "1", "0"]]
    assert [row[0].split()[0] for row in rows] == ["AS64500", "AS64501", "AS65000"]
    assert page.locator("#neighbors a").count() == 2  # AS 65000 has no page
    assert page.locator("nav [rel=prev]").count() == 0
    page.focus("nav [rel=next]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/64500.html")
    page.locator("nav [rel=next]").click()
    page.wait_for_url("**/64501.html")


def test_a_phone_shows_every_column_of_the_tables(page, small):
    page.set_viewport_size(PHONE)
    page.goto(url(small, "as/3356.html"))
    boxes = page.locator(":is(#ingresses, .near) td").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(box => box.right)"
    )
    assert max(boxes) <= PHONE["width"]


def test_the_page_of_a_wide_as_draws_eccentricities_and_the_path(page, wide):
    page.goto(url(wide, "as/7.html"))
    assert page.locator("#width svg.hist rect").count() > 20
    assert page.locator("#width ol.path li").count() == 25  # 12 at each end, and what is between
    assert "interfaces between" in page.inner_text("#width ol.path .gap")
    assert page.locator("#weighted-width ol.path li").count() == 25
    # An ingress is laid over the hops from ingresses, not over the eccentricities.
    page.click("#ingresses tbody tr:first-child")
    assert page.locator("svg.hist[data-slots] .one").count() > 0
    assert page.locator("#width svg.hist .one").count() == 0
    page.goto(url(wide, "as/3356.html"))
    assert "between 9 and 20" in page.inner_text("#width .note.warn")
    assert page.inner_text("h1") == f"AS3356 {HOSTILE}"


def test_every_router_is_one_click_away(page, wide):
    page.goto(url(wide, "as/7.html"))
    link = page.locator("#width a[href='../nodes/7.parquet']")
    assert link.count() == 1
    assert (wide / "as" / "../nodes/7.parquet").exists()


@pytest.mark.parametrize("n_mapped", [899, 900])
def test_a_low_share_of_mapped_addresses_is_marked(page, tmp_path, n_mapped):
    manifest = {
        "inputs": [{"path": "a.warts", "format": "warts", "status": "ok"}],
        "counts": {"n_addrs": 1000, "n_addrs_mapped": n_mapped},
    }
    snapshot = MemorySnapshot(
        {10: [(0, 1)]}, {10: 2}, [(10, 0, [20], 1, 0, False)], manifest=manifest
    )
    out = write_reports(
        snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=0.0
    ).path
    page.goto(url(out, "as/10.html"))
    said = page.get_by_text(f"Of the whole snapshot {n_mapped} of 1,000 addresses mapped")
    said.wait_for()
    assert ("warn" in (said.get_attribute("class") or "")) == (n_mapped < 900)
