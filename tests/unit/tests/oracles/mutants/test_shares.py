"""Shares of mutants that tests notice, by room and of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracles.mutants.__main__ import main
from tests.oracles.mutants.copies import NOTICED, SURVIVED, TIMED_OUT, UNTESTED
from tests.oracles.mutants.rooms import Mutant
from tests.oracles.mutants.shares import Judged, share, shares_of, table
from tests.oracles.mutants.sites import Site

SITE = Site(7, "comparison", "a < b", ("(a <= b)",), 0, 5)


def judged(room: str, *fates: str) -> list[Judged]:
    return [
        Judged(Mutant(room, Path(f"{room}/m.py"), SITE, "(a <= b)"), one, "", 1) for one in fates
    ]


def test_a_share_has_the_standard_error_of_a_count():
    assert share(9, 10) == (0.9, pytest.approx(0.0949, abs=1e-4))
    assert share(0, 0) == (None, None)


def test_what_takes_too_long_is_noticed_and_what_has_no_tests_is_not_counted():
    both = judged("one", NOTICED, NOTICED, TIMED_OUT, SURVIVED, UNTESTED) + judged("two", NOTICED)
    found = {row["room"]: row for row in shares_of(both)}
    assert {room: row["share"] for room, row in found.items()} == {
        "one": 0.75,
        "two": 1.0,
        "all": 0.8,
    }
    assert found["one"]["untested"] == found["all"]["timed_out"] == 1
    assert "| one | 3 | 1 | 1 | 0 | 1 | 75.0 ± 21.7 % |" in table(shares_of(both))


def test_a_survivor_is_named_by_its_place_and_change():
    (one,) = judged("one", SURVIVED)
    assert str(one) == "one/m.py:7: a < b -> (a <= b)"
    assert one.as_json()["place"] == "one/m.py:7"


def test_a_room_that_is_not_there_is_refused(capsys):
    assert main(["kernels", "no/such/room"]) == 2
    assert "no/such/room" in capsys.readouterr().err
