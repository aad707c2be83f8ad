"""Tables of stated and measured confidence, of kinds of networks that the weights never saw.

From benchmarks/results/confidence.json, which ``fit_confidence`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.lib.record import RESULTS
from pipeline.infer.owners.confidence import CLASSES, WEIGHTS
from tests.oracles.truth.tables import markdown

BEYOND = 0.05  # what stated and measured shares may differ by, beside two standard errors
_CALLED = {"address": "addresses", "ingress": "ingresses"}


def is_beyond(row: Mapping[str, Any]) -> bool:
    return abs(row["right"] - row["stated"]) > BEYOND + 2 * row["error"]


def by_class(rows: Sequence[Mapping[str, Any]]) -> str:
    """One row per class: stated and measured share, and kinds of networks beyond."""
    heads = ["class"]
    for what in WEIGHTS:
        heads += [f"{_CALLED[what]}, stated: right", "kinds that differ by more"]
    cells = []
    for name in reversed(CLASSES):
        line = [name]
        for what in WEIGHTS:
            own = [row for row in rows if (row["what"], row["class"]) == (what, name)]
            stated, right = (_mean(own, share) for share in ("stated", "right"))
            line += [f"{stated:.3f}: {right:.3f}", f"{sum(map(is_beyond, own))} of {len(own)}"]
        cells.append(line)
    return markdown(heads, cells)


def by_kind(rows: Sequence[Mapping[str, Any]]) -> str:
    """Ingresses, one row per kind of network: share right of each class, and its error."""
    found = {(row["family"], row["class"]): row for row in rows if row["what"] == "ingress"}
    classes = list(reversed(CLASSES))
    cells = [
        [family, *(_cell(found.get((family, name))) for name in classes)]
        for family in dict.fromkeys(family for family, _ in found)
    ]
    return markdown(["kind that was left out", *classes], cells)


def _mean(rows: Iterable[Mapping[str, Any]], share: str) -> float:
    rows = list(rows)
    return sum(row["n"] * row[share] for row in rows) / sum(row["n"] for row in rows)


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "none"
    said = f"{row['stated']:.3f}: {row['right']:.3f} ± {row['error']:.3f} ({row['n']:,})"
    return f"**{said}**" if is_beyond(row) else said


def recorded_classes() -> str:
    """The short table and its command, of the file that is kept."""
    result = _result()
    networks = f"{result['n_networks']} networks, {result['date'][:10]}:"
    return f"{networks}\n\n```\n{result['command']}\n```\n\n{by_class(result['rows'])}"


def recorded_kinds() -> str:
    """The table of kinds, of the file that is kept."""
    return by_kind(_result()["rows"])


def _result() -> Any:
    return json.loads((RESULTS / "confidence.json").read_text())
