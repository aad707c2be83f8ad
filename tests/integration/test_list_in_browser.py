"""The list of all ASes as people open it: from disk, in a real browser, at any size."""

from __future__ import annotations

import itertools
import re

import pytest

from pipeline.report.pages.index_page import COLUMNS
from tests.report_folders import N_ASES, url
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser", "tests.report_fixtures")


MOST_ROWS = 150  # in the document, and put there at once


def rows(page):
    return page.locator("#list tbody.rows tr")


# Rows put into the document since a page was opened, however long each stays there.
COUNTS_ROWS = """
window.nAdded = 0;
new MutationObserver(changes => changes.forEach(change => change.addedNodes.forEach(node => {
  if (node.nodeType === Node.ELEMENT_NODE)
    window.nAdded += node.matches("tr") + node.querySelectorAll("tr").length;
}))).observe(document, { childList: true, subtree: true });
"""

# How many rows a click or an entry puts there until the next frame.
ADDED = """([selector, text]) => new Promise(done => {
  const before = window.nAdded, at = document.querySelector(selector);
  if (text === null) at.click();
  else { at.value = text; at.dispatchEvent(new Event("input")); }
  requestAnimationFrame(() => setTimeout(() => done(window.nAdded - before)));
})"""


TO_THE_END = """() => {
  const list = document.querySelector(".window");
  list.scrollTop = list.scrollHeight;
}"""


# Whether a row, not an empty space, is below the list's head.
ROW_IN_SIGHT = """() => {
  document.querySelector(".window").scrollIntoView();
  const head = document.querySelector("#list thead th").getBoundingClientRect(); // it sticks
  const at = document.elementFromPoint(300, Math.max(0, head.bottom) + 40);
  return at !== null && at.closest("tr[data-place]") !== null;
}"""


def test_the_list_renders_few_rows_of_fifty_thousand_whatever_is_done(fresh_page, large):
    """A list that renders every row freezes; how long each step takes: benchmarks/bench_list.py."""
    page = fresh_page
    page.add_init_script(COUNTS_ROWS)
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    assert 10 < page.evaluate("window.nAdded") < MOST_ROWS
    assert page.inner_text("#found") == "50,000 ASes"

    def added(selector, text=None) -> int:
        return page.evaluate(ADDED, [selector, text])

    counts = [added(f"th.{column.key} button") for column in COLUMNS]
    counts += [added("#find", text) for text in ("4", "network-12", "as777", "nothing at all", "")]
    assert 10 < max(counts) < MOST_ROWS, counts
    for part in (0.1, 0.5, 0.9, 0.99, 0.2):
        page.eval_on_selector(".window", f"box => box.scrollTop = box.scrollHeight * {part}")
        page.wait_for_function(ROW_IN_SIGHT)
        assert 10 < rows(page).count() < MOST_ROWS


@pytest.mark.parametrize("viewport", [DESK, PHONE])
def test_the_page_is_no_taller_for_more_ases(page, small, large, viewport):
    """3,000 rows under each other were 91,000 pixels, and terms, inputs and files below them."""
    page.set_viewport_size(viewport)
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * viewport["height"]
    box = page.locator(".window")
    assert box.bounding_box()["height"] < viewport["height"]
    before = "one => one.compareDocumentPosition(document.querySelector('#list')) & 4"
    for fold in ("terms", "inputs", "files"):
        assert page.eval_on_selector(f"#{fold}", before), fold
        page.click(f"#{fold} summary")
        assert page.locator(f"#{fold} :is(dl, ul, p)").first.is_visible()
    page.goto("about:blank")
    page.goto(f"{url(small)}#terms")
    assert page.locator("#terms dl").is_visible()  # where pages of ASes lead


def test_columns_are_chosen_and_the_address_keeps_them(page, large):
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")

    def shown() -> list[str]:
        return page.locator("#list thead th").locator("visible=true").all_inner_texts()

    page.click(".chooser summary")
    for key in ("name", "median_hops", "status"):
        page.uncheck(f".chooser input[value={key}]")
    assert len(shown()) == len(COLUMNS) - 3
    page.keyboard.press("Escape")
    assert not page.locator(".chooser input").first.is_visible()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.click("th.asn button")
    address, left = page.url, shown()
    assert re.search(r"#sort=asn&columns=n_nodes,n_edges,", address)
    assert rows(page).first.locator("td").count() == len(left)
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#list[data-ready]")
    assert shown() == left
    assert first_rows(page, "n_nodes", 1)[0]
    with page.expect_download() as saved:  # all rows with all columns, whatever is shown
        page.click("text=Download as CSV")
    lines = saved.value.path().read_text().splitlines()
    assert len(lines) == N_ASES + 1
    assert lines[0].count(",") >= len(COLUMNS) - 1
    page.goto(f"{url(large)}#columns=nothing,%3Cb%3E")
    page.reload()
    page.wait_for_selector("#list[data-ready]")
    assert shown() == ["AS"]


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
        last = page.locator(f"#list tbody.rows tr[data-place='{N_ASES - 1}'] td.mean_hops")
        assert last.inner_text() == "\u2013"
        page.eval_on_selector(".window", "box => box.scrollTop = 0")
        page.locator("#list tbody.rows tr[data-place='0']").wait_for()


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
    # Chromium sometimes lays out the page when the row with the focus is removed; here always.
    page.evaluate("addEventListener('focusout', () => document.body.offsetHeight)")

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
    page.evaluate("document.activeElement.closest('tr').dataset.before = 'yes'")
    page.set_viewport_size(PHONE)  # rows are made again
    page.wait_for_function("() => !document.querySelector('tr[data-before]')")
    assert page.evaluate("document.activeElement.closest('tr')?.dataset.place") == "0"
    page.goto(url(small))
    page.wait_for_selector("#list[data-ready]")
    page.fill("#find", "64500")
    page.keyboard.press("Enter")
    page.wait_for_url("**/as/64500.html")


def test_the_list_sorts_by_diameter_with_an_interval_at_its_lower_bound(page, wide):
    page.goto(url(wide))
    page.wait_for_selector("#list[data-ready]")
    page.click("th.diameter button")
    assert first_rows(page, "diameter", 4) == ["55", "9\u201320", "1", "\u2013"]
    page.click("th.diameter button")
    assert first_rows(page, "diameter", 4) == ["1", "9\u201320", "55", "\u2013"]
    page.click("th.weighted_diameter button")
    assert first_rows(page, "asn", 4) == ["7", "3356", "64500", "64501"]
    assert first_rows(page, "weighted_diameter", 1)[0].startswith("5,")
    labels = page.locator("#list thead th").all_inner_texts()
    assert {"Diameter", "Radius", "Diam., ms", "Radius, ms"} <= set(labels)


# What is wrong with the list: columns without a head or figure in sight, cut ones, too tall rows.
# In one step: a change of the window makes rows again.
FAULTS = """() => {
  const list = document.querySelector("#list"), rows = [...list.querySelectorAll("tbody.rows tr")];
  const seen = (cell) => cell.getClientRects().length > 0;
  const wider = (one) => one.scrollWidth > one.clientWidth + 1;
  const cells = [...list.querySelectorAll("thead th, tbody.rows td")].filter(seen);
  return [
    ...[...rows[0].cells].filter(cell => cell.textContent && !seen(cell)),
    ...cells.filter(cell => !cell.classList.contains("name") && wider(cell)),
    ...rows.filter(row => wider(row) || row.scrollHeight > row.clientHeight + 1),
    ...[document.documentElement].filter(page => page.scrollWidth > innerWidth),
  ].map(one => `${one.tagName} ${one.className} ${one.textContent.slice(0, 80)}`);
}"""


# The longest word and number that the first row may have; below 360 a number of ten digits
# would leave a long name no room.
LONGEST = """
  const first = (what) => document.querySelector(`#list tbody.rows td.${what}`);
  first("status").textContent = "partial";
  first("status").classList.add("bad");
  if (innerWidth >= 360) first("asn").querySelector("a").textContent = "4200000001";
  document.querySelector("#list").style.setProperty("--digits", 10);
"""


def test_on_a_phone_a_weighted_figure_has_its_unit(page, wide):
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(url(wide))
    label = "cell => getComputedStyle(cell, '::before').content"
    first = page.locator("#list tbody.rows td.weighted_diameter").first
    assert first.evaluate(label) == '"Diam., ms "'
    page.wait_for_selector("#list[data-ready]")
    assert first.evaluate(label) == '"Diam., ms "'


@pytest.mark.parametrize("folder", ["large", "wide"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_the_list_shows_every_column_at_every_width(page, request, folder, media):
    page.emulate_media(media=media)
    page.goto(url(request.getfixturevalue(folder)))
    page.wait_for_selector("#list[data-ready]")
    assert page.locator("#list thead th").count() == {"large": 12, "wide": 16}[folder]
    widths = (320, 360, 390, 641, 820, 960, 961, 1024, 1279, 1280, 1440, 1920)
    for width in widths if media == "screen" else (688,):  # that of A4
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(f"() => {{ {LONGEST} return ({FAULTS})(); }}") == [], width


def test_without_scripts_the_heads_of_columns_stand_apart(browser, small):
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1000, "height": 900}
    )
    page = context.new_page()
    page.goto(url(small))
    heads = page.locator("#list thead th")
    sides = heads.evaluate_all("""all => all.map(head => {
        const text = document.createRange();
        text.selectNodeContents(head);
        const { left, right } = text.getBoundingClientRect();
        return [left, right];
    })""")
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(sides)]
    assert min(gaps) >= 3, gaps
    # What needs scripts is not offered.
    assert not page.locator("main :is(input, select)").locator("visible=true").count()
    context.close()


def test_without_scripts_no_head_of_a_column_is_cut(browser, wide):
    context = browser.new_context(java_script_enabled=False, viewport=DESK)
    page = context.new_page()
    page.goto(url(wide))
    cut = page.locator("#list thead th").evaluate_all("""all => all.filter(head => {
        const text = document.createRange(), cell = head.getBoundingClientRect();
        text.selectNodeContents(head);
        const { left, right, bottom } = text.getBoundingClientRect();
        const hides = getComputedStyle(head).overflow !== "visible";
        return hides && head.scrollWidth > head.clientWidth
          || left < cell.left || right > cell.right || bottom > cell.bottom;
    }).map(head => head.textContent)""")
    assert cut == []
    context.close()


@pytest.mark.parametrize("width", [390, 800])
def test_figures_of_a_narrow_list_begin_below_number_and_name(page, large, width):
    page.goto(url(large))
    page.wait_for_selector("#list[data-ready]")
    page.click("th.asn button")
    page.set_viewport_size({"width": width, "height": 900})
    beside = """rows => rows.map(row => [".asn", ".n_nodes"].map(
      name => row.querySelector(name).getBoundingClientRect())
    ).filter(([number, figure]) => figure.top < number.bottom - 2).length"""
    assert page.eval_on_selector_all("#list tbody.rows tr:not([hidden])", beside) == 0


@pytest.mark.parametrize("folder", ["large", "wide"])
def test_names_have_the_room_that_figures_leave(page, request, folder):
    page.set_viewport_size(DESK)
    page.goto(url(request.getfixturevalue(folder)))
    page.wait_for_selector("#list[data-ready]")
    in_ems = """head => {
      const size = parseFloat(getComputedStyle(head).fontSize);
      return head.getBoundingClientRect().width / size;
    }"""
    assert page.eval_on_selector("#list th.name", in_ems) > 20
