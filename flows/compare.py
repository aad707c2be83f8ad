"""Flow around comparing: two nights to what changed between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect import Task, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.states import State

from flows.options import with_config
from flows.pages.artifacts import report_link, show_events
from flows.pages.progress import progress_artifact
from flows.runs.assets import (
    CHANGES,
    SNAPSHOTS,
    asset_of,
    materializing,
    note_materialized,
)
from flows.runs.cancelling import unless_cancelled
from flows.runs.outcome import EXPECTED, ended, result_or_failure
from flows.runs.retries import ONCE_MORE, failed
from pipeline.config import CompareConfig

if TYPE_CHECKING:
    from pipeline.stages.compare import CompareSummary, NightCompared


@task(name="compare", cache_policy=NO_CACHE, persist_result=False, **ONCE_MORE)
def compare_stage(
    store: Path, out: Path, new: str, old: str | None = None
) -> NightCompared | State:
    """Compare a night with ``old``, or else with the one before it."""
    from pipeline.stages import compare as stage  # imports that take seconds, not needed to deploy

    try:
        with progress_artifact("compare-progress", "Compare") as progress:
            if old is None:
                compared = stage.compare_with_night_before(store, out, new, progress)
            else:
                config = CompareConfig(old, new, store, out)
                compared = stage.NightCompared(stage.compare(config, progress))
    except EXPECTED as error:
        return failed(error)
    if (summary := compared.summary) is None:
        note_materialized()
    else:
        link = report_link(summary.page, out)
        show_events(summary.events, summary.n_events, summary.old, summary.new, link)
        get_run_logger().info("Changes since %s: %s", summary.old, link)
        facts = {"old": summary.old, "new": summary.new, "n_events": summary.n_events}
        note_materialized(**facts, changes=link)
    return compared


def _materializing(stage: Task, store: Path, out: Path) -> Any:
    made_of = [asset_of(store, SNAPSHOTS), asset_of(out)]
    return materializing(stage, asset_of(out, CHANGES), made_of)


def compared_with_night_before(
    store: Path, out: Path, new: str
) -> tuple[CompareSummary | None, list[str]]:
    """What changed since the night before; and why that is not known, or only since an earlier one.

    Nothing that goes wrong here may cost a report, so no error leaves this function.
    """
    try:
        compared, failure = result_or_failure(
            _materializing(compare_stage, store, out)(store, out, new, return_state=True)
        )
    except Exception as error:
        get_run_logger().warning("comparing failed", exc_info=True)
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return None, [f"{new} was not compared with the night before: {said}"]
    if failure is not None:
        return None, [f"{new} was not compared with the night before: {failure.message}"]
    if compared.summary is None and not compared.passed_over:
        get_run_logger().info("No earlier night of traces has a report to compare with")
    return compared.summary, compared.passed_over


def next_compared(store: Path, out: Path, night: str) -> list[str]:
    """Let the night after this one, which is late, be compared with it; why it was not.

    As ``compared_with_night_before`` no error leaves this function.
    """
    from pipeline.stages.compare import next_to_compare  # as above

    try:
        later = next_to_compare(store, out, night)
        if later is None:
            return []
        stage = _materializing(compare_stage, store, out)
        _, failure = result_or_failure(stage(store, out, later, night, return_state=True))
    except Exception as error:
        get_run_logger().warning("comparing failed", exc_info=True)
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return [f"the night after {night} was not compared with it: {said}"]
    if failure is not None:
        return [f"{later} was not compared with {night}, the night before it: {failure.message}"]
    return []


@flow(name="compare", persist_result=False)
@with_config(CompareConfig)
def compare(config: CompareConfig) -> State:
    """Report what changed between two snapshots of a store.

    Parameters are those of ``hopscope compare``. Missing folders come from ``HOPSCOPE_*``.
    """
    return unless_cancelled(lambda: _compare(config))


def _compare(config: CompareConfig) -> State:
    compared, failure = result_or_failure(
        _materializing(compare_stage, config.store, config.out)(
            config.store, config.out, config.new, config.old, return_state=True
        )
    )
    if failure is not None:
        return failure
    summary = compared.summary
    return ended(f"changes: {summary.page}", summary, complete=True)
