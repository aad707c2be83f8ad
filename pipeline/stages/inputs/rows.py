"""What snapshots keep of their ingest: options, and inputs as rows of manifest and rejects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.config import IngestConfig
from pipeline.infer.version import RULES_VERSION
from pipeline.ingest import FORMATS
from pipeline.model.choices import ROUTERS_BY_DEFAULT
from pipeline.model.measured.reading import ReadReport, printable_path


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


def options_told(config: IngestConfig, is_inferred: bool) -> dict[str, Any]:
    """Every option that decides what a snapshot holds, and where the run was.

    ``is_inferred``: from traces, so that the rules of inference decide, too.
    """
    options = {
        key: [printable_path(v) for v in value] if isinstance(value, tuple) else value
        for key, value in asdict(config).items()
        if key not in ("store", "workers")
    }
    return {
        key: printable_path(value) if isinstance(value, Path) else value
        for key, value in options.items()
    } | {
        "routers": config.routers or ROUTERS_BY_DEFAULT,
        "hopscope": __version__,
        **({"inference_rules": RULES_VERSION} if is_inferred else {}),
        "ran_in": printable_path(Path.cwd()),
    }
