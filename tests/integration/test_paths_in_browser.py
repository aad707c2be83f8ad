"""Paths of kept traces as people open them from disk: drawn, in tables, and two nights of one."""

from __future__ import annotations

import pytest

from tests.accessibility import findings
from tests.path_nights import (
    ENTRY,
    GONE,
    HOSTILE,
    LABELLED,
    NEW,
    POINTS,
    PRIVATE,
    SILENT_TTL,
    SLOW,
    TARGETS,
    make_nights,
    told,
)
from tests.viewports import DESK, PHONE

pytest_plugins = ("tests.browser",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("paths")
    make_nights(made, "--keep-traces")
    return made


def opened(page, folder, fragment, night="new"):
    """The page of paths at a fragment; what it says."""
    page.goto("about:blank")
    page.goto((folder / "reports" / night / "paths.html").as_uri() + fragment)
    page.wait_for_function(
        "() => !/^(Loading|The paths need)/.test(document.getElementById('said').textContent)"
    )
    return page.inner_text("#said")


def test_each_fragment_shows_as_many_traces_as_the_command_finds(page, folder):
    n = len(POINTS) * len(TARGETS)
    for fragment, words in (
        (f"#address={SLOW}", ("--address", SLOW)),
        (f"#link={ENTRY},{SLOW}", ("--link", f"{ENTRY},{SLOW}")),
        (f"#ingress={ENTRY}", ("--ingress", ENTRY)),
        (f"#target={TARGETS[0]}", ("--target", TARGETS[0])),
        (f"#vantage={POINTS[1]}", ("--vantage-point", POINTS[1])),
    ):
        found = int(told(folder, "traces", "new", *words).said.split(" ", 1)[0])
        assert 0 < found <= 3 * n
        said = opened(page, folder, fragment)
        assert f"{found} kept trace" in said, fragment
        assert page.locator("#shown .bundle").count() == 1
        assert page.locator("#shown .delays").count() == 1
    assert opened(page, folder, "#address=192.0.2.1").startswith("No kept trace showing")
    # A host is on no router.
    to = opened(page, folder, f"#target={TARGETS[0]}")
    assert opened(page, folder, f"#address={TARGETS[0]}") == to


def test_hops_stand_in_columns_by_as_with_their_marks_and_in_a_table(page, folder):
    opened(page, folder, f"#vantage={POINTS[0]}")
    heads = page.locator(".bundle .band > a text, .bundle .band > text:first-of-type")
    names = heads.all_text_contents()
    assert names[1:4] == ["AS1", "AS2", "no answer"] or {"AS1", "AS2", "AS3"} <= set(names)
    places = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('.hop')].map("
        "one => [one.querySelector('title').textContent.split(';')[0],"
        " one.getBoundingClientRect().left]))"
    )
    assert places[PRIVATE] < places[ENTRY] < places[SLOW] < places["no answer"] < places[LABELLED]
    assert page.locator(".hop rect").count() == 1  # private
    assert page.locator(".hop .ring").count() == 1  # labelled
    assert page.locator(".hop.silent").count() == 1
    rows = page.locator("details[open] .hops tbody tr").all_inner_texts()
    cells = [[text.strip() for text in row.split("\t")] for row in rows]
    assert [cell[0] for cell in cells] == [str(ttl) for ttl in range(1, 9)]
    assert cells[0][1] == PRIVATE
    assert "private or shared address" in cells[0][4]
    assert cells[SILENT_TTL - 1][1:] == ["*", "\u2013", "\u2013", "no answer"]
    assert cells[6][1] == LABELLED
    assert "MPLS labels" in cells[6][4]
    assert cells[6][2] == f"AS3 {HOSTILE}"
    assert page.title().startswith("hopscope")
    assert page.locator("#shown img").count() == 0


def test_what_differs_between_two_nights_is_marked(page, folder):
    page.goto((folder / "reports" / "new" / "changes.html").as_uri())
    page.click("text=Paths of both nights side by side")
    page.wait_for_selector("td a")
    page.locator("td a", has_text=POINTS[0]).first.click()
    page.wait_for_selector(".both")
    marked = page.locator(".both tr.differs td:last-child").all_inner_texts()
    assert f"{GONE} went, {NEW} came" in marked
    assert f"{SLOW} RTT +30.0 ms" in marked
    (entry,) = page.locator(".both tbody tr", has_text=ENTRY).all()
    assert not entry.get_attribute("class")  # the same, so nothing is said


def test_a_pair_is_found_behind_those_that_its_target_lists(page, tmp_path):
    names = {f"20.1.9.{i}" for i in range(1, 41)}  # a target lists a dozen traces
    make_nights(tmp_path, "--keep-traces", points=sorted(names))
    for point in ("20.1.9.1", "20.1.9.7", "20.1.9.40"):
        said = opened(page, tmp_path, f"#before=old&vantage={point}&target={TARGETS[1]}")
        assert said.endswith("hops differ from old to new."), said
    said = opened(page, tmp_path, f"#before=old&vantage={POINTS[1]}&target={TARGETS[1]}")
    assert said == f"{POINTS[1]} \u2192 {TARGETS[1]} is not kept in old."


def test_hops_open_the_panel_over_the_paths(page, folder):
    opened(page, folder, f"#address={SLOW}")
    hop = page.locator(f".hop[data-router='{SLOW}']")
    hop.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog.panel dl")
    assert page.url.endswith(f"#address={SLOW}&router={SLOW}")
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.dataset.router") == SLOW
    assert page.url.endswith(f"#address={SLOW}")
    page.locator(f"details[open] td a[data-router='{SLOW}']").click()
    page.wait_for_selector("dialog.panel dl")
    page.locator("dialog.panel a", has_text="Paths through it").click()
    page.wait_for_selector("dialog.panel", state="hidden")


def test_addresses_are_found_however_they_are_written(page, folder):
    assert opened(page, folder, f"#address=::ffff:{SLOW}") == opened(
        page, folder, f"#address={SLOW}"
    )


def test_an_old_night_that_is_not_there_is_said(page, folder):
    said = opened(page, folder, "#before=nowhere")
    assert said == "The report of nowhere is not beside this one, or keeps no paths."


def test_pages_of_ases_lead_to_paths_and_their_files_do_not_show_it(page, folder):
    page.goto((folder / "reports" / "new" / "as" / "2.html").as_uri())
    link = page.locator("#ingresses .paths").first
    assert link.get_attribute("aria-label") == f"Paths of {ENTRY}"
    with page.expect_download() as saved:
        page.locator("section:has(#ingresses) .get").click()
    assert "paths" not in saved.value.path().read_text()
    link.click()
    page.wait_for_selector(".bundle")
    assert page.url.endswith(f"paths.html#ingress={ENTRY}")
    page.goto((folder / "reports" / "new" / "index.html").as_uri())
    page.click("text=Paths")
    page.wait_for_url("**/paths.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_windows_and_is_accessible_by_keyboard_too(browser, folder, scheme):
    for size in (DESK, PHONE):
        page = browser.new_page(viewport=size, color_scheme=scheme)
        opened(page, folder, f"#address={SLOW}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert findings(page) == []
        page.focus("#what")
        page.fill("#what", TARGETS[1])
        page.select_option("#kind", "target")
        page.keyboard.press("Enter")
        page.locator("#said", has_text=TARGETS[1]).wait_for()
        page.close()
