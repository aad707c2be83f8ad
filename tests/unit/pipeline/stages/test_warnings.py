"""Warnings on ASes: one line a reason, however many ASes have it."""

from __future__ import annotations

from pipeline.stages.warnings import failure_warnings

NO_WEIGHTS = "weighted metrics need a weight of each link"


def test_a_reason_that_all_ases_have_is_one_line_that_counts_them():
    failed = dict.fromkeys(range(64500, 64500 + 47_000), NO_WEIGHTS)
    assert failure_warnings(failed) == [f"47,000 ASes (AS64500 and others): {NO_WEIGHTS}"]


def test_an_as_alone_with_its_reason_is_named():
    failed = {30: NO_WEIGHTS, 20: "killed: out of memory", 10: NO_WEIGHTS}
    assert failure_warnings(failed) == [
        f"2 ASes (AS10 and others): {NO_WEIGHTS}",
        "AS20: killed: out of memory",
    ]
    assert failure_warnings({}) == []


def test_reasons_that_differ_in_numbers_alone_are_one_and_say_whose_numbers():
    failed = {10: "3 of its 12 links have none", 20: "1 of its 7 links have none"}
    assert failure_warnings(failed) == [
        "2 ASes, numbers those of AS10: 3 of its 12 links have none"
    ]
