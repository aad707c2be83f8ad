"""Where two addresses send packets for one destination, and routers that this takes apart."""

import numpy as np
import pytest

from pipeline.infer.routers.rules.diverging_next_hops import find_diverging, take_apart_diverging
from pipeline.infer.traces.merge import merge_addresses
from pipeline.model.columns.sorted_addrs import find_addrs
from tests.addresses import parse_addrs
from tests.unit.pipeline.infer.handmade import distinct_paths, observe, traces

X, Y, U, V = "20.1.1.1", "20.1.2.1", "20.1.3.1", "20.1.4.1"


def by(x, after, aim, observer=91):
    return f"20.1.{observer}.1 {x} {after} 20.1.5.1 > 20.1.9.{aim}"


class Case:
    """Some traces, read, with every address a router of its own unless stated otherwise."""

    def __init__(self, scratch, *lines, announced=True):
        seen = [observe(scratch, traces(*lines))]
        addrs = merge_addresses(seen).addrs
        self.number = lambda *names: find_addrs(addrs, parse_addrs(names)).astype(np.int64)
        self.parts = np.arange(len(addrs))
        self.paths = distinct_paths(seen, addrs, asn=1 if announced else -1)

    def diverge(self, root=None, *, mostly=False):
        root = self.parts if root is None else root
        one, other = self.number(X, Y)[:1], self.number(X, Y)[1:]
        arguments = (self.paths, root, self.parts, one, other)
        return find_diverging(*arguments, mostly=mostly).tolist() == [True]


WAYS = (f"{X} {U}", f"{Y} {V}")
APART = [by(X, U, 1), by(Y, V, 1)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (APART, True),
        ([by(X, U, 1), by(Y, U, 1)], False),
        ([by(X, U, 1), by(Y, V, 2)], False),
        ([by(X, f"* {U}", 1), by(Y, V, 1)], False),
        ([f"20.1.9{i}.1 {way} 20.1.9.1! > 20.1.9.1" for i, way in enumerate(WAYS)], True),
        ([f"20.1.91.1 {X} 20.1.9.1! > 20.1.9.1", by(Y, V, 1)], True),
        ([f"20.1.9{i}.1 {x} 20.1.9.1! > 20.1.9.1" for i, x in enumerate((X, Y))], False),
        ([f"20.1.91.1 {X} > 20.1.9.1", by(Y, V, 1)], False),
    ],
    ids=[
        *("apart", "same", "other-aims", "gap", "answered", "host-or-router", "host"),
        "nothing-follows",
    ],
)
def test_what_follows_for_the_same_destination(tmp_path, lines, expected):
    assert Case(tmp_path, *lines).diverge() is expected


def test_destinations_in_unannounced_space_show_nothing(tmp_path):
    assert not Case(tmp_path, *APART, announced=False).diverge()


def test_two_addresses_of_one_router_are_the_same_next(tmp_path):
    case = Case(tmp_path, *APART)
    root = case.parts.copy()
    root[case.number(V)] = case.number(U)
    assert not case.diverge(root)


def test_most_destinations_decide_if_asked_for(tmp_path):
    case = Case(tmp_path, *APART, by(X, U, 2), by(Y, U, 2))
    assert case.diverge()
    assert not case.diverge(mostly=True)
    assert Case(tmp_path, *APART, by(X, U, 2), by(Y, V, 2)).diverge(mostly=True)


def test_a_router_that_splits_its_traffic_does_not_diverge(tmp_path):
    # X sends packets for one destination two ways, as far as several traces to one show.
    split = [by(X, U, 5), by(X, V, 5, observer=92)]
    assert not Case(tmp_path, *APART, *split).diverge()
    steady = [by(X, U, 5), by(X, U, 5, observer=92)]
    assert Case(tmp_path, *APART, *steady).diverge()
    # For one of three it splits; they are apart for one of one.
    once = [by(X, U, aim, observer) for aim in (6, 7) for observer in (91, 92)]
    assert Case(tmp_path, *APART, *split, *once).diverge()


def test_an_answer_repeated_at_the_next_ttl_is_no_other_way(tmp_path):
    assert Case(tmp_path, *APART, by(X, f"{X} {U}", 5)).diverge()


def test_a_router_whose_parts_diverge_is_taken_apart(tmp_path):
    def routers(*lines):
        case = Case(tmp_path, *lines)
        root = case.parts.copy()
        root[case.number(Y)] = case.number(X)
        take_apart_diverging(case.paths, root, case.parts)
        return len(np.unique(root[case.number(X, Y)]))

    assert routers(*APART) == 2
    assert routers(by(X, U, 1), by(Y, U, 1)) == 1
    assert routers(*APART, by(X, U, 2), by(Y, U, 2)) == 1
