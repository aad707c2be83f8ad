"""Which ASes are said to be silent as a whole, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.report.tables.changes import changes_table, events_table
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night
from tests.unit.pipeline.infer.handmade import PREFIXES

OUT, IN, BEHIND = "20.1.0.1 20.1.0.2", "20.2.0.1 20.2.0.2", "20.3.0.1"  # AS1, AS2, AS3
VANTAGES = (ONE, TWO, THREE)


def lines(way: str, vantages=VANTAGES, target: str = "20.3.1.{}!") -> dict[str, list[str]]:
    """Traces to hosts, which answer (``!``) or do not (``*``)."""
    ends = [target.format(i) for i in range(1, 5)]
    answers = [end if end.endswith("!") else "" for end in ends]
    return {
        v: [f"{way} {own} > {end[:-1]}" for own, end in zip(answers, ends, strict=True)]
        for v in vantages
    }


WHOLE = lines(f"{OUT} {IN} {BEHIND}")
GAP = lines(f"{OUT} * * {BEHIND}")
# Traces of both nights, and what is said of AS2: kind, pairs that pass.
CASES = {
    "pairs go on behind it": (WHOLE, GAP, "silent", 12),
    "targets behind it answer": (lines(f"{OUT} {IN}"), lines(f"{OUT} * *"), "silent", 12),
    "from within": (lines(f"{IN} {BEHIND}"), lines(f"* * {BEHIND}"), "silent", 12),
    "some go around it": (
        WHOLE,
        GAP | {ONE: [*GAP[ONE][:3], *lines(f"{OUT} 20.4.0.1 {BEHIND}")[ONE][3:]]},
        "silent",
        11,
    ),
    "pairs go around it": (WHOLE, lines(f"{OUT} 20.4.0.1 {BEHIND}"), "lost", 0),
    "behind a router of another AS": (WHOLE, lines(f"{OUT} 20.4.0.1 * {BEHIND}"), "lost", 0),
    "its hosts do not answer either": (
        lines(f"{OUT} {IN}", target="20.2.1.{}!"),
        lines(f"{OUT} * *", target="20.2.1.{}*"),
        "lost",
        0,
    ),
    "what is behind it is gone, too": (
        WHOLE,
        lines(f"{OUT} * * *", target="20.3.1.{}*"),
        "lost",
        0,
    ),
    "few vantage points tell": (
        lines(f"{OUT} {IN} {BEHIND}", VANTAGES[:2]),
        lines(f"{OUT} * * {BEHIND}", VANTAGES[:2]),
        "not observable",
        0,
    ),
}
BACK = {"silent": "answers again", "lost": "gained", "not observable": "not observable before"}


@pytest.mark.parametrize(("before", "after", "kind", "n"), CASES.values(), ids=CASES)
def test_an_as_is_silent_if_most_pairs_pass_where_its_routers_were(
    tmp_path, before, after, kind, n
):
    """One router of it was said to be silent, or that pairs do not cross the AS any more."""
    old, new = night(tmp_path / "old", before), night(tmp_path / "new", after)
    for way, said in (((old, new), kind), ((new, old), BACK[kind])):
        changes, events = compare_nights(*way)
        (row,) = ((changes.what == "AS") & (changes.asn == 2)).nonzero()[0]
        assert (changes.kind[row], changes.n_silent[row]) == (said, n)
        assert (changes.event[row] >= 0) == (kind != "not observable")
        if n:
            of_it = (changes.asn == 2) | (changes.other_asn == 2)
            assert {*changes.event[of_it]} == {0}
            assert events.kind[0] == f"AS {said}"
            counts = (changes.n_traces, changes.n_pairs, changes.n_vantages)
            assert [int(column[row]) for column in counts] == [12, 12, 3]
            sizes = [int(changes.old[row]), int(changes.new[row])]
            assert sizes == ([2, 0] if said == "silent" else [0, 2])
        if n == 12:
            assert len(events) == 1


def test_nothing_is_said_of_an_as_that_another_table_leaves_out(tmp_path):
    table = PREFIXES.replace("20.2.0.0\t16\t2\n", "")
    old, new = night(tmp_path / "old", WHOLE), night(tmp_path / "new", WHOLE, table)
    changes, _ = compare_nights(old, new)
    assert changes.kind[(changes.what == "AS") & (changes.asn == 2)].tolist() == ["not observable"]


def test_the_sentence_counts_what_is_not_known_any_more(tmp_path):
    old, new = (
        night(tmp_path / name, lines(way))
        for name, way in (("old", f"{OUT} {IN} {BEHIND}"), ("new", f"{OUT} * * {BEHIND}"))
    )
    texts = []
    for way in ((old, new), (new, old)):
        changes, events = compare_nights(*way)
        table = events_table(events, changes_table(changes), {}, "interface")
        texts += table["text"].to_pylist()
    assert texts == [
        "AS2 stopped answering as a whole: 2 interfaces; 12 pairs crossed it, and 12 still go "
        "through to what is behind; no longer known: 3 links, 2 ingresses and 2 neighbours",
        "AS2 answers again as a whole: 2 interfaces; 12 pairs cross it, and 12 went through "
        "to what is behind before, too; not known before: 3 links, 2 ingresses and 2 neighbours",
    ]
