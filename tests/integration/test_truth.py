"""Inference against the truth of laboratory networks that were really measured.

``python -m tests.oracles.truth LAB_DIR`` prints the figures. Bounds are floors a little below
what was measured; the committed laboratory is small and sparse, so one router changes it much.
"""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from pipeline.infer.owners.confidence import SHARES
from pipeline.judge.rated import pool
from tests.oracles.truth import Laboratory, Score, judge_lab, open_lab
from tests.real_data import REPOSITORY, real_data

COMMITTED = REPOSITORY / "data" / "samples" / "lab"


def place(name: str) -> Path:
    """Folder or archive of a laboratory."""
    if name == "committed":
        return COMMITTED
    return real_data(f"labs/{name}.tar.xz" if name.startswith("internet/") else f"labs/{name}")


@pytest.fixture(scope="module")
def lab():
    """Laboratories by name, each read once."""
    with ExitStack() as stack:
        known: dict[str, Laboratory] = {}

        def get(name: str) -> Laboratory:
            if name not in known:
                known[name] = stack.enter_context(open_lab(place(name)))
            return known[name]

        yield get


@pytest.fixture(scope="module")
def scores(lab):
    """Scores by laboratory and options, each computed once."""
    known: dict[tuple, Score] = {}

    def get(name: str, **options) -> Score:
        key = (name, *sorted(options.items()))
        if key not in known:
            known[key] = judge_lab(lab(name), **options)
        return known[key]

    return get


# laboratory: links at least, ingress precision, border routers found, router-to-AS. Those of the
# committed one are lower than they were before ingresses had to have the right neighbour, and lower
# by one router since nothing within a loop counts.
FLOORS = {
    "committed": (125, 0.84, 27, 0.97),
    "small": (15, 1.0, 6, 1.0),
    "brite168": (355, 0.95, 34, 0.99),
    "atlas": (220, 0.95, 33, 0.99),
}


@pytest.mark.parametrize("name", FLOORS)
def test_links_are_true_and_most_are_found(scores, name):
    found = scores(name, routers="interfaces")
    assert found.links_found >= FLOORS[name][0]
    # Atlas: probes of one trace took two paths of equal cost, each TTL seen on a different one.
    assert found.links_false <= (1 if name == "atlas" else 0)


@pytest.mark.parametrize("name", FLOORS)
def test_inferred_routers_are_right_and_bring_hops_closer_to_the_truth(scores, name):
    found, apart = scores(name), scores(name, routers="interfaces")
    assert found.alias_precision >= 0.97
    assert found.links_false <= max(1, 0.01 * found.links_found)
    assert found.hops_equal_share > apart.hops_equal_share
    assert found.hops_excess < apart.hops_excess
    assert found.ingress_precision >= apart.ingress_precision
    assert found.borders_found >= apart.borders_found


@pytest.mark.parametrize("name", FLOORS)
def test_ingresses_are_border_routers_and_most_that_can_be_seen_are_found(scores, name):
    found = scores(name)
    assert found.ingress_precision >= FLOORS[name][1]
    assert found.borders_found >= FLOORS[name][2]
    assert found.borders_visible <= found.borders_true


@pytest.mark.parametrize("name", FLOORS)
def test_routers_are_in_their_as(scores, name):
    assert scores(name).asn_precision >= FLOORS[name][3]


@pytest.mark.parametrize("name", FLOORS)
def test_the_election_is_better_than_prefixes_alone(scores, name):
    elected, plain = scores(name), scores(name, borders="prefix")
    assert elected.ingress_precision > plain.ingress_precision + 0.3
    assert elected.borders_found > plain.borders_found
    assert elected.asn_precision > plain.asn_precision


@pytest.mark.parametrize("name", FLOORS)
def test_measured_hops_are_never_less_than_true_ones_on_average(scores, name):
    # A path of measured links is a walk in the true network; some interfaces of one router are
    # not joined, so it may be a detour.
    found = scores(name)
    assert found.hop_pairs >= 65  # fewer, the more interfaces are joined
    assert found.hops_excess >= 0
    joined = scores(name, true_alias_sets=True)
    assert joined.hops_equal_share > max(0.9, found.hops_equal_share)
    assert joined.hops_excess < 0.1


# laboratory: the same without aliases and with true ones.
INTERNET = {
    "internet/provider31": ((0.945, 144, 0.98), (0.98, 146, 0.99)),
    "internet/ixp": ((0.965, 143, 0.985), (0.975, 143, 0.99)),
}


@pytest.mark.parametrize("name", INTERNET)
def test_routers_of_the_internet_are_in_their_as(scores, name):
    for known, (precision, borders, in_as) in zip((False, True), INTERNET[name], strict=True):
        found = scores(name, true_alias_sets=known)
        assert found.links_false <= 0.01 * found.links_found
        assert found.ingress_precision >= precision
        assert found.borders_found >= borders
        assert found.asn_precision >= in_as


def test_stated_confidence_is_what_is_measured(scores):
    rated = pool(
        one
        for name in INTERNET
        for known in (False, True)
        for one in scores(name, true_alias_sets=known).rated
    )
    for what in SHARES:
        counted = [one for one in rated if one.what == what]
        n = sum(one.n for one in counted)
        stated = sum(one.n * one.stated for one in counted) / n
        measured = sum(one.right for one in counted) / n
        # Two laboratories, neither used for the shares: some 800 ingresses, 100 candidates.
        assert abs(stated - measured) < (0.12 if what == "candidate" else 0.03), what
    top, *others = (one for one in rated if one.what == "ingress")
    assert top.measured >= 0.97
    assert top.n >= 0.7 * (top.n + sum(one.n for one in others))


@pytest.mark.parametrize("name", [*FLOORS, *INTERNET])
def test_true_aliases_make_no_figure_worse(scores, name):
    alone, joined = scores(name), scores(name, true_alias_sets=True)
    # Each router once: of nodes, right ones are merged more often than wrong ones.
    assert joined.router_precision >= alone.router_precision
    assert joined.routers - joined.routers_right <= alone.routers - alone.routers_right
    assert joined.borders_found >= alone.borders_found
    assert joined.asn_precision >= alone.asn_precision
    assert joined.links_false <= alone.links_false
    assert joined.links_found >= alone.links_found
    wrong = alone.ingresses - alone.ingresses_right
    assert joined.ingresses - joined.ingresses_right <= wrong


def test_targets_known_to_be_routers_show_the_links_that_end_in_them(scores):
    assert scores("atlas", targets_are_routers=True).links_found >= 295
    assert scores("atlas", targets_are_routers=True).ingress_precision >= 0.95


@pytest.mark.parametrize("name", INTERNET)
def test_what_traces_show_is_what_the_list_beside_a_laboratory_says(lab, name):
    assert lab(name).listed is not None
    assert lab(name).visible.differences(lab(name).listed) == {}


# laboratory: ingresses right, all; border routers found, visible; ASes entered, visible; addresses
# right, all; links found, visible, false. Counted by another program in the store and the report.
BY_PREFIX = {
    "internet/provider31": (49, 210, 43, 148, 24, 98, 424, 584, 428, 428, 0),
    "internet/ixp": (59, 245, 53, 146, 35, 81, 420, 580, 524, 574, 0),
}


@pytest.mark.parametrize("name", BY_PREFIX)
def test_figures_by_prefix_are_those_of_another_program(scores, name):
    s = scores(name, borders="prefix")
    ingresses = (s.ingresses_right, s.ingresses, s.borders_found, s.borders_visible)
    rest = (s.ases_found, s.ases_visible, s.addrs_right, s.addrs)
    assert (*ingresses, *rest, s.links_found, s.links_visible, s.links_false) == BY_PREFIX[name]


@pytest.mark.parametrize("name", INTERNET)
def test_true_aliases_merge_all_pairs_of_a_router_and_no_others(scores, name):
    joined = scores(name, true_alias_sets=True)
    assert joined.alias_pairs_right == joined.alias_pairs > 400
    assert joined.alias_recall > 0.99


def test_the_table_needs_nothing_that_a_user_does_not_have():
    only_tests = ("scipy", "pytest", "hypothesis", "networkx")
    blocked = (
        f"import runpy, sys; sys.modules |= dict.fromkeys({only_tests}); "
        "runpy.run_module('tests.oracles.truth', run_name='__main__', alter_sys=True)"
    )
    reported = subprocess.run(
        [sys.executable, "-c", blocked, str(COMMITTED)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert reported.returncode == 0, reported.stderr
    assert "elected, true aliases" in reported.stdout
