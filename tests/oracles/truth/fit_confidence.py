"""Fit the weights of ``pipeline.infer.owners.confidence`` in laboratories and count its shares.

    python -m tests.oracles.truth.fit_confidence LAB... [--into FILE]

Each laboratory is inferred with every address as a node, with inferred routers and with its true
ones, and all three also with the files that are beside it about its ASes and addresses. Weights are
those of a logistic regression on whether things are right, by Newton's method. Shares are counted
by class and by kind of knowledge. They never fall from one class to the next: where counts say
otherwise, neighbouring classes are pooled [1]_.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from pipeline.errors import PipelineError
from pipeline.infer import Registries
from pipeline.infer.owners import confidence
from tests.oracles.truth.calibration import Rated
from tests.oracles.truth.laboratory import open_lab
from tests.oracles.truth.scores import judge_lab

_RIDGE = 1.0  # keeps weights finite where all of a kind are right
_STEPS = 30  # of Newton's method; usually less than ten are enough
# In place of the shares of candidates: the positions of their classes.
_POSITIONS = {"candidate": (tuple(range(len(confidence.CANDIDATE_CLASSES))),)}
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


class Counted(NamedTuple):
    """Things of the same kind and features, counted: (n_rows, 1 + n_features), twice (n_rows,)."""

    features: np.ndarray
    n: np.ndarray
    right: np.ndarray


def add_up(parts: Sequence[Counted]) -> Counted:
    """Counts of several laboratories together."""
    features, which = np.unique(
        np.concatenate([part.features for part in parts]), axis=0, return_inverse=True
    )
    n, right = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
    which = which.ravel()
    return Counted(features, np.bincount(which, n), np.bincount(which, right))


def fit_weights(counted: Counted) -> list[float]:
    """Weights of a logistic regression, to two digits."""
    x, n, right = counted.features[:, 1:], counted.n, counted.right
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (right - n * likely) - _RIDGE * weights
        curvature = (x.T * (n * likely * (1 - likely))) @ x + _RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    return [round(weight, 2) for weight in weights.tolist()]


def count_shares(what: str, counted: Counted) -> list[list[float]]:
    """Share right of each class, by the weights of today; one row per kind."""
    kind, classes = counted.features[:, 0], confidence.class_of(what, counted.features[:, 1:])
    rows = []
    for one in range(len(confidence.KINDS)):
        of = kind == one
        n, right = (
            np.bincount(classes[of], counts[of], len(confidence.CLASSES)).astype(int).tolist()
            for counts in (counted.n, counted.right)
        )
        rows.append(pool_violators(n, right))
    return rows


def count_candidates(rated: Iterable[Rated]) -> list[list[float]]:
    """The same of candidates, whatever their kind, from counts by the position of the class."""
    n, right = ([0] * len(confidence.CANDIDATE_CLASSES) for _ in range(2))
    for one in rated:
        n[int(one.stated)] += one.n
        right[int(one.stated)] += one.right
    return [pool_violators(n, right)]


def _recorder(
    kept: dict[str, np.ndarray],
) -> Callable[[str, np.ndarray, np.ndarray], np.ndarray]:
    """In place of ``confidence.state``: keeps kinds and features, states which row each has."""

    def state(what: str, features: np.ndarray, kind: np.ndarray) -> np.ndarray:
        rows = np.column_stack([kind, features])
        kept[what], which = np.unique(rows, axis=0, return_inverse=True)
        return which.ravel().astype(np.float32)

    return state


def count_lab(path: Path) -> tuple[str, list[tuple[str, Counted]], list[Rated]]:
    """Plan of a laboratory, and what is right in it: by features, and of candidates."""
    parts: list[tuple[str, Counted]] = []
    candidates: list[Rated] = []
    kept: dict[str, np.ndarray] = {}
    with (
        open_lab(path) as lab,
        mock.patch.dict(confidence.SHARES, _POSITIONS),
        mock.patch.object(confidence, "state", _recorder(kept)),
    ):
        for options in _WAYS:
            rated = judge_lab(lab, **options).rated
            candidates += [one for one in rated if one.what == "candidate"]
            for what in confidence.WEIGHTS:
                of = [one for one in rated if one.what == what]
                rows = kept[what][[int(one.stated) for one in of]]
                counts = np.array([(one.n, one.right) for one in of]).reshape(-1, 2).T
                parts.append((what, Counted(rows, *counts)))
        return lab.truth.plan or lab.name, parts, candidates


def name_labs(plans: Iterable[str]) -> str:
    """Laboratories in few words, from the plans that they were built from."""
    words = [plan.rpartition(", seed ") for plan in plans]
    seeds = sorted({int(seed) for _, _, seed in words if seed.isdigit()})
    runs = [s for s in seeds if s - 1 not in seeds], [s for s in seeds if s + 1 not in seeds]
    spans = [str(a) if a == b else f"{a} to {b}" for a, b in zip(*runs, strict=True)]
    return f"{', '.join(sorted({name for name, _, _ in words}))}; seeds {', '.join(spans)}"


def lines_of(
    weights: Mapping[str, list[float]], shares: Mapping[str, Sequence[Sequence[float]]]
) -> str:
    """The tables as source."""

    def row(numbers: Sequence[float], digits: int) -> str:
        return f"({', '.join(f'{one:.{digits}f}' for one in numbers)})"

    lines = ["WEIGHTS = {"]
    lines += [f'    "{what}": {row(numbers, 2)},' for what, numbers in weights.items()]
    lines += ["}", "SHARES = {"]
    for what, rows in shares.items():
        if len(rows) == 1:
            lines.append(f'    "{what}": ({row(rows[0], 3)},),')
        else:
            lines += [f'    "{what}": (', *(f"        {row(one, 3)}," for one in rows), "    ),"]
    return "\n".join([*lines, "}", ""])


def put_into(text: str, labs: str, tables: str) -> str:
    """The text of the module with other tables, and the laboratories that they are of."""
    named = textwrap.fill(f"Laboratories: {labs}.", 98, initial_indent="# ", subsequent_indent="# ")
    table = r"\{\n(?:^    .*\n)*^\}\n"
    before = r"(?:^# Laboratories: .*\n(?:^# .*\n)*)?"
    pattern = f"{before}^WEIGHTS = {table}^SHARES = {table}"
    return re.sub(pattern, f"{named}\n{tables}", text, flags=re.M)


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables, or write them into the module; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="+", type=Path, metavar="LAB")
    parser.add_argument("--into", type=Path, metavar="FILE", help="replace the tables in this file")
    arguments = parser.parse_args(words)
    plans: list[str] = []
    parts: dict[str, list[Counted]] = {what: [] for what in confidence.WEIGHTS}
    candidates: list[Rated] = []
    for path in arguments.labs:
        try:
            plan, found, of_candidates = count_lab(path)
        except PipelineError as error:
            print(error, file=sys.stderr)
            return 2
        plans.append(plan)
        candidates += of_candidates
        for what, one in found:
            parts[what].append(one)
    counted = {what: add_up(some) for what, some in parts.items()}
    weights = {what: fit_weights(one) for what, one in counted.items()}
    with mock.patch.dict(confidence.WEIGHTS, weights):
        shares = {what: count_shares(what, one) for what, one in counted.items()}
    tables = lines_of(weights, shares | {"candidate": count_candidates(candidates)})
    if arguments.into:
        text = arguments.into.read_text()
        arguments.into.write_text(put_into(text, name_labs(plans), tables))
    else:
        print(tables, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
