"""What axe-core says of a page."""

from __future__ import annotations

from importlib import resources

import pytest


def findings(page) -> list[str]:
    """What it finds wrong, by rule.

    Of what is right it names one element a rule: to name all takes longer than to look for faults.
    """
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    page.evaluate(resources.files(axe).joinpath("axe.min.js").read_text())
    found = page.evaluate(
        "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)"
    )
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]
