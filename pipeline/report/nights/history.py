"""How a figure developed over the nights: a small line as inline SVG, without a script.

As in other plots widths are per cent and heights are pixels; colours come from the style sheet.
The dates of the first and the last night begin and end at their points. ``history.js`` draws those
on pages of ASes by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from pipeline.report.nights.series import breaks

_TOP, _FLOOR, _HEIGHT = 6, 54, 72  # pixels
_EDGE = 1  # per cent beside the first and the last point
MIN_SPAN = 0.25  # of the largest value: what the axis spans at least, or noise would look like news
NEAR_ZERO = 10.0  # up to here the axis begins at zero anyway


def axis_of(values: Iterable[float]) -> tuple[float, float]:
    """Where the axis of some values begins and ends, at least one value: from zero if that is near.

    A step from 202 to 201 is no cliff: the axis spans a quarter of the largest value or more.
    """
    low, high = min(values := list(values)), max(values)
    if high <= 0:
        return (low, 0.0) if low < 0 else (0.0, 1.0)
    is_near = low <= high / 2 or high <= NEAR_ZERO
    return (min(low, 0.0) if is_near else min(low, (1 - MIN_SPAN) * high)), high


def history(
    values: Sequence[float | None],
    nights: Sequence[str],
    what: str,
    form: str,
    days: Sequence[float] | None = None,
) -> Markup:
    """Draw one figure of each night, the oldest on the left; where it is unknown there is a gap.

    There is one too where nights are missing (``breaks``).

    Parameters
    ----------
    values : sequence of float or None
    nights : sequence of str
        Names of the nights, as long as ``values``.
    what : str
        What the figure is.
    form : str
        Format of the figure, as in ``format(value, form)``.
    days : sequence of float or None
        When each night was; None: they stand one step apart.

    Returns
    -------
    Markup
        An ``<svg>``; empty if fewer than two nights have the figure.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    low, high = min(known), max(known)
    start, end = axis_of(known)
    days = list(range(len(values))) if days is None else list(days)
    apart = breaks(days)
    whole = days[-1] - days[0] or 1.0
    line, dots, is_drawing = [], [], False
    for i, (value, night) in enumerate(zip(values, nights, strict=True)):
        is_drawing = is_drawing and not apart[i]
        if value is None:
            is_drawing = False
            continue
        x = _EDGE + (days[i] - days[0]) / whole * (100 - 2 * _EDGE)
        y = _FLOOR - (_FLOOR - _TOP) * (value - start) / (end - start)
        line.append(f"{'L' if is_drawing else 'M'}{x:.5g} {y:.4g}")
        is_drawing = True
        said = escape(f"{night}: {value:{form}}")
        dots.append(f'<circle cx="{x:.5g}%" cy="{y:.4g}" r="2.5"><title>{said}</title></circle>')
    axis = f"axis from {float(f'{start:.3g}'):,g}"
    label = escape(
        f"{what} of {len(values)} nights, {nights[0]} to {nights[-1]}: "
        f"from {low:{form}} to {high:{form}}, last {known[-1]:{form}}; {axis}"
    )
    first, last = escape(nights[0]), escape(nights[-1])
    return Markup(
        f'<svg class="history" role="img" aria-label="{label}" width="100%" height="{_HEIGHT}">'
        f'<line x1="0" x2="100%" y1="{_FLOOR + 3}" y2="{_FLOOR + 3}"/>'
        f'<svg viewBox="0 0 100 {_HEIGHT}" preserveAspectRatio="none" width="100%" '
        f'height="{_HEIGHT}"><path d="{"".join(line)}"/></svg>{"".join(dots)}'
        f'<text x="{_EDGE}%" y="{_HEIGHT - 2}">{first}</text>'
        f'<text class="mid" x="50%" y="{_HEIGHT - 2}">{axis}</text>'
        f'<text class="end" x="{100 - _EDGE}%" y="{_HEIGHT - 2}">{last}</text></svg>'
    )
