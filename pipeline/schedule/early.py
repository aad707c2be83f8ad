"""The process that workers are forked from, started while the client still imports."""

from __future__ import annotations

from pathlib import Path

from kernels.host import is_compiled
from pipeline.config import AnalyzeConfig
from pipeline.errors import PipelineError
from pipeline.metrics import compiled_work
from pipeline.schedule.cluster.gpus import visible_gpus
from pipeline.schedule.cluster.own import forking

# Of a file of arcs, some millions: hardly of a short run. If it is one, this was for nothing.
LARGE_BYTES = 32 << 20


def start_early(config: AnalyzeConfig) -> None:
    """Start the imports, if the run that ``config`` asks for will fork workers; do not wait.

    Where kernels are still to be compiled nothing is started: the client does that, and says so.
    """
    work = compiled_work(config.metrics)
    if config.scheduler is None and is_compiled(work) and not _is_short(config):
        forking.start(work, on_gpus=config.device != "cpu" and bool(visible_gpus()))


def _is_short(config: AnalyzeConfig) -> bool:
    """Whether the run needs no workers, whatever earlier runs have measured."""
    if not config.asns and _has_large_files(config.store):
        return False
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


def _has_large_files(store: Path) -> bool:
    """Whether a snapshot is so large that none needs to be opened, which takes longer."""
    try:
        arcs = Path(store).glob("versions/*/arcs-*.parquet")
        return any(path.stat().st_size >= LARGE_BYTES for path in arcs)
    except OSError:  # removed in the meantime
        return False
