"""The index of all ASes: its rows as a script, the rest as variables of its template."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.metrics import decimals_of
from pipeline.metrics.columns import BY_WEIGHT, WEIGHTED
from pipeline.model.measured.mapped import (
    in_no_table,
    in_no_table_text,
    is_mapped_low,
    mapped_percent,
)
from pipeline.model.measured.reading import inputs_text
from pipeline.model.search.results import THIS_PROCESS
from pipeline.model.words import MAX_WARNINGS, hiding_text, number, printable
from pipeline.report.escaping import printables, script_json
from pipeline.report.pages.plots import bin_counts, hop_histogram
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.tables.nodes.node_files import has_node_file
from pipeline.report.tables.summarise import Summary
from pipeline.report.tables.width.widths import WidthReport, width_or_bounds, with_bounds
from pipeline.report.texts import interval, rounded, width

MAX_INPUTS = 200
N_FIRST = 100  # ASes in the index before its script runs, and without scripts


@dataclass(frozen=True)
class IndexColumn:
    """A column of the index; {noun} and {nouns} stand for what a node is called."""

    key: str
    label: str
    title: str

    @property
    def decimals(self) -> int | None:
        """Decimals of its figures; None where they are whole numbers or texts."""
        return decimals_of(self.key)


COLUMNS = (
    IndexColumn("asn", "AS", "Autonomous System number"),
    IndexColumn("name", "Name", "Name of the AS"),
    IndexColumn("n_nodes", "{nouns}", "{nouns} of the AS"),
    IndexColumn("n_edges", "Links", "Links inside the AS"),
    IndexColumn(
        "n_ingresses", "Ingresses", "{nouns} through which traffic enters, without candidates"
    ),
    IndexColumn(
        "mean_hops", "Mean hops", "Mean over pairs of an ingress and one of the {nouns} it reaches"
    ),
    IndexColumn("median_hops", "Median", "Median hops over these pairs"),
    IndexColumn("p90_hops", "p90", "Nine out of ten pairs are at most this many hops apart"),
    IndexColumn("max_hops", "Max", "Hops to the farthest {noun} from any ingress"),
    IndexColumn("n_unreached", "Unreached", "{nouns} that no ingress reaches"),
    IndexColumn("n_components", "Components", "Connected components of the AS"),
    IndexColumn("status", "Status", "ok; partial or failed: some or all searches did not finish"),
)


_BEFORE = "n_unreached"  # the column before which those of metrics are put, if measured


def index_script(
    ases: pa.Table, widths: WidthReport | None = None, n_entering: np.ndarray | None = None
) -> str:
    """Rows of the index as a script: ``hopscope.load({column: [...]})``, ASCII only.

    A width that has intervals comes with its bounds, as ``<column>_lower`` and ``_upper``; where
    there are traces also ``n_entering``, those that entered each AS; where organisations are known
    also ``organisation``.
    """
    columns: dict[str, list] = {}
    shown = [column.key for column in COLUMNS]
    for column in widths.listed() if widths else ():
        key, *bounds = with_bounds([column], ases)
        shown.append(key)
        if bounds and ases[bounds[0]].null_count < ases[key].null_count:
            shown += bounds
    for key in shown:
        values = ases[key]
        if key == "name":
            columns["name"] = printables(values.to_pylist())
        elif pa.types.is_floating(values.type) and not key.endswith(("_lower", "_upper")):
            columns[key] = [None if v is None else rounded(v, key) for v in values.to_pylist()]
        else:
            columns[key] = values.to_pylist()
    if _has_organisations(ases):
        columns["organisation"] = printables(ases["organisation"].to_pylist())
    if n_entering is not None:
        columns["n_entering"] = n_entering.tolist()
    return f"hopscope.load({script_json(columns)});\n"


def index_variables(
    summary: Summary,
    run: RunFacts,
    manifest: dict,
    warnings: list[str],
    busy_share: dict[str, float],
) -> dict:
    largest = pc.sort_indices(
        summary.ases, [("n_nodes", "descending"), ("asn", "ascending")]
    ).slice(0, N_FIRST)
    shown = [column.key for column in COLUMNS]
    listed = summary.widths.listed()
    shown += [*with_bounds(listed, summary.ases), "organisation"]
    first = summary.ases.select(shown).take(largest).to_pylist()
    for row in first:
        row["name"] = printable(row["name"] or "")
        row["organisation"] = printable(row["organisation"] or "")
        row |= {column.name: width_or_bounds(row, column.name) for column in listed}
    pairs = np.array(summary.totals["hop_counts"], np.int64)
    inputs = [_input(entry) for entry in (manifest.get("inputs") or [])]
    folder = _common_folder([entry["path"] for entry in inputs])
    for entry in inputs:
        entry["path"] = entry["path"][len(folder) :]
    # What went wrong comes first: the list is cut.
    inputs.sort(key=lambda entry: entry["status"] == "ok")
    return {
        "columns": _columns(run, summary),
        "has_organisations": _has_organisations(summary.ases),
        "asn_digits": len(str(pc.max(summary.ases["asn"]).as_py() or 0)),
        "headline": headline(summary, run),
        "mapped": _mapped(manifest.get("counts") or {}),
        "widths": _width_tiles(summary),
        "has_nodes": bool(has_node_file(summary.widths, summary.ases.num_rows).any()),
        "first": first,
        "chart": hop_histogram(pairs),
        "chart_width": bin_counts(pairs[1:])[0],
        "facts": _facts(summary, run, manifest, inputs, busy_share),
        "inputs": inputs[:MAX_INPUTS],
        "n_inputs": len(inputs),
        "folder": folder,
        "warnings": [printable(line) for line in warnings[:MAX_WARNINGS]],
        "n_warnings": len(warnings),
    }


def _has_organisations(ases: pa.Table) -> bool:
    """Whether any is known; they stand behind the names, and are searched with them."""
    if "organisation" not in ases.column_names:
        return False
    return ases["organisation"].null_count < ases.num_rows


def _mapped(counts: dict) -> dict | None:
    """The tile of mapped addresses; None without traces, or if the manifest is older."""
    n, n_mapped = counts.get("n_addrs"), counts.get("n_addrs_mapped", 0)
    if not n:
        return None
    return {
        "percent": mapped_percent(n, n_mapped),
        "n": n,
        "n_mapped": n_mapped,
        "remark": f", {in_no_table_text(lost)}" if (lost := in_no_table(counts)) else "",
        "is_low": is_mapped_low(counts),
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


def _common_folder(paths: list[str]) -> str:
    """The common folder of all paths, with its slash; empty for a single path, and for the root."""
    if len(paths) < 2:
        return ""
    same = os.path.commonprefix(paths)  # noqa: RUF071 (cut at its last slash below)
    folder = same[: same.rfind("/") + 1]
    return "" if folder == "/" else folder


def _facts(
    summary: Summary,
    run: RunFacts,
    manifest: dict,
    inputs: list[dict],
    busy_share: dict[str, float],
) -> list[tuple[str, str]]:
    """Name and text of each line of the box "Basis of these figures"."""
    counts = manifest.get("counts") or {}
    options = manifest.get("options") or {}
    totals = summary.totals
    bad = sum(entry["status"] != "ok" for entry in inputs)
    rejected = sum(entry["n_rejected"] or 0 for entry in inputs)
    given = inputs_text(manifest.get("inputs") or [])
    facts = [("inputs", given + (f", {bad:,} incomplete" if bad else ""))]
    if not inputs:
        facts = [("inputs", "none: the snapshot was generated" if run.synthetic else "none")]
    if counts.get("n_traces"):
        kept = counts.get("n_traces_kept")
        more = "" if kept is None else f", {kept:,} of them kept"
        facts.append(("traces", f"{counts['n_traces']:,}{more}"))
    facts.append(("broken records", f"{rejected:,} rejected" if rejected else "none"))
    facts.append((f"{run.one} is", run.brief or run.limit))
    if not run.declared_only:
        facts.append(("borders", _borders(options)))
    if run.mapped:
        facts.append(("addresses", run.mapped))
    if totals["n_silent"]:
        facts.append(("silent", f"{number(totals['n_silent'], 'router')} that never answered"))
    if hiding := hiding_text(totals["n_may_hide_links"], totals["n_edges"]):
        facts.append(("tunnels", hiding))
    if counts.get("n_unmapped"):
        facts.append(("in no AS", f"{number(counts['n_unmapped'], run.noun)}, left out"))
    facts.append(
        ("hops from", f"{totals['n_searches']:,} of {number(totals['n_ingresses'], 'ingress')}")
    )
    for table in summary.widths.tables:
        found = totals[f"{table.prefix}widths"]
        cut = (
            f", stopped early in {number(found['n_not_exact'], 'AS')}"
            if found["n_not_exact"]
            else ""
        )
        cut += f", not measured in {found['n_unknown']:,}" if found["n_unknown"] else ""
        facts.append(
            (
                f"widths in {_unit(table.unit)}",
                f"exact in {number(found['n_exact'], 'AS')}{cut}; "
                f"{number(found['n_searches'], 'search')}",
            )
        )
    if totals["n_without_ingress"]:
        facts.append(("without ingress", number(totals["n_without_ingress"], "AS")))
    if totals["n_failed"] or totals["n_partial"]:
        facts.append(
            ("incomplete", f"{totals['n_failed']:,} failed, {totals['n_partial']:,} partial")
        )
    if busy_share:
        facts.append(("computed by", _computed_by(busy_share)))
    return facts


def _computed_by(busy_share: dict[str, float]) -> str:
    """How many workers, or that there were none."""
    if all(worker.startswith(THIS_PROCESS) for worker in busy_share):
        return "the command itself, without workers"
    mean = 100 * sum(busy_share.values()) / len(busy_share)
    return f"{number(len(busy_share), 'worker')}, busy {mean:.0f} % of the time"


def _borders(options: dict) -> str:
    """How addresses got their AS."""
    if options.get("asn") is not None and not options.get("ip2as"):
        return f"none: every address was put into AS{options['asn']}"
    borders = str(options.get("borders", ""))
    return _BORDER_FACTS.get(borders, printable(borders) or "not recorded")


_BORDER_FACTS = {
    "elected": "the AS of each address is elected from all traces",
    "prefix": "the AS of each address is that of its prefix",
}


def _columns(run: RunFacts, summary: Summary) -> list[IndexColumn]:
    """Columns of the index; the one for names is left out if none and no organisation is known."""
    named = summary.ases["name"].null_count < summary.ases.num_rows or _has_organisations(
        summary.ases
    )
    units = {table.prefix: table.unit for table in summary.widths.tables}
    measured = [
        IndexColumn(
            c.name,
            f"{c.label}, {_unit(units[WEIGHTED])}" if c.unit == BY_WEIGHT else c.label,
            c.title,
        )
        for c in summary.widths.listed()
    ]
    at = next(i for i, c in enumerate(COLUMNS) if c.key == _BEFORE)
    return [
        IndexColumn(c.key, _worded(c.label, run), _worded(c.title, run))
        for c in (*COLUMNS[:at], *measured, *COLUMNS[at:])
        if named or c.key != "name"
    ]


def _worded(text: str, run: RunFacts) -> str:
    nouns = run.nouns[0].upper() + run.nouns[1:] if text.startswith("{nouns}") else run.nouns
    return text.format(noun=run.noun, nouns=nouns)


def _unit(unit: str) -> str:
    return {"ms": "ms", "length": "length", "hops": "hops"}.get(unit, "weight")


def _width_tiles(summary: Summary) -> list[dict]:
    """Name, text and remark of the largest diameters of the run."""
    tiles = []
    for table in summary.widths.tables:
        totals = summary.totals[f"{table.prefix}widths"]
        lower, upper = totals["largest_diameter_lower"], totals["largest_diameter_upper"]
        if lower is None:
            continue
        exact = totals["largest_diameter"] is not None
        tiles.append(
            {
                "name": f"largest diameter{f', {_unit(table.unit)}' if table.prefix else ''}",
                "text": width(lower) if exact else interval(lower, -1 if upper is None else upper),
                "asn": totals["largest_diameter_asn"] if exact else None,
                "n_equal": int(np.count_nonzero(table.widths.diameter_lower == lower)) - 1,
            }
        )
    return tiles


def headline(summary: Summary, run: RunFacts) -> str:
    """What the report says in one sentence; plain text.

    Parameters
    ----------
    summary : Summary
    run : RunFacts
        Of the whole run.
    """
    totals = summary.totals
    n_entered = totals["n_ases"] - totals["n_without_ingress"]
    if not n_entered:
        return f"No {run.whole.noun} of this report has an ingress, so there are no hops to count."
    ases = run.graphs(totals["n_ases"])
    if n_entered < totals["n_ases"]:
        ases = f"{n_entered:,} of {ases}"
    if run.declared:
        has = "has" if n_entered == 1 else "have"
        parts = [f"{ases} {has} {number(totals['n_ingresses'], 'ingress')}"]
    else:
        parts = [f"Traffic enters {ases} by {number(totals['n_ingresses'], run.noun)}"]
    pairs = np.array(totals["hop_counts"], np.int64)
    if totals["n_pairs"]:
        half = int(np.searchsorted(np.cumsum(pairs), totals["n_pairs"] / 2))
        parts.append(f"half of what an ingress reaches lies within {number(half, 'hop')} of it")
    if totals["n_unreached"]:
        parts.append(f"{run.unreached_share} of the {run.nouns} are unreached")
    return "; ".join(parts) + "."
