"""A real browser for tests; tests that need it are skipped, with the reason, if there is none.

A test module sets ``pytest_plugins = ("tests.browser",)`` and uses ``browser`` or ``page``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from tests.viewports import DESK

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Suggestions of the address bar, pages of their own that would be loaded beside each page of a test
# and take longer than most of these; then those that playwright leaves out, which this replaces.
NOT_NEEDED = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "AimEnabled"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "OptimizationHints", "NetworkTimeServiceQuerying"),
    "SpareRendererForSitePerProcess",  # a process started beside that of each page
)

# Headless, in a container, and silent: nothing but the pages under test is loaded.
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(NOT_NEEDED)}",
]


def find_browser() -> str | None:
    """Path of a Chromium or Chrome: ``HOPSCOPE_BROWSER``, else the first on PATH, else None."""
    named = os.environ.get("HOPSCOPE_BROWSER")
    if named:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None)


PATIENCE_MS = 120_000  # for whatever a page is to do; machines that run tests may be busy


def _patient(make: Callable) -> Callable:
    """The function, whose contexts or pages wait that long instead of half a minute."""

    def patient(**given):
        made = make(**given)
        made.set_default_timeout(PATIENCE_MS)
        return made

    return patient


@contextlib.contextmanager
def _launched() -> Iterator:
    path = find_browser()
    if path is None:
        pytest.skip(f"no browser on PATH (looked for {', '.join(NAMES)})")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("playwright is not installed, so no browser can be driven")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        started.new_context = _patient(started.new_context)
        started.new_page = _patient(started.new_page)
        yield started
        started.close()


_open = contextlib.ExitStack()  # the browser, as long as one module after another uses it
_started: list = []


# The loop that playwright keeps running in this thread must be gone when another module calls
# asyncio.run().
@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem) -> Iterator:
    """Close the browser after the last of the modules that use it one after another."""
    try:
        return (yield)
    finally:
        module = getattr(nextitem, "module", None)
        if __name__ not in getattr(module, "pytest_plugins", ()):
            _started.clear()
            _open.close()


@pytest.fixture(scope="module")
def browser():
    """A headless browser (playwright's ``Browser``), one for modules that follow each other."""
    if not _started:
        _started.append(_open.enter_context(_launched()))
    return _started[0]


@contextlib.contextmanager
def _watched(page) -> Iterator:
    """The page; the test fails when a script of it throws or a dialog opens."""
    troubles: list[str] = []

    def throw(error) -> None:
        troubles.append(f"script error: {error}")

    def close(dialog) -> None:
        troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("pageerror", throw)
    page.on("dialog", close)
    yield page
    page.goto("about:blank")
    page.remove_listener("pageerror", throw)
    page.remove_listener("dialog", close)
    assert not troubles, troubles


# A page of its own takes a process of its own, and that a fifth of a second of a core.
@pytest.fixture(scope="module")
def _window(browser) -> Iterator:
    with browser.new_context(viewport=DESK) as context:
        yield context.new_page()


@pytest.fixture
def page(_window) -> Iterator:
    """An empty page 1440 wide that fails the test when a script throws or a dialog opens.

    Tests of a module use one after another. One that adds scripts to it takes ``fresh_page``.
    """
    _window.mouse.move(0, 0)
    _window.set_viewport_size(DESK)
    _window.emulate_media(media="null")
    with _watched(_window) as page:
        yield page


@pytest.fixture
def fresh_page(browser) -> Iterator:
    """The same, but used by no other test."""
    with browser.new_context(viewport=DESK) as context, _watched(context.new_page()) as page:
        yield page
