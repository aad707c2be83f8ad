"""Takes the pictures of the docs: ``python -m tests.pictures``, where there is a Chromium.

``report.png`` shows the first AS that the README asks for, ``explore.png`` a path on a graph of
100,000 routers. Take them again after a change of these pages.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from pipeline.cli import main
from pipeline.explore.server import ExploreServer
from pipeline.explore.session import Session
from tests.browser import ARGUMENTS, find_browser
from tests.real_data import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
LAB = REPOSITORY / "data" / "samples" / "lab"
COLOURS = 256  # pages have few: a third of the bytes


def take(page: Page, name: str, height: int | None) -> None:
    """Save what a page shows, of its whole height or less, with few colours."""
    clip = None
    if height is not None:
        size = page.viewport_size or {"width": 0}
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height}
    path = IMAGES / name
    page.screenshot(path=path, clip=clip, full_page=True)  # type: ignore[arg-type]
    with Image.open(path) as image:
        image.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def report(page: Page, folder: Path) -> None:
    """The page of an AS of the sample network."""
    words = ["run", str(LAB), "--store", str(folder / "store"), "--out", str(folder / "reports")]
    words += ["--snapshot", "lab", "--ip2as", str(LAB / "lab.pfx2as")]
    words += ["--as-names", str(LAB / "as_names.json"), "--allow-special", "198.18.0.0/15"]
    try:
        main(words)
    except SystemExit as ended:
        if ended.code:
            raise
    page.set_viewport_size({"width": 1280, "height": 1040})
    page.goto(f"file://{folder}/reports/lab/as/64496.html")
    take(page, "report.png", 1040)


def explore(page: Page) -> None:
    """A shortest path, with all that is shown of it."""
    with Session(None) as session, ExploreServer(0, session) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        page.set_viewport_size({"width": 1100, "height": 900})
        page.goto(server.url)
        page.wait_for_selector("html[data-ready]")
        page.select_option("#model", "ba")
        page.fill("[name=routers]", "100000")
        page.click("#graph .do")
        page.locator("#about", has_text="ba: 100,000 routers").wait_for()
        page.locator("#graph .do:enabled").wait_for()
        page.select_option("#algorithm", "shortest_path")
        page.fill("#source", "70001")
        page.fill("#target", "99999")
        page.uncheck("#compare")  # times of a machine that does other things as well mislead
        page.click("#search .do")
        page.locator("#certificate", has_text="no path is shorter").wait_for()
        page.locator("#search .do:enabled").wait_for()
        page.locator("#rows-note", has_text="Rows 1 to").wait_for()
        take(page, "explore.png", None)
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        page = browser.new_page()
        page.set_default_timeout(300_000)
        report(page, Path(made))
        explore(page)
        browser.close()
