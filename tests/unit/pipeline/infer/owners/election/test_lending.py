"""ASes that number their inner links from another AS's addresses."""

import numpy as np
import pytest

from pipeline.infer.owners.election.costs import Case, without_habit
from pipeline.infer.owners.election.lending import find_users
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.surroundings import AIMED, UNNUMBERED, Surroundings
from pipeline.ingest.tables import read_relationships
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.registries import Registries
from tests.tables import table_of_file
from tests.unit.pipeline.infer.handmade import asn_of, infer

# AS 1's routers 20.1.0.*, then those of AS 2, whose links to each other are numbered from AS 1;
# traces to addresses of AS 2 end at each of them.
INSIDE = ["20.1.5.2", "20.1.5.6", "20.1.5.10", "20.1.5.14"]
WAY = "20.1.0.1 20.1.0.5 20.1.0.9"
PROVIDER = [f"{WAY} 20.1.0.{13 + 4 * i} > 20.1.{i + 8}.8" for i in range(4)]
LINES = [
    *PROVIDER,
    f"{WAY} 20.2.0.2 > 20.2.1.8",
    *(f"{WAY} 20.2.0.2 {' '.join(INSIDE[: i + 1])} > 20.2.{i + 2}.8" for i in range(len(INSIDE))),
]


def test_an_as_whose_routers_all_have_another_ass_addresses_keeps_them(tmp_path):
    found = asn_of(infer(tmp_path, *LINES, borders="elected"))
    assert {found[addr] for addr in INSIDE} == {2}
    assert found["20.1.0.9"] == 1
    assert found["20.2.0.2"] == 2


def test_the_order_of_traces_makes_no_difference(tmp_path):
    one = asn_of(infer(tmp_path, *LINES, borders="elected"))
    assert asn_of(infer(tmp_path, *LINES[::-1], borders="elected")) == one


def test_a_router_before_a_silent_customer_stays_in_its_as(tmp_path):
    # One router only: it may well be the provider's, and the customer's does not answer.
    lines = [*PROVIDER, f"{WAY} 20.1.0.13 20.1.0.33 20.1.5.2 > 20.2.1.8"]
    lines += [f"{WAY} 20.1.0.13 20.1.0.33 20.1.0.37 > 20.1.20.8"]
    found = asn_of(infer(tmp_path, *lines, borders="elected"))
    assert found["20.1.0.33"] == 1


def test_a_path_of_the_lender_does_not_follow_a_router_at_which_traces_end(tmp_path):
    # Moved as a region, the whole path would be cheaper in AS 2, since AS 1's numbers cost little.
    path = [f"20.1.6.{2 + 4 * i}" for i in range(4)]
    lines = [*LINES, f"{WAY} {' '.join(path)} > 20.2.42.8"]
    lines += [f"{WAY} {path[0]} {path[1]} 20.1.7.5 {path[3]} > 20.2.91.8"]
    found = asn_of(infer(tmp_path, *lines, borders="elected"))
    assert {found[addr] for addr in INSIDE} == {2}
    assert {found[addr] for addr in path[:3]} == {1}


def test_routers_whose_moves_would_never_end_stay_where_they_were():
    # Group 0 is cheaper in AS row 0 while group 1 is in row 1, and the other way round; group 1
    # follows group 0.
    entries = [
        [*[(AIMED, 0)] * 4, *[(-1, 1)] * 2, (1, UNNUMBERED)],
        [(0, UNNUMBERED)],
        [(AIMED, 0)],
    ]
    other, numbered = np.array([row for rows in entries for row in rows]).T
    around = Surroundings(offsets(np.array([7, 1, 1])), other, numbered)
    labels = np.array([1, 1, 1])
    ways = without_habit(relations_among(np.array([1, 2]), Registries()))
    lent_from = find_users(Case.of(around, labels, np.array([5, 5]), 2, ways, np.full(3, -1)))
    assert lent_from.tolist() == [-1, -1, -1]
    assert labels.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("n_routers", "user"), [(1, 1), (2, 0)])
def test_two_routers_must_speak_for_the_user_unless_a_link_inside_it_does(n_routers, user):
    """However much speaks for it at one of them."""
    entries = [[*[(AIMED, 0)] * 4, (1, 1)], [*[(AIMED, 0)] * 4 * (n_routers - 1), (0, 1)]]
    other, numbered = np.array([row for rows in entries for row in rows]).T
    around = Surroundings(offsets(np.array([len(rows) for rows in entries])), other, numbered)
    labels, held = np.array([1, 1]), np.full(2, -1)
    ways = without_habit(relations_among(np.array([1, 2]), Registries()))
    case = Case.of(around, labels, np.array([5, 5]), 2, ways, held)
    find_users(case, keeps_one=False)
    assert labels.tolist() == [user, user]


def test_a_link_between_two_ases_shows_nothing_of_addresses_used_inside():
    """It has addresses of one of them, as most have: one router speaks for AS row 0, not enough."""
    entries = [[*[(AIMED, 0)] * 4, (1, 1), (1, 1)], [(0, 1), (0, 1), (-1, 0)]]
    other, numbered = np.array([row for rows in entries for row in rows]).T
    around = Surroundings(offsets(np.array([len(rows) for rows in entries])), other, numbered)
    labels, held = np.array([1, 0]), np.full(2, -1)
    ways = without_habit(relations_among(np.array([1, 2]), Registries()))
    find_users(Case.of(around, labels, np.array([5, 5]), 2, ways, held))
    assert labels.tolist() == [1, 0]


def lent_in_a_row(held, registries, keeps_one=False):
    """AS rows of three routers in a row, whose links AS row 1 numbers; who uses whose addresses.

    At two addresses of the first traces to AS row 0 end: 55 against what two links cost that are
    inside AS row 0, 3 each.
    """
    entries = [[*[(AIMED, 0)] * 2, (1, 1)], [(0, 1), (2, 1)], [(1, 1)]]
    other, numbered = np.array([row for rows in entries for row in rows]).T
    around = Surroundings(offsets(np.array([3, 2, 1])), other, numbered)
    labels, size = np.array([1, 1, 1]), np.array([5, 5, 5])
    ways = without_habit(relations_among(np.array([1, 2, 3]), registries))
    lent_from = find_users(Case.of(around, labels, size, 3, ways, np.array(held)), keeps_one)
    return labels.tolist(), lent_from.tolist()


@pytest.mark.parametrize(
    ("held", "user"),
    [
        ([-1, -1, -1], 1),  # one router speaks for AS row 0: not enough to ask
        ([1, 1, 1], 1),
        ([0, -1, -1], 1),
        ([0, 0, 0], 0),
        ([-1, 0, 0], 0),  # the other two were in AS row 0
        ([-1, 2, 2], 1),  # nothing speaks for AS row 2 now
    ],
)
def test_routers_that_were_in_an_as_with_lent_addresses_speak_for_it(held, user):
    assert lent_in_a_row(held, Registries()) == ([user] * 3, [1 if user == 0 else -1, -1, -1, -1])


@pytest.mark.parametrize(
    ("relationships", "is_lent"),
    [("2|1|-1\n", True), ("1|2|-1\n", False), ("1|2|0\n", False), ("1|3|-1\n2|3|-1\n", False)],
    ids=["provider", "customer", "peer", "no-relationship"],
)
def test_of_ases_with_known_relationships_only_a_provider_lends(tmp_path, relationships, is_lent):
    path = tmp_path / "as-rel.txt"
    path.write_text(relationships)
    registries = Registries(table_of_file(read_relationships, path, ReadReport(str(path))))
    expected = ([0] * 3, [1, -1, -1, -1]) if is_lent else ([1] * 3, [-1] * 4)
    assert lent_in_a_row([0, 0, 0], registries) == expected


def test_an_as_that_would_lose_all_its_routers_lends_nothing():
    assert lent_in_a_row([0, 0, 0], Registries(), keeps_one=True) == ([1] * 3, [-1] * 4)
