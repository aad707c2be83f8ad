"""Ingresses by neighbour AS: the drawing and the table show the traces that the tables have."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from pipeline.model.measured.host_names import HostNames
from pipeline.report.pages.entries import MAX_ENDS, EntryPages
from pipeline.report.tables.listed import list_ases
from pipeline.report.tables.summarise import Summary, summarise
from tests.addresses import parse_addrs
from tests.markup import Parsed
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

HOSTILE = '</svg><script>alert(1)</script>"&\u202e'


def entries_of_first(summary: Summary):
    return EntryPages(summary, list_ases(summary.ases)).of(0)


def entries_of(ingresses: list[tuple], n_nodes: int = 60, names: dict | None = None):
    """Entries of AS 10; AS 20 has a page too."""
    ases = {10: [(i, i + 1) for i in range(n_nodes - 1)], 20: [(0, 1)]}
    addrs = {10: [f"2001:db8:1111:2222::{i:x}" for i in range(n_nodes)], 20: ["::1", "::2"]}
    sizes = {10: n_nodes, 20: 2}
    snapshot = MemorySnapshot(ases, sizes, ingresses, names=names, addrs=addrs)
    return entries_of_first(summarise(snapshot, measured(snapshot)))


def test_neighbours_and_ingresses_are_joined_by_their_traces():
    # Traces of an ingress are shared out among its neighbours: 3 and 2, 4, 1.
    found = entries_of(
        [(10, 0, [20, 30], 5, 9, False), (10, 3, [20], 4, 0, False), (10, 7, [40], 1, 0, False)],
        names={20: "Twenty"},
    )
    assert found.lead == "10 traces by 3 ingresses from 3 ASes."
    assert (found.n_traces, found.top) == (10, (20, "Twenty", True, 7))
    assert re.findall(r"<a [^>]*>([^<]*)<", found.drawing) == ["AS20"]
    assert len(bands(found.drawing)) == 4


def bands(drawing: str) -> list[float]:
    """Widths of the bands."""
    paths = re.findall(r'd="(M0 [^"]+)" stroke-width=([\d.]+)', drawing)
    return [float(width) for path, width in paths for _ in range(path.count("M"))]


def test_the_width_of_a_band_is_its_number_of_traces():
    found = entries_of([(10, 0, [20, 30], 300, 0, False), (10, 3, [20], 450, 0, False)])
    widths = bands(found.drawing)
    assert sorted(w / sum(widths) for w in widths) == pytest.approx([0.2, 0.2, 0.6], rel=0.01)


def test_host_names_stand_below_their_ingresses_and_are_escaped():
    ases = {10: [(0, 1), (1, 2)], 20: [(0, 1)]}
    addrs = {10: ["192.0.2.1", "192.0.2.2", "192.0.2.3"], 20: ["::1", "::2"]}
    ingresses = [(10, 0, [20], 5, 0, False), (10, 2, [20], 4, 0, False)]
    snapshot = MemorySnapshot(ases, {10: 3, 20: 2}, ingresses, addrs=addrs)
    without = entries_of_first(summarise(snapshot, measured(snapshot))).drawing
    snapshot.of_hosts = HostNames(parse_addrs(["192.0.2.3"]), np.array([HOSTILE], object))
    drawing = entries_of_first(summarise(snapshot, measured(snapshot))).drawing
    parsed = Parsed(drawing)
    assert "script" not in {tag for tag, _ in parsed.elements}
    assert "\u202e" not in drawing
    assert parsed.text.count(HOSTILE[:-1] + "\ufffd") == 1  # whole, where it is pointed at
    assert parsed.text.count(HOSTILE[:20] + "…") == 1
    assert [tag for tag, _ in Parsed(without).elements].count("title") == 0
    assert "host" not in without


def test_many_ends_are_the_first_and_others_and_no_trace_is_lost():
    ingresses = [(10, i, [100 + i, 200], 2 * (60 - i), 0, False) for i in range(40)]
    found = entries_of(ingresses)
    total = sum(2 * (60 - i) for i in range(40))
    assert len(re.findall("<text", found.drawing.partition("class=heat")[0])) == 2 * MAX_ENDS + 2
    # The bands are as wide together as those of one trace times all traces.
    assert sum(bands(found.drawing)) == pytest.approx(11 * (MAX_ENDS + 1), rel=0.02)
    assert found.lead == f"{total:,} traces by 40 ingresses from 41 ASes."
    assert found.top.asn == 200
    assert found.drawing.count(">others<") == 2
    names = found.drawing.partition("class=end")[2].partition("</svg>")[0]
    tops = [float(y) for y in re.findall(r"y=(\d+)", names)]
    assert len(tops) == MAX_ENDS + 1
    assert tops == sorted(tops)
    assert min(b - a for a, b in itertools.pairwise(tops)) >= 15  # no text on another


def test_the_heat_map_has_a_row_for_each_ingress_in_the_order_of_the_drawing():
    # From one end of a line of 60 and from next to it; all others together come last.
    ingresses = [(10, i, [20], 100 - i, 0, False) for i in range(40)]
    found = entries_of(ingresses, n_nodes=60)
    heat = found.drawing.partition("class=heat")[2]
    rows = sorted({int(y) for y in re.findall(r"M\d+ (\d+)h\d", heat)})
    ways = found.drawing.partition("class=ways")[2].partition("</svg>")[0]
    tops = [int(y) for y in re.findall(r"y=(\d+)", ways)]
    assert rows == tops
    assert len(rows) == MAX_ENDS + 1
    few = entries_of([(10, 0, [20], 5, 0, False), (10, 2, [20], 3, 0, False)], n_nodes=4)
    cells = dict(re.findall(r'class=(h\d) d="([^"]+)"', few.drawing))
    # 1, 1, 1 of 3 at 1, 2, 3 hops; 2, 1 of 3 at 1, 2 hops.
    runs = {shade: re.findall(r"M(\d) \d+h(\d)", path) for shade, path in cells.items()}
    assert runs == {"h4": [("0", "3"), ("1", "1")], "h5": [("0", "1")]}


def test_added_rtts_have_a_row_for_each_ingress_whose_delays_are_known():
    ases = {10: [(0, 1), (1, 2)], 20: [(0, 1)]}
    ingresses = [(10, i, [20], 5 - i, 0, False) for i in range(3)]
    snapshot = MemorySnapshot(ases, {10: 3, 20: 2}, ingresses)
    summary = summarise(snapshot, measured(snapshot))
    assert not entries_of_first(summary).has_delays
    at = summary.ingresses.column_names.index("delay_by_ttl_ms")
    behind = pa.array([[0.5, None, 4.0, 81.0], None, [-2.0]], pa.list_(pa.float32()))
    table = summary.ingresses.set_column(at, "delay_by_ttl_ms", behind)
    found = entries_of_first(replace(summary, ingresses=table))
    assert found.has_delays
    heat = found.drawing.partition('class="heat ms"')[2]
    cells = dict(re.findall(r'class=(h\d) d="([^"]+)"', heat))
    runs = {shade: re.findall(r"M(\d) \d+h(\d)", path) for shade, path in cells.items()}
    assert runs == {"h0": [("0", "1")], "h1": [("0", "1")], "h2": [("2", "1")], "h5": [("3", "1")]}
    assert re.findall(r">(\w+)</text>", heat) == ["1", "2", "3", "4", "TTLs"]


def test_hostile_names_stay_text_and_the_drawing_is_well_formed():
    found = entries_of(
        [(10, 0, [20, 30], 5, 0, False), (10, 3, [20], 4, 0, False)], names={20: HOSTILE, 10: "x"}
    )
    parsed = Parsed(found.drawing)
    links = [given["href"] for tag, given in parsed.elements if tag == "a"]
    assert links == ["20.html"]  # AS 30 has no page
    assert "script" not in {tag for tag, _ in parsed.elements}
    assert "</svg><script>" in parsed.text
    assert "\u202e" not in found.drawing


@pytest.mark.parametrize(
    ("ingresses", "lead"),
    [
        ([(10, 0, [20], 1, 0, False)], "1 trace by 1 ingress from 1 AS."),
        ([(10, 0, [20], 7, 0, False)], "7 traces by 1 ingress from 1 AS."),
    ],
)
def test_one_way_in_is_not_drawn(ingresses, lead):
    found = entries_of(ingresses)
    assert (found.lead, found.drawing) == (lead, "")


@pytest.mark.parametrize("ingresses", [[], [(10, 0, [20], 0, 5, True)], [(10, 0, [], 0, 0, False)]])
def test_without_direct_entries_there_is_nothing(ingresses):
    assert entries_of(ingresses) is None


def test_reports_of_older_snapshots_show_none():
    snapshot = MemorySnapshot({10: [(0, 1)]}, {10: 2}, [(10, 0, [20], 5, 0, False)])
    snapshot.ingresses().neighbor_n_direct[:] = -1
    assert entries_of_first(summarise(snapshot, measured(snapshot))) is None
