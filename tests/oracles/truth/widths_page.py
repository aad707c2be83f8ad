"""Tables of the widths of whole ASes, of kinds of networks that the lines never saw.

From benchmarks/results/widths.json, which ``fit_widths`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.lib.record import RESULTS
from tests.oracles.truth.tables import markdown

_HEADS = [
    "kind that was left out",
    "ASes",
    "diameter equal: in range (hops of it)",
    "radius",
    "of five nodes or more",
    "diameter equal: in range (hops of it)",
    "radius",
]


def by_kind(rows: Sequence[dict[str, Any]]) -> str:
    """One row per kind of network, and their mean."""
    found = {(row["family"], row["width"]): row for row in rows}
    cells = []
    for family in dict.fromkeys(row["family"] for row in rows):
        both = [found[family, name] for name in ("diameter", "radius")]
        n, n_large = (f"{both[0][key]:,}" for key in ("n", "n_large"))
        all_of, large = ([_cell(row, end) for row in both] for end in ("", "_large"))
        cells.append([family, n, *all_of, n_large, *large])
    means = [
        [
            _mean([row for row in rows if row["width"] == name], end)
            for name in ("diameter", "radius")
        ]
        for end in ("", "_large")
    ]
    cells.append(["mean of kinds", "", *means[0], "", *means[1]])
    return markdown(_HEADS, cells)


def _cell(row: dict[str, Any], end: str) -> str:
    equal, held, hops = (row[f"{name}{end}"] for name in ("equal", "held", "hops"))
    return "none" if held is None else f"{equal:.2f}: {held:.2f} ({hops:.1f})"


def _mean(rows: Sequence[dict[str, Any]], end: str) -> str:
    known = [row for row in rows if row[f"held{end}"] is not None]
    sums = {
        name + end: sum(row[name + end] for row in known) / len(known)
        for name in ("equal", "held", "hops")
    }
    return _cell(sums, end)


def recorded_widths() -> str:
    """The table and its command, of the file that is kept."""
    result = json.loads((RESULTS / "widths.json").read_text())
    networks = f"{result['n_networks']} networks, {result['date'][:10]}:"
    return f"{networks}\n\n```\n{result['command']}\n```\n\n{by_kind(result['rows'])}"
