"""The page of all ASes: what it says of traces, of topologies and of vantage points."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline.model.measured.observations import Steps, Vantages
from pipeline.report import write_reports
from pipeline.report.pages import internet_page
from tests.addresses import parse_addrs
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

HOSTILE = '</script><script>alert(1)</script>"&amp;'
MAP = {"path": "b.brite", "format": "brite", "kind": "router", "as_ranges": [[10, 40]]}


def three(manifest: dict | None = None, *, traces: bool = True) -> MemorySnapshot:
    n = 1 if traces else 0
    snapshot = MemorySnapshot(
        {10: [(0, 1)], 20: [(0, 1)], 30: []},
        {10: 2, 20: 2, 30: 1},
        [(10, 0, [20], 7 * n, 0, False), (20, 0, [10], 1234 * n, 0, False)],
        names={20: HOSTILE},
        manifest=manifest,
    )
    snapshot.of_borders = [(10, 20, 1241 * n)]
    return snapshot


def written(snapshot: MemorySnapshot, folder: Path) -> str:
    out = write_reports(
        snapshot, measured(snapshot), folder, options={}, warnings=[], started=time.time()
    ).path
    return (out / "internet.html").read_text()


def words(markup: str) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", markup).split()))


def test_the_mapped_share_is_said_and_a_low_one_is_a_warning(tmp_path):
    counts = {"n_addrs": 1000, "n_addrs_mapped": 900}
    enough = written(three({"counts": counts}), tmp_path / "a")
    assert '<p class="quiet">900 of 1,000 addresses mapped or admitted (90.0\xa0%).' in enough
    low = written(three({"counts": counts | {"n_addrs_mapped": 899}}), tmp_path / "b")
    assert '<p class="note warn">899 of 1,000 addresses mapped or admitted (89.9\xa0%).' in low
    assert "mapped or admitted" not in written(three(), tmp_path / "c")


def test_the_head_of_a_column_keeps_its_capitals_and_a_map_of_ases_is_a_graph(tmp_path):
    of_ases = {"kind": "as", "inputs": [MAP | {"kind": "as"}]}
    markup = written(three(of_ases, traces=False), tmp_path)
    assert '<th scope="col" aria-sort="descending">ASes<' in markup
    assert "Ases" not in markup
    assert '<p class="lede">3 graphs of ASes, 1 pair' in markup
    assert "so graphs are sized by their ASes" in markup
    assert "<h2>All graphs, by ASes</h2>" in markup


def test_traces_size_ases_and_what_was_not_entered_is_said(tmp_path):
    markup = written(three(), tmp_path)
    text = words(markup)
    assert "3 ASes, 1 pair of linked ASes." in text
    assert "1 AS that no trace was seen to enter from another AS is not on the map." in text
    assert "All ASes that traces entered, by entering traces" in text
    rows = re.findall(r"<tr data-x.*?\n", markup)
    assert [words(row) for row in rows] == [f"20 {HOSTILE} 1,234 1 1", "10 7 1 1"]
    assert 'data-links="0 1 1241"' in markup or 'data-links="1 0 1241"' in markup
    assert "<script>" not in markup
    assert 'href="as_links.parquet"' in markup
    assert 'href="index.html"' in markup
    index = (tmp_path / "2026-11-21" / "index.html").read_text()
    assert 'href="internet.html"' in index


def test_a_topology_is_sized_by_its_routers_and_has_no_vantage_points(tmp_path):
    text = words(written(three({"inputs": [MAP], "kind": "router"}, traces=False), tmp_path))
    assert "This snapshot has no traces, so ASes are sized by their routers" in text
    assert "All ASes, by routers" in text
    assert "Topologies have no vantage points." in text
    assert "entering traces" not in text


@pytest.mark.parametrize("traces", [True, False])
@pytest.mark.parametrize(
    ("kind", "noun", "other"),
    [("interface", "interface", "router"), ("router", "router", "interface")],
)
def test_nodes_are_called_what_they_are_in_text_and_attributes(kind, noun, other, traces, tmp_path):
    held = {"path": "a.warts", "format": "warts", "kind": kind, "as_ranges": [[10, 40]]}
    markup = written(three({"inputs": [held], "kind": kind}, traces=traces), tmp_path)
    main = markup.partition("<main>")[2].lower()
    assert other not in main
    assert f"<h2>{noun}s of an as</h2>" in main  # a distribution
    sized = [f"sized by their {noun}s", f"by {noun}s</h2>", f'data-size="{noun}s"']
    assert [text in main for text in sized] == [not traces] * 3


def test_a_generated_snapshot_says_so(tmp_path):
    made = {"model": "ba", "seed": 3, "command": "hopscope generate ba --routers 5 --seed 3"}
    text = words(written(three({"options": made, "kind": "router"}, traces=False), tmp_path))
    assert "Synthetic These figures were not measured" in text
    assert "hopscope generate ba --routers 5 --seed 3" in text


def test_without_links_the_page_says_why_there_is_no_map(tmp_path):
    snapshot = MemorySnapshot({10: [(0, 1)]}, {10: 2}, [(10, 0, [20], 7, 0, False)])
    markup = written(snapshot, tmp_path)
    assert "<canvas" not in markup
    assert "The report has one AS, so there is no link to draw." in words(markup)
    alone = written(MemorySnapshot({10: [(0, 1)]}, {10: 2}, []), tmp_path / "alone")
    assert "No AS has an ingress or is linked to another one." in words(alone)  # it has a link


def cross(snapshot: MemorySnapshot, steps: list[list[int]]) -> None:
    """Three vantage points and the steps of their traces.

    A step: vantage point, row of the step before, node, traces. Nodes end to end: 0, 1 of
    AS 10, 2, 3 of AS 20, 4 of AS 30.
    """
    vantage, before, node, n_traces = np.array(steps, np.int32).T
    none = np.zeros(len(steps))
    snapshot.of_paths = Steps(vantage, before, none, node, none, n_traces, none)
    addrs = np.array(parse_addrs(["192.0.2.1", "2001:db8::1", "192.0.2.9"]), np.uint64)
    snapshot.of_vantages = Vantages(addrs[:, 0], addrs[:, 1], np.array([10, -1, 30]))


def test_an_as_that_no_trace_enters_is_hollow_and_vantage_points_stand_where_traces_begin(tmp_path):
    """The only vantage point is in AS30, which no trace enters: it was not on the map."""
    snapshot = three()
    snapshot.of_borders.append((30, 10, 9))
    cross(snapshot, [[0, -1, 4, 9], [0, 0, 0, 9], [0, 1, 2, 7]])
    markup = written(snapshot, tmp_path)
    text = words(markup)
    assert "not on the map" not in text
    assert "All ASes that traces crossed, by traces" in text
    assert "or enter after a gap. Triangles are vantage points" in markup
    rows = re.findall(r"<tr data-x=\S+ data-y=[^ >]+([^>]*)>(.*?)\n", markup)
    assert [(more, words(row)) for more, row in rows] == [
        ("", f"20 {HOSTILE} 1,234 1 1"),
        ("", "10 9 1 2"),
        (' data-hollow data-vantages="1"', "30 9 0 1"),
    ]
    (links,) = re.findall(r'data-links="([^"]*)"', markup)
    assert {tuple(link.split()[:2]) for link in links.split(",")} == {("1", "0"), ("2", "1")}


def test_a_very_long_name_is_shortened_in_the_table_and_among_the_extremes(tmp_path):
    snapshot = three()
    snapshot.as_name = ["", "W" * 300, ""]
    markup = written(snapshot, tmp_path)
    assert "W" * 300 not in words(markup)
    assert markup.count("W…</bdi>") >= 2


def test_equal_extremes_are_all_named_or_counted(tmp_path):
    text = words(written(three(), tmp_path / "three"))
    assert "most ingresses 1 AS10 and AS20 " in text
    assert "most traces by one ingress 1,234 AS20 " in text
    asns = range(1, 6)
    entries = [(asn, 0, [9], 7, 0, False) for asn in asns]
    five = MemorySnapshot({asn: [] for asn in asns}, dict.fromkeys(asns, 1), entries)
    text = words(written(five, tmp_path / "five"))
    equal = r"by one ingress 7 AS1 at \S+ , AS2 at \S+ , AS3 at \S+ and 2 more "
    assert re.search(equal, text)


def test_vantage_points_that_saw_nothing_are_told_apart(tmp_path):
    snapshot = three()
    cross(snapshot, [[0, -1, 0, 5], [0, 0, 2, 5], [1, -1, 1, 3], [1, 2, 2, 3]])
    text = words(written(snapshot, tmp_path))
    assert "seen by 2 of 3 vantage points." in text
    assert "Vantage point In AS First AS Traces across ASes ASes seen" in text
    assert "1 of the 3 vantage points saw no AS. Each of the other 2 saw 2 of 3 ASes." in text


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        ([0], "The vantage point saw no AS."),
        ([7], "The vantage point saw 7 of 1,000 ASes."),
        ([0, 0], "None of the 2 vantage points saw any."),
        ([0, 0, 9], "2 of the 3 vantage points saw no AS. The other one saw 9 of 1,000 ASes."),
        ([9, 9], "Each of the 2 vantage points saw 9 of 1,000 ASes."),
        (
            [9, 3, 9],
            "At least half of the 3 vantage points saw 9 of 1,000 ASes, the others fewer.",
        ),
        ([1, 2, 8], "Half of the 3 vantage points saw at most 2 of 1,000 ASes, the best one 8."),
        (
            [0] * 9 + [30, 5, 4, 4, 3, 2],
            "9 of the 15 vantage points saw no AS. "
            "Half of the other 6 saw at most 4 of 1,000 ASes, the best one 30.",
        ),
    ],
)
def test_coverage_is_told_without_those_that_saw_nothing(seen, says):
    assert internet_page._coverage_text(np.array(seen), 1000) == says


@pytest.mark.parametrize("listed", [100, 1])
def test_coverage_lists_what_each_vantage_point_saw(tmp_path, monkeypatch, listed):
    monkeypatch.setattr(internet_page, "MAX_VANTAGES", listed)
    snapshot = three()
    # The first one saw 10 and 20.
    cross(snapshot, [[0, -1, 0, 5], [0, 0, 2, 5], [1, -1, 2, 3]])
    markup = written(snapshot, tmp_path)
    text = words(markup)
    assert "Half of the other 2 saw at most 1 of 3 ASes, the best one 2." in text
    rows = [words(row) for row in re.findall(r'<tr><td class="l">.*?\n', markup)]
    every = ["192.0.2.1 10 10 5 2", "2001:db8::1 \u2013 20 3 1", "192.0.2.9 30 \u2013 0 0"]
    assert rows == every[:listed]
    assert ("Listed are the 1 that saw the most." in text) == (listed == 1)


def test_names_too_long_for_the_page_are_cut_and_whole_where_one_points(tmp_path):
    snapshot, name = three(), "very long " * 500
    snapshot.as_name[1] = name.strip()
    markup = written(snapshot, tmp_path)
    assert max(map(len, re.findall(r">([^<]*very long[^<]*)<", markup))) == 80
    assert f'title="{name.strip()}"' in markup
