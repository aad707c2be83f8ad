"""Neighbours of a node as text: most traces first, linked where there is a page."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.report.pages.ases.neighbor_texts import MAX_NEIGHBORS, neighbor_texts

LISTS = pa.list_(pa.int64())


def texts(asns, counts, ixps=None, linked=()) -> list[str]:
    given = None if ixps is None else pa.array(ixps, pa.list_(pa.string()))
    return neighbor_texts(
        pa.array(asns, LISTS), pa.array(counts, LISTS), given, linked=np.array(linked, np.int64)
    )


def test_most_traces_come_first_and_pages_are_linked():
    found = texts([[10, 20, 30], [20]], [[1, 1200, 1], [0]], linked=[20, 40])
    assert found == [
        "<td><a href=20.html>20</a> (1,200), 10 (1), 30 (1)",
        "<td><a href=20.html>20</a>",
    ]


def test_of_many_the_first_are_named_and_the_others_counted():
    n = MAX_NEIGHBORS + 3
    (found,) = texts([list(range(1, n + 1))], [list(range(n, 0, -1))])
    pairs = " ".join(f"{i} {n + 1 - i}" for i in range(1, n + 1))
    assert found.startswith(f'<td data-n="{pairs}">1 (9), 2 (8)')
    assert found.endswith(f"{MAX_NEIGHBORS} (4) +3")


def test_exchange_points_are_text_and_unknown_counts_none():
    assert texts([[10, 20]], [None], [["<i>", None]]) == [
        '<td data-n="10 0 20 0">10 by &lt;i&gt;, 20'
    ]
