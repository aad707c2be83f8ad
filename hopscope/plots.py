"""Pictures of ASes by matplotlib, where that is installed: ``.plot()`` of snapshots and ASes.

Figures are those of reports: pairs of an ingress and a router that it reaches, the ingress itself
left out; layers by hops from the nearest ingress.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernels import msbfs
from pipeline.errors import UsageError
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.words import node_words, number, printable
from pipeline.pages.layout import place_by_forces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LINKS = 20_000  # that a picture of layers draws
MAX_ASES = 150  # that a picture of ASes draws, as the map of reports does
KINDS = ("hops", "layers")


def plot_as(one: Any, kind: str = "hops", ax: Axes | None = None) -> Axes:
    """As ``AutonomousSystem.plot``."""
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}; give one of {', '.join(KINDS)}")
    axes = _axes(ax)
    (_hops if kind == "hops" else _layers)(one, axes)
    axes.xaxis.get_major_locator().set_params(integer=True)  # hops
    axes.set_title(printable(f"AS{one.asn} {one.name}".rstrip()))
    return axes


def _hops(one: Any, axes: Axes) -> None:
    if not len(one.sources):
        raise UsageError(f"AS{one.asn} has no ingress, so it has no hop counts; kind='layers' has")
    counts = msbfs(one.graph, one.sources).hop_counts.sum(axis=0)
    noun = node_words(one.node_kind).noun
    axes.bar(np.arange(1, len(counts)), counts[1:], width=0.9)
    axes.set_xlabel("distance from an ingress [hops]")
    axes.set_ylabel(f"pairs (ingress, {noun} that it reaches)")


def _layers(one: Any, axes: Axes) -> None:
    from matplotlib.collections import LineCollection

    from pipeline.stages.contents.access import places_in_layers

    graph, noun = one.graph, node_words(one.node_kind)
    if graph.n_edges > MAX_LINKS:
        raise UsageError(
            f"AS{one.asn} has {graph.n_edges:,} links; at most {MAX_LINKS:,} are drawn as layers"
        )
    layer, place = places_in_layers(graph, one.sources)
    tail = row_of_value(graph.indptr)
    once = tail < graph.indices
    ends = np.stack([layer, place], axis=1)
    links = np.stack([ends[tail[once]], ends[graph.indices[once]]], axis=1)
    axes.add_collection(LineCollection(list(links), colors="0.6", linewidths=0.6, alpha=0.5))
    is_source = np.isin(np.arange(graph.n_nodes), one.sources)
    for which, label in ((~is_source, noun.nouns), (is_source, "ingresses")):
        if which.any():
            axes.scatter(layer[which], place[which], s=14, label=label, zorder=2)
    start = "the nearest ingress" if len(one.sources) else f"the {noun.noun} with the most links"
    axes.set_xlabel(f"distance from {start} [hops]; unreached: one layer behind")
    axes.set_ylabel("place in the layer [share of its height]")
    axes.legend()


def plot_snapshot(snapshot: Any, ax: Axes | None = None) -> Axes:
    """As ``Snapshot.plot``."""
    axes = _axes(ax)
    table = snapshot.as_links
    near, far = (table[name].to_numpy() for name in ("near_asn", "far_asn"))
    counted = table["n_traces"]
    n_traces = counted.fill_null(0).to_numpy()
    weight = table["n_links"].to_numpy() if counted.null_count else n_traces
    asn, n_nodes = snapshot._stored.asn, snapshot._stored.n_nodes
    total = np.zeros(len(asn))
    for ends in (near, far):
        at = np.searchsorted(asn, ends)
        known = (at < len(asn)) & (asn[np.minimum(at, len(asn) - 1)] == ends)
        np.add.at(total, at[known], weight[known])
    chosen = np.sort(np.lexsort((asn, -n_nodes, -total))[:MAX_ASES])
    kept = np.isin(near, asn[chosen]) & np.isin(far, asn[chosen])
    links = np.searchsorted(asn[chosen], np.stack([near[kept], far[kept]], axis=1))
    x, y = place_by_forces(links.astype(np.int64), len(chosen))
    most = max(float(weight[kept].max(initial=1)), 1.0)
    for (a, b), width in zip(links.tolist(), np.sqrt(weight[kept] / most), strict=True):
        axes.plot(x[[a, b]], y[[a, b]], color="0.6", linewidth=0.3 + 3 * width, zorder=1)
    axes.scatter(x, y, s=20 + 400 * n_nodes[chosen] / max(int(n_nodes.max()), 1), zorder=2)
    for i, number_of in enumerate(asn[chosen].tolist()):
        axes.annotate(
            f"AS{number_of}", (x[i], y[i]), (0, 9), textcoords="offset points", fontsize=7
        )
    axes.set_xticks([])
    axes.set_yticks([])
    nouns = node_words(snapshot._stored.kind).nouns
    unit = "links" if counted.null_count else "traces"
    axes.set_xlabel(f"area: {nouns}; width of a line: {unit}; places have no unit")
    shown = "" if len(chosen) == len(asn) else f", the {len(chosen)} with the most {unit}"
    axes.set_title(printable(f"{snapshot.name}: {number(len(asn), 'AS')}{shown}"))
    return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "matplotlib is not installed: pip install matplotlib", name="matplotlib"
        ) from error
    return plt.subplots(layout="constrained")[1]
