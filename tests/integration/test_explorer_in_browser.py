"""The explorer in a real browser, on a desk and on a phone, by keyboard, and without findings."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest

from pipeline.explore.server import ExploreServer
from pipeline.explore.session import Session
from tests.accessibility import findings
from tests.real_data import REPOSITORY
from tests.unit.pipeline.stages.test_search import run
from tests.viewports import PHONE

pytest_plugins = ("tests.browser",)

READY_MS = 120_000  # the first jobs start a process, which may have to compile


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    store = tmp_path_factory.mktemp("explored") / "store"
    grid = ("generate", "grid", "--routers", 12, "--cut", 0, "--asn", 7)
    assert run(*grid, "--store", store, "--snapshot", "grid") == 0
    with Session(store) as session, ExploreServer(0, session) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


def start(page, address) -> None:
    page.set_default_timeout(READY_MS)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")


def make(page, routers: int) -> None:
    page.select_option("#model", "degrees")
    page.fill("[name=routers]", str(routers))
    page.check("[name=connected]")
    page.click("#graph .do")
    # The page may name a graph of before that looks alike: wait for the end of the job first.
    page.locator("#graph .do:enabled").wait_for()
    page.locator("#about", has_text=f"degrees: {routers:,} routers").wait_for()


def search(page, algorithm: str, source: str = "", target: str = "") -> None:
    page.select_option("#algorithm", algorithm)
    for end, node in (("source", source), ("target", target)):
        if node:
            page.fill(f"#{end}", node)
    page.click("#search .do")
    page.locator("#search .do:enabled").wait_for()  # it is shown before it is checked


@pytest.mark.parametrize("size", [None, PHONE], ids=["desk", "phone"])
def test_a_graph_is_made_searched_and_drawn(page, address, size):
    if size:
        page.set_viewport_size(size)
    start(page, address)
    assert findings(page) == []
    make(page, 60)
    search(page, "shortest_path", "0", "59")
    page.locator("#result-head", has_text="shortest_path of degrees from 0 to 59").wait_for()
    assert page.inner_text("#text").endswith(" - 59")
    assert page.inner_text("#certificate").startswith("Certificate: no path is shorter")
    assert {"cores", "sequential"} <= set(page.inner_text("#times").split())
    assert page.locator("#picture circle").count() == 60
    assert page.locator("#picture circle.end").count() == 2
    search(page, "bfs", "5")
    page.locator("#result-head", has_text="bfs of degrees from 5").wait_for()
    assert page.locator("#levels tbody tr").count() > 2
    said = page.locator("#history tbody tr:first-child td").all_inner_texts()
    assert said[:2] == ["bfs from 5", "degrees, 60 routers"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert findings(page) == []


@pytest.mark.parametrize("size", [None, PHONE], ids=["desk", "phone"])
def test_names_and_the_history_are_whole(page, address, size):
    if size:
        page.set_viewport_size(size)
    start(page, address)
    page.check("[name=from][value=as]")
    page.fill("#asn", "7")
    page.click("#graph .do")
    page.locator("#about", has_text="AS7 of grid: 12 routers, 17 links").wait_for()
    search(page, "shortest_path", "0", "11")
    page.locator("#result-head", has_text="shortest_path of AS7 of grid from 0 to 11").wait_for()
    page.locator("#rows-note", has_text="Rows 1 to").wait_for()  # until then the page still moves
    boxes = """nodes => nodes.map(node => node.getBoundingClientRect())
                             .map(box => [box.left, box.top, box.right, box.bottom])"""
    (whole,) = page.locator("#picture svg").evaluate_all(boxes)
    names = page.locator("#picture text").evaluate_all(boxes)
    assert len(names) >= 2
    for i, (left, top, right, bottom) in enumerate(names):
        assert whole[0] <= left < right <= whole[2]
        assert whole[1] <= top < bottom <= whole[3]
        for other in names[:i]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    wider = "node => node.scrollWidth - node.clientWidth"
    assert page.locator("#past .scroll").evaluate(wider) <= 0
    assert page.locator("html").evaluate(wider) <= 0


def test_the_keyboard_alone_is_enough(page, address):
    start(page, address)
    page.focus("[name=from]")
    page.keyboard.press("ArrowDown")  # File
    page.keyboard.press("ArrowDown")  # AS
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "snapshot"
    page.locator("#ases option").first.wait_for(state="attached")
    page.keyboard.press("Tab")
    assert page.input_value("#asn") == "7"
    page.keyboard.press("Enter")
    page.locator("#about", has_text="AS7 of grid: 12 routers").wait_for()
    page.locator("#graph .do:enabled").wait_for()  # another test may have loaded it, too
    for _ in range(2):  # past the button of this form
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "algorithm"
    page.keyboard.type("diameter")
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.className") != "do":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#result-head", has_text="diameter of AS7 of grid").wait_for()
    assert page.evaluate("document.activeElement.id") == "result-head"


def test_what_was_entered_wrongly_is_said_in_a_sentence(page, address, tmp_path):
    start(page, address)
    make(page, 60)
    error = page.locator("#error:not([hidden])")
    search(page, "bfs", "0")
    page.locator("#result-head", has_text="bfs of").wait_for()
    page.fill("#source", "")
    for algorithm, source, message in (
        ("bfs", "", "Give a source for bfs: a node or its address"),
        ("bfs", "60", "Source 60 is not a router of degrees; its 60 routers are 0 to 59"),
        ("bfs", "192.0.2.1", "Degrees has no addresses"),
        ("bfs", "x" * 5000, "x \u2026 x"),
        ("bfs", "x" * 100_000, "This is too long: give at most 65,536 characters in all"),
    ):
        search(page, algorithm, source)
        error.filter(has_text=message).wait_for()
        assert page.locator("#result").is_hidden()  # that of the search before
    page.fill("[name=min_degree]", "70")
    page.click("#graph .do")
    error.filter(has_text="Degrees from 70 to 6: give 0 <= smallest <= largest").wait_for()
    page.check("[value=file]")
    page.fill("#path", "/nowhere/a.brite")
    page.click("#graph .do")
    error.filter(has_text="/nowhere/a.brite: no such file on this machine").wait_for()
    page.fill("#path", "nowhere.brite")  # a name keeps its case
    page.click("#graph .do")
    error.filter(has_text="nowhere.brite: no such file on this machine").wait_for()
    assert page.inner_text("#error").startswith("nowhere")
    for path, message in (
        ("~nobody_of_this_name/a.brite", "~nobody_of_this_name/a.brite: no such file"),
        ("x" * 300, "File name too long"),
    ):
        page.fill("#path", path)
        page.click("#graph .do")
        error.filter(has_text=message).wait_for()
    (tmp_path / "a.adj").write_text("1\n0,2\n1\n")
    page.fill("#path", str(tmp_path / "a.adj"))
    page.click("#graph .do")
    page.locator("#about", has_text="a.adj: 3 routers").wait_for()
    search(page, "mst")
    error.filter(has_text="needs weights").wait_for()
    assert page.inner_text("#error").startswith("mst needs")  # as does that of a search


def test_a_long_wrong_word_stays_within_the_page(page, address):
    page.set_viewport_size(PHONE)
    start(page, address)
    make(page, 60)
    search(page, "bfs", "x" * 200)
    page.locator("#error:not([hidden])", has_text="neither a number nor an address").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_second_page_shows_what_the_first_one_loads_when_it_is_looked_at(page, address):
    start(page, address)
    make(page, 60)
    with page.context.new_page() as other:
        start(other, address)
        make(other, 61)
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.locator("#about", has_text="degrees: 61 routers").wait_for()


def test_a_job_can_be_cancelled_and_the_next_one_works(page, address):
    start(page, address)
    make(page, 60)
    page.fill("[name=routers]", "4000000")
    page.click("#graph .do")
    page.click("#cancel")
    page.locator("#error:not([hidden])", has_text="Cancelled").wait_for()
    assert "degrees: 60 routers" in page.inner_text("#about")
    search(page, "components")
    page.locator("#text", has_text="1 component; the largest has 60 routers").wait_for(
        timeout=READY_MS
    )


def test_a_graph_whose_file_is_gone_after_cancelling_is_named(page, address, tmp_path):
    kept, path = tmp_path / "kept.adj", tmp_path / "a.adj"
    assert run("generate", "grid", "--routers", 12, "--out", kept) == 0
    shutil.copy(kept, path)
    start(page, address)
    page.check("[value=file]")
    page.fill("#path", str(path))
    page.click("#graph .do")
    page.locator("#about", has_text="a.adj: 12 routers").wait_for()
    page.check("[value=model]")
    page.fill("[name=routers]", "4000000")
    page.click("#graph .do")
    page.click("#cancel")
    error = page.locator("#error:not([hidden])")
    error.filter(has_text="Cancelled").wait_for()
    path.unlink()
    for _ in range(2):
        search(page, "components")
        message = f"The graph is no longer there: {path}: no such file on this machine"
        error.filter(has_text=message).wait_for()
    shutil.copy(kept, path)
    search(page, "components")
    page.locator("#text", has_text="component").wait_for()


def test_the_command_says_its_address_and_ends_by_a_signal():
    words = [sys.executable, "-m", "pipeline.cli", "explore", "--no-open"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        try:
            address = process.stdout.readline().split()[-1]
            with urllib.request.urlopen(address, timeout=30) as answer:
                assert b"<h1>Explore graphs</h1>" in answer.read()
            process.send_signal(signal.SIGTERM)  # SIGINT is ignored where tests run in background
            assert process.wait(timeout=30) == 128 + signal.SIGTERM
        finally:
            process.kill()


@pytest.mark.parametrize("size", [None, PHONE], ids=["desk", "phone"])
def test_rows_are_filtered_sorted_and_downloaded(page, address, size):
    if size:
        page.set_viewport_size(size)
    start(page, address)
    make(page, 250)
    search(page, "bfs", "7")
    page.locator("#rows-note", has_text="Rows 1 to 100 of 250").wait_for()
    page.click("#later")
    page.locator("#rows-note", has_text="Rows 101 to 200 of 250").wait_for()
    page.locator("#rows th button", has_text="level").click()
    page.locator("#rows th[aria-sort=ascending]").wait_for()
    assert page.locator("#rows tbody tr:first-child td").all_inner_texts()[:2] == ["7", "0"]
    page.fill("#filter", "249")
    page.locator("#rows-note", has_text="Rows 1 to 1 of 1, from 250 in all").wait_for()
    with page.expect_download() as saved:
        page.click("#as-csv")
    lines = saved.value.path().read_text().splitlines()
    assert lines[0].startswith('"node","level"')
    assert len(lines) == 2
    assert page.inner_text("#command").endswith("hopscope search bfs graph.brite --source 7")
    assert findings(page) == []
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0


def test_the_address_of_the_page_keeps_what_was_searched(page, address):
    start(page, address)
    make(page, 40)
    search(page, "bfs", "3")
    kept = page.url
    assert "algorithm=bfs" in kept
    page.goto("about:blank")
    start(page, kept)
    assert page.input_value("#source") == "3"
    assert page.input_value("#algorithm") == "bfs"
    assert page.input_value("[name=routers]") == "40"
    page.goto("about:blank")  # else the page is not loaded again
    start(page, f"{address}#from=nowhere&model=none&algorithm=none")
    assert page.input_value("#model") == "ba"
