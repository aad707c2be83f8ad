"""Ways of inference beside another program, by kind of network, with standard errors.

    python -m tests.oracles.truth LAB... --owners bdrmapIT=FOLDER --json > judged.json
    python -m tests.oracles.truth.paired judged.json [--subject NAME]

Every network is judged in all ways; differences from the other program (the last way) are of pairs,
with the standard error of their mean. Prints Markdown; ``--subject`` keeps the means.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from benchmarks.lib.record import RESULTS, record

SHARES = ("P", "R")


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and its standard error by the spread; 0 for a single value."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, sqrt(spread / len(values))


def rows(networks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each kind: means of each way, and differences of each from the last one."""
    kinds: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for network in networks:
        kinds[network["plan"]].append(network)
    made = []
    for kind in sorted(kinds):
        row: dict[str, Any] = {"kind": kind, "networks": len(kinds[kind])}
        *ways, other = kinds[kind][0]["ways"]
        for way in (*ways, other):
            for share in SHARES:
                values = [one["ways"][way]["shares"][share] for one in kinds[kind]]
                row[f"{way}: {share}"] = round(mean_and_error(values)[0], 4)
        for way in ways:
            for share in SHARES:
                differences = [
                    one["ways"][way]["shares"][share] - one["ways"][other]["shares"][share]
                    for one in kinds[kind]
                ]
                mean, error = mean_and_error(differences)
                row[f"{way} less {other}: {share}"] = round(mean, 4)
                row[f"error of {way} less {other}: {share}"] = round(error, 4)
        made.append(row)
    return made


def table(made: Sequence[Mapping[str, Any]], ways: Sequence[str]) -> str:
    """Markdown: P / R of each way, and by how much the first one differs from the last."""
    first, other = ways[0], ways[-1]
    heads = ["kind", *(f"{way}, P / R" for way in ways)]
    heads += [f"{first} less {other}, {share}" for share in SHARES]
    lines = [heads, ["---"] * len(heads)]
    for row in made:
        cells = [str(row["kind"])]
        cells += [" / ".join(f"{row[f'{way}: {share}']:.3f}" for share in SHARES) for way in ways]
        for share in SHARES:
            name = f"{first} less {other}: {share}"
            cells.append(f"{row[name]:+.3f} ± {row[f'error of {name}']:.3f}")
        lines.append(cells)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judged", type=Path, metavar="FILE", help="what --json of truth printed")
    parser.add_argument("--subject", help="keep the means as benchmarks/results/SUBJECT.json")
    given = parser.parse_args(words)
    networks = json.loads(given.judged.read_text())["networks"]
    made = rows(networks)
    sys.stdout.write(table(made, list(networks[0]["ways"])))
    if given.subject:
        with contextlib.redirect_stdout(io.StringIO()):
            record(given.subject, made, RESULTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
