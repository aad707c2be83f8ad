"""Fit the weights of ``pipeline.infer.owners.confidence`` in networks and count its shares.

    python -m tests.oracles.truth.fit_confidence KIND... --seeds A-B [--also FIELD=VALUE]...
    python -m tests.oracles.truth.fit_confidence KIND... --seeds A-B --as-it-is --json FILE

Each network is inferred with every address as a node, with inferred routers and with its true
ones, and all three also with the files that are beside it about its ASes and addresses. Weights are
those of a logistic regression on whether things are right, by Newton's method. Shares are counted
by class and by kind of knowledge. They never fall from one class to the next: where counts say
otherwise, neighbouring classes are pooled [1]_. Every kind of network counts as much as any other.

How well that holds elsewhere is judged by leaving a kind of network out: what is stated of its
networks by weights and shares of all others, beside what is right there. ``--as-it-is`` judges
networks that came after the fit by the tables of today.

References
----------
.. [1] M. Ayer et al., "An empirical distribution function for sampling with incomplete
   information", Annals of Mathematical Statistics 26, 1955.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from benchmarks.lib.record import RESULTS, record
from pipeline.errors import PipelineError
from pipeline.generate.networks.plan import KINDS as NETWORKS
from pipeline.infer import Registries
from pipeline.infer.owners import confidence
from pipeline.judge.rated import Rated
from tests.oracles.networks.seeds import parse_seeds
from tests.oracles.truth.scores import judge_lab
from tests.oracles.truth.side_by_side import each
from tests.oracles.truth.sources import Source, find_sources

_RIDGE = 1.0  # keeps weights finite where all of a kind are right
_STEPS = 30  # of Newton's method; usually less than ten are enough
_EACH = 20_000  # things of each kind of network: as many as a few networks have
# In place of the shares of candidates: the positions of their classes.
_POSITIONS = {"candidate": (tuple(range(len(confidence.CANDIDATE_CLASSES))),)}
_REGISTRIES = [field.name for field in fields(Registries)]
_WAYS = [
    {"routers": routers, "true_alias_sets": aliases, "registries": registries}
    for routers, aliases in (("interfaces", False), ("inferred", False), ("inferred", True))
    for registries in ((), _REGISTRIES)
]
LARGE = ("large_exchange", "big", "big_one_vantage", "big_internet")  # minutes each


def pool_violators(n: Sequence[float], right: Sequence[float]) -> list[float]:
    """Shares that never fall from one class to the next, nearest to those counted."""
    blocks: list[tuple[int, float, float]] = []  # classes, number, right
    for one in zip([1] * len(n), n, right, strict=True):
        blocks.append(one)
        while len(blocks) > 1 and _share(blocks[-2]) >= _share(blocks[-1]):
            last, before = blocks.pop(), blocks.pop()
            blocks.append((last[0] + before[0], last[1] + before[1], last[2] + before[2]))
    return [_share(block) for block in blocks for _ in range(block[0])]


def _share(block: tuple[int, float, float]) -> float:
    _, n, right = block
    return right / n if n else 0.0


class Counted(NamedTuple):
    """Things of the same kind and features, counted: (n_rows, 1 + n_features), twice (n_rows,)."""

    features: np.ndarray
    n: np.ndarray
    right: np.ndarray

    def times(self, factor: float) -> Counted:
        return Counted(self.features, self.n * factor, self.right * factor)


@dataclass(frozen=True)
class Judged:
    """A network: counts of addresses and of ingresses, and its candidates by class."""

    family: str
    name: str
    counted: dict[str, Counted]
    candidates: list[Rated]


def add_up(parts: Sequence[Counted]) -> Counted:
    """Counts of several networks together."""
    features, which = np.unique(
        np.concatenate([part.features for part in parts]), axis=0, return_inverse=True
    )
    n, right = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
    which = which.ravel()
    return Counted(features, np.bincount(which, n), np.bincount(which, right))


def of_kinds(networks: Sequence[Judged], what: str) -> dict[str, Counted]:
    """Counts by kind of network, in the order of the networks."""
    families = dict.fromkeys(one.family for one in networks)
    return {
        family: add_up([one.counted[what] for one in networks if one.family == family])
        for family in families
    }


def balanced(parts: Iterable[Counted]) -> Counted:
    """Counts together, each part with the same weight."""
    return add_up([part.times(_EACH / max(1, part.n.sum())) for part in parts])


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
            np.bincount(classes[of], counts[of], len(confidence.CLASSES)).tolist()
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


def count_network(source: Source) -> Judged:
    """What is right in a network: by features, and of candidates."""
    parts: dict[str, list[Counted]] = {what: [] for what in confidence.WEIGHTS}
    candidates: list[Rated] = []
    kept: dict[str, np.ndarray] = {}
    with (
        source.open() as lab,
        mock.patch.dict(confidence.SHARES, _POSITIONS),
        mock.patch.object(confidence, "state", _recorder(kept)),
        # Most drawn networks let probes in: what caps others is not fitted to them.
        mock.patch.object(confidence, "capped", lambda _, stated, *__: stated),
    ):
        for options in _WAYS:
            rated = judge_lab(lab, **options).rated
            candidates += [one for one in rated if one.what == "candidate"]
            for what, some in parts.items():
                of = [one for one in rated if one.what == what]
                rows = kept[what][[int(one.stated) for one in of]]
                counts = np.array([(one.n, one.right) for one in of], float).reshape(-1, 2).T
                some.append(Counted(rows, *counts))
    counted = {what: add_up(some) for what, some in parts.items()}
    return Judged(source.family, source.name, counted, candidates)


class Fitted(NamedTuple):
    """What the module has: weights and shares by what they are of."""

    weights: dict[str, list[float]]
    shares: dict[str, list[list[float]]]


def fit(networks: Sequence[Judged]) -> Fitted:
    """Weights and shares of some networks."""
    counted = {what: balanced(of_kinds(networks, what).values()) for what in confidence.WEIGHTS}
    weights = {what: fit_weights(one) for what, one in counted.items()}
    with mock.patch.dict(confidence.WEIGHTS, weights):
        shares = {what: count_shares(what, one) for what, one in counted.items()}
    candidates = count_candidates(part for one in networks for part in one.candidates)
    return Fitted(weights, shares | {"candidate": candidates})


def judge_kind(family: str, networks: Sequence[Judged], fitted: Fitted) -> list[dict[str, Any]]:
    """What tables state of the networks of a kind, and what is right there, one row per class.

    ``error``: standard error of the share that is right, by the spread between networks.
    """
    rows = []
    for what, weights in fitted.weights.items():
        shares = np.array(fitted.shares[what])
        cells: list[np.ndarray] = []  # (n_classes, 3) of each network: number, right, stated
        for one in networks:
            features, n, right = one.counted[what]
            with mock.patch.dict(confidence.WEIGHTS, {what: weights}):
                classes = confidence.class_of(what, features[:, 1:])
            stated = shares[features[:, 0].astype(int), classes] * n
            size = len(confidence.CLASSES)
            cells.append(np.stack([np.bincount(classes, w, size) for w in (n, right, stated)], 1))
        total = np.sum(cells, axis=0)
        for at, name in enumerate(confidence.CLASSES):
            n, right, stated = total[at]
            if n:
                off = [cell[at, 1] - right / n * cell[at, 0] for cell in cells]
                error = sqrt(sum(x * x for x in off) * len(off) / max(1, len(off) - 1)) / n
                rows.append(
                    {
                        "family": family,
                        "what": what,
                        "class": name,
                        "n": int(n),
                        "stated": round(stated / n, 4),
                        "right": round(right / n, 4),
                        "error": round(error, 4),
                    }
                )
    return rows


def leave_out(networks: Sequence[Judged]) -> list[dict[str, Any]]:
    """``judge_kind`` of each kind of network by tables that never saw it."""
    rows = []
    for family in dict.fromkeys(one.family for one in networks):
        own = [one for one in networks if one.family == family]
        others = [one for one in networks if one.family != family]
        rows += judge_kind(family, own, fit(others)) if others else []
    return rows


def name_networks(networks: Iterable[str]) -> str:
    """Networks in few words, from their names."""
    words = [name.rpartition("-") for name in networks]
    seeds = sorted({int(seed) for _, _, seed in words if seed.isdigit()})
    runs = [s for s in seeds if s - 1 not in seeds], [s for s in seeds if s + 1 not in seeds]
    spans = [str(a) if a == b else f"{a} to {b}" for a, b in zip(*runs, strict=True)]
    kinds = dict.fromkeys(kind for kind, _, _ in words)
    return f"{', '.join(kinds)}; seeds {', '.join(spans)}"


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


def put_into(text: str, networks: str, tables: str) -> str:
    """The text of the module with other tables, and the networks that they are of."""
    named = textwrap.fill(f"Networks: {networks}.", 98, initial_indent="# ", subsequent_indent="# ")
    table = r"\{\n(?:^    .*\n)*^\}\n"
    before = r"(?:^# Networks: .*\n(?:^# .*\n)*)?"
    pattern = f"{before}^WEIGHTS = {table}^SHARES = {table}"
    return re.sub(pattern, f"{named}\n{tables}", text, flags=re.M)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", metavar="KIND|LAB", help="all: every drawn kind")
    parser.add_argument("--seeds", type=parse_seeds, default=list(range(1, 11)), metavar="A-B")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="draw the last three seeds once more, with this field changed",
    )
    parser.add_argument(
        "--as-it-is", action="store_true", help="fit nothing: judge what is stated today"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--into", type=Path, metavar="FILE", help="replace the tables in this file")
    parser.add_argument(
        "--json",
        type=Path,
        default=RESULTS / "confidence.json",
        metavar="FILE",
        help="kinds that were left out; default: benchmarks/results/confidence.json",
    )
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables, or write them into the module; the exit status."""
    given = _arguments(words)
    kinds = [kind for kind in NETWORKS if kind not in LARGE]
    named = [one for word in given.sources for one in (kinds if word == "all" else [word])]
    try:
        sources = find_sources(named, given.seeds)
        for field in given.also:
            sources += find_sources([*named, field], given.seeds[-3:])
        networks = list(each(count_network, sources, given.workers))
    except PipelineError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if given.as_it_is:
        return _record(given.json, _judge_today(networks), len(networks))
    fitted = fit(networks)
    tables = lines_of(*fitted)
    if given.into:
        names = name_networks(one.name for one in networks)
        given.into.write_text(put_into(given.into.read_text(), names, tables))
    else:
        sys.stdout.write(tables)
    return _record(given.json, leave_out(networks), len(networks))


def _judge_today(networks: Sequence[Judged]) -> list[dict[str, Any]]:
    """``judge_kind`` of each kind by the tables of the module."""
    today = Fitted(
        {what: list(row) for what, row in confidence.WEIGHTS.items()},
        {what: [list(row) for row in rows] for what, rows in confidence.SHARES.items()},
    )
    rows = []
    for family in dict.fromkeys(one.family for one in networks):
        rows += judge_kind(family, [one for one in networks if one.family == family], today)
    return rows


def _record(path: Path, rows: list[dict[str, Any]], n_networks: int) -> int:
    with contextlib.redirect_stdout(io.StringIO()):
        record(path.stem, rows, path.parent, n_networks=n_networks)
    sys.stderr.write(f"written: {path}\n")
    return 0


if __name__ == "__main__":
    # A process that is spawned finds what it runs by the name of its module.
    from tests.oracles.truth.fit_confidence import main

    sys.exit(main())
