"""How a figure developed over the nights: a small line as inline SVG, without a script.

As in other plots widths are per cent and heights are pixels; colours come from the style sheet.
The dates of the first and the last night begin and end at their points.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

_TOP, _FLOOR, _HEIGHT = 6, 54, 72  # pixels
_EDGE = 1  # per cent beside the first and the last point


def history(values: Sequence[float | None], nights: Sequence[str], what: str, form: str) -> Markup:
    """Draw one figure of each night, the oldest on the left; where it is unknown there is a gap.

    Parameters
    ----------
    values : sequence of float or None
    nights : sequence of str
        Names of the nights, as long as ``values``.
    what : str
        What the figure is.
    form : str
        Format of the figure, as in ``format(value, form)``.

    Returns
    -------
    Markup
        An ``<svg>``; empty if fewer than two nights have the figure.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    low, high = min(known), max(known)
    span = high - low or 1.0
    slot = (100 - 2 * _EDGE) / (len(values) - 1)
    line, dots, is_drawing = [], [], False
    for i, (value, night) in enumerate(zip(values, nights, strict=True)):
        if value is None:
            is_drawing = False
            continue
        x = _EDGE + i * slot
        y = _FLOOR - (_FLOOR - _TOP) * (value - low) / span if high > low else (_TOP + _FLOOR) / 2
        line.append(f"{'L' if is_drawing else 'M'}{x:.5g} {y:.4g}")
        is_drawing = True
        said = escape(f"{night}: {value:{form}}")
        dots.append(f'<circle cx="{x:.5g}%" cy="{y:.4g}" r="2.5"><title>{said}</title></circle>')
    label = escape(
        f"{what} of {len(values)} nights, {nights[0]} to {nights[-1]}: "
        f"from {low:{form}} to {high:{form}}, last {known[-1]:{form}}"
    )
    first, last = escape(nights[0]), escape(nights[-1])
    return Markup(
        f'<svg class="history" role="img" aria-label="{label}" width="100%" height="{_HEIGHT}">'
        f'<line x1="0" x2="100%" y1="{_FLOOR + 3}" y2="{_FLOOR + 3}"/>'
        f'<svg viewBox="0 0 100 {_HEIGHT}" preserveAspectRatio="none" width="100%" '
        f'height="{_HEIGHT}"><path d="{"".join(line)}"/></svg>{"".join(dots)}'
        f'<text x="{_EDGE}%" y="{_HEIGHT - 2}">{first}</text>'
        f'<text class="end" x="{100 - _EDGE}%" y="{_HEIGHT - 2}">{last}</text></svg>'
    )
