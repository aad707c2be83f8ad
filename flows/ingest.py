"""Flow around the ingest stage: files to a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.states import State

from flows.options import with_config
from flows.pages.artifacts import show_warnings
from flows.pages.progress import progress_artifact
from flows.processes.main_module import without_main_module
from flows.runs.assets import SNAPSHOTS, asset_of, materializing, note_materialized
from flows.runs.outcome import EXPECTED, ended, result_or_failure
from flows.runs.retries import ONCE_MORE, failed
from flows.runs.turns import in_turn
from pipeline.config import IngestConfig

if TYPE_CHECKING:
    from pipeline.stages.ingest import IngestSummary


# A stage reads files that may change under the same name, so it is never cached. Its expected
# errors are returned as Failed, and those that may pass are tried once more.
@task(name="ingest", cache_policy=NO_CACHE, persist_result=False, **ONCE_MORE)
def ingest_stage(config: IngestConfig) -> IngestSummary | State:
    """Files to a snapshot; Failed, in one line, if nothing can be done."""
    from pipeline.stages.ingest import ingest  # imports that take seconds, not needed to deploy

    try:
        with progress_artifact("ingest-progress", "Ingest") as progress, without_main_module():
            summary = ingest(config, progress)
    except EXPECTED as error:
        return failed(error)
    note_materialized(snapshot=summary.snapshot, version=summary.version)
    return summary


def ingested(config: IngestConfig) -> tuple[Any, State | None]:
    """The summary of a snapshot, and None; or None, and the state to end the flow with."""
    stage = materializing(ingest_stage, asset_of(config.store, SNAPSHOTS))
    return result_or_failure(stage(config, return_state=True))


@flow(name="ingest", persist_result=False)
@with_config(IngestConfig)
def ingest(config: IngestConfig) -> State:
    """Read files or folders into a snapshot of the store.

    Parameters are those of ``hopscope ingest``. Missing ones come from ``HOPSCOPE_*``.
    """
    return in_turn(config.store, lambda: _ingest(config), makes_store=True)


def _ingest(config: IngestConfig) -> State:
    summary, failure = ingested(config)
    if failure is not None:
        return failure
    show_warnings(summary.warnings, complete=summary.complete)
    return ended(f"snapshot {summary.snapshot}", summary, complete=summary.complete)
