"""Rules of inference as lines and as ``docs/rules.md``; ``make generated`` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from pipeline.infer.rule import NO_WEIGHT, Rule
from pipeline.infer.rules import RULES
from pipeline.terminal.lines import print_line

_KINDS = {
    "routers": "which addresses are one router",
    "owners": "which AS a router is in",
    "repairs": "what whole paths say about it",
    "gaps": "which routers are where nothing answers",
}
_HEAD = """# Rules of inference

<!-- Written by make generated, from the rows of pipeline/infer. -->

Each rule is a row: its name, what it says, the evidence that it needs, its weights in nats and
where they come from, and whose idea it is. `hopscope ingest --list-rules` prints them;
`--without-rule NAME`, which may be repeated, leaves one out, and the snapshot keeps that.
The module of each rule explains it in full.
"""


def print_rules() -> None:
    """Print every rule: name, weight, what it says; then what it needs and where it comes from."""
    for kind, rules in groupby(RULES, lambda rule: rule.kind):
        print_line(f"{kind}: {_KINDS[kind]}")
        for rule in rules:
            weight = f" ({rule.weight} nats)" if rule.weight else ""
            print_line(f"  {rule.name}{weight}: {rule.says}")
            idea = f"; idea: {rule.source}" if rule.source else ""
            weights = f"; weights: {rule.origin}" if rule.origin != NO_WEIGHT else ""
            print_line(f"      needs {rule.needs}{weights}{idea}")


def page() -> str:
    """Text of ``docs/rules.md``."""
    return "\n".join(_page()).rstrip("\n") + "\n"


def _page() -> Iterator[str]:
    yield _HEAD
    for kind, rules in groupby(RULES, lambda rule: rule.kind):
        yield f"## {kind.capitalize()}: {_KINDS[kind]}\n"
        yield "| rule | says | needs | nats | weights are from | idea |"
        yield "| --- | --- | --- | --- | --- | --- |"
        yield from (_row(rule) for rule in rules)
        yield ""


def _row(rule: Rule) -> str:
    weights = "; ".join(f"{name.replace('_', ' ')} {n:g}" for name, n in rule.weights.items())
    cells = (f"`{rule.name}`", rule.says, rule.needs, weights, rule.origin, rule.source)
    return f"| {' | '.join(cells)} |"
