"""The table of ingresses of an AS page, its files and commands, in a real browser."""

from __future__ import annotations

import csv
import io
from collections import defaultdict

import pyarrow.parquet as pq
import pytest

from pipeline.report import write_reports
from tests.accessibility import findings
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.viewports import PHONE

pytest_plugins = ("tests.browser",)

HOSTILE = "=cmd|' /C calc'!A0</script><b>, \"quoted\""
N_INGRESSES, N_NEIGHBORS = 20, 10


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """AS 10 has 20 ingresses and a candidate, from 10 neighbours; the first 4 have pages."""
    neighbors = range(101, 101 + N_NEIGHBORS)
    linked = [10, *neighbors[:4]]
    ingresses = [
        # From all neighbours, some, one or two, so that cells are cut and whole.
        (10, i, sorted({neighbors[(i * k) % N_NEIGHBORS] for k in range(1 + i)}), 100 - i, 1, False)
        for i in range(N_INGRESSES)
    ]
    # One is known to be entered by an exchange point.
    ingresses[1] += (["LINX, 103 (7)"] + [None] * (len(ingresses[1][2]) - 1),)
    snapshot = MemorySnapshot(
        {asn: [(i, i + 1) for i in range(59)] for asn in linked},
        dict.fromkeys(linked, 60),
        [*ingresses, (10, 50, [102, 999], 0, 5, True)],
        names={101: HOSTILE, 102: "Second Company"},
        addrs={asn: [f"198.51.{asn}.{i}" for i in range(60)] for asn in linked},
        exits=[(10, 2, 101, 12), (10, 2, 102, 1200)],
    )
    out = tmp_path_factory.mktemp("as_page")
    return write_reports(
        snapshot, measured(snapshot), out, options={}, warnings=[], started=0.0
    ).path


def traces_by_neighbor(report) -> dict[int, dict[str, int]]:
    """Neighbour -> address of ingress -> traces, from the file."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for row in pq.read_table(report / "ingresses.parquet", filters=[("asn", "==", 10)]).to_pylist():
        for asn, n in zip(row["neighbor_asns"], row["neighbor_n_direct"], strict=True):
            found[asn][row["addr"]] = n
    return found


def opened(page, report, view: str = ""):
    page.goto("about:blank")
    page.goto((report / "as" / "10.html").as_uri() + view)
    return page.locator("#ingresses tbody tr:not(.group)")


def test_a_filter_finds_addresses_neighbours_and_their_names(page, report):
    rows = opened(page, report)
    assert rows.count() == N_INGRESSES + 1
    find = page.locator(".find input")
    find.fill("198.51.10.17")
    assert rows.count() == 1
    assert page.inner_text(".tools [role=status]") == f"1 of {N_INGRESSES + 1}"
    by_neighbor = traces_by_neighbor(report)
    for typed in ("second company", "AS102", "102"):
        find.fill(typed)
        shown = {name.split()[0] for name in rows.locator("td:first-child").all_inner_texts()}
        assert shown == set(by_neighbor[102]), typed
    find.fill("candidate")
    assert rows.count() == 1
    find.fill("no such thing")
    assert rows.all_inner_texts() == ["None has this address or neighbour."]
    find.fill("as104")
    assert opened(page, report, "#find=as104").count() == len(by_neighbor[104])
    assert page.input_value(".find input") == "as104"


def test_by_neighbour_every_trace_of_the_file_is_in_its_group(page, report):
    opened(page, report, "#by=neighbour")
    by_neighbor = traces_by_neighbor(report)
    groups = page.locator("#ingresses tbody:has(.group)")
    order = []
    for at in range(groups.count()):
        head = groups.nth(at).locator("th").inner_text()
        asn = int(head.removeprefix("AS").split()[0])
        cells = groups.nth(at).locator("tr:not(.group) td:last-child").all_inner_texts()
        names = groups.nth(at).locator("tr:not(.group) td:first-child").all_inner_texts()
        pairs = zip(names, cells, strict=True)
        counted = {
            name.split()[0]: int(cell.split("(")[1].rstrip(")")) if "(" in cell else 0
            for name, cell in pairs
        }
        assert counted == by_neighbor[asn]
        total = sum(counted.values())
        n_candidates = sum("candidate" in name for name in names)
        n = len(names) - n_candidates
        by = [f"{n} ingress{'es' * (n != 1)}"] * (n > 0) + ["1 candidate"] * n_candidates
        text = f"{total} trace{'s' * (total != 1)} by " if total else ""
        assert head.endswith(text + " and ".join(by)), head
        order.append((-total, asn))
    assert {asn for _, asn in order} == set(by_neighbor)
    assert order == sorted(order)
    assert page.locator("#ingresses .group a").count() == 4  # of the 10 only these have pages
    page.fill(".find input", "as103")
    assert [text.split()[0] for text in groups.locator("th").all_inner_texts()] == ["AS103"]
    page.uncheck(".by input")
    assert groups.count() == 0
    assert page.url.endswith("#find=as103")


def test_the_selection_holds_while_the_table_is_sorted_and_grouped(page, report):
    rows = opened(page, report, "#ingress=198.51.10.9")
    assert page.locator("#ingresses tr.on").count() == 1
    page.check(".by input")
    assert page.url.endswith("#ingress=198.51.10.9&by=neighbour")
    n_neighbors = sum("198.51.10.9" in of for of in traces_by_neighbor(report).values())
    assert page.locator("#ingresses tr.on").count() == n_neighbors > 1
    page.click("#ingresses th:nth-child(4) button")
    group = page.locator("#ingresses tbody:has(.group)").first
    means = [
        float(text) for text in group.locator("td:nth-child(4)").all_inner_texts() if "." in text
    ]
    assert means == sorted(means, reverse=True)
    other = rows.locator("td:first-child").nth(0).inner_text()
    rows.nth(0).focus()
    page.keyboard.press("Enter")
    assert {
        text.split()[0]
        for text in page.locator("#ingresses tr.on td:first-child").all_inner_texts()
    } == {other}
    page.keyboard.press("Enter")
    assert page.locator("#ingresses tr.on").count() == 0


def downloaded(page, button) -> list[list[str]]:
    with page.expect_download() as found:
        button.click()
    with open(found.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def test_tables_are_downloaded_as_they_are_shown(page, report):
    opened(page, report, "#find=as104")
    rows = downloaded(page, page.locator("section:has(#ingresses) .get"))
    assert rows[0][:4] == ["interface", "also", "note", "reached"]
    table = {
        row["addr"]: row
        for row in pq.read_table(report / "ingresses.parquet").to_pylist()
        if row["asn"] == 10 and 104 in row["neighbor_asns"]
    }
    assert {row[0] for row in rows[1:]} == set(table)
    for row in rows[1:]:
        found = table[row[0]]
        assert row[1:3] == ["", ""]
        assert row[3:5] == [str(found["n_reached"]), str(found["eccentricity"])]
        assert row[5] == f"{found['mean_hops']:.2f}"
        assert sum(map(int, row[6].split())) == found["n_reached"] - 1
        assert row[7:9] == [str(found["n_direct"]), str(found["n_after_gap"])]
    assert downloaded(page, page.locator("#exits .get")) == [
        ["interface", "traces", "to AS"],
        ["198.51.10.2", "1212", "102 (1,200), 101 (12)"],
    ]
    page.fill(".tools input", "candidate")
    (candidate,) = downloaded(page, page.locator("section:has(#ingresses) .get"))[1:]
    assert candidate[2] == "candidate"
    assert "candidate" not in candidate[0]
    neighbors = downloaded(page, page.locator("#neighbors .get"))
    assert f"AS101 {HOSTILE}" in [row[0] for row in neighbors]


def test_no_text_of_a_file_is_a_formula(page, report):
    opened(page, report)
    rows = [[HOSTILE, "+1", "-2", "@SUM(A1)", "\t=1", "\r\n=1", "1,234.5", "\u2013", "a\nb", "x=1"]]
    text = page.evaluate("rows => hopscope.csv(rows)", rows)
    (found,) = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert found == [
        f"'{HOSTILE}", "'+1", "'-2", "'@SUM(A1)", "'=1", "'=1", "1234.5", "", "a\nb", "x=1"
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_table_by_neighbour_is_accessible_and_fits_a_phone(browser, report, scheme):
    context = browser.new_context(color_scheme=scheme, viewport=PHONE)
    try:
        page = context.new_page()
        opened(page, report, "#by=neighbour&ingress=198.51.10.9")
        page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    finally:
        context.close()


def test_paper_shows_rows_and_no_controls(page, report):
    opened(page, report, "#find=as104&by=neighbour")
    page.emulate_media(media="print")
    assert not page.locator(":is(.find, .by, .get)").locator("visible=true").count()
    assert page.locator("#ingresses tr.group").first.is_visible()


def test_on_a_phone_what_is_not_known_of_a_candidate_stands_on_one_line(page, report):
    page.set_viewport_size(PHONE)
    opened(page, report)
    bottoms = page.locator("#ingresses tbody tr:last-child").evaluate("""row =>
      [1, 2, 3, 4].map(i => {
        const text = document.createRange();
        text.selectNodeContents(row.cells[i]);
        return Math.round(text.getBoundingClientRect().bottom);
      })""")
    assert len(set(bottoms)) == 1, bottoms


def test_without_scripts_all_rows_are_there_and_no_dead_control(browser, report):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        assert opened(page, report).count() == N_INGRESSES + 1
        assert page.locator("main :is(button, input)").count() == 6  # the tiles
    finally:
        context.close()
