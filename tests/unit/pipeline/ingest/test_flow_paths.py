from __future__ import annotations

from itertools import pairwise

import numpy as np

from pipeline.ingest.columns import TraceColumns
from pipeline.ingest.flow_paths import ANSWER, Head, write_paths
from pipeline.model.measured.traces import (
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
    PART_CUT,
    PART_FURTHER,
    TraceBatch,
)

HEAD = Head(np.uint64(0), np.uint64(1), np.uint64(0), np.uint64(2), 5.0)
NO_SPLIT = 256


def paths(
    flows: dict[int, str],
    first: int = 1,
    splits_at: int = NO_SPLIT,
    seed: int | None = None,
    hosts: str = "",
) -> tuple[list[tuple[str, int]], TraceBatch]:
    """Paths of flows given as one letter per TTL from 2 on, ``.`` where nobody answered.

    ``x|y``: both answered. ``hosts`` answer as destinations. Node ``A`` is the first, at TTL
    ``first``. Each path as text, with a dot for a TTL that is missing inside, and its part.
    """
    rows = [
        (
            flow,
            ttl,
            0,
            ord(name),
            10 * ttl + flow,
            KIND_UNREACHABLE if name in hosts else KIND_TIME_EXCEEDED,
        )
        for flow, letters in flows.items()
        for ttl, names in enumerate(letters.split(), start=2)
        for name in names.split("|")
        if name != "."
    ]
    answers = np.array(rows, ANSWER)
    if seed is not None:
        np.random.default_rng(seed).shuffle(answers)
    columns = TraceColumns(len(rows) + 1, 2 * len(rows) + 1)
    write_paths(
        answers, len(rows), first, np.uint64(0), np.uint64(ord("A")), splits_at, HEAD,
        columns.arrays,
    )  # fmt: skip
    batch = columns.take()
    assert batch is not None
    part = batch.part if batch.part is not None else np.zeros(batch.n_traces, np.uint8)
    found = []
    for row in range(batch.n_traces):
        replies = range(batch.reply_ptr[row], batch.reply_ptr[row + 1])
        assert all(batch.ttl[k] == batch.ttl[k - 1] + 1 for k in replies[1:])
        found.append(("".join(chr(int(batch.addr[k, 1])) for k in replies), int(part[row])))
    return found, batch


def test_a_diamond_gives_each_of_its_links_once():
    found, batch = paths({1: "B D E", 2: "C D E", 3: "B D E", 4: "C D E"}, hosts="E")
    assert found == [("ABDE", 0), ("ACD", PART_FURTHER | PART_CUT)]
    assert (batch.n_traces, batch.n_measurements) == (2, 1)


def test_a_path_that_ends_at_a_router_shows_no_last_router():
    assert paths({1: "B D"})[0] == [("ABD", PART_CUT)]
    assert paths({1: "B D"}, hosts="D")[0] == [("ABD", 0)]


def test_links_join_answers_of_one_flow_only():
    # Side by side: B leads to D, C to E. Pairing by TTL would also join B with E and C with D.
    found, _ = paths({1: "B D F", 2: "C E F"}, hosts="F")
    assert found == [("ABDF", 0), ("ACEF", PART_FURTHER)]


def test_a_flow_that_was_seen_at_one_ttl_only_joins_nothing():
    found, _ = paths({1: "B D", 2: ". E"}, hosts="DE")
    assert found == [("ABD", 0), ("E", PART_FURTHER)]


def test_silent_hops_make_no_link_and_what_follows_is_a_path_of_its_own():
    found, _ = paths({1: "B . D E", 2: "B . D E"}, hosts="E")
    assert found == [("AB", PART_CUT), ("DE", PART_FURTHER)]


def test_a_balancer_that_ignores_flows_joins_nothing_behind_it():
    found, _ = paths({1: "B|C D E", 2: "B D E"}, hosts="E")
    assert found == [
        ("AB", PART_CUT),
        ("AC", PART_FURTHER | PART_CUT),
        ("D", PART_FURTHER | PART_CUT),
        ("E", PART_FURTHER),
    ]


def test_two_answers_to_one_probe_are_such_a_balancer_too():
    found, _ = paths({1: "B D E"}, splits_at=3, hosts="E")
    assert found == [("ABD", PART_CUT), ("E", PART_FURTHER)]


def test_a_first_node_further_out_is_joined_to_nothing():
    found, _ = paths({1: ". . D E", 2: ". . C E"}, first=3)
    assert found[0] == ("A", PART_CUT)
    assert {text for text, _ in found} == {"A", "CE", "DE"}


def test_paths_that_meet_at_other_ttls_keep_their_own():
    found, _ = paths({1: "B D E", 2: "D E F"})
    assert {text for text, _ in found} == {"ABDE", "ADEF"}


def test_without_answers_there_is_one_empty_trace():
    found, batch = paths({}, first=0)
    assert found == [("", 0)]
    assert (batch.n_measurements, batch.start_s[0]) == (1, 5.0)


def test_a_node_has_the_smallest_rtt_of_its_ttl_and_the_first_one_has_none():
    _, batch = paths({3: "B D", 2: "B D", 4: "B D"})
    assert np.isnan(batch.rtt_ms[0])
    assert batch.rtt_ms[1:].tolist() == [22, 32]


def test_the_order_of_answers_does_not_matter():
    flows = {1: "B D F H", 2: "C E F I", 3: "B E G H", 4: "C . G I", 5: "B D G H"}
    want, batch = paths(flows)
    for seed in range(20):
        found, other = paths(flows, seed=seed)
        assert found == want
        assert np.array_equal(batch.rtt_ms, other.rtt_ms, equal_nan=True)


def test_random_flows_show_the_links_of_one_flow_and_each_once():
    rng = np.random.default_rng(8)
    for _ in range(100):
        flows = {
            flow: " ".join(rng.choice(list("BCD."), rng.integers(1, 8)))
            for flow in range(int(rng.integers(1, 9)))
        }
        want = set()
        for letters in flows.values():
            names = ["A", *letters.split()]
            for ttl, (near, far) in enumerate(pairwise(names), start=1):
                if "." not in (near, far):
                    want.add((ttl, near, far))
        if not any(set(letters) - set(" .") for letters in flows.values()):
            continue
        _, batch = paths(flows)
        links = []
        for row in range(batch.n_traces):
            for k in range(batch.reply_ptr[row] + 1, batch.reply_ptr[row + 1]):
                near, far = batch.addr[k - 1 : k + 1, 1]
                links.append((int(batch.ttl[k - 1]), chr(int(near)), chr(int(far))))
        assert len(links) == len(set(links))
        assert set(links) == want
