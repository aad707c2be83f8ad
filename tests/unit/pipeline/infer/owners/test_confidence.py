"""Confidence: margins and classes counted by hand, and that more evidence never lowers it."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline.infer.owners import confidence
from pipeline.infer.owners.confidence import (
    CANDIDATE_CLASSES,
    CLASSES,
    SHARES,
    class_ingresses,
    class_nodes,
    rate,
)
from pipeline.infer.owners.election.borders import Election
from pipeline.infer.owners.election.costs import Ways, nothing_lent
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.settling import find_margins
from pipeline.infer.owners.election.surroundings import HOST
from pipeline.infer.registries import Registries
from pipeline.model.topology import NO_ASN, IngressTable
from tests.oracles.truth.calibration import Rated
from tests.oracles.truth.fit_confidence import fit, lines_of, name_labs, pool_violators, put_into
from tests.unit.pipeline.infer.handmade import infer, nodes_of

DOUBTFUL, WEAK, FAIR, STRONG = range(4)
NO_HABIT = np.zeros((3, 2), np.int64)


def margin(rows, habit=NO_HABIT):
    """Margin of group 0, in AS row 0, beside groups 1 and 2 in AS rows 0 and 1.

    Of each row: the other end, and the AS row that it is numbered from.
    """
    other, numbered = np.array(rows, np.int64).T
    labels, size = np.array([0, 0, 1]), np.array([5, 5])
    ptr = np.array([0, len(rows), len(rows), len(rows)])
    tried, met = np.empty(2, np.int64), np.zeros(3, np.int64)
    relations = relations_among(np.array([1, 2]), Registries())
    ways = Ways(habit, relations, nothing_lent(relations))
    none = np.full(len(other), -1)
    found = find_margins(ptr, other, numbered, none, labels, size, 2, 2, ways, tried, met)
    assert found[1:].tolist() == [0, 0]  # no evidence
    return int(found[0])


INSIDE, BETWEEN, HOSTS = (1, 0), (2, 1), (HOST, 0)


def test_margins_are_those_counted_by_hand():
    # One inner link: an AS that is not around would have one link to another, 25.
    assert margin([INSIDE]) == 25
    # A link to each AS, numbered by it: a tie. In none of the two ASes: twice 25 instead of once.
    assert margin([INSIDE, BETWEEN]) == 0
    assert margin([INSIDE, INSIDE, BETWEEN]) == 50 - 25
    # Hosts of AS 0 cost 45 in AS 1: 25 + 45 against 25.
    assert margin([INSIDE, BETWEEN, HOSTS]) == 45
    # By habit the higher AS numbers links: the lower doing so costs 10.
    assert margin([INSIDE, BETWEEN], np.array([[0, 10], [0, 10], [0, 0]])) == 10
    # Evidence against: no margin is below 0.
    assert margin([INSIDE, BETWEEN, BETWEEN]) == 0


def test_each_piece_of_evidence_raises_a_margin():
    rows = [INSIDE, BETWEEN]
    for more in (HOSTS, INSIDE, INSIDE):
        assert margin([*rows, more]) > margin(rows)
        rows.append(more)


def test_the_class_of_a_node_is_that_of_its_largest_margin_for_its_as():
    node_of = np.array([0, 0, 1, 2, 3, 4])
    owner = np.array([7, 7, 8, 9, NO_ASN, 7])
    margins = np.array([5, 25, 40, 99, 99, 19])
    node_asn = np.array([7, 8, 7, 7, 7])  # the third and the fourth by their surroundings
    found, elected = class_nodes(node_of, node_asn, owner, margins)
    assert found.tolist() == [FAIR, STRONG, WEAK, WEAK, WEAK]
    assert elected.tolist() == [True, True, False, False, True]


def ingress_classes(n_direct, node_class, elected=(True,) * 5, n_after_gap=0, merged=True):
    """Class of node 4 of AS 8, entered from nodes 0 and 1 of AS 7; 2 is in AS 8, 3 in no AS."""
    none = np.empty(0, np.int64)
    table = IngressTable(
        np.array([4]),
        np.array([0, 0]),
        none,
        np.array([n_direct]),
        np.array([n_after_gap]),
        np.array([n_direct == 0]),
    )
    near, far = np.array([0, 1, 2, 3, 4]), np.array([4, 4, 4, 4, 0])
    asn = np.array([7, 7, 8, NO_ASN, 8])
    found = class_ingresses(table, near, far, asn, np.array(node_class), np.array(elected), merged)
    return int(found[0])


@pytest.mark.parametrize(
    ("node_class", "found"),
    [
        ([WEAK, FAIR, STRONG, STRONG, STRONG], FAIR),  # the best before it
        ([STRONG, WEAK, WEAK, WEAK, WEAK], WEAK),  # its own
        ([DOUBTFUL, DOUBTFUL, STRONG, STRONG, STRONG], DOUBTFUL),  # others are no border
    ],
)
def test_an_ingress_is_as_sure_as_the_less_sure_side_of_the_border(node_class, found):
    assert ingress_classes(3, node_class) == found
    assert ingress_classes(2, node_class) == max(found - 1, DOUBTFUL)


def test_a_router_whose_as_comes_from_its_surroundings_is_a_doubtful_ingress():
    elected = (True, True, True, True, False)
    assert ingress_classes(9, [STRONG] * 5, elected) == DOUBTFUL


@pytest.mark.parametrize("merged", [True, False])
def test_candidates_are_classed_by_traces_and_by_what_is_a_node(merged):
    few = CANDIDATE_CLASSES.index("few" if merged else "few, nothing merged")
    many = CANDIDATE_CLASSES.index("many")
    for n_after_gap, found in ((1, few), (9, few), (10, many)):
        for c in range(4):
            assert ingress_classes(0, [c] * 5, n_after_gap=n_after_gap, merged=merged) == found


def test_more_evidence_never_lowers_confidence():
    for shares in SHARES.values():
        assert all(0 < one <= other < 1 for one, other in pairwise(shares))
    assert len(SHARES["address"]) == len(SHARES["ingress"]) == len(CLASSES)
    for n_direct in range(1, 5):
        for one, own in ((a, b) for a in range(4) for b in range(4)):
            before = ingress_classes(n_direct, [one, 0, 0, 0, own])
            assert ingress_classes(n_direct + 1, [one, 0, 0, 0, own]) >= before
            assert ingress_classes(n_direct, [min(one + 1, 3), 0, 0, 0, own]) >= before
            assert ingress_classes(n_direct, [one, 0, 0, 0, min(own + 1, 3)]) >= before


# AS 1 numbers its link to AS 2, whose border router answers with 20.1.9.2.
LINES = [
    "20.1.0.1 20.1.0.5 20.1.9.2 20.2.0.14 20.2.0.22",
    "20.1.0.1 20.1.0.5 20.1.9.2 20.2.0.18 20.2.0.26",
    "20.2.0.34 20.2.0.5 20.2.0.18 20.2.0.26",
    "20.2.0.38 20.2.0.9 20.2.0.14 20.2.0.22",
    "20.2.0.34 20.2.0.5 20.1.9.1 20.1.0.6",
    "20.2.0.38 20.2.0.9 20.1.9.1 20.1.0.6",
    "20.1.0.1 20.1.0.5 * 20.3.0.1 20.3.0.5",
]


def test_addresses_and_ingresses_of_traces_have_one(tmp_path):
    topology = infer(tmp_path, *LINES, borders="elected")
    assert set(topology.addr_confidence.tolist()) <= set(np.float32(SHARES["address"]).tolist())
    rated = dict(
        zip(
            [nodes_of(topology)[node] for node in topology.ingresses.node],
            topology.ingresses.confidence.tolist(),
            strict=True,
        )
    )
    assert rated["20.1.9.2"] in np.float32(SHARES["ingress"])
    assert rated["20.3.0.1"] == np.float32(SHARES["candidate"][1])


def test_a_candidate_of_few_traces_is_less_likely_where_something_is_merged():
    few_traces = IngressTable(
        np.array([1]), np.array([0, 0]), np.empty(0, np.int64), np.array([0]), np.array([9]),
        np.array([True]),
    )  # fmt: skip
    none = np.empty(0, np.int64)
    election = Election(np.array([7, 7, 8]), np.array([50, 50, 50]))
    _, apart = rate(few_traces, none, none, np.array([0, 2, 1]), np.array([7, 8, 7]), election)
    _, merged = rate(few_traces, none, none, np.array([0, 0, 1]), np.array([7, 8]), election)
    assert merged[0] < apart[0] == np.float32(SHARES["candidate"][1])


@pytest.mark.parametrize("options", [{"borders": "prefix"}, {"borders": "elected", "asn": 7}])
def test_without_an_election_there_is_none(tmp_path, options):
    topology = infer(tmp_path, *LINES, **options)
    assert topology.addr_confidence is None
    assert topology.ingresses.confidence is None


def test_addresses_in_no_as_have_none():
    none = np.empty(0, np.int64)
    election = Election(np.array([NO_ASN, 7]), np.array([0, 50]))
    node_asn = np.array([NO_ASN, 7])
    addrs, ingresses = rate(IngressTable.empty(), none, none, np.array([0, 1]), node_asn, election)
    assert np.isnan(addrs[0])
    assert addrs[1] == np.float32(SHARES["address"][STRONG])
    assert ingresses.tolist() == []


def test_shares_are_fitted_by_pooling_classes_out_of_order():
    assert pool_violators([10, 10, 20], [5, 8, 19]) == [0.5, 0.8, 0.95]
    assert pool_violators([10, 10, 20], [5, 4, 19]) == [0.45, 0.45, 0.95]
    assert pool_violators([10, 10, 10], [9, 6, 3]) == [0.6, 0.6, 0.6]
    fitted = fit([Rated("ingress", 0, 4, 1), Rated("ingress", 1, 2, 1), Rated("ingress", 1, 2, 2)])
    assert fitted["ingress"][:2] == [0.25, 0.75]


def test_the_fitted_table_can_be_written_back():
    module = Path(confidence.__file__).read_text()
    fitted = {what: list(shares) for what, shares in SHARES.items()}
    plans = ["a, seed 3", "b, seed 4", "a, seed 7"]
    once = put_into(module, name_labs(plans), fitted)
    assert "# Laboratories: a, b; seeds 3 to 4, 7.\nSHARES = {\n" in once
    assert put_into(once, "others", fitted) == once.replace("a, b; seeds 3 to 4, 7", "others")
    names: dict = {}
    exec(lines_of(fitted), names)
    assert names["SHARES"] == SHARES
