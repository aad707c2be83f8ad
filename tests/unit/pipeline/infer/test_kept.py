"""Which traces are kept: three vantage points for each link and address, whatever the order."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace

import numpy as np
import pytest

from pipeline.infer import infer_topology
from pipeline.infer.kept import N_EACH, _offer_all, _Waiting
from pipeline.model.addresses import format_addr
from pipeline.model.measured.kept_traces import KeptTraces, TraceRows
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

ROUTERS = [f"20.{asn}.0.{host}" for asn in (1, 2, 3) for host in range(10, 18)]
POINTS = [f"20.9.9.{i}" for i in range(1, 8)]


def drawn_lines(seed: int, n: int) -> list[tuple[str, str]]:
    """(vantage point, line of hops) of random walks."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        hops = rng.choice(ROUTERS, size=int(rng.integers(1, 7)), replace=False).tolist()
        hops = [hop if rng.random() > 0.15 else "*" for hop in hops]
        target = f"20.4.0.{rng.integers(1, 250)}"
        lines.append((str(rng.choice(POINTS)), f"{' '.join(hops)} > {target}"))
    return lines


def kept(folder, lines, workers=1, n_files=1, **options) -> KeptTraces:
    """What is kept of lines that are spread over some files."""
    seen = []
    for at in range(n_files):
        own = [line for i, line in enumerate(lines) if i % n_files == at]
        by_point = itertools.groupby(own, key=lambda line: line[0])
        batches = [traces(*(text for _, text in group), source=point) for point, group in by_point]
        seen.append(observe(folder, *batches))
    topology = infer_topology(
        seen,
        prefixes=prefix_table(folder),
        borders="prefix",
        routers="interfaces",
        workers=workers,
        **options,
    )
    assert topology.traces is not None
    return topology.traces


def as_texts(found: KeptTraces) -> list[tuple]:
    """Each trace in words: vantage row, target, hops with TTL, address and RTT."""
    rows = found.parts[0]()
    result = []
    for i, (start, end) in enumerate(itertools.pairwise(rows.hop_ptr.tolist())):
        hops = [
            (int(rows.ttl[h]), format_addr(*found.addr[rows.interface[h]].tolist()))
            for h in range(start, end)
        ]
        target = format_addr(int(rows.target_high[i]), int(rows.target_low[i]))
        result.append((int(rows.vantage[i]), target, tuple(hops)))
    return result


def shown(lines) -> dict:
    """Vantage points of each link and each address, by all traces."""
    points: dict = {}
    for point, text in lines:
        hops = text.partition(">")[0].split()
        for hop in hops:
            if hop != "*":
                points.setdefault(hop, set()).add(point)
        for pair in itertools.pairwise(hops):
            if "*" not in pair:
                points.setdefault(pair, set()).add(point)
    return points


@pytest.mark.parametrize("seed", range(5))
def test_each_link_and_address_has_three_vantage_points_or_all_that_there_are(tmp_path, seed):
    lines = drawn_lines(seed, 400)
    found = kept(tmp_path, lines)
    kept_points: dict = {}
    for vantage, _, hops in as_texts(found):
        for _, addr in hops:
            kept_points.setdefault(addr, set()).add(vantage)
        for (ttl, near), (next_ttl, far) in itertools.pairwise(hops):
            if next_ttl == ttl + 1:
                kept_points.setdefault((near, far), set()).add(vantage)
    every = shown(lines)
    assert kept_points.keys() == every.keys()
    for what, points in every.items():
        assert len(kept_points[what]) >= min(3, len(points)), what
    assert len(found.parts[0]()) < len(lines)
    assert found.n_traces == len(lines)


def test_what_is_kept_does_not_depend_on_order_files_or_threads(tmp_path):
    lines = drawn_lines(7, 300)
    expected = kept(tmp_path, lines)
    for i, (workers, n_files) in enumerate([(1, 3), (3, 1), (3, 4)]):
        folder = tmp_path / str(i)
        folder.mkdir()
        mixed = [lines[at] for at in np.random.default_rng(i).permutation(len(lines))]
        found = kept(folder, mixed, workers, n_files)
        for each in fields(TraceRows):
            if each.name != "input":
                np.testing.assert_array_equal(
                    getattr(found.parts[0](), each.name), getattr(expected.parts[0](), each.name)
                )
        np.testing.assert_array_equal(found.rank, expected.rank)


def test_a_trace_that_alone_shows_something_goes_before_a_second_one(tmp_path):
    a, b, c = ROUTERS[:3]
    lines = [(point, f"{a} {b} > 20.4.0.1") for point in POINTS] + [(POINTS[0], f"{c} > 20.4.0.2")]
    found = kept(tmp_path, lines)
    assert sorted(found.rank.tolist()) == [0, 0, 1, 2]
    first = found.first(2)
    assert sorted(len(hops) for _, _, hops in as_texts(first)) == [1, 2]


def test_two_nights_keep_the_same_pairs_of_vantage_point_and_target(tmp_path):
    lines = drawn_lines(3, 300)
    one = kept(tmp_path, lines)
    slower = [
        (point, " ".join(f"{hop}/99" if hop[0] == "2" and ">" not in hop else hop
                         for hop in text.partition(">")[0].split()) + " >" + text.partition(">")[2])
        for point, text in lines
    ]  # fmt: skip
    (tmp_path / "b").mkdir()
    other = kept(tmp_path / "b", slower)
    assert [text[:2] for text in as_texts(one)] == [text[:2] for text in as_texts(other)]


def test_all_are_kept_where_that_is_asked_in_the_same_order_part_by_part(tmp_path, monkeypatch):
    lines = drawn_lines(5, 200)
    lines += lines[:20]  # the same again
    whole = as_texts(kept(tmp_path, lines, keep_traces=True))
    monkeypatch.setattr("pipeline.infer.kept._BUCKET_HOPS", 100)
    (tmp_path / "b").mkdir()
    mixed = [lines[at] for at in np.random.default_rng(1).permutation(len(lines))]
    found = kept(tmp_path / "b", mixed, workers=3, n_files=2, keep_traces=True)
    assert found.rank is None
    assert found.count() == len(lines)
    parts = [as_texts(replace(found, parts=[part])) for part in found.parts]
    assert len(parts) > 1
    assert [text for part in parts for text in part] == whole
    assert len(whole) == len(lines)


def test_of_equal_traces_each_is_taken_whichever_is_read_first():
    """A trace of one hop, read twice; then one of a lower priority from the same vantage point."""
    lowest = np.full((1, N_EACH), np.iinfo(np.uint64).max, np.uint64)
    points = np.full((1, N_EACH), -1, np.int32)
    nowhere = np.zeros(1, np.int64), np.zeros(2, np.int64), np.empty(0, np.int64)

    def is_taken(priority: int) -> bool:
        wanted = np.ones(1, np.bool_)
        _offer_all(
            *(np.array([0, 1]), np.ones(1, np.uint8), np.zeros(1, np.int32)),
            *(np.array([priority], np.uint64), np.zeros(1, np.int64), *nowhere),
            *(lowest, points, wanted),
        )
        return bool(wanted[0])

    assert [is_taken(5), is_taken(5), is_taken(3), is_taken(5), is_taken(3)] == [
        *(True, True, True, False, True)
    ]
    assert points.tolist() == [[0, -1, -1]]
    assert lowest[0, 0] == 3


def test_of_equal_traces_that_of_the_first_file_is_kept(tmp_path):
    found = kept(tmp_path, [line for line in drawn_lines(9, 60) for _ in range(4)], 3, 4)
    assert not found.parts[0]().input.any()
    rows = replace(found.parts[0](), input=np.arange(len(found.parts[0]()), dtype=np.int32)[::-1])
    waiting = _Waiting()
    priority = np.repeat(np.array([7, 4], np.uint64), [len(rows) - 1, 1])
    waiting.add(priority, rows)
    waiting.drop(np.array([4, 7], np.uint64))
    assert waiting.rows[0].input.tolist() == [1, 0]
    assert waiting.priorities[0].tolist() == [7, 4]
