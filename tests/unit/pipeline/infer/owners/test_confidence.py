"""Confidence: margins and classes counted by hand, and that more evidence never lowers it."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline.infer.owners import confidence
from pipeline.infer.owners.aims import Aims
from pipeline.infer.owners.confidence import (
    CANDIDATE_CLASSES,
    CLASSES,
    FEATURES,
    KINDS,
    SHARES,
    Conditions,
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
from pipeline.infer.traces.links import DirectedLinks
from pipeline.judge.rated import Rated
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN, IngressTable
from pipeline.model.words import LOW_CONFIDENCE
from tests.oracles.truth.fit_confidence import (
    Counted,
    Judged,
    add_up,
    balanced,
    count_candidates,
    count_shares,
    fit,
    fit_weights,
    judge_kind,
    leave_out,
    lines_of,
    name_networks,
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
    case = Case.of(around, np.array([0, 0, 1]), np.array([5, 5]), 2, ways, np.full(3, -1))
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


def test_features_of_nodes_are_those_counted_by_hand():
    private = np.array([False, True, False])
    aimed = np.array([False, False, True])
    known = Known(np.array([0, 25, -1]), *np.zeros((2, 3), bool), private, ~private, aimed, False)
    found = features_of_nodes(known)
    assert found.shape == (3, len(FEATURES["address"]))
    assert found[0].tolist() == [1, 0, 0, 0, 1, 0]
    assert found[1] == pytest.approx([1, math.log(1 + 2.5), 0, 1, 0, 0])
    assert found[2].tolist() == [1, 0, 1, 0, 1, 1]


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


def feature(
    name,
    margin,
    passed=ENTERED,
    n_direct=5,
    merged=(),
    private=(),
    foreign=(),
    aimed=(),
    classic=0.0,
    n=1,
    counts=None,
):
    nodes = np.arange(6)
    flags = (np.isin(nodes, some) for some in ((), merged, private, foreign, aimed))
    known = Known(np.array(margin), *flags, False)
    n_traces, n_paris = np.array(counts or [(100, 100 * (1 - classic))] * len(passed)).T
    sides = Sides(*np.array(passed).T, n_traces, n_paris)
    conditions = Conditions(False, 0.0, n)
    found = features_of_ingresses(an_ingress(n_direct), sides, ASN, known, conditions)
    assert found.shape == (1, len(FEATURES["ingress"]))
    assert found[0, 0] == 1
    return found[0, FEATURES["ingress"].index(name)]


LOWER = "log(1 + lower margin in nats)"
TRACES = "log(1 + traces), of at most so many"
NONE = [0] * 6


@pytest.mark.parametrize(
    ("margin", "lower"),
    [
        ([10, 20, 99, 99, 40, 99], 20),  # the best before it, and its own
        ([70, 10, 99, 99, 30, 99], 30),
        ([-1, -1, 99, 99, 30, 99], 30),  # nothing is known of those before it
        ([50, 50, 99, 99, -1, 99], 0),
    ],
)
def test_the_lower_side_of_a_border_counts(margin, lower):
    nats = math.log(1 + lower / 10)
    assert feature(LOWER, margin) == pytest.approx(nats)
    of_classic = "the same times log(1 + lower margin in nats)"
    assert feature(of_classic, margin, classic=0.25) == pytest.approx(0.25 * nats)


def test_other_features_of_an_ingress():
    traces = [feature(TRACES, NONE, n_direct=n) for n in (1, 3, 30, 31, 9000)]
    assert traces == pytest.approx(np.log([2, 4, 31, 31, 31]))
    addresses = "several addresses"
    assert feature(addresses, NONE, merged=(4,))
    assert not feature(addresses, NONE, merged=(0, 1))
    behind = "another AS right behind it"
    assert not feature(behind, NONE, [*ENTERED, (4, 2), (4, 3)])
    assert feature(behind, NONE, [*ENTERED, (4, 5)])


def test_a_private_address_on_either_side_of_the_border_counts():
    name = "a private address at the border"
    assert feature(name, NONE, private=(4,))
    assert feature(name, NONE, private=(0,))
    assert not feature(name, NONE, private=(2, 3, 5))  # inside, in no AS, elsewhere


def test_vantage_points_of_the_measurement_count():
    vantages = "log(1 + vantage points), of at most so many"
    assert feature(vantages, NONE, n=7) == pytest.approx(math.log(8))
    assert feature(vantages, NONE, n=9000) == feature(vantages, NONE, n=30)  # none were fitted


def test_traces_count_by_their_own_method_where_they_cross_the_border():
    name = "share of classic traces"
    assert feature(name, NONE, classic=0.25) == 0.25
    # Of those from 0 and 1 in AS 7, not of those inside AS 8 or from no AS.
    assert feature(name, NONE, counts=[(6, 6), (2, 0), (90, 0), (90, 0)]) == 0.25
    # An address that answered twice in a row counts in both ways, never for more than all.
    assert feature(name, NONE, counts=[(6, 9), (2, 2), (90, 0), (90, 0)]) == 0
    known = Known(np.array(NONE), *np.zeros((5, 6), bool), False)
    none = Sides(*np.empty((4, 0), np.int64))
    found = features_of_ingresses(an_ingress(), none, ASN, known, Conditions(False, 0.75, 1))
    assert found[0, FEATURES["ingress"].index(name)] == 0.75


def test_nothing_is_strong_where_most_traces_are_classic(monkeypatch):
    names = FEATURES["ingress"]
    monkeypatch.setitem(confidence.WEIGHTS, "ingress", (9.0, *[0.0] * (len(names) - 1)))
    features = np.zeros((3, len(names)))
    features[:, 0] = 1
    features[:, names.index("share of classic traces")] = 0, 0.5, 0.51
    assert class_of("ingress", features).tolist() == [STRONG, STRONG, FAIR]


def test_an_as_of_which_nothing_answers_is_weak_at_most(monkeypatch):
    monkeypatch.setattr(confidence, "state", lambda _, features, __: np.full(len(features), 0.99))
    node_of = node_asn = np.array([0, 1, 2, 3])
    none, _, _, aims, conditions = measured(4)
    aims = replace(  # a destination in 2 answered, one in 3 did not
        aims,
        router=np.array([2, 3]),
        asn=np.array([2, 3]),
        silent=np.array([False, True]),
        answered=np.array([True, False]),
    )
    election = Election(node_asn, np.full(4, 50))
    origin = np.array([0, 0, 0, 0])
    addrs, _ = rate(
        IngressTable.empty(),
        NO_LINKS,
        node_of,
        node_asn,
        election,
        *(none, none, origin, aims),
        conditions,
    )
    weak = np.float32(SHARES["address"][0][WEAK])
    assert addrs.tolist() == pytest.approx([0.99, weak, 0.99, weak])


def test_what_a_router_is_numbered_from_and_aimed_at_is_asked_of_all_its_addresses(monkeypatch):
    kept = {}

    def keep(what, features, kind):
        kept[what] = features
        return np.zeros(len(features), np.float32)

    monkeypatch.setattr(confidence, "state", keep)
    node_of, node_asn = np.array([0, 0, 1, 1, 2]), np.array([7, 8, 9])
    none, _, _, aims, conditions = measured(5)
    origin = np.array([7, 5, 5, 5, 5])
    aims = replace(aims, only=np.array([7, 7, 8, 8, NO_ASN]))
    election = Election(node_asn[node_of], np.full(5, 50))
    rate(
        IngressTable.empty(),
        NO_LINKS,
        node_of,
        node_asn,
        election,
        *(none, none, origin, aims),
        conditions,
    )
    names = FEATURES["address"]
    foreign = kept["address"][:, names.index("no address of its AS")]
    aimed = kept["address"][:, names.index("the same, and all traces aimed at its AS")]
    assert foreign.tolist() == [0, 1, 1]
    assert aimed.tolist() == [0, 1, 0]


def test_classes_are_ranges_of_what_weights_say(monkeypatch):
    monkeypatch.setitem(confidence.WEIGHTS, "address", (1.0,))
    likely = np.array([0.5, 0.69, 0.71, 0.89, 0.91, 0.97, 0.98])
    found = class_of("address", np.log(likely / (1 - likely))[:, None])
    assert found.tolist() == [DOUBTFUL, DOUBTFUL, WEAK, WEAK, FAIR, FAIR, STRONG]
    kinds = np.arange(len(KINDS))
    found = state("address", np.full((len(kinds), 1), 9.0), kinds)
    assert found.tolist() == [np.float32(shares[STRONG]) for shares in SHARES["address"]]


def test_what_rests_on_aims_alone_is_known_of_the_router_itself():
    for name in ("no address of its AS", "the same, and all traces aimed at its AS"):
        word = "foreign" if name == "no address of its AS" else "aimed"
        assert feature(name, NONE, **{word: (4,)}) == 1
        assert feature(name, NONE, **{word: (0, 1)}) == 0


@pytest.mark.parametrize(
    ("merged", "other"),
    [((), "interfaces"), ((0,), "interfaces"), ((0, 1), "inferred routers")],
)
@pytest.mark.parametrize("relationships", [False, True])
def test_the_kind_of_a_node_is_what_is_known_of_it(merged, other, relationships):
    nodes = np.arange(3)  # the first is in an alias set
    flags = (nodes == 0, np.isin(nodes, merged), *np.zeros((3, 3), bool))
    known = Known(np.zeros(3, np.int64), *flags, relationships)
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
    # More of the evidence is more; what makes it doubtful is less.
    for what, rising in (("address", [LOWER.replace("lower ", "")]), ("ingress", [LOWER, TRACES])):
        for name in rising:
            assert confidence.WEIGHTS[what][FEATURES[what].index(name)] > 0
        private = next(at for at, name in enumerate(FEATURES[what]) if "private" in name)
        assert confidence.WEIGHTS[what][private] < 0
    classic = dict(zip(FEATURES["ingress"], confidence.WEIGHTS["ingress"], strict=True))
    assert classic["the same times log(1 + lower margin in nats)"] < 0


NO_LINKS = DirectedLinks(*np.empty((9, 0), np.int64), np.empty(0, bool))


def measured(n):
    """No alias set, no private address, no prefix and no destination; how it was measured."""
    none = np.zeros(n, bool)
    return none, none, np.full(n, NO_ASN), Aims.none(n), Conditions(False, 0.0, 1)


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
    election = Election(np.array([7, 7, 8]), np.array([50, 50, 50]))

    def rated(node_of, node_asn):
        of, asn = np.array(node_of), np.array(node_asn)
        return rate(few_traces, NO_LINKS, of, asn, election, *measured(3))[1]

    apart, merged = rated([0, 2, 1], [7, 8, 7]), rated([0, 0, 1], [7, 8])
    assert merged[0] < apart[0] == np.float32(SHARES["candidate"][0][1])


@pytest.mark.parametrize("options", [{"borders": "prefix"}, {"borders": "elected", "asn": 7}])
def test_without_an_election_there_is_none(tmp_path, options):
    topology = infer(tmp_path, *LINES, **options)
    assert topology.addr_confidence is None
    assert topology.ingresses.confidence is None


def test_addresses_in_no_as_have_none():
    election = Election(np.array([NO_ASN, 7]), np.array([0, 50]))
    table, node_of = IngressTable.empty(), np.arange(2)
    addrs, ingresses = rate(table, NO_LINKS, node_of, election.owner, election, *measured(2))
    assert np.isnan(addrs[0])
    assert addrs[1] in np.float32(SHARES["address"][0])
    assert addrs[1] > LOW_CONFIDENCE
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


def network(family, name, *rows):
    """Of rows of (position of the kind of knowledge, margin, number, right), as both things."""
    counted = {}
    for what, names in FEATURES.items():
        features = np.zeros((len(rows), 1 + len(names)))
        features[:, 1] = 1
        features[:, [0, 2]] = [row[:2] for row in rows]
        counted[what] = Counted(features, *np.array([row[2:] for row in rows], float).T)
    return Judged(family, name, counted, [])


def test_each_kind_of_network_counts_as_much_as_any_other():
    few, many = (Counted(np.zeros((1, 2)), np.array([n]), np.array([n / 2])) for n in (10, 990))
    none = Counted(np.ones((1, 2)), np.array([10.0]), np.array([0.0]))
    together = balanced([few, none])
    assert together.n[0] == together.n[1]
    assert balanced([many, none]).n.tolist() == pytest.approx(together.n.tolist())
    assert together.right / together.n == pytest.approx([0.5, 0])


def test_a_kind_is_judged_by_tables_that_never_saw_it():
    # What is right with a margin in two kinds of networks is wrong in the third.
    usual = [network(f"kind{k}", f"kind{k}-1", (0, 3.0, 50, 50), (0, 0.0, 50, 20)) for k in (1, 2)]
    odd = network("odd", "odd-1", (0, 3.0, 40, 10), (0, 0.0, 40, 10))
    rows = leave_out([*usual, odd])
    of_odd = [row for row in rows if row["family"] == "odd" and row["what"] == "ingress"]
    assert sum(row["n"] for row in of_odd) == 80
    sure = max(of_odd, key=lambda row: row["stated"])
    assert sure["stated"] > 0.9
    assert sure["right"] == 0.25
    seen = judge_kind("odd", [odd], fit([*usual, odd]))
    assert max(row["stated"] for row in seen if row["what"] == "ingress") < sure["stated"]


def test_the_error_of_a_kind_is_by_the_spread_between_its_networks():
    networks = [network("kind", f"kind-{k}", (0, 0.0, 10, right)) for k, right in ((1, 4), (2, 6))]
    (row,) = [r for r in judge_kind("kind", networks, fit(networks)) if r["what"] == "address"]
    assert (row["n"], row["right"]) == (20, 0.5)
    assert row["error"] == pytest.approx(math.sqrt((1 + 1) * 2 / 1) / 20, abs=1e-4)


def test_the_fitted_tables_can_be_written_back():
    module = Path(confidence.__file__).read_text()
    tables = lines_of(confidence.WEIGHTS, SHARES)
    once = put_into(module, name_networks(["a-3", "b-4", "a-7"]), tables)
    assert "# Networks: a, b; seeds 3 to 4, 7.\nWEIGHTS = {\n" in once
    kept = (
        module[module.index("# Networks: ") :].split(".\nWEIGHTS")[0].removeprefix("# Networks: ")
    )
    assert put_into(module, kept.replace("\n# ", " "), tables) == module  # as it is formatted
    assert put_into(once, "others", tables) == once.replace("a, b; seeds 3 to 4, 7", "others")
    names: dict = {}
    exec(tables, names)
    assert names["SHARES"] == SHARES
    assert names["WEIGHTS"] == confidence.WEIGHTS
