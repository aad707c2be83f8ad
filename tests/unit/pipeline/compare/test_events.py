"""Which changes are one event, and which events come first."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.compare.changes import (
    ADDED,
    CHANGED,
    GAINED,
    LOST,
    MOVED,
    NO_ROW,
    REMOVED,
    SHIFTED,
    SLOWER,
    UNSEEN,
    make_changes,
)
from pipeline.compare.events import group_events
from pipeline.compare.links import AS_TARGET, BY_CHANCE, NO_VANTAGE, SILENT
from pipeline.model.columns import concat


def link(asn, groups, kind=REMOVED, n_traces=0, other_asn=None):
    ends = {"group": groups[0], "other_group": groups[1]}
    other = asn if other_asn is None else other_asn
    return make_changes(1, "link", kind=kind, asn=asn, other_asn=other, n_traces=n_traces, **ends)


def width(asn, what, old, new):
    return make_changes(1, what, kind=CHANGED, asn=asn, old=old, new=new)


def test_events_come_by_the_traces_that_they_touch_then_by_their_changes():
    ingress = make_changes(1, "ingress", kind=SHIFTED, asn=5, other_asn=6, n_traces=40)
    _, events = group_events(
        concat(
            [
                link(1, (1, 2), n_traces=7),
                link(2, (3, 4), n_traces=900),
                *[link(3, ends, n_traces=7) for ends in ((5, 6), (6, 7))],
                ingress,
                link(4, (8, 9)),  # by plain difference: no trace tells
            ]
        )
    )
    ranked = list(zip(events.asn.tolist(), events.n_traces.tolist(), strict=True))
    assert ranked == [(2, 900), (5, 40), (3, 7), (1, 7), (4, 0)]
    assert events.n_changes.tolist() == [1, 1, 2, 1, 1]


@pytest.mark.parametrize("kind", [REMOVED, ADDED])
def test_links_of_an_as_explain_its_diameter_and_radius(kind):
    changes, events = group_events(
        concat(
            [
                link(1, (1, 2), kind, 9),
                width(1, "diameter", 4, 6),
                width(1, "radius", 2, 3),
                width(1, "mean_hops", 2, 3),
                width(2, "diameter", 4, 6),
            ]
        )
    )
    assert changes.event.tolist() == [0, 0, 0, -1, -1]
    assert (events.n_changes.tolist(), events.n_links.tolist()) == ([3], [1])


def test_links_between_ases_explain_no_diameter():
    between = link(1, (1, 2), other_asn=2, n_traces=9)
    changes, _ = group_events(concat([between, width(1, "diameter", 4, 6)]))
    assert changes.event.tolist() == [0, -1]


@pytest.mark.parametrize(("kind", "of_entry"), [(REMOVED, LOST), (ADDED, GAINED)])
def test_ingresses_and_neighbours_are_of_the_event_of_the_links_between_their_ases(kind, of_entry):
    def entry(asn, other, group, what="ingress"):
        return make_changes(1, what, kind=of_entry, asn=asn, other_asn=other, group=group)

    changes, _ = group_events(
        concat(
            [
                link(2, (1, 2), kind, 90, other_asn=1),
                link(1, (3, 4), kind, 9, other_asn=3),
                entry(1, 2, 2),
                entry(2, 1, 1),
                entry(1, 3, 2),  # by another link, which did not change
                entry(1, 2, 7),
                entry(1, 2, NO_ROW, "neighbour"),
                entry(1, 3, NO_ROW, "neighbour"),
                entry(2, 3, NO_ROW, "neighbour"),
            ]
        )
    )
    assert changes.event.tolist() == [0, 1, 0, 0, -1, -1, 0, 1, -1]


def test_a_lost_neighbour_is_of_the_event_of_a_removed_link_not_of_one_that_was_not_observable():
    unseen = link(1, (1, 2), UNSEEN, 99, other_asn=2)
    removed = link(1, (3, 4), REMOVED, 9, other_asn=2)
    lost = make_changes(1, "neighbour", kind=LOST, asn=1, other_asn=2)
    changes, _ = group_events(concat([unseen, removed, lost]))
    assert changes.event.tolist() == [-1, 0, 0]


def test_what_nobody_could_observe_is_no_event():
    changes, events = group_events(concat([link(1, (1, 2), UNSEEN, 9), width(1, "radius", 1, 2)]))
    assert changes.event.tolist() == [-1, -1]
    assert len(events) == 0


def test_a_lost_vantage_point_explains_links_that_it_crossed_not_silent_ones_beside_them():
    """And those whose far end only such links show to be a router."""
    links = [
        make_changes(1, "link", kind=UNSEEN, reason=reason, vantage=vantage, group=i, other_group=9)
        for i, (reason, vantage) in enumerate(
            ((NO_VANTAGE, 5), (AS_TARGET, NO_ROW), (SILENT, NO_ROW))
        )
    ]
    lost = make_changes(1, "vantage point", kind=LOST, asn=1, vantage=5)
    changes, _ = group_events(concat([lost, *links]))
    assert changes.event.tolist() == [0, 0, 0, -1]


@pytest.mark.parametrize(("n_votes", "said"), [(6, ["links slower"]), (5, [])])
def test_a_slower_link_is_an_event_from_six_votes_on(n_votes, said):
    slower = make_changes(1, "link", kind=SLOWER, asn=1, other_asn=1, n_vantages=n_votes)
    changes, events = group_events(slower)
    assert (len(changes), events.kind.tolist()) == (1, said)


@pytest.mark.parametrize(("n_routers", "said"), [(3, ["routers of another owner"]), (2, [])])
def test_routers_of_another_owner_are_an_event_from_three_on(n_routers, said):
    moved = make_changes(n_routers, "router", kind=MOVED, asn=1, other_asn=2)
    assert group_events(moved)[1].kind.tolist() == said


@pytest.mark.parametrize(("n", "n_events"), [(5, 5), (6, 1)])
@pytest.mark.parametrize("what", ["vantage point", "AS"])
def test_more_than_five_lost_at_once_are_one_event(what, n, n_events):
    _, events = group_events(make_changes(n, what, kind=LOST, asn=range(1, n + 1)))
    assert events.kind.tolist() == [f"{what} lost"] * n_events
    assert events.n_changes.sum() == n


def test_an_exchange_point_may_be_called_like_a_reason():
    lost = make_changes(1, "exchange", kind=LOST, reason=BY_CHANCE, n_pairs=9)
    _, events = group_events(lost, told=np.zeros(1, np.int64), n_told=(1, 1))
    assert events.kind.tolist() == ["exchange lost"]
