"""Drawings show the graph: whole while it is small, folded where it is large."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pipeline.report.drawing.of_ases import MAX_GROUPS, MAX_INGRESSES, MAX_WHOLE, Drawer
from pipeline.report.tables.listed import list_ases
from pipeline.report.tables.summarise import summarise
from tests.markup import Parsed
from tests.unit.pipeline.report.memory import MemorySnapshot, measured


def drawn(links, n_nodes, ingresses, **given):
    snapshot = MemorySnapshot({10: links, 20: []}, {10: n_nodes, 20: 1}, ingresses, **given)
    summary = summarise(snapshot, measured(snapshot))
    return Drawer(summary, list_ases(summary.ases)).all()


def rows_of(found) -> list[list[str]]:
    return [row.split("<td>")[1:] for row in str(found.rows).strip().split("\n")]


def path_links(found) -> list[tuple]:
    """Both ends of each link of the drawing, without the marked path and neighbours."""
    (path,) = re.findall(r'<path class=k d="([^"]*)"', found.svg)
    lines, here = [], (0, 0)
    for letter, text in re.findall(r"([MLq])([^MLq]*)", path):
        numbers = list(map(int, re.findall(r"-?\d+", text)))
        if letter == "q":
            numbers = [here[0] + numbers[2], here[1] + numbers[3]]
        for end in zip(numbers[::2], numbers[1::2], strict=True):
            if letter != "M":
                lines.append(tuple(sorted([here, end])))
            here = end
    return lines


def test_a_small_graph_is_drawn_whole_and_its_table_has_every_link():
    ring = [(i, (i + 1) % 6) for i in range(6)]
    found, none = drawn(ring, 7, [(10, 0, [20, 30], 5, 0, False)], names={20: "<b>"})
    assert none is None  # one node needs no drawing
    elements = [given.get("class") for _, given in Parsed(found.svg).elements]
    assert len(set(path_links(found))) == len(path_links(found)) == 6
    rows = rows_of(found)
    assert [row[2] for row in rows] == ["0", "1", "1", "2", "2", "3", "unreached"]
    ends = {int(row[0]): [int(n) for n in row[3].split()] for row in rows}
    assert sorted(len(some) for some in ends.values()) == [0, 2, 2, 2, 2, 2, 2]
    assert all(i in ends[j] for i, some in ends.items() for j in some)
    assert (found.n_nodes, found.n_folded, found.from_ingress) == (7, 0, True)
    assert found.groups == [(1, 20, "<b>", True), (2, 30, "", False)]
    # A dot of each neighbour and of the ingress, in the colour of the neighbour.
    assert [name for name in elements if name and name.startswith("dot c")] == ["dot c1", "dot c2"]


def test_a_large_graph_is_folded_around_ingresses_and_a_path():
    n = MAX_WHOLE + 200
    star = [(0, i) for i in range(1, n - 3)]
    links = [*star, (1, n - 3), (n - 3, n - 2), (n - 2, n - 1)]
    ingresses = [(10, 0, [20], 9, 0, False), (10, 7, [30], 4, 0, False)]
    found, _ = drawn(links, n, ingresses)
    rows = rows_of(found)
    names = [row[1] for row in rows]
    assert f"{n - 6:,} more" in names  # of the first layer: all but an ingress and one on the path
    assert len(rows) == 7  # two ingresses, four on the path, and what is folded
    assert (found.n_nodes, found.n_folded) == (6, n - 6)
    assert 'class="k way"' in found.svg
    assert sum(name.endswith("more") for name in names) == 1
    assert len(found.svg) < 4_000


def test_the_page_of_a_very_long_graph_stays_small():
    n = 3000
    line = [(i, i + 1) for i in range(n - 1)]
    found, _ = drawn(line, n, [(10, i, [20 + i], i + 1, 0, False) for i in range(60)])
    assert len(found.svg) + len(found.rows) < 15_000
    assert found.n_nodes <= MAX_INGRESSES + 41
    assert len(found.groups) == MAX_GROUPS
    assert found.groups[-1][1] is None  # all other neighbours


def test_without_an_ingress_layers_begin_where_most_links_are():
    found, _ = drawn([(0, 1), (1, 2), (1, 3)], 4, [])
    assert not found.from_ingress
    assert [row[2] for row in rows_of(found)] == ["0", "1", "1", "1"]


@pytest.mark.parametrize("n_nodes", [6, MAX_WHOLE + 50])
def test_without_an_ingress_no_part_of_the_nodes_is_called_unreached(n_nodes):
    """All of them are: those that no path links to the first layer stand apart."""
    found, _ = drawn([(0, 1), (1, 2), (1, 3)], n_nodes, [])
    assert rows_of(found)[-1][2] == "apart"
    assert ">apart</text>" in found.svg
    assert "unreached" not in found.svg + found.rows


@pytest.mark.parametrize("n_nodes", [12, MAX_WHOLE + 50])
def test_the_same_graph_is_always_drawn_the_same(n_nodes):
    rng = np.random.default_rng(3)
    links = {tuple(sorted(map(int, rng.integers(0, n_nodes, 2)))) for _ in range(2 * n_nodes)}
    links = sorted(pair for pair in links if pair[0] != pair[1])
    ingresses = [(10, i, [20, 30], 5 + i, 0, False) for i in range(4)]
    first, again = (drawn(links, n_nodes, ingresses)[0] for _ in range(2))
    assert first == again
    ends = sum(len(row[3].split()) for row in rows_of(first))
    assert len(set(path_links(first))) == len(path_links(first)) == ends // 2
