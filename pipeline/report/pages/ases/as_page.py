"""The page of one AS, as variables of its template."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup, escape

from pipeline.model.columns.ragged import offsets
from pipeline.model.topology import SILENT
from pipeline.model.words import hiding_text, inside_text, number, printable, silent_text
from pipeline.report.drawing.of_ases import Drawer
from pipeline.report.pages.ases.exit_rows import exit_rows, exits_of
from pipeline.report.pages.ases.ingress_rows import first_ingresses, ingress_rows
from pipeline.report.pages.ases.neighbor_list import NeighborLists
from pipeline.report.pages.ases.searched import Searched
from pipeline.report.pages.ases.width_section import figure_tiles, width_sections
from pipeline.report.pages.entries import EntryPages
from pipeline.report.pages.plots import MAX_BARS, bin_counts, hop_histogram
from pipeline.report.tables.columns import lists
from pipeline.report.tables.listed import Listed, list_ases
from pipeline.report.tables.places import PLACE_COLUMNS, counted_places
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import share, short

MAX_SIBLINGS = 30  # other ASes of its organisation that a page names
WidthParts = tuple[list[dict], list[dict]]


def as_pages(
    summary: Summary, listed: Listed | None = None, widths: list[WidthParts] | None = None
) -> Iterator[tuple[int, dict]]:
    """Number and template variables of the page of each AS.

    Parameters
    ----------
    summary : Summary
        Of a report, or a part of it: everything that pages show of its ASes is held at once.
    listed : Listed or None
        ASes of the report, which pages link to; None: those of ``summary``.
    widths : list of WidthParts or None
        As ``width_parts`` gives them for ``summary``; None: they are made here.
    """
    widths = width_parts(summary) if widths is None else widths
    listed = listed or list_ases(summary.ases)
    shown, ptr = first_ingresses(summary)
    searched = Searched(summary)
    farthest, farthest_ptr = searched.farthest()
    ases = _without_lists(summary.ases).to_pydict()
    entries, neighbors = EntryPages(summary, listed), NeighborLists(summary, listed)
    exits = exit_rows(summary, listed.asns)
    # Rows are binned as the drawing of their AS is, so that one can be laid over the other.
    of_bar = -(-np.maximum(np.diff(summary.distributions.ptr) - 1, 1) // MAX_BARS)
    taken = pa.array(shown)
    rows, traced, rated, delayed = ingress_rows(
        summary.ingresses.take(taken),
        summary.ingress_others.take(taken),
        np.repeat(of_bar, np.diff(ptr)),
        ptr,
        listed.asns,
    )
    far = _farthest_rows(summary.ingresses.take(pa.array(farthest)))
    placed = _counted_places(summary)
    drawn, n_near = Drawer(summary, listed).all(), _neighbors_of_ingresses(summary)
    for i in range(summary.ases.num_rows):
        ingresses = rows[ptr[i] : ptr[i + 1]]
        names = far[farthest_ptr[i] : farthest_ptr[i + 1]]
        one = {name: values[i] for name, values in ases.items()}
        variables = _as_variables(summary, searched, i, one, ingresses, names, widths[i])
        yield (
            one["asn"],
            variables
            | {
                "entries": entries.of(i),
                "drawn": drawn[i],
                "neighbors": neighbors.of(i),
                "organisation": _organisation(listed, one["asn"]),
                "beside": listed.beside(one["asn"]),
                "exits": exits_of(*exits, i),
                "places": placed[i],
                "traced": bool(traced[i]),
                "rated": bool(rated[i]),
                "delayed": bool(delayed[i]),
                "chosen": not n_near[i],
            },
        )


def _organisation(listed: Listed, asn: int) -> dict | None:
    """The organisation of an AS, its place in the index, and its other ASes; None: not known."""
    name = listed.organisations.get(asn)
    if name is None:
        return None
    shown = printable(name)
    others = [other for other in listed.of_organisations[name] if other != asn]
    linked = []
    for other in others[:MAX_SIBLINGS]:
        text = f"<a href={other}.html>AS{other}</a>"
        if known := listed.names[other]:
            text += f" <bdi>{escape(short(printable(known)))}</bdi>"
        linked.append(text)
    return {
        "name": shown,
        "query": quote(shown, safe=""),
        "others": Markup(", ".join(linked)),
        "n": len(others),
        "n_left": len(others) - len(linked),
    }


def _counted_places(summary: Summary) -> list[list[tuple[str, int, int]]]:
    """Ingresses and traces of each AS by place; empty where no place is known."""
    table = summary.ingresses.select(["candidate", "n_direct", *PLACE_COLUMNS])
    if table["latitude"].null_count == table.num_rows:
        return [[] for _ in range(len(summary.ingress_ptr) - 1)]
    rows = table.to_pylist()
    return [
        counted_places((row for row in rows[begin:end] if not row["candidate"]), "n_direct")
        for begin, end in itertools.pairwise(summary.ingress_ptr.tolist())
    ]


def _neighbors_of_ingresses(summary: Summary) -> np.ndarray:
    """(n_ases,) int64: ASes that each is entered from; by none if its ingresses were drawn."""
    lengths = pc.list_value_length(summary.ingresses["neighbor_asns"]).to_numpy()
    return np.diff(np.append(0, np.cumsum(lengths))[summary.ingress_ptr])


def width_parts(summary: Summary) -> list[WidthParts]:
    """Sections on widths of each AS, and tiles of figures of its whole graph."""
    n_components = summary.ases["n_components"].to_pylist()
    return [
        (width_sections(summary.widths, i, n), figure_tiles(summary.widths, i))
        for i, n in enumerate(n_components)
    ]


def _as_variables(
    summary: Summary,
    searched: Searched,
    i: int,
    one: dict,
    ingresses: list,
    farthest: list,
    widths: WidthParts,
) -> dict:
    pairs = summary.distributions.of(i)
    n_pairs = int(summary.distributions.n_pairs[i])
    begin, end = summary.ingress_ptr[i : i + 2]
    unreached_ptr = summary.unreached.first_ptr
    unreached = summary.unreached_texts[unreached_ptr[i] : unreached_ptr[i + 1]].to_pylist()
    eccentricities, n_as_far = _eccentricities(searched.eccentricity[begin:end])
    n_left = int(end - begin) - len(ingresses)
    sections, figures = widths  # figures are shown among the widths in hops, if there are any
    return {
        "asn": one["asn"],
        "name": printable(one["name"] or ""),
        "status": one["status"],
        "graph_hash": one["graph_hash"],
        "reason": printable(one["reason"] or ""),
        "n_nodes": one["n_nodes"],
        "n_edges": one["n_edges"],
        "n_ingresses": one["n_ingresses"],
        "n_candidates": one["n_candidates"],
        "n_components": one["n_components"],
        "largest_component": one["largest_component"],
        "n_unreached": one["n_unreached"],
        "begins_inside": inside_text(n_inside) if (n_inside := one["n_entered_unseen"]) else "",
        "n_mpls_links": one["n_mpls_links"],
        "may_hide": hiding_text(one["n_may_hide_links"], one["n_edges"], "of this AS"),
        "n_silent": one["n_silent"],
        "silent": silent_text(one["n_silent"]) if one["n_silent"] else "",
        "unreached_share": share(one["n_unreached"], one["n_nodes"]),
        "unreached": _listed(unreached, one["n_unreached"]),
        "mean": one["mean_hops"],
        "median": one["median_hops"],
        "p90": one["p90_hops"],
        "max_hops": one["max_hops"],
        "half_within": _half_within(pairs, n_pairs),
        "crossing": _crossing(summary, i),
        "n_low_confidence": int(summary.n_low_confidence[i]),
        "n_searched": int(summary.distributions.n_searched[i]),
        "n_pairs": n_pairs,
        "chart": hop_histogram(pairs),
        "chart_width": bin_counts(pairs[1:])[0],
        "levels": _levels(pairs, n_pairs),
        "ingresses": Markup("".join(ingresses)),
        "ingresses_left": n_left,
        "shown": _shown(one["n_ingresses"], one["n_candidates"], len(ingresses)),
        "eccentricities": eccentricities,
        "farthest": farthest,
        "bounds": None if any(not s["weighted"] for s in sections) else searched.bounds(i, one),
        "n_farthest": n_as_far,
        "widths": sections,
        "figures": [] if any(not s["weighted"] for s in sections) else figures,
        "n_shown": len(ingresses),
    }


def _half_within(pairs: np.ndarray, n_pairs: int) -> int | None:
    """Hops within which half of the pairs lie; None without a pair."""
    return int(np.searchsorted(np.cumsum(pairs), n_pairs / 2)) if n_pairs else None


def _crossing(summary: Summary, i: int) -> tuple[int, int] | None:
    """Traces that cross an AS, and their vantage points; None where paths are not known."""
    crossings = summary.crossings
    if i >= len(crossings.n_traces) or not crossings.n_traces[i]:
        return None
    return int(crossings.n_traces[i]), int(crossings.n_vantages[i])


def _shown(n_ingresses: int, n_candidates: int, n_shown: int) -> str:
    """How many ingresses there are, candidates apart, and how many of both a page shows."""
    text = f"{n_ingresses:,}"
    if n_candidates:
        text += f" and {number(n_candidates, 'candidate')}"
    return text if n_shown == n_ingresses + n_candidates else f"{text}, {n_shown:,} shown"


def _without_lists(ases: pa.Table) -> pa.Table:
    """The table without its lists, which may be long; pages get shortened ones elsewhere."""
    return ases.select([f.name for f in ases.schema if not pa.types.is_nested(f.type)])


def _farthest_rows(table: pa.Table) -> list[tuple[str, str]]:
    """Ingress and the routers farthest from it, as texts."""
    farthest = table["farthest_addrs"].combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(farthest), 0).to_numpy(zero_copy_only=False)
    texts = pc.fill_null(pc.list_flatten(farthest), SILENT)
    joined = pc.binary_join(lists(offsets(lengths), texts).cast(pa.list_(pa.string())), ", ")
    return list(zip(table["addr"].to_pylist(), joined.to_pylist(), strict=True))


def _eccentricities(eccentricity: np.ndarray) -> tuple[list[tuple], int]:
    """(hops, ingresses, width of a bar in per cent) of an AS; how many have the largest."""
    values = eccentricity[eccentricity >= 0]
    if len(values) == 0 or values.max() == 0:
        return [], 0
    counts = np.bincount(values)
    n_farthest = int(counts[-1])
    low = int(values.min())
    width, binned = bin_counts(counts[low:], 24)
    most = int(binned.max())
    rows = []
    for i, count in enumerate(binned.tolist()):
        first = low + i * width
        last = min(first + width, len(counts)) - 1
        label = str(first) if first == last else f"{first}\u2013{last}"
        if count:
            rows.append((label, count, round(100 * count / most)))
    return rows, n_farthest


def _levels(pairs: np.ndarray, n_pairs: int) -> list[tuple]:
    """(hops, pairs, share, cumulative share) of the table below a drawing."""
    if n_pairs == 0:
        return []
    width, counts = bin_counts(pairs[1:])
    rows, sofar = [], 0
    for i, count in enumerate(counts.tolist()):
        first = 1 + i * width
        last = min(first + width, len(pairs)) - 1
        sofar += count
        label = str(first) if first == last else f"{first}\u2013{last}"
        rows.append((label, count, share(count, n_pairs), share(sofar, n_pairs)))
    return rows


def _listed(texts: list[str | None], n_all: int) -> str:
    listed = ", ".join(text or SILENT for text in texts)
    return f"{listed} and {n_all - len(texts):,} more" if n_all > len(texts) else listed
