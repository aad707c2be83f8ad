"""Labels of drawings, at widths from a small phone to a desk, in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.report.pages.plots import eccentricity_histogram, hop_histogram, log_histogram
from tests.real_data import REPOSITORY
from tests.unit.pipeline.report.drawing.test_of_ases import drawn

pytest_plugins = ("tests.browser",)

CSS = (REPOSITORY / "pipeline/report/assets/hopscope.css").read_text()

# Pairs of labels that meet, and labels outside of the screen.
MEETING = """() => [...document.querySelectorAll("figure")].flatMap((figure) => {
  const screen = document.documentElement.clientWidth;
  const boxes = [...figure.querySelectorAll("text")]
    .map((text) => [text, text.getBoundingClientRect()]).filter(([text, box]) => box.width);
  const found = boxes.filter(([, box]) => box.left < 0 || box.right > screen);
  boxes.forEach(([text, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    const beside = a.right <= b.left + .5 || b.right <= a.left + .5;
    if (!beside && a.top < b.bottom - 3 && b.top < a.bottom - 3) found.push([text, a]);
  }));
  return found.map(([text]) => `${figure.id}: ${text.textContent}`);
})"""


def figures() -> dict[str, str]:
    made = {}
    for n in (1, 9, 14, 18, 26, 40, 999, 12_000):
        shares = np.random.default_rng(n).integers(1, 100, n + 1) ** 3
        made[f"hops {n}"] = hop_histogram(shares)
        for low in (150, 1500):
            made[f"eccentricity {low} {n}"] = eccentricity_histogram(np.repeat([0, 7], [low, n]))
    for n in (5, 14, 26, 29):
        made[f"log {n}"] = log_histogram(
            [123_456 << i for i in range(n)], [2**i for i in range(n)], ""
        )
    for n in (4, 10, 12, 20, 40, 120, 3000):
        line = [(i, i + 1) for i in range(n - 2)]
        made[f"layers {n}"] = drawn(line, n, [(10, 0, [20], 3, 0, False)])[0].svg
    return made


@pytest.mark.parametrize("width", [320, 390, 640, 800, 1200])
def test_labels_of_drawings_do_not_meet(page, tmp_path, width):
    parts = [f'<section><figure id="{k}">{svg}</figure></section>' for k, svg in figures().items()]
    (tmp_path / "page.html").write_text(
        '<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width">'
        f"<style>{CSS}</style><main>{''.join(parts)}</main>"
    )
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("figure text").count() > 500
    assert page.evaluate(MEETING) == []
