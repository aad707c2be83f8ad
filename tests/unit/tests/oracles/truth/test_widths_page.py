"""Tables of the widths of whole ASes."""

from __future__ import annotations

from tests.oracles.truth.widths_page import by_kind


def row(family: str, width: str, held: float, large: float | None) -> dict:
    ends = {"n_large": 0 if large is None else 5, "held_large": large, "equal_large": large}
    known = {"equal": 0.5, "held": held, "hops": 1.5, "hops_large": large}
    return {"family": family, "width": width, "n": 20, **known, **ends}


def test_kinds_have_a_row_each_and_a_mean_of_those_that_are_known():
    widths = ("diameter", "radius")
    rows = [row("plain", width, 0.9, 1.0) for width in widths]
    rows += [row("brite", width, 0.8, None) for width in widths]
    *_, plain, brite, mean = by_kind(rows).splitlines()
    cell = "0.50: 0.90 (1.5) | 0.50: 0.90 (1.5)"
    assert plain == f"| plain | 20 | {cell} | 5 | 1.00: 1.00 (1.0) | 1.00: 1.00 (1.0) |"
    assert brite.endswith("| 0 | none | none |")
    assert mean.startswith("| mean of kinds |  | 0.50: 0.85 (1.5) | ")
    assert mean.endswith("| 1.00: 1.00 (1.0) | 1.00: 1.00 (1.0) |")
