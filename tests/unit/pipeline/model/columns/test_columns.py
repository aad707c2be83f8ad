"""One schema makes tables: empty, of one row, end to end, some rows, apart and together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.columns import (
    Flat,
    FlatByName,
    Offsets,
    Ragged,
    concat,
    empty,
    one_row,
    put_together,
    take,
    take_apart,
)
from pipeline.model.columns.ragged import first_of_rows, join_offsets, offsets, take_rows
from pipeline.model.search.results import SearchResults, Widths


@dataclass(frozen=True, eq=False)
class Table:
    row: Annotated[np.ndarray, Flat(np.int64)]
    width: Annotated[np.ndarray, Flat(np.int64, weighted=np.float64)]
    ptr: Annotated[np.ndarray, Offsets()]
    node: Annotated[np.ndarray, Ragged("ptr", np.int32)]
    size: Annotated[np.ndarray, Ragged("ptr", np.int64, weighted=np.float64)]
    more: Annotated[dict[str, np.ndarray], FlatByName()]
    is_weighted: bool = False
    read_s: float = 0.0


def table_of(rows: list[list[int]], at: int = 0) -> Table:
    flat = np.array([node for row in rows for node in row], np.int32)
    return Table(
        row=np.arange(at, at + len(rows)),
        width=np.arange(len(rows)) * 2,
        ptr=offsets(np.array([len(row) for row in rows], np.int64)),
        node=flat,
        size=flat.astype(np.int64) + 1,
        more={"flag": np.array([bool(row) for row in rows], bool)},
        read_s=0.5,
    )


def rows_of(table: Table) -> list[tuple]:
    return [
        (
            int(table.row[i]),
            int(table.width[i]),
            table.node[table.ptr[i] : table.ptr[i + 1]].tolist(),
            table.size[table.ptr[i] : table.ptr[i + 1]].tolist(),
            bool(table.more["flag"][i]),
        )
        for i in range(len(table.row))
    ]


ROWS = st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=6)


@given(first=ROWS, second=ROWS, data=st.data())
def test_tables_end_to_end_and_rows_taken_are_those_of_lists(first, second, data):
    one, other = table_of(first), table_of(second, len(first))
    both = concat([one, other])
    assert rows_of(both) == rows_of(one) + rows_of(other)
    assert both.read_s == 1.0
    n = len(first) + len(second)
    which = data.draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else []
    taken = take(both, np.array(which, np.int64))
    assert rows_of(taken) == [rows_of(both)[i] for i in which]
    back = put_together(Table, *take_apart(taken))
    assert rows_of(back) == rows_of(taken)
    for field in fields(Table):
        before, after = getattr(taken, field.name), getattr(back, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype


def test_columns_may_be_replaced_where_rows_are_taken():
    taken = take(table_of([[1], [2, 3]]), np.array([1, 1]), row=np.array([7, 8]))
    assert [row[0] for row in rows_of(taken)] == [7, 8]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_one_row_and_none_have_the_same_dtypes(is_weighted):
    none = empty(Widths, metrics=("radius",), is_weighted=is_weighted)
    values = dict.fromkeys(
        ("row", "n_searches", "component", "diameter_lower", "diameter_upper"), 3
    ) | {"radius_lower": 1, "radius_upper": 2, "exact": False}
    one = one_row(Widths, {"metrics": ("radius",), "is_weighted": is_weighted}, **values)
    both = concat([none, one])
    for field in fields(Widths):
        before, after = getattr(none, field.name), getattr(both, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype == getattr(one, field.name).dtype
    assert (both.row.tolist(), both.path_ptr.tolist(), len(both.path)) == ([3], [0, 0], 0)


def test_a_missing_column_is_an_error():
    arrays, plain = take_apart(empty(SearchResults))
    del arrays["hop_ptr"]
    with pytest.raises(TypeError, match="hop_ptr"):
        put_together(SearchResults, arrays, plain)


def test_ragged_columns():
    ptr, values = np.array([0, 2, 2, 5]), np.arange(5)
    assert [part.tolist() for part in take_rows(ptr, values, np.array([2, 1, 2]))] == [
        [0, 3, 3, 6],
        [2, 3, 4, 2, 3, 4],
    ]
    assert [part.tolist() for part in first_of_rows(ptr, values, 1)] == [[0, 1, 1, 2], [0, 2]]
    assert join_offsets([ptr, ptr]).tolist() == [0, 2, 2, 5, 7, 7, 10]
    assert join_offsets([]).tolist() == [0]
