"""The parts of docs/ablation.md that ``make generated`` writes, from recorded ablations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.lib.record import RESULTS
from tests.oracles.ablation.gains import EVERYWHERE, Row, row_of, unchanged
from tests.oracles.ablation.tables import (
    brief_table,
    compared_table,
    families_table,
    sentences,
)

RESULT = RESULTS / "ablation.json"
# The same networks with the rules that went and without them.
BEFORE, AFTER = RESULTS / "ablation_before.json", RESULTS / "ablation_after.json"


def rows_in(result: Mapping[str, Any]) -> list[Row]:
    """Rows of every rule and family; those in which nothing changes are not in the file."""
    known = {(row.rule, row.family): row for row in map(row_of, result["rows"])}
    families = [(one["family"], one["n"]) for one in result["families"]]
    families.append((EVERYWHERE, sum(n for _, n in families)))
    return [
        known.get((rule["name"], family)) or unchanged(rule["name"], family, n)
        for rule in result["rules"]
        for family, n in families
    ]


def made_part(result: Mapping[str, Any]) -> str:
    """What was run, its table and what follows from that."""
    rows = rows_in(result)
    parts = [
        f"{_networks(result)}, each judged with all rules and without each of "
        f"{len(result['rules'])}; {_made(result)}:",
        _command(result),
        brief_table(rows, result["rules"]),
        "\n".join(sentences(rows)),
        "With all rules:",
        families_table(result["families"]),
    ]
    return "\n\n".join(parts)


def compared_part(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What rules still gain without those that went, and the same networks before and after."""
    parts = [
        f"{_networks(after)} that no rule was chosen on; before: {_made(before)};"
        f" after: {_made(after)}:",
        _command(after),
        "What those gain that were candidates and stayed, without those that went:",
        brief_table(rows_in(after), after["rules"]),
        "Means of each family before and after:",
        compared_table(before["families"], after["families"]),
    ]
    return "\n\n".join(parts)


def _networks(result: Mapping[str, Any]) -> str:
    return f"{sum(one['n'] for one in result['families'])} networks"


def _made(result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    return (
        f"{result['date'][:10]}, commit {result['commit']}, {machine['cores']} cores"
        f" ({machine['cpu']})"
    )


def _command(result: Mapping[str, Any]) -> str:
    return f"```\n{result['command']}\n```"


def recorded_part() -> str:
    """The same of what is recorded."""
    return made_part(json.loads(RESULT.read_text()))


def recorded_comparison() -> str:
    """What is recorded of the rules that went."""
    return compared_part(json.loads(BEFORE.read_text()), json.loads(AFTER.read_text()))
