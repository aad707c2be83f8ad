"""Why an ingest read nothing."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.graphs.combine import MAX_NAMED
from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport, rejects_text
from pipeline.model.words import number


def why_nothing(reports: Sequence[ReadReport]) -> str:
    """Why there is no record: the faults of files, or what the first file holds instead.

    With what is wrong with broken records, the commonest fault first.
    """
    faults = [f"{report.error}{_rejects(report)}" for report in reports if report.error]
    if faults:
        more = len(faults) - MAX_NAMED
        return "; ".join(faults[:MAX_NAMED]) + (f"; and {more:,} more" if more > 0 else "")
    inputs = [report for report in reports if report.format in FORMATS and not report.copy_of]
    skipped = ", ".join(f"{kind} ({n:,})" for kind, n in inputs[0].skipped.items())
    others = f" and {number(len(inputs) - 1, 'more file')}" if len(inputs) > 1 else ""
    nothing = f"{inputs[0].path}{others}: contains no traces and no topology"
    return f"{nothing}; skipped: {skipped or 'nothing'}{_rejects(inputs[0])}"


def _rejects(report: ReadReport) -> str:
    if not report.rejected:
        return ""
    return f"; {rejects_text(report.rejected.total(), dict(report.rejected.most_common()))}"
