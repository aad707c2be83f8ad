"""Widths of one AS, as variables of the template of its page.

Lists are bounded: a long path is shown by its two ends, a center, a periphery and other
components by the first few; everything is in the files that the page links to.
"""

from __future__ import annotations

import numpy as np

from pipeline.model.topology import SILENT
from pipeline.report.pages.plots import bin_counts, eccentricity_histogram
from pipeline.report.tables.width.widths import WidthReport, WidthTable
from pipeline.report.texts import interval, share, width

MAX_PATH = 24  # routers of a path that a page shows, half of them at each end


def width_sections(report: WidthReport, i: int, n_components: int) -> list[dict]:
    """Variables of the sections of AS ``i`` of the run, in hops and by weight, if there are any."""
    made = []
    for table in report.tables:
        k = int(table.at[i])
        if k >= 0 and table.widths.component[k] >= 0:
            section = _section(table, k, n_components)
            if not table.widths.is_weighted:
                section["figures"] = figure_tiles(report, i)
            made.append(section)
    return made


def _section(table: WidthTable, k: int, n_components: int) -> dict:
    widths = table.widths
    counts = widths.counts[widths.count_ptr[k] : widths.count_ptr[k + 1]]
    low = int(np.argmax(counts > 0)) if len(counts) else 0
    others = _others(table, k)
    n_others = int(table.other_ptr[k + 1] - table.other_ptr[k])
    path = _path(table, k)
    n_listed = int(widths.component_ptr[k + 1] - widths.component_ptr[k])
    return {
        "weighted": widths.is_weighted,
        "unit": table.unit,
        "diameter": _Width(table, k, "diameter"),
        "radius": _Width(table, k, "radius"),
        "likely": _likely(table, k),
        "exact": bool(widths.exact[k]),
        "n_searches": int(widths.n_searches[k]),
        "figures": [],
        "center": _members(table.center.of(k), np.diff(widths.center_ptr[k : k + 2])[0]),
        "periphery": _members(table.periphery.of(k), np.diff(widths.periphery_ptr[k : k + 2])[0]),
        "chart": eccentricity_histogram(counts),
        "chart_width": bin_counts(counts[low:])[0] if len(counts) else 1,
        "levels": _levels(counts, low),
        "path": path,
        "path_is_short": bool(
            path and not widths.is_weighted and path["n_hops"] < widths.diameter_lower[k]
        ),
        "others": others,
        "n_others": n_others,
        "n_single": n_components - max(n_listed, 1),  # the largest may be one of them
        "has_nodes": _has_nodes(table, k),
    }


class _Width:
    """A value, or its bounds with their text; never one in place of the other."""

    def __init__(self, table: WidthTable, k: int, name: str):
        lower = getattr(table.widths, f"{name}_lower")[k].item()
        upper = getattr(table.widths, f"{name}_upper")[k].item()
        self.exact = lower == upper and lower >= 0
        asked = table.asks_for(name)
        self.shown = self.exact or asked
        self.text = width(lower) if self.exact else "not known"
        self.between = ""
        if not self.exact and lower >= 0:
            self.text = interval(lower, upper)
            self.between = self.text if upper < 0 else f"between {interval(lower, upper, ' and ')}"


def _likely(table: WidthTable, k: int) -> list[tuple[str, str]]:
    """Names of widths and the ranges in which those of the whole AS probably lie."""
    ends = {name: (low[k].item(), high[k].item()) for name, (low, high) in table.likely.items()}
    return [
        (name, f"of {low:,}" if low == high else f"between {low:,} and {high:,}")
        for name, (low, high) in ends.items()
        if low >= 0 and table.asks_for(name)
    ]


def _members(named: list[str | None], n_all: int) -> dict | None:
    if n_all == 0:
        return None
    return {"n": int(n_all), "named": [text or SILENT for text in named]}


def _levels(counts: np.ndarray, low: int) -> list[tuple]:
    """(eccentricity, routers, share) of the table below the drawing."""
    if len(counts) == 0:
        return []
    step, binned = bin_counts(counts[low:])
    total = int(counts.sum())
    rows = []
    for i, count in enumerate(binned.tolist()):
        first = low + i * step
        last = min(first + step, len(counts)) - 1
        label = str(first) if first == last else f"{first}\u2013{last}"
        rows.append((label, count, share(count, total)))
    return rows


def _path(table: WidthTable, k: int) -> dict | None:
    """Both ends of a path, each router with what lies between it and the first."""
    begin, end = (int(at) for at in table.path.ptr[k : k + 2])
    n = end - begin
    if n < 2:
        return None
    half = MAX_PATH // 2
    ends = [(0, n)] if n <= MAX_PATH + 1 else [(0, half), (n - half, n)]
    places = [place for first, last in ends for place in range(first, last)]
    texts = [
        text
        for first, last in ends
        for text in table.path.texts.slice(begin + first, last - first).to_pylist()
    ]
    along = None if table.path_at is None else table.path_at[begin:end][places].tolist()
    marks = [f"{place:,}" for place in places] if along is None else [width(at) for at in along]
    steps = [(mark, text or SILENT) for mark, text in zip(marks, texts, strict=True)]
    n_head = len(steps) if n == len(steps) else half
    return {
        "n_hops": n - 1,
        "head": steps[:n_head],
        "n_between": n - len(steps),
        "tail": steps[n_head:],
    }


def _others(table: WidthTable, k: int) -> list[tuple]:
    """(a router, routers, diameter, radius) of the largest components besides the largest."""
    begin, end = (int(at) for at in table.other_named.ptr[k : k + 2])
    if begin == end:
        return []
    widths, which = table.widths, table.other_first[begin:end]
    columns = (
        table.other_named.of(k),
        widths.component_size[which].tolist(),
        widths.component_diameter[which].tolist(),
        widths.component_radius[which].tolist(),
    )
    return [
        (text or SILENT, size, _known(diameter), _known(radius))
        for text, size, diameter, radius in zip(*columns, strict=True)
    ]


def _known(value: float) -> str:
    return width(value) if value >= 0 else "not known"


def figure_tiles(report: WidthReport, i: int) -> list[dict]:
    """Variables of the templates for the figures of AS ``i`` of the run."""
    made = []
    for table in report.figures:
        values = table.of(i)
        if values is not None:
            metric = table.metric
            name = metric.name.replace("_", " ")
            made.append({"template": metric.section, "metric": metric, "name": name} | values)
    return made


def _has_nodes(table: WidthTable, k: int) -> bool:
    widths = table.widths
    ptrs = (widths.eccentricity_ptr, widths.center_ptr, widths.periphery_ptr)
    return any(ptr[k + 1] > ptr[k] for ptr in ptrs)
