"""Costs of the surroundings of a router, counted by hand."""

import numpy as np
import pytest

from pipeline.infer.owners.election.costs import (
    UNLIMITED,
    Case,
    Costs,
    by_habit,
    cost_of,
    explain,
    without_habit,
)
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.surroundings import (
    ADJACENCY,
    AIMED,
    AIMED_BROKEN,
    AIMED_PERHAPS,
    AIMED_SILENT,
    CROSSED,
    HOST,
    HOST_OR_ROUTER,
    MEMBER,
    NAMED,
    ONLY,
    ONLY_OF_SIBLINGS,
    PRIVATE,
    UNNUMBERED,
    Surroundings,
)
from pipeline.infer.owners.terms import TERMS
from pipeline.infer.rules import rules_without
from pipeline.ingest.tables import read_relationships
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.organisations import UNKNOWN
from pipeline.model.tables.registries import Registries
from tests.tables import table_of_file

NONE = Registries()


def cost(
    row,
    entries,
    limit=UNLIMITED,
    organisations=(UNKNOWN, UNKNOWN),
    registries=NONE,
    lent_from=(-1, -1, -1),
    costs=None,
    carries=None,
):
    """Cost of group 0 in an AS row, beside groups 1 and 2, in AS rows 0 and 1; row 2 is a third."""
    other, numbered = np.array(entries, np.int64).T
    ptr = offsets(np.array([len(other), 0, 0]))
    around = Surroundings(ptr, other, numbered)
    relations = relations_among(np.array([1, 2, 3]), registries)
    of = [*organisations, UNKNOWN, UNKNOWN][:4]
    ways = without_habit(relations._replace(organisation=np.array(of, np.int64)))
    ways = ways._replace(lent_from=np.array([*lent_from, -1]))
    labels, size, held = np.array([0, 0, 1]), np.array([5, 5, 5]), np.full(3, -1)
    case = Case.of(around, labels, size, 3, ways, held, costs, carries)
    found = cost_of(case, 0, row, limit)
    if limit == UNLIMITED:
        tally = np.zeros((2, len(TERMS)), np.int64)
        explain(case, 0, row, tally)
        assert tally[0].sum() == found
        assert ((tally[0] > 0) == (tally[1] > 0)).all()
    return found


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


def test_traces_that_may_break_off_say_less_unless_another_end_is_sure():
    broken = (AIMED_BROKEN, 1)
    assert cost(0, [broken] * 3) == 25 + 8 + 8
    assert cost(0, [broken, (2, UNNUMBERED)]) == 24 + 25
    for other in (AIMED, AIMED_SILENT):
        assert cost(0, [broken, (other, 1)]) == cost(0, [ENDS] * 2) == 40 + 15


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


@pytest.mark.parametrize(
    ("entries", "costs"),
    [
        ([(2, 1)], 25),  # a link to the other AS, numbered from it,
        ([(2, 0)], 25),  # from this one,
        ([(2, 2)], 70),  # from a third,
        ([(1, 1)], 50),  # a link inside, numbered from elsewhere
        ([(1, 0)], 0),
        ([(-1, 1)], 25),  # a link to what is not known
        ([(-1, 0)], 0),
        ([(2, PRIVATE)], 50),
        ([(1, PRIVATE)], 0),
        ([(HOST, 1)], 45),
        ([(HOST_OR_ROUTER, 1)], 25),
        ([(AIMED_PERHAPS, 1)], 24),
        ([ENDS, (AIMED, 2)], 24),  # to several ASes
        ([(MEMBER, 1)], 34),
        ([(MEMBER, 1), (MEMBER, 2)], 34),
        ([(MEMBER, 1), (MEMBER, 0)], 0),
        ([(NAMED - 22, 1)], 22),  # host names weigh what their rules do
        ([(NAMED - 22, 1), (NAMED - 7, 1), (NAMED - 9, 0)], 29),
        ([(ONLY, 1)], 6),
        ([(CROSSED, -1)], 0),  # every AS carries traffic, as far as is known
        ([(ONLY_OF_SIBLINGS, 1)], 0),
    ],
)
def test_every_kind_of_evidence_has_its_cost(entries, costs):
    assert cost(0, entries) == costs


def test_traces_to_several_ases_cross_no_as_that_never_carries_any():
    carries = np.array([True, False, True, True])
    assert cost(0, [(CROSSED, -1)], carries=carries) == 0
    assert cost(1, [(CROSSED, -1)], carries=carries) == 30


@pytest.mark.parametrize(
    ("entries", "organisations", "costs"),
    [
        ([(1, 1)], (5, 5), 3),  # a link inside, numbered from a sibling
        ([(1, 2)], (5, 5), 50),
        ([(2, 2)], (5, 6, 5), 25 + 25),  # one to another AS, numbered from a sibling of either
        ([(2, 2)], (6, 5, 5), 25 + 25),
        ([(2, 2)], (5, 5, 5), 25 + 15),
        ([(ONLY_OF_SIBLINGS, 1)], (5, 5), 6),
    ],
)
def test_what_siblings_number_costs_less(entries, organisations, costs):
    assert cost(0, entries, organisations=organisations) == costs


def test_a_link_inside_numbered_from_a_lender_is_as_one_from_a_sibling():
    assert cost(0, [(1, 2)], lent_from=(2, -1, -1)) == 3
    assert cost(0, [(1, 1)], lent_from=(2, -1, -1)) == 50


@pytest.mark.parametrize(
    ("entry", "costs"), [((2, 1), 25 + 24), ((2, UNNUMBERED), 25 + 12), ((2, ADJACENCY), 13 + 12)]
)
def test_a_border_between_ases_that_are_listed_without_a_relationship_costs_more(
    tmp_path, entry, costs
):
    path = tmp_path / "as-rel.txt"
    path.write_text("1|3|-1\n2|3|-1\n")
    unrelated = Registries(
        relationships=table_of_file(read_relationships, path, ReadReport(str(path)))
    )
    assert cost(0, [entry], registries=unrelated) == costs
    path.write_text("1|3|-1\n2|4|-1\n1|2|0\n")
    related = Registries(
        relationships=table_of_file(read_relationships, path, ReadReport(str(path)))
    )
    assert cost(0, [entry], registries=related) == (13 if entry[1] == ADJACENCY else 25)


def test_the_rarer_way_of_numbering_costs_what_its_share_warrants_up_to_a_limit():
    relations = relations_among(np.array([1, 2]), NONE)
    assert by_habit(relations).habit.tolist() == [[0, 0], [0, 0], [11, 0]]
    seen = np.array([[1.0, 99.0], [3.0, 1.0], [1.0, 99.0]])
    assert by_habit(relations, seen).habit.tolist() == [[46, 0], [0, 11], [15, 0]]


@pytest.mark.parametrize(
    ("name", "entry", "left"),
    [
        ("hosts", (HOST, 1), 0),
        ("numbering", (-1, 1), 0),
        ("adjacency", (2, ADJACENCY), 0),
        ("inner-links", (2, UNNUMBERED), 0),
        ("private-links", (2, PRIVATE), 13),
        ("destinations", ENDS, 0),
        ("exchange-members", (MEMBER, 1), 0),
        ("only-destination", (ONLY, 1), 0),
    ],
)
def test_a_term_that_is_left_out_costs_nothing_or_what_stands_in_for_it(name, entry, left):
    assert cost(0, [entry], costs=Costs.of(rules_without([name]))) == left < cost(0, [entry])
    others = [term.name for term in TERMS if term.name != name]
    assert cost(0, [entry], costs=Costs.of(rules_without(others))) == cost(0, [entry])
