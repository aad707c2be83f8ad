"""Files of columns that threads encode: byte by byte those of one writer."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.store import columns as store_columns
from pipeline.store.columns import as_arrow, write_columns, write_parts
from pipeline.store.footers import Footer, footer_of

N = 5000


def every_kind_of_column() -> pa.Table:
    rng = np.random.default_rng(3)
    whole = rng.integers(-(1 << 40), 1 << 40, N)
    return pa.table(
        {
            "indices": as_arrow(rng.integers(0, 900, N).astype(np.int32)),
            "weight": as_arrow(rng.random(N).astype(np.float32)),
            "id": pa.array(whole, mask=whole % 5 == 0),
            "type": as_arrow(np.broadcast_to(np.array("E_RT"), N)),
            "place": pa.array([None if n % 7 else f"place {n}" for n in range(N)]),
            "directed": as_arrow(whole % 3 == 0),
        }
    )


def rows_of(table: pa.Table):
    return {
        name: lambda start, stop, name=name: table[name].slice(start, stop - start).combine_chunks()
        for name in table.column_names
    }


@pytest.mark.parametrize(
    "ends", [[N], [1200, 1200, 1300, N], [*range(7, N, 7), N]], ids=["one", "some", "many"]
)
@pytest.mark.parametrize("apart", [True, False], ids=["apart", "together"])
def test_the_file_is_that_of_one_writer(tmp_path, monkeypatch, ends, apart):
    # Footers of many row groups have lists and positions of each length in bytes.
    monkeypatch.setattr(store_columns, "ROW_GROUP", 1 if apart else N)
    table = every_kind_of_column()
    write_columns(tmp_path / "one.parquet", table, ends)
    expected = (tmp_path / "one.parquet").read_bytes()
    for n_threads in (1, 3):
        path = tmp_path / f"{n_threads}.parquet"
        with ThreadPoolExecutor(n_threads) as pool:
            written = write_parts(path, rows_of(table), ends, pool)
        assert path.read_bytes() == expected
        assert written.sha256 == hashlib.sha256(expected).hexdigest()
        assert written.n_rows == N
    assert pq.read_table(path, page_checksum_verification=True) == table


def test_a_file_without_rows_is_that_of_one_writer(tmp_path):
    table = every_kind_of_column().slice(0, 0)
    write_columns(tmp_path / "one.parquet", table, [0])
    with ThreadPoolExecutor(1) as pool:
        write_parts(tmp_path / "parts.parquet", rows_of(table), [], pool)
    assert (tmp_path / "parts.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()


def test_an_error_in_a_column_is_raised(tmp_path):
    def broken(start, stop):
        if stop > 10:
            raise ValueError("no such rows")
        return as_arrow(np.zeros(stop - start))

    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="no such rows"):
        write_parts(tmp_path / "parts.parquet", {"x": broken}, [10, 20, 30], pool)


def test_a_footer_with_statistics_and_page_indexes_stays_as_it_is():
    # Fields that we do not write, of other settings of the writer.
    stream = pa.BufferOutputStream()
    table = every_kind_of_column()
    with pq.ParquetWriter(
        stream, table.schema, write_page_index=True, compression="zstd", version="1.0"
    ) as writer:
        writer.write_table(table, row_group_size=N)
    file = memoryview(stream.getvalue()).cast("B")
    footer = Footer(file)
    footer._groups = footer_of(file)[4][1][1]
    footer._n_rows = N
    assert bytes(file).endswith(footer.end())


def test_what_is_no_footer_is_refused():
    with pytest.raises(ValueError, match="Parquet does not use"):
        footer_of(memoryview(b"\x1e\x00\x02\x00\x00\x00PAR1"))
