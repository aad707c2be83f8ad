"""Which ASes are said to be gone, on traces written by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pipeline.compare import compare_nights
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night
from tests.unit.pipeline.infer.handmade import PREFIXES

VANTAGES = (ONE, TWO, THREE)
OUT, IN = "20.1.0.1 20.1.0.2", "20.2.0.1 20.2.0.2"  # AS1, and AS2 behind it
WHOLE = {v: [f"{OUT} {IN} 20.2.1.{i}! > 20.2.1.{i}" for i in range(1, 5)] for v in VANTAGES}
ENDS = {v: [f"{OUT} * * > 20.2.1.{i}" for i in range(1, 5)] for v in VANTAGES}
NEVER = {ONE: [f"{OUT} > 20.3.0.1"]} | {v: [f"{OUT} > 20.3.0.1"] for v in (TWO, THREE)}
# What the other night shows, and what is said of AS2: kind, pairs, event.
CASES = {
    "nothing of it": (ENDS, ("lost", 12, "AS lost")),
    "other targets": (NEVER, ("not observable", 0, None)),
    "another vantage point": ({"20.7.0.9": ENDS[ONE]}, ("not observable", 0, None)),
    "as before": (WHOLE, None),
}
PLAIN = {"observations": False}
BACK = {"lost": "gained", "not observable": "not observable before"}


def said(old, new):
    """Kind and pairs of what is said of AS2, and the kind of its event."""
    changes, events = compare_nights(old, new)
    rows = ((changes.what == "AS") & (changes.asn == 2)).nonzero()[0]
    if not len(rows):
        return None
    (row,) = rows
    event = changes.event[row]
    return (
        changes.kind[row],
        changes.n_pairs[row],
        None if event < 0 else events.kind[event],
    )


@pytest.mark.parametrize(("lines", "expected"), CASES.values(), ids=CASES)
def test_an_as_is_gone_only_if_those_who_crossed_it_measured_again(tmp_path, lines, expected):
    old, new = night(tmp_path / "old", WHOLE), night(tmp_path / "new", lines)
    assert said(old, new) == expected
    if expected is not None:
        kind, n_pairs, event = expected
        back = (BACK[kind], n_pairs, event and "AS gained")
        assert said(new, old) == back


def test_an_as_that_few_pairs_showed_may_be_unseen_by_chance(tmp_path):
    marginal = {v: [*ENDS[v][1:], f"{OUT} {IN} > 20.2.1.1"] for v in (ONE,)}
    marginal |= {v: ENDS[v] for v in (TWO, THREE)}
    old, new = night(tmp_path / "old", marginal), night(tmp_path / "new", ENDS)
    assert said(old, new) == ("not observable", 1, None)


@pytest.mark.parametrize(("n_pairs", "kind"), [(6, "not observable"), (7, "lost")])
def test_an_as_is_gone_where_the_seven_pairs_that_crossed_it_say_so(tmp_path, n_pairs, kind):
    old, new = (
        night(tmp_path / name, {ONE: [f"{way} > 20.2.1.{i}" for i in range(n_pairs)]})
        for name, way in (("old", f"{OUT} {IN}"), ("new", f"{OUT} * *"))
    )
    assert said(old, new)[:2] == (kind, n_pairs)


@pytest.mark.parametrize(("n_crossing", "kind"), [(39, "not observable"), (40, "lost")])
def test_an_as_is_gone_where_most_pairs_with_its_targets_crossed_it(tmp_path, n_crossing, kind):
    """Of sixty: 40 are more than half at 99 %, 39 need not be."""

    def by(crossing: str) -> dict[str, list[str]]:
        pairs = [(v, i) for i in range(1, 31) for v in (ONE, TWO)]
        pairs.sort(key=lambda pair: pair[0] == TWO)  # each target is crossed to by ONE
        found: dict[str, list[str]] = {ONE: [], TWO: []}
        for row, (vantage, i) in enumerate(pairs):
            way = crossing if row < n_crossing else f"{OUT} * *"
            found[vantage].append(f"{way} > 20.2.1.{i}")
        return found

    old = night(tmp_path / "old", by(f"{OUT} {IN}"))
    assert said(old, night(tmp_path / "new", by(f"{OUT} * *")))[:2] == (kind, n_crossing)


@pytest.mark.parametrize(("n_pairs", "is_said"), [(2, False), (3, True)])
def test_an_as_is_cut_where_three_pairs_no_longer_get_through(tmp_path, n_pairs, is_said):
    """Three of its routers are not seen any more, behind those that still are."""
    through = " ".join(f"20.1.0.{i}" for i in range(1, 7))
    texts = (f"{through} 20.3.0.1 {{0}}! > {{0}}", f"{OUT} * * * * * > {{0}}")
    old, new = (
        night(
            tmp_path / name,
            {
                v: [text.format(f"20.3.1.{i}") for i in range(at, n_pairs, 3)]
                for at, v in enumerate(VANTAGES)
            },
        )
        for name, text in zip(("old", "new"), texts, strict=True)
    )
    changes, _ = compare_nights(old, new)
    assert ("split in parts" in changes.kind) == is_said


def test_links_and_neighbours_of_an_as_that_is_gone_are_of_its_event(tmp_path):
    changes, events = compare_nights(night(tmp_path / "old", WHOLE), night(tmp_path / "new", ENDS))
    assert events.kind.tolist() == ["AS lost"]
    of_it = (changes.asn == 2) | (changes.other_asn == 2)
    assert changes.event[of_it].tolist() == [0] * of_it.sum()
    assert {"link", "neighbour", "ingress"} <= {*changes.what[of_it]}


def test_an_as_that_another_table_leaves_out_is_not_gone_while_its_targets_answer(tmp_path):
    table = PREFIXES.replace("20.2.0.0\t16\t2\n", "")
    old = night(tmp_path / "old", WHOLE)
    unseen = ("not observable", 12, "inputs changed")
    assert said(old, night(tmp_path / "kept", WHOLE, table)) == unseen
    assert said(old, night(tmp_path / "gone", ENDS, table)) == ("lost", 12, "AS lost")


def test_many_ases_that_are_lost_at_once_are_one_event(tmp_path):
    n = 7
    table = "".join(f"20.{i}.0.0\t16\t{i}\n" for i in range(1, n + 2))

    def lines(inside: str):
        return {
            v: [
                f"{OUT} {inside.format(i)} > 20.{i}.1.{j}"
                for i in range(2, n + 2)
                for j in range(1, 5)
            ]
            for v in VANTAGES
        }

    old = night(tmp_path / "old", lines("20.{}.0.1"), table)
    changes, events = compare_nights(old, night(tmp_path / "new", lines("*"), table))
    assert events.kind.tolist() == ["AS lost"]
    assert ((changes.what == "AS") & (changes.event == 0)).sum() == n


def test_numbers_of_ases_may_have_32_bits(tmp_path):
    """Pairs of ASes were kept in 63 bits: AS4200000001 became -94967295."""
    large = 4_200_000_000
    prefixes = "".join(f"20.{asn}.0.0\t16\t{large + asn}\n" for asn in range(1, 9))
    for way in ((WHOLE, ENDS), (ENDS, WHOLE)):
        small = [night(tmp_path / f"small{i}{way[0] is WHOLE}", part) for i, part in enumerate(way)]
        great = [
            night(tmp_path / f"great{i}{way[0] is WHOLE}", part, prefixes)
            for i, part in enumerate(way)
        ]
        expected, events = compare_nights(*small)
        found, found_events = compare_nights(*great)
        assert "neighbour" in expected.what
        assert found.what.tolist() == expected.what.tolist()
        for name in ("asn", "other_asn"):
            numbers = getattr(expected, name)
            want = np.where(numbers > 0, numbers + large, numbers)
            assert getattr(found, name).tolist() == want.tolist()
        assert found.event.tolist() == expected.event.tolist()
        assert found_events.kind.tolist() == events.kind.tolist()


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((9, 3), [2]),  # three routers at least,
        ((10, 2), []),
        ((36, 4), [2]),  # and a tenth of the whole
        ((37, 3), []),
        ((20, 10, 5), [3]),
    ],
)
def test_small_parts_of_an_as_that_fell_apart_are_none(tmp_path, sizes, said):
    """By plain difference: the routers of AS1 in a row, and the same with links cut."""
    row = [f"20.1.0.{i + 1}" for i in range(sum(sizes))]
    bounds = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    parts = [row[begin:end] for begin, end in itertools.pairwise(bounds)]
    old, new = (
        night(tmp_path / f"{at}", {ONE: [f"{' '.join(way)} > 20.3.0.1" for way in ways]}, **PLAIN)
        for at, ways in enumerate(([row], parts))
    )
    changes, _ = compare_nights(old, new)
    assert changes.new[changes.kind == "split in parts"].tolist() == said
    changes, _ = compare_nights(new, old)
    assert changes.old[changes.kind == "parts joined"].tolist() == said
