"""What the election before says to the next one."""

import numpy as np
import pytest

from pipeline.infer.owners.election.costs import Case, by_habit
from pipeline.infer.owners.election.earlier import (
    Earlier,
    Knowledge,
    Standing,
    hold,
    know_in_turn,
    know_merged,
)
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.settling import settle
from pipeline.infer.owners.election.surroundings import HOST, Surroundings
from pipeline.infer.routers.groups import Groups
from pipeline.model.tables.registries import Registries
from pipeline.model.tables.relationships import Relationships
from tests.oracles.truth.scores import judge_lab
from tests.oracles.truth.sources import drawn

N_KNOWN = 8


@pytest.mark.parametrize(
    ("label", "margin", "before", "expected"),
    [
        ([5, 5, 4], [0, 0, 9], [0, 1, 2], 4),  # the clearer one
        ([5, 5, 4], [20, 20, 25], [0, 1, 2], 5),  # two together
        ([5, 5, 4], [20, 20, 25], [0, 0, 2], 4),  # but a group votes once
        ([5, 5, 4], [60, 60, 900], [0, 1, 2], 5),  # and none is clearer than clear
        ([5, 4, -1], [7, 7, 90], [0, 1, 2], -1),  # equal: none
        ([5, -1, N_KNOWN], [0, 0, 90], [0, 1, 2], 5),  # an unknown owner is none
        ([-1, -1, -1], [0, 0, 0], [0, 1, 2], -1),
    ],
)
def test_groups_that_were_apart_vote_by_margin(label, margin, before, expected):
    columns = (np.array(label), np.array(margin), np.array(before), np.array([0, 0, 0]))
    assert hold(*columns, N_KNOWN).tolist() == [expected, -1, -1]


@pytest.mark.parametrize(("margin", "stays"), [(5, True), (6, False), (90, False)])
def test_merged_addresses_change_by_a_clear_margin_only(margin, stays):
    earlier = Earlier(np.array([3]), np.array([6]), None)
    assert earlier.undone(np.array([4]), np.array([margin])).tolist() == [stays]
    # The same AS, none before and none now are no changes.
    for held, label in ((3, 3), (-1, 4), (3, -1)):
        now = earlier._replace(held=np.array([held]))
        assert not now.undone(np.array([label]), np.array([0])).any()
    assert not earlier._replace(least=None).undone(np.array([4]), np.array([0])).any()


def test_merged_routers_count_like_alias_sets():
    # Routers 0, 1 | 2 of one group; 3 | 4 of two.
    groups = Groups(np.array([0, 0, 0, 3, 4]), *(np.empty(0),) * 2, 0, *(np.empty(0),) * 2)
    (before,) = know_in_turn(groups, np.zeros(5, bool), Registries())
    merged = know_merged(before, np.array([0, 0, 2, 3, 4]))
    assert merged.in_set.tolist() == [True, True, False, False, False]
    assert merged.groups.group.tolist() == [0, 0, 2, 3, 4]
    # What was joined and is alone now needs a clearer margin.
    assert merged.least[2] > merged.least[0] == merged.least[3] == merged.least[4] > 0


def test_an_election_among_other_ases_goes_on_from_what_was_elected():
    # Routers 0 and 1 were in AS 9, router 2 in AS 20; the placeholder 1 << 32 stood for AS 9.
    stand_in = 1 << 32
    standing = Standing(
        np.array([9, 9, 20]),
        np.array([5, 7, 30]),
        np.array([0, 1, 2]),
        np.array([7, 9, 20, stand_in]),
        np.array([7, 9, 20, 9]),
    )
    merged = Groups(np.array([0, 0, 2]), *(np.empty(0),) * 2, 0, *(np.empty(0),) * 2)
    knows = Knowledge(merged, np.ones(3, bool), Registries())
    ases = np.array([9, 11, stand_in, stand_in + 1])  # neither AS 7 nor AS 20 is around now
    earlier = Earlier.after(standing, knows, ases, 2)
    assert earlier.held.tolist() == [0, -1, -1]
    assert earlier.stands_for.tolist() == [0, 1, 0, 3]
    assert Earlier.after(None, knows, ases, 2).held.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("related", [False, True])
def test_the_only_as_settles_no_tie_of_a_router_known_by_one_address(related):
    groups = Groups(np.array([0, 0, 2, 3]), *(np.empty(0),) * 2, 0, *(np.empty(0),) * 2)
    in_set = np.array([True, True, True, False])
    none = Relationships(np.empty(0, np.uint64), np.empty(0, np.int8))
    registries = Registries(none if related else None)
    expected = [True, False, True]  # of two addresses, of one, not in a set
    settles = Knowledge(groups, in_set, registries).only_settles
    assert settles[[0, 2, 3]].tolist() == expected


def settled(n_links, held):
    """AS row of a router with links to a router of AS row 0 and to one of AS row 1.

    Each link is numbered from the AS at its other end, and hosts show whose the other ends are.
    """
    first, second = n_links
    rows = [(0, 1, 0)] * first + [(0, 2, 1)] * second
    rows += [(1, HOST, 0)] + [(1, 0, 0)] * first + [(2, HOST, 1)] + [(2, 0, 1)] * second
    group, other, numbered = np.array(rows, np.int64).T
    ptr = np.searchsorted(group, np.arange(4))
    around = Surroundings(ptr, other, numbered)
    ways = by_habit(relations_among(np.array([7, 9]), Registries()))
    labels, held = np.array([0, 0, 1]), np.array([held, -1, -1])
    settle(Case.of(around, labels, np.array([2, 2]), 2, ways, held))
    assert labels[1:].tolist() == [0, 1]
    return labels[0]


@pytest.mark.parametrize(
    ("n_links", "held", "expected"),
    [
        ((1, 1), -1, 0),  # a tie: the present AS stays
        ((1, 1), 1, 0),  # whatever it was before
        ((2, 1), 1, 0),  # evidence outweighs what was before
        ((1, 2), 0, 1),
        ((1, 2), -1, 1),
    ],
)
def test_a_tie_stays_where_it_is_and_evidence_outweighs_it(n_links, held, expected):
    assert settled(n_links, held) == expected


def wrong_and_found(score):
    """Wrong ingresses, and border routers found by right ones."""
    return score.ingresses - score.ingresses_right, score.borders_found


@pytest.mark.parametrize("seed", range(8))
def test_true_aliases_lower_nothing(seed):
    by = ("lower", "higher", "either")[seed % 3]
    fields = (f"from_peer={by}", f"slash31={int(seed % 2 == 0)}", "transit=(2, 6)")
    with drawn("brite", seed, *fields, "n_transit=10", "n_vantage_points=4").open() as lab:
        after = wrong_and_found(judge_lab(lab, true_alias_sets=True))
        for routers in ("interfaces", "inferred"):
            wrong, found = wrong_and_found(judge_lab(lab, routers=routers))
            assert after[0] <= wrong
            assert after[1] >= found > 0
