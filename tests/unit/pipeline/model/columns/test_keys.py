"""Two numbers as one: the order of keys, and numbers that fill their halves."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.model.columns.keys import (
    common_rows,
    distinct_keys,
    is_among,
    ordered_keys,
    packed_keys,
    pair_keys,
    split_key,
)

NODES = [0, 1, 7, 2**31 - 2, 2**31 - 1]
ASNS = [0, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 1]


@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.uint64])
def test_ordered_keys_sort_like_the_pairs_and_give_them_back(kind):
    pairs = [(one, other) for one in NODES for other in ASNS]
    first, second = np.array(pairs, kind).T
    keys = ordered_keys(first, second)
    assert keys.dtype == np.int64
    assert (np.diff(keys) > 0).all()
    assert list(zip(*(half.tolist() for half in split_key(keys)), strict=True)) == pairs


def test_ordered_keys_of_columns_of_different_types():
    first, second = np.array(NODES, np.int32), np.array(ASNS, np.uint32)
    halves = split_key(ordered_keys(first, second))
    assert [half.tolist() for half in halves] == [NODES, ASNS]


def test_ordered_keys_with_as_numbers_first_differ():
    pairs = [(one, other) for one in ASNS for other in ASNS]
    first, second = np.array(pairs, np.uint32).T
    assert len(np.unique(ordered_keys(first, second))) == len(pairs)


def test_pair_keys_are_the_same_in_either_order():
    one, other = np.array([3, 9, 0], np.int64), np.array([9, 3, 0], np.int64)
    halves = split_key(pair_keys(one, other))
    assert [half.tolist() for half in halves] == [[3, 3, 0], [9, 9, 0]]


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_distinct_keys_are_those_of_numpy_and_are_found_again(n):
    rng = np.random.default_rng(n)
    keys, others = (rng.integers(-9, 9, size) << 32 | rng.integers(0, 9, size) for size in (n, 40))
    assert distinct_keys(keys).tolist() == np.unique(keys).tolist()
    assert is_among(keys, others).tolist() == np.isin(keys, others).tolist()
    assert is_among(others, keys).tolist() == np.isin(others, keys).tolist()
    assert not is_among(others, keys[:0]).any()


ADDRS = np.array([0, 5 << 40, (5 << 40) + 3, (5 << 40) + 9], np.uint64)  # none, and some of a block
WIDE = np.array([0, 2**63, 2**64 - 1], np.uint64)


@pytest.mark.parametrize("seed", range(5))
def test_packed_keys_sort_like_their_columns(seed):
    draw = np.random.default_rng(seed)
    n = 200
    columns = [
        draw.choice(ADDRS, n),
        draw.integers(-3, 3, n).astype(np.int32),
        draw.choice(WIDE, n),
        draw.choice([-(2**40), 7, 2**40], n),
    ]
    for taken in (columns, columns[:2], columns[1:2], columns[2:]):
        keys = packed_keys(*taken)
        assert len(keys) <= len(taken)
        assert np.lexsort(keys[::-1]).tolist() == np.lexsort(taken[::-1]).tolist()
        rows, packed = set(zip(*taken, strict=True)), set(zip(*keys, strict=True))
        assert len(packed) == len(rows)
    assert len(packed_keys(*columns[:2])) == 1  # few addresses of one block are few numbers
    assert len(packed_keys(np.empty(0, np.int64))) == 1


@pytest.mark.parametrize("spread", [1, 1 << 40])  # by a table, and by a search
def test_what_is_among_others_and_common_to_both(spread):
    draw = np.random.default_rng(1)
    keys, others = draw.integers(-30, 30, 50) * spread, draw.integers(0, 40, 30) * spread
    assert is_among(keys, others).tolist() == [key in set(others.tolist()) for key in keys.tolist()]
    here, there = common_rows(keys, others)
    both = sorted(set(keys.tolist()) & set(others.tolist()))
    assert keys[here].tolist() == others[there].tolist() == both
    assert here.tolist() == [keys.tolist().index(key) for key in both]
    assert there.tolist() == [others.tolist().index(key) for key in both]
    assert not is_among(keys, others[:0]).any()
    assert [len(rows) for rows in common_rows(keys[:0], others)] == [0, 0]
