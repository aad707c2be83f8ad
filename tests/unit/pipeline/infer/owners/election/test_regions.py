"""Routers that hold each other in an AS are moved together where that saves something."""

import numpy as np
import pytest

from pipeline.infer.owners.election import regions
from pipeline.infer.owners.election.costs import Case, without_habit
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.settling import settle, settle_together
from pipeline.infer.owners.election.surroundings import (
    ADJACENCY,
    PRIVATE,
    UNNUMBERED,
    Surroundings,
)
from pipeline.infer.owners.election.watched import Watched
from pipeline.model.columns.ragged import offsets
from pipeline.model.tables.registries import Registries

HERE, THERE = 0, 1  # AS rows
LOOSE, FIRM = ADJACENCY, UNNUMBERED  # 13 and 25 between two ASes


def case_of(to_here, to_there, n_inside=2, n_links=1, n_more=0):
    """A row of routers that are all in one AS, and one of each AS at its ends.

    Private links (50 each) join the row; the routers at the ends stay where they are.
    """
    last = n_inside + 1
    links = [(0, 1, to_here), (last - 1, last, to_there)]
    links += [(i, i + 1, PRIVATE) for i in range(1, last - 1) for _ in range(n_links)]
    entries = [[] for _ in range(last + 1)]
    for one, other, kind in links:
        entries[one].append((other, kind))
        entries[other].append((one, kind))
    entries[0] += [(-1, HERE)] * 9
    entries[1] += [(-1, -1)] * n_more  # unmapped: they cost nothing
    entries[last] += [(-1, THERE)] * 9
    other, numbered = np.array([row for rows in entries for row in rows]).T
    ptr = offsets(np.array([len(rows) for rows in entries]))
    around = Surroundings(ptr, other, numbered)
    ways = without_habit(relations_among(np.array([1, 2]), Registries()))
    labels = np.array([HERE] + [THERE] * (n_inside + 1))
    return Case.of(around, labels, np.array([5, 5]), 2, ways, np.full(last + 1, -1))


def move_regions(case):
    return regions.move_regions(case, Watched.of(case))


def rows_inside(case):
    assert case.labels[[0, -1]].tolist() == [HERE, THERE]
    return set(case.labels[1:-1].tolist())


@pytest.mark.parametrize("n_inside", [2, 3, 30])
def test_routers_that_hold_each_other_move_together(n_inside):
    case = case_of(FIRM, LOOSE, n_inside)  # 25 where they are, 13 in the other AS
    assert move_regions(case)
    assert rows_inside(case) == {HERE}
    assert not move_regions(case)
    assert rows_inside(case) == {HERE}


@pytest.mark.parametrize(("to_here", "to_there"), [(FIRM, FIRM), (LOOSE, LOOSE), (LOOSE, FIRM)])
def test_without_a_saving_they_stay(to_here, to_there):
    case = case_of(to_here, to_there)
    assert not move_regions(case)
    assert rows_inside(case) == {THERE}


def test_single_moves_alone_would_leave_them():
    case = case_of(FIRM, LOOSE)
    settle(case)
    assert rows_inside(case) == {THERE}
    settle_together(case)
    assert rows_inside(case) == {HERE}


def test_what_the_first_one_loses_has_a_limit():
    case = case_of(FIRM, LOOSE, n_links=2)  # 100 - 25
    assert move_regions(case)
    case = case_of(FIRM, LOOSE, n_links=3)  # 150 - 25
    assert not move_regions(case)


def test_a_region_has_a_limit():
    case = case_of(FIRM, LOOSE, n_inside=41)
    assert not move_regions(case)
    assert rows_inside(case) == {THERE}


@pytest.mark.parametrize(("n_around", "row"), [(128, HERE), (129, THERE)])
def test_what_has_very_many_links_moves_alone_only(n_around, row):
    case = case_of(FIRM, LOOSE, n_more=n_around - 2)
    assert move_regions(case) == (row == HERE)
    assert rows_inside(case) == {row}
