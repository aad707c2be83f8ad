"""Inference against the truth of laboratory networks that were really measured.

``python -m tests.oracles.truth LAB_DIR`` prints the figures. Bounds are floors a little below
what was measured; the committed laboratory is small and sparse, so one router changes it much.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.oracles.truth import Score, Truth, score, score_lab
from tests.real_data import REPOSITORY, real_data
from tests.unit.pipeline.infer.handmade import infer, observe, traces

COMMITTED = REPOSITORY / "data" / "samples" / "lab"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Find the folder of a laboratory; those of ``internet`` are unpacked once."""
    unpacked: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name == "committed":
            return COMMITTED
        if not name.startswith("internet/"):
            return real_data(f"labs/{name}")
        if name not in unpacked:
            folder = tmp_path_factory.mktemp("lab")
            with tarfile.open(real_data(f"labs/{name}.tar.xz")) as archive:
                archive.extractall(folder, filter="data")
            unpacked[name] = folder / Path(name).name
        return unpacked[name]

    return get


@pytest.fixture(scope="module")
def scores(lab, tmp_path_factory):
    """Scores by laboratory and options, each computed once."""
    known: dict[tuple, Score] = {}

    def get(name: str, **options) -> Score:
        key = (name, *sorted(options.items()))
        if key not in known:
            known[key] = score_lab(lab(name), tmp_path_factory.mktemp("scratch"), **options)
        return known[key]

    return get


# laboratory: links at least, ingress precision, border routers found, router-to-AS. Those of the
# committed one are lower than they were before ingresses had to have the right neighbour.
FLOORS = {
    "committed": (125, 0.85, 27, 0.975),
    "small": (15, 1.0, 6, 1.0),
    "brite168": (355, 0.95, 34, 0.99),
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
    # A path of measured links is a walk in the true network; interfaces of one router are not
    # joined, so it may be a detour.
    found = scores(name)
    assert found.hop_pairs > 100
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
        assert found.links_false == 0
        assert found.ingress_precision >= precision
        assert found.borders_found >= borders
        assert found.asn_precision >= in_as


@pytest.mark.parametrize("name", [*FLOORS, *INTERNET])
def test_true_aliases_make_no_figure_worse(scores, name):
    alone, joined = scores(name), scores(name, true_alias_sets=True)
    assert joined.ingress_precision >= alone.ingress_precision
    assert joined.borders_found >= alone.borders_found
    assert joined.asn_precision >= alone.asn_precision
    assert joined.links_false <= alone.links_false
    assert joined.links_found >= alone.links_found
    wrong = alone.ingresses - alone.ingresses_right
    assert joined.ingresses - joined.ingresses_right <= wrong


def test_targets_known_to_be_routers_show_the_links_that_end_in_them(scores):
    assert scores("atlas", targets_are_routers=True).links_found >= 295
    assert scores("atlas", targets_are_routers=True).ingress_precision >= 0.95


# p is in AS 1; q and r are in AS 2, q with an address of AS 1; r has a second link to AS 1.
ROUTERS = {"20.1.0.1": "p", "20.1.0.5": "q", "20.2.0.1": "r", "20.0.0.9": "r"}
LINKS = frozenset({frozenset("pq"), frozenset("qr"), frozenset("pr")})


def hand_made_score(tmp_path, line: str, asn_of: dict[str, int], **neighbors: set[int]) -> Score:
    truth = Truth(asn_of, ROUTERS, LINKS, neighbors)
    return score(infer(tmp_path, line), truth, [observe(tmp_path, traces(line))])


def test_an_unmapped_address_counts_as_wrong(tmp_path):
    found = hand_made_score(tmp_path, "20.1.0.1 20.0.0.9", {"p": 1, "q": 2, "r": 2})
    assert (found.addrs_right, found.addrs) == (1, 2)


def test_an_ingress_next_to_the_wrong_as_counts_as_wrong(tmp_path):
    # By prefix p is in AS 1, so r is entered from AS 1, to which it has no link.
    asn_of = {"p": 3, "q": 2, "r": 2}
    found = hand_made_score(tmp_path, "20.1.0.1 20.2.0.1", asn_of, p={2}, r={3})
    assert (found.ingresses_right, found.ingresses, found.borders_found) == (0, 1, 0)
    found = hand_made_score(tmp_path, "20.1.0.1 20.2.0.1", asn_of, p={2}, r={1, 3})
    assert (found.ingresses_right, found.ingresses, found.borders_found) == (1, 1, 1)


def test_border_routers_found_are_some_of_the_visible_ones(tmp_path):
    # By prefix r is the ingress, and it is a border router to AS 1; but the trace enters by q.
    asn_of = {"p": 1, "q": 2, "r": 2}
    line = "20.1.0.1 20.1.0.5 20.2.0.1"
    found = hand_made_score(tmp_path, line, asn_of, p={2}, q={1}, r={1})
    assert (found.ingresses_right, found.borders_visible, found.borders_found) == (1, 1, 0)


def test_the_table_needs_nothing_that_a_user_does_not_have():
    blocked = (
        "import runpy, sys; sys.modules['scipy'] = None; "
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
