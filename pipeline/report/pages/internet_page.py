"""The page of all ASes together: variables of its template."""

from __future__ import annotations

import numpy as np

from pipeline.model.addresses import format_addr
from pipeline.model.topology import NO_ASN
from pipeline.model.words import number, printable
from pipeline.report.pages.plots import log_histogram
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.tables.internet import MAX_ASES, Distribution, Extreme, internet
from pipeline.report.tables.summarise import Summary

MAX_VANTAGES = 100  # in the table of coverage

_TITLES = {
    "n_nodes": "{nouns} of {whole}",
    "n_ingresses": "Ingresses of {whole}",
    "mean_hops": "Mean hops from an ingress",
    "diameter": "Diameter of {whole}, hops",
}
_EXTREMES = {
    "traces": "most traces by one ingress",
    "ingresses": "most ingresses",
    "neighbors": "most linked ASes",
    "diameter": "largest known diameter, hops",
    "max_hops": "most hops from an ingress",
}


def internet_variables(summary: Summary, run: RunFacts) -> dict:
    """Variables of ``internet.html``."""
    found = internet(summary)
    at = found.map.at
    asns = summary.ases["asn"].to_pylist()
    names = [printable(name or "") for name in summary.ases["name"].to_pylist()]
    size = found.n_traces if found.has_traces else summary.ases["n_nodes"].to_numpy()
    n_ingresses = summary.ases["n_ingresses"].to_numpy()
    rows = [
        {
            "asn": asns[i],
            "name": names[i],
            "size": int(size[i]),
            "n_ingresses": int(n_ingresses[i]),
            "n_neighbors": int(found.n_neighbors[i]),
            "is_hollow": found.has_traces and not found.n_entering[i],
            "n_vantages": int(found.n_vantages[i]),
            "x": round(x, 4),
            "y": round(y, 4),
        }
        for i, x, y in zip(at.tolist(), found.map.x.tolist(), found.map.y.tolist(), strict=True)
    ]
    links = np.column_stack([found.map.links, found.map.weight]).tolist()
    return {
        "rows": rows,
        "is_cut": len(rows) == MAX_ASES < int(np.count_nonzero(size)),
        "named": any(row["name"] for row in rows),
        "has_traces": found.has_traces,
        "has_paths": found.has_traces and found.has_paths,
        "n_hollow": sum(row["is_hollow"] for row in rows),
        "n_vantages": sum(row["n_vantages"] for row in rows),
        "links": ",".join(f"{i} {j} {weight}" for i, j, weight in links),
        "n_links": len(links),
        "n_linked": found.map.n_linked,
        "n_all_links": summary.as_links.num_rows,
        "n_without": int((found.n_traces == 0).sum()),
        "extremes": [_extreme(one, asns, names) for one in found.extremes],
        "charts": [_chart(one, run) for one in found.distributions if any(one.counts)],
        "coverage": _coverage(summary),
    }


def _extreme(one: Extreme, asns: list[int], names: list[str]) -> dict:
    where = one.where or ("",) * len(one.at)
    return {
        "what": _EXTREMES[one.what],
        "value": one.value,
        "of": [
            {"asn": asns[at], "name": names[at], "where": printable(text)}
            for at, text in zip(one.at, where, strict=True)
        ],
        "n_more": one.n - len(one.at),
    }


def _chart(one: Distribution, run: RunFacts) -> dict:
    nouns = run.nouns[0].upper() + run.nouns[1:]
    title = _TITLES[one.column].format(nouns=nouns, whole=run.whole.one)
    return {
        "title": title,
        "svg": log_histogram(one.counts, one.firsts, f"{run.whole.nouns} by {title}"),
        "missing": run.graphs(one.n_missing) if one.n_missing else "",
    }


def _coverage(summary: Summary) -> dict | None:
    """What each vantage point saw, most ASes first; None where it is not known."""
    vantages = summary.snapshot.vantages()
    if vantages is None or not len(vantages):
        return None
    n = len(vantages)
    n_traces, n_ases = np.zeros(n, np.int64), np.zeros(n, np.int64)
    n_traces[: len(summary.crossings.vantage_n_traces)] = summary.crossings.vantage_n_traces
    n_ases[: len(summary.crossings.vantage_n_ases)] = summary.crossings.vantage_n_ases
    first_asn = np.full(n, NO_ASN, np.int64)
    first_asn[: len(summary.crossings.vantage_asn)] = summary.crossings.vantage_asn
    order = np.lexsort((np.arange(n), -n_traces, -n_ases))
    rows = [
        {
            "addr": format_addr(int(vantages.addr_high[i]), int(vantages.addr_low[i])),
            "asn": None if vantages.asn[i] == NO_ASN else int(vantages.asn[i]),
            "first_asn": None if first_asn[i] == NO_ASN else int(first_asn[i]),
            "n_traces": int(n_traces[i]),
            "n_ases": int(n_ases[i]),
        }
        for i in order[:MAX_VANTAGES].tolist()
    ]
    return {
        "rows": rows,
        "n": n,
        "n_seeing": int(np.count_nonzero(n_ases)),
        "text": _coverage_text(n_ases, len(summary.snapshot.asn)),
    }


def _coverage_text(seen: np.ndarray, n_ases: int) -> str:
    """What the vantage points saw, in a sentence or two; ``seen``: ASes, of each of them."""
    n, some = len(seen), np.sort(seen[seen > 0])
    if not len(some):
        return (
            "The vantage point saw no AS."
            if n == 1
            else f"None of the {n:,} vantage points saw any."
        )
    blind, ases = n - len(some), number(n_ases, "AS")
    if n == 1:
        return f"The vantage point saw {some[0]:,} of {ases}."
    least, most, median = (int(some[at]) for at in (0, -1, (len(some) - 1) // 2))
    before = f"{blind:,} of the {n:,} vantage points saw no AS. " if blind else ""
    of = f"the other {len(some):,}" if blind else f"the {n:,} vantage points"
    if len(some) == 1:
        return f"{before}The other one saw {most:,} of {ases}."
    if least == most:
        return f"{before}Each of {of} saw {most:,} of {ases}."
    if median == most:
        return f"{before}At least half of {of} saw {most:,} of {ases}, the others fewer."
    return f"{before}Half of {of} saw at most {median:,} of {ases}, the best one {most:,}."
