"""The part of docs/ablation.md that ``make generated`` writes, from the recorded ablation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.lib.record import RESULTS
from tests.oracles.ablation.gains import EVERYWHERE, Row, row_of, unchanged
from tests.oracles.ablation.tables import brief_table, families_table, sentences

RESULT = RESULTS / "ablation.json"


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
    rows, machine = rows_in(result), result["machine"]
    n = sum(one["n"] for one in result["families"])
    about = (
        f"{n} networks, each judged with all rules and without each of {len(result['rules'])};"
        f" {result['date'][:10]}, commit {result['commit']}, {machine['cores']} cores"
        f" ({machine['cpu']}):\n\n```\n{result['command']}\n```"
    )
    parts = [about, brief_table(rows, result["rules"]), "\n".join(sentences(rows))]
    return "\n\n".join([*parts, "With all rules:", families_table(result["families"])])


def recorded_part() -> str:
    """The same of what is recorded."""
    return made_part(json.loads(RESULT.read_text()))
