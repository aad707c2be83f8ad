"""Charts as SVG files that need no library: lines on logarithmic axes, and spans on one.

Sizes are pixels of a drawing WIDTH wide; a page scales it. The background is white, so that the
text is readable on a dark page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 920
_LEFT, _TOP = 64, 56  # of the plotting area of lines
_LEGEND = 296  # right of it
_HEIGHT = 430
_BOTTOM = 52
_ROW = 21  # of spans
COLORS = (
    "#0b57d0",
    "#0c8599",
    "#d9480f",
    "#9c36b5",
    "#2b8a3e",
    "#74b816",
    "#868e96",
    "#c2255c",
    "#7a5c00",
    "#212529",
)
_INK, _GRAY, _PALE = "#212529", "#5c636a", "#dee2e6"
_MARKS = ("circle", "square", "diamond", "triangle")


@dataclass(frozen=True)
class Line:
    """A named curve: points (x, y), both above 0, in the color of that number."""

    name: str
    points: Sequence[tuple[float, float]]
    color: int
    is_ours: bool = False  # drawn bold
    dashed: bool = False


@dataclass(frozen=True)
class Span:
    """A measured value, and the two between which a model puts it (or the value alone)."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    is_ours: bool = False


def line_chart(title: str, x_name: str, y_name: str, lines: Sequence[Line]) -> str:
    """Curves on two logarithmic axes, with a legend in the order of their last values."""
    lines = sorted(lines, key=lambda line: -line.points[-1][1])
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    right, floor = WIDTH - _LEGEND, _HEIGHT - _BOTTOM
    x_axis = _Axis(min(xs), max(xs), _LEFT, right)
    y_axis = _Axis(min(ys), max(ys), floor, _TOP, decades=True)
    parts = [_text(_LEFT, 18, title, weight="bold"), _text(_LEFT, 40, y_name)]
    for tick in y_axis.ticks():
        y = y_axis(tick)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="{_PALE}"/>')
        parts.append(_text(_LEFT - 8, y + 4, number(tick), anchor="end"))
    free = 0.0  # where the next number may begin
    for tick in sorted(set(xs)):
        x = x_axis(tick)
        parts.append(f'<path d="M{x:.1f} {floor}v5" stroke="{_INK}"/>')
        half = 4 * len(number(tick))
        if x - half >= free:
            parts.append(_text(x, floor + 19, number(tick), anchor="middle"))
            free = x + half + 4
    parts.append(f'<path d="M{_LEFT} {floor}H{right}" stroke="{_INK}"/>')
    parts.append(_text((_LEFT + right) / 2, floor + 41, x_name, anchor="middle"))
    for i, line in enumerate(lines):
        color = COLORS[line.color % len(COLORS)]
        mark = _MARKS[i % len(_MARKS)]
        dash = ' stroke-dasharray="7 4"' if line.dashed else ""
        places = [(x_axis(x), y_axis(y)) for x, y in sorted(line.points)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        stroke = f'stroke="{color}" stroke-width="{3 if line.is_ours else 1.5}"{dash}'
        parts.append(f'<path d="M{path}" fill="none" {stroke}/>')
        parts += [_mark(mark, x, y, color) for x, y in places]
        y = _TOP + 8 + 23 * i
        parts.append(f'<path d="M{right + 18} {y - 4}h26" {stroke}/>')
        parts.append(_mark(mark, right + 31, y - 4, color))
        weight = "bold" if line.is_ours else "normal"
        parts.append(_text(right + 51, y, line.name, weight=weight))
    return _svg(title, max(_HEIGHT, _TOP + 23 * len(lines) + 12), parts)


def span_chart(title: str, x_name: str, groups: Sequence[tuple[str, Sequence[Span]]]) -> str:
    """A dot per value on one logarithmic axis, grouped, with a bar for what a model expects."""
    spans = [span for _, members in groups for span in members]
    known = [v for s in spans for v in (s.value, s.low, s.high) if v is not None]
    left, right = 260, WIDTH - 78
    axis = _Axis(min(known), max(known), left, right, decades=True)
    floor = _TOP + sum(_ROW * (len(members) + 1.4) for _, members in groups)
    parts = [_text(20, 18, title, weight="bold"), _text(left, 40, x_name)]
    for tick in axis.ticks():
        x = axis(tick)
        parts.append(f'<path d="M{x:.1f} {_TOP}V{floor:.1f}" stroke="{_PALE}"/>')
        parts.append(_text(x, floor + 17, number(tick), anchor="middle"))
    y = float(_TOP)
    for heading, members in groups:
        y += _ROW
        parts.append(_text(20, y, heading, weight="bold"))
        for span in members:
            y += _ROW
            color = COLORS[0] if span.is_ours else _GRAY
            parts.append(_text(left - 12, y, span.name, anchor="end"))
            x = axis(span.value)
            if span.low is not None and span.high is not None:
                low, high = axis(span.low), axis(span.high)
                parts.append(
                    f'<rect x="{low:.1f}" y="{y - 9:.1f}" width="{high - low:.1f}" height="10" '
                    f'fill="#a5d8ff" rx="3"/>'
                )
            else:
                parts.append(
                    f'<path d="M{left} {y - 4:.1f}H{x:.1f}" stroke="{color}" stroke-width="2"/>'
                )
            parts.append(_mark("circle", x, y - 4, color))
            parts.append(_text(right + 12, y, number(span.value), color=color))
        y += 0.4 * _ROW
    return _svg(title, round(floor + 30), parts)


class _Axis:
    """Place of a value on a logarithmic axis from pixel ``start`` to pixel ``stop``."""

    def __init__(
        self, least: float, most: float, start: float, stop: float, *, decades: bool = False
    ):
        low, high = math.log10(least), math.log10(most)
        if decades:
            low, high = math.floor(low + 1e-9), math.ceil(high - 1e-9)
        margin = 0 if decades else 0.03 * max(high - low, 1)
        self.low, self.high = low - margin, high + margin
        if self.low == self.high:
            self.high += 1
        self.start, self.stop = start, stop

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)

    def ticks(self) -> list[float]:
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        return [10.0**exponent for exponent in range(first, last + 1)]


def number(value: float, millions: str = " M") -> str:
    """Three digits, never with an exponent: 0.013, 1.5, 340, 10,000, 6.8 M."""
    if value >= 1e6 and millions:
        return f"{value / 1e6:.3g}{millions}"
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    text = f"{value:.3g}"
    return f"{float(text):.12f}".rstrip("0") if "e" in text else text


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal", color=_INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{color}">{escape(text)}</text>'
    )


def _mark(kind: str, x: float, y: float, color: str) -> str:
    shapes = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"',
        "square": f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"',
        "diamond": f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"',
        "triangle": f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z"',
    }
    return f'{shapes[kind]} fill="{color}"/>'


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" font-family="system-ui, sans-serif" '
        f'font-size="13">\n<title>{escape(title)}</title>\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )
