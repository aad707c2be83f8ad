"""Who enters an AS where: neighbours on the left, ingresses on the right, width = traces.

Beside each ingress, rows of two heat maps: how many routers lie how many hops away, and how much
RTT is added how many TTLs behind it.
A drawing has at most ``MAX_ENDS`` on each side, those with the most traces, and the others as one.
Bands and cells stretch with the screen, texts do not: each column is an SVG of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup, escape

from pipeline.model.columns.ragged import offsets, run_starts
from pipeline.model.words import number, printable
from pipeline.report.pages.plots import bin_counts
from pipeline.report.tables.listed import Listed
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import next_number

MAX_ENDS = 12  # of each side
MAX_TEXT = 21  # characters of an ingress that fit beside the bands on a phone
_HOST_SLOT = 32  # pixels likewise, where an end has a line with its host name
MAX_NAME = 22  # characters of a neighbour's name, on wide screens
_SLOT = 19  # pixels: least height of an end, so that texts do not touch
_FLOW = 11  # pixels of all bands for each end of the longer side
_CELL = 15  # pixels: height of a row of the heat map
_SHADES = (0.05, 0.15, 0.3, 0.5)  # shares of what an ingress reaches, at which shades change
_MS = (0.0, 1.0, 5.0, 20.0, 80.0)  # added RTTs in ms, at which shades change
_OTHERS = -1

Key = TypeVar("Key", bound=Hashable)


class Neighbor(NamedTuple):
    """The neighbour from which most traces enter."""

    asn: int
    name: str
    linked: bool
    n_traces: int


@dataclass(frozen=True)
class Entries:
    """What a page shows.

    Attributes
    ----------
    lead : str
        A sentence.
    drawing : Markup
        Empty where there is one way in only.
    has_heat : bool
        Whether it has cells of hop counts: some ingress reaches another node.
    has_delays : bool
        Whether it has cells of added RTT.
    n_traces : int
    top : Neighbor
    """

    lead: str
    drawing: Markup
    has_heat: bool
    has_delays: bool
    n_traces: int
    top: Neighbor


class EntryPages:
    """Entries of each AS of a report, or of a part of it, from its table of ingresses."""

    def __init__(self, summary: Summary, listed: Listed):
        table = summary.ingresses
        self._ptr = summary.ingress_ptr
        self._addr = table["addr"].to_pylist()
        self._host = table["host_name"].to_pylist()
        self._node = table["ingress"].to_numpy()
        lists = table["neighbor_asns"]
        self._neighbor_ptr = offsets(pc.list_value_length(lists).to_numpy())
        self._asn = pc.list_flatten(lists).to_numpy()
        counts = table["neighbor_n_direct"]  # null in reports of older snapshots
        self._n_direct = None if counts.null_count else pc.list_flatten(counts).to_numpy()
        hops = pc.fill_null(pc.list_value_length(table["hop_counts"]), 0).to_numpy()
        self._hop_ptr = offsets(hops)
        self._hop_counts = pc.list_flatten(table["hop_counts"]).to_numpy()
        behind = table["delay_by_ttl_ms"].combine_chunks()
        self._ms_ptr = offsets(pc.fill_null(pc.list_value_length(behind), 0).to_numpy())
        self._ms = pc.fill_null(pc.list_flatten(behind), np.nan).to_numpy()
        self._names = listed.names

    def of(self, i: int) -> Entries | None:
        """Entries of AS i of the report; None: no trace was seen to enter it."""
        if self._n_direct is None:
            return None
        begin, end = self._ptr[i : i + 2].tolist()
        pairs = slice(self._neighbor_ptr[begin], self._neighbor_ptr[end])
        row = np.repeat(np.arange(begin, end), np.diff(self._neighbor_ptr[begin : end + 1]))
        flows = {
            (asn, at): n
            for asn, at, n in zip(
                self._asn[pairs].tolist(), row.tolist(), self._n_direct[pairs].tolist(), strict=True
            )
            if n
        }
        if not flows:
            return None
        of_asn = _summed((asn, n) for (asn, _), n in flows.items())
        total = sum(of_asn.values())
        first = min(of_asn, key=lambda asn: (-of_asn[asn], asn))
        name = printable(self._names.get(first) or "")
        top = Neighbor(first, name, first in self._names, of_asn[first])
        n_ways = len({at for _, at in flows})
        lead = f"{number(total, 'trace')} by {number(n_ways, 'ingress')} from "
        lead += number(len(of_asn), "AS") + "."
        drawing, has_heat, has_delays = Markup(""), False, False
        if len(flows) > 1:
            left, right, flows = _most(flows)
            hops = self._hops(begin, end, list(right))
            added = self._added(list(right))
            has_heat, has_delays = bool(hops.any()), not np.isnan(added).all()
            drawing = self._drawing(left, right, flows, hops, added)
        return Entries(lead, drawing, has_heat, has_delays, total, top)

    def _hops(self, begin: int, end: int, ingresses: list[int]) -> np.ndarray:
        """(n_ingresses, n_levels): what each reaches at 1, 2, ... hops; others are summed up."""
        ptr = self._hop_ptr[begin : end + 1]
        counts = self._hop_counts[ptr[0] : ptr[-1]]
        n_levels = int(np.diff(ptr).max())
        full = np.zeros((end - begin + 1, n_levels), np.int64)
        row = np.repeat(np.arange(end - begin), np.diff(ptr))
        full[row, np.arange(len(counts)) - (ptr[:-1] - ptr[0])[row]] = counts
        rows = [at - begin if at != _OTHERS else -1 for at in ingresses]
        if -1 in rows:
            full[-1] = full.sum(axis=0) - full[rows[:-1]].sum(axis=0)
        return full[rows, 1:]

    def _added(self, ingresses: list[int]) -> np.ndarray:
        """(n_ingresses, n_ttls): median RTT added at 1, 2, ... TTLs behind each, in ms.

        NaN where none is known, and for others: their medians cannot be added up.
        """
        rows = [
            np.empty(0) if at == _OTHERS else self._ms[slice(*self._ms_ptr[at : at + 2])]
            for at in ingresses
        ]
        added = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
        for i, row in enumerate(rows):
            added[i, : len(row)] = row
        return added

    def _text(self, at: int) -> str:
        """Text of an ingress."""
        if at == _OTHERS:
            return "others"
        return self._addr[at] or str(self._node[at])

    def _drawing(
        self,
        left: dict[int, int],
        right: dict[int, int],
        flows: dict[tuple[int, int], int],
        hops: np.ndarray,
        added: np.ndarray,
    ) -> Markup:
        n_rows = max(len(left), len(right))
        slot = _HOST_SLOT if any(map(self._host_of, right)) else _SLOT
        height = (slot + _FLOW) * n_rows
        scale = _FLOW * n_rows / sum(flows.values())
        tops = _tops(left, height, scale), _tops(right, height, scale)
        names = "".join(
            self._neighbor(asn, tops[0][asn] + n * scale / 2) for asn, n in left.items()
        )
        places = {at: tops[1][at] + n * scale / 2 for at, n in right.items()}
        addrs = "".join(self._ingress(at, y) for at, y in places.items())
        bands: dict[str, str] = {}  # by width: those of one width are one path
        # In the order of the ends on both sides, so that few bands cross.
        for asn in left:
            for at in right:
                if n := flows.get((asn, at)):
                    thick = n * scale
                    band = _band(tops[0][asn] + thick / 2, tops[1][at] + thick / 2)
                    # Thinner, a single trace among many would not be seen.
                    width = f"{max(thick, 0.8):.3g}"
                    bands[width] = bands.get(width, "") + band
                    tops[0][asn] += thick
                    tops[1][at] += thick
        drawn = "".join(f'<path d="{d}" stroke-width={width} />' for width, d in bands.items())
        ends = number(len(left), "neighbour"), number(len(right), "ingress")
        label = f"Traces from {ends[0]} to {ends[1]}; a table follows"
        ms = _added_heat(added, list(places.values()), height)
        kind = '"flow both"' if ms else "flow"
        return Markup(
            f'<div class={kind} role=group aria-label="{label}">'
            f"<svg class=end height={height}>{names}</svg>"
            f'<svg class=bands height={height} viewBox="0 0 2 {height}" '
            f"preserveAspectRatio=none>{drawn}</svg>"
            f"<svg class=ways height={height}>{addrs}</svg>"
            f"{_heat(hops, list(places.values()), height)}{ms}</div>"
        )

    def _neighbor(self, asn: int, y: float) -> str:
        if asn == _OTHERS:
            return f"<text y={y:.0f}>others</text>"
        name = printable(self._names.get(asn) or "")
        name = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        text = f"AS{asn}<tspan class=w> {escape(name)}</tspan>" if name else f"AS{asn}"
        if asn in self._names:
            text = f"<a href={asn}.html>{text}</a>"
        return f"<text y={y:.0f}>{text}</text>"

    def _ingress(self, at: int, y: float) -> str:
        text = printable(self._text(at))
        half = MAX_TEXT // 2
        text = text if len(text) <= MAX_TEXT else f"{text[:half]}…{text[-half:]}"
        if not (host := printable(self._host_of(at))):
            return f"<text y={y:.0f}>{escape(text)}</text>"
        shown = host if len(host) <= MAX_TEXT else f"{host[: MAX_TEXT - 1]}…"
        return (
            f"<text y={y - 6:.0f}>{escape(text)}<tspan class=host x=0 dy=13>{escape(shown)}"
            f"<title>{escape(host)}</title></tspan></text>"
        )

    def _host_of(self, at: int) -> str:
        """Host name of an ingress; empty where none is known."""
        return "" if at == _OTHERS else self._host[at] or ""


def _most(
    flows: dict[tuple[int, int], int],
) -> tuple[dict[int, int], dict[int, int], dict[tuple[int, int], int]]:
    """The ends of both sides with their traces, most first and the others last, and their flows."""
    sides = []
    for side in (0, 1):
        count = _summed((ends[side], n) for ends, n in flows.items())
        ordered = sorted(count, key=lambda end: (-count[end], end))
        shown = ordered if len(ordered) <= MAX_ENDS + 1 else ordered[:MAX_ENDS]
        left_out = sum(count[end] for end in ordered[len(shown) :])
        others = {_OTHERS: left_out} if left_out else {}
        sides.append({end: count[end] for end in shown} | others)
    if not any(_OTHERS in side for side in sides):
        return sides[0], sides[1], flows
    left, right = sides
    kept = _summed(
        ((asn if asn in left else _OTHERS, at if at in right else _OTHERS), n)
        for (asn, at), n in flows.items()
    )
    return left, right, kept


def _summed(counts: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """Counts of equal keys added up."""
    total: dict[Key, int] = {}
    for key, n in counts:
        total[key] = total.get(key, 0) + n
    return total


def _tops(side: dict[int, int], height: float, scale: float) -> dict[int, float]:
    """Where the bands of each end begin, from the top; free space is shared by all ends."""
    free = (height - scale * sum(side.values())) / len(side)
    tops, at = {}, 0.0
    for end, n in side.items():
        tops[end] = at + free / 2
        at += free + n * scale
    return tops


def _band(y: float, z: float) -> str:
    """A stroke, whose width stays in pixels while the drawing is stretched."""
    down = next_number(round(z) - round(y))
    return f"M0 {y:.0f}c1 0 1{down} 2{down}"


def _heat(hops: np.ndarray, places: list[float], height: float) -> str:
    """Rows of cells, darker the more of what the ingress reaches lies at that hop count."""
    n_levels = hops.shape[1]
    width, _ = bin_counts(np.zeros(n_levels))
    if n_levels == 0 or not hops.any():
        return ""
    binned = np.add.reduceat(hops, np.arange(0, n_levels, width), axis=1)
    shares = binned / np.maximum(binned.sum(axis=1, keepdims=True), 1)
    shade = np.where(shares > 0, np.searchsorted(_SHADES, shares) + 1, -1)
    return _cells(shade, width, places, height, "heat", "hops")


def _added_heat(added: np.ndarray, places: list[float], height: float) -> str:
    """Rows of cells, darker the more RTT is added that many TTLs behind the ingress."""
    known = ~np.isnan(added)
    if not known.any():
        return ""
    shade = np.where(known, np.searchsorted(_MS, np.nan_to_num(added), side="right"), -1)
    return _cells(shade, 1, places, height, "heat ms", "TTLs")


def _cells(
    shade: np.ndarray, width: int, places: list[float], height: float, kind: str, unit: str
) -> str:
    """A heat map of shades, -1 for none, a column for ``width`` of ``unit``."""
    n_cells = shade.shape[1]
    paths = []
    for one in range(len(_SHADES) + 2):
        row, cell = np.nonzero(shade == one)
        if len(row):
            # Neighbouring cells of one shade are one stroke.
            first = run_starts(row, cell - np.arange(len(cell)))
            runs = (row[first], cell[first], np.diff(first, append=len(cell)))
            cells = zip(*(column.tolist() for column in runs), strict=True)
            path = "".join(f"M{at} {places[i]:.0f}h{n}" for i, at, n in cells)
            paths.append(f'<path class=h{one} d="{path}"/>')
    every = max(1, -(-n_cells // 6))
    texts = "".join(
        f"<text x={100 * (i + 0.5) / n_cells:.3g}% y={height + 12}>{1 + i * width}</text>"
        for i in range(0, n_cells, every)
    )
    name = f'class="{kind}"' if " " in kind else f"class={kind}"
    return (
        f"<svg {name} height={height + 30}><svg width=100% height={height} "
        f'viewBox="0 0 {n_cells} {height}" preserveAspectRatio=none stroke-width={_CELL}>'
        f"{''.join(paths)}</svg>{texts}<text x=50% y={height + 25}>{unit}</text></svg>"
    )
