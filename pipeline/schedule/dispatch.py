"""Any task of a run: how a worker runs it, and which smaller tasks can replace it."""

from __future__ import annotations

from typing import Any

from pipeline.model.search.exact import ExactTask
from pipeline.model.search.tasks import SearchTask, WidthTask
from pipeline.schedule.plan.batches import smaller
from pipeline.schedule.work import ready
from pipeline.schedule.work.searches import run_search


def run_task(task: SearchTask | WidthTask | ExactTask) -> Any:
    """Run one task on this worker; raises what ``work.errors.errors_of`` raises."""
    if isinstance(task, SearchTask):
        return run_search(task)  # it reads before it waits for the GPU
    if task.device == "gpu":
        ready.wait()
    if isinstance(task, ExactTask):
        from pipeline.schedule.exact_search.tasks import run_exact

        return run_exact(task)
    from pipeline.schedule.work.measures import run_widths  # compiles what only widths need

    return run_widths(task)


def smaller_task(
    task: SearchTask | WidthTask, fall_back: bool
) -> list[SearchTask] | list[WidthTask]:
    """Tasks to run instead of one that had too little memory; none: it is tried again."""
    if isinstance(task, SearchTask):
        return smaller(task, fall_back)
    from pipeline.schedule.work.measures import smaller_widths

    return smaller_widths(task, fall_back)
