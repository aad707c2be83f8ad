"""Stages wire the modules together: files -> snapshot -> searches -> reports.

The command line and the flows call these functions and nothing below them.
"""

from __future__ import annotations

from pipeline.model.progress import Progress, ProgressCallback
from pipeline.stages.analyze import (
    AnalyzeSummary,
    analyze,
    measure_stage,
    open_for,
    report_stage,
)
from pipeline.stages.ingest import IngestSummary, ingest
from pipeline.stages.places import check_run

__all__ = [
    "AnalyzeSummary",
    "IngestSummary",
    "Progress",
    "ProgressCallback",
    "analyze",
    "check_run",
    "ingest",
    "measure_stage",
    "open_for",
    "report_stage",
]
