"""What commands and flows say when they are done: lines and a table, or one JSON object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import orjson

from pipeline.cli.terminal import print_line, print_table, warn

if TYPE_CHECKING:
    from pipeline.stages import AnalyzeSummary, IngestSummary

MAX_WARNINGS = 20  # lines; all of them stand in report.json


def print_warnings(warnings: list[str]) -> None:
    for line in warnings[:MAX_WARNINGS]:
        warn(line)
    if len(warnings) > MAX_WARNINGS:
        warn(f"and {len(warnings) - MAX_WARNINGS} more warnings")


def ingest_facts(summary: IngestSummary) -> dict:
    return {
        "snapshot": summary.snapshot,
        "store": str(summary.store),
        "n_ases": summary.n_ases,
        "n_routers": summary.n_nodes,
        "n_links": summary.n_edges,
        "n_ingresses": summary.n_ingresses,
        "n_traces": summary.n_traces,
        "files": {
            report.path: {
                "format": report.format,
                "status": report.status,
                "error": report.error,
                "n_records": report.n_records,
                "n_hops": report.n_hops,
                "skipped": dict(report.skipped),
                "rejected": dict(report.rejected),
            }
            for report in summary.reports
        },
        "warnings": summary.warnings,
        "ingest_s": round(summary.wall_s, 3),
    }


def analyze_facts(summary: AnalyzeSummary) -> dict:
    return {
        "snapshot": summary.snapshot,
        "report": str(summary.index),
        "n_searches": summary.n_searches,
        "failed": {str(asn): reason for asn, reason in summary.failed.items()},
        "busy_share": summary.busy_share,
        "analyze_s": round(summary.wall_s, 3),
    }


def print_ingest(summary: IngestSummary) -> None:
    read = f"{summary.n_traces:,} traces, " if summary.n_traces else ""
    print_line(
        f"Snapshot {summary.snapshot}: {read}{summary.n_ases:,} ASes, {summary.n_nodes:,} routers, "
        f"{summary.n_edges:,} links, {summary.n_ingresses:,} ingresses ({summary.wall_s:.1f} s)"
    )


def print_analyze(summary: AnalyzeSummary) -> None:
    table = summary.report
    print_table("Largest ASes", table.table_columns, table.table)
    if summary.busy_share:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in summary.busy_share.items())
        print_line(f"Busy share by worker: {shares}")
    print_line(f"{summary.n_searches:,} searches in {summary.wall_s:.1f} s")
    print_line(f"Report: {summary.index}")


def print_json(facts: dict) -> None:
    sys.stdout.write(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode() + "\n")
