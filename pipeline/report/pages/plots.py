"""Plots as inline SVG that needs no script and no image file.

Widths are per cent and heights are pixels, so that a drawing fills any screen while its text
stays at the size of the page's text. Colours come from the style sheet.
"""

from __future__ import annotations

import math

import numpy as np
from markupsafe import Markup, escape

from pipeline.model.words import number
from pipeline.report.drawing.labels import classes, label
from pipeline.report.texts import share_text, short_number

# More bars than this are drawn as ranges of hops: a path of 10,000 routers has 10,000 levels.
MAX_BARS = 40

_TOP, _FLOOR = 20, 148  # pixels; the style sheet says how high a plot is
_MIN_SLOTS = 10  # few bars stay slim


def bin_counts(counts: np.ndarray, max_bins: int = MAX_BARS) -> tuple[int, np.ndarray]:
    """Merge neighbouring counts until there are few enough.

    Parameters
    ----------
    counts : (n,) int64
    max_bins : int

    Returns
    -------
    int, (n_bins,) int64
        Counts in a bin (1: nothing merged) and the merged counts; bin i holds
        counts[i * width : (i + 1) * width].
    """
    width = max(1, -(-len(counts) // max_bins))
    if width == 1:
        return 1, counts
    return width, np.add.reduceat(counts, np.arange(0, len(counts), width))


def hop_histogram(pairs: np.ndarray) -> Markup:
    """Draw how many routers lie at each hop count.

    Parameters
    ----------
    pairs : (n_levels,) int64
        (ingress, router) pairs by hop count, from 0; hop 0, the ingress itself, is left out.

    Returns
    -------
    Markup
        An ``<svg>``; empty without a pair.
    """
    total = int(pairs.sum())
    if total == 0:
        return Markup("")
    width, bars = bin_counts(pairs[1:])
    what = "hop count" if width == 1 else f"range of {width} hop counts"
    label = f"Share of pairs at each {what}, per cent; 1 to {number(len(pairs) - 1, 'hop')}"
    # What the script needs to lay the distribution of one ingress over it.
    n_slots, highest = max(len(bars), _MIN_SLOTS), int(bars.max())
    data = f" data-width={width} data-slots={n_slots} data-highest={highest / total:.6g}"
    return _drawing(bars, total, [1 + i * width for i in range(len(bars))], label, data)


def eccentricity_histogram(counts: np.ndarray) -> Markup:
    """Draw how many routers have each eccentricity.

    Parameters
    ----------
    counts : (diameter + 1,) int64
        Routers by eccentricity, from 0; what is below the radius is 0 and left out.

    Returns
    -------
    Markup
        An ``<svg>``; empty without a router that has another one.
    """
    if len(counts) < 2 or not counts.any():
        return Markup("")
    low = int(np.flatnonzero(counts)[0])
    width, bars = bin_counts(counts[low:])
    what = "eccentricity" if width == 1 else f"range of {width} eccentricities"
    label = f"Share at each {what}, per cent; {low} to {number(len(counts) - 1, 'hop')}"
    return _drawing(bars, int(counts.sum()), [low + i * width for i in range(len(bars))], label)


def log_histogram(counts: list[int], firsts: list[int], label: str) -> Markup:
    """Draw counts at a logarithmic scale, so that one can be seen beside thousands.

    Parameters
    ----------
    counts : list of int
        One bar each; a bar of 0 is left empty.
    firsts : list of int
        Smallest value that each bar stands for.
    label : str
        What is drawn, for those who cannot see it; untrusted.
    """
    highest = math.log1p(max(counts, default=0)) or 1.0
    heights = [round((_FLOOR - _TOP) * math.log1p(count) / highest, 1) for count in counts]
    above = [short_number(count) if count else "" for count in counts]
    text = escape(
        f"{label}: " + ", ".join(f"{n:,} from {v:,}" for n, v in zip(counts, firsts, strict=True))
    )
    return _bars(heights, above, [short_number(first) for first in firsts], text)


def _drawing(bars: np.ndarray, total: int, firsts: list[int], label: str, data: str = "") -> Markup:
    """Bars with their share above and the first value that they stand for below."""
    highest = int(bars.max())
    # Whole pixels: sharp edges, and what is there at all is seen.
    heights = [
        max(round((_FLOOR - _TOP) * count / highest), 1 if count else 0) for count in bars.tolist()
    ]
    above = [share_text(count, total) for count in bars.tolist()]
    return _bars(heights, above, list(map(str, firsts)), label, data)


def _bars(
    heights: list[float], above: list[str], below: list[str], said: str, data: str = ""
) -> Markup:
    """Bars of some pixels with texts; all texts are markup."""
    n_slots = max(len(heights), _MIN_SLOTS)
    slot = 100 / n_slots
    shown = classes(
        [
            label((i + 0.5) / n_slots, max(pair, key=lambda text: label(0, text)[1]))
            for i, pair in enumerate(zip(above, below, strict=True))
        ]
    )
    parts = []
    for i, (height, top, bottom) in enumerate(zip(heights, above, below, strict=True)):
        middle = f"{(i + 0.5) * slot:.4g}%"
        parts.append(f"<rect x={(i + 0.1) * slot:.4g}% y={_FLOOR - height:g} height={height:g} />")
        if (hide := shown[i]) is not None:
            parts.append(
                f"<text x={middle} y={_FLOOR - height - 5:g}{hide}>{top}</text>"
                f"<text x={middle} y={_FLOOR + 17}{hide}>{bottom}</text>"
            )
    return Markup(
        f'<svg class=hist style=--bar-width:{0.8 * slot:.4g}% role=img aria-label="{said}"{data}>'
        f"<line x1=0 x2=100% y1={_FLOOR} y2={_FLOOR} />{''.join(parts)}</svg>"
    )
