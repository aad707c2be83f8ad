"""What a task without work costs, and where that time goes: thread by thread, layer by layer."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from pipeline.schedule.calibrate.measure import empty_task, run_empty
from pipeline.schedule.cluster.executors import DaskExecutor
from pipeline.schedule.transport.drive import drive

N_TASKS = 1000
# The first that fits a file's path names its layer.
LAYERS = (
    ("ours", ("/pipeline/", "/benchmarks/")),
    ("pickle, msgpack, dask's own serialisation", ("/protocol/", "msgpack", "pickle", "sizeof")),
    ("streams of tornado and asyncio", ("/comm/", "tornado", "asyncio", "selectors", "batched")),
    ("scheduler: tasks and workers", ("distributed/scheduler", "distributed/_stealing")),
    ("worker: its state machine", ("distributed/worker",)),
    ("client: futures and graphs", ("distributed/client", "/dask/")),
    ("dashboard, metrics, the rest of Dask", ("distributed", "bokeh", "psutil")),
)
WAITS = ("poll' of 'select.epoll", "get' of '_queue", "acquire' of '_thread")
CALLS = (
    ("kernel: send and receive", ("send' of '_socket", "recv_into' of", "recv' of '_socket")),
    ("pickle, msgpack, dask's own serialisation", ("_pickle.", "getsizeof")),
    ("streams of tornado and asyncio", ("_contextvars", "epoll", "_asyncio")),
)


def task_cost(cluster: DaskExecutor) -> dict[str, Any]:
    """Milliseconds of a task without work: best and median of some runs of 1,000."""
    _run_tasks(cluster, 100)
    task_ms = sorted(1e3 * _run_tasks(cluster, N_TASKS) / N_TASKS for _ in range(5))
    return {"n_tasks": N_TASKS, "task_ms": task_ms[2], "least_task_ms": task_ms[0], "repeats": 5}


def breakdown(cluster: DaskExecutor) -> Iterator[dict[str, Any]]:
    """Seconds of CPU per task of each thread, then the share of each layer in a thread.

    The seconds are measured without a profiler, the shares with one, as parts of the time that it
    sees: a profiler makes Python's calls more expensive than the kernel's.
    """
    _run_tasks(cluster, 100)
    before = _thread_times(cluster)
    wall_s = _run_tasks(cluster, N_TASKS)
    used = {name: seconds - before[name] for name, seconds in _thread_times(cluster).items()}
    yield {"what": "breakdown: wall", "ms_a_task": 1e3 * wall_s / N_TASKS}
    n_workers = len(cluster.facts)
    for name, seconds in used.items():
        a_task = 1e3 * seconds / N_TASKS  # workers share the tasks
        yield {"what": f"breakdown: CPU of {name}", "ms_a_task": a_task, "workers": n_workers}
    shares = _profiled(cluster)
    for name, layers in shares.items():
        for layer, share in sorted(layers.items(), key=lambda item: -item[1]):
            ms = 1e3 * used[name] / N_TASKS * share
            yield {"what": f"breakdown: {name}: {layer}", "share": share, "ms_a_task": ms}


MAIN, LOOP = "the client's main thread", "the loop of client and scheduler"
WORKER_LOOP, WORKER_TASKS = "the workers' loops", "the workers' other threads, tasks among them"


def _run_tasks(cluster: DaskExecutor, n_tasks: int) -> float:
    task = empty_task("bfs_AS1")
    todo = iter([task] * n_tasks)
    started = time.perf_counter()
    for outcome in drive(
        cluster.client, run_empty, lambda: next(todo, None), name=lambda task: task.name
    ):
        if outcome.error is not None:
            raise outcome.error
    return time.perf_counter() - started


async def _loop_time(dask_worker: Any = None) -> tuple[float, float]:
    """CPU seconds of this loop's thread, and of the other threads of its process."""
    mine = time.thread_time()
    return mine, time.process_time() - mine


def _thread_times(cluster: DaskExecutor) -> dict[str, float]:
    there = cluster.client.run(_loop_time)
    return {
        MAIN: time.thread_time(),
        LOOP: cluster.client.sync(_loop_time)[0],
        WORKER_LOOP: sum(loop_s for loop_s, _ in there.values()),
        WORKER_TASKS: sum(others_s for _, others_s in there.values()),
    }


def _profiled(cluster: DaskExecutor) -> dict[str, dict[str, float]]:
    """Share of each layer in the three threads that are Dask's and ours."""
    cluster.client.sync(_start_profile)
    cluster.client.run(_start_profile)
    _run_tasks(cluster, N_TASKS)
    loop = cluster.client.sync(_stop_profile)
    there = cluster.client.run(_stop_profile)
    # Separately: from Python 3.12 on a process has one profiler for all threads.
    ours = cProfile.Profile()
    ours.enable()
    _run_tasks(cluster, N_TASKS)
    ours.disable()
    worker: dict[str, float] = {}
    for layers in there.values():
        for layer, seconds in layers.items():
            worker[layer] = worker.get(layer, 0.0) + seconds
    found = {MAIN: layers_of(ours), LOOP: loop, WORKER_LOOP: worker}
    return {
        name: {layer: seconds / sum(layers.values()) for layer, seconds in layers.items()}
        for name, layers in found.items()
    }


_PROFILES: dict[int, cProfile.Profile] = {}


async def _start_profile(dask_worker: Any = None) -> None:
    profile = _PROFILES[id(asyncio.get_running_loop())] = cProfile.Profile()
    profile.enable()


async def _stop_profile(dask_worker: Any = None) -> dict[str, float]:
    profile = _PROFILES.pop(id(asyncio.get_running_loop()))
    profile.disable()
    return layers_of(profile)


def layers_of(profile: cProfile.Profile) -> dict[str, float]:
    """Seconds by layer, waiting left out."""
    seconds: dict[str, float] = {}
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (path, _, name), (_, _, own_s, _, _) in stats.items():
        if path == "~" and any(wait in name for wait in WAITS):
            continue
        layer = _layer(path, name)
        seconds[layer] = seconds.get(layer, 0.0) + own_s
    return seconds


def _layer(path: str, name: str) -> str:
    table, text = (CALLS, name) if path == "~" else (LAYERS, path)
    for layer, words in table:
        if any(word in text for word in words):
            return layer
    return "Python itself"
