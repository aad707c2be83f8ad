"""Tables of what more knowledge changes, counted by hand."""

from dataclasses import fields, replace

import pytest

from tests.oracles.truth.calibration import Rated
from tests.oracles.truth.scores import Score
from tests.oracles.truth.tables import (
    REGISTRIES,
    TRUE_ALIASES,
    Judged,
    confidence_table,
    knowledge_table,
    misses,
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
    strong, weak = Rated("ingress", 0.9, 10, 9), Rated("ingress", 0.5, 4, 1)
    judged = [a_lab("one", plain=scored(rated=(strong, weak)), aliases=scored(rated=(strong,)))]
    text = table(judged).split("\n\n")[-1]
    assert rows(text) == [
        ["ingress", "", "0.900", "0.900 (20)", "0.900 (10)", "0.900 (10)"],
        ["ingress", "", "0.500", "0.250 (4)", "0.250 (4)", "none"],
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
