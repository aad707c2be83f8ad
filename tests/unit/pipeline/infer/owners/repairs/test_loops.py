"""Paths that leave an AS and come back to it."""

import numpy as np
import pytest

from pipeline.infer.owners.repairs import runs
from pipeline.infer.owners.repairs.loops import LONGEST, WIDTH, find_loops
from pipeline.infer.traces import spool
from pipeline.infer.traces.merge import merge_addresses
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import distinct_paths, observe, traces


def loops_of(tmp_path, *batches, routers=(), nowhere=(), workers=1):
    """Loops as texts of three runs; ``20.A.R.*`` is in AS A, and a router by itself unless given.

    ``nowhere``: routers in no AS.
    """
    seen = [observe(tmp_path, traces(*lines)) for lines in batches]
    addrs = merge_addresses(seen).addrs
    names = format_addrs(addrs)
    first = {name: names.index(one[0]) for one in routers for name in one}
    group = np.array([first.get(name, i) for i, name in enumerate(names)])
    label = np.array([-1 if name in nowhere else int(name.split(".")[1]) for name in names])
    found = find_loops(distinct_paths(seen, addrs, workers=workers), group, label)
    assert found.groups.dtype == np.int32
    assert found.groups.shape[1] == WIDTH
    texts = [" ".join(names[g] for g in run if g >= 0) for run in found.groups]
    return [tuple(texts[run] for run in loop) for loop in found.runs.tolist()]


def chain(asn, n, start=1):
    return " ".join(f"20.{asn}.0.{i}" for i in range(start, start + n))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("20.1.0.1 20.2.0.1 20.1.0.2", [("20.1.0.1", "20.2.0.1", "20.1.0.2")]),
        ("20.1.0.1 * 20.2.0.1 * * 20.1.0.2", [("20.1.0.1", "20.2.0.1", "20.1.0.2")]),
        ("20.1.0.1 20.2.0.1 20.3.0.1", []),
        ("20.1.0.1 20.2.0.1 20.3.0.1 20.1.0.2", []),  # three runs in two ASes are looked for
        ("20.1.0.1 20.1.0.2", []),
        ("20.1.0.1 20.2.0.1", []),
        (
            f"{chain(3, 1)} {chain(1, 2)} {chain(2, 3)} {chain(1, 2, 3)} {chain(2, 1, 9)}",
            [
                (chain(1, 2), chain(2, 3), chain(1, 2, 3)),
                (chain(2, 3), chain(1, 2, 3), chain(2, 1, 9)),
            ],
        ),
    ],
)
def test_a_loop_is_three_runs_of_routers_in_two_ases(tmp_path, line, found):
    assert sorted(loops_of(tmp_path, [line])) == found


def test_routers_in_no_as_are_passed_over(tmp_path):
    line = "20.1.0.1 20.3.0.1 20.2.0.1 20.4.0.1 20.1.0.2"
    assert loops_of(tmp_path, [line]) == []
    found = loops_of(tmp_path, [line], nowhere=("20.3.0.1", "20.4.0.1"))
    assert found == [("20.1.0.1", "20.2.0.1", "20.1.0.2")]


def test_two_addresses_of_one_router_are_one(tmp_path):
    line = "20.1.0.1 20.2.0.1 20.2.0.5 20.1.0.2"
    found = loops_of(tmp_path, [line], routers=[("20.2.0.1", "20.2.0.5")])
    assert found == [("20.1.0.1", "20.2.0.1", "20.1.0.2")]


def test_a_destination_that_is_no_router_ends_no_loop(tmp_path):
    line = "20.1.0.1 20.2.0.1 20.1.0.9! > 20.1.0.9"
    seen = [observe(tmp_path, traces(line))]
    merged = merge_addresses(seen)
    addrs = merged.addrs[merged.is_router]
    label = np.array([1, 2])
    assert not len(find_loops(distinct_paths(seen, addrs), np.arange(2), label).runs)


def test_of_long_runs_one_router_more_than_the_longest_is_kept(tmp_path):
    n = LONGEST + 5
    line = f"{chain(1, n)} {chain(2, n)} {chain(1, n, 101)}"
    (found,) = loops_of(tmp_path, [line])
    # Of the first run those that are next to the other AS.
    assert found == (chain(1, WIDTH, n - WIDTH + 1), chain(2, WIDTH), chain(1, WIDTH, 101))


def test_the_longest_traces_are_read_whole(tmp_path):
    line = " ".join(f"20.{1 + i % 2}.{i}.1" for i in range(255))
    assert len(loops_of(tmp_path, [line])) == 253


def test_a_loop_of_many_traces_counts_once(tmp_path):
    line = "20.1.0.1 20.2.0.1 20.1.0.2"
    more = ["20.3.0.1 20.1.0.1 20.2.0.1 20.1.0.2 20.4.0.1", "20.3.0.2 20.2.0.1 20.1.0.2"]
    found = loops_of(tmp_path, [line] * 3 + more, [line])
    assert found == [("20.1.0.1", "20.2.0.1", "20.1.0.2")]


LINES = [f"20.1.{i}.1 20.2.{i % 7}.1 20.1.{i + 100}.1" for i in range(40)]


@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_kept_of_many_loops_does_not_depend_on_order_or_threads(
    tmp_path, monkeypatch, workers
):
    monkeypatch.setattr(spool, "BLOCK_HOPS", 9)
    every = loops_of(tmp_path, LINES)
    assert len(every) == 40
    monkeypatch.setattr(runs, "_MOST_ROWS", 5)
    kept = loops_of(tmp_path, LINES)
    assert len(kept) == 5
    assert set(kept) < set(every)
    assert loops_of(tmp_path, LINES[::-1], workers=workers) == kept
    assert loops_of(tmp_path, LINES[25:], LINES, LINES[:25], workers=workers) == kept


def test_no_traces_have_no_loops(tmp_path):
    none = distinct_paths([], np.empty((0, 2), np.uint64))
    found = find_loops(none, np.empty(0, int), np.empty(0, int))
    assert found.groups.shape == (0, WIDTH)
    assert found.runs.shape == (0, 3)
