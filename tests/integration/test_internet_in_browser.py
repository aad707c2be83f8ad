"""The page of all ASes as people open it: the map is drawn, its table sorts, both lead to an AS."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pipeline.model.measured.observations import Steps, Vantages
from pipeline.report.write import write_reports
from tests.accessibility import findings
from tests.addresses import parse_addrs
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser",)

N_ASES = 12
LONG_NAME = "Farther Isles Cooperative Telecommunications, Inc."
HOSTILE = "</script><img src=x onerror=\"alert('2')\">"

# Pixels of the map that are not empty, and those as the node of an AS is painted.
PAINTED = """() => {
  const map = document.getElementById("map"), context = map.getContext("2d");
  const data = context.getImageData(0, 0, map.width, map.height).data;
  let n = 0;
  for (let i = 3; i < data.length; i += 4) n += data[i] > 0;
  return n;
}"""


# Lines that a part of a text takes.
LINES_OF = """(element, part) => {
  const range = document.createRange(), text = element.firstChild;
  range.setStart(text, text.data.indexOf(part));
  range.setEnd(text, text.data.indexOf(part) + part.length);
  return new Set([...range.getClientRects()].map(box => box.top)).size;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A hub of eleven other ASes, the number of which grows with their traces."""
    asns = [100 + 7 * i for i in range(N_ASES)]
    snapshot = MemorySnapshot(
        {asn: [(0, 1)] for asn in asns},
        dict.fromkeys(asns, 2),
        [(asn, 0, [asns[0]], 50 * (i + 1), 0, False) for i, asn in enumerate(asns)],
        names={asns[-1]: HOSTILE, asns[0]: "HUB", asns[1]: LONG_NAME},
    )
    snapshot.of_borders = [(asns[0], asn, 50 + asn) for asn in asns[1:]]
    none = np.zeros(1)
    of = np.zeros(1, np.int32)
    snapshot.of_paths = Steps(of, of - 1, none, of, none, of + 9, none)
    addrs = np.array(
        parse_addrs(["2001:db8:1234:5678:9abc:def0:1234:1", "198.118.230.130"]), np.uint64
    )
    snapshot.of_vantages = Vantages(addrs[:, 0], addrs[:, 1], np.array([100, 4200000000]))
    out = tmp_path_factory.mktemp("internet")
    return write_reports(
        snapshot, measured(snapshot), out, options={}, warnings=[], started=time.time()
    ).path


def opened(page, report):
    page.goto((report / "internet.html").as_uri())
    page.wait_for_function(f"() => document.querySelector('#map[data-ready]') && ({PAINTED})() > 0")


def column(page, place):
    return page.locator(f"#busiest tbody td:nth-child({place})").all_inner_texts()


def test_the_map_is_drawn_from_disk_and_a_click_opens_an_as(page, report):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, report)
    names = {one.removeprefix(report.as_uri()) for one in asked if not one.startswith("data:")}
    assert names == {"/internet.html", "/hopscope.css", "/hopscope.js", "/internet.js"}
    assert page.evaluate(PAINTED) > 1000
    box = page.locator("#map").bounding_box()
    found = None
    for at in range(0, 40 * 28):  # a raster of pointers, until one is on an AS
        x, y = box["x"] + (at % 40 + 0.5) * box["width"] / 40, box["y"] + (at // 40 + 0.5) * 20
        page.mouse.move(x, y)
        if page.locator("#busiest tr.on").count():
            found = page.inner_text("#busiest tr.on td:first-child")
            break
    assert found is not None
    assert page.inner_text("#pointed").startswith(f"AS{found}")
    page.mouse.click(x, y)
    page.wait_for_url(f"**/as/{found}.html")


def test_the_table_sorts_and_leads_to_an_as_and_back(page, report):
    opened(page, report)
    traces = [int(text) for text in column(page, 3)]
    assert traces == sorted(traces, reverse=True)
    assert column(page, 2)[0] == HOSTILE
    page.click("#busiest th:nth-child(5) button")  # linked ASes
    assert column(page, 1)[0] == "100"
    assert column(page, 5)[0] == str(N_ASES - 1)
    page.click("#busiest th:first-child button")
    assert column(page, 1) == [str(100 + 7 * i) for i in range(N_ASES)]
    assert page.get_attribute("#busiest th:first-child", "aria-sort") == "ascending"
    page.focus("#busiest tbody tr:first-child a")
    assert page.inner_text("#pointed").startswith("AS100 HUB: 50 traces, ingresses: 1")
    assert page.inner_text("#pointed").endswith("vantage points: 1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/as/100.html")
    page.click(".brand")
    page.wait_for_url("**/index.html")
    page.click("text=Internet")
    page.wait_for_url("**/internet.html")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["1440", "390"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits(browser, report, scheme, viewport):
    context = browser.new_context(color_scheme=scheme, viewport=viewport)
    try:
        page = context.new_page()
        opened(page, report)
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        hidden = page.eval_on_selector_all(
            "#busiest tbody tr:first-child td, #vantages tbody td",
            "all => all.filter(cell => cell.getBoundingClientRect().width < 8"
            " || cell.getBoundingClientRect().right > innerWidth).length",
        )
        assert hidden == 0
        page.locator("#vantages tr", has_text="2001:").evaluate("row => row.remove()")
        of_ipv4 = page.get_by_role("cell", name="198.118.230.130")
        assert of_ipv4.evaluate(LINES_OF, "198.118.230.130") == 1
        # Words of names are whole, and names take few lines where there is room.
        name = page.locator("#busiest").get_by_text(LONG_NAME)
        assert name.evaluate(LINES_OF, "Cooperative") == 1
        assert name.evaluate(LINES_OF, LONG_NAME) <= (2 if viewport == DESK else 5)
    finally:
        context.close()


def test_without_scripts_the_table_says_it(browser, report):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto((report / "internet.html").as_uri())
        assert page.locator("#busiest tbody tr").count() == N_ASES
        assert not page.is_visible("#map")
        said = page.inner_text("#pointed")
        assert said == "The map needs scripts; the table has its figures."
    finally:
        context.close()


def test_paper_has_its_own_colours_and_no_heading_apart_from_what_it_heads(browser, report):
    context = browser.new_context(color_scheme="dark", viewport=DESK)
    try:
        page = context.new_page()
        opened(page, report)
        assert page.inner_text("#pointed").startswith("Areas are traces")
        grey = """() => {
          const map = document.querySelector("#map"), { data } = map.getContext("2d")
            .getImageData(0, 0, map.width, map.height);
          let n = 0;
          for (let i = 0; i < data.length; i += 4)
            n += [0, 1, 2].every(k => data[i + k] === 0x66) && data[i + 3] === 255;
          return n;
        }"""
        assert page.evaluate(grey) == 0
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate(grey) > 100  # areas of ASes
        page.emulate_media(media="print")
        extremes = page.locator("section", has=page.locator(".facts.one"))
        assert extremes.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(grey) == 0
    finally:
        context.close()
