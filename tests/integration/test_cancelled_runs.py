"""Runs that are cancelled, or killed with their worker, leave no process and no turn taken."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.lib.footprint import contexts_on_gpus
from flows.processes.holders import Holder, Seat
from flows.runs.turns import WORKING
from pipeline.config import GenerateConfig
from pipeline.stages.generate import generate_topology
from tests.served import (
    LAB,
    RUN_S,
    SERVER,
    STOP_S,
    WORKER,
    Served,
    succeeds,
    wait_until,
)


def processes(served: Served, words: str) -> list[psutil.Process]:
    """Descendants of ``serve`` whose command holds some words, and all below each of them."""
    found = set()
    for child in psutil.Process(served.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if words in " ".join(child.cmdline()):
                found |= {child, *child.children(recursive=True)}
    return list(found)


def of_its_own(folder: Path) -> dict[str, str]:
    """Parameters of runs that no other test of the server sees."""
    return {"store": str(folder / "store"), "out": str(folder / "out")}


def searching(served: Served, folder: Path, **more: object) -> tuple[dict, list[psutil.Process]]:
    """A run in the middle of its searches, and its processes: the flow, its cluster's workers."""
    topology = folder / "large.brite"
    if not topology.exists():
        generate_topology(GenerateConfig(model="ba", routers=100_000, out=topology))
    options = {"asn": 1, "workers": 1, "ingresses": 50_000, "pack": 8} | more
    run = served.start(
        inputs=[str(topology)], snapshot="long", options=options, **of_its_own(folder)
    )

    def has_begun() -> bool:
        assert served.state(run)["type"] in ("SCHEDULED", "PENDING", "RUNNING"), served.state(run)
        progress = served.artifacts(run).get("search-progress")
        if progress is None or float(progress["data"]) <= 0:
            return False
        # A flow and a worker of Dask at least: a run that goes on has progress before it has those.
        return len(processes(served, "prefect.engine")) > 1

    wait_until(has_begun, RUN_S, served.process, served.home / "worker.log")
    return run, processes(served, "prefect.engine")


def freed_after(own: list[psutil.Process], folder: Path) -> float:
    """Seconds until processes are gone and the turn on a store is free."""
    since = time.monotonic()
    _, alive = psutil.wait_procs(own, timeout=STOP_S)
    assert alive == []
    os.close(Seat(folder / "store" / WORKING).take(Holder.me("the test"), wait=True))
    return time.monotonic() - since


def test_runs_that_are_cancelled_or_lose_their_worker_free_all_and_later_ones_begin(
    served, tmp_path, capsys
):
    run, own = searching(served, tmp_path)
    cancel = [sys.executable, "-m", "prefect", "flow-run", "cancel", run["id"]]
    subprocess.run(cancel, env=served.environment, check=True, capture_output=True)
    cancelled_s = freed_after(own, tmp_path)
    wait_until(lambda: served.state(run)["type"] == "CANCELLED")

    run, own = searching(served, tmp_path)
    (worker,) = served.programs(WORKER)
    flow = [each for each in own if "prefect.engine" in " ".join(each.cmdline())]
    assert flow
    own.append(worker)
    for process in (worker, *flow):
        process.kill()
    killed_s = freed_after(own, tmp_path)
    wait_until(lambda: served.state(run)["type"] == "CRASHED", RUN_S, None, served.log)
    wait_until(lambda: served.programs(WORKER) - {worker}, STOP_S)
    assert "the worker ended with status 137: starting it again" in served.log.read_text()

    assert_a_run_that_was_starting_begins_again(served, tmp_path)
    assert served.process.poll() is None
    with capsys.disabled():
        sys.stdout.write(
            f"freed {cancelled_s:.1f} s after cancelling, {killed_s:.1f} s after both were killed\n"
        )


def test_a_run_that_prefects_worker_does_not_reach_in_time_is_cancelled_and_no_crash(
    served, tmp_path
):
    run, own = searching(served, tmp_path)
    (worker,) = served.programs(WORKER)
    (flow,) = (p for p in own if p.cmdline()[1:3] == ["-m", "prefect.engine"])
    worker.suspend()  # so that the signal comes without its reason
    try:
        asked = {"state": {"type": "CANCELLING", "name": "Cancelling"}}
        served.post(f"/flow_runs/{run['id']}/set_state", asked)
        flow.terminate()
        wait_until(lambda: served.state(run)["type"] in ("CANCELLED", "CRASHED"), STOP_S)
    finally:
        worker.resume()
    freed_after(own, tmp_path)
    history = served.get(f"/flow_run_states/?flow_run_id={run['id']}")
    kinds = [state["type"] for state in history]
    assert "CRASHED" not in kinds
    assert kinds[-1] == "CANCELLED"


def assert_a_run_that_was_starting_begins_again(served: Served, folder: Path) -> None:
    """Also where the server ended at the same time."""
    options = {"allow_special": ["198.18.0.0/15"]}
    run = served.start(inputs=[str(LAB)], snapshot="again", options=options, **of_its_own(folder))
    wait_until(lambda: served.state(run)["type"] != "SCHEDULED", log=served.log, every_s=0.1)
    ended = processes(served, "prefect.engine")
    for process in served.programs(WORKER) | served.programs(SERVER):
        process.kill()
    _, alive = psutil.wait_procs(ended, timeout=STOP_S)
    assert alive == []
    # The server has not started again at first.
    wait_until(
        lambda: succeeds(lambda: served.state(run)["type"] == "COMPLETED"),
        RUN_S,
        None,
        served.home / "worker.log",
        seen=lambda: served.get(f"/flow_run_states/?flow_run_id={run['id']}"),
    )


def pids_on_gpus() -> set[int]:
    return {pid for pid, _ in contexts_on_gpus()}


@pytest.mark.gpu
def test_a_run_that_is_cancelled_frees_its_gpu(served, tmp_path, capsys):
    run, own = searching(served, tmp_path, pack=1, device="gpu")
    pids = {process.pid for process in own}
    assert pids & pids_on_gpus()
    cancel = [sys.executable, "-m", "prefect", "flow-run", "cancel", run["id"]]
    since = time.monotonic()
    subprocess.run(cancel, env=served.environment, check=True, capture_output=True)
    asked_s = time.monotonic() - since
    wait_until(lambda: not pids & pids_on_gpus(), STOP_S, every_s=0.1)
    gpu_s = time.monotonic() - since
    freed_after(own, tmp_path)
    all_s = time.monotonic() - since
    wait_until(lambda: served.state(run)["type"] == "CANCELLED")
    with capsys.disabled():
        sys.stdout.write(
            f"after `prefect flow-run cancel`, which took {asked_s:.1f} s: no process of the run "
            f"on a GPU after {gpu_s:.1f} s, everything free after {all_s:.1f} s\n"
        )


def test_a_paused_run_gives_its_turn_back_and_goes_on_when_it_is_resumed(served, tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    mine = Seat(folder / WORKING).take(Holder.me("the test"))
    given = {"inputs": [str(LAB / "h0.icmp-paris.warts.gz")], "snapshot": "paused"}
    options = {"allow_special": ["198.18.0.0/15"], "workers": 1}
    run = served.start(**given, options=options, **of_its_own(tmp_path))
    wait_until(lambda: served.state(run)["name"] == "Waiting", RUN_S, None, served.log)
    details = {"pause_reschedule": True}  # as the button of the page asks for
    asked = {"type": "PAUSED", "name": "Suspended", "state_details": details}
    served.post(f"/flow_runs/{run['id']}/set_state", {"state": asked, "force": True})
    os.close(mine)
    wait_until(lambda: not processes(served, "prefect.engine"), STOP_S, None, served.log)
    assert served.state(run)["name"] == "Suspended"
    assert not (tmp_path / "out" / "paused").exists()
    os.close(Seat(folder / WORKING).take(Holder.me("the test")))
    served.post(f"/flow_runs/{run['id']}/resume", {})
    wait_until(lambda: served.state(run)["type"] == "COMPLETED", RUN_S, None, served.log)
    assert (tmp_path / "out" / "paused" / "index.html").is_file()


def test_a_backfill_is_cancelled_as_a_whole(served, tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    for day in (20, 21):
        (tmp_path / f"2026-11-{day}").mkdir()
        traces = f"h{day - 20}.icmp-paris.warts.gz"
        (tmp_path / f"2026-11-{day}" / traces).write_bytes((LAB / traces).read_bytes())
    mine = Seat(folder / WORKING).take(Holder.me("the test"))
    given = {"first": "2026-11-20", "last": "2026-11-21", "inputs": [str(tmp_path / "%Y-%m-%d")]}
    options = {"allow_special": ["198.18.0.0/15"], "workers": 1}
    given |= {"options": options, **of_its_own(tmp_path)}
    run = served.start("backfill", **given)

    def night() -> list[str]:
        runs = served.post("/flow_runs/filter", {"flows": {"name": {"any_": ["night"]}}})
        return [each["state"]["name"] for each in runs]

    wait_until(lambda: night() == ["Waiting"], RUN_S, None, served.log, night)
    cancel = [sys.executable, "-m", "prefect", "flow-run", "cancel", run["id"]]
    subprocess.run(cancel, env=served.environment, check=True, capture_output=True)
    wait_until(lambda: served.state(run)["type"] == "CANCELLED", STOP_S, None, served.log)
    wait_until(lambda: not processes(served, "prefect.engine"), STOP_S, None, served.log)
    assert night() == ["Cancelled"]
    os.close(mine)
    ended = served.ended("backfill", **given)
    assert ended["state"]["name"] == "Completed", ended["state"]
    for day in (20, 21):
        assert (tmp_path / "out" / f"2026-11-{day}" / "index.html").is_file()
    # The newer one by its records, which are of one day here.
    assert len(list((tmp_path / "out").glob("*/changes.html"))) == 1
