"""What holds for the index and for pages of ASes, in a real browser: safe, readable, offline."""

from __future__ import annotations

import pytest

from tests.report_folders import HOSTILE, url
from tests.viewports import PHONE

pytest_plugins = ("tests.browser", "tests.report_fixtures")


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
        "/panel.js",
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


def test_a_phone_breaks_no_figure_of_the_inputs(page, small):
    page.set_viewport_size(PHONE)
    page.goto(f"{url(small)}#inputs")
    figure = page.locator(".inputs td", has_text="1,234,567")
    n_lines = """cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getClientRects().length;
    }"""
    assert figure.evaluate(n_lines) == 1
    assert figure.bounding_box()["x"] + figure.bounding_box()["width"] <= PHONE["width"]


def test_a_phone_shows_the_basis_line_by_line_and_all_of_the_inputs(page, small):
    page.set_viewport_size({"width": 320, "height": 600})
    page.goto(f"{url(small)}#inputs")
    heights = page.locator(".facts > div").evaluate_all("each => each.map(e => e.clientHeight)")
    assert len(heights) > 4
    assert max(heights) < 100  # beside one another, a short text had an empty column below it
    inside = """cells => cells.every(cell => {
      const box = cell.getBoundingClientRect(), scroll = cell.closest(".scroll");
      return box.right <= scroll.getBoundingClientRect().right + 1;
    })"""
    assert page.locator(".inputs td").evaluate_all(inside)
    row = page.locator(".inputs tr:has(td)").first
    labels = "cell => getComputedStyle(cell, '::before').content"
    assert row.locator(".r").nth(0).evaluate(labels) == '"records "'
    assert row.locator(".r").nth(1).evaluate(labels) == '"rejected "'


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
