"""Which routers are called silent, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from tests.oracles.nights.internet import own_otherwise
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night, told
from tests.unit.pipeline.infer.handmade import alias_sets

A, B, C, D, E, X = (f"20.1.0.{i}" for i in (1, 5, 9, 13, 17, 21))


def ways(**n: int) -> dict[str, list[str]]:
    """Traces by some routers, in turn from three vantage points; ``_``: no answer."""
    lines: dict[str, list[str]] = {ONE: [], TWO: [], THREE: []}
    target = 0
    for way, n_pairs in n.items():
        hops = " ".join("*" if each == "_" else globals()[each] for each in way)
        for _ in range(n_pairs):
            target += 1
            lines[(ONE, TWO, THREE)[target % 3]].append(f"{hops} > 20.3.0.{target}")
    return lines


# Traces of both nights, addresses that the older night takes for one router, what is said of B.
CASES = {
    "no answer": (ways(ABD=12), ways(A_D=12), None, "silent"),
    "of seven pairs": (ways(ABD=7), ways(A_D=7), None, "silent"),
    "of six pairs": (ways(ABD=6), ways(A_D=6), None, None),
    "a fifth go another way, and those that come by one router meet a silent one": (
        ways(ABD=12, CBD=48, XED=4),
        ways(A_D=12, CED=12, CBD=36, XED=4),
        None,
        "silent",
    ),
    "more than a fifth go another way": (
        ways(ABD=12, CBD=48, XED=4),
        ways(A_D=12, CED=13, CBD=35, XED=4),
        None,
        None,
    ),
    "of half of the pairs": (ways(ABD=12), ways(A_D=6, ABD=6), None, None),
    "also before the first that answers": (
        ways(ABD=12, BD=40, CED=4),
        ways(A_D=12, _D=40, CED=4),
        None,
        "silent",
    ),
    "of all places that are seen whole": (ways(ABD=9, AB_D=9), ways(A_D=9, AB_D=9), None, "silent"),
    "most go another way": (
        ways(ABD=40, CED=4),
        ways(A_D=12, AED=28, CED=4),
        None,
        None,
    ),
    "most go another way, and those that come by one router meet a silent one": (
        ways(ABD=12, CBD=40, XED=4),
        ways(A_D=12, CED=40, XED=4),
        None,
        None,
    ),
    "most see it as before": (ways(ABD=40), ways(A_D=12, ABD=28), None, None),
    "another is taken for it": (
        ways(ABD=12, CXD=40),
        ways(A_D=12, CXD=40),
        (B, X),
        "silent",
    ),
    "few, and another is taken for it": (
        ways(ABD=9, CXD=40),
        ways(A_D=9, CXD=40),
        (B, X),
        None,
    ),
}


@pytest.mark.parametrize(("before", "after", "one", "kind"), CASES.values(), ids=CASES)
def test_a_router_is_silent_where_most_see_a_gap_in_its_place(tmp_path, before, after, one, kind):
    aliases = alias_sets(one) if one else None
    old, new = (
        night(tmp_path / name, lines, aliases=aliases)
        for name, lines in (("old", before), ("new", after))
    )
    found = told(compare_nights(old, new)[0], "router")
    assert {ends[0]: said for ends, said in found.items()}.get(B) == kind
    back = told(compare_nights(new, old)[0], "router")
    assert {ends[0]: said for ends, said in back.items()}.get(B) == (kind and "answers again")


def test_the_router_with_the_lowest_number_is_as_any_other(tmp_path):
    """A has the smallest address of both nights: it may be silent, and is no gap where it answers.

    Of the pairs that met C, as many meet A in its place as nothing.
    """
    by_a, gap, by_c, either = (
        night(tmp_path / name, ways(**n, EAX=3))
        for name, n in (
            ("by A", {"BAD": 24}),
            ("gap", {"B_D": 24}),
            ("by C", {"BCD": 120}),
            ("either", {"BAD": 60, "B_D": 60}),
        )
    )
    for nights, kind in (((by_a, gap), "silent"), ((gap, by_a), "answers again")):
        assert told(compare_nights(*nights)[0], "router") == {(A, "::"): kind}
    for nights in ((by_c, either), (either, by_c)):
        kinds = set(told(compare_nights(*nights)[0], "router").values())
        assert not kinds & {"silent", "answers again"}


def as_said(folder, old: list[str], new: list[str]) -> str | None:
    """What is said of AS2, whose routers are on some ways; each way by vantage points in turn."""
    nights = []
    for name, hops in (("old", old), ("new", new)):
        lines: dict[str, list[str]] = {ONE: [], TWO: [], THREE: []}
        for i, way in enumerate(hops):
            lines[(ONE, TWO, THREE)[i % 3]].append(f"20.1.0.1 {way} 20.4.0.1 > 20.4.1.{i}")
        nights.append(night(folder / name, lines))
    changes, _ = compare_nights(*nights)
    (kind,) = {*changes.kind[(changes.what == "AS") & (changes.asn == 2)]} or {None}
    return kind


@pytest.mark.parametrize(("n_pairs", "is_silent"), [(6, False), (7, True)])
def test_an_as_is_silent_where_seven_pairs_pass_it(tmp_path, n_pairs, is_silent):
    said = as_said(tmp_path, ["20.2.0.1 20.2.0.2"] * n_pairs, ["* *"] * n_pairs)
    assert (said == "silent") == is_silent


@pytest.mark.parametrize(("n_routers", "is_silent"), [(9, False), (10, True)])
def test_an_as_of_which_a_tenth_is_seen_is_silent(tmp_path, n_routers, is_silent):
    """Some of its routers answer by an address of another AS, and are seen still."""
    routers = [f"20.2.0.{i}" for i in range(1, n_routers + 1)]
    old, new = [*routers] * 7, ["*"] * len(routers) * 7
    said = as_said(tmp_path, [*old, "20.2.0.1"], [*new, "20.2.0.1"])
    assert (said == "silent") == is_silent


def test_of_an_as_with_a_single_known_router_this_router_is_silent(tmp_path):
    """It may have others."""
    assert as_said(tmp_path / "1", ["20.2.0.1"] * 12, ["*"] * 12) is None
    assert as_said(tmp_path / "2", ["20.2.0.1 20.2.0.2"] * 12, ["* *"] * 12) == "silent"


def test_a_neighbours_router_that_counts_in_a_silent_as_does_not_answer_for_it(tmp_path):
    """Nothing behind it answers, so where it belongs is less sure than it was."""
    way, gap = "20.1.0.9 20.2.0.1 20.2.0.2", "20.1.0.9 * *"
    nights = []
    for name, hops in (("old", way), ("new", gap)):
        lines = [f"20.1.0.1 {hops} 20.4.0.1 > 20.4.1.{i}" for i in range(12)]
        by = {ONE: lines[:4], TWO: lines[4:8], THREE: lines[8:]}
        to_two = {v: [f"20.1.0.1 20.2.0.9 > 20.2.1.{i}" for i in range(2)] for v in by}
        nights.append(night(tmp_path / name, {v: by[v] + to_two[v] for v in by}))
    old, new = own_otherwise(nights[0], {"20.2.0.9": 1}), nights[1]
    assert {int(asn) for asn in new.asn} == {1, 2, 4}
    for one, other, kind in ((old, new, "silent"), (new, old, None)):
        changes, _ = compare_nights(one, other)
        said = {*changes.kind[(changes.what == "AS") & (changes.asn == 2)]}
        assert (kind in said) == (kind is not None)


def test_all_that_cross_a_silent_router_are_counted(tmp_path):
    """Pairs were those that are evidence of it, traces all."""
    old, new = (
        night(tmp_path / name, {v: own * 2 for v, own in lines.items()})
        for name, lines in (
            ("old", ways(ABD=12, CXBD=40, AXED=9)),
            ("new", ways(A_D=12, CX_D=8, CEAD=32, AXED=9)),
        )
    )
    for changes, _ in (compare_nights(old, new), compare_nights(new, old)):
        (row,) = (changes.what == "router").nonzero()[0]
        counts = (changes.n_traces, changes.n_pairs, changes.n_vantages)
        assert [int(column[row]) for column in counts] == [104, 52, 3]
