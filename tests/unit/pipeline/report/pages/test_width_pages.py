"""Widths on pages, in the index and in the terminal's table: shown, bounded, escaped."""

from __future__ import annotations

import html
import json
import re
import time
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.model.search.results import Measurement
from pipeline.report import write_reports
from pipeline.report.pages.ases.width_section import MAX_PATH
from pipeline.report.pages.plots import eccentricity_histogram
from pipeline.report.tables.node_names import N_NAMED
from pipeline.report.tables.width import likely
from pipeline.report.texts import interval, width
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import cut_short, effective_of, widths_of

# AS 10: a path 0-1-2-3 with a branch 1-4. AS 20: 0-1 and 2-3-4 apart, 5 alone. AS 30: one router.
TREE, SPLIT, ONE = 10, 20, 30


def tree(**changes) -> MemorySnapshot:
    return MemorySnapshot(
        {TREE: [(0, 1), (1, 2), (2, 3), (1, 4)], SPLIT: [(0, 1), (2, 3), (3, 4)], ONE: []},
        {TREE: 5, SPLIT: 6, ONE: 1},
        [(TREE, 0, [20], 3, 0, False)],
        addrs={
            TREE: [f"10.0.0.{i}" for i in range(1, 6)],
            SPLIT: [f"198.51.100.{i}" for i in range(6)],
            ONE: ["192.0.2.1"],
        },
        **changes,
    )


def report(snapshot, out, measurement: Measurement | None = None, **given):
    measurement = replace(measurement or measured(snapshot), **given)
    return write_reports(snapshot, measurement, out, options={}, warnings=[], started=time.time())


def page_text(summary, asn: int) -> str:
    """Visible text of the page of an AS, in one line."""
    markup = (summary.path / "as" / f"{asn}.html").read_text()
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", markup)))


def test_the_page_of_an_as_says_how_wide_it_is(tmp_path):
    snapshot = tree()
    effective = effective_of(snapshot, 2.75, error=0.125)
    summary = report(
        snapshot, tmp_path, widths=widths_of(snapshot), figures={"effective": effective}
    )
    text = page_text(summary, TREE)
    assert "diameter 3 radius 2 effective diameter 2.75 ± 0.12, estimated" in text
    assert "center 2 interfaces periphery 3 interfaces searches 5" in text
    assert "Center 2 10.0.0.2, 10.0.0.3" in text
    assert "Periphery 3 10.0.0.1, 10.0.0.4, 10.0.0.5" in text
    assert "A path as long as the diameter 3 hops" in text
    assert re.search(r"0 10\.0\.0\.\d 1 10\.0\.0\.2 2 10\.0\.0\.3 3|0 10\.0\.0\.4 1 10", text)
    assert "2 2 40 % 3 3 60 %" in text  # eccentricity, routers, share
    assert "Not exact" not in text
    split = page_text(summary, SPLIT)
    assert "Other components 2 component of interfaces diameter radius 198.51.100.0 2 1 1" in split
    assert "And 1 interface without a link." in split
    one = page_text(summary, ONE)
    assert "diameter 0 radius 0" in one
    assert "Other components" not in one
    assert "A path as long" not in one


def test_beside_widths_that_traces_show_stands_where_those_of_the_as_lie(tmp_path, monkeypatch):
    lines = {"diameter": ((1, 0.5, 0), (2, 1, 0)), "radius": ((0, 1, 0), (0, 1, 0))}
    monkeypatch.setattr(likely, "LINES", lines)
    snapshot = tree(manifest={"counts": {"n_traces": 7}})
    snapshot.n_may_hide_links[0] = 1
    summary = report(snapshot, tmp_path, widths=widths_of(snapshot))
    assert (
        "These are the widths of what traces show of the AS. In networks of known truth nine of "
        "ten ASes measured like this one had a diameter between 3 and 5 hops and a radius of 2 "
        "hops. 1 of 4 links of this AS may hide routers."
    ) in page_text(summary, TREE)
    assert "may hide" not in page_text(summary, SPLIT)
    files = report(tree(), tmp_path / "files", widths=widths_of(snapshot))
    assert "known truth" not in page_text(files, TREE)


def test_an_interval_is_shown_as_one(tmp_path):
    snapshot = tree()
    cut = cut_short(widths_of(snapshot), 0, (2, 4), (1, 2), 23)
    summary = report(snapshot, tmp_path, measured(snapshot, without={(0, 0)}), widths=cut)
    text = page_text(summary, TREE)
    assert (
        "Not exact: the diameter lies between 2 and 4, the radius lies between 1 and 2; "
        "stopped early after 23 searches." in text
    )
    assert "diameter 2\u20134 not exact radius 1\u20132 not exact" in text
    assert "The longest shortest path found" in text
    assert "Center" not in text
    index = summary.index.read_text()
    assert '<td class="diameter">2\u20134<td class="radius">1\u20132' in index
    assert re.search(r"largest diameter</dt><dd>2\u20134 <small>not exact", index)
    assert "exact in 2 ASes, stopped early in 1 AS; 30 searches" in index
    columns = json.loads((summary.path / "ases.js").read_text()[len("hopscope.load(") : -3])
    assert columns["diameter"] == [None, 2, 0]
    assert (columns["diameter_lower"], columns["diameter_upper"]) == ([2, 2, 0], [4, 2, 0])
    assert summary.table_columns[-3:] == ("diameter", "radius", "unreached")
    rows = {row[0]: row[-3:-1] for row in summary.table}
    assert rows == {TREE: ("2\u20134", "1\u20132"), SPLIT: (2, 1), ONE: (0, 0)}


def test_a_page_does_not_say_less_than_its_ingresses_prove(tmp_path):
    links = [(0, 1), (1, 2), (2, 3), (1, 4), (1, 5)]
    snapshot = MemorySnapshot({TREE: links}, {TREE: 6}, [(TREE, 0, [20], 3, 0, False)])
    cut = cut_short(widths_of(snapshot), 0, (2, 3), (1, 3), 1)
    begin, end = cut.path_ptr[:2]
    kept = np.append(cut.path[begin : end - 1], cut.path[end:])  # a path of two hops
    cut = replace(cut, path=kept, path_ptr=cut.path_ptr - (cut.path_ptr > begin))
    text = page_text(report(snapshot, tmp_path, widths=cut), TREE)
    assert "max hops 3" in text
    assert "diameter 3 radius 2\u20133 not exact" in text
    assert "Not exact: the radius lies between 2 and 3; stopped early after 1 search." in text
    assert (
        "The longest path found by these searches 2 hops, not the longest: "
        "an ingress is farther from some interface" in text
    )
    assert "A path as long as the diameter" not in text


def test_the_index_says_how_many_ases_share_the_largest_diameter(tmp_path):
    snapshot = MemorySnapshot(
        {TREE: [(0, 1), (1, 2)], SPLIT: [(0, 1)], ONE: [(0, 1), (1, 2)]},
        {TREE: 3, SPLIT: 2, ONE: 3},
        [(TREE, 0, [20], 3, 0, False)],
    )
    index = report(snapshot, tmp_path, widths=widths_of(snapshot)).index.read_text()
    tile = '<dt>largest diameter</dt><dd>2 <small><a href="as/10.html">AS10</a> and 1 more</small>'
    assert tile in index


def test_the_index_says_of_how_many_ases_nothing_is_known(tmp_path):
    snapshot = tree()
    given = {"widths": widths_of(snapshot, rows=[0, 2]), "failed": {1: "killed"}}
    index = report(snapshot, tmp_path, **given).index.read_text()
    assert re.search(r"largest diameter</dt><dd>at least 3 <small>not exact", index)
    assert "exact in 2 ASes, not measured in 1; 6 searches" in index


def test_an_as_of_which_nothing_is_known_has_no_value(tmp_path):
    snapshot = tree()
    cut = cut_short(widths_of(snapshot), 0, (-1, -1), (-1, -1), 0)
    summary = report(snapshot, tmp_path, measured(snapshot, without={(0, 0)}), widths=cut)
    assert "diameter not known not exact radius not known not exact" in page_text(summary, TREE)
    assert {row[0]: row[-3:-1] for row in summary.table}[TREE] == (None, None)


def test_weighted_widths_have_a_section_with_their_unit(tmp_path):
    def weight(a, b):
        return 0.5 if {a, b} != {1, 4} else 12.25

    snapshot = tree(weight=weight, manifest={"weight_unit": "ms"})
    widths = {"widths": widths_of(snapshot), "weighted_widths": widths_of(snapshot, weight=weight)}
    summary = report(snapshot, tmp_path, **widths)
    text = page_text(summary, TREE)
    assert "Diameter and radius in milliseconds" in text
    assert "diameter 13.25 ms radius 12.25 ms" in text
    assert "0.00 10.0.0.4 0.50 10.0.0.3 1.00 10.0.0.2 13.25 10.0.0.5" in text or (
        "0.00 10.0.0.5 12.25 10.0.0.2 12.75 10.0.0.3 13.25 10.0.0.4" in text
    )
    index = summary.index.read_text()
    assert ">Diam., ms<" in index
    assert '<td class="weighted_diameter" data-label="Diam., ms">13.25' in index
    assert summary.table_columns[-3:] == ("diameter", "radius", "unreached")
    alone = report(snapshot, tmp_path / "alone", weighted_widths=widths["weighted_widths"])
    assert alone.table_columns[-3:-1] == ("weighted diameter", "weighted radius")
    assert "Diameter and radius in hops" not in page_text(alone, TREE)


def test_lengths_along_a_path_end_at_the_diameter(tmp_path):
    snapshot = tree(weight=lambda a, b: 0.25 * (a + b))
    summary = report(
        snapshot, tmp_path, weighted_widths=widths_of(snapshot, weight=snapshot.weight)
    )
    for row in pq.read_table(summary.files["ases"]).to_pylist():
        assert row["weighted_diameter_path_at"][0] == 0
        assert row["weighted_diameter_path_at"][-1] == row["weighted_diameter"]


def test_of_routers_without_a_link_one_is_the_largest_component(tmp_path):
    snapshot = MemorySnapshot({10: []}, {10: 100}, [])
    text = page_text(report(snapshot, tmp_path, widths=widths_of(snapshot)), 10)
    assert "Other components 99 99 interfaces without a link." in text


def test_pages_of_wide_ases_are_bounded_and_say_so(tmp_path):
    n, n_parts = 600, 40
    links = [(i, i + 1) for i in range(n - 1)]
    links += [(n + 2 * i, n + 2 * i + 1) for i in range(n_parts)]
    links += [(n + 2 * n_parts, v) for v in range(n + 2 * n_parts + 1, n + 2 * n_parts + 90)]
    snapshot = MemorySnapshot({10: links}, {10: n + 2 * n_parts + 90}, [])
    summary = report(snapshot, tmp_path, widths=widths_of(snapshot))
    markup = (summary.path / "as" / "10.html").read_text()
    path = markup.split('<ol class="path">')[1].split("</ol>")[0]
    assert path.count("<li") == MAX_PATH + 1
    assert f"{n - MAX_PATH} interfaces between" in path
    text = page_text(summary, 10)
    assert f"Other components {N_NAMED} of 41" in text
    assert "1680 90 2 1" in text  # the star, the largest of them, comes first
    assert markup.count("<rect") <= 40
    assert len(markup) < 20_000
    star = MemorySnapshot({10: [(0, v) for v in range(1, 500)]}, {10: 500}, [])
    text = page_text(report(star, tmp_path / "star", widths=widths_of(star)), 10)
    assert f"Periphery {N_NAMED} of 499" in text


def test_pages_without_widths_are_as_they_were(tmp_path):
    summary = report(tree(), tmp_path)
    for path in (summary.index, summary.path / "ases.js"):
        assert not re.search("diameter|radius|nodes/", path.read_text())
    page = (summary.path / "as" / "10.html").read_text()
    assert not re.search("<h2>Width|nodes/", page)
    assert summary.table_columns[-2:] == ("max", "unreached")


def test_an_as_without_widths_has_no_section_beside_others_that_have(tmp_path):
    snapshot = tree()
    widths = widths_of(snapshot, rows=[1, 2])
    summary = report(snapshot, tmp_path, widths=widths, failed={0: "a worker died"})
    assert "Diameter and radius in hops" not in page_text(summary, TREE)
    assert "Diameter and radius in hops" in page_text(summary, SPLIT)


def test_what_is_known_of_an_as_whose_widths_failed_is_kept(tmp_path):
    """Its hops are all there; of one without ingresses its weighted widths are."""
    snapshot = tree()
    failed = {0: "widths: a worker died", 1: "widths: a worker died", 2: "all: it died"}
    given = {
        "widths": widths_of(snapshot, rows=[]),
        "weighted_widths": widths_of(snapshot, rows=[0, 1], weight=lambda a, b: 1.0),
    }
    summary = report(snapshot, tmp_path, failed=failed, **given)
    ases = pq.read_table(summary.files["ases"])
    assert ases["status"].to_pylist() == ["partial", "partial", "failed"]
    assert ases["diameter"].to_pylist() == [None, None, None]
    assert ases["weighted_diameter"].to_pylist() == [3.0, 2.0, None]
    assert "partial widths: a worker died" in page_text(summary, TREE)
    assert "failed No search of this AS finished. all: it died" in page_text(summary, ONE)


def test_a_run_without_hops_says_so(tmp_path):
    snapshot = tree()
    nothing = measured(snapshot, without={(0, 0)})
    summary = report(snapshot, tmp_path, nothing, widths=widths_of(snapshot))
    assert "No search was made from an ingress." in summary.index.read_text()
    assert "Diameter and radius in hops" in page_text(summary, TREE)


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (11, 13, "11\u201313"),
        (1000, 2000, "1,000\u20132,000"),
        (7, -1, "at least 7"),
        (0.123, 0.1234, "0.12\u20130.13"),
        (1594.1387, 1946.3841, "1,594\u20131,947"),
        (99.999, 100.001, "99.99\u2013101"),
        (0.005087, 0.010173, "0.00508\u20130.02"),
        (0.07, 0.07, "0.07\u20130.07"),
        (0.999e-4, 1234.5, "9.99e-5\u20131,235"),
        (3.5, -1.0, "at least 3.50"),
        (1.2345e-9, 1.7544e-8, "1.23e-9\u20131.76e-8"),
        (1.7544e12, 1.7544e12, "1.75e+12\u20131.76e+12"),
        (0.0, 1e12, "0.00\u20131e+12"),
    ],
)
def test_bounds_are_rounded_outwards(lower, upper, text):
    assert interval(lower, upper) == text


def test_widths_are_short_texts():
    assert [width(v) for v in (0, 1234, 0.0, 0.07, 3418.5537, 0.001234, 1e-9, 1e12)] == [
        "0",
        "1,234",
        "0.00",
        "0.07",
        "3,418.55",
        "0.00123",
        "1e-9",
        "1e+12",
    ]


def test_eccentricities_are_drawn_from_the_radius_on():
    drawing = eccentricity_histogram(np.array([0, 0, 0, 4, 6]))
    assert drawing.count("<rect") == 2
    assert ">3</text>" in drawing
    assert "3 to 4 hops" in drawing
    assert "data-slots" not in drawing  # the script overlays no ingress on it
    assert eccentricity_histogram(np.array([1])) == eccentricity_histogram(np.array([])) == ""
