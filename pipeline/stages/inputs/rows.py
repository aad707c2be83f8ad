"""What snapshots keep of how their inputs were read: rows of the manifest and of the rejects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport


def holds(report: ReadReport) -> str:
    """Traces, a topology, or a table about them; "" for a file of no known format."""
    if report.format in FORMATS:
        return FORMATS[report.format].kind
    return "table" if report.format else ""


def input_row(report: ReadReport) -> dict:
    """Entry of an input in the manifest."""
    return (
        {
            "path": report.path,
            "format": report.format,
            "holds": holds(report),
            "status": report.status,
            "error": report.error,
            "sha256": report.sha256,
            "size_bytes": report.size_bytes,
            "n_records": report.n_records,
            "n_hops": report.n_hops,
            "n_rejected": sum(report.rejected.values()),
            "skipped": dict(report.skipped),
            "rejected": dict(report.rejected),
            "notes": dict(report.notes),
            "newest_s": report.newest_s,
        }
        | ({"copy_of": report.copy_of} if report.copy_of else {})
        | ({"mostly_rejected": lost} if (lost := report.mostly_rejected) else {})
        | (
            {"kind": report.kind, "made_by": report.made_by, "as_ranges": report.as_ranges}
            if report.kind
            else {}
        )
    )


def rejects(reports: Iterable[ReadReport]) -> Iterator[dict]:
    """Rows of rejects.jsonl: files that were not used to their end, and broken records."""
    for report in reports:
        if report.error:
            reason = report.error.removeprefix(f"{report.path}: ")
            yield {"file": report.path, "place": "file", "reason": reason, "detail": ""}
        for sample in report.samples:
            yield {"file": report.path} | asdict(sample)
