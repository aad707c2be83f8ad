"""Why an ingest read nothing, or came to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pipeline.errors import UsageError
from pipeline.graphs.combine import MAX_NAMED
from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport, rejects_text
from pipeline.model.words import number
from pipeline.stages.inputs.files import InputFiles
from pipeline.stages.warnings import left_out_warnings


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


@contextmanager
def unread_named_first(
    inputs: InputFiles, reports: Sequence[ReadReport], chosen: str | None
) -> Iterator[None]:
    """Within the block, an error names first the files that could not be read or were left out.

    The fault may be theirs, and not what the error asks for.

    Parameters
    ----------
    inputs : InputFiles
    reports : sequence of ReadReport
        Filled within the block, with one for each file that was to be read.
    chosen : str or None
        What ``--format`` says.
    """
    try:
        yield
    except UsageError as error:
        faults = [report.error for report in reports if report.error]
        if not reports:
            faults = [str(file.error) for file in inputs.files if file.error is not None]
        paths = {str(file.path) for file in inputs.files}
        of_inputs = {report.error for report in reports if report.error and report.path in paths}
        # An error that names one of the inputs is about them, and counts the others itself.
        is_about_inputs = any(fault in str(error) for fault in of_inputs or faults)
        named = [] if is_about_inputs else [each for each in faults if each not in str(error)]
        if (n_more := len(named) - MAX_NAMED) > 0:
            named[MAX_NAMED:] = [f"{number(n_more, 'more file')} could not be read"]
        named += left_out_warnings(inputs.left_alone, chosen)
        if not named:
            raise
        raise UsageError("; ".join([*named, str(error)])) from error


def _rejects(report: ReadReport) -> str:
    if not report.rejected:
        return ""
    return f"; {rejects_text(report.rejected.total(), dict(report.rejected.most_common()))}"
