"""What blind readers said of real ingresses, beside what is stated: cases, votes, the table."""

from __future__ import annotations

import json

import pytest

from tests.oracles.real_judged import (
    JUDGEMENTS,
    MEASUREMENTS,
    Row,
    Stated,
    Trace,
    by_prefix,
    case,
    table,
)

SAID = Stated(8, (7, 9), 0.9, candidate=False)


def reader(asn, before):
    return {"asn": asn, "before": before, "why": "w"}


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ((8, [7]), (8, [9, 5]), "right"),
        ((7, [5]), (7, []), "wrong"),
        ((8, []), (8, [5]), "wrong"),  # it is not entered from there
        ((8, [7]), (7, [5]), "doubtful"),
        ((None, None), (8, [7]), "doubtful"),
        ((None, None), (None, None), "doubtful"),
        ((8, None), (8, None), "doubtful"),
    ],
)
def test_both_readers_decide(first, second, verdict):
    row = Row(("a", "192.0.2.1"), SAID, (reader(*first), reader(*second)))
    assert row.verdict == verdict
    assert Row(("a", "192.0.2.1"), SAID, None).verdict == "unread"


def test_faults_come_first_in_the_table():
    right = Row(("a", "192.0.2.1"), SAID, (reader(8, [7]), reader(8, [7])))
    wrong = Row(("a", "192.0.2.2"), SAID, (reader(7, []), reader(7, [])))
    lines = list(table([right, wrong]))
    assert lines[0] == "1 wrong, 0 doubtful, 0 unread, 1 right\n\n"
    assert lines[3].startswith("| 192.0.2.2 | a | AS8 from AS7, AS9, 0.900 | AS7 from nowhere else")
    assert lines[4].endswith("| right |\n")


class Labels:
    """192.0.2.x is of AS x."""

    def asn(self, addr):
        return int(addr.rpartition(".")[2])

    def __call__(self, addr):
        return f"{addr} [AS{self.asn(addr)}]"


def test_a_case_shows_traces_of_different_kinds_around_the_address():
    hops = ((1, "192.0.2.1"), (2, "192.0.2.2"), (5, "192.0.2.3"))
    some = [Trace(hops, "192.0.2.9"), Trace(hops, "192.0.2.9"), Trace(hops[:2], "192.0.2.2")]
    text = case(("a", "192.0.2.2"), some, Labels())
    assert "3 traces, to targets in 2 ASes; 2 shown" in text
    assert ">>192.0.2.2 [AS2] -> (2 unanswered) -> 192.0.2.3 [AS3]" in text
    assert "to 192.0.2.9 [AS9], did not answer" in text
    assert by_prefix(some, Labels()) == {"192.0.2.2"}


def test_each_reader_judged_each_case():
    judged = json.loads(JUDGEMENTS.read_text())
    assert len(judged) == 107
    for place, readers in judged.items():
        assert place.split(" ")[0] in MEASUREMENTS
        assert len(readers) == 2
        for one in readers:
            assert set(one) == {"asn", "before", "why"}
            assert one["why"]
