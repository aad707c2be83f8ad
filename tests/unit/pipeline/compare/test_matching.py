"""Which routers of two nights are one group, against sets joined one pair after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.compare import Night
from pipeline.compare.changes import REMOVED, make_changes
from pipeline.compare.events import group_events
from pipeline.compare.matching import match_routers

NONE = np.empty(0, np.int64)


def night(nodes, addrs, n_nodes: int) -> Night:
    """Nodes of one AS with some addresses, and nothing else."""
    addr = np.zeros((len(addrs), 2), np.uint64)
    addr[:, 1] = addrs
    return Night(
        *("night", np.array([1]), np.array([0, n_nodes]), addr, np.asarray(nodes, np.int64)),
        *(NONE, NONE, NONE, np.zeros(1, np.int64), NONE, np.zeros(n_nodes, np.int64)),
        np.zeros((n_nodes, 2), np.uint64),
    )


def sets_of(pairs, n: int) -> list[int]:
    """The smallest member of the set of each."""
    parent = list(range(n))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for x, y in pairs:
        low, high = sorted((root(x), root(y)))
        parent[high] = low
    return [root(x) for x in range(n)]


def numbers(labels: list[int]) -> list[int]:
    """Labels from 0 in ascending order."""
    return np.unique(labels, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_routers_of_a_long_chain_are_one_group(seed):
    n = 3_000  # of each night; old router i has an address of new routers i and i - 1
    rng = np.random.default_rng(seed)
    old_node, new_node = rng.permutation(n), rng.permutation(n)
    addr = np.arange(2 * n)
    old_of, new_of = old_node[addr // 2], new_node[(addr // 2 - addr % 2) % n]
    kept = rng.random(2 * n) > 1e-3 * seed  # the chain, or parts of it
    kept[1] = False  # else a ring
    old_addr = np.where(kept, addr, addr + 2 * n)
    shuffled = rng.permutation(2 * n)
    groups = match_routers(night(old_of, old_addr, n), night(new_of[shuffled], shuffled, n))
    expected = numbers(sets_of(zip(old_of[kept], n + new_of[kept], strict=True), 2 * n))
    assert groups.old.tolist() + groups.new.tolist() == expected
    assert groups.n == max(expected) + 1
    assert (groups.n == 1) == (seed == 0)


def test_routers_without_a_shared_address_are_groups_of_their_own():
    groups = match_routers(night([0, 1, 1], [7, 8, 9], 2), night([0, 1, 2], [10, 9, 8], 3))
    assert (groups.old.tolist(), groups.new.tolist(), groups.n) == ([0, 1], [2, 1, 1], 3)
    none = match_routers(night([], [], 0), night([], [], 0))
    assert (len(none.old), len(none.new), none.n) == (0, 0, 0)


def test_links_that_one_another_lead_to_are_one_event():
    n = 500  # links between ASes in a row, each of which shares its ends with the next ones
    row = np.random.default_rng(1).permutation(n)
    ends = {"asn": row, "other_asn": row + 1, "group": 2 * row, "other_group": 2 * row + 2}
    ends["group"][row == n // 2] = 2 * n + 2  # two rows of links
    changes, events = group_events(make_changes(n, "link", kind=REMOVED, n_traces=row, **ends))
    assert len(events) == 2
    assert (changes.event == (row < n // 2)).all()


def test_private_addresses_say_that_routers_of_one_as_are_one():
    ten = 0xFFFF_0A00_0001  # 10.0.0.1
    old = night([0, 1, 1, 2], [ten, ten, 8, 9], 3)
    old = replace(old, asn=np.array([1, 2]), node_ptr=np.array([0, 1, 3]))
    new = night([0, 1], [ten, ten], 2)
    new = replace(new, asn=np.array([2, 3]), node_ptr=np.array([0, 1, 2]))
    groups = match_routers(old, new)
    assert len(set(groups.old.tolist())) == 3
    assert groups.new[0] == groups.old[1]  # both in AS 2
    assert groups.new[1] not in groups.old
