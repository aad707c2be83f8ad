"""The page of a likeness beside its original: the table of figures, degrees and hops."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.files import replaced_whole
from pipeline.model.words import printable
from pipeline.report.pages.html import write_assets
from pipeline.report.pages.plots import hop_histogram, log_histogram
from pipeline.report.pages.templating import environment
from pipeline.report.texts import NONE

PAGE, TABLE = "index.html", "likeness.json"


def write_likeness(
    folder: Path,
    rows: Sequence[dict],
    drawn: Sequence[tuple[str, np.ndarray, np.ndarray]],
    facts: dict[str, str],
) -> Path:
    """Write the page and ``likeness.json`` into a folder, made where it is missing.

    Parameters
    ----------
    folder : Path
    rows : sequence of dict
        figure, law, original, asked, likeness, other_seed.
    drawn : sequence of (str, (n,) int64, (n,) int64)
        Name of a topology, its routers by degree, its pairs of routers by hops.
    facts : dict of str to str
        original, command, version, other_seed.

    Returns
    -------
    Path
        Of the page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawings = [
        (printable(name), _degrees(degrees), hop_histogram(hops)) for name, degrees, hops in drawn
    ]
    text = (
        environment()
        .get_template("likeness.html")
        .render(
            root="",
            rows=[_texts(row) for row in rows],
            drawings=drawings,
            facts={key: printable(value) for key, value in facts.items()},
        )
    )
    write_assets(folder)
    table = json.dumps({**facts, "figures": list(rows)}, indent=1)
    for name, content in ((TABLE, table), (PAGE, text)):
        with replaced_whole(folder / name, durable=False, alone=True) as file:
            file.write(content.encode())
    return folder / PAGE


def _texts(row: dict) -> dict[str, str]:
    values = {key: _text(row[key]) for key in ("original", "asked", "likeness", "other_seed")}
    off = NONE
    if row["asked"] and row["likeness"] is not None:
        off = f"{100 * (row['likeness'] / row['asked'] - 1):+.1f}"
        off = "0" if off in ("+0.0", "-0.0") else f"{off}\u00a0%"
    return {"figure": row["figure"], "law": row["law"], "off": off} | values


def _text(value: float | None) -> str:
    if value is None:
        return NONE
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def _degrees(counts: np.ndarray):
    """Routers by degree, in ranges from powers of 2."""
    n_bins = max(1, math.ceil(math.log2(len(counts) + 1)))
    firsts = [0, *(2**i for i in range(n_bins))]
    ends = [*firsts[1:], 2**n_bins]
    bars = [int(counts[a:b].sum()) for a, b in zip(firsts, ends, strict=True)]
    return log_histogram(bars, firsts, "Routers by degree")
