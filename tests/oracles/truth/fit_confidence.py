"""Count the shares of ``pipeline.infer.owners.confidence`` in laboratories.

    python -m tests.oracles.truth.fit_confidence LAB... [--into FILE]

Each laboratory is inferred with every address as a node, with inferred routers and with its true
ones, and all three also with the files that are beside it about its ASes and addresses. The share
never falls from one class to the next: where counts say otherwise, neighbouring classes are
pooled [1]_.

References
----------
.. [1] M. Ayer et al., "An empirical distribution function for sampling with incomplete
   information", Annals of Mathematical Statistics 26, 1955.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from unittest import mock

from pipeline.errors import PipelineError
from pipeline.infer import Registries
from pipeline.infer.owners import confidence
from tests.oracles.truth.calibration import Rated, pool
from tests.oracles.truth.laboratory import open_lab
from tests.oracles.truth.scores import judge_lab

# In place of each share: the position of its class.
_POSITIONS = {what: tuple(range(len(shares))) for what, shares in confidence.SHARES.items()}
_REGISTRIES = [field.name for field in fields(Registries)]
_WAYS = [
    {"routers": routers, "true_alias_sets": aliases, "registries": registries}
    for routers, aliases in (("interfaces", False), ("inferred", False), ("inferred", True))
    for registries in ((), _REGISTRIES)
]


def pool_violators(n: Sequence[int], right: Sequence[int]) -> list[float]:
    """Shares that never fall from one class to the next, nearest to those counted."""
    blocks: list[tuple[int, int, int]] = []  # classes, number, right
    for one in zip([1] * len(n), n, right, strict=True):
        blocks.append(one)
        while len(blocks) > 1 and _share(blocks[-2]) >= _share(blocks[-1]):
            last, before = blocks.pop(), blocks.pop()
            blocks.append((last[0] + before[0], last[1] + before[1], last[2] + before[2]))
    return [_share(block) for block in blocks for _ in range(block[0])]


def _share(block: tuple[int, int, int]) -> float:
    _, n, right = block
    return right / max(1, n)


def fit(rated: Iterable[Rated]) -> dict[str, list[float]]:
    """Shares of each kind of thing, from counts by the position of the class."""
    counts = {(one.what, int(one.stated)): one for one in pool(rated)}
    fitted = {}
    for what, positions in _POSITIONS.items():
        found = [counts.get((what, at), Rated(what, at, 0, 0)) for at in positions]
        fitted[what] = pool_violators([one.n for one in found], [one.right for one in found])
    return fitted


def name_labs(plans: Iterable[str]) -> str:
    """Laboratories in few words, from the plans that they were built from."""
    words = [plan.rpartition(", seed ") for plan in plans]
    seeds = sorted({int(seed) for _, _, seed in words if seed.isdigit()})
    runs = [s for s in seeds if s - 1 not in seeds], [s for s in seeds if s + 1 not in seeds]
    spans = [str(a) if a == b else f"{a} to {b}" for a, b in zip(*runs, strict=True)]
    return f"{', '.join(sorted({name for name, _, _ in words}))}; seeds {', '.join(spans)}"


def lines_of(fitted: dict[str, list[float]]) -> str:
    """The table as source."""
    rows = [
        f'    "{what}": ({", ".join(f"{share:.3f}" for share in shares)}),\n'
        for what, shares in fitted.items()
    ]
    return "".join(["SHARES = {\n", *rows, "}\n"])


def put_into(text: str, labs: str, fitted: dict[str, list[float]]) -> str:
    """The text of the module with another table, and the laboratories that it is of."""
    named = textwrap.fill(f"Laboratories: {labs}.", 98, initial_indent="# ", subsequent_indent="# ")
    before = r"(?:^# Laboratories: .*\n(?:^# .*\n)*)?"
    pattern = before + r"^SHARES = \{\n(?:^    .*\n)*^\}\n"
    return re.sub(pattern, f"{named}\n{lines_of(fitted)}", text, flags=re.M)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table, or write it into the module; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="+", type=Path, metavar="LAB")
    parser.add_argument("--into", type=Path, metavar="FILE", help="replace the table in this file")
    arguments = parser.parse_args(words)
    rated: list[Rated] = []
    plans: list[str] = []
    for path in arguments.labs:
        try:
            with open_lab(path) as lab, mock.patch.dict(confidence.SHARES, _POSITIONS):
                plans.append(lab.truth.plan or lab.name)
                for options in _WAYS:
                    rated += judge_lab(lab, **options).rated
        except PipelineError as error:
            print(error, file=sys.stderr)
            return 2
    for one in pool(rated):
        name = confidence.CANDIDATE_CLASSES if one.what == "candidate" else confidence.CLASSES
        print(f"{one.what} {name[int(one.stated)]}: {one.right} of {one.n}, {one.measured:.3f}")
    if arguments.into:
        text = arguments.into.read_text()
        arguments.into.write_text(put_into(text, name_labs(plans), fit(rated)))
    else:
        print(lines_of(fit(rated)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
