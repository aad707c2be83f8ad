"""Inference against the truth of laboratory networks that were really measured.

``python -m tests.oracles.truth LAB_DIR`` prints the figures. Bounds are floors a little below
what was measured; the committed laboratory is small and sparse, so one router moves it much.
"""

from pathlib import Path

import pytest

from tests.oracles.truth import Score, score_lab
from tests.real_data import REPOSITORY, real_data

COMMITTED = REPOSITORY / "data" / "samples" / "lab"


def lab(name: str) -> Path:
    return COMMITTED if name == "committed" else real_data(f"labs/{name}")


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """Scores by laboratory and options, each computed once."""
    known: dict[tuple, Score] = {}

    def get(name: str, **options) -> Score:
        key = (name, *sorted(options.items()))
        if key not in known:
            known[key] = score_lab(lab(name), tmp_path_factory.mktemp("scratch"), **options)
        return known[key]

    return get


# laboratory: links at least, ingress precision, border routers found, router-to-AS
FLOORS = {
    "committed": (125, 0.85, 26, 0.965),
    "small": (15, 1.0, 6, 1.0),
    "brite168": (355, 0.95, 33, 0.99),
    "atlas": (220, 0.95, 33, 0.99),
}


@pytest.mark.parametrize("name", FLOORS)
def test_links_are_true_and_most_are_found(scores, name):
    found = scores(name)
    assert found.links_found >= FLOORS[name][0]
    # Atlas: probes of one trace took two paths of equal cost, each TTL seen on another one.
    assert found.links_false <= (1 if name == "atlas" else 0)


@pytest.mark.parametrize("name", FLOORS)
def test_ingresses_are_border_routers_and_most_that_can_be_seen_are_found(scores, name):
    found = scores(name)
    assert found.ingress_precision >= FLOORS[name][1]
    assert found.borders_found >= FLOORS[name][2]
    assert found.borders_shown <= found.borders_true


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
    # A path of measured links is a walk in the true network; interfaces of one router are not
    # joined, so it may be a detour.
    found = scores(name)
    assert found.hop_pairs > 100
    assert found.hops_excess >= 0
    joined = scores(name, true_alias_sets=True)
    assert joined.hops_equal_share > max(0.9, found.hops_equal_share)
    assert joined.hops_excess < 0.1


def test_targets_known_to_be_routers_show_the_links_that_end_in_them(scores):
    assert scores("atlas", targets_are_routers=True).links_found >= 295
    assert scores("atlas", targets_are_routers=True).ingress_precision >= 0.95
