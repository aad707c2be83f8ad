"""Single rows of many row groups, taken by several threads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from pipeline.errors import StoreError
from pipeline.store import columns
from pipeline.store.columns import ColumnFiles, write_columns

N_ROWS, EACH = 1000, 30  # rows, and rows of a row group


@pytest.fixture
def files(tmp_path):
    path = tmp_path / "nodes-00000.parquet"
    table = pa.table({"id": np.arange(N_ROWS) * 3, "high": np.arange(N_ROWS, dtype=np.uint64)})
    write_columns(path, table, np.append(np.arange(EACH, N_ROWS, EACH), N_ROWS))
    return ColumnFiles([path], lambda name: path)


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("n_taken", [0, 1, 5, 700])
def test_rows_are_those_asked_for_whatever_their_number(files, monkeypatch, n_threads, n_taken):
    monkeypatch.setattr(columns, "n_cores", lambda: n_threads)
    positions = np.sort(np.random.default_rng(n_taken).integers(0, N_ROWS, n_taken))
    out = {"id": np.full(n_taken + 2, -1), "high": np.zeros(n_taken + 2, np.uint64)}
    assert files.take(0, positions, out, 2) == n_taken + 2
    assert out["id"][2:].tolist() == (3 * positions).tolist()
    assert out["high"][2:].tolist() == positions.tolist()
    assert out["id"][:2].tolist() == [-1, -1]


@pytest.mark.parametrize("n_threads", [1, 4])
def test_a_broken_row_group_among_many_is_named(files, monkeypatch, n_threads):
    monkeypatch.setattr(columns, "n_cores", lambda: n_threads)
    path = files.paths[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    out = {name: np.empty(N_ROWS, kind) for name, kind in (("id", np.int64), ("high", np.uint64))}
    with pytest.raises(StoreError, match=r"nodes-00000\.parquet"):
        files.take(0, np.arange(N_ROWS), out, 0)
