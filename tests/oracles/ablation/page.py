"""docs/ablation.md, its part that is made from the JSON file of an ablation.

python -m tests.oracles.ablation.page [--json FILE] [--page FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lib.record import REPOSITORY, RESULTS
from benchmarks.pages.plot_searches import fill
from tests.oracles.ablation.gains import EVERYWHERE, Row, row_of, unchanged
from tests.oracles.ablation.tables import brief_table, families_table, sentences

PAGE = REPOSITORY / "docs" / "ablation.md"
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
    """The text between the marks of the page."""
    rows, machine = rows_in(result), result["machine"]
    n = sum(one["n"] for one in result["families"])
    about = (
        f"{n} networks, each judged with all rules and without each of {len(result['rules'])};"
        f" {result['date'][:10]}, commit {result['commit']}, {machine['cores']} cores"
        f" ({machine['cpu']}):\n\n```\n{result['command']}\n```"
    )
    parts = [about, brief_table(rows, result["rules"]), "\n".join(sentences(rows))]
    return "\n\n".join([*parts, "With all rules:", families_table(result["families"])])


def main(words: Sequence[str] | None = None) -> int:
    """Fill the page; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.ablation.page", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--json", type=Path, default=RESULT, metavar="FILE")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    given = parser.parse_args(words)
    result = json.loads(given.json.read_text())
    given.page.write_text(fill(given.page.read_text(), "ablation", made_part(result)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
