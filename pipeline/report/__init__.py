"""Measurements to reports: Parquet, JSON and pages that open from disk."""

from __future__ import annotations

from pipeline.report.write import ReportSummary, write_reports

__all__ = ["ReportSummary", "write_reports"]
