"""Stated confidence against the share that is right: counts of one network."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.infer.owners.confidence import CANDIDATE_CLASSES, CLASSES, SHARES
from pipeline.model.topology import Topology


@dataclass(frozen=True, order=True)
class Rated:
    """Things of one kind with the same stated confidence, counted."""

    what: str  # a key of ``SHARES``
    stated: float
    n: int
    right: int

    @property
    def class_name(self) -> str:
        """Class that has this confidence, of whatever kind; the nearest one if none has it."""
        names = CANDIDATE_CLASSES if self.what == "candidate" else CLASSES
        apart = np.abs(np.array(SHARES[self.what], np.float32) - self.stated)
        return names[int(apart.min(axis=0).argmin())]


@dataclass(frozen=True)
class Pooled:
    """Things of one class, counted; ``stated``: their mean confidence."""

    what: str
    class_name: str
    stated: float
    n: int
    right: int

    @property
    def measured(self) -> float:
        return self.right / self.n


def rated_things(
    topology: Topology,
    ingresses_right: np.ndarray,
    addrs_right: np.ndarray,
    ingresses_judged: np.ndarray,
) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """``what``, and of each thing of that kind: what is stated, whether it is right, its AS."""
    table, of_addrs, node = topology.ingresses, topology.addr_confidence, topology.addr_node
    if table.confidence is None or of_addrs is None or node is None:
        return
    judged = (addrs_right >= 0) & ~np.isnan(of_addrs)
    asn = topology.node_asn
    yield "address", of_addrs[judged], addrs_right[judged], asn[node[judged]]
    is_stated = ingresses_judged & ~np.isnan(table.confidence)
    for what, some in (
        ("ingress", is_stated & ~table.candidate),
        ("candidate", is_stated & table.candidate),
    ):
        yield what, table.confidence[some], ingresses_right[some], asn[table.node[some]]


def count_rated(what: str, stated: np.ndarray, right: np.ndarray) -> list[Rated]:
    """Count things of one kind by what is stated; (n,) each."""
    values, which = np.unique(stated, return_inverse=True)
    n, n_right = np.bincount(which), np.bincount(which, right)
    return [
        Rated(what, *row)
        for row in zip(values.tolist(), n.tolist(), n_right.astype(int).tolist(), strict=True)
    ]


def pool(parts: Iterable[Rated]) -> tuple[Pooled, ...]:
    """Counts by class, in the order of ``SHARES``, likeliest first."""
    n: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    stated: defaultdict[tuple[str, str], float] = defaultdict(float)
    for part in parts:
        key = part.what, part.class_name
        n[key] += part.n
        right[key] += part.right
        stated[key] += part.n * part.stated
    pooled = [Pooled(*key, stated[key] / n[key], n[key], right[key]) for key in n]
    return tuple(sorted(pooled, key=lambda one: (list(SHARES).index(one.what), -one.stated)))
