"""Single vouchers of which one observer saw two sides: when they are believed, and when not."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from pipeline.infer.routers.observers import Observers
from pipeline.infer.routers.rules.borders_crossed import cross_borders
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.ragged import offsets
from tests.unit.pipeline.infer.handmade import infer, nodes_of

# Two addresses X and Y of one router of AS 1, entered from two others, before B of AS 2. One
# observer sees both. Behind B is the rest of AS 2.
X, Y = "20.1.3.1", "20.1.4.1"
FIRST, SECOND = "20.1.1.1", "20.1.2.1"
BEHIND = "20.2.2.1 20.2.3.1"


def nodes(scratch, b, *more, before=(FIRST, SECOND), aim="20.2.9.9"):
    lines = [
        f"20.1.91.1 20.1.92.1 {way} {side} {b} {BEHIND} > {aim}"
        for way, side in zip(before, (X, Y), strict=True)
    ]
    # Whose router b is on: its AS has the next ones, and so do destinations.
    lines += [f"20.1.91.1 20.1.92.1 20.1.5.1 {FIRST} > 20.1.9.{i}" for i in (1, 2)]
    return nodes_of(infer(scratch, *lines, *more, borders="elected", routers="inferred"))


def joined(found):
    assert X in found
    return Y not in found


@pytest.mark.parametrize("b", ["20.1.7.1", "20.2.1.1"], ids=["of-their-as", "of-its-own"])
def test_the_border_to_another_as_is_crossed_at_one_router(tmp_path, b):
    assert joined(nodes(tmp_path, b))


def test_inside_an_as_many_routers_precede_another(tmp_path):
    lines = [
        f"20.1.91.1 20.1.92.1 {way} {side} 20.1.7.1 20.1.8.1 20.1.8.5 > 20.1.9.9"
        for way, side in ((FIRST, X), (SECOND, Y))
    ]
    options = {"borders": "elected", "routers": "inferred", "without": ["two-weak-signs"]}
    assert not joined(nodes_of(infer(tmp_path, *lines, **options)))


def test_two_sides_behind_one_router_are_two_routers(tmp_path):
    assert not joined(nodes(tmp_path, "20.1.7.1", before=(FIRST, FIRST)))


def test_sides_in_one_trace_are_two_routers(tmp_path):
    assert not joined(nodes(tmp_path, "20.1.7.1", f"20.1.91.1 {X} {Y} 20.1.6.1"))


def random_case(seed, n=24):
    """Links, routers and sides of some addresses, few of which are alike."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(rng.integers(0, n, (60, 2)), axis=0)
    ones = np.ones(len(pairs), np.int64)
    links = DirectedLinks(pairs[:, 0], pairs[:, 1], ones, *[0 * ones] * 5, ones, ones == 0)
    root = np.minimum(np.arange(n), rng.integers(0, n, n))
    root = root[root[root]]
    group = np.arange(n) // 2 * 2
    asked = np.sort(rng.choice(n, 8, replace=False))
    sides = [np.sort(rng.choice(n, rng.integers(2, 4), replace=False)) for _ in asked]
    lengths = np.zeros(n, np.int64)
    lengths[asked] = [len(each) for each in sides]
    owner = rng.integers(1, 3, n)
    return links, root, group, asked, sides, offsets(lengths), owner, rng.integers(1, 3, n)


def believed(links, root, group, address, sides, owner, origin):
    """Whether an address is believed, by sets; nobody sees two ways into its router."""
    pairs = list(zip(links.near.tolist(), links.far.tolist(), strict=True))
    before = [{root[near] for near, far in pairs if far == side} for side in sides]
    behind = [{group[far] for near, far in pairs if near == side} for side in sides]
    entered_twice = any(
        before[i] & before[j]
        for i, j in combinations(range(len(sides)), 2)
        if root[sides[i]] != root[sides[j]]
    )
    (inside,) = one_as if len(one_as := {int(owner[side]) for side in sides}) == 1 else (None,)
    is_border = owner[address] != inside
    is_border &= origin[address] == inside or all(each == behind[0] for each in behind)
    return inside is not None and not entered_twice and bool(is_border)


def test_what_is_believed_agrees_with_sets_of_neighbors():
    n_believed = 0
    for seed in range(300):
        links, root, group, asked, sides, ptr, owner, origin = random_case(seed)
        nobody = Observers(np.zeros(len(root) + 1, np.int64), np.empty(0, np.int64))
        found = cross_borders(
            nobody, links, root, group, owner, origin, asked, ptr, np.concatenate(sides)
        )
        expected = [
            believed(links, root, group, address, own, owner, origin)
            for address, own in zip(asked, sides, strict=True)
        ]
        assert found.tolist() == expected
        n_believed += sum(expected)
    assert 50 < n_believed < 2_000


def test_memory_is_linear_where_many_addresses_follow_a_few():
    n_sides, n_behind = 3, 4_000  # with each pair of them, 48 million pairs
    n = n_sides + n_behind
    near, far = np.divmod(np.arange(n_sides * n_behind), n_behind)
    ones = np.ones(len(near), np.int64)
    links = DirectedLinks(near, far + n_sides, ones, *[0 * ones] * 5, ones, ones == 0)
    own = np.arange(n)
    asked = own[n_sides:]
    ptr = offsets(np.where(own < n_sides, 0, n_sides))
    sides = np.tile(np.arange(n_sides), n_behind)
    nobody = Observers(np.zeros(n + 1, np.int64), np.empty(0, np.int64))
    owner = np.where(own < n_sides, 1, 2)
    tracemalloc.start()
    try:
        found = cross_borders(nobody, links, own, own, owner, owner, asked, ptr, sides)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.all()  # all sides lead to the same, in another AS
    assert peak < 100 * sides.nbytes
