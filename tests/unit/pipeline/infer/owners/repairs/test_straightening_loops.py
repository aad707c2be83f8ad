"""Routers of paths that leave an AS and come back to it get another AS, where that is clear."""

import numpy as np
import pytest

from pipeline.infer.owners.election.settling import settle
from pipeline.infer.owners.repairs.loops import LONGEST, WIDTH, Loops, straighten
from pipeline.model.tables.organisations import Organisations
from pipeline.model.tables.registries import Registries
from tests.unit.pipeline.infer.handmade import asn_of, infer
from tests.unit.pipeline.infer.owners.election.cases import case_of

HERE, THERE = 0, 1  # AS rows


def loops_of(*loops):
    """Loops, each of three lists of groups."""
    runs = [run for loop in loops for run in loop]
    groups = np.full((len(runs), WIDTH), -1, np.int32)
    for row, run in zip(groups, runs, strict=True):
        row[: len(run)] = run
    groups, at = np.unique(groups, axis=0, return_inverse=True)
    return Loops(groups, at.reshape(-1, 3))


def straightened(between, after, before=9, n_beside=0, registries=None):
    """ASes of a router before another AS, in it, and after it, and which of them were moved.

    The numbers are those of links that hold each in its AS; ``n_beside`` routers of the other AS
    are next to the one between. Nothing of this is what the election would change.
    """
    links = [(0, 1), (1, 2), *((1, 3 + i) for i in range(n_beside))]
    evidence = [(HERE, before), (THERE, between), (HERE, after), *[(THERE, 9)] * n_beside]
    case = case_of(links, evidence, [HERE, THERE, HERE, *[THERE] * n_beside], registries)
    was = case.labels.copy()
    settle(case)
    assert np.array_equal(case.labels, was)
    moved = straighten(case, loops_of([[0], [1], [2]]))
    assert not moved[3:].any()
    assert (case.labels[3:] == THERE).all()
    assert not moved[0]
    return case.labels[:3].tolist(), moved[:3].tolist()


BETWEEN = [HERE, HERE, HERE], [False, True, False]
AFTER = [HERE, THERE, THERE], [False, False, True]
NONE = [HERE, THERE, HERE], [False, False, False]


@pytest.mark.parametrize(
    ("between", "after", "n_beside", "found"),
    [
        (2, 9, 0, BETWEEN),  # 24 against 212
        (3, 9, 0, NONE),  # 49 is too much
        (9, 2, 0, AFTER),  # 37 against 199
        (9, 3, 0, NONE),  # 62 is too much
        (2, 2, 0, BETWEEN),  # 24 against 37
        (3, 2, 0, AFTER),  # 49 against 37
        (2, 2, 1, NONE),  # 37 against 37
        (2, 3, 1, BETWEEN),  # 37 against 62
    ],
)
def test_what_costs_clearly_less_is_moved(between, after, n_beside, found):
    assert straightened(between, after, n_beside=n_beside) == found


def test_routers_before_the_other_as_stay_and_so_does_the_loop_where_they_cost_least():
    assert straightened(2, 9, before=1) == NONE  # 24, but 12 for the first one
    assert straightened(2, 9, before=2) == BETWEEN  # 24 against 37


def test_loops_of_ases_of_one_organisation_stay():
    siblings = Registries(organisations=Organisations(np.array([1, 2]), np.array([7, 7])))
    assert straightened(2, 9, registries=siblings) == NONE


def test_what_straightens_several_loops_is_weighed_against_all_that_it_saves():
    # Router 1 costs 36; routers 2 and 3 behind it 37 each.
    links, labels = [(0, 1), (1, 2), (1, 3), (1, 4)], [HERE, THERE, HERE, HERE, HERE]
    evidence = [(HERE, 9), (THERE, 3), (HERE, 2), (HERE, 2), (-1, 1)]
    case = case_of(links, evidence, labels)
    moved = straighten(case, loops_of([[0], [1], [2]], [[0], [1], [3]]))
    assert moved.tolist() == [False, True, False, False, False]
    assert case.labels.tolist() == [HERE] * 5


def test_a_run_moves_as_a_whole_and_one_that_is_too_long_stays():
    def moved(n):
        inside = list(range(1, n + 1))
        links = [(i, i + 1) for i in range(n + 1)]
        evidence = [(HERE, 9), *[(THERE, 1)] * n, (HERE, 9)]
        evidence[2:-2] = [(-1, 1)] * (n - 2)  # unmapped: they cost nothing
        case = case_of(links, evidence, [HERE, *[THERE] * n, HERE])
        found = straighten(case, loops_of([[0], inside[:WIDTH], [n + 1]]))
        assert (case.labels[1:-1] == (HERE if found.any() else THERE)).all()
        return found.tolist()

    for n in (2, 3, LONGEST):
        assert moved(n) == [False, *[True] * n, False]
    assert moved(LONGEST + 1) == [False] * (LONGEST + 3)


@pytest.mark.parametrize(("n_dear", "is_moved"), [(0, True), (1, True), (2, False)])
def test_where_most_loops_would_cost_much_paths_do_come_back_and_nothing_moves(n_dear, is_moved):
    n = 3 * (n_dear + 1)
    links = [(i + j, i + j + 1) for i in range(0, n, 3) for j in range(2)]
    evidence = [(HERE, 9), (THERE, 2), (HERE, 9), *[(HERE, 9), (THERE, 9), (HERE, 9)] * n_dear]
    case = case_of(links, evidence, [HERE, THERE, HERE] * (n_dear + 1))
    moved = straighten(case, loops_of(*([[i], [i + 1], [i + 2]] for i in range(0, n, 3))))
    assert np.flatnonzero(moved).tolist() == ([1] if is_moved else [])


def test_nothing_moves_without_loops():
    case = case_of([(0, 1)], [(HERE, 1), (THERE, 1)], [HERE, THERE])
    none = Loops(np.empty((0, WIDTH), np.int32), np.empty((0, 3), np.int64))
    assert not straighten(case, none).any()
    assert case.labels.tolist() == [HERE, THERE]


# The second router of AS 1 answers by an address of AS 2, and nothing else is evidence for AS 2.
LINE = "20.1.1.9 20.1.1.2 20.2.2.5 20.1.0.9 > 20.1.8.9"


def test_no_trace_leaves_an_as_and_comes_back(tmp_path):
    assert set(asn_of(infer(tmp_path, LINE, borders="elected")).values()) == {1}
    found = asn_of(infer(tmp_path, LINE, borders="elected", without=["loops"]))
    assert found["20.2.2.5"] == 2
