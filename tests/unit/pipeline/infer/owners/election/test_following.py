"""Changes of neighbouring routers, judged together."""

import numpy as np
import pytest

from pipeline.infer.owners.election.costs import Case, without_habit
from pipeline.infer.owners.election.following import take_back
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.settling import settle
from pipeline.infer.owners.election.surroundings import ADJACENCY, PRIVATE, UNNUMBERED, Surroundings
from pipeline.model.columns.ragged import offsets
from pipeline.model.tables.registries import Registries
from tests.unit.pipeline.infer.handmade import alias_sets, asn_of, infer

BEFORE, NOW = 0, 1  # AS rows


def judged(kind_before, kind_now, change, held=(BEFORE, BEFORE, -1, -1)):
    """Which of groups 0 and 1 were taken back, and their AS rows.

    Both were in one AS and are in another, and a private link joins them. Group 2 is in the AS
    before, next to group 0; group 3 in the AS of now, next to group 1.
    """
    entries = [
        [(1, PRIVATE), (2, kind_before)],
        [(0, PRIVATE), (3, kind_now)],
        [(0, kind_before)],
        [(1, kind_now)],
    ]
    other, numbered = np.array([row for rows in entries for row in rows]).T
    ptr = offsets(np.array([len(rows) for rows in entries]))
    none = np.full(len(other), -1)
    around = Surroundings(ptr, other, numbered, none)
    ways = without_habit(relations_among(np.array([1, 2]), Registries()))
    labels = np.array([NOW, NOW, BEFORE, NOW])
    case = Case.of(around, labels, np.array([5, 5]), 2, ways, np.array(held), change)
    one_by_one = case._replace(labels=labels.copy())
    settle(one_by_one)
    assert one_by_one.labels[:2].tolist() == [NOW, NOW]  # neither goes back by itself
    taken = take_back(case)
    assert labels[2:].tolist() == [BEFORE, NOW]
    assert not taken[2:].any()
    return taken[:2].tolist(), labels[:2].tolist()


@pytest.mark.parametrize(
    ("kind_before", "kind_now", "change", "stays"),
    [
        (ADJACENCY, UNNUMBERED, 0, False),  # 25 against 13
        (ADJACENCY, UNNUMBERED, 5, False),
        (ADJACENCY, UNNUMBERED, 6, True),  # two changes cost what they save
        (UNNUMBERED, ADJACENCY, 0, True),
        (UNNUMBERED, UNNUMBERED, 0, True),  # a tie
    ],
)
def test_neighbours_change_together_where_that_saves_more_than_it_costs(
    kind_before, kind_now, change, stays
):
    expected = ([True] * 2, [BEFORE] * 2) if stays else ([False] * 2, [NOW] * 2)
    assert judged(kind_before, kind_now, change) == expected


def test_what_was_in_no_as_before_is_no_change():
    held = (BEFORE, -1, -1, -1)
    # Group 0 alone cannot go back, as the private link would cost 50 more.
    assert judged(UNNUMBERED, ADJACENCY, 0, held) == ([False, False], [NOW, NOW])
    assert judged(UNNUMBERED, ADJACENCY, 0, (-1,) * 4) == ([False, False], [NOW, NOW])


# A router of AS 1 by three addresses, two from AS 2 and behind unanswered hops; right behind
# it one by a private address, at which traces to AS 1 end.
ROUTER, BEHIND = ["20.1.0.6", "20.2.5.1", "20.2.5.5"], "10.0.0.2"
LINES = [
    f"20.1.0.1 {ROUTER[0]} {BEHIND} 20.0.7.1 > 20.0.9.9",
    *(f"20.1.0.1 20.1.0.{i} > 20.1.{i}.8" for i in (9, 14, 18)),
    *(f"* {addr} {BEHIND} > 20.1.{i}.8" for i, addr in enumerate(ROUTER[1:], start=7)),
    "20.2.0.1 20.2.0.6 > 20.2.9.8",
]


def test_two_routers_that_alias_sets_move_into_an_as_where_both_cost_more_stay(tmp_path):
    # Most of the first one's addresses are from AS 2: there 25 is saved, but 40 lost at the other.
    known = alias_sets(ROUTER, ["20.1.0.1"])
    found = asn_of(infer(tmp_path, *LINES, borders="elected", aliases=known))
    assert (found[ROUTER[0]], found[BEHIND]) == (1, 1)
