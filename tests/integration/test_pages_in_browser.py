"""Report pages as people open them: from disk, in a real browser, at any size."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from pipeline.report.pages.html import write_pages
from pipeline.report.pages.index_page import COLUMNS, index_script
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.tables.summarise import summarise
from pipeline.report.write import write_reports
from tests.accessibility import findings
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import cut_short, effective_of, widths_of

pytest_plugins = ("tests.browser",)

N_ASES = 50_000
PHONE = {"width": 390, "height": 844}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=\"alert('2')\">&amp;{{7*7}}"
TURNED = "\u202egnp.exe\u2066 \x00\x1b[31m"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Report of a small network whose names are hostile."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    snapshot = MemorySnapshot(
        {3356: [*ring, (0, 6)], 64500: [(0, 1)], 64501: []},
        {3356: 14, 64500: 2, 64501: 3},
        [
            (3356, 0, [64500, 64501], 40, 2, False),
            (3356, 3, [64501], 7, 0, False),
            (3356, 5, [64501], 0, 9, True),
            (64500, 0, [3356], 11, 0, False),
        ],
        names={3356: HOSTILE, 64500: TURNED},
        addrs={
            3356: [f"2001:db8:1234:5678:9abc:def0:1234:{i:x}" for i in range(14)],
            64500: ["198.51.100.1", "198.51.100.2"],
            64501: ["203.0.113.1", "203.0.113.2", "203.0.113.3"],
        },
        manifest={"inputs": [{"path": HOSTILE, "format": "warts", "n_records": 1234567}]},
        exits=[(3356, 2, 64500, 12), (3356, 2, 65000, 1), (3356, 9, 64501, 3)],
        borders=[(3356, 64500), (3356, 64501), (3356, 64501)],
    )
    out = tmp_path_factory.mktemp("small")
    return write_reports(
        snapshot, measured(snapshot), out, options={}, warnings=[HOSTILE], started=time.time()
    ).path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Index of 50,000 ASes; the page of each is left out, except one."""
    rng = np.random.default_rng(7)
    one = MemorySnapshot(
        {1: [(0, 1)]}, {1: 2}, [(1, 0, [2], 1, 0, False)], names={1: "so that names are shown"}
    )
    summary = summarise(one, measured(one))
    columns = {
        "asn": np.arange(1, N_ASES + 1),
        "name": pa.array([f"NETWORK-{i * 7919 % N_ASES} Some Company Ltd" for i in range(N_ASES)]),
        "mean_hops": pa.array(rng.random(N_ASES) * 9, mask=rng.random(N_ASES) < 0.1),
        "n_nodes": rng.integers(1, 100_000, N_ASES),
        "status": pa.array(["ok"] * N_ASES),
    }
    ases = {c.key: columns.get(c.key, rng.integers(0, 50, N_ASES)) for c in COLUMNS}
    run = RunFacts(
        "large", "2026-11-21 06:00 UTC", "0", "router", "routers", "", False, False, N_ASES, "0 %"
    )
    totals = summary.totals | {"n_ases": N_ASES}
    out = tmp_path_factory.mktemp("large")
    pages = SimpleNamespace(**(vars(summary) | {"totals": totals}))
    write_pages(pages, run, out, manifest={}, warnings=[], busy_share={})
    (out / "ases.js").write_text(index_script(pa.table(ases)))
    return out


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Report with widths: a ring with a long tail, an interval, one without, all by weight too."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    tail = [(i, i + 1) for i in range(11, 60)]
    # Two equally large components: an ingress shows the width of neither, so the interval remains.
    twice = [(0, 1), (1, 2), (3, 4), (4, 5)]
    snapshot = MemorySnapshot(
        {7: [*ring, *tail, (62, 63)], 3356: twice, 64500: [(0, 1)], 64501: [(0, 1)]},
        {7: 66, 3356: 6, 64500: 2, 64501: 2},
        [(7, 0, [3356], 9, 0, False), (7, 65, [3356], 1, 0, False), (3356, 0, [7], 1, 0, False)],
        names={7: "Ring with a tail", 3356: HOSTILE},
        addrs={
            7: [f"2001:db8:1234:5678:9abc:def0:1234:{i:x}" for i in range(66)],
            3356: [f"192.0.2.{i + 1}" for i in range(6)],
            64500: ["198.51.100.1", "198.51.100.2"],
            64501: ["203.0.113.1", "203.0.113.2"],
        },
        weight=lambda a, b: 41.375 + a + b,
        manifest={"weight_unit": "ms"},
    )
    rows = [0, 1, 2]
    measurement = replace(
        measured(snapshot),
        widths=cut_short(widths_of(snapshot, rows=rows), 1, (9, 90), (5, 9), 2),
        weighted_widths=widths_of(snapshot, weight=snapshot.weight, rows=rows),
        figures={"effective": effective_of(snapshot, 4.25, error=0.5)},
    )
    out = tmp_path_factory.mktemp("wide")
    return write_reports(
        snapshot, measurement, out, options={}, warnings=[], started=time.time()
    ).path


def url(folder, name="index.html"):
    return (folder / name).as_uri()


def rows(page):
    return page.locator("#list tbody.rows tr")


def test_the_index_opens_from_disk_and_asks_for_nothing_else(page, small):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url(small))
    page.wait_for_selector("#list[data-ready]")
    names = {one.removeprefix(small.as_uri()) for one in asked if not one.startswith("data:")}
    assert names == {
        "/index.html",
        "/hopscope.css",
        "/hopscope.js",
        "/filters.js",
        "/lookup.js",
        "/ases.js",
    }
    assert page.locator("#list tbody.rows tr").count() == 3


def test_hostile_names_are_shown_as_they_are_and_run_nothing(page, small):
    for name in ("index.html", "as/3356.html", "as/64500.html"):
        page.goto(url(small, name))
        page.wait_for_timeout(100)
        assert page.locator("img").count() == 0
        assert page.evaluate("document.querySelectorAll('script:not([src])').length") == 0
    page.goto(url(small, "as/3356.html"))
    assert page.inner_text("h1") == f"AS3356 {HOSTILE}"
    made = page.inner_text("[data-night=made]")
    assert made.startswith("Snapshot ")
    assert page.title().endswith(f" \u00b7 {made.split()[1].rstrip(',')}")
    page.goto(url(small))
    page.wait_for_selector("#list[data-ready]")
    assert page.inner_text("#list tbody.rows tr:has(a[href='as/3356.html']) td.name") == HOSTILE
    assert page.inner_text(".note.warn li") == HOSTILE
    turned = page.locator("#list tbody.rows tr:has(a[href='as/64500.html']) td.name bdi")
    assert turned.inner_text() == "\ufffdgnp.exe\ufffd \ufffd\ufffd[31m"
    page.fill("#find", "<img src=x onerror=")
    assert page.inner_text("#found") == "1 of 3 ASes"


def test_a_script_that_slipped_in_would_not_run(page, small, tmp_path):
    """The pages' policy is a second barrier: only scripts from files next to the page run."""
    text = (small / "index.html").read_text()
    for name in ("hopscope.css", "hopscope.js", "ases.js"):
        (tmp_path / name).write_bytes((small / name).read_bytes())
    slipped = "<script>window.slipped = 1</script><img src=data:, onerror='window.slipped = 2'>"
    (tmp_path / "index.html").write_text(text.replace("<main>", f"<main>{slipped}"))
    page.goto(url(tmp_path))
    page.wait_for_selector("#list[data-ready]")
    assert page.evaluate("window.slipped") is None


@pytest.mark.parametrize("viewport", [PHONE, {"width": 320, "height": 600}], ids=["390", "320"])
def test_no_page_scrolls_sideways_on_a_phone(page, small, large, wide, viewport):
    page.set_viewport_size(viewport)
    for folder, name in (
        (small, "index.html"),
        (small, "as/3356.html"),
        (small, "as/64500.html"),
        (small, "as/64501.html"),
        (large, "index.html"),
        (wide, "index.html"),
        (wide, "as/7.html"),
        (wide, "as/3356.html"),
    ):
        page.goto(url(folder, name))
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"], name


def test_pages_say_something_without_scripts(browser, small):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(url(small))
        assert page.locator("#list tbody tr").count() == 3
        page.click("a[href='as/3356.html']")
        assert page.locator("#ingresses tbody tr").count() == 3
        assert page.locator("svg.hist rect").count() > 3
        # A ring of 12 with a chord: 3 at one hop from router 0, and so on.
        assert page.inner_text("#ingresses tbody tr:first-child td:nth-child(5)") == "3 4 4"
    finally:
        context.close()


TIMED = """([selector, text]) => new Promise(done => {
  const began = performance.now(), at = document.querySelector(selector);
  if (text === null) at.click();
  else { at.value = text; at.dispatchEvent(new Event("input")); }
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""

TO_THE_END = """() => {
  const list = document.querySelector("#list");
  scrollTo(0, list.offsetTop + list.offsetHeight - innerHeight);
}"""

# Whether a row, not an empty space, is below the list's head.
ROW_IN_SIGHT = """() => {
  const head = document.querySelector("#list thead").getBoundingClientRect();
  const at = document.elementFromPoint(300, Math.max(0, head.bottom) + 40);
  return at !== null && at.closest("tr[data-place]") !== null;
}"""


def test_the_list_holds_few_rows_of_fifty_thousand_and_does_not_freeze(page, large):
    page.add_init_script(
        "window.long = 0; new PerformanceObserver(list => list.getEntries().forEach("
        "entry => window.long = Math.max(window.long, entry.duration)))"
        ".observe({entryTypes: ['longtask'], buffered: true})"
    )
    began = time.perf_counter()
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    assert time.perf_counter() - began < 10
    assert page.inner_text("#found") == "50,000 ASes"

    def timed(selector, text=None) -> float:
        """Milliseconds from a click or an entry to the next frame, by the page's own clock."""
        return page.evaluate(TIMED, [selector, text])

    spent = [timed(f"th.{column.key} button") for column in COLUMNS]
    spent += [timed("#find", text) for text in ("4", "network-12", "as777", "nothing at all", "")]
    # A loose limit: shared machines are slow. A list that renders every row takes tens of seconds.
    assert max(spent) < 3000, spent
    for part in (0.1, 0.5, 0.9, 0.99, 0.2):
        page.evaluate(f"scrollTo(0, document.documentElement.scrollHeight * {part})")
        page.wait_for_timeout(60)
        assert 10 < rows(page).count() < 150
        assert page.evaluate(ROW_IN_SIGHT), part
    assert page.evaluate("window.long") < 5000


def first_rows(page, column, n=3):
    cells = page.locator(f"#list tbody.rows td.{column}")
    return [cells.nth(i).inner_text() for i in range(n)]


def test_the_list_sorts_by_any_column_and_back_with_what_has_no_figure_last(page, large):
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    routers = [int(text.replace(",", "")) for text in first_rows(page, "n_nodes", 20)]
    assert routers == sorted(routers, reverse=True)
    page.click("th.asn button")
    assert first_rows(page, "asn") == ["1", "2", "3"]
    page.click("th.asn button")
    assert first_rows(page, "asn") == ["50000", "49999", "49998"]
    assert page.get_attribute("th.asn", "aria-sort") == "descending"
    for _ in range(2):
        page.click("th.mean_hops button")
        assert "\u2013" not in first_rows(page, "mean_hops", 20)
        page.evaluate(TO_THE_END)
        page.wait_for_timeout(60)
        assert page.locator("#list tbody.rows td.mean_hops").last.inner_text() == "\u2013"
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(60)


def test_an_as_is_found_by_number_and_by_name_and_the_address_leads_back(page, large):
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    page.fill("#find", "AS4711")
    assert first_rows(page, "asn", 1) == ["4711"]  # the exact number before 47110 and others
    page.fill("#find", "network-39110 company")
    assert page.inner_text("#found") == "1 of 50,000 ASes"
    page.click("th.name button")
    address = page.url
    assert re.search(r"#q=network-39110%20company&sort=name$", address)
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#list[data-ready]")
    assert page.input_value("#find") == "network-39110 company"
    assert page.inner_text("#found") == "1 of 50,000 ASes"
    assert page.get_attribute("th.name", "aria-sort") == "ascending"
    page.fill("#find", "no such network")
    assert page.is_visible("text=No AS has this number or name.")


def test_keys_lead_through_the_list_and_into_a_page(page, small, large):
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"

    def press(key: str, place: int, times: int = 1) -> None:
        for _ in range(times):
            page.keyboard.press(key)
        page.wait_for_function(
            "place => document.activeElement.closest('tr')?.dataset.place == place", arg=place
        )

    press("ArrowDown", 0)
    press("ArrowDown", 60, times=60)
    press("End", N_ASES - 1)
    press("Home", 0)
    page.goto(url(small))
    page.wait_for_selector("#list[data-ready]")
    page.fill("#find", "64500")
    page.keyboard.press("Enter")
    page.wait_for_url("**/as/64500.html")


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
    assert page.locator(".told > div").count() == 6
    told = page.locator(".told dd > span")
    assert not any(told.nth(i).is_visible() for i in range(6))
    page.hover(".told div:nth-child(4) dd")
    assert [told.nth(i).is_visible() for i in range(6)] == [i == 3 for i in range(6)]
    page.mouse.move(0, 0)
    page.focus(".told div:nth-child(5) button")
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
        "64500 (20), 64501 (20)",
        "64501 (7)",
    ]
    section.locator(".flow a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/64501.html")


def test_a_selected_ingress_is_in_the_address(page, small):
    page.goto(url(small, "as/3356.html"))
    page.click(".flow .ways text:nth-child(2)")
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
        ["13", "64500 (12), 65000 (1)"],
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


def test_the_list_sorts_by_diameter_with_an_interval_at_its_lower_bound(page, wide):
    page.goto(url(wide))
    page.wait_for_selector("#list[data-ready]")
    page.click("th.diameter button")
    assert first_rows(page, "diameter", 4) == ["55", "9\u201390", "1", "\u2013"]
    page.click("th.diameter button")
    assert first_rows(page, "diameter", 4) == ["1", "9\u201390", "55", "\u2013"]
    page.click("th.weighted_diameter button")
    assert first_rows(page, "asn", 4) == ["7", "3356", "64500", "64501"]
    assert first_rows(page, "weighted_diameter", 1)[0].startswith("5,")
    labels = page.locator("#list thead th").all_inner_texts()
    assert {"Diameter", "Radius", "Diam., ms", "Radius, ms"} <= set(labels)


@pytest.mark.parametrize("width", [1440, 1000, 700])
def test_heads_of_the_list_are_not_cut_where_widths_are_shown(page, wide, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(url(wide))
    page.wait_for_selector("#list[data-ready]")
    cut = page.eval_on_selector_all(
        "#list thead th",
        "all => all.filter(th => th.offsetParent && th.scrollWidth > th.clientWidth + 1)"
        ".map(th => th.textContent)",
    )
    assert cut == []


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
    assert "between 9 and 90" in page.inner_text("#width .note.warn")
    assert page.inner_text("h1") == f"AS3356 {HOSTILE}"


def test_every_router_is_one_click_away(page, wide):
    page.goto(url(wide, "as/7.html"))
    link = page.locator("#width a[href='../nodes/7.parquet']")
    assert link.count() == 1
    assert (wide / "as" / "../nodes/7.parquet").exists()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_in_light_and_dark(browser, small, wide, scheme):
    """Contrast of text to its page, as WCAG 2 counts it, is at least 4.5 to 1."""
    context = browser.new_context(color_scheme=scheme)
    try:
        page = context.new_page()
        page.goto(url(small))
        page.wait_for_selector("#list[data-ready]")
        for text in (
            "h1",
            ".opening",
            ".charts h3",
            ".tiles dt",
            "#list td.asn a",
            ".note.warn li",
            ".foot",
        ):
            ratio = page.eval_on_selector(text, CONTRAST)
            assert ratio >= 4.5, (text, ratio)
        page.goto(url(wide, "as/7.html"))
        for text in ("#width h2 small", "#width h3", "#width .path i", "#width .path .gap"):
            ratio = page.eval_on_selector(text, CONTRAST)
            assert ratio >= 4.5, (text, ratio)
    finally:
        context.close()


CONTRAST = """element => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(
    c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  ).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const front = light(parts(getComputedStyle(element).color));
  let at = element, back = [0, 0, 0, 0];
  while (at && (back.length === 4 && back[3] === 0)) {
    back = parts(getComputedStyle(at).backgroundColor);
    at = at.parentElement;
  }
  const [low, high] = [front, light(back)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""
