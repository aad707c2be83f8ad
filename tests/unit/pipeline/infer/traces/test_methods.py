"""What classic traces show of balanced ways: every hop seems to follow every one before it."""

from __future__ import annotations

from itertools import product

import pytest

from pipeline.infer.traces.links import count_links
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Spools
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import classic, observe, traces

A, Z = "20.1.0.10", "20.1.0.90"
B, C = ([f"20.1.0.{i}" for i in (tens + 1, tens + 5)] for tens in (20, 30))


def crossed(tmp_path, *batches):
    seen = [observe(tmp_path, *batches)]
    addrs = merge_addresses(seen).addrs
    links = Spools(seen, addrs, 1).read(count_links())
    names = format_addrs(addrs)
    rows = links.crossed_ways().nonzero()[0].tolist()
    return {(names[links.near[row]], names[links.far[row]]) for row in rows}


EVERY = [f"{A} {b} {c} {Z} * > 20.4.0.1" for b, c in product(B, C)]


@pytest.mark.parametrize("n_more", [0, 3])
def test_two_behind_one_that_are_before_the_same_two_are_of_balanced_ways(tmp_path, n_more):
    batch = traces(*EVERY, *[f"{A} {Z} * > 20.4.0.2"] * n_more)
    assert crossed(tmp_path, classic(batch, batch.n_traces)) == set(product(B, C))
    assert crossed(tmp_path, batch) == set()  # by Paris traces they are links


def test_a_pair_that_a_paris_trace_shows_is_a_link(tmp_path):
    paris = traces(f"{A} {B[0]} {C[0]} {Z} * > 20.4.0.3")
    found = crossed(tmp_path, paris, classic(traces(*EVERY), 4))
    assert (B[0], C[0]) not in found


def test_one_common_successor_is_no_sign(tmp_path):
    batch = traces(*[f"{A} {b} {C[0]} {Z} * > 20.4.0.1" for b in B])
    assert crossed(tmp_path, classic(batch, 2)) == set()


def test_ways_that_come_from_two_routers_are_no_balanced_ways(tmp_path):
    lines = [f"20.1.0.{1 + i} {b} {c} {Z} * > 20.4.0.1" for i, b in enumerate(B) for c in C]
    assert crossed(tmp_path, classic(traces(*lines), 4)) == set()
