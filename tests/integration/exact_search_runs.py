"""Substitutes for ``run_exact`` on workers of ``test_exact_search``: slow, failing, killing."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.schedule.dispatch import run_task
from pipeline.schedule.exact_search.tasks import run_exact

HELD_S = 180  # seconds; then something is wrong, and the task fails


def first(folder, name) -> bool:
    """Whether this is the first call for it on any worker."""
    try:
        os.close(os.open(Path(folder) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def wait_for(folder, name, n=1) -> None:
    deadline = time.monotonic() + HELD_S
    while len(list(Path(folder).glob(name))) < n:
        if time.monotonic() > deadline:
            raise RuntimeError(f"no {name} in {HELD_S} s")
        time.sleep(0.01)


def run_slowly(task, folder):
    """The first search ends after five others have."""
    if task.kind == "candidate" and first(folder, "slow"):
        wait_for(folder, "done-*", 5)
    found = run_exact(task)
    if task.kind == "candidate":
        first(folder, f"done-{task.sources[0]}")
    return found


def run_held(task, folder, quick):
    """The first search waits to be released, and so do all that begin after ``quick``.

    ``quick`` ends once the driver has noted those before it (``seen-*``), and has sent others.
    """
    if task.kind != "candidate":
        return run_exact(task)
    source = task.sources[0]
    is_after = (Path(folder) / f"started-{quick}").exists()
    is_held = source != quick and (first(folder, "held") or is_after)
    if is_held:
        first(folder, f"held-{source}")
    first(folder, f"started-{source}")
    if is_held:
        wait_for(folder, "released")
    if source == quick:
        for other in numbers(folder, "started-*") - numbers(folder, "held-*") - {quick}:
            wait_for(folder, f"seen-{other}")
    return run_exact(task)


def numbers(folder, pattern) -> set[int]:
    """Numbers at the end of names of files."""
    return {int(file.name.split("-")[1]) for file in Path(folder).glob(pattern)}


def run_first_held(task, folder, asn):
    """The first search of one AS waits to be released."""
    if task.kind == "candidate" and task.job.asn == asn and first(folder, "held"):
        wait_for(folder, "released")
    return run_exact(task)


def run_deadly(task, folder):
    """The third search kills its worker, once."""
    if task.kind == "candidate":
        for name in ("one", "two", "three"):
            if first(folder, name):
                if name == "three":
                    os.kill(os.getpid(), signal.SIGKILL)
                break
    return run_exact(task)


def run_failing(task):
    """Every search fails."""
    if task.kind == "candidate":
        raise PipelineError("a disk full of holes")
    return run_exact(task)


def run_held_for_others(task, folder):
    """The first search ends after a task of another kind has begun."""
    if task.kind == "effective":
        first(folder, "effective")
    if task.kind == "candidate" and first(folder, "held"):
        wait_for(folder, "effective")
    return run_task(task)
