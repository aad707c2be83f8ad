import tracemalloc

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.collect import distances
from pipeline.collect.distances import join_distances, write_distances


def read(path):
    table = pq.read_table(path)
    return list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


@pytest.mark.parametrize(
    ("dtype", "unreached"), [(np.uint8, 255), (np.uint16, 65535), (np.int32, 2**31 - 1)]
)
def test_round_trip_with_unreached_nodes(tmp_path, dtype, unreached):
    level = np.array([[0, 1, unreached], [1, 0, unreached]], dtype)
    path = tmp_path / "new" / "10.parquet"
    write_distances(path, [(np.array([0, 1], np.int32), level)])
    assert read(path) == [(0, 0, 0), (0, 1, 1), (0, 2, None), (1, 0, 1), (1, 1, 0), (1, 2, None)]
    assert [p.name for p in path.parent.iterdir()] == ["10.parquet"]


def test_parts_join_in_the_order_of_their_sources(tmp_path):
    parts = []
    for first in (8, 0, 4):
        sources = np.arange(first, first + 4, dtype=np.int32)
        parts.append(tmp_path / f"part-{first}.parquet")
        write_distances(parts[-1], [(sources, np.tile(sources[:, None], 3).astype(np.uint8))])
    join_distances(tmp_path / "all.parquet", parts)
    assert read(tmp_path / "all.parquet") == [(s, n, s) for s in range(12) for n in range(3)]
    join_distances(tmp_path / "some.parquet", parts, np.array([1, 9], np.int32))
    assert read(tmp_path / "some.parquet") == [(s, n, s) for s in (1, 9) for n in range(3)]


def test_a_write_that_fails_leaves_nothing(tmp_path):
    def blocks():
        yield np.array([0], np.int32), np.zeros((1, 2), np.uint8)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_distances(tmp_path / "1.parquet", blocks())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("group_rows", [1, 3, 4, 9, 1000])
def test_rows_are_the_same_in_groups_of_any_size(tmp_path, monkeypatch, group_rows):
    monkeypatch.setattr(distances, "GROUP_ROWS", group_rows)
    level = np.asfortranarray(np.arange(20, dtype=np.uint8).reshape(5, 4))
    write_distances(tmp_path / "1.parquet", [(np.arange(5, dtype=np.int32), level)])
    assert read(tmp_path / "1.parquet") == [(s, n, 4 * s + n) for s in range(5) for n in range(4)]
    join_distances(tmp_path / "2.parquet", [tmp_path / "1.parquet"])
    assert read(tmp_path / "2.parquet") == read(tmp_path / "1.parquet")


def test_writing_holds_one_group_and_not_the_whole_block_in_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(distances, "GROUP_ROWS", 1 << 18)
    level = np.zeros((64, 1 << 17), np.uint8)  # 8 MiB of levels, 112 MiB as columns
    tracemalloc.start()
    write_distances(tmp_path / "1.parquet", [(np.arange(64, dtype=np.int32), level)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * (1 << 18)
