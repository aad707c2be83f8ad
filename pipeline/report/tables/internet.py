"""All ASes of a report together: the map of the busiest, what stands out, distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.pages.layout import place_by_forces
from pipeline.report.tables.summarise import Summary

MAX_ASES, MAX_LINKS = 150, 1200  # on the map: those with the most traces
MAX_EQUAL = 3  # ASes named that share a largest figure
_STEPS = np.array([1, 2, 5])  # bounds of ranges within a power of ten


@dataclass(frozen=True, eq=False)
class AsMap:
    """The ASes of the most traces; without traces, those of the most nodes.

    Attributes
    ----------
    at : (n_shown,) int64
        Rows of the table of ASes, the largest first.
    x, y : (n_shown,) float64
        Places in [0, 1].
    links : (n_links, 2) int64
        Ends of links between them, as places in ``at``; those with the most traces first.
    weight : (n_links,) int64
        Traces that crossed them; without traces the links between routers of the two ASes.
    n_linked : int
        Links between these ASes, also those that are left out.
    """

    at: np.ndarray
    x: np.ndarray
    y: np.ndarray
    links: np.ndarray
    weight: np.ndarray
    n_linked: int


@dataclass(frozen=True)
class Extreme:
    """The largest figure of a kind, and who has it.

    Attributes
    ----------
    what : str
        ``traces``, ``ingresses``, ``neighbors``, ``diameter`` or ``max_hops``.
    value : int
    n : int
        ASes that have it; of ``traces`` ingresses.
    at : tuple of int
        Rows of the first of them in the table of ASes, at most ``MAX_EQUAL``.
    where : tuple of str
        Texts of the ingresses, of ``traces``; else empty.
    """

    what: str
    value: int
    n: int
    at: tuple[int, ...]
    where: tuple[str, ...] = ()


@dataclass(frozen=True)
class Distribution:
    """Numbers of ASes by a figure.

    Attributes
    ----------
    column : str
    firsts, counts : list of int
        Smallest value of each range, and ASes in it.
    n_missing : int
        ASes without this figure.
    """

    column: str
    firsts: list[int]
    counts: list[int]
    n_missing: int


@dataclass(frozen=True, eq=False)
class Internet:
    """All that the page of all ASes shows, besides coverage.

    Attributes
    ----------
    n_entering : (n_ases,) int64
        Traces that entered each AS right after an answered hop of another one.
    n_traces : (n_ases,) int64
        Traces that show each AS, however they came into it: most of those of a vantage point begin
        in an AS that none enters. Where paths are not known, ``n_entering``.
    n_vantages : (n_ases,) int64
        Vantage points most of whose traces begin in each.
    n_neighbors : (n_ases,) int64
        ASes with a link to each, also those that are not in the report.
    has_traces : bool
        Some AS has traces, so the map is by these.
    has_paths : bool
        Paths are known, and with them ``n_vantages``.
    """

    n_entering: np.ndarray
    n_traces: np.ndarray
    n_vantages: np.ndarray
    n_neighbors: np.ndarray
    has_traces: bool
    has_paths: bool
    map: AsMap
    extremes: list[Extreme]
    distributions: list[Distribution]


def internet(summary: Summary) -> Internet:
    """Put the tables of a report together."""
    as_links = summary.as_links
    asn = summary.ases["asn"].to_numpy()
    n_entering = entering_traces(summary)
    ends = np.concatenate([as_links["near_asn"].to_numpy(), as_links["far_asn"].to_numpy()])
    in_report = np.isin(ends, asn)
    n_neighbors = np.bincount(np.searchsorted(asn, ends[in_report]), minlength=len(asn))
    crossings = summary.crossings
    has_paths = len(crossings.n_traces) > 0
    n_traces = np.maximum(n_entering, crossings.n_traces) if has_paths else n_entering
    has_traces = bool(n_traces.any())
    size = n_traces if has_traces else summary.ases["n_nodes"].to_numpy()
    begin_in = crossings.vantage_asn[np.isin(crossings.vantage_asn, asn)]
    return Internet(
        n_entering=n_entering,
        n_traces=n_traces,
        n_vantages=np.bincount(np.searchsorted(asn, begin_in), minlength=len(asn)),
        n_neighbors=n_neighbors,
        has_traces=has_traces,
        has_paths=has_paths,
        map=_map(asn, size, as_links),
        extremes=_extremes(summary, n_neighbors),
        distributions=_distributions(summary.ases),
    )


def entering_traces(summary: Summary) -> np.ndarray:
    """(n_ases,) int64: traces that entered each AS right after an answered hop of another one."""
    total = np.append(0, np.cumsum(summary.ingresses["n_direct"].to_numpy()))
    return np.diff(total[summary.ingress_ptr])


def _map(asn: np.ndarray, size: np.ndarray, as_links: pa.Table) -> AsMap:
    at = np.argsort(-size, kind="stable")[:MAX_ASES]
    at = at[size[at] > 0]
    place = np.full(len(asn), -1)
    place[at] = np.arange(len(at))
    ends, known = [], np.ones(as_links.num_rows, bool)
    for name in ("near_asn", "far_asn"):
        far = as_links[name].to_numpy()
        row = np.minimum(np.searchsorted(asn, far), max(len(asn) - 1, 0))
        known &= asn[row] == far if len(asn) else False
        ends.append(place[row] if len(asn) else row)
    links = np.stack(ends, axis=1)
    counts = as_links["n_traces" if as_links["n_traces"].null_count == 0 else "n_links"]
    weight = counts.to_numpy()
    kept = np.flatnonzero(known & (links >= 0).all(axis=1))
    kept = kept[np.argsort(-weight[kept], kind="stable")]
    n_linked = len(kept)
    x, y = map(_spread, place_by_forces(links[kept], len(at)))
    kept = kept[:MAX_LINKS]
    return AsMap(at, x, y, links[kept], weight[kept], n_linked)


def _spread(places: np.ndarray) -> np.ndarray:
    """Half way to equal distances: most ASes are linked to few hubs, and would lie in one heap."""
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    return (places + rank / max(1, len(rank) - 1)) / 2


def _extremes(summary: Summary, n_neighbors: np.ndarray) -> list[Extreme]:
    ases, found = summary.ases, []

    def largest(what: str, values: np.ndarray) -> None:
        if len(values) and values.max() > 0:
            at = np.flatnonzero(values == values.max())
            first = tuple(at[:MAX_EQUAL].tolist())
            found.append(Extreme(what, int(values[at[0]]), len(at), first))

    if "diameter" in ases.column_names and ases["diameter"].null_count < ases.num_rows:
        largest("diameter", _filled(ases["diameter"]))
    largest("max_hops", _filled(ases["max_hops"]))
    largest("ingresses", ases["n_ingresses"].to_numpy())
    largest("neighbors", n_neighbors)
    direct = summary.ingresses["n_direct"].to_numpy()
    if len(direct) and direct.max() > 0:
        equal = np.flatnonzero(direct == direct.max())
        first = equal[:MAX_EQUAL]
        at = np.searchsorted(summary.ingress_ptr, first, side="right") - 1
        where = tuple(_text(summary.ingresses["addr"], i) for i in first.tolist())
        most = int(direct[first[0]])
        found.append(Extreme("traces", most, len(equal), tuple(at.tolist()), where))
    return found


def _text(column: Any, i: int) -> str:
    return column[i].as_py() or ""


def _filled(column: Any) -> np.ndarray:
    return column.cast(pa.int64()).fill_null(-1).to_numpy()


def _distributions(ases: pa.Table) -> list[Distribution]:
    names = ["n_nodes", "n_ingresses", "mean_hops"]
    if "diameter" in ases.column_names:
        names.append("diameter")
    return [_distribution(ases, name) for name in names]


def _distribution(ases: pa.Table, name: str) -> Distribution:
    """By powers of ten in three ranges each; hops by whole hops, up to 40 ranges."""
    column = ases[name]
    values = column.drop_null().to_numpy().astype(np.int64)  # means: whole hops
    highest = int(values.max(initial=0))
    if name in ("n_nodes", "n_ingresses"):
        tens = 10 ** np.arange(len(str(highest)))
        firsts = np.append(0, np.outer(tens, _STEPS).ravel())
    else:
        step = -(-(highest + 1) // 40)
        firsts = np.arange(0, highest + 1, step)
    firsts = firsts[firsts <= highest]
    counts = np.bincount(np.searchsorted(firsts, values, side="right") - 1, minlength=len(firsts))
    used = np.flatnonzero(counts)
    low = int(used[0]) if len(used) else 0
    return Distribution(name, firsts[low:].tolist(), counts[low:].tolist(), column.null_count)
