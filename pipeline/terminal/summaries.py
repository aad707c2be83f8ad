"""Output of commands and flows at the end: lines and a table, or one JSON object."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.metrics import own_kernels
from pipeline.model.measured.mapped import mapped_text
from pipeline.model.words import (
    INGRESS_CONFIDENCE,
    LOW_CONFIDENCE,
    MAX_WARNINGS,
    confidence_text,
    duration,
    hiding_text,
    ingresses_text,
    links_text,
    number,
    sizes,
    traces_kept_text,
)
from pipeline.places import with_urls
from pipeline.terminal.lines import escaped_json, print_line, to_stdout, warn

if TYPE_CHECKING:
    from pipeline.schedule.calibrate.measure import Calibration
    from pipeline.stages.analyze import AnalyzeSummary
    from pipeline.stages.compare import CompareSummary
    from pipeline.stages.ingest import IngestSummary
    from pipeline.stages.search import SearchSummary

MAX_NIGHTS = 3  # that a line names
SKIPPED_NAMED = 5  # types of records
_WIDTHS = {"widths": "widths", "weighted_widths": "widths by weight"}  # in the report's totals


def print_warnings(warnings: list[str]) -> None:
    for line in warnings[:MAX_WARNINGS]:
        warn(line)
    if len(warnings) > MAX_WARNINGS:
        warn(f"and {number(len(warnings) - MAX_WARNINGS, 'more warning')}")


def ingest_facts(summary: IngestSummary) -> dict:
    return {
        "snapshot": summary.snapshot,
        "store": str(summary.store),
        "n_ases": summary.n_ases,
        "node_kind": summary.node_kind,
        "n_nodes": summary.n_nodes,
        "n_routers": summary.n_nodes if summary.node_kind == "router" else None,
        "n_silent": summary.n_silent,
        "n_links": summary.n_edges,
        "n_border_links": summary.n_border_links,
        "n_ingresses": summary.n_ingresses,
        "n_candidates": summary.n_candidates,
        "n_traces": summary.n_traces,
        "n_traces_kept": summary.n_traces_kept,
        "n_addrs": summary.n_addrs,
        "n_addrs_mapped": summary.n_addrs_mapped,
        "n_addrs_in_no_table": summary.n_addrs_in_no_table,
        "n_resumed": summary.n_resumed,
        "replaced": summary.replaced,
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
    totals = summary.report.totals
    return {
        "snapshot": summary.snapshot,
        "report": str(summary.index),
        "node_kind": summary.report.node_kind,
        **{name: totals[name] for name in ("n_ases", "n_nodes", "n_ingresses", "n_candidates")},
        "mean_confidence": totals["mean_confidence"],
        "n_low_confidence": totals["n_low_confidence"],
        "synthetic": summary.report.synthetic,
        "n_searches": summary.n_searches,
        "n_width_searches": summary.n_width_searches,
        **{
            metric.searches_column: summary.n_figure_searches.get(task, 0)
            for task, metric in own_kernels().items()
            if metric.searches_column
        },
        **{name: totals.get(name) for name in _WIDTHS},
        "reused": summary.reused,
        "removed": {
            "snapshots": list(summary.removed.snapshots),
            "reports": list(summary.removed.reports),
        },
        "failed": {str(asn): reason for asn, reason in summary.failed.items()},
        "busy_share": summary.busy_share,
        "analyze_s": round(summary.wall_s, 3),
    }


def print_ingest(summary: IngestSummary, *, with_mapped: bool = True) -> None:
    counts = [number(summary.n_traces, "trace")] if summary.n_traces else []
    counts += [
        *sizes(summary.n_ases, summary.n_nodes, summary.node_kind, summary.n_silent),
        links_text(summary.n_edges, summary.n_border_links),
        ingresses_text(summary.n_ingresses, summary.n_candidates),
    ]
    print_line(f"Snapshot {summary.snapshot}: {', '.join(counts)} ({summary.wall_s:.1f} s)")
    if summary.replaced is not None and summary.replaced["is_same"]:
        from pipeline.stages.contents.replaced import holds_text

        print_line(
            f"It replaces what was made of the same files: {holds_text(summary.replaced['before'])}"
        )
    if summary.n_resumed:
        files = number(summary.n_resumed, "file")
        print_line(f"Not read again, because a killed run had already read them: {files}")
    if summary.n_addrs and with_mapped:
        n_in_no_table = summary.n_addrs_in_no_table
        print_line(mapped_text(summary.n_addrs, summary.n_addrs_mapped, n_in_no_table))
    if summary.n_traces_kept is not None:
        kept = traces_kept_text(summary.n_traces_kept, summary.n_traces)
        print_line(f"{kept}, for `hopscope traces`; all were used")
    if skipped := _skipped(summary):
        kinds = ", ".join(f"{kind} ({n:,})" for kind, n in skipped.most_common(SKIPPED_NAMED))
        more = len(skipped) - SKIPPED_NAMED
        others = f" and {number(more, 'other type')}" if more > 0 else ""
        print_line(f"Skipped records that are not traceroutes: {kinds}{others}")


def _skipped(summary: IngestSummary) -> Counter[str]:
    """Records of files of traces that hold measurements of another kind, by type."""
    from pipeline.ingest import FORMATS

    skipped = Counter[str]()
    for report in summary.reports:
        if report.format in FORMATS:  # tables skip lines of their own
            frames = FORMATS[report.format].frames
            skipped.update({kind: n for kind, n in report.skipped.items() if kind not in frames})
    return skipped


def print_analyze(summary: AnalyzeSummary, *, is_verbose: bool = False) -> None:
    """Table, totals and the report; ``is_verbose``: also how busy workers were, and searches."""
    from pipeline.terminal.table import print_table

    table = summary.report
    print_table("Largest ASes", table.table_columns, table.table)
    totals = table.totals
    counts = [
        *sizes(totals["n_ases"], totals["n_nodes"], table.node_kind, totals["n_silent"]),
        links_text(totals["n_edges"], totals["n_border_links"]),
        ingresses_text(totals["n_ingresses"], totals["n_candidates"]),
    ]
    print_line(f"Total: {', '.join(counts)} ({summary.wall_s:.1f} s)")
    if hiding := hiding_text(totals["n_may_hide_links"], totals["n_edges"]):
        print_line(hiding)
    if totals["mean_confidence"] is not None:
        print_line(
            f"{INGRESS_CONFIDENCE.capitalize()}: "
            f"{confidence_text(totals['mean_confidence'])} on average, "
            f"{totals['n_low_confidence']:,} below {LOW_CONFIDENCE}"
        )
    for line in table.notes:
        print_line(line)
    if is_verbose and summary.busy_share:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in summary.busy_share.items())
        print_line(f"Busy share by worker: {shares}")
    widths = _widths_of(summary)
    if is_verbose:
        by_whom = "Made now or by earlier runs: " if summary.reused.get("n_ases") else ""
        print_line(f"{by_whom}{_searches_of(summary)}{widths}")
    elif any(known.n_not_exact or known.n_unknown for known in _known_widths(summary)):
        print_line("W" + widths.removeprefix(", w"))
    if summary.reused.get("n_ases"):
        print_line(_reused_of(summary))
    for what, nights in (
        ("snapshot", summary.removed.snapshots),
        ("report", summary.removed.reports),
    ):
        if nights:
            removed = number(len(nights), f"older {what}")
            print_line(f"Removed: {removed}, {_last_nights(nights)}")
    print_line(f"Report: {summary.index}")


def _searches_of(summary: AnalyzeSummary) -> str:
    """Number of searches by purpose; those from ingresses are just called searches."""
    others = (
        (summary.n_width_searches, "widths"),
        *(
            (summary.n_figure_searches.get(task, 0), f"{metric.name.replace('_', ' ')}s")
            for task, metric in own_kernels().items()
        ),
    )
    counts = [f"{number(n, 'search')} for {what}" for n, what in others if n]
    if summary.n_searches or not counts:
        counts.insert(0, number(summary.n_searches, "search"))
    return ", ".join(counts)


def _reused_of(summary: AnalyzeSummary) -> str:
    """What was not measured again, and from which nights it is."""
    reused = summary.reused
    nights = list(reused["n_ases_from"])
    n = reused["n_searches"]  # those for widths and other figures are not counted
    searches = f"{n:,} of {number(summary.n_searches, 'search')} from ingresses; " if n else ""
    gone = [night for night in nights[-MAX_NIGHTS:] if night in summary.gone]
    verb = "is" if len(gone) == 1 else "are"
    hints = [f"{' and '.join(gone)} {verb} no longer in the store"] if gone else []
    return (
        f"Reused: {searches}results of {number(reused['n_ases'], 'AS')} from equal "
        f"graphs in {_last_nights(nights)} ({'; '.join([*hints, '--full measures all'])})"
    )


def _last_nights(nights: Sequence[str]) -> str:
    return ", ".join(nights[-MAX_NIGHTS:]) + (" and earlier" if nights[MAX_NIGHTS:] else "")


def _known_widths(summary: AnalyzeSummary) -> list:
    return [known for name in _WIDTHS if (known := summary.widths_known.get(name))]


def _widths_of(summary: AnalyzeSummary) -> str:
    """ASes of this run whose widths are known, and of those with only bounds or nothing."""
    text = ""
    for name, what in _WIDTHS.items():
        known = summary.widths_known.get(name)
        if known:
            n_ases = known.n_exact + known.n_not_exact
            lacks = ((known.n_not_exact, "not exact"), (known.n_unknown, "unknown"))
            lacking = ", ".join(f"{n:,} {lack}" for n, lack in lacks if n)
            text += f", {what} of {number(n_ases, 'AS')}{f' ({lacking})' if lacking else ''}"
    return text


def compare_facts(summary: CompareSummary) -> dict:
    return {
        "old": summary.old,
        "new": summary.new,
        "page": str(summary.page),
        "n_events": summary.n_events,
        "n_reference_nights": summary.n_reference_nights,
        "events": summary.events,
        "changes": summary.counts,
        "agreement": summary.agreement,
        "warnings": summary.warnings,
        "compare_s": round(summary.wall_s, 3),
    }


def print_compare(summary: CompareSummary) -> None:
    for rank, event in enumerate(summary.events, start=1):
        print_line(f"{rank:>3}. {event['text']}")
    if summary.n_events > len(summary.events):
        print_line(f"     and {number(summary.n_events - len(summary.events), 'more event')}")
    counts = [
        f"{summary.counts.get(f'link {kind}', 0):,} {kind}"
        for kind in ("removed", "added", "not observable", "not observable before")
    ]
    print_line(f"Links: {', '.join(counts)}")
    if (agrees := summary.agreement).get("addresses"):
        print_line(
            f"Both have {number(agrees['addresses'], 'address')}, {agrees['same_as']:,} of them "
            f"({agrees['same_as'] / agrees['addresses']:.1%}) in the same AS; "
            f"{number(agrees['routers'], 'router')}, {agrees['same_routers']:,} of them the same"
        )
    events = number(summary.n_events, "event")
    print_line(f"From {summary.old} to {summary.new}: {events} ({summary.wall_s:.1f} s)")
    print_line(f"Changes: {summary.page}")


def search_facts(summary: SearchSummary) -> dict:
    named = summary.graph
    ends = {"source": summary.source, "target": summary.target}
    return {
        "algorithm": summary.algorithm,
        "graph": named.name,
        "node_kind": named.kind,
        "n_nodes": named.graph.n_nodes,
        "n_links": named.graph.n_edges,
        **ends,
        **{
            f"{end}_name": None if node is None else named.name_of(node)
            for end, node in ends.items()
        },
        "result": summary.facts,
        "path_names": [named.name_of(node) for node in summary.facts.get("path", [])],
        "device": summary.device,
        "certificate": summary.certificate,
        "search_s": round(summary.seconds[summary.implementation], 9),
        "twins_s": {name: round(s, 9) for name, s in summary.seconds.items()},
        "certificate_s": round(summary.certificate_s, 6),
        "load_s": round(summary.load_s, 6),
        "out": None if summary.out is None else str(summary.out),
    }


def print_search(summary: SearchSummary) -> None:
    named = summary.graph
    size = f"{number(named.graph.n_nodes, named.noun)}, {number(named.graph.n_edges, 'link')}"
    ends = "".join(
        f" {word} {named.name_of(node)}"
        for word, node in (("from", summary.source), ("to", summary.target))
        if node is not None
    )
    print_line(f"{summary.algorithm} of {named.name} ({size}){ends}")
    print_line(f"Result: {summary.text}")
    if summary.certificate is None:
        print_line("Certificate: not checked")
    else:
        print_line(f"Certificate: {summary.certificate} ({duration(summary.certificate_s)})")
    times = ", ".join(f"{duration(s)} ({name})" for name, s in summary.seconds.items())
    print_line(f"Time: {times}; graph read in {duration(summary.load_s)}")
    if summary.out is not None:
        print_line(f"Written: {summary.out}")


def calibration_facts(calibration: Calibration, path: Path) -> dict:
    return {
        "date": calibration.date,
        "file": str(path),
        "devices": list(calibration.devices),
        "costs": asdict(calibration.costs),
        "crossing_routers": _crossings(calibration),
        "samples": [asdict(sample) for sample in calibration.samples],
        "calibrate_s": round(calibration.wall_s, 3),
    }


def _crossings(calibration: Calibration) -> dict[str, int | None]:
    """Routers from which the GPU is faster for one search and for 100; None: never, or no GPU."""
    found = {}
    for n_searches in (1, 100):
        n_nodes = calibration.costs.crossing(n_searches)
        known = "gpu" in calibration.devices and n_nodes != float("inf")
        found[str(n_searches)] = round(n_nodes) if known else None
    return found


def print_calibration(calibration: Calibration, path: Path) -> None:
    from pipeline.terminal.table import print_table

    sizes = sorted({(s.n_nodes, s.n_arcs) for s in calibration.samples if s.n_nodes})
    ms: dict[tuple[int, str, str], str] = {
        (s.n_nodes, s.what, s.device): f"{1e3 * s.seconds:.3f}" for s in calibration.samples
    }
    whats = {"search": "one search", "sweep": "128 searches", "transfer": "host to GPU"}
    rows = [
        (n_nodes, text, n_arcs, *(ms.get((n_nodes, what, device)) for device in ("cpu", "gpu")))
        for n_nodes, n_arcs in sizes
        for what, text in whats.items()
        if "gpu" in calibration.devices or what != "transfer"
    ]
    print_table("Costs on this machine", ("Routers", "What", "Arcs", "Core ms", "GPU ms"), rows)
    print_line(f"An empty task: {1e3 * calibration.costs.task_s:.2f} ms")
    if "gpu" not in calibration.devices:
        print_line("No GPU: searches run on cores")
    else:
        for n_searches, n_nodes in _crossings(calibration).items():
            where = (
                "is never faster"
                if n_nodes is None
                else f"is faster from {number(n_nodes, 'router')} on"
            )
            searches = number(int(n_searches), "search")
            print_line(f"{searches} of an AS: the GPU, including the transfer, {where}")
    print_line(f"Saved in {path}; later runs will use it ({calibration.wall_s:.0f} s)")


def print_json(facts: dict) -> None:
    import orjson

    text = orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode()
    with to_stdout():
        sys.stdout.write(escaped_json(with_urls(text)) + "\n")
