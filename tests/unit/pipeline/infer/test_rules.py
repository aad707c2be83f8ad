"""Rules of inference as rows: what each says of itself, and that each can be left out."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

from pipeline.errors import UsageError
from pipeline.infer.owners.election.costs import Costs
from pipeline.infer.owners.terms import TERMS
from pipeline.infer.rule import NO_WEIGHT, Rules
from pipeline.infer.rules import RULES, rules_without
from tests.real_data import REPOSITORY

INFER = REPOSITORY / "pipeline" / "infer"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_row_says_what_it_is_and_where_its_weights_are_from(rule):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.says.rstrip(".") == rule.says != ""
    assert rule.needs
    assert bool(rule.weights) <= (rule.origin != NO_WEIGHT)
    assert set(rule.without) <= set(rule.weights)
    assert all(0 < nats <= 10 for nats in rule.weights.values())


def test_names_are_distinct_and_every_row_of_a_module_is_in_the_table():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    written = set()
    for path in INFER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Rule":
                written.add(ast.literal_eval(node.args[0]))
    assert written == set(names)


def _term(module):
    return importlib.import_module(f"pipeline.infer.owners.terms.{module}").TERM


def test_every_row_is_asked_for_somewhere():
    """A row that no code looks up would be left out in name alone."""
    sources = {path: path.read_text() for path in INFER.rglob("*.py")}
    for path, text in sources.items():
        for row in re.findall(r"^([A-Z_]+) = Rule\(", text, re.M):
            name = re.escape(f"{path.stem}.TERM" if row == "TERM" else row)
            asked = rf"\b{name} (not )?in (self\.|given\.)?rules|\({name}, [a-z(]"
            is_asked = any(re.search(asked, other) for other in sources.values())
            is_cost = row == "TERM" and set(_term(path.stem).weights) & set(Costs._fields)
            assert is_asked or is_cost, (path, row)


def test_every_weight_of_a_cost_is_that_of_one_term():
    weights = [name for term in TERMS for name in term.weights]
    assert len(set(weights)) == len(weights)
    assert set(Costs._fields) <= set(weights)


def test_a_name_that_no_rule_has_is_refused():
    with pytest.raises(UsageError, match="no rule is named 'loop': --list-rules lists them"):
        rules_without(["loops", "loop"])
    left = rules_without(["loops"])
    assert [rule.name for rule in RULES if rule not in left] == ["loops"]
    assert all(rule in Rules() for rule in RULES)
