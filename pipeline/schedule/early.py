"""The process that workers are forked from, started while the client still imports."""

from __future__ import annotations

from kernels.host import is_compiled
from pipeline.config import AnalyzeConfig
from pipeline.errors import PipelineError
from pipeline.metrics import compiled_work
from pipeline.schedule.cluster import forking
from pipeline.schedule.cluster.gpus import visible_gpus


def start_early(config: AnalyzeConfig) -> None:
    """Start the imports, if the run that ``config`` asks for will fork workers; do not wait.

    Where kernels are still to be compiled nothing is started: the client does that, and says so.
    """
    work = compiled_work(config.metrics)
    if config.scheduler is None and is_compiled(work) and not _is_short(config):
        forking.start(work, on_gpus=config.device != "cpu" and bool(visible_gpus()))


def _is_short(config: AnalyzeConfig) -> bool:
    """Whether the run needs no workers, whatever earlier runs have measured."""
    from pipeline.schedule.in_process.short import is_short_at_most, may_be_short

    if not may_be_short(config):
        return False
    from pipeline.store import open_snapshot, open_version

    try:
        with (
            open_version(config.store, config.version)
            if config.version is not None
            else open_snapshot(config.store, config.snapshot)
        ) as snapshot:
            return is_short_at_most(config, snapshot)
    except (PipelineError, OSError, KeyError):  # the run itself will say so
        return True
