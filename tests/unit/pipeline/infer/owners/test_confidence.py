"""Confidence: margins and classes counted by hand, and that more evidence never lowers it."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline.infer.owners import confidence
from pipeline.infer.owners.confidence import (
    CANDIDATE_CLASSES,
    CLASSES,
    FEATURES,
    KINDS,
    SHARES,
    Known,
    Sides,
    class_candidates,
    class_of,
    features_of_ingresses,
    features_of_nodes,
    margins_of_nodes,
    rate,
    state,
)
from pipeline.infer.owners.elect import Election
from pipeline.infer.owners.election.costs import Case, Ways, nothing_lent
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.settling import find_margins
from pipeline.infer.owners.election.surroundings import HOST, Surroundings
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN, IngressTable
from pipeline.model.words import LOW_CONFIDENCE
from tests.oracles.truth.calibration import Rated
from tests.oracles.truth.fit_confidence import (
    Counted,
    add_up,
    count_candidates,
    count_shares,
    fit_weights,
    lines_of,
    name_labs,
    pool_violators,
    put_into,
)
from tests.unit.pipeline.infer.handmade import infer, nodes_of

DOUBTFUL, WEAK, FAIR, STRONG = range(4)
NO_HABIT = np.zeros((3, 2), np.int64)


def margin(rows, habit=NO_HABIT):
    """Margin of group 0, in AS row 0, beside groups 1 and 2 in AS rows 0 and 1.

    Of each row: the other end, and the AS row that it is numbered from.
    """
    other, numbered = np.array(rows, np.int64).T
    ptr = np.array([0, len(rows), len(rows), len(rows)])
    relations = relations_among(np.array([1, 2]), Registries())
    ways = Ways(habit, relations, nothing_lent(relations))
    around = Surroundings(ptr, other, numbered)
    case = Case.of(around, np.array([0, 0, 1]), np.array([5, 5]), 2, ways, np.full(3, -1), 0)
    found = find_margins(case, 2)
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


def test_the_margin_of_a_node_is_its_largest_one_for_its_as():
    node_of = np.array([0, 0, 1, 2, 3, 4])
    owner = np.array([7, 7, 8, 9, NO_ASN, 7])
    margins = np.array([5, 25, 40, 99, 99, 19])
    node_asn = np.array([7, 8, 7, 7, 7])  # the third and the fourth by their surroundings
    assert margins_of_nodes(node_of, node_asn, owner, margins).tolist() == [25, 40, -1, -1, 19]


@pytest.mark.parametrize("relationships", [False, True])
@pytest.mark.parametrize("in_set", [False, True])
def test_features_of_nodes_are_those_counted_by_hand(relationships, in_set):
    known = Known(np.array([0, 25, -1]), np.array([in_set] * 3), np.zeros(3, bool), relationships)
    found = features_of_nodes(known, 0.25)
    nats = math.log(1 + 2.5)
    assert found.shape == (3, len(FEATURES["address"]))
    assert found[0].tolist() == [1, 0, 0, 0, 0, 0.25]
    assert found[1] == pytest.approx([1, nats, 0, nats * relationships, nats * in_set, 0.25])
    assert found[2].tolist() == [1, 0, 1, 0, 0, 0.25]


def an_ingress(n_direct=5, n_after_gap=0):
    """Node 4 of AS 8."""
    return IngressTable(
        np.array([4]),
        np.array([0, 0]),
        np.empty(0, np.int64),
        np.array([n_direct]),
        np.array([n_after_gap]),
        np.array([n_direct == 0]),
    )


# Node 4 of AS 8 is entered from 0 and 1 of AS 7; 2 is in AS 8, 3 in no AS, 5 in AS 9.
ASN = np.array([7, 7, 8, NO_ASN, 8, 9])
ENTERED = [(0, 4), (1, 4), (2, 4), (3, 4)]


def feature(name, margin, passed=ENTERED, n_direct=5, relationships=False, in_set=(), merged=()):
    nodes = np.arange(6)
    known = Known(np.array(margin), np.isin(nodes, in_set), np.isin(nodes, merged), relationships)
    sides = Sides(*np.array(passed).T)
    found = features_of_ingresses(an_ingress(n_direct), sides, ASN, known, 0.25)
    assert found.shape == (1, len(FEATURES["ingress"]))
    assert found[0, 0] == 1
    assert found[0, FEATURES["ingress"].index("share of entries after a gap")] == 0.25
    return found[0, FEATURES["ingress"].index(name)]


LOWER, HIGHER = "log(1 + lower margin in nats)", "log(1 + higher margin in nats)"
TRACES = "log(1 + traces), of at most so many"
NONE = [0] * 6


@pytest.mark.parametrize(
    ("margin", "lower", "higher"),
    [
        ([10, 20, 99, 99, 40, 99], 20, 40),  # the best before it, and its own
        ([70, 10, 99, 99, 30, 99], 30, 70),
        ([-1, -1, 99, 99, 30, 99], 30, 30),  # nothing is known of those before it
        ([50, 50, 99, 99, -1, 99], 0, 50),
    ],
)
def test_both_sides_of_a_border_count(margin, lower, higher):
    assert feature(LOWER, margin) == pytest.approx(math.log(1 + lower / 10))
    assert feature(HIGHER, margin) == pytest.approx(math.log(1 + higher / 10))
    with_set = feature("log of the lower margin, alias set", margin, in_set=(4,))
    related = feature("log of the lower margin, relationships known", margin, relationships=True)
    assert with_set == related == feature(LOWER, margin)
    assert feature("log of the lower margin, alias set", margin, in_set=(0, 1)) == 0


def test_other_features_of_an_ingress():
    traces = [feature(TRACES, NONE, n_direct=n) for n in (1, 3, 30, 31, 9000)]
    assert traces == pytest.approx(np.log([2, 4, 31, 31, 31]))
    addresses = "several addresses"
    assert feature(addresses, NONE, merged=(4,))
    assert not feature(addresses, NONE, merged=(0, 1))
    behind = "another AS right behind it"
    assert not feature(behind, NONE, [*ENTERED, (4, 2), (4, 3)])
    assert feature(behind, NONE, [*ENTERED, (4, 5)])


def test_classes_are_ranges_of_what_weights_say(monkeypatch):
    monkeypatch.setitem(confidence.WEIGHTS, "address", (1.0,))
    likely = np.array([0.5, 0.69, 0.71, 0.89, 0.91, 0.96, 0.98])
    found = class_of("address", np.log(likely / (1 - likely))[:, None])
    assert found.tolist() == [DOUBTFUL, DOUBTFUL, WEAK, WEAK, FAIR, FAIR, STRONG]
    kinds = np.arange(len(KINDS))
    found = state("address", np.full((len(kinds), 1), 9.0), kinds)
    assert found.tolist() == [np.float32(shares[STRONG]) for shares in SHARES["address"]]


@pytest.mark.parametrize(
    ("merged", "other"),
    [((), "interfaces"), ((0,), "interfaces"), ((0, 1), "inferred routers")],
)
@pytest.mark.parametrize("relationships", [False, True])
def test_the_kind_of_a_node_is_what_is_known_of_it(merged, other, relationships):
    nodes = np.arange(3)  # the first is in an alias set
    known = Known(np.zeros(3, np.int64), nodes == 0, np.isin(nodes, merged), relationships)
    ending = ", relationships" if relationships else ""
    others = [f"{other}{ending}"] * 2
    assert [KINDS[kind] for kind in known.kind] == [f"alias sets{ending}", *others]


@pytest.mark.parametrize("merged", [True, False])
def test_candidates_are_classed_by_traces_and_by_what_is_a_node(merged):
    few = CANDIDATE_CLASSES.index("few" if merged else "few, nothing merged")
    many = CANDIDATE_CLASSES.index("many")
    for n_after_gap, found in ((1, few), (9, few), (10, many)):
        table = an_ingress(0, n_after_gap)
        assert class_candidates(table, merged).tolist() == [found]


def test_more_evidence_never_lowers_confidence():
    for rows in SHARES.values():
        for shares in rows:
            assert all(0 < one <= other < 1 for one, other in pairwise(shares))
    of_kinds = np.array([SHARES["address"], SHARES["ingress"]])
    assert of_kinds.shape == (2, len(KINDS), len(CLASSES))
    # So classes can be told from what is stated, and the lowest one is marked.
    for what in of_kinds:
        assert (what[:, :-1].max(axis=0) < what[:, 1:].min(axis=0)).all()
    assert (of_kinds[1, :, DOUBTFUL] < LOW_CONFIDENCE).all()
    assert (of_kinds[1, :, WEAK:] >= LOW_CONFIDENCE).all()
    less = ("another AS right behind it", "share of entries after a gap")
    for what, weights in confidence.WEIGHTS.items():
        for name, weight in zip(FEATURES[what][1:], weights[1:], strict=True):
            if name != "AS from surroundings":  # this has no margin, which may be better than none
                assert (weight < 0) == (name in less), name


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
    assert set(topology.addr_confidence.tolist()) <= set(np.float32(SHARES["address"][0]).tolist())
    rated = dict(
        zip(
            [nodes_of(topology)[node] for node in topology.ingresses.node],
            topology.ingresses.confidence.tolist(),
            strict=True,
        )
    )
    assert rated["20.1.9.2"] in np.float32(SHARES["ingress"][0])
    assert rated["20.3.0.1"] == np.float32(SHARES["candidate"][0][1])


def test_a_candidate_of_few_traces_is_less_likely_where_something_is_merged():
    few_traces = IngressTable(
        np.array([1]), np.array([0, 0]), np.empty(0, np.int64), np.array([0]), np.array([9]),
        np.array([True]),
    )  # fmt: skip
    none = np.empty(0, np.int64)
    election = Election(np.array([7, 7, 8]), np.array([50, 50, 50]))
    known = (election, np.zeros(3, bool), False)
    _, apart = rate(few_traces, none, none, np.array([0, 2, 1]), np.array([7, 8, 7]), *known)
    _, merged = rate(few_traces, none, none, np.array([0, 0, 1]), np.array([7, 8]), *known)
    assert merged[0] < apart[0] == np.float32(SHARES["candidate"][0][1])


@pytest.mark.parametrize("options", [{"borders": "prefix"}, {"borders": "elected", "asn": 7}])
def test_without_an_election_there_is_none(tmp_path, options):
    topology = infer(tmp_path, *LINES, **options)
    assert topology.addr_confidence is None
    assert topology.ingresses.confidence is None


def test_addresses_in_no_as_have_none():
    none = np.empty(0, np.int64)
    election = Election(np.array([NO_ASN, 7]), np.array([0, 50]))
    node_asn = np.array([NO_ASN, 7])
    known = (node_asn, election, np.zeros(2, bool), False)
    addrs, ingresses = rate(IngressTable.empty(), none, none, np.array([0, 1]), *known)
    assert np.isnan(addrs[0])
    assert addrs[1] == np.float32(SHARES["address"][0][STRONG])
    assert ingresses.tolist() == []


def test_shares_are_fitted_by_pooling_classes_out_of_order():
    assert pool_violators([10, 10, 20], [5, 8, 19]) == [0.5, 0.8, 0.95]
    assert pool_violators([10, 10, 20], [5, 4, 19]) == [0.45, 0.45, 0.95]
    assert pool_violators([10, 10, 10], [9, 6, 3]) == [0.6, 0.6, 0.6]
    counted = [Rated("candidate", at, 4, right) for at, right in ((0, 1), (1, 2), (1, 1), (2, 3))]
    assert count_candidates(counted) == [[0.25, 0.375, 0.75]]


def test_weights_are_those_of_the_features_that_things_were_made_from():
    features = np.array([[kind, 1.0, a, b] for kind in (0, 3) for a in (0, 1, 2) for b in (0, 1)])
    log_odds = features[:, 1:] @ [-1.0, 2.0, 0.5]
    n = np.full(len(features), 100_000)
    right = np.rint(n / (1 + np.exp(-log_odds)))
    half = Counted(features, n // 2, right / 2)
    assert fit_weights(add_up([half, half])) == pytest.approx([-1, 2, 0.5], abs=0.011)


def test_shares_are_counted_by_class_and_kind():
    features = np.array([[0, *[0.0] * 6], [4, *[0.0] * 6], [4, 1.0, 99.0, *[0.0] * 4]])
    counted = Counted(features, np.array([8, 4, 10]), np.array([2, 2, 9]))
    found = count_shares("address", counted)
    assert len(found) == len(KINDS)
    assert found[0][DOUBTFUL] == 0.25
    assert found[4][DOUBTFUL] == 0.5
    assert found[4][STRONG] == 0.9


def test_the_fitted_tables_can_be_written_back():
    module = Path(confidence.__file__).read_text()
    tables = lines_of(confidence.WEIGHTS, SHARES)
    plans = ["a, seed 3", "b, seed 4", "a, seed 7"]
    once = put_into(module, name_labs(plans), tables)
    assert "# Laboratories: a, b; seeds 3 to 4, 7.\nWEIGHTS = {\n" in once
    kept = (
        module[module.index("# Laboratories: ") :].split(".\n")[0].removeprefix("# Laboratories: ")
    )
    assert put_into(module, kept.replace("\n# ", " "), tables) == module  # as it is formatted
    assert put_into(once, "others", tables) == once.replace("a, b; seeds 3 to 4, 7", "others")
    names: dict = {}
    exec(tables, names)
    assert names["SHARES"] == SHARES
    assert names["WEIGHTS"] == confidence.WEIGHTS
