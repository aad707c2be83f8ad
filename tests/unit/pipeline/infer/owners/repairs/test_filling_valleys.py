"""Routers of paths that an AS would carry for neither neighbor get another AS, where it pays."""

from itertools import pairwise

import numpy as np
import pytest

from pipeline.infer import Registries
from pipeline.infer.owners import elect
from pipeline.infer.owners.election.settling import settle
from pipeline.infer.owners.repairs.valleys import LONGEST, WIDTH, fill
from pipeline.ingest.tables import read_relationships
from pipeline.model.measured.reading import ReadReport
from tests.tables import table_of_file
from tests.unit.pipeline.infer.handmade import asn_of, infer
from tests.unit.pipeline.infer.owners.election.cases import case_of

ONE, CUSTOMER, OTHER = 0, 1, 2  # AS rows: two providers, peers, and a customer of both
RELATED = "1|2|-1\n3|2|-1\n1|3|0\n"


def related(tmp_path, text=RELATED):
    path = tmp_path / "as-rel.txt"
    path.write_text(text)
    return Registries(relationships=table_of_file(read_relationships, path, ReadReport(str(path))))


def windows_of(*paths):
    """Windows of every router of some paths."""
    rows = np.full((sum(map(len, paths)), WIDTH), -1, np.int32)
    at = 0
    for path in paths:
        for center in range(len(path)):
            for i, group in enumerate(path):
                if 0 <= (place := i - center + WIDTH // 2) < WIDTH:
                    rows[at, place] = group
            at += 1
    return np.unique(rows, axis=0)


def filled(tmp_path, evidence, labels, paths, text=RELATED):
    """ASes of routers on some paths after that, and which of them were moved."""
    links = sorted({(a, b) for path in paths for a, b in pairwise(path)})
    case = case_of(links, evidence, labels, related(tmp_path, text), 3)
    was = case.labels.copy()
    settle(case)
    assert np.array_equal(case.labels, was), "nothing that the election would change"
    moved = fill(case, windows_of(*paths))
    assert np.array_equal(case.labels != was, moved)
    return case.labels.tolist()


def star(n_before, n_after, between, first=0):
    """Paths from routers before through those between to routers after, all of them; numbers."""
    before = range(first, first + n_before)
    inside = list(range(first + n_before, first + n_before + between))
    after = range(inside[-1] + 1, inside[-1] + 1 + n_after)
    return [[a, *inside, b] for a in before for b in after]


def evidence_of(n_before, n_after, *links_between):
    """Evidence and ASes of a star; how many links hold each router between in its AS."""
    n = len(links_between)
    evidence = [(ONE, 9)] * n_before + [(CUSTOMER, k) for k in links_between]
    return evidence + [(OTHER, 9)] * n_after, [ONE] * n_before + [CUSTOMER] * n + [OTHER] * n_after


@pytest.mark.parametrize(
    ("n_around", "n_links", "is_moved"),
    [
        (1, 1, True),  # 25 - 13 for one path, which is worth 20
        (1, 2, False),  # 50 - 13
        (2, 2, True),  # 50 - 26 for four
        (2, 3, False),  # 75 - 26 is too much
        (3, 3, True),  # 75 - 39 for nine
    ],
)
def test_what_costs_less_than_the_paths_are_worth_is_moved(tmp_path, n_around, n_links, is_moved):
    evidence, labels = evidence_of(n_around, n_around, n_links)
    found = filled(tmp_path, evidence, labels, star(n_around, n_around, 1))
    labels[n_around] = ONE if is_moved else CUSTOMER
    assert found == labels


def test_paths_from_or_to_a_customer_stay(tmp_path):
    evidence, labels = evidence_of(2, 2, 2)
    for text in ("1|2|-1\n2|3|-1\n", "2|1|-1\n3|2|-1\n", "1|2|-1\n"):
        assert filled(tmp_path, evidence, labels, star(2, 2, 1), text) == labels


@pytest.mark.parametrize(("n_links", "is_moved"), [(3, True), (4, False)])
def test_the_first_router_after_may_be_the_wrong_one(tmp_path, n_links, is_moved):
    # Of one path each through three routers of AS 2 to a router of AS 3: 25 per link less 39.
    paths = [[0, 1, 4], [0, 2, 4], [0, 3, 4]]
    evidence = [(ONE, 9), *[(CUSTOMER, 9)] * 3, (OTHER, n_links)]
    found = filled(tmp_path, evidence, [ONE, *[CUSTOMER] * 3, OTHER], paths)
    assert found == [ONE, *[CUSTOMER] * 3, CUSTOMER if is_moved else OTHER]


def test_routers_in_a_row_move_together(tmp_path):
    # 50 - 26 for four paths; one of them alone 12, for two.
    evidence, labels = evidence_of(2, 2, 1, 1)
    found = filled(tmp_path, evidence, labels, star(2, 2, 2))
    assert found == [ONE, ONE, ONE, ONE, OTHER, OTHER]
    evidence, labels = evidence_of(2, 2, *[1] * (LONGEST + 1))
    assert filled(tmp_path, evidence, labels, star(2, 2, LONGEST + 1)) == labels


def test_a_move_may_not_make_as_many_valleys_as_it_fills(tmp_path):
    # The routers before are behind AS 2: to be in AS 1 there is no valley, in AS 3 others are left.
    evidence, labels = evidence_of(2, 2, 2)
    paths = star(2, 2, 1)
    behind = [(CUSTOMER, 9)]
    longer = [[5, *path] for path in paths]  # the routers before are between AS 2 and AS 3
    found = filled(tmp_path, evidence + behind, [*labels, CUSTOMER], longer)
    assert found == [ONE, ONE, ONE, OTHER, OTHER, CUSTOMER]


@pytest.mark.parametrize(("n_dear", "is_moved"), [(1, True), (2, True), (3, False)])
def test_where_most_cannot_be_filled_relationships_do_not_fit_and_nothing_moves(
    tmp_path, n_dear, is_moved
):
    # Four paths of which each is filled at little cost, and two or more times as many dear ones.
    evidence, labels = evidence_of(2, 2, 2)
    dear, of_dear = evidence_of(2, n_dear, 9)
    paths = star(2, 2, 1) + star(2, n_dear, 1, first=5)
    found = filled(tmp_path, evidence + dear, labels + of_dear, paths)
    labels[2] = ONE if is_moved else CUSTOMER
    assert found == labels + of_dear


def test_nothing_moves_without_windows(tmp_path):
    case = case_of([(0, 1)], [(ONE, 1), (OTHER, 1)], [ONE, OTHER], related(tmp_path), 3)
    assert not fill(case, np.empty((0, WIDTH), np.int32)).any()
    assert case.labels.tolist() == [ONE, OTHER]


BORDER = 2  # interface of 20.1.5.5
# Traces to AS 2 end at a router of AS 1, through which others go on to AS 3.
LINES = [
    "20.1.1.1 20.1.2.2 20.1.5.5 > 20.2.8.8",
    "20.1.1.1 20.1.2.2 20.1.5.5 20.3.1.9 20.3.9.9 > 20.3.8.9",
]


def test_no_customer_carries_traces_between_its_providers(tmp_path, monkeypatch):
    def err(case, spools, group):
        """Elect the customer instead, before valleys are looked for."""
        assert case.labels[BORDER] == ONE
        case.labels[BORDER] = CUSTOMER
        return np.zeros(len(case.labels), bool)

    def asn(**options):
        topology = infer(tmp_path, *LINES, borders="elected", **options)
        return asn_of(topology)["20.1.5.5"]

    monkeypatch.setattr(elect, "straighten_traces", err)
    registries = related(tmp_path)
    assert asn(registries=registries) == 1
    assert asn() == 2
    assert asn(registries=registries, without=["valleys"]) == 2
