"""What rules gain, from figures made by hand."""

from __future__ import annotations

import pytest

from tests.oracles.ablation.gains import (
    EVERYWHERE,
    Gain,
    Row,
    find_gains,
    means_of,
    row_of,
    unchanged,
)
from tests.oracles.ablation.judging import ALL_RULES, FIGURES, Outcome
from tests.oracles.ablation.tables import brief_table, full_table, sentences


def outcome(family: str, **figures: tuple[float | None, ...]) -> Outcome:
    """Of a network; ``P`` and ``R`` are given, the others are 1."""
    full = {rule: (*given, 1.0, 1.0, 1.0) for rule, given in figures.items()}
    full[ALL_RULES] = full.pop("whole")
    return Outcome(f"{family}-x", family, full)


OUTCOMES = [
    outcome("one", whole=(0.9, 0.8), good=(0.6, 0.8), bad=(0.95, 0.8), idle=(0.9, 0.8)),
    outcome("one", whole=(0.9, 0.7), good=(0.7, 0.7), bad=(0.96, 0.7), idle=(0.9, 0.7)),
    outcome("one", whole=(0.8, 0.7), good=(0.7, 0.7), bad=(0.84, 0.7), idle=(0.8, 0.7)),
    outcome("other", whole=(0.8, 0.7), good=(0.8, 0.7), bad=(0.8, 0.7), idle=(0.8, 0.7)),
    outcome("other", whole=(None, 0.7), good=(0.9, 0.6), bad=(None, 0.7), idle=(None, 0.7)),
    Outcome("other-failed", "other", {}, {ALL_RULES: "is not there"}),
]
RULES = ["good", "bad", "idle"]
ROWS = find_gains(OUTCOMES, RULES)


def row(rule: str, family: str) -> Row:
    return next(one for one in ROWS if (one.rule, one.family) == (rule, family))


def test_a_gain_is_the_mean_difference_of_pairs_and_its_error() -> None:
    gain = row("good", "one").gains["P"]
    assert gain.n == 3
    assert gain.mean == pytest.approx((0.3 + 0.2 + 0.1) / 3)
    assert gain.error == pytest.approx(0.1 / 3**0.5)
    assert str(gain) == "+200.0 ± 57.7"
    assert gain.is_clear
    assert row("bad", "one").gains["P"].mean == pytest.approx(-0.05)
    assert row("good", "one").gains["R"] == Gain(0.0, 0.0, 3)


def test_networks_without_a_figure_are_not_counted_for_it() -> None:
    gains = row("good", "other").gains
    assert (gains["P"].n, gains["R"].n) == (1, 2)
    assert gains["P"].error is None
    assert not gains["P"].is_clear
    assert row("good", EVERYWHERE).gains["P"].n == 4
    assert row("good", "other").n_changed == 1


def test_rows_are_read_back_as_they_were_written() -> None:
    for one in ROWS:
        again = row_of(one.as_json())
        assert {k: str(v) for k, v in again.gains.items()} == {
            k: str(v) for k, v in one.gains.items()
        }
    assert unchanged("idle", "one", 3) == row("idle", "one")


def test_what_is_clear_in_all_families_together_alone_is_told() -> None:
    some = [
        outcome(family, whole=(0.9, 0.8), slow=(lower, 0.8))
        for family in ("one", "other", "third")
        for lower in (0.9, 0.8, 0.7, 0.9)
    ]
    rows = find_gains(some, ["slow"])
    assert [row.clear(1) for row in rows] == [[], [], [], ["P"]]
    gain = rows[-1].gains["P"]
    assert sentences(rows)[1].endswith(f": slow (P {gain}).")


def test_rules_are_named_by_what_they_clearly_do() -> None:
    idle, unclear, rare, harmful, worse = sentences(ROWS)
    assert idle.endswith(": idle.")
    assert unclear.endswith(": bad.")
    assert rare.endswith(": good (one).")
    assert harmful.endswith(": bad (1 harmed, 0 helped).")
    gain = row("bad", EVERYWHERE).gains["P"]
    assert gain.is_clear
    assert worse.endswith(f": bad (P {gain}).")


def test_a_rule_without_which_nothing_is_inferred_is_named() -> None:
    rows = find_gains(OUTCOMES, ["idle", "needed"])
    assert [row.rule for row in rows if not row.is_judged] == ["needed"] * 3
    said = sentences(rows)
    assert said[0].endswith(": idle.")
    assert said[-1] == "- Nothing can be inferred without: needed."


def test_the_brief_table_has_a_row_for_each_rule() -> None:
    heads, _, good, bad, idle = brief_table(ROWS, [{"name": name} for name in RULES]).splitlines()
    assert heads.count("|") == len(FIGURES) + 5
    assert good.startswith("| `good` | 2 of 2 |")
    assert "| 1; most: one, P +200.0 ± 57.7 | none |" in good
    assert "| none | 1; most: one, P -50.0 ± 5.8 |" in bad
    assert idle == "| `idle` | 0 of 2 | 0 | 0 | 0 | 0 | 0 | none | none |"


def test_the_full_table_leaves_out_what_changes_nothing() -> None:
    lines = full_table(ROWS).splitlines()[2:]
    assert [line.split(" | ")[:2] for line in lines] == [
        ["| good", "one"],
        ["| good", "other"],
        ["| good", EVERYWHERE],
        ["| bad", "one"],
        ["| bad", EVERYWHERE],
    ]


def test_means_are_of_the_networks_that_could_be_judged() -> None:
    one, other = means_of(OUTCOMES)
    assert (one["family"], one["n"], one["P"]) == ("one", 3, 0.8667)
    assert (other["family"], other["n"], other["P"]) == ("other", 2, 0.8)
