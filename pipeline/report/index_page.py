"""The index of all ASes: its rows as a script, the rest as variables of its template."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.report.escaping import printable, printables, script_json
from pipeline.report.plots import bin_counts, hop_histogram
from pipeline.report.run_facts import RunFacts
from pipeline.report.summarise import Summary
from pipeline.report.texts import number

MAX_WARNINGS = 20
MAX_INPUTS = 200
N_FIRST = 100  # ASes in the index before its script runs, and without scripts


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
    first = summary.ases.select([column.key for column in COLUMNS]).take(largest).to_pylist()
    for row in first:
        row["name"] = printable(row["name"] or "")
    pairs = np.array(summary.totals["hop_counts"], np.int64)
    inputs = [_input(entry) for entry in (manifest.get("inputs") or [])]
    folder = _common_folder([entry["path"] for entry in inputs])
    for entry in inputs:
        entry["path"] = entry["path"][len(folder) :]
    # What went wrong comes first: the list is cut.
    inputs.sort(key=lambda entry: entry["status"] == "ok")
    return {
        "columns": _columns(run, summary.ases),
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
    """What all paths begin with, up to a slash; empty for a single one."""
    if len(paths) < 2:
        return ""
    same = os.path.commonprefix(paths)  # noqa: RUF071 (cut at its last slash below)
    return same[: same.rfind("/") + 1]


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
    facts = [("inputs", number(len(inputs), "file") + (f", {bad:,} not whole" if bad else ""))]
    if counts.get("n_traces"):
        facts.append(("traces", f"{counts['n_traces']:,}"))
    facts.append(("broken records", f"{rejected:,} set aside" if rejected else "none"))
    kind = "map" if run.declared_only and run.noun == "router" else manifest.get("kind")
    facts.append((f"a {run.noun} is", _NODE_FACTS.get(kind or "", run.limit)))
    if not run.declared_only:
        borders = str(options.get("borders", ""))
        facts.append(("borders", _BORDER_FACTS.get(borders, printable(borders) or "not recorded")))
    if counts.get("n_unmapped"):
        facts.append(("in no AS", f"{counts['n_unmapped']:,} {run.nouns} could not be mapped"))
    facts.append(
        ("searches", f"{totals['n_searches']:,} from {number(totals['n_ingresses'], 'ingress')}")
    )
    if totals["n_without_ingress"]:
        facts.append(("without ingress", number(totals["n_without_ingress"], "AS")))
    if totals["n_failed"] or totals["n_partial"]:
        facts.append(
            ("not whole", f"{totals['n_failed']:,} failed, {totals['n_partial']:,} partial")
        )
    if busy_share:
        shares = list(busy_share.values())
        mean = 100 * sum(shares) / len(shares)
        facts.append(
            ("computed by", f"{number(len(shares), 'worker')}, busy {mean:.0f} % of the time")
        )
    return facts


_NODE_FACTS = {
    "interface": "an interface address (no alias file)",
    "router": "a machine, its addresses merged",
    "map": "a router of the topology file",
    "as": "a whole AS",
    "mixed": "a router of a map, or an interface address of traces",
}

_BORDER_FACTS = {
    "elected": "the AS of an address is elected from all traces",
    "prefix": "the AS of an address is that of its prefix",
}


def _columns(run: RunFacts, ases: pa.Table) -> list[Column]:
    """Columns of the index; without a name in the run there is none for names."""
    routers = run.nouns[0].upper() + run.nouns[1:]
    named = ases["name"].null_count < ases.num_rows
    return [
        Column(c.key, c.label.replace("Routers", routers), c.title)
        for c in COLUMNS
        if named or c.key != "name"
    ]
