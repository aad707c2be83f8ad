"""Rows of a result: those that hold a text, sorted, some at a time, and as files."""

from __future__ import annotations

import io

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from pipeline.explore import rows
from pipeline.explore.rows import Listed
from pipeline.stages.graphs import generated_graph
from pipeline.stages.search import result_table, search_graph


def summary(algorithm: str = "bfs"):
    graph = generated_graph("grid", {"routers": "300", "cut": "0", "seed": "1"})
    source = "0" if algorithm == "bfs" else None
    return search_graph(algorithm, graph, source=source, target=None)


def test_rows_come_some_at_a_time_and_sorted():
    listed = Listed(summary())
    page = listed.answer({})
    assert page["columns"] == ["node", "level", *page["columns"][2:]]
    assert (page["n_rows"], page["n_matching"], len(page["rows"])) == (300, 300, rows.SHOWN)
    last = listed.answer({"first": 250, "sort": "level"})
    assert len(last["rows"]) == 50
    levels = [row[1] for row in listed.answer({"sort": "-level"})["rows"]]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == max(listed.table["level"].to_pylist())
    assert listed.answer({"sort": "nothing"})["rows"] == page["rows"]


def test_only_rows_that_hold_the_text_are_shown():
    listed = Listed(summary())
    found = listed.answer({"filter": " 299 "})
    assert found["n_matching"] == 1
    assert found["rows"][0][0] == 299
    assert listed.answer({"filter": "no such thing"})["rows"] == []


@pytest.mark.parametrize(
    "algorithm", ["center", "periphery", "components", "eccentricities", "mst"]
)
def test_every_node_and_link_of_an_answer_is_listed(algorithm):
    found = summary(algorithm)
    listed = Listed(found)
    table = result_table(found)
    assert listed.answer({})["n_rows"] == table.num_rows > 0
    parquet = listed.answer({"file": "parquet"})["content"]
    assert pq.read_table(io.BytesIO(parquet)).equals(table)
    csv = pacsv.read_csv(io.BytesIO(listed.answer({"file": "csv"})["content"]))
    assert csv.column_names == table.column_names
    assert csv.num_rows == table.num_rows


def test_what_is_not_reached_has_no_distance():
    assert rows._cell(float("inf")) is None
    assert rows._cell(float("nan")) is None
    assert rows._cell(1.5) == 1.5
    assert rows._cell("x") == "x"
