"""Tables of what more knowledge changes, counted by hand."""

from dataclasses import fields, replace

import pytest

from pipeline.judge import Score
from pipeline.judge.rated import Rated
from tests.oracles.truth.tables import (
    REGISTRIES,
    TRUE_ALIASES,
    Judged,
    aims_table,
    confidence_table,
    knowledge_table,
    misses,
    programs_table,
    unseen_tables,
)


def scored(right=0, routers=0, found=0, rated=()):
    values = {field.name: 0 for field in fields(Score)}
    return Score(
        **values
        | {
            "routers_right": right,
            "routers": routers,
            "borders_found": found,
            "borders_visible": 10,
            "rated": rated,
        }
    )


def a_lab(name, **scores):
    return Judged(name, "plan", name, {WAYS[way]: one for way, one in scores.items()})


WAYS = {
    "plain": "elected",
    "inferred": "elected, inferred routers",
    "aliases": TRUE_ALIASES,
    "known": REGISTRIES,
    "known_inferred": f"{REGISTRIES}, inferred routers",
    "known_aliases": f"{REGISTRIES}, true aliases",
}


def rows(table):
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def test_what_gets_worse_with_aliases_is_counted_by_router():
    judged = [
        a_lab("one", plain=scored(7, 10, 5), aliases=scored(9, 10, 7)),
        a_lab("two", plain=scored(8, 10, 5), aliases=scored(4, 7, 4)),
    ]
    assert rows(knowledge_table(judged)) == [
        ["elected", TRUE_ALIASES, "5 to 4", "10 to 11", "1 of 2", "1", "1"]
    ]


def test_only_ways_that_differ_by_one_kind_of_knowledge_are_compared():
    judged = [a_lab("one", **{way: scored() for way in WAYS})]
    assert [row[:2] for row in rows(knowledge_table(judged))] == [
        [WAYS[less], WAYS[more]]
        for less, more in (
            ("plain", "aliases"),
            ("plain", "known"),
            ("inferred", "aliases"),
            ("inferred", "known_inferred"),
            ("aliases", "known_aliases"),
            ("known", "known_aliases"),
            ("known_inferred", "known_aliases"),
        )
    ]


@pytest.mark.parametrize("table", [confidence_table, lambda judged: unseen_tables(judged)])
def test_confidence_is_shown_in_all_ways_and_in_each(table):
    strong, weak = Rated("ingress", 0.94, 10, 9), Rated("ingress", 0.5, 4, 1)
    judged = [a_lab("one", plain=scored(rated=(strong, weak)), aliases=scored(rated=(strong,)))]
    text = table(judged).split("\n\n")[-1]
    fair = [f"0.940: 0.900 ({n})" for n in (20, 10, 10)]
    assert rows(text) == [
        ["ingress", "fair", *fair],
        ["ingress", "doubtful", "0.500: 0.250 (4)", "0.500: 0.250 (4)", "none"],
    ]


def test_a_figure_that_falls_with_aliases_is_named_only_if_routers_say_so():
    # The same router is wrong, on one node of two and of three.
    plain = replace(scored(7, 8, 5), ingresses_right=9, ingresses=10)
    joined = replace(scored(7, 8, 5), ingresses_right=7, ingresses=8)
    assert plain.ingress_precision > joined.ingress_precision
    more = "More routers wrong or fewer found with true aliases"
    assert misses([a_lab("one", plain=plain, aliases=joined)]) == [f"{more}: nowhere."]
    worse = a_lab("two", plain=plain, aliases=scored(6, 8, 4))
    told = "two (2 wrong instead of 1, 4 found instead of 5)"
    assert misses([worse]) == [f"{more}: {told}."]
    beside = a_lab("three", plain=plain, inferred=replace(joined, borders_found=6), aliases=joined)
    told = "three (5 found instead of 6)"
    assert misses([beside]) == [
        f"{more}: nowhere.",
        f"{more} than with inferred routers: {told}.",
    ]


def reached(p=100, r=100, false=0, excess=0.0, best=0.0):
    """P and R in hundredths; of 100 pairs and 100 hop counts all are right."""
    values = {field.name: 0 for field in fields(Score)}
    hundred = ("ingresses", "borders_visible", "alias_pairs", "alias_pairs_right")
    hundred += ("alias_pairs_found", "alias_pairs_visible", "hop_pairs", "hops_equal")
    hundred += ("best_pairs", "best_equal")
    values |= dict.fromkeys(hundred, 100) | {"links_found": 100 - false, "links_false": false}
    values |= {"ingresses_right": p, "borders_found": r, "hops_excess": excess, "rated": ()}
    values |= {"best_excess": best}
    return Score(**values)


BEST = "all that traces show, known"


def test_laboratories_below_aims_are_counted_by_plan():
    far = reached(excess=0.21, best=0.21)
    judged = [
        replace(a_lab("a", inferred=reached(p=89), known=reached(r=96)), plan="provider31"),
        replace(
            a_lab("b", inferred=far, known=reached(p=96)),
            plan="provider31",
        ),
        replace(a_lab("c", inferred=reached(false=1), aliases=reached(p=94)), plan="harsh"),
        replace(a_lab("d", inferred=reached(false=2), aliases=reached(p=94)), plan="ixp"),
        a_lab("e", inferred=reached(p=0, false=50)),  # nobody has an aim for it
    ]
    found = {(row[0], row[1]): row[2:] for row in rows(aims_table(judged).replace("|  |", "| - |"))}
    assert found[WAYS["inferred"], "P"] == ["1 (0.90)", "0 (0.72)", "0 (0.85)", "-", "1"]
    assert found[WAYS["inferred"], "mean excess of hops"][0] == "1 (0.20)"
    assert found[WAYS["inferred"], "links right"][-1] == "1"
    assert found[REGISTRIES, "R"] == ["1 (0.97)", "0 (0.87)", "0 (0.97)", "-", "1"]
    assert found[REGISTRIES, "P"][0] == "0 (0.96)"
    assert found[TRUE_ALIASES, "P"] == ["0 (0.95)", "-", "1 (0.95)", "-", "1"]
    assert (TRUE_ALIASES, "hops equal") not in found
    assert found[BEST, "mean excess of hops"] == ["1 (0.20)", "0 (0.20)", "0 (0.20)", "-", "1"]
    assert found[BEST, "hops equal"] == ["0 (0.85)", "0 (0.85)", "0 (0.85)", "-", "0"]


def test_laboratories_below_another_program_are_counted():
    judged = [
        replace(lab, scores=lab.scores | {"peer": reached(95, 95)}, programs=frozenset({"peer"}))
        for lab in (a_lab("a", plain=reached(94, 96)), a_lab("b", plain=reached(95, 94)))
    ]
    assert rows(programs_table(judged)) == [["elected", "peer", "1 of 2", "1 of 2"]]
    assert programs_table([a_lab("a", plain=reached())]) == ""
