"""Which events of a night are worth a notice."""

from __future__ import annotations

import pytest

from flows.notices.chosen import choose
from pipeline.config import NotifyConfig


def event(n_traces, kind="links removed", asn=1, other_asn=None):
    return {"kind": kind, "asn": asn, "other_asn": other_asn, "n_traces": n_traces}


NIGHT = [event(900, "AS lost", 7), event(50, asn=2, other_asn=3), event(5, "ingress moved", 4)]


@pytest.mark.parametrize(
    ("config", "asns", "rows"),
    [
        ({}, None, [0, 1, 2]),
        ({"notify_first": 1}, None, [0]),
        ({"notify_traces": 50}, None, [0, 1]),
        ({"notify_kind": ("ingress moved", "AS lost")}, None, [0, 2]),
        ({}, {3, 4}, [1, 2]),
        ({"notify_first": 1}, {3, 4}, [1]),  # the first of those that it wants
        ({"notify_kind": ("AS lost",)}, {4}, []),
    ],
)
def test_events_are_chosen_by_rank_size_kind_and_as(config, asns, rows):
    asked = None if asns is None else frozenset(asns)
    assert choose(NIGHT, (), NotifyConfig(**config), asked).events == [NIGHT[row] for row in rows]


def test_an_event_is_told_again_only_when_it_is_twice_as_large():
    nights = [[event(n)] for n in (100, 150, 199, 200, 399)]
    told = [choose(nights[i], nights[:i], NotifyConfig()).events for i in range(len(nights))]
    assert told == [[event(100)], [], [], [event(200)], []]
    assert choose(nights[1], nights[:1], NotifyConfig()).n_known == 1
    assert choose(nights[1], nights[:1], NotifyConfig(notify_again=0)).events == [event(150)]


def test_only_what_was_told_is_known():
    before = [[event(100), event(50, "AS lost")]]
    config = NotifyConfig(notify_first=1)  # the second was not told
    assert choose([event(60, "AS lost")], before, config).events == [event(60, "AS lost")]
    assert choose([event(60, asn=9)], before, config).events == [event(60, asn=9)]
    assert choose([event(60)], before, NotifyConfig(notify_kind=("links removed",))).events == []


def test_two_events_of_one_night_at_the_same_ases_are_both_told():
    assert choose([event(9), event(8)], (), NotifyConfig()).events == [event(9), event(8)]


def test_a_drift_that_is_asked_for_by_name_needs_no_traces():
    drift = event(0, "figures drift")
    assert choose([drift], (), NotifyConfig()).events == []
    asked = NotifyConfig(notify_kind=("figures drift",))
    assert choose([drift], (), asked).events == [drift]
    assert choose([event(0)], (), NotifyConfig(notify_kind=("links removed",))).events == []
