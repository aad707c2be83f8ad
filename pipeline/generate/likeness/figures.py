"""How near a likeness comes to its original, figure by figure.

Counts are of whole graphs. Hops are those from some routers, drawn from all (``_SOURCES``), or from
some ingresses, to all that they reach; the diameter is the lower of two bounds where a component
would take more searches than ``_SEARCHES`` to answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernels import CSRGraph, msbfs
from kernels.csr import Shard
from kernels.exact_search import widths
from pipeline.generate.likeness.law import components_of
from pipeline.generate.likeness.original import Original
from pipeline.generate.likeness.triangles import corners
from pipeline.model.graphs import GraphSet

_SOURCES = 512  # searches for hops
_SEARCHES = 64  # per component for its diameter
_KEPT, _AIMED, _DRAWN = "kept", "aimed at", "drawn"

# Figures in their order, with what becomes of each; those that grow with the number of routers.
FIGURES = {
    "ASes": _KEPT,
    "routers": _KEPT,
    "links inside ASes": _KEPT,
    "components": _KEPT,
    "routers of the largest component": _KEPT,
    "mean degree": _KEPT,
    "largest degree": _KEPT,
    "degrees, apart": _KEPT,
    "joint degrees elsewhere": _KEPT,
    "assortativity": _KEPT,
    "mean clustering": _AIMED,
    "triangles per 100 pairs of neighbours": _AIMED,
    "clustering by degree, apart": _AIMED,
    "mean hops": _AIMED,
    "hops, apart": _AIMED,
    "effective diameter": _AIMED,
    "diameter": _AIMED,
    "radius": _AIMED,
    "ingresses": _KEPT,
    "ingresses of ASes, apart": _KEPT,
    "mean hops from ingresses": _AIMED,
    "hops from ingresses, apart": _AIMED,
    "weight, 10 % below": _DRAWN,
    "weight, median": _DRAWN,
    "weight, 90 % below": _DRAWN,
    "weights, apart": _DRAWN,
    "weight between ASes, median": _DRAWN,
    "weights between ASes, apart": _DRAWN,
    "links between ASes": _KEPT,
    "pairs of linked ASes": _KEPT,
    "most linked ASes": _KEPT,
    "linked ASes by ingresses, elsewhere": _KEPT,
}
GROWING = frozenset(
    {
        *("routers", "links inside ASes", "routers of the largest component", "ingresses"),
        "links between ASes",
    }
)
BY_ASES = frozenset({"pairs of linked ASes"})  # these grow with ASes
BY_LOGARITHM = frozenset(
    {"mean hops", "effective diameter", "diameter", "radius", "mean hops from ingresses"}
)
NOT_SCALED = frozenset(  # they grow by laws of their own
    {
        *("largest degree", "most linked ASes", "hops, apart", "hops from ingresses, apart"),
        "linked ASes by ingresses, elsewhere",
    }
)


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures of a topology, and the laws that others are compared with.

    Attributes
    ----------
    values : dict of str to float
        Some of FIGURES; NaN where there is none.
    joint, ingress_joint : dict of tuple to float
        Share of links by both degrees, and of linked ASes by both numbers of ingresses, as powers
        of 2.
    by_degree : dict of int to (float, float)
        Clustering of each degree, and the share of routers that have it.
    hops : (n_levels,) int64
        Pairs by hops, from the drawn routers.
    from_ingresses : (n_levels,) int64
        The same from the drawn ingresses.
    degrees : (n,) int64
        Routers by degree.
    weights, border_weights : (n,) float32
        Of links inside ASes and between them, sorted; where there are none, empty.
    ingresses : (n_ases,) int64
        Ingresses of each AS.
    log_size : float
        Mean logarithm of the routers of a component, over pairs of routers.
    """

    values: dict[str, float]
    joint: dict[tuple[int, int], float]
    ingress_joint: dict[tuple[int, int], float]
    by_degree: dict[int, tuple[float, float]]
    hops: np.ndarray
    from_ingresses: np.ndarray
    degrees: np.ndarray
    weights: np.ndarray
    border_weights: np.ndarray
    ingresses: np.ndarray
    log_size: float


def as_original(graphs: GraphSet) -> Original:
    """A likeness as one would take the likeness of it."""
    first = graphs.node_ptr[:-1]
    row = np.repeat(np.arange(graphs.n_ases), np.diff(graphs.ingress_ptr))
    shift = np.repeat(first, np.diff(graphs.arc_ptr)).astype(np.int32)
    indptr = np.zeros(len(graphs.degree) + 1, np.int64)
    np.cumsum(graphs.degree, out=indptr[1:])
    near, far = (
        first[np.searchsorted(graphs.asn, asn)] + node
        for asn, node in (
            (graphs.border_near_asn, graphs.border_near),
            (graphs.border_far_asn, graphs.border_far),
        )
    )
    return Original(
        asn=graphs.asn,
        shard=Shard(indptr, graphs.indices + shift, graphs.node_ptr, trusted=True),
        weights=graphs.weights,
        weight_unit=graphs.weight_unit,
        ingress=first[row] + graphs.ingress_node,
        border_near=near,
        border_far=far,
        border_weight=graphs.border_columns.get("weight"),
        kind=graphs.kind,
    )


def figures_of(of: Original, seed: int = 1) -> Figures:
    """Measure a topology.

    Parameters
    ----------
    of : Original
    seed : int
        Of the routers that hops are counted from.
    """
    shard = of.shard
    degree = np.diff(shard.indptr)
    parts = components_of(shard)
    tail, head = np.repeat(degree, degree), degree[shard.indices]
    joint = _shares(np.minimum(tail, head), np.maximum(tail, head))
    found, pairs = corners(shard.indptr, shard.indices), degree * (degree - 1) // 2
    graph = CSRGraph(shard.indptr, shard.indices, trusted=True)
    rng = np.random.default_rng(seed)
    hops = _hops(graph, np.arange(of.n_nodes), rng)
    from_ingresses = _hops(graph, of.ingress, rng)
    found_widths = widths(shard, ["diameter", "radius"], max_searches=_SEARCHES)
    largest = int(np.argmax(found_widths.size)) if len(found_widths.size) else -1
    rows = np.sort([of.rows_of(of.border_near), of.rows_of(of.border_far)], axis=0)
    linked = np.unique(rows, axis=1)
    n_linked = np.bincount(linked.ravel(), minlength=1)
    n_ingresses = np.bincount(of.rows_of(of.ingress), minlength=of.n_ases)
    size = np.log2(np.maximum(n_ingresses[linked], 1)).astype(np.int64)
    many = pairs > 0
    values = {
        "ASes": of.n_ases,
        "routers": of.n_nodes,
        "links inside ASes": len(shard.indices) // 2,
        "components": len(parts.size),
        "routers of the largest component": parts.size.max(initial=0),
        "mean degree": degree.mean() if len(degree) else math.nan,
        "largest degree": degree.max(initial=0),
        "assortativity": _correlation(tail, head),
        "mean clustering": (found[many] / pairs[many]).mean() if many.any() else math.nan,
        "triangles per 100 pairs of neighbours": (
            100 * found.sum() / pairs.sum() if many.any() else math.nan
        ),
        "mean hops": _mean(hops),
        "effective diameter": _within(hops, 0.9),
        "diameter": found_widths.diameter_lower.max(initial=0),
        "radius": found_widths.radius_upper[largest] if largest >= 0 else math.nan,
        "ingresses": len(of.ingress),
        "mean hops from ingresses": _mean(from_ingresses),
        "links between ASes": len(of.border_near),
        "pairs of linked ASes": linked.shape[1],
        "most linked ASes": n_linked.max(),
    }
    weights, border_weights = _known(of.weights), _known(of.border_weight)
    if len(weights):
        for name, share in (("10 % below", 0.1), ("median", 0.5), ("90 % below", 0.9)):
            values[f"weight, {name}"] = float(np.quantile(weights, share))
    if len(border_weights):
        values["weight between ASes, median"] = float(np.median(border_weights))
    square = parts.size.astype(np.float64) ** 2
    return Figures(
        values={name: float(value) for name, value in values.items()},
        joint=joint,
        ingress_joint=_shares(size.min(axis=0), size.max(axis=0)),
        by_degree=_by_degree(degree, found, pairs),
        hops=hops,
        from_ingresses=from_ingresses,
        degrees=np.bincount(degree),
        weights=weights,
        border_weights=border_weights,
        ingresses=n_ingresses,
        log_size=float(square @ np.log(parts.size) / max(square.sum(), 1)),
    )


def _known(weights: np.ndarray | None) -> np.ndarray:
    return np.zeros(0, np.float32) if weights is None else np.sort(weights[~np.isnan(weights)])


def compared(original: Figures, made: Figures, other: Figures) -> list[dict]:
    """Rows of the table: what was asked, what it became, and how far apart two seeds are.

    Returns
    -------
    list of dict
        figure, law (what becomes of it), original, asked, likeness, other_seed; None: no figure.
    """
    scale = made.values["routers"] / max(original.values["routers"], 1)
    rows = []
    for name, law in FIGURES.items():
        values: list[float | None]
        if name in _DISTANCES:
            if name in NOT_SCALED and scale != 1:
                continue
            values = [None, 0.0, *(_DISTANCES[name](original, each) for each in (made, other))]
        else:
            was, now, its = (each.values.get(name, math.nan) for each in (original, made, other))
            asked: float | None = was * scale if name in GROWING else was
            more_ases = made.values["ASes"] / original.values["ASes"]
            if name == "ASes":
                asked = now
            if name in BY_ASES:
                asked = was * more_ases
            if name == "components":  # one of each AS is large, the others grow in number
                ases = original.values["ASes"]
                asked = ases * more_ases + (was - ases) * scale
            if name in BY_LOGARITHM:
                asked = was * (made.log_size / original.log_size if original.log_size > 0 else 1.0)
            if scale != 1 and name in NOT_SCALED:
                asked = None
            values = [was, asked, now, its]
        known = [None if each is None or math.isnan(each) else each for each in values]
        # A distance of 0 says something, any other 0 that there is nothing of the kind.
        if any(known) or (name in _DISTANCES and known[2] is not None):
            keys = ("original", "asked", "likeness", "other_seed")
            rows.append({"figure": name, "law": law} | dict(zip(keys, known, strict=True)))
    return rows


def _shares(one: np.ndarray, other: np.ndarray) -> dict[tuple[int, int], float]:
    if not len(one):
        return {}
    pairs, counts = np.unique(np.stack([one, other]), axis=1, return_counts=True)
    shares = (counts / counts.sum()).tolist()
    return dict(zip(zip(*pairs.tolist(), strict=True), shares, strict=True))


def _elsewhere(one: dict, other: dict) -> float:
    """Share of links that would have to move: total variation; NaN without links."""
    if not one or not other:
        return math.nan
    return 0.5 * sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other})


def _by_degree(degree, found, pairs) -> dict[int, tuple[float, float]]:
    n = int(degree.max(initial=0)) + 1
    total, count = np.bincount(degree, weights=found, minlength=n), np.bincount(degree, minlength=n)
    of_pairs = np.bincount(degree, weights=pairs, minlength=n)
    many = np.flatnonzero(of_pairs)
    every = max(count[2:].sum(), 1)
    return {int(k): (total[k] / of_pairs[k], count[k] / every) for k in many}


def _clusterings_apart(one: Figures, other: Figures) -> float:
    """Mean difference of clustering, over the routers of the likeness by degree."""
    return sum(
        share * abs(value - one.by_degree.get(k, (value, 0.0))[0])
        for k, (value, share) in other.by_degree.items()
    )


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """Two samples (Kolmogorov, Smirnov); NaN if one is empty."""
    if not len(one) or not len(other):
        return math.nan
    both = np.append(one, other)
    samples = (np.sort(one), np.sort(other))
    below = [np.searchsorted(each, both, side="right") / len(each) for each in samples]
    return float(np.abs(below[0] - below[1]).max())


def _ingresses_apart(one: Figures, other: Figures) -> float:
    """The same of ingresses of ASes, scaled to the original's mean and rounded."""
    if len(one.ingresses) < 2 or not one.ingresses.sum() or not other.ingresses.sum():
        return math.nan
    scaled = np.rint(other.ingresses * (one.ingresses.mean() / other.ingresses.mean()))
    return _apart(one.ingresses, scaled)


def _counts_apart(one: np.ndarray, other: np.ndarray) -> float:
    """The same of counts by whole numbers."""
    if not one.sum() or not other.sum():
        return math.nan
    n = max(len(one), len(other))
    shares = [np.cumsum(np.bincount(np.arange(len(c)), c, n)) / c.sum() for c in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


_DISTANCES = {
    "degrees, apart": lambda one, other: _counts_apart(one.degrees, other.degrees),
    "hops, apart": lambda one, other: _counts_apart(one.hops, other.hops),
    "hops from ingresses, apart": lambda one, other: _counts_apart(
        one.from_ingresses, other.from_ingresses
    ),
    "ingresses of ASes, apart": _ingresses_apart,
    "weights, apart": lambda one, other: _apart(one.weights, other.weights),
    "weights between ASes, apart": lambda one, other: _apart(
        one.border_weights, other.border_weights
    ),
    "joint degrees elsewhere": lambda one, other: _elsewhere(one.joint, other.joint),
    "clustering by degree, apart": _clusterings_apart,
    "linked ASes by ingresses, elsewhere": lambda one, other: _elsewhere(
        one.ingress_joint, other.ingress_joint
    ),
}


def _correlation(tail: np.ndarray, head: np.ndarray) -> float:
    """Of the degrees of both ends of links (Newman 2002)."""
    if not len(tail) or tail.min() == tail.max():
        return math.nan
    return float(np.corrcoef(tail, head)[0, 1])


def _hops(graph: CSRGraph, nodes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n_levels,) int64 pairs at each number of hops, from some of the nodes; none at 0."""
    if len(nodes) > _SOURCES:
        nodes = rng.choice(nodes, _SOURCES, replace=False)
    if not len(nodes):
        return np.zeros(1, np.int64)
    counts = np.zeros(1, np.int64)
    for first in range(0, len(nodes), 64):
        found = msbfs(graph, nodes[first : first + 64].astype(np.int32)).hop_counts.sum(axis=0)
        longer = np.zeros(max(len(found), len(counts)), np.int64)
        longer[: len(counts)] += counts
        longer[: len(found)] += found
        counts = longer
    counts[0] = 0
    return counts


def _mean(counts: np.ndarray) -> float:
    return float(counts @ np.arange(len(counts)) / counts.sum()) if counts.sum() else math.nan


def _within(counts: np.ndarray, share: float) -> float:
    """Hops within which a share of pairs lie, between whole numbers by interpolation."""
    total = np.cumsum(counts)
    if not total[-1]:
        return math.nan
    return float(np.interp(share * total[-1], total, np.arange(len(counts))))
