"""Fit ranges of the widths of whole ASes to networks of known truth, and judge kinds left out.

usage: python -m tests.oracles.truth.fit_widths KIND... --seeds FIRST-LAST [--into FILE]

An AS is counted if routers of it were inferred. Its width is that of the largest component.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from benchmarks.lib.record import RESULTS, record
from pipeline.errors import PipelineError
from pipeline.generate.networks.plan import KINDS
from pipeline.judge import Truth
from pipeline.judge.hops import hops_from, near_inside, neighbors_of
from pipeline.model.topology import NO_ASN, Topology
from pipeline.report.tables.width import likely
from tests.oracles.networks.seeds import parse_seeds
from tests.oracles.truth.fit_confidence import LARGE
from tests.oracles.truth.scores import infer_lab
from tests.oracles.truth.side_by_side import each
from tests.oracles.truth.sources import Source, find_sources

_BEYOND = (1 - likely.SHARE) / 2  # share of ASes beyond either line
_SIZES = (2, 5)  # nodes from which on an AS counts among larger ones
_NEAR = dict[Hashable, list[Hashable]]


class Widths(NamedTuple):
    """ASes of a network: nodes that were inferred, and widths, measured and true."""

    family: str
    n_nodes: np.ndarray
    measured: dict[str, np.ndarray]
    true: dict[str, np.ndarray]


def widths(near: _NEAR, nodes: Sequence[Hashable]) -> tuple[int, int]:
    """Diameter and radius of the largest component of some nodes."""
    left, largest = set(nodes), set[Hashable]()
    while left:
        reached = set(hops_from(near, next(iter(left))))
        left -= reached
        largest = max(largest, reached, key=len)
    farthest = [max(hops_from(near, node).values()) for node in largest]
    return max(farthest), min(farthest)


def measure(source: Source) -> Widths:
    """Widths of the ASes of a network, inferred as by default."""
    with source.open(together=True) as lab:
        topology, truth = infer_lab(lab, routers="inferred"), lab.truth
    return compare(source.family, topology, truth)


def compare(family: str, topology: Topology, truth: Truth) -> Widths:
    """Widths of the ASes that a topology has routers of, and that there are."""
    asn = topology.node_asn
    inside = (asn[topology.near] == asn[topology.far]) & (asn[topology.near] != NO_ASN)
    ends = np.column_stack([topology.near[inside], topology.far[inside]])
    near, true_near = neighbors_of(ends.tolist()), near_inside(truth, truth.links)
    routers = defaultdict(list)
    for router, of in truth.asn_of.items():
        routers[of].append(router)
    rows = []
    for one in sorted(set(asn.tolist()) & routers.keys()):
        nodes = np.flatnonzero(asn == one).tolist()
        rows.append((len(nodes), *widths(near, nodes), *widths(true_near, routers[one])))
    n, *found = np.array(rows, np.int64).reshape(-1, 5).T
    names = tuple(likely.LINES)
    both = (dict(zip(names, some, strict=True)) for some in (found[:2], found[2:]))
    return Widths(family, n, *both)


def together(networks: Sequence[Widths]) -> Widths:
    """The ASes of several networks, in their order."""

    def join(of: str) -> dict[str, np.ndarray]:
        return {
            name: np.concatenate([getattr(one, of)[name] for one in networks])
            for name in likely.LINES
        }

    n_nodes = np.concatenate([one.n_nodes for one in networks])
    return Widths(networks[0].family, n_nodes, join("measured"), join("true"))


def weigh(networks: Sequence[Widths]) -> np.ndarray:
    """Weights of ASes: each kind counts as much as any other, and in it each size.

    Most ASes show one router or a few: lines that fit them say nothing about the others.
    """
    keys: list[tuple[str, int]] = []
    for one in networks:
        size = np.searchsorted(_SIZES, one.n_nodes, side="right").tolist()
        keys += [(one.family, each) for each in size]
    n = Counter(keys)
    return np.array([1 / n[key] for key in keys])


def quantile(x: np.ndarray, y: np.ndarray, weight: np.ndarray, share: float) -> np.ndarray:
    """Coefficients of the line that has a share of the weight of ``y`` below it."""
    rows, which = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    x, y, weight = rows[:, :-1], rows[:, -1], np.bincount(which.ravel(), weight)
    n, m = x.shape
    costs = np.concatenate([np.zeros(m), share * weight, (1 - share) * weight])
    eye = sparse.identity(n, format="csr")
    equal = sparse.hstack([sparse.csr_matrix(x), eye, -eye])
    bounds = [(None, None)] * m + [(0, None)] * (2 * n)
    return linprog(costs, A_eq=equal, b_eq=y, bounds=bounds).x[:m]


def fit(networks: Sequence[Widths]) -> dict[str, tuple[tuple[float, ...], ...]]:
    """The lines of some networks, to two digits.

    How many nodes were seen says little about the least width: interfaces that are nodes of their
    own are many.
    """
    all_of, weight = together(networks), weigh(networks)
    lines = {}
    for name, measured in all_of.measured.items():
        x, y = likely.features(measured, all_of.n_nodes), all_of.true[name].astype(float)
        low = np.append(quantile(x[:, :2], y, weight, _BEYOND), 0.0)
        high = quantile(x, y, weight, 1 - _BEYOND)
        rounded = (tuple(round(one, 2) + 0.0 for one in line.tolist()) for line in (low, high))
        lines[name] = tuple(rounded)
    return lines


def judge(family: str, networks: Sequence[Widths]) -> list[dict[str, Any]]:
    """How many ASes of a kind the lines of today hold, and hops of their ranges; a row a width."""
    one = together(networks)
    rows = []
    for name, measured in one.measured.items():
        low, high = likely.likely(name, measured, measured, one.n_nodes)
        held = (low <= one.true[name]) & (one.true[name] <= high)
        large = one.n_nodes >= _SIZES[-1]
        row = {
            "family": family,
            "width": name,
            "n": len(held),
            "equal": np.mean(measured == one.true[name]),
            "held": np.mean(held),
            "hops": np.mean(high - low),
            "n_large": int(large.sum()),
            "equal_large": np.mean((measured == one.true[name])[large]) if large.any() else None,
            "held_large": np.mean(held[large]) if large.any() else None,
            "hops_large": np.mean((high - low)[large]) if large.any() else None,
        }
        rows.append({k: round(float(v), 3) if isinstance(v, float) else v for k, v in row.items()})
    return rows


def leave_out(networks: Sequence[Widths]) -> list[dict[str, Any]]:
    """``judge`` of each kind by lines that never saw it."""
    rows = []
    for family in dict.fromkeys(one.family for one in networks):
        own = [one for one in networks if one.family == family]
        others = [one for one in networks if one.family != family]
        if others:
            with mock.patch.object(likely, "LINES", fit(others)):
                rows += judge(family, own)
    return rows


def source_of(lines: dict[str, tuple[tuple[float, ...], ...]]) -> str:
    """The lines as source."""
    rows = [
        f'    "{name}": ({", ".join(str(line) for line in both)}),' for name, both in lines.items()
    ]
    return "\n".join(["LINES = {", *rows, "}", ""])


def main(words: Sequence[str] | None = None) -> int:
    """Print the lines, or write them into the module; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", nargs="+", metavar="KIND", help="all: every kind but large ones")
    parser.add_argument("--seeds", type=parse_seeds, default=[1], metavar="FIRST-LAST")
    parser.add_argument("--also", nargs="*", default=[], metavar="KIND", help="by the first seed")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--into", type=Path, metavar="FILE", help="replace the lines in this file")
    parser.add_argument("--json", type=Path, default=RESULTS / "widths.json", metavar="FILE")
    given = parser.parse_args(words)
    small = [kind for kind in KINDS if kind not in LARGE]
    named = [one for word in given.sources for one in (small if word == "all" else [word])]
    try:
        sources = find_sources(named, given.seeds)
        sources += find_sources(given.also, given.seeds[:1]) if given.also else []
        networks = list(each(measure, sources, given.workers))
    except PipelineError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    lines = source_of(fit(networks))
    if given.into:
        text = re.sub(r"^LINES = \{\n(?:    .*\n)*\}\n", lines, given.into.read_text(), flags=re.M)
        given.into.write_text(text)
    else:
        sys.stdout.write(lines)
    with contextlib.redirect_stdout(io.StringIO()):
        record(given.json.stem, leave_out(networks), given.json.parent, n_networks=len(networks))
    sys.stderr.write(f"written: {given.json}\n")
    return 0


if __name__ == "__main__":
    # A process that is spawned finds what it runs by the name of its module.
    from tests.oracles.truth.fit_widths import main

    sys.exit(main())
