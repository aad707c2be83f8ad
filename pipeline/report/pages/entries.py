"""Who enters an AS where: neighbours on the left, ingresses on the right, width = traces.

A drawing has at most ``MAX_ENDS`` on each side, those with the most traces, and the others as one.
Bands stretch with the screen, texts do not: bands are in an SVG of their own within the drawing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup, escape

from pipeline.model.columns.ragged import offsets
from pipeline.model.words import number
from pipeline.report.escaping import printable
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import share

MAX_ENDS = 12  # of each side
MAX_TEXT = 21  # characters of an ingress that fit beside the bands on a phone
MAX_NAME = 22  # characters of a neighbour's name, on wide screens
_SLOT = 19  # pixels: least height of an end, so that texts do not touch
_FLOW = 11  # pixels of all bands for each end of the longer side
_LEFT, _RIGHT = 25, 59  # per cent of the width: where bands begin and end
_OTHERS = -1


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
        An ``<svg>``; empty where there is one way in only.
    rows : list of (asn or None, name, linked, ingress, traces, share)
        The same as a table, most traces first; None: others.
    n_traces : int
    top : Neighbor
    """

    lead: str
    drawing: Markup
    rows: list[tuple]
    n_traces: int
    top: Neighbor


class EntryPages:
    """Entries of each AS of a report, from its table of ingresses."""

    def __init__(self, summary: Summary):
        table = summary.ingresses
        self._ptr = summary.ingress_ptr
        self._addr = table["addr"].combine_chunks()
        self._node = table["ingress"].to_numpy()
        lists = table["neighbor_asns"]
        self._neighbor_ptr = offsets(pc.list_value_length(lists).to_numpy())
        self._asn = pc.list_flatten(lists).to_numpy()
        counts = table["neighbor_n_direct"]  # null in reports of older snapshots
        self._n_direct = None if counts.null_count else pc.list_flatten(counts).to_numpy()
        names = pc.fill_null(summary.ases["name"], "").to_pylist()
        self._names = dict(zip(summary.ases["asn"].to_pylist(), names, strict=True))

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
        of_asn: Counter[int] = Counter()
        for (asn, _), n in flows.items():
            of_asn[asn] += n
        total = sum(of_asn.values())
        first = min(of_asn, key=lambda asn: (-of_asn[asn], asn))
        name = printable(self._names.get(first) or "")
        top = Neighbor(first, name, first in self._names, of_asn[first])
        n_ways = len({at for _, at in flows})
        lead = f"{number(total, 'trace')} by {number(n_ways, 'ingress')} from "
        lead += number(len(of_asn), "AS") + "."
        left, right, flows = _most(flows)
        return Entries(lead, self._drawing(left, right, flows), self._rows(flows), total, top)

    def _text(self, at: int) -> str:
        """Text of an ingress."""
        if at == _OTHERS:
            return "others"
        return self._addr[at].as_py() or str(self._node[at])

    def _rows(self, flows: dict[tuple[int, int], int]) -> list[tuple]:
        total = sum(flows.values())
        ordered = sorted(flows.items(), key=lambda item: (-item[1], item[0]))
        return [
            (
                None if asn == _OTHERS else asn,
                printable(self._names.get(asn) or ""),
                asn in self._names,
                self._text(at),
                n,
                share(n, total),
            )
            for (asn, at), n in ordered
        ]

    def _drawing(
        self, left: dict[int, int], right: dict[int, int], flows: dict[tuple[int, int], int]
    ) -> Markup:
        if len(flows) < 2:
            return Markup("")
        n_rows = max(len(left), len(right))
        height = (_SLOT + _FLOW) * n_rows
        scale = _FLOW * n_rows / sum(flows.values())
        tops = _tops(left, height, scale), _tops(right, height, scale)
        names = "".join(
            self._neighbor(asn, tops[0][asn] + n * scale / 2) for asn, n in left.items()
        )
        addrs = "".join(self._ingress(at, tops[1][at] + n * scale / 2) for at, n in right.items())
        bands = []
        # In the order of the ends on both sides, so that few bands cross.
        for asn in left:
            for at in right:
                if n := flows.get((asn, at)):
                    thick = n * scale
                    bands.append(_band(tops[0][asn] + thick / 2, tops[1][at] + thick / 2, thick))
                    tops[0][asn] += thick
                    tops[1][at] += thick
        label = f"Traces from {len(left)} neighbours to {len(right)} ingresses; a table follows"
        return Markup(
            f'<svg class="flow" role="group" aria-label="{label}" width="100%" height="{height}">'
            f'<svg x="{_LEFT}%" width="{_RIGHT - _LEFT}%" height="{height}" '
            f'viewBox="0 0 100 {height}" preserveAspectRatio="none">{"".join(bands)}</svg>'
            f'<svg x="{_LEFT - 1}%" class="end">{names}</svg><svg x="{_RIGHT + 1}%">{addrs}</svg>'
            "</svg>"
        )

    def _neighbor(self, asn: int, y: float) -> str:
        if asn == _OTHERS:
            return f'<text y="{y:.0f}">others</text>'
        name = printable(self._names.get(asn) or "")
        name = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        text = f'AS{asn}<tspan class="w"> {escape(name)}</tspan>' if name else f"AS{asn}"
        if asn in self._names:
            text = f'<a href="{asn}.html">{text}</a>'
        return f'<text y="{y:.0f}">{text}</text>'

    def _ingress(self, at: int, y: float) -> str:
        text = printable(self._text(at))
        half = MAX_TEXT // 2
        text = text if len(text) <= MAX_TEXT else f"{text[:half]}…{text[-half:]}"
        return f'<text y="{y:.0f}">{escape(text)}</text>'


def _most(
    flows: dict[tuple[int, int], int],
) -> tuple[dict[int, int], dict[int, int], dict[tuple[int, int], int]]:
    """The ends of both sides with their traces, most first and the others last, and their flows."""
    sides = []
    for side in (0, 1):
        count: Counter[int] = Counter()
        for ends, n in flows.items():
            count[ends[side]] += n
        ordered = sorted(count, key=lambda end: (-count[end], end))
        shown = ordered if len(ordered) <= MAX_ENDS + 1 else ordered[:MAX_ENDS]
        left_out = sum(count[end] for end in ordered[len(shown) :])
        others = {_OTHERS: left_out} if left_out else {}
        sides.append({end: count[end] for end in shown} | others)
    kept: Counter[tuple[int, int]] = Counter()
    for (asn, at), n in flows.items():
        kept[asn if asn in sides[0] else _OTHERS, at if at in sides[1] else _OTHERS] += n
    return sides[0], sides[1], dict(kept)


def _tops(side: dict[int, int], height: float, scale: float) -> dict[int, float]:
    """Where the bands of each end begin, from the top; free space is shared by all ends."""
    free = (height - scale * sum(side.values())) / len(side)
    tops, at = {}, 0.0
    for end, n in side.items():
        tops[end] = at + free / 2
        at += free + n * scale
    return tops


def _band(y: float, z: float, thick: float) -> str:
    """A stroke, whose width stays in pixels while the drawing is stretched."""
    thick = max(thick, 0.8)  # or a single trace among many would not be seen
    return f'<path d="M0 {y:.4g}C50 {y:.4g} 50 {z:.4g} 100 {z:.4g}" stroke-width="{thick:.3g}"/>'
