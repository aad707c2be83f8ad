"""An ingress that moved, and what its event explains, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.compare.changes import LOST, SHIFTED, UNSEEN
from pipeline.model.addresses import format_addr
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night

Y, Z = "20.1.0.1", "20.1.0.5"  # of AS1, from which AS2 is entered
A, B, C, D, E = (f"20.2.0.{i}" for i in (1, 5, 9, 13, 17))  # of AS2
N = 6  # pairs
STAY = [f"20.3.0.1 {end} {D} > 20.4.0.{i}" for i, end in enumerate((A, B, C, E), start=1)]


def lines(by: str, *others: str) -> dict[str, list[str]]:
    """Traces that enter AS2 at one of its routers, others, and some that enter at all of them."""
    return {ONE: [f"{Y} {by} {D} > 20.4.1.{i}" for i in range(N)] + [*others, *STAY]}


def some(way: str) -> list[str]:
    return [f"{way} > 20.4.2.{i}" for i in range(N - 1)]


# What is also there on both nights, and the kinds of events.
CASES = {
    "nothing else": ([], [], ["ingress moved"]),
    "a link between the two ASes is cut": (
        some(f"{Z} {C} {D}"),
        some(f"{Z} 20.1.0.9 {C} {D}"),
        ["ingress moved", "links removed"],
    ),
    "a link in the AS is cut behind the ingress": (
        some(f"20.5.0.1 {A} {C}"),
        some(f"20.5.0.1 {A} 20.2.0.21 {C}"),
        ["ingress moved", "links removed"],
    ),
    "another interface of the ingress is a target": (
        [f"{Y} {A} {E}! > {E}"],
        [f"{Y} {E}! > {E}"],
        ["ingress moved"],
    ),
}


@pytest.mark.parametrize(("before", "after", "kinds"), CASES.values(), ids=CASES)
def test_what_an_ingress_that_moved_explains_is_of_its_event(tmp_path, before, after, kinds):
    """It took all links between the two ASes, and all at both routers."""
    old, new = night(tmp_path / "old", lines(A, *before)), night(tmp_path / "new", lines(B, *after))
    for way in ((old, new), (new, old)):
        _, events = compare_nights(*way)
        assert events.kind.tolist() == kinds
        assert events.n_links.tolist()[1:] == [3] * (len(kinds) - 1)


def test_an_ingress_moves_to_the_router_of_most_pairs_for_each_neighbour_once(tmp_path):
    def night_of(name, *ways):
        traces = [
            f"{way} {D} > 20.4.{i}.{j}" for i, (way, n) in enumerate(ways, 1) for j in range(n)
        ]
        return night(tmp_path / name, {ONE: [*traces, *STAY]})

    x = "20.5.0.1"  # of AS5, the other neighbour
    old = night_of("old", (f"{Y} {A}", 4), (f"{Y} {A}", 2), (f"{x} {A}", 3), (f"{x} {A}", 1))
    new = night_of("new", (f"{Y} {B}", 4), (f"{Y} {C}", 2), (f"{x} {B}", 3), (f"{x} {C}", 1))
    changes, _ = compare_nights(old, new)
    rows = (changes.kind == SHIFTED).nonzero()[0]
    assert changes.other_asn[rows].tolist() == [1, 5]
    assert [format_addr(changes.other_high[row], changes.other_low[row]) for row in rows] == [B, B]


def kinds_at(changes, addr: str) -> set[str]:
    """What is said of the ingresses at an address."""
    rows = (changes.what == "ingress").nonzero()[0]
    named = [format_addr(changes.addr_high[row], changes.addr_low[row]) for row in rows]
    return {changes.kind[row] for row, name in zip(rows, named, strict=True) if name == addr}


def test_an_ingress_that_moved_is_neither_lost_nor_is_its_traffic_reported_again(tmp_path):
    """Nine pairs from three vantage points would be enough for that."""
    beside = f"{Y} {Z} 20.1.0.9 > 20.4.9.9"  # so that no router has the number of an AS
    old, new = (
        night(
            tmp_path / by,
            {
                v: [*[f"{Y} {by} {D} > 20.4.1.{i}" for i in range(3)], beside, *STAY]
                for v in (ONE, TWO, THREE)
            },
        )
        for by in (A, B)
    )
    changes, _ = compare_nights(old, new)
    assert kinds_at(changes, A) == {SHIFTED}
    assert "traffic" not in changes.what.tolist()


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (f"{Y} {Z} > 20.4.1.1", LOST),  # the pair turns at the neighbour's router
        (f"{Z} 20.1.0.9 > 20.4.1.1", UNSEEN),  # it does not cross that
    ],
)
def test_an_ingress_is_lost_if_a_link_into_its_as_was_removed(tmp_path, after, kind):
    """Not if one behind it was: of that another pair tells, which enters from AS5."""
    other = "20.5.0.1"
    stay = f"20.5.0.9 {Y} {Z} > 20.4.9.9"  # both routers are there on both nights
    old = {ONE: [f"{Y} {A} {C} > 20.4.1.1", f"{other} {A} {C} {D} > 20.4.2.1", stay]}
    new = {ONE: [after, f"{other} {A} {E} {D} > 20.4.2.1", stay]}
    changes, _ = compare_nights(night(tmp_path / "old", old), night(tmp_path / "new", new))
    assert kinds_at(changes, A) == {kind}
