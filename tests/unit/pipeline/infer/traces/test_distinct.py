"""Distinct paths: each once, whole, with what traces along them were aimed at."""

import numpy as np
import pytest

from pipeline.infer.traces import distinct, spool
from pipeline.infer.traces.merge import merge_addresses
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import distinct_paths, observe, traces


def whole(paths, names):
    """All paths as texts, as often as they are kept."""
    found = []
    for tree, _ in paths.trees:
        for hop_ptr, ids in tree.whole_paths():
            for start, end in zip(hop_ptr[:-1].tolist(), hop_ptr[1:].tolist(), strict=True):
                found.append(" ".join(names[i] for i in ids[start:end].tolist()))
    return found


def drawn_lines(n, seed=1):
    """Traces that often go where others went; hops may stay unanswered."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        hops = [f"20.1.{level}.{rng.integers(1, 3)}" for level in range(rng.integers(1, 7))]
        lines.append(" ".join("*" if rng.random() < 0.1 else hop for hop in hops))
    return lines


@pytest.mark.parametrize("most_nodes", [1 << 24, 40])
@pytest.mark.parametrize("chunk", [1 << 16, 3])
def test_every_path_is_kept_whole(tmp_path, monkeypatch, most_nodes, chunk):
    monkeypatch.setattr(spool, "BLOCK_HOPS", 20)
    monkeypatch.setattr(distinct, "_MOST_NODES", most_nodes)
    monkeypatch.setattr(distinct, "_CHUNK", chunk)
    lines = drawn_lines(300)
    seen = [observe(tmp_path, *(traces(line) for line in lines))]
    names = format_addrs(merge_addresses(seen).addrs)
    # Whether a hop follows the one before at once makes two paths of the same addresses.
    expected = {line.rstrip(" *").lstrip("* ") for line in lines} - {""}
    paths = distinct_paths(seen, merge_addresses(seen).addrs)
    found = whole(paths, names)
    assert set(found) == {" ".join(w for w in line.split() if w != "*") for line in expected}
    if most_nodes == 1 << 24:
        assert len(paths.trees) == 1
        assert len(found) == len({line.replace("* * ", "* ") for line in expected})
    else:
        assert len(paths.trees) > 1


def test_a_tree_is_read_in_one_direction(tmp_path):
    seen = [observe(tmp_path, traces(*drawn_lines(300)))]
    ((tree, _),) = distinct_paths(seen, merge_addresses(seen).addrs).trees
    assert tree.depth[0] == 0
    assert (np.diff(tree.depth.astype(int)) <= 1).all()
    above, nodes = [], set()
    for code, depth in zip(
        (tree.code & ~np.uint32(distinct.END)).tolist(), tree.depth, strict=True
    ):
        above[depth:] = [code]
        nodes.add(tuple(above))
    assert len(nodes) == len(tree.code)  # no path has two nodes


A, B, C = "20.1.0.1", "20.1.0.2", "20.1.0.3"


def test_what_traces_were_aimed_at_is_counted_where_they_end(tmp_path):
    lines = [
        *[f"{A} {B} > 20.0.8.1"] * 2,
        f"{A} {B} > 20.0.8.2",
        f"{A} {B} 20.0.8.3! > 20.0.8.3",
        f"{A} {B} * 20.0.8.4! > 20.0.8.4",
        f"{A} > 20.0.8.1",
        "20.0.8.5! > 20.0.8.5",
    ]
    seen = [observe(tmp_path, traces(*lines))]
    merged = merge_addresses(seen)
    addrs = merged.addrs[merged.is_router]
    names = format_addrs(addrs)
    ((_, aimed),) = distinct_paths(seen, addrs).trees
    last = ["" if i < 0 else names[i] for i in aimed.last.tolist()]
    rows = zip(last, aimed.n_traces.tolist(), aimed.before_gap.tolist(), strict=True)
    expected = [("", 1, False), (A, 1, False), *[(B, 1, False)] * 2, (B, 1, True), (B, 2, False)]
    assert sorted(rows) == expected
    assert len(set(aimed.number.tolist())) == 5
    assert (np.diff(aimed.node) >= 0).all()


def test_destinations_in_unannounced_space_are_not_kept(tmp_path):
    seen = [observe(tmp_path, traces(f"{A} {B} > 20.0.8.1"))]
    ((_, aimed),) = distinct_paths(seen, merge_addresses(seen).addrs, asn=-1).trees
    assert not len(aimed.node)


def test_equal_rows_are_added_up_however_often_they_are_folded(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "BLOCK_HOPS", 8)
    monkeypatch.setattr(distinct, "_FOLD_ROWS", 2)
    lines = [f"{A} {B} > 20.0.8.{aim}" for aim in (1, 2, 1, 3)] * 10
    seen = [observe(tmp_path, *(traces(line) for line in lines))]
    ((_, aimed),) = distinct_paths(seen, merge_addresses(seen).addrs).trees
    assert sorted(aimed.n_traces.tolist()) == [10, 10, 20]


def test_of_very_many_traces_some_destinations_are_looked_at_always_the_same(monkeypatch):
    monkeypatch.setattr(distinct, "_MOST_TRACES", 100)
    words = np.random.default_rng(1).integers(0, 1 << 63, 10_000, np.uint64)
    few, fewer = (distinct._is_looked_at(words, n) for n in (150, 400))
    assert distinct._is_looked_at(words, 100).all()
    assert 0.45 < few.mean() < 0.55
    assert 0.2 < fewer.mean() < 0.3
    assert few[fewer].all()
