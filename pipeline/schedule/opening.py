"""Opens what runs the tasks of a run, with its kernels compiled."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
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
    config: AnalyzeConfig,
    snapshot: Path,
    progress: ProgressCallback,
    *,
    is_short: bool,
    n_gpus: Callable[[int], tuple[int, float]],
) -> Iterator[Executor]:
    """Open the executor of a run, and close it; a cluster unless the run is short.

    Parameters
    ----------
    n_gpus : callable from the number of GPUs here to (int, float)
        How many of them shorten the run, and its estimated seconds on one.

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
    config, text = _workers(config, n_gpus)
    progress(Progress(step, 0, 0, "workers", text))
    with open_cluster(config, snapshot, progress) as cluster:
        if "gpu" in cluster.devices:
            cluster.begin_on_gpus(warming.begin, work)
        yield cluster


def _workers(
    config: AnalyzeConfig, n_gpus: Callable[[int], tuple[int, float]]
) -> tuple[AnalyzeConfig, str]:
    """How many workers are to be started, and as text, on what; empty: another cluster is used."""
    if config.scheduler is not None:
        return config, ""
    gpus = visible_gpus() if config.device != "cpu" else []
    if len(gpus) > 1 and config.workers is None and config.partition is None:
        n_workers, work_s = n_gpus(len(gpus))
        if n_workers < len(gpus):
            text = f"{n_workers} of {len(gpus)} GPUs, for some {work_s:.1f} s of work"
            return replace(config, workers=n_workers), text
    n_workers = config.workers or len(gpus) or n_cores()
    return config, f"{n_workers} on {'GPUs' if gpus else 'cores'}"
