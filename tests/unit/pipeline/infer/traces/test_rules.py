"""The rules that look at one trace alone, on hand-made traces."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.infer import Observer
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.rules import DESTINATION, LOOPED, ROUTER, TARGET
from pipeline.infer.traces.spool import read_block
from pipeline.model.measured.traces import KIND_UNREACHABLE, LABELLED
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import classic, observe, traces, with_reply_ttls

A, B, C, D, E = (f"20.1.0.{i}" for i in (10, 20, 30, 40, 50))


def cleaned(tmp_path, *lines):
    """Hops of each trace as (ttl, address), with the counts and flags."""
    seen = observe(tmp_path, traces(*lines))
    names = format_addrs(np.load(seen.addrs))
    hops, flags, rtts = [], [], []
    for block in seen.blocks:
        part = read_block(seen.spool, block)
        for i in range(block.n_traces):
            rows = slice(part.hop_ptr[i], part.hop_ptr[i + 1])
            hops.append(
                [
                    (ttl, names[n])
                    for ttl, n in zip(part.ttl[rows].tolist(), part.ids[rows].tolist(), strict=True)
                ]
            )
            flags.append(int(part.flags[i]))
            rtts.append(part.rtt_ms[rows].tolist())
    roles = dict(zip(names, np.load(seen.roles).tolist(), strict=True))
    return hops, flags, rtts, roles, seen.counts


def test_a_plain_trace_is_kept_as_it_is(tmp_path):
    hops, flags, rtts, _, counts = cleaned(tmp_path, f"{A} * {C}/3.5 > 20.8.8.8")
    assert hops == [[(1, A), (3, C)]]
    assert flags == [0]
    assert rtts == [[10.0, 3.5]]
    assert not any(counts.values())


def test_of_several_repliers_the_most_frequent_is_kept_with_its_smallest_rtt(tmp_path):
    hops, _, rtts, _, counts = cleaned(tmp_path, f"{A} {B}/9,{C}/8,{C}/7 {D}")
    assert hops == [[(1, A), (2, C), (3, D)]]
    assert rtts[0][1] == 7.0
    assert counts["multi_replier_hops"] == 1


@pytest.mark.parametrize("hop", ["20,nan,50", "nan,20,50", "50,20,nan", "nan,50,nan,20", "20,nan"])
def test_a_reply_without_an_rtt_leaves_the_smallest_rtt_of_its_hop(tmp_path, hop):
    replies = ",".join(f"{B}/{rtt}" for rtt in hop.split(","))
    _, _, rtts, _, _ = cleaned(tmp_path, f"{A}/nan,{A}/nan {replies}")
    assert np.isnan(rtts[0][0])
    assert rtts[0][1] == 20.0


def test_of_equally_frequent_repliers_the_first_is_kept(tmp_path):
    hops, _, _, _, counts = cleaned(tmp_path, f"{A} {C},{B},{B},{C} {D}", f"{A} {B},{C} {D}")
    assert hops[0][1] == (2, C)
    assert hops[1][1] == (2, B)
    assert counts["multi_replier_hops"] == 2


def test_three_replies_of_one_address_are_not_several_repliers(tmp_path):
    _, _, _, _, counts = cleaned(tmp_path, f"{A},{A},{A} {B}")
    assert counts["multi_replier_hops"] == 0


def test_an_address_repeated_at_the_next_ttl_stays_twice_and_is_counted(tmp_path):
    hops, _, _, _, counts = cleaned(tmp_path, f"{A} {B} {B} {C}")
    assert hops == [[(1, A), (2, B), (3, B), (4, C)]]
    assert counts["repeated_addresses"] == 1
    assert counts["loops"] == 0


@pytest.mark.parametrize(
    "line",
    [
        f"{A} {B} {C} {B} {D}",
        f"{A} {B} * {B} {D}",
        f"{A} {B} {B} {C} {B}",
        f"{A} {B} {C}# {D} {B} {E} {B}",
        f"{A} {B} {E} {C} {B} > {E}",
    ],
)
def test_a_loop_ends_the_trace_with_the_first_hop_of_the_address_seen_twice(tmp_path, line):
    hops, flags, rtts, roles, counts = cleaned(tmp_path, line)
    assert hops == [[(1, A), (2, B)]]
    assert flags == [0]
    assert rtts == [[10.0, 20.0]]
    # What answered within the loop is no hop, and a router only where it is one of another trace.
    assert {name for name, role in roles.items() if role & (ROUTER | TARGET)} == {A, B}
    assert (counts["loops"], counts["labelled_hops"]) == (1, 0)


def test_a_destination_that_answered_before_a_loop_stays(tmp_path):
    hops, flags, _, roles, counts = cleaned(tmp_path, f"{A} {D} {B} {C} {B} > {D}")
    assert [ttl for ttl, _ in hops[0]] == [1, 2, 3]
    assert flags == [0]
    assert [roles[name] for name in (A, B, C, D)] == [1, 1, LOOPED, 0]  # D: ``early`` decides
    assert counts["loops"] == 1


def test_a_destination_that_answered_within_a_loop_is_a_router(tmp_path):
    loop = f"{A} {B} {C} {E} {B} > {E}"
    for lines, routers, hosts in (
        ([loop, f"{A} {C}! > {C}"], {A, B, C}, set()),
        ([loop, f"{A} {D}! > {D}"], {A, B}, {D}),
        ([loop, f"{A} {E}! > {E}"], {A, B}, {E}),  # its own trace showed the loop
        ([loop], {A, B}, set()),
    ):
        seen = merge_addresses([observe(tmp_path, traces(*lines))])
        names = np.array(format_addrs(seen.addrs))
        assert set(names[seen.is_router]) == routers
        assert set(names[~seen.is_router]) == hosts


def test_the_destinations_own_final_reply_is_marked_and_no_router(tmp_path):
    _, flags, _, roles, counts = cleaned(tmp_path, f"{A} {B}! > {B}")
    assert flags == [DESTINATION]
    assert roles[A] == 1
    assert roles[B] == 2
    assert counts["destination_replies"] == 1


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (f"{A} {B} {C} > 20.8.8.8", "time-exceeded on the way elsewhere"),
        (f"{A} {B}? > 20.8.8.8", "an answer on a trace to another destination"),
        (f"{A} {B} > {B}", "time-exceeded as the final reply"),
    ],
)
def test_a_destination_that_answered_as_a_router_elsewhere_is_one(tmp_path, other, why):
    _, _, _, roles, _ = cleaned(tmp_path, f"{A} {B}! > {B}", other)
    assert roles[B] & 1, why


def test_a_destination_that_goes_on_answering_gives_one_final_reply(tmp_path):
    hops, flags, _, roles, _ = cleaned(tmp_path, f"{A} {B}? {B}? {B}? > {B}")
    assert hops == [[(1, A), (2, B)]]
    assert flags == [DESTINATION]
    assert roles[B] == 2


@pytest.mark.parametrize(
    ("line", "repeats"),
    [
        (f"{A} {B} {D}! {D}! {D}! > {D}", 2),
        (f"{A} {B} {D}! * {D}! > {D}", 1),
        (f"{A} {B} {D}! {D}! * * {D}! {D}! > {D}", 3),
    ],
)
def test_a_destination_that_answers_often_or_after_a_gap_is_no_loop(tmp_path, line, repeats):
    hops, flags, _, roles, counts = cleaned(tmp_path, line)
    assert hops == [[(1, A), (2, B), (3, D)]]
    assert flags == [DESTINATION]
    assert roles[D] == 2
    assert counts["loops"] == 0
    assert counts["repeated_addresses"] == repeats
    assert counts["destination_replies"] == 1


def test_a_destination_that_answered_after_a_gap_as_a_router_is_one(tmp_path):
    _, _, _, roles, _ = cleaned(tmp_path, f"{A} {D}! * {D} > {D}")
    assert roles[D] == 3


@pytest.mark.parametrize(
    ("line", "hops", "n_early"),
    [
        (f"{D} {A} {B} {C} {D}! > {D}", [(2, A), (3, B), (4, C), (5, D)], 1),  # a gateway at TTL 1
        (f"{A} {D} {B} {D}! > {D}", [(1, A), (3, B), (4, D)], 1),
        (f"{A} {D}! {D}! {C} {D}! > {D}", [(1, A), (4, C), (5, D)], 1),
        (f"{D} {A} {D} {B} {D}! {D}! > {D}", [(2, A), (4, B), (5, D)], 2),
        (f"{D}# {A} {D}! * {D}! > {D}", [(2, A), (3, D)], 1),
    ],
)
def test_only_the_last_reply_of_a_destination_is_its_own(tmp_path, line, hops, n_early):
    cleaned_hops, flags, rtts, roles, counts = cleaned(tmp_path, line)
    assert cleaned_hops == [hops]
    assert rtts == [[10.0 * ttl for ttl, _ in hops]]
    assert flags == [DESTINATION]
    assert roles[D] == 2
    assert counts["early_destinations"] == n_early
    assert (counts["loops"], counts["labelled_hops"]) == (0, 0)


def test_a_router_that_repeats_three_times_stays_three_times(tmp_path):
    hops, _, _, _, counts = cleaned(tmp_path, f"{A} {B} {B} {B} {C}")
    assert hops == [[(1, A), (2, B), (3, B), (4, B), (5, C)]]
    assert (counts["repeated_addresses"], counts["loops"]) == (2, 0)


def test_an_address_that_was_outvoted_has_no_role(tmp_path):
    _, _, _, roles, _ = cleaned(tmp_path, f"{A} {B},{C},{C}")
    assert roles[B] == 0


def test_traces_without_an_answer_are_counted_and_do_no_harm(tmp_path):
    seen = observe(tmp_path, traces("* * *", f"* {A}", "*"))
    assert seen.n_traces == 3
    assert seen.n_hops == 1


def test_no_trace_at_all_is_an_empty_observation(tmp_path):
    seen = Observer(tmp_path).close()
    assert (seen.n_traces, seen.n_hops, seen.n_addrs, seen.blocks) == (0, 0, 0, ())


def test_255_hops_and_hundreds_of_replies_at_one_ttl_are_survived(tmp_path):
    long = " ".join(f"20.1.{i}.1" for i in range(255))
    crowd = ",".join(f"20.2.{i // 250}.{i % 250}" for i in range(900))
    hops, _, _, _, _ = cleaned(tmp_path, long, f"{A} {crowd} {B}")
    assert len(hops[0]) == 255
    assert [ttl for ttl, _ in hops[1]] == [1, 2, 3]


def test_more_early_pairs_than_traces_and_slots_are_survived(tmp_path):
    lines = [
        " ".join(f"20.3.{i}.1 20.4.{i}.{at}" for at in range(120)) + f" > 20.3.{i}.1"
        for i in range(80)
    ]
    hops, _, _, _, counts = cleaned(tmp_path, *lines)
    assert {len(of_trace) for of_trace in hops} == {121}
    assert counts["early_destinations"] == 119 * 80


def test_many_batches_and_addresses_are_interned_alike(tmp_path):
    lines = [f"20.{i % 200}.{i // 200}.1 20.{i % 200}.{i // 200}.2" for i in range(9000)]
    one = observe(tmp_path, traces(*lines))
    two = observe(tmp_path, *(traces(*lines[i : i + 700]) for i in range(0, 9000, 700)))
    assert one.n_addrs == two.n_addrs == 18000
    assert np.array_equal(np.load(one.addrs), np.load(two.addrs))


@pytest.mark.parametrize(
    ("hop", "labelled"),
    [
        (f"{B}#", True),
        (f"{B},{B}#", True),
        (f"{B}#,{C},{C}", False),  # outvoted
        (f"{C}#,{B},{B}#", True),
        (B, False),
    ],
)
def test_a_hop_is_labelled_where_the_chosen_address_sent_labels(tmp_path, hop, labelled):
    seen = observe(tmp_path, traces(*[A] * 9, f"{A} {hop} {D}#"))
    (block,) = seen.blocks
    kind = read_block(seen.spool, block).kind
    assert np.flatnonzero(kind & LABELLED).tolist() == ([10, 11] if labelled else [11])
    assert seen.counts["labelled_hops"] == 1 + labelled


@pytest.mark.parametrize(
    ("hop", "refused"),
    [(f"{B}^", True), (f"{B}^,{B}^", True), (f"{B}^,{B}", False), (f"{C}^,{B},{B}", False)],
)
def test_a_hop_that_only_refuses_is_known(tmp_path, hop, refused):
    seen = observe(tmp_path, traces(f"{A} {hop} {D}"))
    kind = read_block(seen.spool, seen.blocks[0]).kind
    assert (kind == KIND_UNREACHABLE).tolist() == [False, refused, False]


def test_the_largest_ttl_of_the_chosen_replier_is_kept(tmp_path):
    batch = traces(f"{A} {B},{B},{C} {D}")
    ttls = np.array([254, 61, 62, 99, 0], np.uint8)
    seen = observe(tmp_path, replace(batch, reply_ttl=ttls))
    assert read_block(seen.spool, seen.blocks[0]).reply_ttl.tolist() == [254, 62, 0]


def test_the_method_of_each_trace_is_kept(tmp_path):
    seen = observe(tmp_path, classic(traces(f"{A} {B}", f"{A} {C}! > {C}", f"{B} {C}"), 2))
    block = read_block(seen.spool, seen.blocks[0])
    assert block.classic.tolist() == [False, True, True]
    assert block.flags.tolist() == [0, DESTINATION, 0]
    assert seen.counts["classic_traces"] == 2


def test_blocks_hold_no_more_than_formats_say(tmp_path):
    seen = observe(tmp_path, traces(f"{A} {B} {C}"))
    assert read_block(seen.spool, seen.blocks[0]).reply_ttl is None
    assert seen.spool.stat().st_size == 3 * 10 + 26
    more = observe(tmp_path, with_reply_ttls(traces(f"{A} {B} {C}"), {B: 250}))
    assert more.spool.stat().st_size == 3 * 11 + 26
