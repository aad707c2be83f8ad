"""Variables of pages of ASes: bounds of widths, and figures that agree with the tables."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.report import write_reports
from pipeline.report.pages.ases.as_page import as_pages
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, _levels, measured
from tests.unit.pipeline.report.pages.rounding import rounded_once
from tests.unit.pipeline.report.width_data import widths_of

N_ASES = 400
DECIMALS = {"mean": 2, "median": 1, "p90": 1}


def page_of(links, n_nodes, sources, **given) -> dict:
    snapshot = MemorySnapshot(
        {10: links}, {10: n_nodes}, [(10, v, [20], 1, 0, False) for v in sources]
    )
    (_, variables) = next(iter(as_pages(summarise(snapshot, measured(snapshot, **given)))))
    return variables


def interval_of(text: str) -> tuple[int, int]:
    lower, _, upper = text.partition("\u2013")
    return int(lower), int(upper or lower)


@pytest.mark.parametrize("seed", range(20))
def test_diameter_and_radius_lie_within_the_bounds_that_searches_show(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    links = [(int(rng.integers(0, i)), i) for i in range(1, n)]
    sources = sorted(rng.choice(n, 3, replace=False).tolist())
    found = page_of(links, n + int(rng.integers(0, 3)), sources)["bounds"]
    snapshot = MemorySnapshot({10: links}, {10: n}, [])
    every = [int(_levels(snapshot.graph(0), v).max()) for v in range(n)]
    (least_d, most_d), (least_r, most_r) = map(interval_of, found)
    assert least_d <= max(every) <= most_d
    assert least_r <= min(every) <= most_r
    assert least_d == max(every[v] for v in sources)
    assert most_r == min(n // 2, *(every[v] for v in sources))
    assert most_d <= n - 1


def test_ingresses_are_in_the_order_of_show_by_direct_traces_then_by_those_after_gaps():
    entries = [(9, 174, False), (163, 0, False), (69, 206, False), (69, 210, False), (0, 999, True)]
    snapshot = MemorySnapshot(
        {10: [(i, i + 1) for i in range(4)]},
        {10: 5},
        [(10, v, [20], *entry) for v, entry in enumerate(entries)],
    )
    (_, page) = next(iter(as_pages(summarise(snapshot, measured(snapshot)))))
    traces = re.findall(r"<td>(\d+)<td>(\d+)<td>20", page["ingresses"])
    assert [(int(n), int(m)) for n, m in traces] == [
        (163, 0),
        (69, 210),
        (69, 206),
        (9, 174),
        (0, 999),
    ]


def test_a_width_that_the_searches_prove_is_one_figure():
    star = [(0, i) for i in range(1, 6)]
    assert page_of(star, 6, [0, 3])["bounds"] == ("2", "1")


def test_searches_show_no_wider_component_than_its_routers_allow():
    line = [(0, 1), (1, 2), (2, 3)]
    assert page_of(line, 4, [1])["bounds"] == ("2\u20133", "1\u20132")
    assert page_of(line, 5, [0, 1])["bounds"] == ("3", "2")  # and one without a link
    assert page_of([(0, 1)], 2, [0])["bounds"] == ("1", "1")


def test_nothing_is_said_where_the_component_is_not_known_or_widths_were_measured():
    assert page_of([(0, 1), (2, 3)], 4, [0])["bounds"] is None  # two are as large
    assert page_of([(1, 2)], 4, [0])["bounds"] is None  # the ingress is in another one
    assert page_of([], 1, [0])["bounds"] is None
    line = MemorySnapshot({10: [(0, 1), (1, 2)]}, {10: 3}, [(10, 0, [20], 1, 0, False)])
    made = summarise(line, measured(line, widths=widths_of(line)))
    assert next(iter(as_pages(made)))[1]["bounds"] is None


def written(folder: Path, links, n_nodes, ingresses, **given) -> str:
    """The page of AS 10."""
    snapshot = MemorySnapshot({10: links}, {10: n_nodes}, ingresses, **given)
    out = write_reports(snapshot, measured(snapshot), folder, options={}, warnings=[], started=0.0)
    return (out.path / "as" / "10.html").read_text()


def words_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_shades_are_explained_only_where_there_are_some(tmp_path):
    ingresses = [(10, 0, [20], 5, 0, False), (10, 1, [30], 2, 0, False)]
    apart = written(tmp_path / "a", [], 3, ingresses)
    assert "class=flow" in apart
    assert "class=heat" not in apart
    assert "class=key" not in apart.partition("id=entries")[2].partition("</section>")[0]
    joined = written(tmp_path / "b", [(0, 1)], 3, ingresses)
    joined = joined.partition("id=entries")[2].partition("</section>")[0]
    assert "class=heat" in joined
    assert "class=key" in joined


MADE = {"inputs": [], "kind": "router", "options": {"command": "hopscope generate ba --seed 1"}}


@pytest.mark.parametrize(
    ("n_ingresses", "is_made", "says"),
    [
        (1, False, "the ingress and a path to an interface farthest from there; the other"),
        (2, True, "all ingresses and a path to a router farthest from there; the other"),
        (30, False, "the ingresses with the most traces and a path to an interface farthest from"),
        (30, True, "24 of the 30 ingresses and a path to a router farthest from all ingresses;"),
    ],
)
def test_a_folded_graph_says_which_ingresses_are_drawn(tmp_path, n_ingresses, is_made, says):
    line = [(i, i + 1) for i in range(399)]
    n_traces = 0 if is_made else 5
    ingresses = [(10, i, [20], n_traces, 0, False) for i in range(n_ingresses)]
    given = {"manifest": MADE} if is_made else {}
    text = words_of(written(tmp_path, line, 400, ingresses, **given))
    assert says in text


@pytest.mark.parametrize(
    ("given", "n", "says"),
    [
        ({}, 120, "The 100 with the most traces are shown; the other 20 are in"),
        ({"manifest": MADE}, 120, "The first 100 are shown; the other 20 are in"),
        ({}, 101, "The 100 with the most traces are shown; one more is in"),
    ],
)
def test_ingresses_without_traces_are_not_said_to_be_those_with_most(tmp_path, given, n, says):
    line = [(i, i + 1) for i in range(n - 1)]
    ingresses = [(10, i, [20], 0 if given else 5, 0, False) for i in range(n)]
    assert says in words_of(written(tmp_path, line, n, ingresses, **given))


@pytest.fixture(scope="module")
def hundreds(tmp_path_factory):
    """A report of 400 ASes, whose figures are random and hard to round."""
    rng = np.random.default_rng(11)
    ases, sizes, ingresses = {}, {}, []
    for asn in range(1, N_ASES + 1):
        n = int(rng.integers(1, 30))
        ases[asn] = [(int(rng.integers(0, i)), i) for i in range(1, n) if rng.random() < 0.95]
        sizes[asn] = n
        for node in range(n):
            if rng.random() < 0.3:
                n_direct = int(rng.integers(1, 9999))
                near = sorted(set(rng.integers(1, 2 * N_ASES, 3).tolist()) - {asn})
                is_candidate = rng.random() < 0.2
                counts = (0, n_direct) if is_candidate else (n_direct, 3)
                ingresses.append((asn, node, near, *counts, is_candidate))
    snapshot = MemorySnapshot(ases, sizes, ingresses)
    out = tmp_path_factory.mktemp("hundreds")
    return write_reports(
        snapshot, measured(snapshot), out, options={}, warnings=[], started=0.0
    ).path


def test_hundreds_of_pages_have_the_figures_of_the_tables_rounded_once(hundreds):
    ases = pq.read_table(hundreds / "ases.parquet").to_pylist()
    ingresses: dict[int, list[dict]] = defaultdict(list)
    for row in pq.read_table(hundreds / "ingresses.parquet").to_pylist():
        ingresses[row["asn"]].append(row)
    assert len(ases) == N_ASES
    assert sum(row["mean_hops"] is None for row in ases) > 20
    for row in ases:
        text = (hundreds / "as" / f"{row['asn']}.html").read_text()
        tiles = [
            html.unescape(re.sub(r"<[^>]+>", "", tile)).split()
            for tile in re.findall(
                r"<dd>(.*?)</div>", text.partition("<dl")[2].partition("</dl>")[0]
            )
        ]
        nodes, entries, mean, most, unreached, parts = tiles
        assert nodes[:2] == [f"{row['n_nodes']:,}", f"{row['n_edges']:,}"]
        assert entries == [f"{row['n_ingresses']:,}"] + (
            ["+", f"{row['n_candidates']:,}", "candidate" + "s" * (row["n_candidates"] > 1)]
            if row["n_candidates"]
            else []
        )
        wanted = [rounded_once(row[f"{name}_hops"], n) for name, n in DECIMALS.items()]
        assert mean == [wanted[0], "median", wanted[1], "\u00b7", "p90", wanted[2]]
        assert most == [rounded_once(row["max_hops"], 0)]
        assert unreached[0] == f"{row['n_unreached']:,}"
        assert parts[0] == f"{row['n_components']:,}"
        found = ingresses[row["asn"]]
        assert sum(not one["candidate"] for one in found) == row["n_ingresses"]
        assert sum(one["candidate"] for one in found) == row["n_candidates"]
        table = text.partition("id=ingresses")[2].partition("</table>")[0]
        rows = re.findall(
            r"<tr><td>(\d+)[^\n]*?<td>([\d,\u2013]+)<td>([\d,\u2013]+)<td>([\d.,\u2013]+)<td>",
            table,
        )
        assert sorted(rows) == sorted(
            (
                one["addr"],
                rounded_once(one["n_reached"], 0),
                rounded_once(one["eccentricity"], 0),
                rounded_once(one["mean_hops"], 2),
            )
            for one in found
        )
