"""Which ASes are tried for a group of addresses."""

import numpy as np
import pytest

from pipeline.infer.owners.election.costs import Case, without_habit
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.surroundings import ADJACENCY, AIMED, Surroundings
from pipeline.model.columns.ragged import offsets
from pipeline.model.tables.registries import Registries

N_ASES = 400


def near(entries, own=-1, held=-1, beyond=(7, 8)):
    """ASes tried for group 0, beside group 1 and 2, from (other, numbered)."""
    other, numbered = np.array(entries, np.int64).T
    ptr = offsets(np.array([len(entries), 0, 0]))
    around = Surroundings(ptr, other, numbered)
    ways = without_habit(relations_among(np.arange(1, N_ASES + 1), Registries()))
    labels = np.array([own, *beyond])
    case = Case.of(around, labels, np.ones(N_ASES, np.int64), N_ASES, ways, np.full(3, -1))
    case.near_to[:] = 0  # as if an earlier group had left its own
    return case.near[: find_near(case, 0, held)].tolist()


def test_its_own_comes_first_then_the_one_before_then_each_once_in_the_order_of_entries():
    entries = [(1, 5), (2, ADJACENCY), (-1, 5), (-1, 3), (AIMED, 9), (-1, -1)]
    assert near(entries) == [5, 7, 8, 3, 9]
    assert near(entries, own=3, held=6) == [3, 6, 5, 7, 8, 9]
    assert near(entries, own=8, held=8) == [8, 5, 7, 3, 9]


@pytest.mark.parametrize("n_others", [61, 62, 63, 300])
def test_of_very_many_those_are_tried_that_most_entries_name(n_others):
    once = [(-1, 50 + i) for i in range(n_others)]
    entries = [*once, (-1, 20), (-1, 20)]
    few = range(50, 50 + min(n_others, 62))
    assert near(entries, own=10) == [10, *few, 20]  # 10 and 11 are named by no entry
    assert near(entries, own=10, held=11) == [10, 11, *few[:61], 20]


def test_how_often_an_as_is_named_counts_each_place_of_an_entry():
    once = [(-1, 50 + i) for i in range(300)]
    entries = [*once, (1, 7), (-1, 350), (-1, 350)]
    assert near(entries, own=10) == [10, *range(50, 50 + 61), 7, 350]
