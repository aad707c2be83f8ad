"""The page of a likeness: every figure, hostile names escaped, the same in JSON."""

from __future__ import annotations

import json

import numpy as np

from pipeline.report.pages.likeness_page import write_likeness

ROWS = [
    {
        "figure": "routers", "law": "kept",
        "original": 1000.0, "asked": 2000.0, "likeness": 2020.0, "other_seed": 2000.0,
    },
    {
        "figure": "mean hops", "law": "aimed at",
        "original": 4.25, "asked": None, "likeness": 5.0, "other_seed": 5.125,
    },
]  # fmt: skip
FACTS = {
    "original": "<script>alert(1)</script>",
    "command": "hopscope generate --like x --seed 1",
    "other_seed": "2",
    "version": "0",
}


def test_the_page_shows_each_figure_and_escapes_names(tmp_path):
    degrees, hops = np.array([0, 5, 3, 0, 1]), np.array([0, 8, 4])
    page = write_likeness(tmp_path / "out", ROWS, [("Original", degrees, hops)], FACTS)
    text = page.read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<td>+1.0\u00a0%<td>1,000<td>2,000<td>2,020<td>2,000" in text
    assert "<td>\u2013<td>4.25<td>\u2013<td>5<td>5.125" in text
    assert "Routers by degree: 0 from 0, 5 from 1, 3 from 2, 1 from 4" in text
    assert json.loads((page.parent / "likeness.json").read_text()) == {**FACTS, "figures": ROWS}
    assert (page.parent / "hopscope.css").exists()
