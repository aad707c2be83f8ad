"""Pages that open from disk: an index of all ASes, a page for each, one style sheet, one script.

A page opened from disk may fetch nothing, so the index takes its rows from ``ases.js``, columns
in a script. Pages of ASes hold their figures as plain tables; the script adds sorting and small
drawings. They are bounded: of many ingresses the ``MAX_INGRESSES`` with the most traces are
shown, and the page says so.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from pipeline.report.escaping import printable, printables, script_json
from pipeline.report.plots import MAX_BARS, bin_counts, hop_histogram, share_text
from pipeline.report.ragged import offset_in_row, offsets
from pipeline.report.summarise import Summary

MAX_INGRESSES = 100
MAX_NEIGHBORS = 6  # of an ingress, on a page
MAX_FARTHEST = 3  # ingresses whose farthest routers a page names
MAX_WARNINGS = 20
MAX_INPUTS = 200
N_FIRST = 100  # ASes in the index before its script runs, and without scripts
_ASES_AT_ONCE = 2000  # ASes whose columns are Python lists at one time

ASSETS = ("hopscope.css", "hopscope.js")


@dataclass(frozen=True)
class Column:
    """A column of the index."""

    key: str
    label: str
    title: str


COLUMNS = (
    Column("asn", "AS", "Autonomous System number"),
    Column("name", "Name", "Name of the AS"),
    Column("n_nodes", "Routers", "Routers of the AS"),
    Column("n_edges", "Links", "Links inside the AS"),
    Column("n_ingresses", "Ingresses", "Routers by which traffic enters"),
    Column("mean_hops", "Mean hops", "Mean over all pairs of an ingress and a router it reaches"),
    Column("median_hops", "Median", "Median hops over these pairs"),
    Column("p90_hops", "p90", "Nine of ten pairs have at most this many hops"),
    Column("max_hops", "Max", "Hops to the farthest router from any ingress"),
    Column("n_unreached", "Unreached", "Routers that no ingress reaches"),
    Column("n_components", "Parts", "Connected components of the AS"),
    Column("status", "Status", "ok; partial or failed: some or all searches did not finish"),
)


@dataclass(frozen=True)
class RunFacts:
    """What pages say about the run as a whole; texts are plain, templates escape them."""

    snapshot: str
    written: str
    version: str
    noun: str  # what a node is
    nouns: str
    limit: str  # what that means
    declared: bool  # some ASes come from topology files
    declared_only: bool
    n_ases_stored: int
    unreached_share: str


def describe_run(snapshot, summary: Summary, *, version: str, written: float) -> RunFacts:
    """Facts that every page needs, from the snapshot's manifest.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    summary : Summary
    version : str
    written : float
        Seconds since 1970 UTC.
    """
    kind = snapshot.manifest.get("kind") or ""
    noun, nouns, limit = _NODES.get(kind, _NODES["router"])
    inputs = snapshot.manifest.get("inputs") or []
    declared = [entry.get("format") == "brite" for entry in inputs if entry.get("format")]
    traces = any(entry.get("format") not in _NO_TRACES for entry in inputs)
    totals = summary.totals
    return RunFacts(
        snapshot=printable(snapshot.name),
        written=_utc(written),
        version=version,
        noun=noun,
        nouns=nouns,
        limit=limit,
        declared=any(declared),
        declared_only=any(declared) and not traces,
        n_ases_stored=len(snapshot.asn),
        unreached_share=_share(totals["n_unreached"], totals["n_nodes"]),
    )


_NO_TRACES = ("brite", "pfx2as", "as-names", "itdk-nodes", "", None)

_NODES = {
    "interface": (
        "router",
        "routers",
        "An interface address is a router here, since no alias file told which addresses belong "
        "to one machine: real routers are fewer, and hops between them at most as many.",
    ),
    "router": (
        "router",
        "routers",
        "A node is a router: addresses of one machine were merged by an alias file, or the input "
        "is a map of routers.",
    ),
    "mixed": (
        "router",
        "routers",
        "A node is a router where the input is a map of routers, and an interface address where "
        "it is traces without an alias file: of those, real routers are fewer.",
    ),
    "as": (
        "AS",
        "ASes",
        "A node is a whole AS: the input is a map of ASes, searched as one graph.",
    ),
}


def write_pages(
    summary: Summary,
    run: RunFacts,
    out: Path,
    *,
    manifest: dict,
    warnings: list[str],
    busy_share: dict[str, float],
) -> int:
    """Write ``index.html``, ``as/*.html`` and what they load into a folder that exists.

    Parameters
    ----------
    summary : Summary
    run : RunFacts
    out : Path
    manifest : dict
        Of the snapshot: inputs, options, counts.
    warnings : list of str
    busy_share : dict of str to float
        Worker -> share of the run that it computed.

    Returns
    -------
    int
        Pages of ASes written.
    """
    environment = _environment()
    for name in ASSETS:
        data = resources.files("pipeline.report").joinpath("assets", name).read_bytes()
        (out / name).write_bytes(data)
    (out / "as").mkdir(exist_ok=True)
    n_pages = 0
    template = environment.get_template("as.html")
    for asn, variables in as_pages(summary, run):
        text = template.render(a=variables, run=run, root="../")
        (out / "as" / f"{asn:d}.html").write_bytes(text.encode())
        n_pages += 1
    (out / "ases.js").write_text(index_script(summary.ases), encoding="ascii")
    index = environment.get_template("index.html").render(
        run=run,
        t=summary.totals,
        root="",
        columns=_columns(run),
        **_index_variables(summary, run, manifest, warnings, busy_share),
    )
    (out / "index.html").write_bytes(index.encode())
    return n_pages


def index_script(ases: pa.Table) -> str:
    """Rows of the index as a script: ``hopscope.load({column: [...]})``, ASCII only."""
    columns: dict[str, list] = {}
    for column in COLUMNS:
        values = ases[column.key]
        if column.key == "name":
            columns["name"] = printables(values.to_pylist())
        elif pa.types.is_floating(values.type):
            columns[column.key] = pc.round(values, 3).to_pylist()
        else:
            columns[column.key] = values.to_pylist()
    return f"hopscope.load({script_json(columns)});\n"


def as_pages(summary: Summary, run: RunFacts) -> Iterator[tuple[int, dict]]:
    """Number and template variables of each AS page, some thousand ASes in memory at a time."""
    shown, shown_ptr = _first_ingresses(summary)
    farthest, farthest_ptr = _farthest_ingresses(summary)
    # Rows are binned as the drawing of their AS is, so that one can be laid over the other.
    widths = -(-np.maximum(np.diff(summary.distributions.ptr) - 1, 1) // MAX_BARS)
    row_widths = np.repeat(widths, np.diff(shown_ptr))
    for start in range(0, summary.ases.num_rows, _ASES_AT_ONCE):
        end = min(start + _ASES_AT_ONCE, summary.ases.num_rows)
        ases = summary.ases.slice(start, end - start).to_pydict()
        here = slice(shown_ptr[start], shown_ptr[end])
        rows = _ingress_rows(summary.ingresses.take(pa.array(shown[here])), row_widths[here])
        far = _farthest_rows(
            summary.ingresses.take(pa.array(farthest[farthest_ptr[start] : farthest_ptr[end]]))
        )
        for i in range(start, end):
            ingresses = rows[shown_ptr[i] - shown_ptr[start] : shown_ptr[i + 1] - shown_ptr[start]]
            names = far[
                farthest_ptr[i] - farthest_ptr[start] : farthest_ptr[i + 1] - farthest_ptr[start]
            ]
            one = {name: values[i - start] for name, values in ases.items()}
            yield one["asn"], _as_variables(summary, i, one, ingresses, names)


def _as_variables(summary: Summary, i: int, one: dict, ingresses: list, farthest: list) -> dict:
    pairs = summary.distributions.of(i)
    n_pairs = int(summary.distributions.n_pairs[i])
    begin, end = summary.ingress_ptr[i : i + 2]
    unreached_ptr = summary.unreached.first_ptr
    unreached = summary.unreached_texts[unreached_ptr[i] : unreached_ptr[i + 1]].to_pylist()
    eccentricities, n_as_far = _eccentricities(summary, begin, end)
    n_left = int(end - begin) - len(ingresses)
    return {
        "asn": one["asn"],
        "name": printable(one["name"] or ""),
        "status": one["status"],
        "reason": printable(one["reason"] or ""),
        "n_nodes": one["n_nodes"],
        "n_edges": one["n_edges"],
        "n_ingresses": one["n_ingresses"],
        "n_candidates": one["n_candidates"],
        "n_components": one["n_components"],
        "largest_component": one["largest_component"],
        "n_unreached": one["n_unreached"],
        "unreached_share": _share(one["n_unreached"], one["n_nodes"]),
        "unreached": _listed(unreached, one["n_unreached"]),
        "mean": one["mean_hops"],
        "median": one["median_hops"],
        "p90": one["p90_hops"],
        "max_hops": one["max_hops"],
        "n_searched": int(summary.distributions.n_searched[i]),
        "n_pairs": n_pairs,
        "chart": hop_histogram(pairs),
        "chart_width": bin_counts(pairs[1:])[0],
        "levels": _levels(pairs, n_pairs),
        "ingresses": ingresses,
        "ingresses_left": n_left,
        "shown": f"{len(ingresses):,} of {end - begin:,}" if n_left else f"{end - begin:,}",
        "eccentricities": eccentricities,
        "farthest": farthest,
        "farthest_left": n_as_far - len(farthest),
    }


def _first_ingresses(summary: Summary) -> tuple[np.ndarray, np.ndarray]:
    """Ingress rows to show, those with the most traces first, and their offsets by AS."""
    table = summary.ingresses
    lengths = np.diff(summary.ingress_ptr)
    traces = table["n_direct"].to_numpy() + table["n_after_gap"].to_numpy()
    reached = pc.fill_null(table["n_reached"], -1).to_numpy()
    position = np.repeat(np.arange(len(lengths)), lengths)
    candidate = table["candidate"].to_numpy()
    order = np.lexsort((table["ingress"].to_numpy(), -reached, -traces, candidate, position))
    shown = order[offset_in_row(summary.ingress_ptr) < MAX_INGRESSES]
    return shown, offsets(np.minimum(lengths, MAX_INGRESSES))


def _farthest_ingresses(summary: Summary) -> tuple[np.ndarray, np.ndarray]:
    """The first ingresses that have the largest eccentricity of their AS."""
    lengths = np.diff(summary.ingress_ptr)
    position = np.repeat(np.arange(len(lengths)), lengths)
    eccentricity = pc.fill_null(summary.ingresses["eccentricity"], -1).to_numpy()
    top = summary.distributions.max_hops
    found = np.flatnonzero((eccentricity == top[position]) & (eccentricity > 0))
    n_found = np.bincount(position[found], minlength=len(lengths))
    kept = found[offset_in_row(offsets(n_found)) < MAX_FARTHEST]
    return kept, offsets(np.minimum(n_found, MAX_FARTHEST))


def _ingress_rows(table: pa.Table, widths: np.ndarray) -> list[tuple]:
    """What a page shows of each ingress: plain texts and numbers, in the order of the template."""
    neighbors = table["neighbor_asns"].combine_chunks()
    few = pc.list_slice(neighbors, 0, MAX_NEIGHBORS)
    texts = pc.binary_join(few.cast(pa.list_(pa.string())), ", ").to_pylist()
    lengths = pc.list_value_length(neighbors).to_pylist()
    texts = [
        f"{text} +{n - MAX_NEIGHBORS}" if n > MAX_NEIGHBORS else text
        for text, n in zip(texts, lengths, strict=True)
    ]
    hops = _hop_texts(table["hop_counts"].combine_chunks(), widths)
    columns = [
        table[name].to_pylist()
        for name in ("n_direct", "n_after_gap", "n_reached", "eccentricity", "mean_hops")
    ]
    addr, candidate = table["addr"].to_pylist(), table["candidate"].to_pylist()
    return list(zip(addr, texts, *columns, candidate, hops, strict=True))


def _hop_texts(hop_counts: pa.Array, widths: np.ndarray) -> list[str]:
    """Counts at 1, 2, 3 ... hops as text; ``widths`` neighbouring ones are merged."""
    away = pc.list_slice(hop_counts, 1)
    texts = pc.fill_null(pc.binary_join(away.cast(pa.list_(pa.string())), " "), "").to_pylist()
    for i in np.flatnonzero(widths > 1).tolist():
        counts = np.array(away[i].as_py() or [], np.int64)
        if len(counts):
            merged = np.add.reduceat(counts, np.arange(0, len(counts), widths[i]))
            texts[i] = " ".join(map(str, merged.tolist()))
    return texts


def _farthest_rows(table: pa.Table) -> list[tuple[str, str]]:
    """Ingress and the routers farthest from it, as texts."""
    joined = pc.binary_join(
        table["farthest_addrs"].combine_chunks().cast(pa.list_(pa.string())), ", "
    )
    return list(zip(table["addr"].to_pylist(), joined.to_pylist(), strict=True))


def _eccentricities(summary: Summary, begin: int, end: int) -> tuple[list[tuple], int]:
    """(hops, ingresses, width of a bar in per cent) of an AS; how many have the largest."""
    values = summary.ingresses["eccentricity"].slice(begin, end - begin).drop_null().to_numpy()
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
    """(hops, pairs, share, cumulated share) of the table below a drawing."""
    if n_pairs == 0:
        return []
    width, counts = bin_counts(pairs[1:])
    rows, sofar = [], 0
    for i, count in enumerate(counts.tolist()):
        first = 1 + i * width
        last = min(first + width, len(pairs)) - 1
        sofar += count
        label = str(first) if first == last else f"{first}\u2013{last}"
        rows.append((label, count, _share(count, n_pairs), _share(sofar, n_pairs)))
    return rows


def _index_variables(
    summary: Summary,
    run: RunFacts,
    manifest: dict,
    warnings: list[str],
    busy_share: dict[str, float],
) -> dict:
    largest = pc.sort_indices(
        summary.ases, [("n_nodes", "descending"), ("asn", "ascending")]
    ).slice(0, N_FIRST)
    first = summary.ases.select([column.key for column in COLUMNS]).take(largest).to_pylist()
    for row in first:
        row["name"] = printable(row["name"] or "")
    pairs = np.array(summary.totals["hop_counts"], np.int64)
    inputs = [_input(entry) for entry in (manifest.get("inputs") or [])]
    # What went wrong comes first: the list is cut.
    inputs.sort(key=lambda entry: entry["status"] == "ok")
    return {
        "first": first,
        "chart": hop_histogram(pairs),
        "chart_width": bin_counts(pairs[1:])[0],
        "facts": _facts(summary, run, manifest, inputs, busy_share),
        "inputs": inputs[:MAX_INPUTS],
        "n_inputs": len(inputs),
        "warnings": [printable(line) for line in warnings[:MAX_WARNINGS]],
        "n_warnings": len(warnings),
    }


def _input(entry: dict) -> dict:
    return {
        "path": printable(entry.get("path", "")),
        "format": printable(entry.get("format", "")),
        "status": printable(entry.get("status") or "ok"),
        "n_records": entry.get("n_records"),
        "n_rejected": entry.get("n_rejected", 0),
        "sha256": printable(entry.get("sha256") or ""),
    }


def _facts(
    summary: Summary,
    run: RunFacts,
    manifest: dict,
    inputs: list[dict],
    busy_share: dict[str, float],
) -> list[tuple[str, str]]:
    """Name and text of each line of the box that says what the figures rest on."""
    counts = manifest.get("counts") or {}
    options = manifest.get("options") or {}
    totals = summary.totals
    bad = sum(entry["status"] != "ok" for entry in inputs)
    rejected = sum(entry["n_rejected"] or 0 for entry in inputs)
    facts = [("inputs", _number(len(inputs), "file") + (f", {bad:,} not whole" if bad else ""))]
    if counts.get("n_traces"):
        facts.append(("traces", f"{counts['n_traces']:,}"))
    facts.append(("broken records", f"{rejected:,} set aside" if rejected else "none"))
    facts.append((f"a {run.noun} is", _NODE_FACTS.get(manifest.get("kind") or "", run.limit)))
    if not run.declared_only:
        borders = str(options.get("borders", ""))
        facts.append(("borders", _BORDER_FACTS.get(borders, printable(borders) or "not recorded")))
    if counts.get("n_unmapped"):
        facts.append(("in no AS", f"{counts['n_unmapped']:,} {run.nouns} could not be mapped"))
    facts.append(
        ("searches", f"{totals['n_searches']:,} from {_number(totals['n_ingresses'], 'ingress')}")
    )
    if totals["n_without_ingress"]:
        facts.append(("without ingress", _number(totals["n_without_ingress"], "AS")))
    if totals["n_failed"] or totals["n_partial"]:
        facts.append(
            ("not whole", f"{totals['n_failed']:,} failed, {totals['n_partial']:,} partial")
        )
    if busy_share:
        shares = list(busy_share.values())
        mean = 100 * sum(shares) / len(shares)
        facts.append(
            ("computed by", f"{_number(len(shares), 'worker')}, busy {mean:.0f} % of the time")
        )
    return facts


_NODE_FACTS = {
    "interface": "an interface address (no alias file)",
    "router": "a machine, its addresses merged",
    "as": "a whole AS",
    "mixed": "a router of a map, or an interface address of traces",
}

_BORDER_FACTS = {
    "elected": "the AS of an address is elected from all traces",
    "prefix": "the AS of an address is that of its prefix",
}


def _columns(run: RunFacts) -> list[Column]:
    if run.noun == "router":
        return list(COLUMNS)
    return [Column(c.key, c.label.replace("Routers", run.nouns), c.title) for c in COLUMNS]


def _listed(texts: list[str | None], n_all: int) -> str:
    listed = ", ".join(text or "?" for text in texts)
    return f"{listed} and {n_all - len(texts):,} more" if n_all > len(texts) else listed


def _number(n: int, noun: str) -> str:
    """``1 file``, ``2 files``, ``3 ASes``, ``4 ingresses``."""
    ending = "" if n == 1 else "es" if noun[-1] in "sS" else "s"
    return f"{n:,} {noun}{ending}"


def _share(count: int, total: int) -> str:
    """Share with its unit, for running text."""
    if not count or not total:
        return "0 %"
    return "100 %" if count == total else f"{Markup(share_text(count, total)).unescape()} %"


def _utc(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "n": lambda number: "\u2013" if number is None else f"{number:,}",
        "f": lambda number: "\u2013" if number is None else f"{number:.2f}",
        "g": lambda number: "\u2013" if number is None else f"{number:.1f}".removesuffix(".0"),
        "figure": _figure,
        "number": _number,
    }
    environment.filters.update(filters)
    return environment


_DECIMALS = {"mean_hops": 2, "median_hops": 1, "p90_hops": 1}


def _figure(number: float | None, key: str) -> str:
    """A figure of the index as its script writes it."""
    if number is None:
        return "\u2013"
    return f"{number:.{_DECIMALS[key]}f}" if key in _DECIMALS else f"{number:,}"
