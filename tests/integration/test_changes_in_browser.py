"""The page of a comparison, whose rows and events open their changes, in a real browser."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pipeline.compare.changes import make_changes
from pipeline.compare.events import group_events
from pipeline.model.columns import concat
from pipeline.report.comparison import write_comparison
from pipeline.report.pages.opened_changes import SHARD
from tests.accessibility import findings
from tests.unit.pipeline.report.nights.test_as_histories import night
from tests.unit.pipeline.report.test_comparison import EVIL
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser",)

N = SHARD + 300
V4 = np.uint64(0xFFFF_0000_0000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report of AS7 and AS12, and what changed: an ingress moved, links nobody saw, growth."""
    out = tmp_path_factory.mktemp("changes")
    for n, name in enumerate(("2026-11-20", "2026-11-21"), 3):
        night(out, name, n)
    first = 1000  # MemorySnapshot names nodes so where it has no addresses
    moved = make_changes(
        1, "ingress", kind="moved", asn=7, other_asn=12, addr_high=7, addr_low=first + 1,
        other_high=7, other_low=first, group=1, other_group=2, n_pairs=90, n_traces=90,
    )  # fmt: skip
    cut = make_changes(
        1, "link", kind="removed", asn=7, other_asn=12, addr_high=V4, addr_low=V4 + np.uint64(9),
        other_low=V4 + np.uint64(8), group=3, other_group=4, n_pairs=50, n_traces=50,
    )  # fmt: skip
    unseen = make_changes(
        N, "link", kind="not observable", asn=np.arange(N) % 50 + 100, reason=EVIL,
        addr_low=V4 + np.arange(N).astype(np.uint64), n_traces=np.arange(N),
    )  # fmt: skip
    grew = make_changes(1, "routers", kind="grew", asn=7, old=100, new=160, reason="60 more")
    grouped = group_events(concat([moved, cut, unseen, grew]))
    return write_comparison(out, "2026-11-20", "2026-11-21", *grouped, {}, kind="interface").folder


def opened(page, folder, part=""):
    page.goto("about:blank")
    page.goto(f"{(folder / 'changes.html').as_uri()}{part}")
    if part:
        page.wait_for_selector("#opened[data-ready]")


def rows(page):
    return page.locator("#opened tbody tr")


def test_a_row_of_all_changes_opens_them_by_pages_with_a_filter_and_as_a_file(page, folder):
    opened(page, folder)
    assert not page.is_visible("#opened")
    page.locator("tr", has_text="not observable").locator("a").first.click()
    page.wait_for_selector("#opened[data-ready]")
    assert page.evaluate("document.activeElement.textContent").startswith("link not observable")
    assert rows(page).count() == 100
    assert f"1\u2013100 of {N:,}" in page.inner_text("#opened output")
    assert rows(page).first.locator("td").nth(2).inner_text() == f"{N - 1:,}"  # most traces first
    page.click("#opened >> text=Next")
    page.wait_for_function(
        "() => document.querySelector('#opened output').textContent.startsWith('101')"
    )
    assert "page=2" in page.url
    page.fill("#opened input", "AS149")
    page.wait_for_function(
        "() => document.querySelector('#opened output').textContent.includes('of 46')"
    )
    assert "find=AS149" in page.url
    with page.expect_download() as saved:
        page.click("#opened >> text=Download as CSV")
    lines = list(csv.reader(saved.value.path().read_text().splitlines()))
    assert lines[0][:4] == ["what", "kind", "AS", "address"]
    assert len(lines) == 47
    assert {line[2] for line in lines[1:]} == {"149"}
    address = page.url
    opened(page, folder, "#" + address.split("#")[1])
    assert "of 46" in page.inner_text("#opened output")
    page.click("#opened >> text=Close")
    page.wait_for_selector("#opened", state="hidden")


def test_an_event_opens_its_changes_which_lead_to_routers_and_ases(page, folder):
    opened(page, folder)
    page.locator("#event-0 a").click()
    page.wait_for_selector("#opened[data-ready]")
    text = page.inner_text("#opened")
    assert text.startswith("Event 1: ")
    assert page.inner_text("#event-0 bdi") in text
    hrefs = page.locator("#opened tbody a").evaluate_all(
        "all => all.map(a => a.getAttribute('href'))"
    )
    assert "as/7.html" in hrefs
    assert any(href.startswith("as/7.html#router=") for href in hrefs)
    opened(page, folder, "#event-0")  # as pages of before lead here
    assert page.inner_text("#opened h2").startswith("Event 1")
    assert page.inner_text("#grown tbody tr").split("\t")[:6] == [
        "7", "interfaces", "100", "160", "+60", "+60 %",
    ]  # fmt: skip


def test_the_page_of_an_as_marks_what_is_new_and_lists_what_is_gone(page, folder):
    page.goto((folder / "as" / "7.html").as_uri())
    page.wait_for_selector("#history[data-ready]")
    listed = page.inner_text("#changes dl")
    assert "ingress, gone" in listed
    assert "ingress, new" in listed
    assert page.locator("#ingresses tbody tr .tag", has_text="new").count() == 1
    assert "link, gone" in listed
    assert "interfaces 100" in page.inner_text("#changes")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE])
def test_everyone_can_read_it(fresh_page, folder, viewport, scheme):
    page = fresh_page
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=scheme)
    opened(page, folder, "#what=link&kind=not%20observable")
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
