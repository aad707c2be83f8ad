"""Rows as text: byte by byte what pyarrow's CSV writer makes of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.generate.files.rows_text import rows_text
from tests.soak import examples


def by_pyarrow(*columns: np.ndarray) -> bytes:
    options = pacsv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    stream = pa.BufferOutputStream()
    table = pa.table([pa.array(c) for c in columns], names=[str(i) for i in range(len(columns))])
    pacsv.write_csv(table, stream, options)
    return stream.getvalue().to_pybytes()


def assert_alike(*columns: np.ndarray) -> None:
    text = rows_text(columns)
    assert text is not None
    assert bytes(text) == by_pyarrow(*columns)


def floats_of_many_kinds(n: int = 40_000) -> np.ndarray:
    """Random ones of all sizes that need no exponent, and those whose digits are hard to find."""
    rng = np.random.default_rng(20260)
    power = 2.0 ** rng.integers(-19, 33, n)
    kinds = (
        10 ** rng.uniform(-6, 9.99, n),
        (10 ** rng.uniform(-6, 9.99, n)).astype(np.float32).astype(np.float64),
        np.sqrt(rng.integers(0, 1 << 30, n)),
        (rng.random(n) * 1e5).round(2),
        rng.integers(0, 10**9, n).astype(np.float64),
        rng.integers(0, 1 << 52, n) / 2.0 ** rng.integers(20, 52, n) + 0.5,
        power,  # the next number below is half as far
        np.nextafter(power, 0),
        np.nextafter(power, np.inf),
        np.nextafter(10.0 ** rng.integers(-5, 10, n), 0),
    )
    return np.concatenate(kinds)


def test_floats():
    assert_alike(floats_of_many_kinds())
    found = [float(line) for line in bytes(rows_text([floats_of_many_kinds()])).split()]
    assert found == floats_of_many_kinds().tolist()


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.floats(1e-6, 9.999999e9), min_size=1, max_size=20))
def test_any_floats(numbers):
    assert_alike(np.array(numbers))


@settings(max_examples=examples(100), deadline=None)
@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(-(1 << 63) + 1, (1 << 63) - 1), min_size=n, max_size=n),
            st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=n, max_size=n),
            st.lists(st.text("aä b.", min_size=1, max_size=9), min_size=n, max_size=n),
        )
    )
)
def test_whole_numbers_and_words(rows):
    long, short, words = rows
    assert_alike(
        np.array(long),
        np.array(words),
        np.array(short, np.int32),
        np.array(words, object),
        np.broadcast_to("RT_NODE", len(long)),
        np.broadcast_to(0.0, len(long)),
        np.broadcast_to(np.int64(-1), len(long)),
    )


@pytest.mark.parametrize(
    "number", [np.nan, np.inf, -1.5, -0.0, 1e10, 123456789012.5, 1e-7, 5e-324, 1e300]
)
def test_other_floats_are_left_to_pyarrow(number):
    assert rows_text([np.array([1.0, number])]) is None


@pytest.mark.parametrize(
    "column",
    [
        np.array([True, False]),
        np.array([1.5, 2.5], np.float32),
        np.array([1, 2], np.uint64),
        np.array(["a", None], object),
        np.array(["a", "b\tc"]),
        np.array(["a", 'b"c']),
    ],
)
def test_other_columns_are_left_to_pyarrow(column):
    assert rows_text([column]) is None
