"""Runs of the worker of ``make serve`` that are in the middle of their searches."""

from __future__ import annotations

import contextlib
import os
import time

import psutil

from flows.processes.holders import Holder, Seat
from flows.runs.turns import WORKING
from tests.served import RUN_S, STOP_S, Served, wait_until

WORKER = ("-m", "prefect", "worker", "start")
SERVER = ("-m", "flows.processes.local_server")


def processes(served: Served, words: str) -> list[psutil.Process]:
    """Descendants of ``serve`` whose command holds some words, and all below each of them."""
    found = set()
    for child in psutil.Process(served.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if words in " ".join(child.cmdline()):
                found |= {child, *child.children(recursive=True)}
    return list(found)


def programs(served: Served, words: tuple[str, ...]) -> set[psutil.Process]:
    """Descendants of ``serve`` whose command begins with Python and some words."""
    found = set()
    for child in psutil.Process(served.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            if tuple(child.cmdline()[1 : len(words) + 1]) == words:
                found.add(child)
    return found


def searching(served: Served, topology, **more: object) -> tuple[dict, list[psutil.Process]]:
    """A run in the middle of its searches, and its processes: the flow, its cluster's workers."""
    options = {"asn": 1, "workers": 1, "ingresses": 50_000, "pack": 8} | more
    run = served.start(inputs=[str(topology)], snapshot="long", options=options)

    def has_begun() -> bool:
        assert served.state(run)["type"] in ("SCHEDULED", "PENDING", "RUNNING"), served.state(run)
        progress = served.artifacts(run).get("search-progress")
        if progress is None or float(progress["data"]) <= 0:
            return False
        # A flow and a worker of Dask at least: a run that goes on has progress before it has those.
        return len(processes(served, "prefect.engine")) > 1

    wait_until(has_begun, RUN_S, served.process, served.home / "worker.log")
    return run, processes(served, "prefect.engine")


def freed_after(own: list[psutil.Process], store) -> float:
    """Seconds until processes are gone and the turn on a store is free."""
    since = time.monotonic()
    _, alive = psutil.wait_procs(own, timeout=STOP_S)
    assert alive == []
    os.close(Seat(store / WORKING).take(Holder.me("the test"), wait=True))
    return time.monotonic() - since
