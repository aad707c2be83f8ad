"""Costs of the surroundings of a router, counted by hand."""

import numpy as np
import pytest

from pipeline.infer import read_relationships
from pipeline.infer.owners.election.costs import UNLIMITED, Case, cost_of, without_habit
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.surroundings import (
    ADJACENCY,
    AIMED,
    AIMED_BROKEN,
    AIMED_SILENT,
    ONLY,
    UNNUMBERED,
    Surroundings,
)
from pipeline.infer.registries import Registries
from pipeline.infer.registries.organisations import UNKNOWN
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.reading import ReadReport
from tests.tables import table_of_file

NONE = Registries()


def cost(
    row,
    entries,
    limit=UNLIMITED,
    organisations=(UNKNOWN, UNKNOWN),
    worth=None,
    registries=NONE,
):
    """Cost of group 0 in an AS row, beside groups 1 and 2, in AS rows 0 and 1."""
    other, numbered = np.array(entries, np.int64).T
    none, no = np.full(len(other), -1), np.zeros(3, bool)
    ptr = offsets(np.array([len(other), 0, 0]))
    around = Surroundings(ptr, other, numbered, none, no, no, worth)
    relations = relations_among(np.array([1, 2]), registries)
    ways = without_habit(
        relations._replace(organisation=np.array([*organisations, UNKNOWN], np.int64))
    )
    case = Case.of(around, np.array([0, 0, 1]), np.array([5, 5]), 2, ways, np.full(3, -1), 0)
    return cost_of(case, 0, row, limit)


ENDS = (AIMED, 1)  # traces to AS row 1 end there


def test_where_traces_end_counts_less_beside_a_known_router_of_the_as_they_were_aimed_at():
    assert cost(0, [ENDS]) == 40
    assert cost(0, [ENDS, (2, UNNUMBERED)]) == 24 + 25
    assert cost(0, [ENDS, (1, UNNUMBERED)]) == 40  # it is in the other AS
    assert cost(0, [ENDS, (2, ADJACENCY)]) == 40 + 13  # it may be the same router
    assert cost(1, [ENDS, (2, UNNUMBERED)]) == 0


def test_what_several_addresses_show_counts_less_too():
    assert cost(0, [ENDS] * 3) == 40 + 15 + 15
    assert cost(0, [*[ENDS] * 3, (2, UNNUMBERED)]) == 24 + 25


def test_traces_that_may_break_off_say_no_more_than_the_share_that_is_aimed_at_their_as():
    broken, few, many = (AIMED_BROKEN, 1), np.array([90, 90]), np.array([90, 12])
    assert cost(0, [broken] * 3, worth=few) == 25 + 8 + 8
    assert cost(0, [broken] * 3, worth=many) == 12 + 8 + 8
    assert cost(0, [broken, (2, UNNUMBERED)], worth=many) == 12 + 25
    for other in (AIMED, AIMED_SILENT):
        assert cost(0, [broken, (other, 1)], worth=many) == cost(0, [ENDS] * 2) == 40 + 15
    assert cost(0, [(ONLY, 1)], worth=few) == 12
    assert cost(0, [(ONLY, 1)], worth=np.array([90, 7])) == 7


@pytest.mark.parametrize(("text", "costs"), [("1|2|-1", 25), ("2|1|-1", 40), ("1|2|0", 40)])
def test_traces_to_a_customer_break_off_at_a_provider_more_often(tmp_path, text, costs):
    path = tmp_path / "as-rel.txt"
    path.write_text(f"{text}\n")
    related = Registries(
        relationships=table_of_file(read_relationships, path, ReadReport(str(path)))
    )
    assert cost(0, [(AIMED_BROKEN, 1)], registries=related) == costs
    assert cost(0, [ENDS], registries=related) == 40


def test_below_the_limit_a_cost_is_exact_and_none_is_taken_for_less_than_the_limit():
    entries = [ENDS, (1, UNNUMBERED), (2, ADJACENCY), (2, 1), (2, UNNUMBERED)]
    for row in (0, 1):
        whole = cost(row, entries)
        for limit in range(1, whole + 9):
            found = cost(row, entries, limit)
            assert found == whole if limit > whole else limit <= found <= whole


def test_a_border_between_two_ases_of_one_organisation_costs_less_however_it_is_seen():
    for kind, costs, between_siblings in ((UNNUMBERED, 25, 15), (ADJACENCY, 13, 8), (1, 25, 15)):
        assert cost(0, [(2, kind)]) == costs
        assert cost(0, [(2, kind)], organisations=(5, 5)) == between_siblings
        assert cost(0, [(2, kind)], organisations=(5, 6)) == costs
