"""Opens what runs the tasks of a run, with its kernels compiled."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path

from kernels.host import compile_cpu, is_compiled, n_cores
from pipeline.config import AnalyzeConfig
from pipeline.metrics import compiled_work
from pipeline.model.progress import Progress, ProgressCallback, Step
from pipeline.schedule.cluster.gpus import visible_gpus
from pipeline.schedule.executor import Executor
from pipeline.schedule.work import warming
from pipeline.store.alone import alone


@contextlib.contextmanager
def open_executor(
    config: AnalyzeConfig, snapshot: Path, progress: ProgressCallback, *, is_short: bool
) -> Iterator[Executor]:
    """Open the executor of a run, and close it; a cluster unless the run is short.

    Raises
    ------
    UsageError
        No cluster can be started or reached as ``config`` asks for it.
    """
    work = compiled_work(config.metrics)
    if config.scheduler is None and not is_compiled(work):
        compile_cpu(work)  # once, not in every worker at the same time
        importlib.import_module("pipeline.store.shard_arrays")
    if is_short:
        from pipeline.schedule.in_process.local import LocalExecutor

        with alone(config.store):
            yield LocalExecutor()
        return
    from pipeline.schedule.cluster.open import open_cluster  # imports Dask

    step: Step = "connect" if config.scheduler else "start"
    progress(Progress(step, 0, 0, "workers", _workers_text(config)))
    with open_cluster(config, snapshot, progress) as cluster:
        if "gpu" in cluster.devices:
            cluster.begin_on_gpus(warming.begin, work)
        yield cluster


def _workers_text(config: AnalyzeConfig) -> str:
    """How many workers are to be started, and on what; empty: those of another cluster are used."""
    if config.scheduler is not None:
        return ""
    gpus = visible_gpus() if config.device != "cpu" else []
    n_workers = config.workers or len(gpus) or n_cores()
    return f"{n_workers} on {'GPUs' if gpus else 'cores'}"
