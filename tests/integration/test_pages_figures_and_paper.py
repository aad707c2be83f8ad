"""Pages in detail: figures that agree to the digit, printed pages, links and table headings."""

from __future__ import annotations

import html
import re
import time
import zlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.report.pages.html import write_pages
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.tables.summarise import summarise
from pipeline.report.write import write_reports
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.pages.rounding import rounded_once
from tests.unit.pipeline.report.width_data import cut_short, widths_of

pytest_plugins = ("tests.browser",)

N_ASES = 400
DECIMALS = {"mean_hops": 2, "median_hops": 1, "p90_hops": 1}
# Halves that are exact in binary, halves that are not, and one that was rounded twice to 5.01.
AWKWARD = [5.00455, 0.125, 0.375, 2.675, 1.005, 9.995, 2.25, 2.75, 0.05, 0.15, 4.95, 1234.565]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Pages of 400 ASes with figures of every kind, and their table."""
    rng = np.random.default_rng(17)
    asns = range(1, N_ASES + 1)
    snapshot = MemorySnapshot(
        {asn: [(0, 1)] for asn in asns},
        dict.fromkeys(asns, 2),
        [(asn, 0, [asn + 1], 1, 0, False) for asn in asns],
    )
    summary = summarise(snapshot, measured(snapshot))
    ases = summary.ases
    for name in DECIMALS:
        n = rng.integers(1, 5000, N_ASES)
        values = rng.integers(1, 20 * n) / n
        values[: 3 * len(AWKWARD)] = rng.permutation(3 * AWKWARD)
        column = pa.array(values, mask=rng.random(N_ASES) < 0.02)
        ases = ases.set_column(ases.column_names.index(name), name, column)
    out = tmp_path_factory.mktemp("many")
    pq.write_table(ases, out / "ases.parquet")
    run = describe_run(snapshot, summary, version="0", written=0.0)
    pages = replace(summary, ases=ases)
    write_pages(pages, run, out, manifest=snapshot.manifest, warnings=[], busy_share={})
    return out


def test_a_figure_is_rounded_once_and_reads_the_same_everywhere(page, many):
    page.set_viewport_size({"width": 1440, "height": 12_600})  # all rows visible
    page.goto((many / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    rows = page.evaluate(
        "[...document.querySelectorAll('#list tbody.rows tr')].map(row => Object.fromEntries("
        "[...row.cells].map(cell => [cell.className, cell.textContent])))"
    )
    index = {int(row["asn"]): row for row in rows}
    assert len(index) == N_ASES
    for row in pq.read_table(many / "ases.parquet").to_pylist():
        wanted = {name: rounded_once(row[name], n) for name, n in DECIMALS.items()}
        assert {name: index[row["asn"]][name] for name in DECIMALS} == wanted
        markup = (many / "as" / f"{row['asn']}.html").read_text()
        shown = re.search(r"mean hops</button><dd>(.*?)<span", html.unescape(markup)).group(1)
        assert shown == (
            f"{wanted['mean_hops']} "
            f"<small>median\xa0{wanted['median_hops']} · p90\xa0{wanted['p90_hops']}</small>"
        )


@pytest.mark.parametrize(
    ("weight", "diameter", "radius"),
    [
        (0.000617, "0.00123", "0.000617"),
        (6.17e-9, "1.23e-8", "6.17e-9"),
        (61_728.4, "123,457", "61,728.40"),
        (5e9, "1e+10", "5e+9"),
    ],
)
def test_any_width_by_weight_reads_the_same_on_its_page_and_in_the_index(
    page, tmp_path, weight, diameter, radius
):
    snapshot = MemorySnapshot(
        {7: [(0, 1), (1, 2)]}, {7: 3}, [(7, 0, [8], 1, 0, False)], weight=lambda a, b: weight
    )
    weighted = widths_of(snapshot, weight=snapshot.weight)
    out = report(snapshot, tmp_path, weighted_widths=weighted)
    page.goto((out / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    assert page.inner_text("#list td.weighted_diameter") == diameter
    assert page.inner_text("#list td.weighted_radius") == radius
    page.goto((out / "as" / "7.html").as_uri())
    assert page.inner_text("#weighted-width .tiles").split()[1] == diameter


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((0.005087, 0.010173), "0.00508\u20130.02"),
        ((0.07, 99.999), "0.07\u2013100.00"),
        ((99.999, 1234.5), "99.99\u20131,235"),
        ((1.2345e-9, 1.7544e12), "1.23e-9\u20131.76e+12"),
        ((0.0, -1.0), "at least 0.00"),
    ],
)
def test_bounds_by_weight_read_the_same_on_a_page_and_in_the_index(page, tmp_path, bounds, text):
    snapshot = MemorySnapshot(
        {7: [(0, 1), (1, 2)]}, {7: 3}, [(7, 0, [8], 1, 0, False)], weight=lambda a, b: 1.0
    )
    exact = widths_of(snapshot, weight=snapshot.weight)
    out = report(snapshot, tmp_path, weighted_widths=cut_short(exact, 0, bounds, bounds, 1))
    page.goto((out / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    assert page.inner_text("#list td.weighted_radius") == text
    page.goto((out / "as" / "7.html").as_uri())
    assert text in page.inner_text("#weighted-width .tiles")


def report(snapshot, out, **given):
    measurement = replace(measured(snapshot), **given)
    return write_reports(
        snapshot, measurement, out, options={}, warnings=["a <warning>"], started=time.time()
    ).path


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A report with all that pages can have: widths, bounds, candidates, synthetic ASes."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    tail = [(i, i + 1) for i in range(11, 60)]
    snapshot = MemorySnapshot(
        {7: [*ring, *tail, (62, 63)], 3356: [(0, 1), (1, 2), (3, 4), (4, 5)], 64500: [(0, 1)]},
        {7: 66, 3356: 6, 64500: 2},
        [(7, 0, [3356], 9, 0, False), (7, 6, [8], 0, 2, True), (3356, 0, [7], 1, 0, False)],
        names={7: "Ring with a tail"},
        manifest={
            "kind": "mixed",
            "counts": {"n_unmapped": 3},
            "inputs": [
                {"path": "a.warts", "format": "warts", "n_records": 5, "status": "ok"},
                {
                    "path": "b.brite",
                    "format": "brite",
                    "kind": "router",
                    "made_by": "BRITE's model TopDown",
                    "as_ranges": [[7, 7]],
                },
            ],
        },
    )
    widths = cut_short(widths_of(snapshot), 1, (9, 90), (5, 45), 2)
    return report(snapshot, tmp_path_factory.mktemp("full"), widths=widths)


def sheets(pdf: bytes) -> list[int]:
    """Runs of text that each page of a PDF by Chromium shows."""
    objects = dict(re.findall(rb"\n(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL))
    shown = []
    for body in objects.values():
        if re.search(rb"/Type\s*/Page\b", body):
            (content,) = re.search(rb"/Contents (\d+) 0 R", body).groups()
            stream = objects[content].split(b"stream\n", 1)[1].rsplit(b"\nendstream", 1)[0]
            shown.append(len(re.findall(rb"\bT[jJ]\b", zlib.decompress(stream))))
    return shown


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_printed_pages_are_few_and_none_is_blank(page, many, full, paper):
    page.goto((many / "index.html").as_uri())
    page.wait_for_selector("#list[data-ready]")
    for folder, name, most in (
        (many, "index.html", 4),
        (full, "index.html", 2),
        (full, "as/7.html", 4),
        (full, "as/3356.html", 3),
    ):
        page.goto((folder / name).as_uri())
        shown = sheets(page.pdf(format=paper))
        assert 1 <= len(shown) <= most, (name, shown)
        assert min(shown) > 5, (name, shown)


def test_nothing_stands_beside_the_paper_and_names_of_things_are_no_larger_than_they(page, full):
    page.set_viewport_size({"width": 688, "height": 900})  # what A4 leaves
    page.emulate_media(media="print")
    for name in ("index.html", "as/7.html", "as/3356.html", "internet.html"):
        page.goto((full / name).as_uri())
        page.wait_for_timeout(100)
        # A long list of neighbours, and other addresses of a router.
        page.evaluate("""() => document.querySelectorAll("#ingresses tbody tr").forEach(row => {
          row.cells[0].append(" also 198.18.68.25, 198.18.130.61");
          row.lastElementChild.append(", 64496 (378), 64499 (139), 64503 (12)".repeat(3));
        })""")
        assert page.evaluate("document.documentElement.scrollWidth") == 688, name
        too_large = page.evaluate("""() => {
          const size = (one) => parseFloat(getComputedStyle(one).fontSize);
          const all = "main :is(th, dt, figcaption, code, svg text), td bdi";
          return [...document.querySelectorAll(all)]
            .filter(one => size(one) > size(document.body)).map(one => one.outerHTML);
        }""")
        assert too_large == [], name


def test_paper_has_the_first_hundred_ases_as_sorted_and_says_of_how_many(page, many):
    page.goto((many / "index.html").as_uri() + "#sort=-asn")
    page.wait_for_selector("#list[data-ready]")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#list tbody.rows tr").count() == 100
    assert page.locator("#list tbody.rows td.asn").last.inner_text() == str(N_ASES - 99)
    assert page.inner_text(".paper").startswith(f"The first 100 of {N_ASES} ASes")
    assert page.locator("#terms dl").is_visible()  # folded on a screen
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.is_visible(".paper")
    assert not page.locator("#terms dl").is_visible()
    page.eval_on_selector(".window", "box => box.scrollTop = box.scrollHeight / 2")
    page.locator(f"#list tbody.rows tr[data-place='{N_ASES // 2}']").wait_for(state="attached")


def test_no_line_ends_within_the_name_of_an_option(page, full):
    text = (full / "as/7.html").read_text().split("<pre><code>")[1].split("</code>")[0]
    for width in range(320, 420, 7):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((full / "as/7.html").as_uri())
        page.wait_for_function("document.title.includes('\u00b7')")  # night.js was read
        names = page.locator("#provenance .option")
        assert names.all_inner_texts() == re.findall(r"--[a-z]+", text)
        lines = names.evaluate_all("all => all.map(one => one.getClientRects().length)")
        assert set(lines) == {1}, width


# axe-core's rules link-in-text-block and empty-table-header, as far as they concern these pages.
LINKS_BY_COLOUR_ALONE = """() => [...document.querySelectorAll("main a")].filter(link => {
  let block = link;
  while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
  const rest = block.cloneNode(true);
  rest.querySelectorAll("a, script").forEach(other => other.remove());
  const alone = !rest.textContent.trim();
  return !alone && !getComputedStyle(link).textDecorationLine.includes("underline");
}).map(link => link.outerHTML)"""
EMPTY_HEADS = """() => [...document.querySelectorAll("th")].filter(head =>
  !head.textContent.trim() && !head.getAttribute("aria-label")).map(head => head.outerHTML)"""


@pytest.mark.parametrize("name", ["index.html", "as/7.html", "as/3356.html", "as/64500.html"])
def test_links_in_text_are_underlined_and_each_head_of_a_table_has_words(page, full, name):
    page.goto((full / name).as_uri())
    page.wait_for_timeout(100)
    assert page.locator("main a").count() > 0
    assert page.evaluate(LINKS_BY_COLOUR_ALONE) == []
    assert page.evaluate(EMPTY_HEADS) == []
